//! The consensus lock service: a replicated log (Raft) that drives leases and keys, etcd-like.
//!
//! A [`Node`] is one member.
//! What it has on disk survives a crash: term, vote and the synced part of the log.
//! What it has in memory does not: its role, how far the log is committed and applied, and, on the leader, the
//! deadlines of the leases.
//!
//! Three things are simpler than in etcd.
//! The leader notices an expiry at once instead of on a loop every 500 ms.
//! A new leader restarts every lease at exactly its full length instead of adding an election timeout.
//! A read is answered by a leader that has heard from a majority within the shortest election timeout (a lease read)
//! instead of asking the majority once more (`ReadIndex`): with wrong clocks it can be stale, which costs a candidate
//! one attempt, because creating a key and re-queuing a row are conditional.
//!
//! Where things are: `election` has votes and becoming leader, `replication` has the log, `disk` has what waits for
//! it, `leader` has what only a leader does: clients and leases; `keys` has what follows when a key comes or goes:
//! watches and lock-delay; `restore` begins a new history.

mod deadlines;
mod disk;
mod election;
mod keys;
mod leader;
pub mod log;
mod replication;
mod restore;
pub mod state;

use std::collections::VecDeque;

use litemap::LiteMap;

use crate::actor::{Actions, Context, Input, TimerKey};
use crate::consensus::deadlines::Deadlines;
use crate::consensus::log::{Command, Entry};
use crate::consensus::state::LockState;
use crate::event::Kind;
use crate::machine::{JobId, MachineId, NodeId};
use crate::message::{CallId, KeyName, LeaseId, LockReply, Message, PeerMessage, Token};
use crate::rng::Rng;
use crate::settings::Plan;
use crate::time::{Mono, Span};
use disk::{DiskJob, Durable, Then};

/// One member of the lock service.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    id: NodeId,
    rng: Rng,
    fsync_jitter: Span,

    // On disk, apart from what `disk_jobs` has not synced yet.
    term: u32,
    voted_for: Option<NodeId>,
    log: Vec<Entry>,
    durable: Durable,

    // In memory.
    disk_jobs: VecDeque<DiskJob>,
    /// What came while the node synced, if it waits for its disk.
    waiting_for_disk: Vec<Input>,
    role: Role,
    leader: Option<NodeId>,
    heard_leader: Option<Mono>,
    commit: u64,
    applied: u64,
    state: LockState,
}

/// A node's part in the cluster, and what belongs to it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Role {
    Follower,
    PreCandidate { votes: Vec<NodeId> },
    Candidate { votes: Vec<NodeId> },
    Leader(Box<Leadership>),
}

/// What only a leader has, all of it in memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Leadership {
    /// The no-op of this term: clients are answered once it is applied.
    noop_index: u64,
    followers: LiteMap<NodeId, Follower>,
    deadlines: Deadlines,
    /// Who waits for which entry, in the order of the entries.
    waiting: VecDeque<(u64, Waiting)>,
    /// Up to which entry the log is on its way to the disks: what is proposed while this node's disk is busy waits, and
    /// goes with the next write.
    sent_out: u64,
    /// Who wants to know when which key is gone.
    watches: Vec<Watch>,
    /// When the next checkpoint of each lease is due; empty while there are none.
    checkpoints: LiteMap<LeaseId, Mono>,
    /// Until when nobody gets which lock.
    delayed: LiteMap<KeyName, Mono>,
}

impl Leadership {
    /// Of a leader whose first entry is at `noop_index`, and which has no leases yet.
    fn new(noop_index: u64, followers: LiteMap<NodeId, Follower>) -> Leadership {
        Leadership {
            noop_index,
            followers,
            deadlines: Deadlines::default(),
            waiting: VecDeque::new(),
            sent_out: noop_index,
            watches: Vec::new(),
            checkpoints: LiteMap::new(),
            delayed: LiteMap::new(),
        }
    }
}

/// A client that wants to know when a key is gone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Watch {
    client: MachineId,
    /// The call that set it; its answer tells.
    call: CallId,
    /// The key's create revision.
    created: Token,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Follower {
    /// How far its disk agrees with the leader's log.
    matched: u64,
    /// The next entry to send.
    next: u64,
    /// The leader's clock when it sent the latest message that this follower has answered.
    heard: Mono,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Waiting {
    client: MachineId,
    call: CallId,
    /// For the trace only.
    stop_on_holder: Mono,
    /// A renewal: how long the lease runs once the entry is applied.
    ttl: Span,
}

impl Node {
    /// A node of `plan`'s cluster at the start of a run: n1 leads in term 1, and the changes of other tenants that
    /// came before the story are in every log and applied.
    pub fn new(id: NodeId, plan: &Plan, seed: u64) -> Node {
        let log: Vec<Entry> = (1..=plan.tenant_commits_before)
            .map(|number| Entry { term: 1, command: Command::TenantPut { number } })
            .collect();
        let mut state = LockState::default();
        for entry in &log {
            state.apply(&entry.command);
        }
        let log_length = log.len() as u64;
        let first = NodeId(1);
        let role = if id == first {
            let mut followers = LiteMap::new();
            for node in plan.cluster.nodes().filter(|node| *node != id) {
                followers.insert(node, Follower { matched: log_length, next: log_length + 1, heard: Mono::ZERO });
            }
            Role::Leader(Box::new(Leadership::new(log_length, followers)))
        } else {
            Role::Follower
        };
        Node {
            id,
            rng: Rng::new(seed, u64::from(id.0)),
            fsync_jitter: if seed == 0 { Span::ZERO } else { plan.cluster.fsync_jitter },
            term: 1,
            voted_for: Some(first),
            log,
            durable: Durable { term: 1, voted_for: Some(first), log_length },
            disk_jobs: VecDeque::new(),
            waiting_for_disk: Vec::new(),
            role,
            leader: Some(first),
            heard_leader: None,
            commit: log_length,
            applied: log_length,
            state,
        }
    }

    /// What is left after a crash: the disk.
    pub fn crash(&mut self) {
        self.term = self.durable.term;
        self.voted_for = self.durable.voted_for;
        self.log.truncate(self.durable.log_length as usize);
        self.disk_jobs.clear();
        self.waiting_for_disk.clear();
        self.role = Role::Follower;
        self.leader = None;
        self.heard_leader = None;
        self.commit = 0;
        self.applied = 0;
        self.state = LockState::default();
    }

    /// Takes one input.
    pub fn handle(&mut self, context: Context<'_>, input: Input, actions: &mut Actions) {
        if !self.has_to_wait(context, &input) {
            self.handle_now(context, input, actions);
        }
    }

    fn handle_now(&mut self, context: Context<'_>, input: Input, actions: &mut Actions) {
        match input {
            Input::Start => self.start(context, actions),
            Input::Message { from: MachineId::Node(from), message: Message::Peer(message) } => {
                self.handle_peer(context, from, message, actions);
            }
            Input::Message { from, message: Message::LockRequest(call, request) } => {
                self.handle_client(context, from, call, request, actions);
            }
            Input::Timer { key: TimerKey::Election, .. } => self.election_timed_out(context, actions),
            Input::Timer { key: TimerKey::Heartbeat, .. } => self.heartbeat(context, actions),
            Input::Timer { key: TimerKey::LeaseExpiry, .. } => self.expire_leases(context, actions),
            Input::Timer { key: TimerKey::Disk, .. } => self.disk_done(context, actions),
            Input::Timer { key: TimerKey::Checkpoint, .. } => self.checkpoint_leases(context, actions),
            Input::Message { .. } | Input::Timer { .. } | Input::Acquire | Input::Release => {}
        }
    }

    fn start(&mut self, context: Context<'_>, actions: &mut Actions) {
        if matches!(self.role, Role::Leader(_)) {
            self.restart_leases(context, actions);
            self.heartbeat(context, actions);
        } else {
            // Before it crashed it may have acknowledged a leader that still counts on that.
            self.heard_leader = Some(context.mono());
            self.restart_election_timer(context, actions);
        }
    }

    fn handle_peer(&mut self, context: Context<'_>, from: NodeId, message: PeerMessage, actions: &mut Actions) {
        match message {
            PeerMessage::RequestVote { term, last_index, last_term, pre } => {
                self.vote_requested(context, from, term, (last_term, last_index), pre, actions);
            }
            PeerMessage::Vote { term, granted, pre } => self.vote_arrived(context, from, term, granted, pre, actions),
            PeerMessage::Append { term, prev_index, prev_term, entries, commit, sent_on_leader } => {
                let append = replication::Append { term, prev_index, prev_term, entries, commit, sent_on_leader };
                self.append_requested(context, from, append, actions);
            }
            PeerMessage::AppendReply { term, matched, ok, sent_on_leader, .. } => {
                self.append_answered(context, from, term, matched, ok, sent_on_leader, actions);
            }
        }
    }

    fn last_index(&self) -> u64 {
        self.log.len() as u64
    }

    fn term_at(&self, index: u64) -> Option<u32> {
        match index.checked_sub(1) {
            None => Some(0),
            Some(place) => self.log.get(place as usize).map(|entry| entry.term),
        }
    }

    fn majority(&self, plan: &Plan) -> usize {
        plan.cluster.nodes().len() / 2 + 1
    }

    fn peers(&self, plan: &Plan) -> impl Iterator<Item = NodeId> + use<> {
        let id = self.id;
        plan.cluster.nodes().filter(move |node| *node != id)
    }

    fn restart_election_timer(&mut self, context: Context<'_>, actions: &mut Actions) {
        actions.set_timer(TimerKey::Election, context.mono() + context.plan.cluster.election_timeout(self.id));
    }

    /// Follows `term`; whatever role the node had is over.
    fn become_follower(&mut self, context: Context<'_>, term: u32, leader: Option<NodeId>, actions: &mut Actions) {
        if matches!(self.role, Role::Leader(_)) {
            actions.record(Kind::SteppedDown { term: self.term });
            actions.cancel_timer(TimerKey::Heartbeat);
            actions.cancel_timer(TimerKey::LeaseExpiry);
            actions.cancel_timer(TimerKey::Checkpoint);
        }
        if term > self.term {
            self.term = term;
            self.voted_for = None;
            self.persist(context, Then::Nothing, actions);
        }
        self.role = Role::Follower;
        self.leader = leader;
        self.restart_election_timer(context, actions);
    }
}

fn send(actions: &mut Actions, to: NodeId, message: PeerMessage) {
    actions.send(to, Message::Peer(message));
}

fn answer(actions: &mut Actions, client: MachineId, call: CallId, reply: LockReply) {
    actions.send(client, Message::LockReply(call, reply));
}

/// A node as snapshots, drawings and tests see it; no other machine's logic does.
impl Node {
    /// "leader", "candidate" or "follower".
    pub fn role_name(&self) -> &'static str {
        match self.role {
            Role::Leader(_) => "leader",
            Role::Candidate { .. } | Role::PreCandidate { .. } => "candidate",
            Role::Follower => "follower",
        }
    }

    /// The current term.
    pub fn term(&self) -> u32 {
        self.term
    }

    /// Every entry, committed or not; the first has index 1.
    pub fn entries(&self) -> &[Entry] {
        &self.log
    }

    /// How many entries the disk holds for certain.
    pub fn durable_length(&self) -> u64 {
        self.durable.log_length
    }

    /// The index up to which the node knows the log to be committed.
    pub fn commit_index(&self) -> u64 {
        self.commit
    }

    /// The replicated state as far as this node has applied the log.
    pub fn lock_state(&self) -> &LockState {
        &self.state
    }

    /// Which clients the leader tells when which key is gone, by the key's create revision; nothing on other nodes.
    pub fn watches(&self) -> impl Iterator<Item = (MachineId, Token)> + '_ {
        let watches = match &self.role {
            Role::Leader(leadership) => &leadership.watches[..],
            _ => &[],
        };
        watches.iter().map(|watch| (watch.client, watch.created))
    }

    /// Until when the leader lets nobody have the job's lock, on its monotonic clock; nothing on other nodes.
    pub fn delayed_until(&self, job: JobId) -> Option<Mono> {
        match &self.role {
            Role::Leader(leadership) => leadership.delayed.get(&KeyName::lock(job)).copied(),
            _ => None,
        }
    }

    /// The deadlines in the leader's memory, on its monotonic clock; nothing on other nodes.
    pub fn deadlines(&self) -> impl Iterator<Item = (LeaseId, Mono)> + '_ {
        let deadlines = match &self.role {
            Role::Leader(leadership) => Some(&leadership.deadlines),
            _ => None,
        };
        deadlines.into_iter().flat_map(Deadlines::iter)
    }
}

/// The time since a majority of the cluster was heard, on the leader's clock.
fn silence(leadership: &Leadership, now: Mono, majority: usize) -> Span {
    let heard = leadership.followers.values().map(|follower| follower.heard).chain([now]);
    now - nth_largest(heard, majority).unwrap_or(now)
}

/// The `n`-th largest value, counted from 1: what at least `n` of them have reached.
fn nth_largest<T: Ord + Copy>(values: impl Iterator<Item = T>, n: usize) -> Option<T> {
    // A cluster is so small that keeping a list in order beats sorting one.
    let mut descending: Vec<T> = Vec::new();
    for value in values {
        let place = descending.partition_point(|other| *other >= value);
        descending.insert(place, value);
    }
    descending.get(n - 1).copied()
}
