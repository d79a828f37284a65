//! The trace: what happened, when, on which machine.

use serde::Serialize;

use crate::labs_only::LabsOnly;
use crate::machine::{JobId, MachineId, NodeId, WorkerId};
use crate::message::{LeaseId, Token, is_no_token};
use crate::settings::Trace;
use crate::time::{Deadline, Mono, Span, TrueTime, Wall};

/// One event of the trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Event {
    /// When, in true time.
    pub t: TrueTime,
    /// Where.
    pub machine: MachineId,
    /// What.
    #[serde(flatten)]
    pub kind: Kind,
}

impl Event {
    /// Routine that a reader rarely asks for: heartbeats, single messages, and what nodes send in vain to a node that
    /// is down or cut off.
    pub fn is_background(&self) -> bool {
        match &self.kind {
            Kind::Heartbeat { .. }
            | Kind::MessageSent { .. }
            | Kind::MessageReceived { .. }
            | Kind::ConditionChecked { .. }
            | Kind::KeyRefused { .. }
            | Kind::RowLookedAt { .. }
            | Kind::JournalWritten { .. }
            | Kind::EntryLogged { .. }
            | Kind::EntryOnDisk { .. }
            | Kind::EntryAcknowledged { .. }
            | Kind::EntryCommitted { .. }
            | Kind::EntryApplied { .. } => true,
            // An attempt in which no master agreed.
            Kind::MajorityCounted { renewal: false, agreed: 0, refused, .. } => *refused > 0,
            Kind::MessageLost { to, because, .. } => {
                self.machine.is_lock_service() && to.is_lock_service() && *because != LostBecause::Dropped
            }
            _ => false,
        }
    }
}

impl Event {
    /// Whether a trace of this kind tells of it.
    pub fn is_told_by(&self, trace: Trace) -> bool {
        let of_many = |worker: WorkerId| worker > WorkerId::D;
        match &self.kind {
            _ if trace == Trace::Full => true,
            Kind::Heartbeat { .. } => false,
            Kind::ClaimHeld { holder, .. } => !of_many(*holder),
            Kind::LeaseGranted { .. }
            | Kind::LeaseExpired { .. }
            | Kind::LockReleased { .. }
            | Kind::LockBusy { .. }
            | Kind::GaveUp { .. }
            | Kind::WorkKept { .. }
            | Kind::WorkDropped { .. }
            | Kind::FenceRaised { .. }
            | Kind::RaiseRefused { .. }
            | Kind::ChunkWritten { .. }
            | Kind::WriteRefused { .. }
            | Kind::JobDone { .. }
            | Kind::DoneRefused { .. } => true,
            kind => !self.machine.worker().or(kind.worker()).is_some_and(of_many),
        }
    }
}

/// A lease whose deadline a new leader has restarted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RestartedLease {
    /// The holder.
    pub worker: WorkerId,
    /// The lease.
    pub lease: LeaseId,
    /// The token of the key that is bound to it, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<Token>,
    /// The rebuilt deadline on the new leader's monotonic clock.
    pub deadline: Mono,
    /// What the log says was left of it at the last checkpoint; without one it has its full length again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Span>,
}

/// What a stop-time check was for, or what was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Act {
    /// Raising the fence.
    Raise,
    /// Writing a chunk.
    Chunk,
    /// Setting the state to DONE.
    Done,
}

/// Why a worker let go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GaveUpBecause {
    /// Its own clock had reached its stop time.
    StopTimePassed,
    /// The store refused it.
    Refused,
    /// The fence it read was above its token.
    FenceAbove,
    /// The lock service does not know its lease any more.
    LeaseNotFound,
}

/// Why a message did not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LostBecause {
    /// An intervention dropped it.
    Dropped,
    /// A partition or an isolation lay between.
    Partitioned,
    /// The receiver was down.
    ReceiverDown,
}

/// Why the store refused a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RefusedBecause {
    /// The token is below the fence.
    TokenBelowFence,
    /// The token equals the fence, and the fence rejects equal tokens.
    TokenEqualsFence,
    /// The job is DONE.
    JobDone,
    /// The row is no longer as it was seen.
    RowChanged,
    /// The session that it would have to travel on has ended.
    SessionEnded,
    /// An invoice, or the mark of the chunk, is there already, and the write demanded that it is not.
    AlreadyRecorded,
    /// The manifest is not the version any more that the writer saw.
    #[serde(rename = "etag-changed")]
    ETagChanged,
    /// Another conditional write of the manifest is in progress.
    WriteInProgress,
}

/// What happened.
///
/// Deadlines are readings of the leader's monotonic clock, stop times of the holder's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the names of the fields are the vocabulary of the trace format, docs/trace.md")]
pub enum Kind {
    // The lock service, by the leader that applied it.
    LeaseGranted {
        #[serde(skip_serializing_if = "JobId::is_first")]
        job: JobId,
        worker: WorkerId,
        lease: LeaseId,
        #[serde(skip_serializing_if = "is_no_token")]
        token: Token,
        #[serde(skip_serializing_if = "is_zero")]
        revision: u64,
        deadline: Deadline,
        #[serde(skip_serializing_if = "Option::is_none")]
        stop_time: Option<Mono>,
    },
    LeaseRenewed {
        #[serde(skip_serializing_if = "JobId::is_first")]
        job: JobId,
        worker: WorkerId,
        lease: LeaseId,
        token: Option<Token>,
        deadline: Deadline,
        stop_time: Mono,
    },
    RenewalRefused {
        worker: WorkerId,
        lease: LeaseId,
    },
    LeaseExpired {
        #[serde(skip_serializing_if = "JobId::is_first")]
        job: JobId,
        worker: WorkerId,
        lease: LeaseId,
        #[serde(skip_serializing_if = "is_no_token")]
        token: Token,
        #[serde(skip_serializing_if = "is_zero")]
        revision: u64,
    },
    UnusedLeaseExpired {
        worker: WorkerId,
        lease: LeaseId,
    },
    LockReleased {
        worker: WorkerId,
        lease: LeaseId,
        token: Option<Token>,
        released_by: WorkerId,
        #[serde(skip_serializing_if = "is_zero")]
        revision: u64,
    },
    TenantCommitted {
        revision: u64,
    },

    // The table of lease items.
    ConditionChecked {
        #[serde(skip_serializing_if = "JobId::is_first")]
        job: JobId,
        worker: WorkerId,
        condition: String,
        passed: bool,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    ClaimReplaced {
        #[serde(skip_serializing_if = "JobId::is_first")]
        job: JobId,
        worker: WorkerId,
        lease: LeaseId,
        token: Token,
        lease_until: Wall,
        by: WorkerId,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    ItemDeleted {
        #[serde(skip_serializing_if = "JobId::is_first")]
        job: JobId,
        #[serde(skip_serializing_if = "Option::is_none")]
        lease: Option<LeaseId>,
        epoch: Token,
        lease_until: Wall,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    ItemRestored {
        #[serde(skip_serializing_if = "JobId::is_first")]
        job: JobId,
        #[serde(skip_serializing_if = "Option::is_none")]
        replaced: Option<LeaseId>,
        was: Token,
        #[serde(skip_serializing_if = "Option::is_none")]
        lease: Option<LeaseId>,
        epoch: Token,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },

    LeaderElected {
        node: NodeId,
        term: u32,
        #[serde(skip_serializing_if = "Option::is_none")]
        deadline: Option<Mono>,
        leases: Vec<RestartedLease>,
    },
    ElectionStarted {
        term: u32,
    },
    SteppedDown {
        term: u32,
    },
    EntriesDiscarded {
        from_index: u64,
        count: u64,
    },
    Heartbeat {
        term: u32,
    },
    CandidateQueued {
        #[serde(skip_serializing_if = "JobId::is_first")]
        job: JobId,
        worker: WorkerId,
        lease: LeaseId,
        token: Token,
        ahead: u64,
        deadline: Mono,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    CandidateLeft {
        #[serde(skip_serializing_if = "JobId::is_first")]
        job: JobId,
        worker: WorkerId,
        lease: LeaseId,
        token: Token,
        revision: u64,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    LeaseCheckpointed {
        worker: WorkerId,
        lease: LeaseId,
        #[serde(skip_serializing_if = "Option::is_none")]
        remaining: Option<Span>,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    LockDelayBegan {
        #[serde(skip_serializing_if = "JobId::is_first")]
        job: JobId,
        until: Mono,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    HistoryRestored {
        revision: u64,
        was: u64,
        continues_from: u64,
        term: u32,
        watchers_told: u64,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    EntryLogged {
        index: u64,
        command: String,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    EntryOnDisk {
        index: u64,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    EntryAcknowledged {
        node: NodeId,
        index: u64,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    EntryCommitted {
        index: u64,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    EntryApplied {
        index: u64,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },

    // Redis servers, and the clients that count their answers.
    KeySet {
        #[serde(skip_serializing_if = "JobId::is_first")]
        job: JobId,
        worker: WorkerId,
        lease: LeaseId,
        deadline: Deadline,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    KeyRefused {
        worker: WorkerId,
        holder: WorkerId,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    KeyExtended {
        worker: WorkerId,
        lease: LeaseId,
        deadline: Deadline,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    KeyExpired {
        worker: WorkerId,
        lease: LeaseId,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    KeyDeleted {
        worker: WorkerId,
        lease: LeaseId,
        deleted_by: WorkerId,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    DataLoaded {
        leases: Vec<LeaseId>,
        counter: u64,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    Promoted {
        epoch: u32,
        leases: Vec<LeaseId>,
        counter: u64,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    Demoted {
        epoch: u32,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    FullyCopied {
        leases: Vec<LeaseId>,
        counter: u64,
        lost: Vec<LeaseId>,
    },
    ReplicasCounted {
        worker: WorkerId,
        acknowledged: u8,
        wanted: u8,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    MajorityCounted {
        worker: WorkerId,
        lease: LeaseId,
        renewal: bool,
        agreed: u8,
        refused: u8,
        unanswered: u8,
        elapsed: Span,
        #[serde(skip_serializing_if = "Option::is_none")]
        validity: Option<Span>,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    TokenIssued {
        worker: WorkerId,
        lease: LeaseId,
        token: Token,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },

    // Workers.
    Started,
    LockBusy {
        worker: WorkerId,
        holder: WorkerId,
        #[serde(skip_serializing_if = "is_no_token")]
        token: Token,
    },
    LockUnreachable {
        worker: WorkerId,
    },
    LockDelayed {
        worker: WorkerId,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    CandidateWaits {
        worker: WorkerId,
        token: Token,
        watches: Token,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    CandidateWoken {
        worker: WorkerId,
        token: Token,
        watched: Token,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    WatchLost {
        worker: WorkerId,
        token: Token,
        history_gone: bool,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    HandedToSidecar {
        worker: WorkerId,
        lease: LeaseId,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    LockAcquired {
        #[serde(skip_serializing_if = "JobId::is_first")]
        job: JobId,
        worker: WorkerId,
        #[serde(skip_serializing_if = "is_no_token")]
        token: Token,
        stop_time: Mono,
    },
    RenewalConfirmed {
        #[serde(skip_serializing_if = "JobId::is_first")]
        job: JobId,
        worker: WorkerId,
        #[serde(skip_serializing_if = "is_no_token")]
        token: Token,
        stop_time: Mono,
    },
    RenewalFailed {
        worker: WorkerId,
        #[serde(skip_serializing_if = "is_no_token")]
        token: Token,
        node: MachineId,
        timed_out: bool,
        stop_time: Mono,
    },
    StopTimeChecked {
        worker: WorkerId,
        #[serde(skip_serializing_if = "is_no_token")]
        token: Token,
        act: Act,
        #[serde(skip_serializing_if = "Option::is_none")]
        chunk: Option<u8>,
        mono: Mono,
        stop_time: Mono,
        #[serde(skip_serializing_if = "Option::is_none")]
        wall: Option<Wall>,
        #[serde(skip_serializing_if = "Option::is_none")]
        stop_on_wall: Option<Wall>,
        passed: bool,
    },
    RaiseSent {
        worker: WorkerId,
        #[serde(skip_serializing_if = "is_no_token")]
        token: Token,
        mono: Mono,
        stop_time: Mono,
    },
    WriteSent {
        worker: WorkerId,
        #[serde(skip_serializing_if = "is_no_token")]
        token: Token,
        chunk: u8,
        mono: Mono,
        stop_time: Mono,
    },
    DoneSent {
        worker: WorkerId,
        #[serde(skip_serializing_if = "is_no_token")]
        token: Token,
        mono: Mono,
        stop_time: Mono,
    },
    RowReturned {
        worker: WorkerId,
        chunks_done: u8,
        state: crate::store::RowState,
    },
    NoQueuedJob {
        worker: WorkerId,
        state: crate::store::RowState,
    },
    StoreTimedOut {
        worker: WorkerId,
    },
    ReleaseSent {
        worker: WorkerId,
        #[serde(skip_serializing_if = "is_no_token")]
        token: Token,
    },
    GaveUp {
        worker: WorkerId,
        #[serde(skip_serializing_if = "is_no_token")]
        token: Token,
        because: GaveUpBecause,
        stop_time: Mono,
    },
    WorkerDone {
        worker: WorkerId,
    },
    OwnTimeout {
        worker: WorkerId,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    WorkKept {
        #[serde(skip_serializing_if = "JobId::is_first")]
        job: JobId,
        worker: WorkerId,
        chunk: u8,
        spent: Span,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    WorkDropped {
        #[serde(skip_serializing_if = "JobId::is_first")]
        job: JobId,
        worker: WorkerId,
        chunk: u8,
        spent: Span,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },

    // The store, at the request's arrival.
    FenceRaised {
        #[serde(skip_serializing_if = "JobId::is_first")]
        job: JobId,
        worker: WorkerId,
        #[serde(skip_serializing_if = "is_no_token")]
        token: Token,
        fence_before: Token,
        claimed_since: Wall,
        compared: bool,
    },
    RaiseRefused {
        worker: WorkerId,
        #[serde(skip_serializing_if = "is_no_token")]
        token: Token,
        fence: Token,
        because: RefusedBecause,
    },
    ChunkWritten {
        #[serde(skip_serializing_if = "JobId::is_first")]
        job: JobId,
        worker: WorkerId,
        #[serde(skip_serializing_if = "is_no_token")]
        token: Token,
        fence: Token,
        chunk: u8,
        charged: u32,
        times_charged: u32,
    },
    WriteRefused {
        worker: WorkerId,
        #[serde(skip_serializing_if = "is_no_token")]
        token: Token,
        fence: Token,
        chunk: u8,
        because: RefusedBecause,
    },
    JobDone {
        #[serde(skip_serializing_if = "JobId::is_first")]
        job: JobId,
        worker: WorkerId,
        #[serde(skip_serializing_if = "is_no_token")]
        token: Token,
        chunks_recorded: u8,
    },
    DoneRefused {
        worker: WorkerId,
        #[serde(skip_serializing_if = "is_no_token")]
        token: Token,
        fence: Token,
        because: RefusedBecause,
    },
    RowLookedAt {
        worker: WorkerId,
        state: crate::store::RowState,
    },
    // Stores of other kinds than the plain row.
    InvoicesRecorded {
        #[serde(skip_serializing_if = "JobId::is_first")]
        job: JobId,
        worker: WorkerId,
        #[serde(skip_serializing_if = "is_no_token")]
        token: Token,
        fence: Token,
        chunk: u8,
        transactions: u32,
        charged: u32,
        again: u32,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    ObjectStored {
        #[serde(skip_serializing_if = "JobId::is_first")]
        job: JobId,
        worker: WorkerId,
        #[serde(skip_serializing_if = "is_no_token")]
        token: Token,
        chunk: u8,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    RowLockAwaited {
        from: MachineId,
        holder: MachineId,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    SerializationFailed {
        from: MachineId,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    ChecksServed {
        accepted: u32,
        throttled: u32,
        retries: u32,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    ChecksGivenUp {
        count: u32,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },

    // Where a database or a broker finds one winner by itself.
    ContestWon {
        worker: WorkerId,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    ContestLost {
        worker: WorkerId,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    SessionEnded {
        worker: WorkerId,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    WorkRefused {
        worker: WorkerId,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },

    // The partner outside.
    EffectDone {
        #[serde(skip_serializing_if = "JobId::is_first")]
        job: JobId,
        worker: WorkerId,
        chunk: u8,
        customers: u32,
        times: u32,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    EffectRecognised {
        #[serde(skip_serializing_if = "JobId::is_first")]
        job: JobId,
        worker: WorkerId,
        chunk: u8,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    RowRequeued {
        #[serde(skip_serializing_if = "JobId::is_first")]
        job: JobId,
        #[serde(skip_serializing_if = "is_no_token")]
        owner_token: Token,
        fence: Token,
    },
    RequeueRefused {
        #[serde(skip_serializing_if = "is_no_token")]
        owner_token: Token,
        fence: Token,
        because: RefusedBecause,
    },

    // The sweeper.
    OrphanSeen {
        #[serde(skip_serializing_if = "JobId::is_first")]
        job: JobId,
        #[serde(skip_serializing_if = "is_no_token")]
        owner_token: Token,
        fence: Token,
    },
    ClaimHeld {
        #[serde(skip_serializing_if = "is_no_token")]
        owner_token: Token,
        holder: WorkerId,
        #[serde(skip_serializing_if = "is_no_token")]
        token: Token,
    },

    SweepHeldOff {
        until: Mono,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    SweepPaused {
        orphans: u32,
        claims: u32,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    SweepCapped {
        orphans: u32,
        cap: u32,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },

    // Models beside the story.
    QuotaGranted {
        worker: WorkerId,
        units: u32,
        until: Mono,
        in_all: u32,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    QuotaExpired {
        worker: WorkerId,
        units: u32,
        in_all: u32,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    UnitsUsed {
        worker: WorkerId,
        units: u32,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    UnitsFree {
        worker: WorkerId,
        units: u32,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    IdsReserved {
        worker: WorkerId,
        first: u64,
        last: u64,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    IdUsed {
        worker: WorkerId,
        id: u64,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    JournalFenced {
        worker: WorkerId,
        epoch: u32,
        entries: u32,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    JournalWritten {
        worker: WorkerId,
        epoch: u32,
        entries: u32,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    JournalRefused {
        worker: WorkerId,
        epoch: u32,
        promised: u32,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    EngineReplayed {
        worker: WorkerId,
        epoch: u32,
        entries: u32,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    EntryCounted {
        worker: WorkerId,
        epoch: u32,
        place: u32,
        entry: String,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    EngineHalted {
        worker: WorkerId,
        epoch: u32,
        promised: u32,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },

    // Interventions.
    Paused {
        #[serde(skip_serializing_if = "Option::is_none")]
        worker: Option<WorkerId>,
        vm: bool,
        #[serde(rename = "for", skip_serializing_if = "Option::is_none")]
        lasts: Option<Span>,
    },
    Resumed {
        #[serde(skip_serializing_if = "Option::is_none")]
        worker: Option<WorkerId>,
        mono: Mono,
    },
    Crashed {
        #[serde(skip_serializing_if = "Option::is_none")]
        worker: Option<WorkerId>,
    },
    Restarted {
        #[serde(skip_serializing_if = "Option::is_none")]
        worker: Option<WorkerId>,
    },
    WallStepped {
        by: Span,
        wall: Wall,
    },
    OffsetSet {
        offset: Span,
        wall: Wall,
    },
    RateSet {
        rate: Rate,
    },
    Partitioned {
        groups: Vec<Vec<MachineId>>,
    },
    Isolated,
    OutageBegan,
    OutageEnded,
    Healed,
    SettingChanged {
        setting: String,
    },
    NoEffect {
        intervention: String,
        because: String,
    },

    // Messages, heartbeats and their answers excepted.
    MessageSent {
        to: MachineId,
        id: u64,
        what: String,
    },
    MessageReceived {
        from: MachineId,
        id: u64,
        what: String,
        sent: TrueTime,
    },
    MessageLost {
        to: MachineId,
        id: u64,
        what: String,
        sent: TrueTime,
        because: LostBecause,
    },
    MessageDelayed {
        to: MachineId,
        id: u64,
        what: String,
        by: Span,
    },
    MessageDuplicated {
        to: MachineId,
        id: u64,
        what: String,
    },
}

/// Services that keep no revision have nothing to say about it.
fn is_zero(revision: &u64) -> bool {
    *revision == 0
}

/// A clock rate against true time in parts per million; printed as a factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate(pub i64);

impl Serialize for Rate {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0 as f64 / crate::clock::RATE_ONE as f64)
    }
}

impl Kind {
    /// The kind's name in the trace format.
    pub fn name(&self) -> &'static str {
        match self {
            Kind::LeaseGranted { .. } => "lease-granted",
            Kind::LeaseRenewed { .. } => "lease-renewed",
            Kind::RenewalRefused { .. } => "renewal-refused",
            Kind::LeaseExpired { .. } => "lease-expired",
            Kind::UnusedLeaseExpired { .. } => "unused-lease-expired",
            Kind::LockReleased { .. } => "lock-released",
            Kind::TenantCommitted { .. } => "tenant-committed",
            Kind::ConditionChecked { .. } => "condition-checked",
            Kind::ClaimReplaced { .. } => "claim-replaced",
            Kind::ItemDeleted { .. } => "item-deleted",
            Kind::ItemRestored { .. } => "item-restored",
            Kind::LeaderElected { .. } => "leader-elected",
            Kind::ElectionStarted { .. } => "election-started",
            Kind::SteppedDown { .. } => "stepped-down",
            Kind::EntriesDiscarded { .. } => "entries-discarded",
            Kind::Heartbeat { .. } => "heartbeat",
            Kind::CandidateQueued { .. } => "candidate-queued",
            Kind::CandidateLeft { .. } => "candidate-left",
            Kind::LeaseCheckpointed { .. } => "lease-checkpointed",
            Kind::LockDelayBegan { .. } => "lock-delay-began",
            Kind::HistoryRestored { .. } => "history-restored",
            Kind::EntryLogged { .. } => "entry-logged",
            Kind::EntryOnDisk { .. } => "entry-on-disk",
            Kind::EntryAcknowledged { .. } => "entry-acknowledged",
            Kind::EntryCommitted { .. } => "entry-committed",
            Kind::EntryApplied { .. } => "entry-applied",
            Kind::KeySet { .. } => "key-set",
            Kind::KeyRefused { .. } => "key-refused",
            Kind::KeyExtended { .. } => "key-extended",
            Kind::KeyExpired { .. } => "key-expired",
            Kind::KeyDeleted { .. } => "key-deleted",
            Kind::DataLoaded { .. } => "data-loaded",
            Kind::Promoted { .. } => "promoted",
            Kind::Demoted { .. } => "demoted",
            Kind::FullyCopied { .. } => "fully-copied",
            Kind::ReplicasCounted { .. } => "replicas-counted",
            Kind::MajorityCounted { .. } => "majority-counted",
            Kind::TokenIssued { .. } => "token-issued",
            Kind::Started => "started",
            Kind::LockBusy { .. } => "lock-busy",
            Kind::LockUnreachable { .. } => "lock-unreachable",
            Kind::LockDelayed { .. } => "lock-delayed",
            Kind::CandidateWaits { .. } => "candidate-waits",
            Kind::CandidateWoken { .. } => "candidate-woken",
            Kind::WatchLost { .. } => "watch-lost",
            Kind::HandedToSidecar { .. } => "handed-to-sidecar",
            Kind::LockAcquired { .. } => "lock-acquired",
            Kind::RenewalConfirmed { .. } => "renewal-confirmed",
            Kind::RenewalFailed { .. } => "renewal-failed",
            Kind::StopTimeChecked { .. } => "stop-time-checked",
            Kind::RaiseSent { .. } => "raise-sent",
            Kind::WriteSent { .. } => "write-sent",
            Kind::DoneSent { .. } => "done-sent",
            Kind::RowReturned { .. } => "row-returned",
            Kind::NoQueuedJob { .. } => "no-queued-job",
            Kind::StoreTimedOut { .. } => "store-timed-out",
            Kind::ReleaseSent { .. } => "release-sent",
            Kind::GaveUp { .. } => "gave-up",
            Kind::WorkerDone { .. } => "worker-done",
            Kind::OwnTimeout { .. } => "own-timeout",
            Kind::WorkKept { .. } => "work-kept",
            Kind::WorkDropped { .. } => "work-dropped",
            Kind::FenceRaised { .. } => "fence-raised",
            Kind::RaiseRefused { .. } => "raise-refused",
            Kind::ChunkWritten { .. } => "chunk-written",
            Kind::WriteRefused { .. } => "write-refused",
            Kind::JobDone { .. } => "job-done",
            Kind::DoneRefused { .. } => "done-refused",
            Kind::RowLookedAt { .. } => "row-looked-at",
            Kind::InvoicesRecorded { .. } => "invoices-recorded",
            Kind::ObjectStored { .. } => "object-stored",
            Kind::RowLockAwaited { .. } => "row-lock-awaited",
            Kind::SerializationFailed { .. } => "serialization-failed",
            Kind::ChecksServed { .. } => "checks-served",
            Kind::ChecksGivenUp { .. } => "checks-given-up",
            Kind::ContestWon { .. } => "contest-won",
            Kind::ContestLost { .. } => "contest-lost",
            Kind::SessionEnded { .. } => "session-ended",
            Kind::WorkRefused { .. } => "work-refused",
            Kind::EffectDone { .. } => "effect-done",
            Kind::EffectRecognised { .. } => "effect-recognised",
            Kind::RowRequeued { .. } => "row-requeued",
            Kind::RequeueRefused { .. } => "requeue-refused",
            Kind::OrphanSeen { .. } => "orphan-seen",
            Kind::ClaimHeld { .. } => "claim-held",
            Kind::SweepHeldOff { .. } => "sweep-held-off",
            Kind::SweepPaused { .. } => "sweep-paused",
            Kind::SweepCapped { .. } => "sweep-capped",
            Kind::QuotaGranted { .. } => "quota-granted",
            Kind::QuotaExpired { .. } => "quota-expired",
            Kind::UnitsUsed { .. } => "units-used",
            Kind::UnitsFree { .. } => "units-free",
            Kind::IdsReserved { .. } => "ids-reserved",
            Kind::IdUsed { .. } => "id-used",
            Kind::JournalFenced { .. } => "journal-fenced",
            Kind::JournalWritten { .. } => "journal-written",
            Kind::JournalRefused { .. } => "journal-refused",
            Kind::EngineReplayed { .. } => "engine-replayed",
            Kind::EntryCounted { .. } => "entry-counted",
            Kind::EngineHalted { .. } => "engine-halted",
            Kind::Paused { .. } => "paused",
            Kind::Resumed { .. } => "resumed",
            Kind::Crashed { .. } => "crashed",
            Kind::Restarted { .. } => "restarted",
            Kind::WallStepped { .. } => "wall-stepped",
            Kind::OffsetSet { .. } => "offset-set",
            Kind::RateSet { .. } => "rate-set",
            Kind::Partitioned { .. } => "partitioned",
            Kind::Isolated => "isolated",
            Kind::OutageBegan => "outage-began",
            Kind::OutageEnded => "outage-ended",
            Kind::Healed => "healed",
            Kind::SettingChanged { .. } => "setting-changed",
            Kind::NoEffect { .. } => "no-effect",
            Kind::MessageSent { .. } => "message-sent",
            Kind::MessageReceived { .. } => "message-received",
            Kind::MessageLost { .. } => "message-lost",
            Kind::MessageDelayed { .. } => "message-delayed",
            Kind::MessageDuplicated { .. } => "message-duplicated",
        }
    }

    /// The worker that the event is about.
    pub fn worker(&self) -> Option<WorkerId> {
        match self {
            Kind::LeaseGranted { worker, .. }
            | Kind::LeaseRenewed { worker, .. }
            | Kind::RenewalRefused { worker, .. }
            | Kind::LeaseExpired { worker, .. }
            | Kind::UnusedLeaseExpired { worker, .. }
            | Kind::LockReleased { worker, .. }
            | Kind::ConditionChecked { worker, .. }
            | Kind::ClaimReplaced { worker, .. }
            | Kind::KeySet { worker, .. }
            | Kind::KeyRefused { worker, .. }
            | Kind::KeyExtended { worker, .. }
            | Kind::KeyExpired { worker, .. }
            | Kind::KeyDeleted { worker, .. }
            | Kind::ReplicasCounted { worker, .. }
            | Kind::MajorityCounted { worker, .. }
            | Kind::TokenIssued { worker, .. }
            | Kind::LockBusy { worker, .. }
            | Kind::LockUnreachable { worker }
            | Kind::CandidateQueued { worker, .. }
            | Kind::CandidateLeft { worker, .. }
            | Kind::LeaseCheckpointed { worker, .. }
            | Kind::LockDelayed { worker, .. }
            | Kind::CandidateWaits { worker, .. }
            | Kind::CandidateWoken { worker, .. }
            | Kind::WatchLost { worker, .. }
            | Kind::HandedToSidecar { worker, .. }
            | Kind::LockAcquired { worker, .. }
            | Kind::RenewalConfirmed { worker, .. }
            | Kind::RenewalFailed { worker, .. }
            | Kind::StopTimeChecked { worker, .. }
            | Kind::RaiseSent { worker, .. }
            | Kind::WriteSent { worker, .. }
            | Kind::DoneSent { worker, .. }
            | Kind::RowReturned { worker, .. }
            | Kind::NoQueuedJob { worker, .. }
            | Kind::StoreTimedOut { worker }
            | Kind::ReleaseSent { worker, .. }
            | Kind::GaveUp { worker, .. }
            | Kind::WorkerDone { worker }
            | Kind::OwnTimeout { worker, .. }
            | Kind::WorkKept { worker, .. }
            | Kind::WorkDropped { worker, .. }
            | Kind::QuotaGranted { worker, .. }
            | Kind::QuotaExpired { worker, .. }
            | Kind::UnitsUsed { worker, .. }
            | Kind::UnitsFree { worker, .. }
            | Kind::IdsReserved { worker, .. }
            | Kind::IdUsed { worker, .. }
            | Kind::JournalFenced { worker, .. }
            | Kind::JournalWritten { worker, .. }
            | Kind::JournalRefused { worker, .. }
            | Kind::EngineReplayed { worker, .. }
            | Kind::EntryCounted { worker, .. }
            | Kind::EngineHalted { worker, .. }
            | Kind::FenceRaised { worker, .. }
            | Kind::RaiseRefused { worker, .. }
            | Kind::ChunkWritten { worker, .. }
            | Kind::WriteRefused { worker, .. }
            | Kind::JobDone { worker, .. }
            | Kind::DoneRefused { worker, .. }
            | Kind::InvoicesRecorded { worker, .. }
            | Kind::ObjectStored { worker, .. }
            | Kind::ContestWon { worker, .. }
            | Kind::ContestLost { worker, .. }
            | Kind::SessionEnded { worker, .. }
            | Kind::WorkRefused { worker, .. }
            | Kind::EffectDone { worker, .. }
            | Kind::EffectRecognised { worker, .. }
            | Kind::RowLookedAt { worker, .. } => Some(*worker),
            Kind::RowLockAwaited { from, .. } | Kind::SerializationFailed { from, .. } => from.worker(),
            Kind::Paused { worker, .. }
            | Kind::Resumed { worker, .. }
            | Kind::Crashed { worker }
            | Kind::Restarted { worker } => *worker,
            _ => None,
        }
    }
}
