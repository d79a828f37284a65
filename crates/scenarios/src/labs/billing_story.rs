//! The billing story: a paused holder, a takeover, a refused write, an orphan, and a lock service that loses its
//! leader.
//!
//! Every number here is part of the setting.
//! What happens is not written down anywhere: it comes out of the machines.

use lease_lab_sim::machine::{MachineId, NodeId, WorkerId};
use lease_lab_sim::settings::{Finds, Plan, Program};
use lease_lab_sim::time::{Span, TrueTime};

use crate::scenario::{Beat, Bookmark, Place, Scenario};

/// The story.
pub(crate) static SCENARIO: Scenario = Scenario {
    id: "billing-story",
    part: 4,
    name: "The billing story",
    title: "A worker wakes up and still believes it owns the job",
    lede: "Workers take turns at one job: charging 50,000 invoices, each exactly once. A lease, a lock that expires by \
           itself unless it is renewed, says whose turn it is. Drag the time, or change what happens.",
    terms: "A chunk is 5,000 invoices. The token is a number that A got with the lock; each later holder gets a higher \
            one. The store keeps the job’s row and its invoices.",
    plan,
    faults: "4 pause A 15; 21 crash B; 47 crash leader",
    beats: &BEATS,
    bookmarks: &BOOKMARKS,
    ..Scenario::BASE
};

pub(super) fn plan() -> Plan {
    let ms = Span::millis;
    Plan {
        programs: vec![
            Program {
                starts: Some(TrueTime::ZERO),
                takes_over: false,
                setup: ms(434),
                work: vec![(1, ms(300)), (2, ms(2_850))],
                ..Program::idle(WorkerId::A)
            },
            Program {
                starts: Some(TrueTime::from_millis(10_500)),
                work: vec![(2, ms(200)), (3, ms(5_800))],
                ..Program::idle(WorkerId::B)
            },
            Program {
                starts: Some(TrueTime::from_millis(30_100)),
                finds: Finds::Queue { every: ms(1_000) },
                ..Program::idle(WorkerId::C)
            },
        ],
        tenant_commits: vec![ms(2_000), ms(5_000), ms(9_000), ms(35_000)],
        tenant_commits_before: 6,
        ..Plan::default()
    }
}

const fn on_worker(number: u8, kind: &'static str, worker: WorkerId, nth: u32, title: &'static str) -> Beat {
    Beat { number, kind, place: Place::Machine(MachineId::Worker(worker)), worker: Some(worker), nth, title }
}

const fn on_store(number: u8, kind: &'static str, worker: WorkerId, nth: u32, title: &'static str) -> Beat {
    Beat { number, kind, place: Place::Machine(MachineId::Store), worker: Some(worker), nth, title }
}

const fn on_lock(number: u8, kind: &'static str, worker: WorkerId, nth: u32, title: &'static str) -> Beat {
    Beat { number, kind, place: Place::LockService, worker: Some(worker), nth, title }
}

const fn on_node(number: u8, kind: &'static str, node: u8, title: &'static str) -> Beat {
    Beat { number, kind, place: Place::Machine(MachineId::Node(NodeId(node))), worker: None, nth: 1, title }
}

pub(super) static BEATS: [Beat; 24] = [
    on_lock(1, "lease-granted", WorkerId::A, 1, "A acquires the lock"),
    on_store(2, "fence-raised", WorkerId::A, 1, "A raises the fence"),
    on_store(3, "chunk-written", WorkerId::A, 1, "A writes its first chunk"),
    on_lock(4, "lease-renewed", WorkerId::A, 1, "A renews its lease"),
    // The first check was for the raise, the second for chunk 1.
    on_worker(5, "stop-time-checked", WorkerId::A, 3, "A checks its stop time before chunk 2"),
    on_worker(6, "paused", WorkerId::A, 1, "A freezes"),
    on_lock(7, "lease-expired", WorkerId::A, 1, "A’s lease expires"),
    on_lock(8, "lease-granted", WorkerId::B, 1, "B acquires the lock"),
    on_store(9, "fence-raised", WorkerId::B, 1, "B raises the fence"),
    on_store(10, "chunk-written", WorkerId::B, 1, "B writes its first chunk"),
    on_worker(11, "resumed", WorkerId::A, 1, "A wakes up"),
    on_store(12, "write-refused", WorkerId::A, 1, "the store refuses A’s late write"),
    on_lock(13, "lease-renewed", WorkerId::B, 2, "B renews its lease"),
    on_store(14, "chunk-written", WorkerId::B, 2, "B writes its second chunk"),
    on_worker(15, "crashed", WorkerId::B, 1, "B dies, holding the job"),
    on_lock(16, "lease-expired", WorkerId::B, 1, "B’s lease expires"),
    Beat {
        number: 17,
        kind: "row-requeued",
        place: Place::Machine(MachineId::Store),
        worker: None,
        nth: 1,
        title: "the sweeper re-queues the row",
    },
    on_lock(18, "lease-granted", WorkerId::C, 1, "C acquires the lock"),
    on_store(19, "fence-raised", WorkerId::C, 1, "C raises the fence"),
    on_lock(20, "lease-renewed", WorkerId::C, 2, "C renews its lease"),
    on_node(21, "crashed", 1, "n1 dies"),
    on_node(22, "leader-elected", 2, "n2 is elected leader"),
    on_worker(23, "renewal-failed", WorkerId::C, 1, "C’s renewal fails and is sent to another node"),
    on_lock(24, "lock-released", WorkerId::C, 1, "C has finished and releases the lock"),
];

pub(super) static BOOKMARKS: [Bookmark; 6] = [
    Bookmark {
        name: "S1",
        beat: 4,
        settles: Span::millis(2),
        otherwise: TrueTime::from_millis(3_050),
        shows: "A holds the job: token 7, fence 7, chunk 1 recorded.",
    },
    Bookmark {
        name: "S2",
        beat: 10,
        settles: Span::ZERO,
        otherwise: TrueTime::from_millis(14_000),
        shows: "A is frozen with a write it still believes in; B holds token 12 and has raised the fence.",
    },
    Bookmark {
        name: "S3",
        beat: 12,
        settles: Span::millis(50),
        otherwise: TrueTime::from_millis(19_100),
        shows: "A’s write was refused and A has let go; the row is as B left it.",
    },
    Bookmark {
        name: "S4",
        beat: 16,
        settles: Span::ZERO,
        otherwise: TrueTime::from_millis(29_550),
        shows: "The lock is free, yet the row says RUNNING and nobody is left to go on: only the index finds it.",
    },
    Bookmark {
        name: "S5",
        beat: 22,
        settles: Span::ZERO,
        otherwise: TrueTime::from_millis(49_100),
        shows: "The grant and its token survived on n2 and n3; only the deadline was rebuilt, and it is later.",
    },
    Bookmark {
        name: "S6",
        beat: 24,
        settles: Span::millis(2),
        otherwise: TrueTime::from_millis(52_050),
        shows: "Nobody holds the lock; the row is DONE and out of the index.",
    },
];
