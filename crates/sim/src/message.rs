//! Everything that machines say to each other.

use std::fmt;

use serde::Serialize;

use crate::consensus::log::Entry;
use crate::contest;
use crate::labs_only::LabsOnly;
use crate::machine::{JobId, NodeId, WorkerId};
use crate::models::journal::JournalMessage;
use crate::models::rent::RentMessage;
use crate::redis::protocol::{RedisReply, RedisRequest, Replication};
use crate::store::sessions::{SessionReply, SessionRequest};
use crate::store::{Row, dynamodb, s3, sql};
use crate::table::{Condition, TableReply, TableRequest, Term};
use crate::time::{Mono, Span};

/// A fencing token: a number that grows with every grant.
/// The consensus service's is the revision at which the lock's key was created.
pub type Token = u64;

/// What a holder has whose lock service hands out no growing number: the store has nothing to compare.
pub const NO_TOKEN: Token = 0;

/// Whether there is no token.
pub fn is_no_token(token: &Token) -> bool {
    *token == NO_TOKEN
}

/// Names a key of the lock service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyName {
    /// Whose lock it is.
    pub job: JobId,
    /// The candidate whose own key it is, in an election; a plain lock has one key for all.
    pub candidate: Option<WorkerId>,
}

impl KeyName {
    /// The one key of a plain lock.
    pub fn lock(job: JobId) -> KeyName {
        KeyName { job, candidate: None }
    }
}

/// A key that exists, as a client gets to see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Holder {
    /// The job.
    pub job: JobId,
    /// Who holds its lock.
    pub worker: WorkerId,
    /// With which token.
    pub token: Token,
}

/// Names a lease: its client makes it up, never twice the same, so that a repeated request is recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeaseId {
    /// The worker that asked for it.
    pub worker: WorkerId,
    /// Which process of that worker, counted from 0.
    pub incarnation: u32,
    /// Which lease of that process, counted from 1.
    pub number: u32,
}

impl fmt::Display for LeaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}.{}", self.worker, self.incarnation, self.number)
    }
}

impl Serialize for LeaseId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Ties an answer to its request: the caller's incarnation and a running number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId {
    /// Which process of the caller.
    pub incarnation: u32,
    /// Which call of that process.
    pub number: u32,
}

/// A message on the wire.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Message {
    /// A client asks the lock service.
    LockRequest(CallId, LockRequest),
    /// The lock service answers.
    LockReply(CallId, LockReply),
    /// A lock node talks to another.
    Peer(PeerMessage),
    /// A client asks the table of lease items, about the item of a job.
    TableRequest(CallId, JobId, TableRequest, LabsOnly<()>),
    /// The table answers.
    TableReply(CallId, TableReply, LabsOnly<()>),
    /// A client asks a database in a session of its own, about the lock of a job.
    SessionRequest(CallId, JobId, SessionRequest, LabsOnly<()>),
    /// The database answers.
    SessionReply(CallId, SessionReply, LabsOnly<()>),
    /// A client asks a Redis server.
    Redis(CallId, RedisRequest, LabsOnly<()>),
    /// A Redis server answers.
    RedisReply(CallId, RedisReply, LabsOnly<()>),
    /// A Redis primary and its replica talk to each other.
    Replication(Replication, LabsOnly<()>),
    /// A worker or the sweeper asks the store.
    StoreRequest(CallId, JobId, StoreRequest),
    /// The store answers.
    StoreReply(CallId, StoreReply),
    /// A renter and the allocator.
    Rent(CallId, RentMessage, LabsOnly<()>),
    /// An engine and a node of its journal.
    Journal(CallId, JournalMessage, LabsOnly<()>),
    /// The operating system of a machine whose process has died closes its connection to the store.
    ConnectionClosed,
    /// A worker asks the partner outside for something that cannot be taken back.
    PartnerCall(PartnerCall, LabsOnly<()>),
    /// The partner answers.
    PartnerReply(PartnerReply, LabsOnly<()>),
    /// A worker and its sidecar talk, within one machine.
    Sidecar(SidecarMessage, LabsOnly<()>),
}

/// What a worker and its sidecar say to each other; the times are readings of the clock that they share.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SidecarMessage {
    /// The worker: keep this lease alive from now on.
    Keep {
        /// The lease.
        lease: LeaseId,
        /// When it was asked for.
        sent: Mono,
    },
    /// The worker: keep nothing alive.
    Stop,
    /// The sidecar: it is renewed.
    Renewed {
        /// The stop time that follows.
        stop: Mono,
        /// When the keep-alive was sent.
        sent: Mono,
    },
    /// The sidecar: the lock service does not know the lease any more.
    Lost,
}

/// What a client asks of the lock service.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LockRequest {
    /// Who holds the lock of this job?
    ReadKey {
        /// The job.
        job: JobId,
    },
    /// Who holds the locks of these jobs?
    ReadKeys {
        /// The jobs, in order.
        jobs: Vec<JobId>,
    },
    /// Grant a lease of this length.
    GrantLease {
        /// The lease.
        lease: LeaseId,
        /// Its length.
        ttl: Span,
    },
    /// Create the key, bound to the lease, if it does not exist.
    CreateKey {
        /// The lease.
        lease: LeaseId,
        /// The key.
        key: KeyName,
        /// The stop time that the sender will use if this succeeds.
        /// It is here so that the trace can show it; no node reads it.
        stop_on_holder: Mono,
    },
    /// Start the lease anew.
    KeepAlive {
        /// The lease.
        lease: LeaseId,
        /// Its length from now on.
        ttl: Span,
        /// As in `CreateKey`.
        stop_on_holder: Mono,
    },
    /// End the lease and delete the key that is bound to it.
    Revoke {
        /// The lease.
        lease: LeaseId,
    },
    /// Delete the key, whosever it is.
    DeleteKey {
        /// The key.
        key: KeyName,
    },
    /// Which candidates have a key, the oldest first?
    ReadCandidates {
        /// The job.
        job: JobId,
    },
    /// Tell me when the key with this create revision is gone.
    Watch {
        /// The job.
        job: JobId,
        /// The create revision.
        created: Token,
    },
    /// Another tenant's change.
    TenantPut {
        /// Which one, counted from 1: a repeated request is recognised.
        number: u32,
    },
    /// A put whose revision is the token of a lock that another service has granted.
    IssueToken {
        /// The other service's name for that grant.
        lease: LeaseId,
    },
}

/// What the lock service answers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LockReply {
    /// The key's holder and token, or nothing if it does not exist.
    Key(Option<(WorkerId, Token)>),
    /// Those of the keys asked for that exist.
    Keys(Vec<Holder>),
    /// The lease exists now.
    LeaseGranted,
    /// The key exists now; its create revision is the token.
    Created(Token),
    /// Somebody else's key exists.
    Held(WorkerId, Token),
    /// The lease runs anew.
    KeptAlive {
        /// The leader's term.
        term: u32,
    },
    /// There is no such lease (any more).
    LeaseNotFound,
    /// The lease has ended.
    Revoked,
    /// The tenant's change is committed.
    PutDone,
    /// The key does not exist, but the lock cannot be had yet: its last holder's lease expired a short time ago.
    Delayed,
    /// The candidates, the oldest first.
    Candidates(Vec<Holder>),
    /// The watch is set.
    Watching {
        /// The leader's term: no other leader knows of the watch.
        term: u32,
    },
    /// The watched key is gone.
    KeyDeleted,
    /// The history that the watcher knows is not this one any more: it must read again.
    HistoryGone,
    /// The put is committed; its revision is the token.
    TokenIssued(Token),
    /// This node cannot answer; perhaps that one can.
    NotLeader(Option<NodeId>),
}

/// What lock nodes say to each other: Raft (Ongaro and Ousterhout, 2014) with pre-votes (Ongaro's thesis, 9.6).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PeerMessage {
    /// Would you vote for me (`pre`), or: vote for me.
    RequestVote {
        /// The term that the candidate stands for.
        term: u32,
        /// The candidate's last log index.
        last_index: u64,
        /// The term of that entry.
        last_term: u32,
        /// Only asking; no term changes.
        pre: bool,
    },
    /// The answer.
    Vote {
        /// The term asked for if granted, else the voter's own.
        term: u32,
        /// Yes or no.
        granted: bool,
        /// As in the request.
        pre: bool,
    },
    /// The leader's entries, or a heartbeat without any.
    Append {
        /// The leader's term.
        term: u32,
        /// The index before the first entry.
        prev_index: u64,
        /// The term of the entry at `prev_index`.
        prev_term: u32,
        /// The entries.
        entries: Vec<Entry>,
        /// How far the leader knows the log to be committed.
        commit: u64,
        /// When it was sent, on the leader's clock; the answer brings it back.
        sent_on_leader: Mono,
    },
    /// The answer.
    AppendReply {
        /// The follower's term.
        term: u32,
        /// How far the follower's disk agrees with the leader's log; on a refusal, where the leader should try next.
        matched: u64,
        /// Whether the entry at `prev_index` was the leader's.
        ok: bool,
        /// The leader's clock reading out of the request.
        sent_on_leader: Mono,
        /// Answers a heartbeat; such answers are left out of the trace.
        heartbeat: bool,
    },
}

/// What the store is asked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum StoreRequest {
    /// Return the row.
    ReadRow,
    /// Raise the fence and take the row, on condition of the fence; return the row as it was before.
    Raise {
        /// The new holder's token.
        token: Token,
    },
    /// Return the fence only, for a worker that compares by itself.
    ReadFence,
    /// Record a chunk.
    WriteChunk {
        /// The holder's token.
        token: Token,
        /// The chunk's number.
        chunk: u8,
        /// The worker has compared by itself; do not compare again.
        unconditional: bool,
    },
    /// Set the state to DONE.
    SetDone {
        /// The holder's token.
        token: Token,
    },
    /// Name a queued job, the first from this one on.
    FindQueued {
        /// Where to begin to look.
        from: JobId,
    },
    /// Return the rows of the sparse index.
    ReadIndex,
    /// Put the row back into the queue if it is RUNNING and owner and fence are as seen.
    Requeue {
        /// The owner as seen.
        owner: Token,
        /// The fence as seen.
        fence: Token,
    },
    /// In the words of an SQL database.
    Sql(Box<sql::Request>, LabsOnly<()>),
    /// In those of DynamoDB.
    DynamoDb(Box<dynamodb::Request>, LabsOnly<()>),
    /// In those of S3.
    S3(Box<s3::Request>, LabsOnly<()>),
    /// Where a database or a broker finds one winner by itself.
    Contest(contest::Request, LabsOnly<()>),
}

/// A row of the sparse index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Claim {
    /// The job.
    pub job: JobId,
    /// The token that claimed it.
    pub owner: Token,
    /// The fence.
    pub fence: Token,
}

/// What the partner is asked: to do something for every customer of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PartnerCall {
    /// The job.
    pub job: JobId,
    /// The chunk.
    pub chunk: u8,
    /// It carries an idempotency key: job and chunk, the same for whoever calls.
    pub keyed: bool,
}

/// What the partner answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PartnerReply {
    /// The job.
    pub job: JobId,
    /// The chunk.
    pub chunk: u8,
    /// It has recognised the key, and done nothing.
    pub known: bool,
}

/// What the store answers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum StoreReply {
    /// The row (before the change, if the request changed it).
    Row(Box<Row>),
    /// The fence.
    Fence(Token),
    /// Done.
    Accepted,
    /// Not done; the fence stands at this token.
    Refused(Token),
    /// A queued job, if there is one.
    Queued(Option<JobId>),
    /// The claims that the index holds.
    Claims(Vec<Claim>),
    /// COMMIT after so many invoices were inserted.
    Inserted(u32),
    /// SQLSTATE 40001: the row has changed since the transaction began.
    SerializationFailure,
    /// What only DynamoDB answers.
    DynamoDb(Box<dynamodb::Reply>, LabsOnly<()>),
    /// What S3 answers.
    S3(s3::Reply, LabsOnly<()>),
    /// Where a database or a broker finds one winner by itself.
    Contest(contest::Reply, LabsOnly<()>),
}

impl Message {
    /// Heartbeats and their answers: so many, and so alike, that the trace holds one event for each round instead.
    pub fn is_background(&self) -> bool {
        match self {
            Message::Peer(PeerMessage::Append { entries, .. }) => entries.is_empty(),
            Message::Peer(PeerMessage::AppendReply { heartbeat, .. }) => *heartbeat,
            Message::Replication(message, ..) => message.is_background(),
            _ => false,
        }
    }
}

/// Whether this build has more than the billing story.
const LABS: bool = cfg!(feature = "labs");

impl fmt::Display for Message {
    /// A short label for drawings and logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Message::Rent(_, message, ..) => message.fmt(f),
            Message::Journal(_, message, ..) => message.fmt(f),
            Message::LockRequest(_, request) => match request {
                LockRequest::ReadKey { .. } => f.write_str("who holds the key?"),
                LockRequest::ReadKeys { jobs } if jobs.len() == 1 => f.write_str("who holds the key?"),
                LockRequest::ReadKeys { jobs } => write!(f, "who holds these {} keys?", jobs.len()),
                LockRequest::GrantLease { .. } => f.write_str("grant a lease"),
                LockRequest::CreateKey { .. } => f.write_str("create the key"),
                LockRequest::KeepAlive { .. } => f.write_str("keep alive"),
                LockRequest::Revoke { .. } => f.write_str("revoke"),
                LockRequest::DeleteKey { .. } => f.write_str("delete the key"),
                LockRequest::ReadCandidates { .. } => f.write_str("who holds the oldest key?"),
                LockRequest::Watch { created, .. } => write!(f, "watch the key of revision {created}"),
                LockRequest::TenantPut { .. } => f.write_str("put"),
                LockRequest::IssueToken { lease } => write!(f, "put {lease} for a token"),
            },
            Message::LockReply(_, reply) => match reply {
                LockReply::Key(None) => f.write_str("nobody holds it"),
                LockReply::Key(Some((holder, token))) | LockReply::Held(holder, token) => {
                    write!(f, "{holder} holds it with token {token}")
                }
                LockReply::Keys(holders) => match holders[..] {
                    [] => f.write_str("nobody holds it"),
                    [Holder { worker, token, .. }] => write!(f, "{worker} holds it with token {token}"),
                    _ => write!(f, "{} are held", holders.len()),
                },
                LockReply::LeaseGranted => f.write_str("lease granted"),
                LockReply::Created(token) => write!(f, "key created, token {token}"),
                LockReply::KeptAlive { .. } => f.write_str("kept alive"),
                LockReply::LeaseNotFound => f.write_str("lease not found"),
                LockReply::Revoked => f.write_str("revoked"),
                LockReply::PutDone => f.write_str("put done"),
                LockReply::Delayed => f.write_str("not yet: lock-delay"),
                LockReply::Candidates(candidates) => match candidates.first() {
                    Some(first) => write!(f, "{} keys, the oldest is {}’s", candidates.len(), first.worker),
                    None => f.write_str("no keys"),
                },
                LockReply::Watching { .. } => f.write_str("watching"),
                LockReply::KeyDeleted => f.write_str("the key is gone"),
                LockReply::HistoryGone => f.write_str("your history is not mine"),
                LockReply::TokenIssued(token) => write!(f, "token {token}"),
                LockReply::NotLeader(Some(node)) => write!(f, "not the leader, ask {node}"),
                LockReply::NotLeader(None) => f.write_str("not the leader"),
            },
            Message::Peer(peer) => match peer {
                PeerMessage::RequestVote { term, pre: true, .. } => write!(f, "would you vote for me in term {term}?"),
                PeerMessage::RequestVote { term, .. } => write!(f, "vote for me in term {term}"),
                PeerMessage::Vote { granted: true, term, .. } => write!(f, "yes, in term {term}"),
                PeerMessage::Vote { .. } => f.write_str("no vote"),
                PeerMessage::Append { entries, .. } if entries.is_empty() => f.write_str("heartbeat"),
                PeerMessage::Append { entries, prev_index, .. } => {
                    write!(f, "append {}", prev_index + 1)?;
                    if entries.len() > 1 {
                        write!(f, "–{}", prev_index + entries.len() as u64)?;
                    }
                    Ok(())
                }
                PeerMessage::AppendReply { ok: true, matched, .. } => write!(f, "on disk up to {matched}"),
                PeerMessage::AppendReply { .. } => f.write_str("log differs"),
            },
            Message::TableRequest(_, _, request, ..) if LABS => match request {
                TableRequest::Get => f.write_str("read the item"),
                TableRequest::GetMany(jobs) if jobs.len() == 1 => f.write_str("read the item"),
                TableRequest::GetMany(jobs) => write!(f, "read these {} items", jobs.len()),
                TableRequest::Update(update) if update.claims() => match update.condition {
                    Condition::All(ref terms) if !terms.contains(&Term::NoHolder) => f.write_str("claim if unchanged"),
                    _ => f.write_str("claim if free"),
                },
                TableRequest::Update(update) if update.renews() => f.write_str("renew if mine"),
                TableRequest::Update(_) => f.write_str("release if mine"),
            },
            Message::TableReply(_, reply, ..) if LABS => match reply {
                TableReply::Item(item) => match item.as_ref().and_then(|item| Some((item, item.holder?))) {
                    Some((item, holder)) => write!(f, "{} holds it with epoch {}", holder.worker, item.epoch),
                    None => f.write_str("nobody holds it"),
                },
                TableReply::Items(items) => write!(f, "{} items", items.len()),
                TableReply::Updated(item) => write!(f, "done, epoch {}", item.epoch),
                TableReply::ConditionFailed(_) => f.write_str("condition failed"),
            },
            Message::Sidecar(message, ..) if LABS => f.write_str(match message {
                SidecarMessage::Keep { .. } => "keep my lease alive",
                SidecarMessage::Stop => "keep it no longer",
                SidecarMessage::Renewed { .. } => "your lease is renewed",
                SidecarMessage::Lost => "your lease is lost",
            }),
            Message::SessionRequest(_, _, request, ..) => f.write_str(match request {
                SessionRequest::TryLock(..) => "try the session lock",
                SessionRequest::KeepAlive(..) => "keep alive",
                SessionRequest::Close(_) => "close the session",
                SessionRequest::Holders(_) => "who holds the session lock?",
            }),
            Message::SessionReply(_, reply, ..) => match reply {
                SessionReply::Locked => f.write_str("locked"),
                SessionReply::Busy(holder) => write!(f, "{holder} holds it"),
                SessionReply::Alive => f.write_str("alive"),
                SessionReply::Ended => f.write_str("the session has ended"),
                SessionReply::Holders(holders) => write!(f, "{} are held", holders.len()),
            },
            Message::Redis(_, request, ..) if LABS => request.fmt(f),
            Message::RedisReply(_, reply, ..) if LABS => reply.fmt(f),
            Message::Replication(message, ..) if LABS => message.fmt(f),
            Message::StoreRequest(_, _, request) => match request {
                StoreRequest::ReadRow => f.write_str("read the row"),
                StoreRequest::Raise { token: NO_TOKEN } => f.write_str("take the row"),
                StoreRequest::WriteChunk { token: NO_TOKEN, chunk, .. } => write!(f, "chunk {chunk}, no token"),
                StoreRequest::SetDone { token: NO_TOKEN } => f.write_str("set DONE"),
                StoreRequest::Requeue { owner: NO_TOKEN, .. } => f.write_str("re-queue if unchanged"),
                StoreRequest::Raise { token } => write!(f, "raise the fence to {token}"),
                StoreRequest::ReadFence => f.write_str("read the fence"),
                StoreRequest::WriteChunk { token, chunk, .. } => write!(f, "chunk {chunk}, token {token}"),
                StoreRequest::SetDone { token } => write!(f, "set DONE, token {token}"),
                StoreRequest::FindQueued { .. } => f.write_str("is a job queued?"),
                StoreRequest::ReadIndex => f.write_str("read the index"),
                StoreRequest::Requeue { owner, .. } => write!(f, "re-queue if still owned by {owner}"),
                StoreRequest::Sql(request, ..) if LABS => f.write_str(&sql_label(request)),
                StoreRequest::DynamoDb(request, ..) if LABS => f.write_str(&dynamodb_label(request)),
                StoreRequest::S3(request, ..) if LABS => f.write_str(&s3_label(request)),
                StoreRequest::Contest(request, ..) if LABS => f.write_str(contest_label(*request)),
                _ => Ok(()),
            },
            Message::ConnectionClosed => f.write_str("connection closed"),
            Message::PartnerCall(call, ..) if LABS => write!(f, "tell the customers of chunk {}", call.chunk),
            Message::PartnerReply(PartnerReply { known: true, .. }, ..) => f.write_str("done before"),
            Message::PartnerReply(..) => f.write_str("done"),
            Message::StoreReply(_, reply) => match reply {
                StoreReply::Row(row) => write!(f, "the row: {}", row.state),
                StoreReply::Fence(fence) => write!(f, "the fence is {fence}"),
                StoreReply::Accepted => f.write_str("accepted"),
                StoreReply::Queued(None) => f.write_str("no job is queued"),
                StoreReply::Queued(Some(job)) => write!(f, "job {} is queued", job.0 + 1),
                StoreReply::Refused(fence) => write!(f, "refused, the fence is {fence}"),
                StoreReply::Claims(claims) => match claims[..] {
                    [] => f.write_str("nothing is claimed"),
                    [Claim { owner: NO_TOKEN, .. }] => f.write_str("it is claimed"),
                    [Claim { owner, .. }] => write!(f, "claimed by {owner}"),
                    _ => write!(f, "{} are claimed", claims.len()),
                },
                StoreReply::Inserted(count) if LABS => write!(f, "committed, {count} invoices"),
                StoreReply::SerializationFailure => f.write_str("40001, serialization failure"),
                StoreReply::DynamoDb(reply, ..) if LABS => match &**reply {
                    dynamodb::Reply::ConditionFailed(_) => f.write_str("the condition failed"),
                    dynamodb::Reply::Invoices(there) => write!(f, "{} invoices are there", there.len()),
                    dynamodb::Reply::Cancelled { .. } => f.write_str("transaction cancelled"),
                    dynamodb::Reply::Checked { accepted, throttled } => {
                        write!(f, "{accepted} accepted, {throttled} throttled")
                    }
                },
                StoreReply::Contest(reply, ..) if LABS => f.write_str(match reply {
                    contest::Reply::Won(_) => "yours",
                    contest::Reply::Lost(_) => "not yours",
                    contest::Reply::Version(_) => "it waits",
                    contest::Reply::NothingToDo => "nothing to do",
                    contest::Reply::Recorded => "recorded",
                    contest::Reply::Refused => "refused",
                }),
                StoreReply::S3(reply, ..) if LABS => match reply {
                    s3::Reply::Manifest(etag, manifest) => {
                        write!(f, "the manifest: E{etag}, token {}", manifest.token)
                    }
                    s3::Reply::Rewritten(etag) => write!(f, "200, E{etag}"),
                    s3::Reply::Stored => f.write_str("200, stored"),
                    s3::Reply::PreconditionFailed => f.write_str("412, precondition failed"),
                    s3::Reply::Conflict => f.write_str("409, another write is in progress"),
                },
                _ => Ok(()),
            },
            // What only labs say is printed only where there are labs.
            _ => Ok(()),
        }
    }
}

fn sql_label(request: &sql::Request) -> String {
    match request {
        sql::Request::SelectRow => "select the row".into(),
        sql::Request::SelectFence => "select the fence".into(),
        sql::Request::SelectClaims => "select what is claimed".into(),
        sql::Request::Transaction(transaction) => transaction.update.purpose.label(),
    }
}

fn dynamodb_label(request: &dynamodb::Request) -> String {
    match request {
        dynamodb::Request::QueryJob => "get the items of job and chunks".into(),
        dynamodb::Request::GetFence => "get the fence".into(),
        dynamodb::Request::QueryInvoices { chunk } => format!("which invoices of chunk {chunk} are there?"),
        dynamodb::Request::ScanIndex => "read the index".into(),
        dynamodb::Request::UpdateItem(update) => update.purpose.label(),
        dynamodb::Request::Transact(transact) => {
            let count = transact.puts.len();
            let what = if transact.marks { "the last transaction of " } else { "" };
            let parts = if count > 1 { format!(", {count} transactions") } else { String::new() };
            format!("{what}chunk {}, token {}{parts}", transact.chunk, transact.token)
        }
        dynamodb::Request::Checks { count, .. } => format!("{count} checks of the fence"),
    }
}

fn contest_label(request: contest::Request) -> &'static str {
    match request {
        contest::Request::InsertClaim => "insert a claim",
        contest::Request::SelectVersion => "read the job",
        contest::Request::TakeVersion(_) => "take the job if unchanged",
        contest::Request::SelectSkipLocked => "take an unlocked job",
        contest::Request::Report => "I am here",
        contest::Request::Record(_) => "record the work",
    }
}

fn s3_label(request: &s3::Request) -> String {
    match request {
        s3::Request::GetManifest => "get the manifest".into(),
        s3::Request::PutObject { chunk, token } => format!("upload chunk {chunk} under token {token}"),
        s3::Request::PutManifest(put) => match put.if_match {
            Some(etag) => format!("{}, if still E{etag}", put.purpose.label()),
            None => put.purpose.label(),
        },
    }
}
