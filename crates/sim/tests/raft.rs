//! The lock service's nodes on a network that loses, doubles and reorders everything, with clocks that disagree.
//!
//! No world is involved: the driver here is a few lines, so that a mistake in the world cannot hide one in the nodes.

mod raft_rules;

use std::cell::RefCell;
use std::collections::BTreeMap;

use lease_lab_sim::actor::{Action, Actions, Context, Input, TimerKey};
use lease_lab_sim::clock::Reading;
use lease_lab_sim::consensus::Node;
use lease_lab_sim::consensus::log::{Command, Entry};
use lease_lab_sim::event::Kind;
use lease_lab_sim::machine::{JobId, MachineId, NodeId, WorkerId};
use lease_lab_sim::message::{CallId, KeyName, LeaseId, LockReply, LockRequest, Message, PeerMessage, Token};
use lease_lab_sim::settings::{Cluster, LockRules, Plan, Settings, WatchRule};
use lease_lab_sim::time::{Mono, Span, Wall};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};
use raft_rules::RaftRules;

fn plan(nodes: u8) -> Plan {
    let ms = Span::millis;
    Plan {
        settings: Settings { sweeper: false, ..Settings::default() },
        chunks: 1,
        invoices_per_chunk: 1,
        cluster: Cluster {
            election_timeouts: (0..i64::from(nodes)).map(|node| ms(2_000 + 150 * node)).collect(),
            ..Cluster::default()
        },
        tenant_commits_before: 3,
        ..Plan::default()
    }
}

/// One thing that chance does; the numbers pick among what there is at that moment.
#[derive(Clone, Copy, Debug)]
enum Chance {
    /// Delivers any message that is on its way, whichever was sent first.
    Deliver(u16),
    Lose(u16),
    Double(u16),
    /// Lets time pass and everything happen that then is due, a timer here and a timer there.
    Wait(u16),
    /// For a while messages arrive in order and timers fire in time.
    Calm(u8),
    /// A client asks a node for something.
    Ask(u16, u8),
    Crash(u16),
    Restart(u16),
}

fn chance() -> impl Strategy<Value = Chance> {
    prop_oneof![
        120 => any::<u16>().prop_map(Chance::Deliver),
        4 => any::<u16>().prop_map(Chance::Lose),
        6 => any::<u16>().prop_map(Chance::Double),
        40 => any::<u16>().prop_map(Chance::Wait),
        6 => (1..60_u8).prop_map(Chance::Calm),
        12 => (any::<u16>(), any::<u8>()).prop_map(|(node, what)| Chance::Ask(node, what)),
        1 => any::<u16>().prop_map(Chance::Crash),
        2 => any::<u16>().prop_map(Chance::Restart),
    ]
}

/// A node's process and its clock: `offset` + true time × `rate` per cent.
struct Host {
    node: Node,
    up: bool,
    timers: BTreeMap<TimerKey, Mono>,
    offset: i64,
    rate: i64,
}

struct Cluttered {
    plan: Plan,
    now: i64,
    hosts: BTreeMap<NodeId, Host>,
    on_the_way: Vec<(MachineId, NodeId, Message)>,
    rules: RaftRules,
    calls: u32,
    requests: BTreeMap<CallId, LockRequest>,
    granted: BTreeMap<Token, LeaseId>,
    discarded: u64,
    told_gone: u64,
    checkpoints: u64,
}

impl Cluttered {
    fn new(nodes: u8, seed: u64) -> Cluttered {
        Cluttered::of(plan(nodes), seed)
    }

    fn of(plan: Plan, seed: u64) -> Cluttered {
        let hosts = plan
            .cluster
            .nodes()
            .map(|id| {
                let number = i64::from(id.0);
                // n1 leads from the start, and its clock starts at zero.
                let (offset, rate) = ((number - 1) * 7_000_000, 70 + (number * 37 + seed as i64 % 50) % 80);
                let host = Host { node: Node::new(id, &plan, seed), up: true, timers: BTreeMap::new(), offset, rate };
                (id, host)
            })
            .collect();
        let mut cluttered = Cluttered {
            plan,
            now: 0,
            hosts,
            on_the_way: Vec::new(),
            rules: RaftRules::default(),
            calls: 0,
            requests: BTreeMap::new(),
            granted: BTreeMap::new(),
            discarded: 0,
            told_gone: 0,
            checkpoints: 0,
        };
        for id in cluttered.plan.cluster.nodes() {
            cluttered.handle(id, Input::Start).expect("the start breaks no rule");
        }
        cluttered
    }

    fn happen(&mut self, chance: Chance) -> Result<(), String> {
        match chance {
            Chance::Deliver(pick) => match self.pick_message(pick) {
                Some(place) => {
                    let (from, to, message) = self.on_the_way.swap_remove(place);
                    self.handle(to, Input::Message { from, message })
                }
                None => Ok(()),
            },
            Chance::Lose(pick) => {
                if let Some(place) = self.pick_message(pick) {
                    self.on_the_way.swap_remove(place);
                }
                Ok(())
            }
            Chance::Double(pick) => {
                if let Some(place) = self.pick_message(pick) {
                    self.on_the_way.push(self.on_the_way[place].clone());
                }
                Ok(())
            }
            Chance::Wait(pick) => self.wait(pick),
            Chance::Calm(steps) => (0..steps).try_for_each(|_| self.next_in_order()),
            Chance::Ask(pick, what) => self.ask(pick, what),
            Chance::Crash(pick) => {
                let host = self.host(pick);
                host.up = false;
                host.timers.clear();
                host.node.crash();
                self.check()
            }
            Chance::Restart(pick) => {
                let host = self.host(pick);
                if host.up {
                    return Ok(());
                }
                host.up = true;
                let id = self.id(pick);
                self.handle(id, Input::Start)
            }
        }
    }

    fn next_in_order(&mut self) -> Result<(), String> {
        if self.on_the_way.is_empty() {
            return self.wait(1);
        }
        let (from, to, message) = self.on_the_way.remove(0);
        self.handle(to, Input::Message { from, message })
    }

    fn pick_message(&self, pick: u16) -> Option<usize> {
        usize::from(pick).checked_rem(self.on_the_way.len())
    }

    fn id(&self, pick: u16) -> NodeId {
        NodeId((usize::from(pick) % self.hosts.len()) as u8 + 1)
    }

    fn host(&mut self, pick: u16) -> &mut Host {
        let id = self.id(pick);
        self.hosts.get_mut(&id).expect("every node has a host")
    }

    /// Goes on to a timer: mostly to one of the next, now and then far beyond, as if processes had stood still.
    fn wait(&mut self, pick: u16) -> Result<(), String> {
        let mut timers: Vec<(i64, NodeId, TimerKey)> = self
            .hosts
            .iter()
            .flat_map(|(id, host)| host.timers.iter().map(|(key, due)| (host.true_time_of(*due), *id, *key)))
            .collect();
        timers.sort();
        let far = pick.is_multiple_of(64);
        let choices = if far { timers.len() } else { timers.len().min(2) };
        let Some(chosen) = usize::from(pick / 64).checked_rem(choices) else { return Ok(()) };
        let (due, id, key) = timers[chosen];
        self.now = self.now.max(due);
        let due = self.hosts.get_mut(&id).and_then(|host| host.timers.remove(&key));
        match due {
            Some(due) => self.handle(id, Input::Timer { key, due }),
            None => Ok(()),
        }
    }

    fn ask(&mut self, pick: u16, what: u8) -> Result<(), String> {
        let worker = WorkerId::ALL[usize::from(what / 8) % 4];
        // Few leases, so that requests meet.
        let lease = LeaseId { worker, incarnation: 0, number: u32::from(what / 128) };
        let stop_on_holder = Mono::ZERO;
        self.calls += 1;
        // Elections have keys and requests of their own.
        let key = match self.plan.lock_rules.campaign {
            Some(_) if what.is_multiple_of(3) => KeyName { job: JobId::FIRST, candidate: Some(worker) },
            _ => KeyName::default(),
        };
        let created = self.granted.keys().nth(usize::from(pick) % self.granted.len().max(1)).copied().unwrap_or(4);
        let request = match what % 8 {
            0 if self.plan.lock_rules.campaign.is_some() => match pick % 4 {
                0 => LockRequest::ReadCandidates { job: JobId::FIRST },
                1 => LockRequest::DeleteKey { key },
                _ => LockRequest::Watch { job: JobId::FIRST, created },
            },
            0 => LockRequest::ReadKey { job: JobId::FIRST },
            1 | 2 => LockRequest::GrantLease { lease, ttl: Span::seconds(10) },
            3 | 4 => LockRequest::CreateKey { lease, key, stop_on_holder },
            5 => LockRequest::KeepAlive { lease, ttl: Span::seconds(10 + i64::from(what / 128)), stop_on_holder },
            6 => LockRequest::Revoke { lease },
            _ => LockRequest::TenantPut { number: 3 + self.calls },
        };
        let call = CallId { incarnation: 0, number: self.calls };
        self.requests.insert(call, request.clone());
        // Most clients know the leader; one that does not is sent away or waits in vain.
        let leader = self.hosts.iter().find(|(_, host)| host.up && host.node.role_name() == "leader");
        let node = match leader {
            Some((id, _)) if !pick.is_multiple_of(4) => *id,
            _ => self.id(pick / 4),
        };
        self.on_the_way.push((worker.into(), node, Message::LockRequest(call, request)));
        Ok(())
    }

    fn handle(&mut self, id: NodeId, input: Input) -> Result<(), String> {
        let host = self.hosts.get_mut(&id).expect("every node has a host");
        if !host.up {
            return Ok(());
        }
        let mono = host.mono_at(self.now);
        let context = Context {
            reading: Reading { mono, wall: Wall::ZERO },
            settings: &self.plan.settings,
            plan: &self.plan,
            seed: 0,
        };
        let mut actions = Actions::default();
        host.node.handle(context, input, &mut actions);
        let mut replies = Vec::new();
        for action in actions.drain() {
            match action {
                Action::Send { to: MachineId::Node(to), message } => self.on_the_way.push((id.into(), to, message)),
                Action::Send { message: Message::LockReply(call, reply), .. } => replies.push((call, reply)),
                Action::Send { to, message } => return Err(format!("{id} sends {message} to {to}")),
                Action::SetTimer { key, at } => {
                    host.timers.insert(key, at);
                }
                Action::SetAlarm { key, at } => return Err(format!("{id} sets the alarm {key:?} at {at}")),
                Action::CancelTimer { key } => {
                    host.timers.remove(&key);
                }
                Action::Record { kind: Kind::EntriesDiscarded { count, .. }, .. } => self.discarded += count,
                Action::Record { kind: Kind::LeaseCheckpointed { .. }, .. } => self.checkpoints += 1,
                Action::Record { .. } => {}
            }
        }
        self.check()?;
        replies.into_iter().try_for_each(|(call, reply)| self.check_reply(id, call, &reply))
    }

    fn check(&mut self) -> Result<(), String> {
        let nodes: Vec<(NodeId, &Node)> = self.hosts.iter().map(|(id, host)| (*id, &host.node)).collect();
        self.rules.check(&nodes)
    }

    /// What a client is told is committed, and a token belongs to one lease.
    fn check_reply(&mut self, id: NodeId, call: CallId, reply: &LockReply) -> Result<(), String> {
        let Some(request) = self.requests.get(&call) else { return Err(format!("{call:?} was never sent")) };
        let committed = match (request, reply) {
            (LockRequest::GrantLease { lease, ttl }, LockReply::LeaseGranted) => {
                self.rules.is_committed(|command| *command == Command::GrantLease { lease: *lease, ttl: *ttl })
            }
            (LockRequest::CreateKey { lease, key, .. }, LockReply::Created(token)) => {
                let first = *self.granted.entry(*token).or_insert(*lease);
                if first != *lease {
                    return Err(format!("{first} and {lease} both get token {token}"));
                }
                self.rules.is_committed(|command| *command == Command::CreateKey { lease: *lease, key: *key })
            }
            // Who is told that a key is gone can rely on it, unless the node does not know of the key yet.
            (LockRequest::Watch { created, .. }, LockReply::KeyDeleted) => {
                self.told_gone += 1;
                let knows = self.hosts[&id].node.lock_state().revision >= *created;
                !knows || self.rules.latest_state().keys.iter().all(|(_, key)| key.created != *created)
            }
            (LockRequest::DeleteKey { key }, LockReply::Revoked) => {
                self.rules.is_committed(|command| matches!(command, Command::DeleteKey { key: k, .. } if k == key))
            }
            (LockRequest::Revoke { lease }, LockReply::Revoked) => {
                self.rules.is_committed(|command| matches!(command, Command::Revoke { lease: l, .. } if l == lease))
            }
            (LockRequest::TenantPut { number }, LockReply::PutDone) => {
                self.rules.is_committed(|command| *command == Command::TenantPut { number: *number })
            }
            _ => true,
        };
        if committed { Ok(()) } else { Err(format!("{request:?} is answered with {reply:?} but not committed")) }
    }
}

impl Host {
    fn mono_at(&self, now: i64) -> Mono {
        Mono::from_micros(self.offset + now * self.rate / 100)
    }

    /// The first true time at which the clock shows at least `mono`.
    fn true_time_of(&self, mono: Mono) -> i64 {
        let wanted = (mono.as_micros() - self.offset) * 100;
        -((-wanted).div_euclid(self.rate))
    }
}

#[derive(Debug, Default)]
struct Seen {
    elections: usize,
    commits: usize,
    discarded: u64,
    grants: usize,
    told_gone: u64,
    checkpoints: u64,
}

/// Runs many chaotic cases and returns how much has happened in them: chaos in which nothing happens proves nothing.
fn chaos(nodes: u8, cases: u32) -> Seen {
    chaos_in(&plan(nodes), cases)
}

fn chaos_in(plan: &Plan, cases: u32) -> Seen {
    let nodes = plan.cluster.nodes().len() as u64;
    let seen = RefCell::new(Seen::default());
    let config = ProptestConfig {
        cases,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(nodes),
        ..ProptestConfig::default()
    };
    let strategy = (any::<u64>(), vec(chance(), 100..2_000));
    let result = TestRunner::new(config).run(&strategy, |(seed, chances)| {
        let mut cluttered = Cluttered::of(plan.clone(), seed);
        for chance in chances {
            cluttered.happen(chance).map_err(TestCaseError::fail)?;
        }
        let mut seen = seen.borrow_mut();
        seen.elections += cluttered.rules.terms_led() - 1;
        seen.commits += cluttered.rules.committed();
        seen.discarded += cluttered.discarded;
        seen.grants += cluttered.granted.len();
        seen.told_gone += cluttered.told_gone;
        seen.checkpoints += cluttered.checkpoints;
        Ok(())
    });
    result.unwrap_or_else(|failure| panic!("{failure}"));
    seen.into_inner()
}

#[test]
fn three_nodes_keep_rafts_promises_in_chaos() {
    let seen = chaos(3, 2_000);
    assert!(
        seen.elections > 200 && seen.commits > 4_000 && seen.discarded > 50 && seen.grants > 200,
        "too little has happened: {seen:?}"
    );
}

#[test]
fn five_nodes_keep_rafts_promises_in_chaos() {
    let seen = chaos(5, 1_000);
    assert!(
        seen.elections > 50 && seen.commits > 2_000 && seen.discarded > 20 && seen.grants > 100,
        "too little has happened: {seen:?}"
    );
}

#[test]
fn seven_nodes_keep_rafts_promises_in_chaos() {
    let seen = chaos(7, 800);
    assert!(
        seen.elections > 50 && seen.commits > 1_000 && seen.discarded > 5 && seen.grants > 20,
        "too little has happened: {seen:?}"
    );
}

/// Elections, checkpoints and lock-delay are entries, memory and messages more; the rules of the log stay the same.
#[test]
fn checkpoints_and_candidates_change_nothing_about_rafts_promises() {
    let mut plan = plan(3);
    plan.lock_rules = LockRules {
        campaign: Some(WatchRule::Predecessor),
        checkpoint: Some(Span::seconds(1)),
        lock_delay: Span::seconds(3),
        ..LockRules::default()
    };
    let seen = chaos_in(&plan, 1_000);
    assert!(
        seen.elections > 100 && seen.grants > 100 && seen.checkpoints > 500 && seen.told_gone > 100,
        "too little has happened: {seen:?}"
    );
}

/// Slow disks that the nodes wait for: heartbeats are late and leaders are lost, and nothing worse.
#[test]
fn nodes_that_wait_for_slow_disks_keep_rafts_promises() {
    let mut plan = plan(5);
    plan.cluster.waits_for_disk = true;
    plan.cluster.fsync = Span::millis(300);
    let seen = chaos_in(&plan, 1_000);
    assert!(
        seen.elections > 20 && seen.commits > 1_500 && seen.discarded > 10 && seen.grants > 50,
        "too little has happened: {seen:?}"
    );
}

/// A leader may hear an old refusal late, and followers old entries: neither may cost a committed entry.
#[test]
fn an_append_that_comes_late_takes_nothing_back() {
    let mut cluttered = Cluttered::new(3, 0);
    for number in 0..3 {
        cluttered.ask(0, 8 * number + 7).expect("asking breaks no rule");
    }
    let mut copies = Vec::new();
    for _ in 0..200 {
        copies.extend(cluttered.on_the_way.iter().filter(|(_, _, message)| is_append(message)).cloned());
        cluttered.next_in_order().expect("no rule is broken");
    }
    assert!(cluttered.rules.committed() >= 6, "the three puts are committed");
    for (from, to, message) in copies {
        cluttered.handle(to, Input::Message { from, message }).expect("no rule is broken");
    }
}

fn is_append(message: &Message) -> bool {
    matches!(message, Message::Peer(PeerMessage::Append { .. }))
}

/// Three nodes that have not heard from each other for so long that they would vote.
fn long_silent() -> Cluttered {
    let mut cluttered = Cluttered::new(3, 0);
    cluttered.on_the_way.clear();
    cluttered.now = 5_000_000;
    cluttered
}

impl Cluttered {
    fn tell(&mut self, from: u8, to: u8, message: PeerMessage) {
        let input = Input::Message { from: NodeId(from).into(), message: Message::Peer(message) };
        self.handle(NodeId(to), input).expect("no rule is broken");
    }

    fn finish_disk_write(&mut self, node: u8) {
        let due = self.hosts[&NodeId(node)].timers[&TimerKey::Disk];
        let id = NodeId(node);
        self.now = self.now.max(self.hosts[&id].true_time_of(due));
        self.handle(id, Input::Timer { key: TimerKey::Disk, due }).expect("no rule is broken");
    }

    /// Whom `node` has told yes, in the order in which it did.
    fn votes_of(&self, node: u8) -> Vec<NodeId> {
        let yes = |message: &Message| matches!(message, Message::Peer(PeerMessage::Vote { granted: true, .. }));
        let votes = self.on_the_way.iter().filter(|(from, _, message)| *from == NodeId(node).into() && yes(message));
        votes.map(|(_, to, _)| *to).collect()
    }
}

const VOTE_IN_TERM_2: PeerMessage = PeerMessage::RequestVote { term: 2, last_index: 3, last_term: 1, pre: false };

#[test]
fn a_vote_is_on_the_disk_before_anybody_can_count_it() {
    let mut cluttered = long_silent();
    cluttered.tell(2, 3, VOTE_IN_TERM_2);
    assert_eq!(cluttered.votes_of(3), []);
    // It forgets a vote that had not reached the disk, and may vote for another.
    cluttered.happen(Chance::Crash(2)).expect("no rule is broken");
    cluttered.happen(Chance::Restart(2)).expect("no rule is broken");
    cluttered.now += 5_000_000;
    cluttered.tell(1, 3, VOTE_IN_TERM_2);
    while cluttered.hosts[&NodeId(3)].timers.contains_key(&TimerKey::Disk) && cluttered.votes_of(3).is_empty() {
        cluttered.finish_disk_write(3);
    }
    assert_eq!(cluttered.votes_of(3), [NodeId(1)]);
    // One that has reached it, it keeps.
    cluttered.happen(Chance::Crash(2)).expect("no rule is broken");
    cluttered.happen(Chance::Restart(2)).expect("no rule is broken");
    cluttered.now += 5_000_000;
    cluttered.tell(2, 3, VOTE_IN_TERM_2);
    assert_eq!(cluttered.votes_of(3), [NodeId(1)]);
}

#[test]
fn an_entry_is_on_the_disk_before_it_is_acknowledged() {
    let mut cluttered = long_silent();
    let entry = Entry { term: 1, command: Command::TenantPut { number: 4 } };
    let append = PeerMessage::Append {
        term: 1,
        prev_index: 3,
        prev_term: 1,
        entries: vec![entry],
        commit: 3,
        sent_on_leader: Mono::ZERO,
    };
    let acknowledged = |cluttered: &Cluttered| {
        cluttered.on_the_way.iter().any(|(_, _, message)| {
            matches!(message, Message::Peer(PeerMessage::AppendReply { ok: true, matched: 4, .. }))
        })
    };
    cluttered.tell(1, 3, append.clone());
    // The second copy finds the entry in the log, but not on the disk either.
    cluttered.tell(1, 3, append);
    assert!(!acknowledged(&cluttered));
    cluttered.finish_disk_write(3);
    assert!(acknowledged(&cluttered));
}

/// Raft, 5.4.2: an entry of an earlier term is committed by the leader's own next one, never by counting.
#[test]
fn an_entry_of_an_earlier_term_is_not_committed_by_counting() {
    let mut cluttered = long_silent();
    // n2 has an entry of term 1 that nobody else got, and becomes leader in term 2.
    let entry = Entry { term: 1, command: Command::TenantPut { number: 4 } };
    let append = PeerMessage::Append {
        term: 1,
        prev_index: 3,
        prev_term: 1,
        entries: vec![entry],
        commit: 3,
        sent_on_leader: Mono::ZERO,
    };
    cluttered.tell(1, 2, append);
    cluttered.finish_disk_write(2);
    cluttered.now += 5_000_000;
    let due = cluttered.hosts[&NodeId(2)].timers[&TimerKey::Election];
    cluttered.handle(NodeId(2), Input::Timer { key: TimerKey::Election, due }).expect("no rule is broken");
    cluttered.tell(3, 2, PeerMessage::Vote { term: 2, granted: true, pre: true });
    cluttered.finish_disk_write(2);
    cluttered.tell(3, 2, PeerMessage::Vote { term: 2, granted: true, pre: false });
    cluttered.finish_disk_write(2);
    assert_eq!(cluttered.hosts[&NodeId(2)].node.role_name(), "leader");
    assert_eq!(cluttered.hosts[&NodeId(2)].node.durable_length(), 5, "with its own no-op");

    // n3 has the old entry only: the rules of this file would have it on two disks, yet it is not committed.
    let acknowledge =
        |matched| PeerMessage::AppendReply { term: 2, matched, ok: true, sent_on_leader: Mono::ZERO, heartbeat: false };
    let node = &mut cluttered.hosts.get_mut(&NodeId(2)).expect("there is an n2").node;
    let settings = cluttered.plan.settings;
    let reading = Reading { mono: Mono::from_millis(20_000), wall: Wall::ZERO };
    let context = Context { reading, settings: &settings, plan: &cluttered.plan, seed: 0 };
    for (matched, committed) in [(4, 3), (5, 5)] {
        let message = Message::Peer(acknowledge(matched));
        node.handle(context, Input::Message { from: NodeId(3).into(), message }, &mut Actions::default());
        assert_eq!(node.commit_index(), committed, "n3 has {matched} entries");
    }
}
