//! The billing story as it is specified: beats, minor events, snapshots, verdicts.

mod common;

use common::*;
use lease_lab_scenarios::snapshot::Snapshot;
use lease_lab_scenarios::{Run, report};
use lease_lab_sim::event::{Event, Kind};
use lease_lab_sim::invariants::Invariant;
use lease_lab_sim::machine::{MachineId, NodeId, WorkerId};
use lease_lab_sim::message::Token;
use lease_lab_sim::store::RowState;
use lease_lab_sim::time::{Deadline, Mono, TrueTime};
use serde_json::Value;

const A: Option<WorkerId> = Some(WorkerId::A);
const B: Option<WorkerId> = Some(WorkerId::B);
const C: Option<WorkerId> = Some(WorkerId::C);

/// Number, time, kind, and fields of the event: whole numbers and texts exactly, times to 0.05 s.
const BEATS: [(u8, f64, &str, &str); 24] = [
    (1, 0.0, "lease-granted", r#"{"worker":"A","revision":7,"token":7,"deadline":10.0,"stop_time":8.0}"#),
    (2, 0.5, "fence-raised", r#"{"worker":"A","token":7,"fence_before":0}"#),
    (3, 1.0, "chunk-written", r#"{"worker":"A","token":7,"chunk":1,"charged":5000,"times_charged":1}"#),
    (4, 3.0, "lease-renewed", r#"{"worker":"A","token":7,"deadline":13.0,"stop_time":11.0}"#),
    (5, 3.9, "stop-time-checked", r#"{"worker":"A","chunk":2,"passed":true,"mono":3.9,"stop_time":11.0}"#),
    (6, 4.0, "paused", r#"{"machine":"A","worker":"A","vm":false,"for":15.0}"#),
    (7, 13.0, "lease-expired", r#"{"worker":"A","token":7,"revision":11}"#),
    (8, 13.5, "lease-granted", r#"{"worker":"B","revision":12,"token":12,"deadline":23.5,"stop_time":21.5}"#),
    (9, 13.6, "fence-raised", r#"{"worker":"B","token":12,"fence_before":7}"#),
    (10, 14.0, "chunk-written", r#"{"worker":"B","token":12,"chunk":2,"times_charged":1}"#),
    (11, 19.0, "resumed", r#"{"machine":"A","worker":"A","mono":19.0}"#),
    (12, 19.05, "write-refused", r#"{"worker":"A","token":7,"fence":12,"chunk":2,"because":"token-below-fence"}"#),
    (13, 19.5, "lease-renewed", r#"{"worker":"B","token":12,"deadline":29.5,"stop_time":27.5}"#),
    (14, 20.0, "chunk-written", r#"{"worker":"B","token":12,"chunk":3,"times_charged":1}"#),
    (15, 21.0, "crashed", r#"{"machine":"B","worker":"B"}"#),
    (16, 29.5, "lease-expired", r#"{"worker":"B","token":12,"revision":13}"#),
    (17, 40.0, "row-requeued", r#"{"owner_token":12,"fence":12}"#),
    (18, 40.2, "lease-granted", r#"{"worker":"C","revision":15,"token":15,"deadline":50.2,"stop_time":48.2}"#),
    (19, 40.3, "fence-raised", r#"{"worker":"C","token":15,"fence_before":12}"#),
    (20, 46.2, "lease-renewed", r#"{"worker":"C","token":15,"deadline":56.2,"stop_time":54.2}"#),
    (21, 47.0, "crashed", r#"{"machine":"n1"}"#),
    (22, 49.1, "leader-elected", r#"{"node":"n2","term":2,"deadline":59.1}"#),
    (23, 49.2, "renewal-failed", r#"{"worker":"C","node":"n1","timed_out":true}"#),
    (24, 52.0, "lock-released", r#"{"worker":"C","released_by":"C","token":15,"revision":16}"#),
];

#[track_caller]
fn assert_story(run: &Run) {
    for (number, t, kind, fields) in BEATS {
        let event = run.beat(number).unwrap_or_else(|| panic!("beat {number} is missing, seed {}", run.seed));
        assert!(near(event.t.as_seconds(), t), "beat {number} at {}, seed {}", event.t, run.seed);
        let event = serde_json::to_value(event).expect("an event is JSON");
        assert_eq!(event["kind"], kind, "beat {number}");
        let fields: serde_json::Map<String, Value> = serde_json::from_str(fields).expect("the table holds JSON");
        for (name, expected) in fields {
            let actual = &event[&name];
            let alike = match (expected.as_f64(), actual.as_f64()) {
                (Some(t), Some(actual_t)) if actual.is_f64() => near(actual_t, t),
                _ => *actual == expected,
            };
            assert!(alike, "beat {number}: {name} is {actual}, expected {expected}, seed {}", run.seed);
        }
    }
    let numbers: Vec<u8> = run.beats_in_order().map(|(number, _)| number).collect();
    assert_eq!(numbers, (1..=24).collect::<Vec<u8>>(), "the beats come in order, seed {}", run.seed);
    for invariant in Invariant::ALL {
        let expected = if invariant == Invariant::ActsInTime { "broken" } else { "holds" };
        assert_eq!(verdict(run, invariant), expected, "{invariant}, seed {}", run.seed);
    }
    assert_near(&[broken_at(run, Invariant::ActsInTime).expect("A acts late")], &[19.0], "A acts late");
}

#[test]
fn the_24_beats_come_out() {
    assert_story(&story_with(""));
}

/// Chance only moves disk writes by a millisecond or two; the story must not hang on them.
#[test]
fn the_24_beats_come_out_for_every_seed() {
    for seed in 1..=200 {
        assert_story(&Case::new("", true, seed).run());
    }
    for seed in [u64::MAX, u64::MAX / 3, 1 << 63] {
        assert_story(&Case::new("", true, seed).run());
    }
}

#[test]
fn chance_makes_a_difference_to_the_trace() {
    let hash = |seed| Case::new("", true, seed).run().hash();
    assert_ne!(hash(1), hash(2));
    assert_ne!(hash(0), hash(1));
}

#[test]
fn minor_events_are_in_the_trace_too() {
    let run = story_with("");
    assert_near(&times_of(&run, "lease-renewed", A), &[3.0], "A renews");
    assert_near(&times_of(&run, "lease-renewed", B), &[16.5, 19.5], "B renews");
    assert_near(&times_of(&run, "lease-renewed", C), &[43.2, 46.2, 49.2], "C renews");
    assert_near(&times_of(&run, "orphan-seen", None), &[30.0], "the sweeper sees the orphan");
    assert_near(&times_of(&run, "row-requeued", None), &[40.0], "the sweeper re-queues");
    assert_near(&times_of(&run, "tenant-committed", None), &[2.0, 5.0, 9.0, 35.0], "other tenants commit");
    assert_near(&times_of(&run, "gave-up", A), &[19.1], "the answer reaches A");
    assert_near(&times_of(&run, "job-done", C), &[51.95], "C sets DONE");
    assert_near(&times_of(&run, "lock-busy", B), &[10.5, 11.0, 11.5, 12.0, 12.5, 13.0], "B tries every 0.5 s");

    let revisions: Vec<u64> = run
        .events
        .iter()
        .filter_map(|event| match event.kind {
            Kind::TenantCommitted { revision } => Some(revision),
            _ => None,
        })
        .collect();
    assert_eq!(revisions, [8, 9, 10, 14]);

    let chunks: Vec<(Option<WorkerId>, u8, Token)> = run
        .events
        .iter()
        .filter_map(|event| match event.kind {
            Kind::ChunkWritten { worker, chunk, token, .. } => Some((Some(worker), chunk, token)),
            _ => None,
        })
        .collect();
    let mut expected = vec![(A, 1, 7), (B, 2, 12), (B, 3, 12)];
    expected.extend((4..=10).map(|chunk| (C, chunk, 15)));
    assert_eq!(chunks, expected);

    let looks: Vec<f64> = times_of(&run, "row-looked-at", C);
    assert!(looks.windows(2).all(|pair| near(pair[1] - pair[0], 1.0)), "C looks once a second: {looks:?}");
    assert!(looks.iter().any(|t| near(*t, 39.15)) && looks.last().is_some_and(|t| near(*t, 40.15)), "{looks:?}");
    assert!(run.events.iter().filter(|event| event.kind.name() == "heartbeat").count() > 250);
}

/// Nothing tells A before the store does; and giving up tells nobody.
#[test]
fn the_store_is_the_first_to_tell_a() {
    let run = story_with("");
    let after_waking: Vec<&Event> = run
        .events
        .iter()
        .filter(|event| event.machine == WorkerId::A.into() && event.t >= seconds(19.0))
        .filter(|event| event.kind.name() != "resumed")
        .collect();
    let kinds: Vec<&str> = after_waking.iter().map(|event| event.kind.name()).collect();
    assert_eq!(kinds, ["write-sent", "message-sent", "message-received", "gave-up"]);
    assert!(matches!(&after_waking[2].kind, Kind::MessageReceived { from: MachineId::Store, .. }));
}

/// B reads at 13.0 and still finds A's key: a failed attempt leaves no lease behind.
#[test]
fn failed_attempts_leave_no_lease_behind() {
    let run = story_with("");
    for t in [9.0, 13.4, 39.0] {
        let world = run.world_at(seconds(t));
        for (id, node) in world.nodes() {
            let leases: Vec<WorkerId> = node.lock_state().leases.keys().map(|lease| lease.worker).collect();
            assert_eq!(leases, if t < 10.0 { vec![WorkerId::A] } else { vec![] }, "{id} at {t}");
        }
    }
}

fn snapshot(run: &Run, name: &str) -> Snapshot {
    let bookmark = run.bookmark(name).unwrap_or_else(|| panic!("there is no {name}"));
    let at = run.bookmark_at(bookmark);
    Snapshot::take(&run.world_at(at), at, Some(bookmark.name))
}

#[track_caller]
/// A deadline of the leader's monotonic clock.
fn mono(deadline: Option<Deadline>) -> Option<Mono> {
    match deadline? {
        Deadline::Mono(reading) => Some(reading),
        Deadline::Wall(reading) => panic!("{reading} is a reading of a wall clock"),
    }
}

fn assert_reading(actual: Option<Mono>, expected: Option<f64>, what: &str) {
    match (actual, expected) {
        (Some(actual), Some(expected)) => assert!(near(actual.as_seconds(), expected), "{what}: {actual}"),
        (actual, expected) => assert_eq!(actual.is_some(), expected.is_some(), "{what}"),
    }
}

#[test]
fn s1_shows_a_holding_the_job() {
    let s1 = snapshot(&story_with(""), "S1");
    assert!(near(s1.t.as_seconds(), 3.0), "{}", s1.t);
    let a = &s1.workers[&WorkerId::A];
    assert_eq!((a.state, a.token, a.believes_holding), ("working", Some(7), true));
    assert_reading(a.stop_time, Some(11.0), "A's stop time");
    assert_eq!(s1.workers[&WorkerId::B].state, "idle");
    let key = s1.service.key.expect("A holds the key");
    assert_eq!((key.holder, key.token), (WorkerId::A, 7));
    assert_reading(mono(key.deadline), Some(13.0), "the deadline");
    let row = s1.store.expect("there is a row");
    assert_eq!((row.state, row.fence, row.owner_token, row.indexed), (RowState::Running, 7, Some(7), true));
    assert_eq!(row.chunks, [(1, vec![7])].into_iter().collect());
    assert_eq!(row.invoices_charged, 5_000);
}

#[test]
fn s2_shows_a_frozen_with_a_write_it_believes_in() {
    let s2 = snapshot(&story_with(""), "S2");
    assert!(near(s2.t.as_seconds(), 14.0), "{}", s2.t);
    let (a, b) = (&s2.workers[&WorkerId::A], &s2.workers[&WorkerId::B]);
    assert_eq!((a.state, a.token, a.believes_holding), ("paused", Some(7), true));
    assert_reading(a.stop_time, Some(11.0), "A's stop time");
    assert_eq!((b.state, b.token, b.believes_holding), ("working", Some(12), true));
    assert_reading(b.stop_time, Some(21.5), "B's stop time");
    let key = s2.service.key.expect("B holds the key");
    assert_eq!((key.holder, key.token, s2.service.revision), (WorkerId::B, 12, 12));
    let row = s2.store.expect("there is a row");
    assert_eq!((row.fence, row.owner_token), (12, Some(12)));
    assert_eq!(row.chunks, [(1, vec![7]), (2, vec![12])].into_iter().collect());
    assert!(near(row.claimed_since.expect("the row is claimed").as_seconds(), 13.6));
}

#[test]
fn s3_shows_the_row_as_b_left_it() {
    let run = story_with("");
    let (s2, s3) = (snapshot(&run, "S2"), snapshot(&run, "S3"));
    assert_eq!(s3.t, seconds(19.1));
    let a = &s3.workers[&WorkerId::A];
    assert_eq!((a.state, a.believes_holding), ("gave-up", false));
    assert_eq!(s3.store, s2.store);
}

#[test]
fn s4_shows_an_orphan() {
    let run = story_with("");
    let s4 = snapshot(&run, "S4");
    assert!(s4.t >= seconds(29.5) && s4.t <= seconds(29.6), "{}", s4.t);
    assert_eq!((s4.service.key, s4.service.revision), (None, 13));
    let row = s4.store.expect("there is a row");
    assert_eq!((row.state, row.owner_token, row.indexed), (RowState::Running, Some(12), true));
    let states: Vec<&str> = s4.workers.values().map(|worker| worker.state).collect();
    assert_eq!(states, ["gave-up", "crashed", "idle", "idle"], "nobody is left to retry");
    assert!(s4.workers.values().all(|worker| !worker.believes_holding));
    assert_eq!(s4.sweeper_saw, None, "the sweeper has not been there yet");
}

#[test]
fn s5_shows_what_survived_the_leader() {
    let run = story_with("");
    let s5 = snapshot(&run, "S5");
    assert!(near(s5.t.as_seconds(), 49.1), "{}", s5.t);
    let before = Snapshot::take(&run.world_at(seconds(46.95)), seconds(46.95), None);
    assert_eq!((s5.service.leader, s5.service.term), (Some(NodeId(2).into()), 2));
    let (key, key_before) = (s5.service.key.expect("C holds"), before.service.key.expect("C holds"));
    assert_eq!((key.holder, key.token), (WorkerId::C, 15));
    assert_eq!((key_before.holder, key_before.token), (WorkerId::C, 15));
    assert_reading(mono(key.deadline), Some(59.1), "the rebuilt deadline");
    assert_reading(mono(key_before.deadline), Some(56.2), "the lost deadline");
    assert!(!s5.service.nodes[&NodeId(1)].up);
    for id in [NodeId(2), NodeId(3)] {
        let log = &s5.service.nodes[&id].log;
        assert!(
            log.iter().any(|entry| entry.command.starts_with("create key with lease C") && entry.on_disk),
            "{id} has the grant on its disk"
        );
    }
    assert_eq!(before.service.nodes[&NodeId(1)].memory.deadlines.len(), 1);
    assert!(s5.service.nodes[&NodeId(1)].memory.deadlines.is_empty(), "the deadline died with n1");
    assert_eq!(before.service.nodes[&NodeId(2)].memory.deadlines.len(), 0, "n2 had to rebuild it");
    assert_eq!(s5.service.nodes[&NodeId(2)].memory.deadlines.len(), 1);
}

#[test]
fn s6_shows_the_job_done() {
    let s6 = snapshot(&story_with(""), "S6");
    assert!(s6.t >= seconds(52.0) && s6.t <= seconds(52.1), "{}", s6.t);
    assert_eq!((s6.service.key, s6.service.revision), (None, 16));
    let row = s6.store.expect("there is a row");
    assert_eq!((row.state, row.fence, row.indexed, row.claimed_since), (RowState::Done, 15, false, None));
    assert_eq!((row.chunks.len(), row.invoices_charged, row.charged_twice), (10, 50_000, 0));
    assert!(row.chunks.values().all(|tokens| tokens.len() == 1));
    assert_eq!(s6.workers[&WorkerId::C].state, "done");
}

/// What a reader may see before the end of the story.
#[test]
fn verdicts_follow_the_cursor() {
    let run = story_with("");
    let at = |invariant, t| report::verdict_name(&run.verdict(invariant, seconds(t)));
    assert_eq!(at(Invariant::ActsInTime, 18.99), "holds");
    assert_eq!(at(Invariant::ActsInTime, 19.0), "broken");
    assert_eq!(at(Invariant::JobFinishes, 51.0), "pending");
    assert_eq!(at(Invariant::JobFinishes, 52.0), "holds");
    let short = Run::new(
        story(),
        lease_lab_scenarios::run::Input { until: Some(TrueTime::from_millis(30_000)), ..Default::default() },
    );
    let short = short.expect("the story can be cut short");
    assert_eq!(verdict(&short, Invariant::JobFinishes), "broken", "it has not finished by its own horizon");
}
