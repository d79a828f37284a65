//! What can be set while a run goes on, and the plan that a scenario lays down before it.

use serde::Serialize;

use crate::contest::Contest;
use crate::machine::{JobId, MachineId, NodeId, WorkerId};
use crate::models::Model;
use crate::time::{Span, TrueTime};

/// A lock service to run a scenario on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ServiceKind {
    /// A replicated log.
    #[default]
    Consensus,
    /// One Redis primary with an asynchronous replica.
    Redis,
    /// Redlock on five masters.
    Redlock,
    /// An item in a table.
    LeaseItem,
    /// The SQL database that also holds the rows; the grammar does not name it.
    Database,
}

/// How an SQL database that holds the rows says whose turn it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DatabaseLock {
    /// By a version in the row: authority and fence in one.
    #[default]
    Version,
    /// By a lock that lasts as long as a session; writes travel on other connections of the pool.
    Session,
    /// By the same lock, and every write travels on the session that holds it.
    SameSession,
}

/// By what a claimant judges that a lease item is free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ClaimRule {
    /// `lease_until` is before the claimant's own wall clock.
    Now,
    /// It is before the claimant's own wall clock less the claim margin.
    #[default]
    NowMargin,
    /// The record version number has not changed for one full lease, on the claimant's own monotonic clock.
    Unchanged,
    /// `lease_until` is before the wall clock of the storage, which has also written it: an SQL database's `now()`.
    StorageNow,
}

/// The table whose items are leases, and how its clients claim them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LeaseItems {
    /// By what a claimant judges.
    pub rule: ClaimRule,
    /// What [`ClaimRule::NowMargin`] takes off the claimant's clock.
    pub claim_margin: Span,
    /// How much longer than one lease [`ClaimRule::Unchanged`] waits.
    pub waits_longer: Span,
    /// From the evaluation of a write to its answer: by then it is on the disks of several copies.
    pub write: Span,
    /// How long after `lease_until` a background process deletes an item; `None`: there is no such process.
    /// In DynamoDB that typically takes up to a few days.
    pub ttl: Option<Span>,
}

impl Default for LeaseItems {
    fn default() -> LeaseItems {
        LeaseItems {
            rule: ClaimRule::default(),
            claim_margin: Span::seconds(5),
            waits_longer: Span::ZERO,
            write: Span::millis(14),
            ttl: None,
        }
    }
}

/// A store to run a scenario on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum StoreKind {
    /// One row with a fence.
    #[default]
    Row,
    /// An SQL database.
    Sql,
    /// DynamoDB.
    DynamoDb,
    /// S3.
    S3,
}

/// How the store compares the token of a write with its fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FenceMode {
    /// Accept if fence ≤ token.
    On,
    /// Compare nothing.
    Off,
    /// Accept if fence < token.
    RejectEqual,
    /// The worker reads the fence, compares by itself, then sends an unconditional write.
    TwoStep,
}

/// When a new holder raises the fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RaiseOrder {
    /// Before it reads or writes anything.
    First,
    /// It reads the row first and raises just before its first chunk.
    Late,
}

/// The settings of a run; interventions change them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Settings {
    /// The lease length T.
    pub lease: Span,
    /// How long after its last send a holder renews.
    pub renew: Span,
    /// How much earlier than the lease a holder stops.
    pub margin: Span,
    /// How the store compares.
    pub fence: FenceMode,
    /// When a worker that takes over raises.
    pub raise: RaiseOrder,
    /// Whether the store recognises a chunk that it has recorded already.
    pub idempotent: bool,
    /// Whether the sweeper runs.
    pub sweeper: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            lease: Span::seconds(10),
            renew: Span::seconds(3),
            margin: Span::seconds(2),
            fence: FenceMode::On,
            raise: RaiseOrder::First,
            idempotent: false,
            sweeper: true,
        }
    }
}

impl Settings {
    /// Whether a holder has time to renew before it must stop: renew < lease − margin.
    pub fn renews_in_time(&self) -> bool {
        self.renew < self.lease - self.margin
    }
}

/// How much of a run its trace tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Trace {
    /// Everything.
    #[default]
    Full,
    /// For thousands of workers: no messages but those that an intervention drops, delays or doubles, and of workers
    /// other than A to D only what others notice, and how it ends.
    Outcomes,
}

/// What fixes a run, together with the interventions and the seed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Plan {
    /// The settings at the start.
    pub settings: Settings,
    /// Chunks in the job.
    pub chunks: u8,
    /// Invoices in each chunk.
    pub invoices_per_chunk: u32,
    /// How many jobs there are, each with a lock and a row of its own.
    pub jobs: u16,
    /// The lock service.
    pub service: ServiceKind,
    /// The store.
    pub store: StoreKind,
    /// The nodes of the consensus lock service.
    pub cluster: Cluster,
    /// The Redis servers of the two lock services that have some.
    pub redis: Redis,
    /// Redlock's client library.
    pub redlock: Redlock,
    /// The table whose items are leases.
    pub lease_items: LeaseItems,
    /// How a database that is its own lock service says whose turn it is.
    pub database_lock: DatabaseLock,
    /// What the consensus lock service and its clients do differently in some scenarios.
    pub lock_rules: LockRules,
    /// What each worker does, in the order of the workers.
    /// One that is not named here is idle until it is told to acquire.
    pub programs: Vec<Program>,
    /// What a worker does that is not named in `programs`, and every restarted one: a standby.
    pub standby: Program,
    /// When other tenants of the lock service commit one change each.
    pub tenant_commits: Vec<Span>,
    /// How many changes other tenants have committed before the start.
    pub tenant_commits_before: u32,
    /// The sweeper's rules.
    pub sweeping: Sweeping,
    /// What concerns only some kinds of store.
    pub stores: StoreOptions,
    /// Many writers that check one fence item; none unless a scenario has them.
    pub writers: Writers,
    /// A partner outside whom the workers call for each chunk, if there is one.
    pub partner: Option<Partner>,
    /// Workers find one winner for the job without a lock service, instead of doing the billing job.
    pub contest: Option<Contest>,
    /// A small model that the run is about instead of the billing job.
    pub model: Option<Model>,
    /// Whether workers ask for the lock before they begin.
    pub coordinated: bool,
    /// Delays of the network and of time-outs.
    pub latency: Latency,
    /// When the run ends unless told otherwise.
    pub horizon: TrueTime,
    /// How much of the run its trace tells.
    pub trace: Trace,
}

impl Default for Plan {
    /// The setting that scenarios share unless they say otherwise: three lock nodes, a row of ten chunks, and nobody
    /// who does anything.
    fn default() -> Plan {
        let ms = Span::millis;
        Plan {
            settings: Settings::default(),
            jobs: 1,
            service: ServiceKind::Consensus,
            store: StoreKind::Row,
            chunks: 10,
            invoices_per_chunk: 5_000,
            cluster: Cluster::default(),
            redis: Redis::default(),
            redlock: Redlock::default(),
            lease_items: LeaseItems::default(),
            database_lock: DatabaseLock::default(),
            lock_rules: LockRules::default(),
            programs: Vec::new(),
            standby: Program::idle(WorkerId::D),
            tenant_commits: Vec::new(),
            tenant_commits_before: 0,
            sweeping: Sweeping::default(),
            stores: StoreOptions::default(),
            writers: Writers::default(),
            partner: None,
            contest: None,
            model: None,
            coordinated: true,
            latency: Latency {
                wire: ms(1),
                worker_store: ms(50),
                lock_timeout: ms(40),
                lock_backoff: ms(500),
                store_timeout: ms(500),
            },
            horizon: TrueTime::from_millis(60_000),
            trace: Trace::Full,
        }
    }
}

impl Plan {
    /// The program of `worker`, or the one that every unnamed worker runs.
    pub fn program(&self, worker: WorkerId) -> &Program {
        // Most plans name their workers without a gap: the number is the place.
        match self.programs.get(usize::from(worker.0)) {
            Some(program) if program.worker == worker => program,
            _ => self.programs.iter().find(|program| program.worker == worker).unwrap_or(&self.standby),
        }
    }

    /// The machines of the lock service that this plan has chosen.
    pub fn service_machines(&self) -> Vec<MachineId> {
        if let Some(model) = self.model.as_ref().filter(|model| !model.uses_lock_service()) {
            return model.servers();
        }
        match self.service {
            ServiceKind::LeaseItem => vec![MachineId::Table],
            ServiceKind::Database => Vec::new(),
            _ => {
                let nodes = self.cluster.nodes().filter(|_| self.has_cluster()).map(MachineId::Node);
                self.redis_servers().chain(nodes).collect()
            }
        }
    }

    /// Whether the run has the nodes of the replicated log: as its lock service, or to issue tokens beside Redlock.
    pub fn has_cluster(&self) -> bool {
        if self.model.as_ref().is_some_and(|model| !model.uses_lock_service()) {
            return false;
        }
        self.service == ServiceKind::Consensus
            || (self.service == ServiceKind::Redlock && self.redlock.token == TokenFrom::Consensus)
    }

    /// Whether anybody asks a lock service for anything.
    pub fn has_locks(&self) -> bool {
        self.coordinated && self.contest.is_none() && self.writers.per_second == 0
    }

    /// How long it takes to get a free lock when nothing disturbs: the client's requests, one after the other, with
    /// what each waits for.
    pub fn grant_takes(&self) -> Span {
        let round_trip = self.latency.wire * 2;
        // A follower syncs while the leader does; the leader waits for the later of the two.
        let commit = round_trip + round_trip + self.cluster.fsync;
        match self.service {
            // Read the key, grant a lease, create the key.
            ServiceKind::Consensus => round_trip + commit + commit,
            ServiceKind::Redlock if self.has_cluster() => round_trip + commit,
            _ => round_trip,
        }
    }

    /// The Redis servers that the run has.
    pub fn redis_servers(&self) -> impl Iterator<Item = MachineId> + use<> {
        let pair = [MachineId::Primary, MachineId::Replica].into_iter().filter({
            let has_pair = cfg!(feature = "labs") && self.service == ServiceKind::Redis;
            move |_| has_pair
        });
        let has_masters = cfg!(feature = "labs") && self.service == ServiceKind::Redlock;
        let masters = if has_masters { self.redlock.masters } else { 0 };
        pair.chain((1..=masters).map(MachineId::Master))
    }

    /// Whether a holder gets a growing number that the store can compare.
    pub fn hands_out_tokens(&self) -> bool {
        self.service != ServiceKind::Redlock || self.redlock.token == TokenFrom::Consensus
    }

    /// The names of all jobs.
    pub fn job_ids(&self) -> impl Iterator<Item = JobId> + use<> {
        (0..self.jobs).map(JobId)
    }
}

/// What concerns only some kinds of store.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StoreOptions {
    /// Chunks that were recorded before the run begins.
    pub chunks_before: u8,
    /// SQL: how long the inserts of a chunk take, while the row is locked.
    pub inserts_take: Span,
    /// SQL: how strictly transactions are kept apart.
    pub isolation: Isolation,
    /// S3: how long it takes to rewrite a manifest.
    pub put_takes: Span,
    /// DynamoDB: each put of an invoice demands that the invoice is not there yet.
    pub puts_if_absent: bool,
}

impl Default for StoreOptions {
    fn default() -> StoreOptions {
        StoreOptions {
            chunks_before: 0,
            inserts_take: Span::millis(20),
            isolation: Isolation::ReadCommitted,
            put_takes: Span::millis(20),
            puts_if_absent: true,
        }
    }
}

/// How strictly an SQL database keeps transactions apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Isolation {
    /// Each statement sees what is committed by then.
    #[default]
    ReadCommitted,
    /// All statements see what was committed when the first began, and a row that has changed since cannot be changed.
    RepeatableRead,
}

/// A partner outside, who knows no fence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Partner {
    /// Calls carry an idempotency key, and the partner stores it with what it has done.
    pub idempotency_key: bool,
}

/// How often the writers send what has come together: the finest step of their run.
pub const WRITERS_EVERY: Span = Span::millis(10);

/// The most attempts of one check.
pub const ATTEMPTS_MAX: usize = 10;

/// Many writers, each with an item of its own, that all check one fence item.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Writers {
    /// Transactions a second, all of them together; none: there are no writers.
    pub per_second: u32,
    /// Write units a second of the partition that holds the fence item.
    pub units_per_second: u32,
    /// Write units that a transactional check of the item costs.
    pub units_per_check: u32,
    /// How often a check is sent at most, up to [`ATTEMPTS_MAX`]; 1: what is throttled is given up.
    pub attempts: usize,
}

impl Default for Writers {
    fn default() -> Writers {
        Writers { per_second: 0, units_per_second: 1_000, units_per_check: 2, attempts: 3 }
    }
}

/// The replicated lock service.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cluster {
    /// The election timeout of each node: n1 first.
    pub election_timeouts: Vec<Span>,
    /// How often a leader sends to its followers.
    pub heartbeat: Span,
    /// How long it takes to bring a log entry or a vote to the disk.
    pub fsync: Span,
    /// How much longer a sync can take; drawn from the seed, and not at all for seed 0.
    pub fsync_jitter: Span,
    /// A node does nothing else of the protocol while it syncs, as etcd's raft loop; otherwise the disk works beside it.
    pub waits_for_disk: bool,
    /// The trace tells each step of each entry: taken into the log, on disk, acknowledged, committed, applied.
    pub traces_entries: bool,
}

impl Default for Cluster {
    fn default() -> Cluster {
        let ms = Span::millis;
        Cluster {
            // n2 gives up on its leader first.
            election_timeouts: vec![ms(2_600), ms(2_292), ms(2_900)],
            heartbeat: ms(200),
            fsync: ms(3),
            fsync_jitter: ms(2),
            waits_for_disk: false,
            traces_entries: false,
        }
    }
}

impl Cluster {
    /// A cluster of 3, 5 or 7 nodes; n2 gives up on its leader first.
    pub fn of_size(nodes: usize) -> Cluster {
        let timeouts = [2_600, 2_292, 2_900, 3_200, 3_500, 3_800, 4_100];
        Cluster {
            election_timeouts: timeouts.into_iter().take(nodes).map(Span::millis).collect(),
            ..Cluster::default()
        }
    }

    /// The nodes, n1 first.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator + use<> {
        (1..self.election_timeouts.len() as u8 + 1).map(NodeId)
    }

    /// The election timeout of `node`.
    pub fn election_timeout(&self, node: NodeId) -> Span {
        self.election_timeouts[usize::from(node.0) - 1]
    }

    /// The shortest election timeout of the cluster: a leader that is not heard for so long may have a successor.
    pub fn election_timeout_min(&self) -> Span {
        self.election_timeouts.iter().copied().min().unwrap_or(Span::ZERO)
    }
}

/// A Redis server: the same for the primary, its replica, and the masters of Redlock.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Redis {
    /// When what a command changed is brought to the disk.
    pub fsync: Fsync,
    /// How long that takes.
    pub fsync_takes: Span,
    /// How long a command waits in the primary before it is shipped to the replica.
    pub lag: Span,
    /// How often the failover monitor, which runs beside the replica, looks after the primary.
    pub ping_every: Span,
    /// How long the primary must leave the monitor's pings unanswered before the replica is promoted.
    pub promotion_after: Span,
    /// How many replicas must have acknowledged a new lock before its client takes it for granted: WAIT.
    pub wait_for: u8,
    /// How long WAIT waits.
    pub wait_timeout: Span,
}

impl Default for Redis {
    fn default() -> Redis {
        let ms = Span::millis;
        Redis {
            fsync: Fsync::EverySecond,
            fsync_takes: ms(3),
            lag: ms(100),
            ping_every: ms(250),
            promotion_after: ms(2_000),
            wait_for: 0,
            wait_timeout: ms(500),
        }
    }
}

/// When a Redis server syncs its append-only file: its setting `appendfsync`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fsync {
    /// Before it answers.
    Always,
    /// Once a second.
    EverySecond,
    /// When the operating system does: every 30 s.
    No,
}

/// What Redlock's client library goes by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Redlock {
    /// How many masters there are.
    pub masters: u8,
    /// How long the client waits for a master.
    pub node_timeout: Span,
    /// The allowance for clocks that run unlike: in parts per million of the lock's length…
    pub drift_ppm: i64,
    /// … and so much on top.
    pub drift_fixed: Span,
    /// How often a failed attempt is repeated.
    pub retries: u8,
    /// The longest pause before it is repeated; how long it is, chance decides.
    pub retry_delay: Span,
    /// Where a holder's token comes from.
    pub token: TokenFrom,
}

impl Default for Redlock {
    fn default() -> Redlock {
        let ms = Span::millis;
        Redlock {
            masters: crate::machine::MASTERS_MAX,
            node_timeout: ms(50),
            drift_ppm: 10_000,
            drift_fixed: ms(2),
            retries: 3,
            retry_delay: ms(200),
            token: TokenFrom::Nowhere,
        }
    }
}

impl Redlock {
    /// How many masters make a majority.
    pub fn majority(&self) -> usize {
        usize::from(self.masters) / 2 + 1
    }

    /// The allowance for clocks that run unlike, for a lock of this length.
    pub fn drift(&self, lease: Span) -> Span {
        Span::micros(lease.as_micros() * self.drift_ppm / crate::clock::RATE_ONE) + self.drift_fixed
    }
}

/// Where a holder under Redlock gets a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenFrom {
    /// Nowhere: the masters have no common counter.
    Nowhere,
    /// A put into a replicated log, whose revision is the token.
    Consensus,
}

/// What the consensus lock service and its clients do differently in some scenarios.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct LockRules {
    /// How often the leader puts the remaining time of a lease into the log; `None`: never.
    pub checkpoint: Option<Span>,
    /// For how long nobody gets a lock whose holder's lease has expired.
    pub lock_delay: Span,
    /// What a release deletes.
    pub release: ReleaseRule,
    /// Candidates create a key each and wait until theirs is the oldest; `None`: all try to create the same key.
    pub campaign: Option<WatchRule>,
    /// Who keeps a worker's lease alive.
    pub renewer: Renewer,
    /// What ends a lock whose holder does not release it.
    pub limit: Limit,
}

/// What ends a lock whose holder does not release it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Limit {
    /// The service, when the lease is over.
    #[default]
    Lease,
    /// A timer in the holder's own process; the service knows of none.
    ClientTimeout,
    /// Nothing.
    Nothing,
}

/// What a release deletes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ReleaseRule {
    /// The lease, and with it the key that is bound to it.
    #[default]
    Conditional,
    /// The key, whosever it is: wrong.
    Unconditional,
}

/// Which key a candidate watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WatchRule {
    /// The one created just before its own.
    Predecessor,
    /// The leader's, as all others do.
    Leader,
}

/// Who keeps a worker's lease alive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Renewer {
    /// The worker's own process.
    #[default]
    App,
    /// A second process on the same machine.
    Sidecar,
}

/// How a worker comes to its work and how long the work takes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Program {
    /// The worker.
    pub worker: WorkerId,
    /// The job that it works on.
    pub job: JobId,
    /// When its process starts to look for the job; `None`: when it is told to.
    pub starts: Option<TrueTime>,
    /// How it finds the job.
    pub finds: Finds,
    /// Whether it may be second: a worker that takes over is the one that `raise late` concerns.
    pub takes_over: bool,
    /// From the grant to the raise of the fence.
    pub setup: Span,
    /// From one chunk's answer to the next chunk's check, unless listed in `work`.
    pub work_default: Span,
    /// Work before the check of single chunks.
    pub work: Vec<(u8, Span)>,
    /// From the check to the send: the chunk is built in the worker's buffers.
    pub build: Span,
    /// Whether it renews its lease.
    pub renews: bool,
    /// The clock by which it judges whether its stop time has come.
    pub stop_clock: StopClock,
}

/// The clock by which a holder judges its stop time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum StopClock {
    /// The one that nobody can set.
    #[default]
    Monotonic,
    /// The one that can be set: a mistake, and a common one.
    Wall,
}

impl Program {
    /// What a worker does that the scenario does not mention, and every restarted one: a standby.
    pub fn idle(worker: WorkerId) -> Program {
        Program {
            worker,
            job: JobId::FIRST,
            starts: None,
            finds: Finds::Standby { every: Span::millis(500) },
            takes_over: true,
            setup: Span::millis(34),
            work_default: Span::millis(1_450),
            work: Vec::new(),
            build: Span::millis(100),
            renews: true,
            stop_clock: StopClock::default(),
        }
    }

    /// The work before the check of `chunk`.
    pub fn work(&self, chunk: u8) -> Span {
        self.work.iter().find(|(number, _)| *number == chunk).map_or(self.work_default, |(_, work)| *work)
    }
}

/// How a worker finds the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Finds {
    /// It waits for this one lock and tries again and again.
    Standby {
        /// The time between two attempts.
        every: Span,
    },
    /// It looks for queued jobs in the store and tries the lock only if it finds one.
    Queue {
        /// The time between two looks.
        every: Span,
    },
    /// One of many that share many jobs: it takes its own, and once it has lost that it comes back for it now and then,
    /// and in between takes any job that is queued.
    /// It never ends by giving up, and it keeps a half-done chunk as long as it may turn out to be of use.
    Fleet {
        /// The time between two looks into the queue.
        every: Span,
        /// The time between two attempts to get its own lock back; the first comes after a part of it, which is
        /// another for each worker. Zero: it has no job of its own.
        returns: Span,
    },
}

impl Finds {
    /// The time between two polls.
    pub fn every(self) -> Span {
        match self {
            Finds::Standby { every } | Finds::Queue { every } | Finds::Fleet { every, .. } => every,
        }
    }
}

/// The sweeper's rules.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sweeping {
    /// The time between two sweeps.
    pub every: Span,
    /// How often an orphan must be seen before it is re-queued: once or twice.
    pub sightings: u8,
    /// The least time between the first sighting of an orphan and its re-queue, if two are asked for.
    pub sightings_apart: Span,
    /// Whether the re-queues of a sweep are sent together instead of one after another's answer.
    pub together: bool,
    /// The most re-queues of one sweep.
    pub cap: Option<u32>,
    /// Each re-queue waits for a part of this, which is another for each.
    pub jitter: Span,
    /// A sweep that finds more than so many per cent of all claims orphaned re-queues nothing.
    pub pause_share: Option<u8>,
    /// After the lock service could not be reached, whether nothing is judged until it has answered for a whole lease.
    pub hold_off: bool,
}

impl Default for Sweeping {
    fn default() -> Sweeping {
        Sweeping {
            every: Span::seconds(10),
            sightings: 2,
            sightings_apart: Span::seconds(5),
            together: false,
            cap: None,
            jitter: Span::ZERO,
            pause_share: None,
            hold_off: false,
        }
    }
}

/// Delays on the wire and the time-outs that go with them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Latency {
    /// One way between any two machines, the next line's excepted.
    pub wire: Span,
    /// One way between a worker and the store.
    pub worker_store: Span,
    /// How long a client waits for a lock node before it asks the next.
    pub lock_timeout: Span,
    /// How long a client that found no lock node waits before it tries all of them again.
    pub lock_backoff: Span,
    /// How long a worker waits for the store.
    pub store_timeout: Span,
}
