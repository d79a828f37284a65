//! What becomes of the story when something in it is different.

mod common;

use common::*;
use lease_lab_scenarios::Run;
use lease_lab_scenarios::snapshot::{RowCard, Snapshot};
use lease_lab_sim::event::{GaveUpBecause, Kind};
use lease_lab_sim::invariants::Invariant;
use lease_lab_sim::machine::{MachineId, NodeId, WorkerId};
use lease_lab_sim::store::RowState;
use lease_lab_sim::time::{Deadline, Span};

const A: Option<WorkerId> = Some(WorkerId::A);
const B: Option<WorkerId> = Some(WorkerId::B);
const C: Option<WorkerId> = Some(WorkerId::C);

/// The story with another pause of A, and its two crashes.
fn with_pause(pause: &str) -> Run {
    plain_with(&format!("{pause}; 21 crash B; 47 crash leader"))
}

fn row(run: &Run) -> RowCard {
    Snapshot::take(run.end(), run.horizon, None).store.expect("there is a row")
}

/// The verdicts that do not hold.
fn not_holding(run: &Run) -> Vec<(&'static str, &'static str)> {
    run.verdicts(run.horizon)
        .into_iter()
        .map(|(invariant, verdict)| (invariant.id(), lease_lab_scenarios::report::verdict_name(&verdict)))
        .filter(|(_, verdict)| *verdict != "holds")
        .collect()
}

fn gave_up(run: &Run, worker: WorkerId) -> Option<(f64, GaveUpBecause)> {
    run.events.iter().find_map(|event| match event.kind {
        Kind::GaveUp { worker: who, because, .. } if who == worker => Some((event.t.as_seconds(), because)),
        _ => None,
    })
}

/// When which chunk was recorded by `worker`.
fn written(run: &Run, worker: WorkerId) -> Vec<(f64, u8)> {
    run.events
        .iter()
        .filter_map(|event| match event.kind {
            Kind::ChunkWritten { worker: who, chunk, .. } if who == worker => Some((event.t.as_seconds(), chunk)),
            _ => None,
        })
        .collect()
}

fn first_chunk(run: &Run, worker: WorkerId) -> Option<u8> {
    written(run, worker).first().map(|(_, chunk)| *chunk)
}

#[test]
fn a_pause_of_8_s_ends_with_an_accepted_write() {
    let run = with_pause("4 pause A 8");
    assert_near(&written(&run, WorkerId::A).iter().map(|(t, _)| *t).collect::<Vec<_>>(), &[1.0, 12.05], "A writes");
    let (t, because) = gave_up(&run, WorkerId::A).expect("A gives up");
    assert!(near(t, 12.1) && because == GaveUpBecause::StopTimePassed);
    assert_near(&times_of(&run, "lease-granted", B), &[13.5], "B takes over");
    assert_eq!(first_chunk(&run, WorkerId::B), Some(3), "chunk 2 is done");
    assert_eq!(row(&run).charged_twice, 0);
}

#[test]
fn a_pause_of_5_s_does_no_harm() {
    let run = with_pause("4 pause A 5");
    assert!(near(times_of(&run, "lease-renewed", A)[1], 9.1), "the overdue renewal follows the call under way");
    assert_eq!(gave_up(&run, WorkerId::A), None);
    let chunks: Vec<u8> = written(&run, WorkerId::A).into_iter().map(|(_, chunk)| chunk).collect();
    assert_eq!(chunks, (1..=10).collect::<Vec<u8>>(), "A does the whole job");
    assert_eq!(not_holding(&run), []);
    assert_eq!(run.beat(8), None, "B never gets the lock");
}

#[test]
fn a_pause_before_the_check_is_caught_by_the_check() {
    let run = with_pause("3.8 pause A 9.3");
    let (t, because) = gave_up(&run, WorkerId::A).expect("A gives up");
    assert!(near(t, 13.1) && because == GaveUpBecause::StopTimePassed);
    assert_eq!(times_of(&run, "write-refused", A).len(), 0, "A sends nothing");
    assert_near(&times_of(&run, "lease-granted", B), &[13.5], "B takes over");
    assert_eq!(first_chunk(&run, WorkerId::B), Some(2));
    assert_eq!(not_holding(&run), []);
}

#[test]
fn a_frozen_guest_acts_in_time_by_its_own_clock() {
    let run = with_pause("4 pause A 15 vm");
    assert_near(&times_of(&run, "write-refused", A), &[19.05], "the fence refuses A");
    let a = run.world_at(seconds(19.0)).reading(WorkerId::A.into(), seconds(19.0)).expect("A has clocks");
    assert!(near(a.mono.as_seconds(), 4.0), "A's clock stood still");
    assert_eq!(verdict(&run, Invariant::ActsInTime), "holds", "and that is the lesson");
    assert_eq!(verdict(&run, Invariant::OneActingHolder), "broken", "B's stop time is no help either");
    assert_eq!(row(&run).charged_twice, 0, "only the fence is");
}

#[test]
fn without_the_fence_5000_customers_pay_twice() {
    let run = story_with("0 fence off");
    assert_eq!(row(&run).charged_twice, 5_000);
    assert_eq!(row(&run).chunks[&2], [12, 7]);
    for invariant in [Invariant::ChargedOnce, Invariant::NoStaleWrite] {
        assert_near(&[broken_at(&run, invariant).expect("it is broken")], &[19.05], invariant.id());
    }
    assert_eq!(verdict(&run, Invariant::JobFinishes), "holds");
}

#[test]
fn without_the_fence_an_idempotent_store_charges_once() {
    let run = story_with("0 fence off; 0 idempotent on");
    assert_eq!(verdict(&run, Invariant::ChargedOnce), "holds");
    assert_eq!(row(&run).charged_twice, 0);
    let recognised = events_of(&run, "chunk-written", A).nth(1).expect("A's second write is accepted");
    assert!(near(recognised.t.as_seconds(), 19.05));
    assert!(matches!(recognised.kind, Kind::ChunkWritten { charged: 0, chunk: 2, .. }));
    assert_eq!(verdict(&run, Invariant::NoStaleWrite), "broken", "it is a stale write all the same");
}

#[test]
fn raised_late_the_fence_comes_too_late() {
    let run = plain_with("0 raise late; 4 pause A 9.7; 21 crash B; 47 crash leader");
    assert_near(&times_of(&run, "chunk-written", A), &[1.0, 13.75], "A's late write is accepted");
    assert_near(&times_of(&run, "fence-raised", B), &[13.9], "B raises after it");
    assert_near(&[broken_at(&run, Invariant::ChargedOnce).expect("chunk 2 is charged twice")], &[14.0], "B repeats it");
    assert_eq!(row(&run).charged_twice, 5_000);
    assert_eq!(verdict(&run, Invariant::NoStaleWrite), "holds", "7 came before 12");

    let first = plain_with("4 pause A 9.7; 21 crash B; 47 crash leader");
    assert_eq!(verdict(&first, Invariant::ChargedOnce), "holds", "raised first, it refuses A's write");
    assert_near(&times_of(&first, "write-refused", A), &[13.75], "A's late write is refused");
}

#[test]
fn a_fence_that_rejects_equal_tokens_refuses_its_own_holder() {
    let run = story_with("0 fence reject-equal");
    assert_near(&times_of(&run, "fence-raised", A), &[0.5], "A raises");
    assert_near(&times_of(&run, "write-refused", A), &[1.0], "and is refused");
    assert!(events_of(&run, "chunk-written", A).next().is_none());
    assert_eq!(row(&run).invoices_charged, 0);
    assert_eq!(not_holding(&run), [("job-finishes", "broken")]);
}

#[test]
fn a_check_apart_from_the_write_does_not_help() {
    // A's read of the fence comes back while A is frozen: it compares with what was, and writes.
    let run = story_with("0 fence two-step");
    assert_near(&times_of(&run, "chunk-written", A), &[1.0, 19.05], "A's late write is accepted");
    assert_eq!(row(&run).charged_twice, 5_000);
    assert_near(&[broken_at(&run, Invariant::NoStaleWrite).expect("7 after 12")], &[19.05], "a stale write");
}

#[test]
fn a_leader_that_dies_at_30_delays_the_sweeper() {
    let run = plain_with("4 pause A 15; 21 crash B; 30 crash leader");
    assert_near(&times_of(&run, "leader-elected", None), &[32.1], "n2 is elected");
    assert_near(&times_of(&run, "orphan-seen", None), &[40.05], "the first sighting is ten seconds later");
    assert_near(&times_of(&run, "row-requeued", None), &[50.0], "and so is the re-queue");
    let granted = events_of(&run, "lease-granted", C).next().expect("C takes over");
    assert!(matches!(granted.kind, Kind::LeaseGranted { token: 15, .. }), "no revision is lost");
    assert!(granted.machine == NodeId(2).into());
}

#[test]
fn without_the_sweeper_the_job_is_never_finished() {
    let run = story_with("0 sweeper off");
    assert_eq!(run.beat(17), None);
    assert_eq!(run.beat(18), None);
    let row = row(&run);
    assert_eq!((row.state, row.owner_token, row.indexed), (RowState::Running, Some(12), true));
    assert_eq!(verdict(&run, Invariant::JobFinishes), "broken");
    assert_eq!(verdict(&run, Invariant::ChargedOnce), "holds");
}

#[test]
fn the_sweeper_takes_nothing_from_a_holder_that_came_in_between() {
    // The re-queue is on the wire while D takes over.
    let run = story_with("40.002 delay sweeper store 2; 40.01 acquire D");
    assert_near(&times_of(&run, "fence-raised", Some(WorkerId::D)), &[40.1], "D raises");
    assert_near(&times_of(&run, "requeue-refused", None), &[42.0], "the row has changed");
    assert_eq!(times_of(&run, "row-requeued", None).len(), 0);
    assert_eq!(row(&run).state, RowState::Done);
}

#[test]
fn without_a_margin_stop_times_meet_deadlines() {
    let run = story_with("0 margin 0");
    for event in &run.events {
        let (deadline, stop_time) = match event.kind {
            Kind::LeaseGranted { deadline: Deadline::Mono(deadline), stop_time: Some(stop_time), .. } => {
                (deadline, stop_time)
            }
            Kind::LeaseRenewed { deadline: Deadline::Mono(deadline), stop_time, .. } => (deadline, stop_time),
            _ => continue,
        };
        assert!(stop_time <= deadline && deadline - stop_time <= Span::millis(20), "{event:?}");
    }
    assert_eq!(verdict(&run, Invariant::OneActingHolder), "holds");

    // A clock that is a little slow makes the difference that the margin is there for.
    let slow = |margin| plain_with(&format!("0 margin {margin}; 0 rate A 0.94; 3.9 isolate A"));
    assert_eq!(verdict(&slow("0"), Invariant::OneActingHolder), "broken");
    assert_eq!(verdict(&slow("2"), Invariant::OneActingHolder), "holds");
}

#[test]
fn a_stepped_wall_clock_changes_nothing_but_clocks() {
    let (plain, stepped) = (story_with(""), story_with("16 step-wall B -3; 18 offset n1 7; 20 step-wall sweeper 60"));
    let others = |run: &Run| -> Vec<_> {
        let changes = ["wall-stepped", "offset-set"];
        run.events.iter().filter(|event| !changes.contains(&event.kind.name())).cloned().collect()
    };
    assert_eq!(others(&plain), others(&stepped));
    let readings = |run: &Run| run.world_at(seconds(20.0)).reading(WorkerId::B.into(), seconds(20.0));
    let (before, after) = (readings(&plain).expect("B has clocks"), readings(&stepped).expect("B has clocks"));
    assert_eq!(before.mono, after.mono);
    assert_eq!(before.wall - after.wall, Span::seconds(3));

    let store = story_with("10 step-wall store -3");
    assert_eq!(store.events.len(), plain.events.len() + 1);
    let claimed = events_of(&store, "fence-raised", B).next().expect("B raises");
    let Kind::FenceRaised { claimed_since, .. } = claimed.kind else { panic!("{claimed:?}") };
    assert!(near(claimed_since.as_seconds(), 10.6), "the row is stamped with the store's wall clock");
}

#[test]
fn a_delayed_write_is_refused_by_the_next_holders_fence() {
    // A's chunk 2 is on the wire while A dies and B takes over.
    let run = plain_with("3.95 delay A store 12; 4.1 crash A; 21 crash B; 47 crash leader");
    assert_near(&times_of(&run, "write-refused", A), &[16.05], "the message arrives");
    assert_eq!(row(&run).chunks[&2], [12]);
    assert_eq!(not_holding(&run), []);

    // Delayed less, it is accepted, and B goes on after it.
    let run = plain_with("3.95 delay A store 9; 4.1 crash A; 21 crash B; 47 crash leader");
    assert_near(&times_of(&run, "chunk-written", A), &[1.0, 13.05], "the message arrives");
    assert_eq!(first_chunk(&run, WorkerId::B), Some(3));
    assert_eq!(not_holding(&run), []);
}

#[test]
fn a_delayed_write_meets_its_own_retry() {
    // A gets no answer, reads the row, writes again: and then the first copy arrives, with the current token.
    let run = plain_with("3.95 delay A store 3");
    assert_near(&times_of(&run, "store-timed-out", A), &[4.5], "A waits half a second");
    let chunk_2: Vec<f64> =
        written(&run, WorkerId::A).into_iter().filter(|(_, chunk)| *chunk == 2).map(|(t, _)| t).collect();
    assert_near(&chunk_2, &[4.75, 7.05], "chunk 2 is recorded twice");
    assert_eq!(row(&run).chunks[&2], [7, 7]);
    assert_eq!(verdict(&run, Invariant::ChargedOnce), "broken");
    assert_eq!(verdict(&run, Invariant::NoStaleWrite), "holds");
    let idempotent = plain_with("0 idempotent on; 3.95 delay A store 3");
    assert_eq!(not_holding(&idempotent), []);
}

#[test]
fn a_duplicate_message_charges_twice_with_the_current_token() {
    let run = plain_with("0.9 duplicate A store");
    assert_near(&times_of(&run, "chunk-written", A)[..2], &[1.0, 1.0], "chunk 1 arrives twice");
    assert_eq!(row(&run).charged_twice, 5_000);
    assert_eq!(verdict(&run, Invariant::NoStaleWrite), "holds");
    assert_eq!(not_holding(&plain_with("0 idempotent on; 0.9 duplicate A store")), []);
}

#[test]
fn a_lost_answer_does_not_make_a_worker_repeat_its_write() {
    let run = plain_with("0.96 drop store A");
    assert_near(&times_of(&run, "store-timed-out", A), &[1.45], "A waits half a second");
    assert_near(&times_of(&run, "fence-raised", A), &[0.5, 1.5], "and reads the row by raising again");
    assert_eq!(written(&run, WorkerId::A).iter().filter(|(_, chunk)| *chunk == 1).count(), 1);
    assert_eq!(not_holding(&run), []);
}

#[test]
fn a_minority_commits_nothing() {
    let run = plain_with("4.5 partition n1,A | n2,n3,B");
    let by_n1: Vec<(f64, &str)> = run
        .events
        .iter()
        .filter(|event| event.machine == NodeId(1).into() && event.t > seconds(4.6))
        .filter(|event| {
            ["lease-granted", "lease-expired", "lock-released", "tenant-committed", "lease-renewed"]
                .contains(&event.kind.name())
        })
        .map(|event| (event.t.as_seconds(), event.kind.name()))
        .collect();
    assert!(by_n1.iter().all(|(t, kind)| *kind == "lease-renewed" && *t < 6.8), "{by_n1:?}");
    assert_near(&times_of(&run, "stepped-down", None), &[6.8], "n1 steps down");
    assert_near(&times_of(&run, "leader-elected", None), &[6.75], "n2 is elected");
    assert_eq!(verdict(&run, Invariant::OneActingHolder), "holds");
    let granted = events_of(&run, "lease-granted", B).next().expect("B takes over on the other side");
    assert!(granted.machine == NodeId(2).into());
    assert!(gave_up(&run, WorkerId::A).is_some_and(|(t, _)| t < granted.t.as_seconds()), "A has let go by itself");
}

#[test]
fn a_store_that_is_cut_off_refuses_the_zombie_later() {
    let run = story_with("18.9 isolate store; 19.3 heal");
    assert_eq!(times_of(&run, "write-refused", A).len(), 0, "A's write is lost");
    let (t, because) = gave_up(&run, WorkerId::A).expect("A gives up");
    assert!(t > 19.4 && because == GaveUpBecause::StopTimePassed, "its time-out makes it look at its clock");
    assert_eq!(verdict(&run, Invariant::ChargedOnce), "holds");
}

#[test]
fn a_released_lock_is_free_at_once() {
    let run = plain_with("5 acquire B; 6.2 release A");
    assert_near(&times_of(&run, "lock-released", A), &[6.2], "A releases");
    assert_near(&times_of(&run, "lease-granted", B), &[6.5], "B's next attempt succeeds");
    assert_eq!(not_holding(&run), []);
}

#[test]
fn a_lease_that_was_renewed_too_late_is_not_renewed() {
    // The renewal asks for another length, so it must be committed; meanwhile the deadline passes.
    let run = plain_with("0 margin 0; 0 renew 9.9995; 5 lease 12; 5 crash n2; 10.001 drop n1 n3");
    assert_eq!(times_of(&run, "lease-renewed", A).len(), 0);
    assert_near(&times_of(&run, "lease-expired", A), &[10.0], "the lease expires");
    assert!(gave_up(&run, WorkerId::A).is_some_and(|(_, because)| because == GaveUpBecause::LeaseNotFound));
    assert_eq!(verdict(&run, Invariant::OneActingHolder), "holds");
}

#[test]
fn a_leader_that_replays_its_log_renews_nothing() {
    // n2 lost its memory, so it applies the renewal of 3.0 once more as leader; A's lease ended long ago.
    let run = story_with("1 lease 12; 20 crash n2; 20 crash n1; 21 restart n2");
    assert_near(&times_of(&run, "lease-renewed", A), &[3.0], "A renews once");
    assert_near(&times_of(&run, "lease-granted", A), &[0.0], "A is granted once");
}

#[test]
fn a_grant_that_is_asked_for_again_keeps_its_length() {
    // A's request is lost; before A asks again, leases become shorter.
    let run = plain_with("0.001 drop A n1; 0.02 lease 5.5");
    for event in events_of(&run, "lease-granted", A) {
        let Kind::LeaseGranted { deadline: Deadline::Mono(deadline), stop_time: Some(stop_time), .. } = event.kind
        else {
            panic!("{event:?}")
        };
        assert!(stop_time + Span::seconds(2) <= deadline, "{event:?}");
    }
}

#[test]
fn a_renewal_that_arrives_late_takes_nothing_back() {
    // The renewal for 5.5 s is held up and arrives after the one for 30 s.
    let run = plain_with("2 lease 5.5; 2.9 delay A n1 3.3; 3.02 lease 30; 3.02 renew 20");
    assert_eq!(verdict(&run, Invariant::OneActingHolder), "holds");
}

#[test]
fn a_longer_lease_survives_its_leader() {
    // B may act until 41.5; the new leader must not restart the lease at the 10 s of the grant.
    let run = plain_with("0.5 crash A; 13.7 lease 30; 17 crash n1");
    let Some(Kind::LeaderElected { deadline: Some(deadline), .. }) =
        events_of(&run, "leader-elected", None).next().map(|event| &event.kind)
    else {
        panic!("n2 is elected and finds B's lease")
    };
    assert!(deadline.as_seconds() > 49.0, "{deadline}");
    assert_eq!(verdict(&run, Invariant::OneActingHolder), "holds");
}

#[test]
fn a_grant_that_outlives_its_leader_names_no_stop_time() {
    let run = plain_with("0.0135 crash leader");
    let grant = events_of(&run, "lease-granted", A).next().map(|event| event.kind.clone());
    assert!(matches!(grant, Some(Kind::LeaseGranted { stop_time: None, .. })), "{grant:?}");
}

#[test]
fn the_scenario_starts_no_worker_that_runs_already() {
    let run = plain_with("0.5 crash A; 5 acquire B");
    assert_eq!(times_of(&run, "lease-granted", B).len(), 1);
    let started: Vec<f64> = run
        .events
        .iter()
        .filter(|event| event.kind.name() == "started" && event.machine == WorkerId::B.into())
        .map(|event| event.t.as_seconds())
        .collect();
    assert_near(&started, &[5.0], "B starts when it is told to, and not again at 10.5");
    assert_eq!(not_holding(&run), []);
}

#[test]
fn what_waits_for_a_frozen_process_is_lost_with_it() {
    let run = plain_with("4 pause A; 14 crash A");
    // Nothing was under way to A, so nothing is lost.
    assert!(run.events.iter().all(|event| event.t != seconds(14.0) || event.kind.name() != "message-lost"));
    let run = plain_with("0.96 pause A; 14 crash A");
    let lost: Vec<f64> = run
        .events
        .iter()
        .filter(|event| matches!(event.kind, Kind::MessageLost { to: MachineId::Worker(WorkerId::A), .. }))
        .map(|event| event.t.as_seconds())
        .collect();
    assert_near(&lost, &[14.0], "the store's answer");
}

/// Odd combinations: each must run to its end, and the trace must say what had no effect.
#[test]
fn odd_lists_run_to_their_end() {
    for text in [
        "0 pause store; 0 pause sweeper vm; 0 pause leader; 5 resume store; 6 resume sweeper; 7 resume n1",
        "5 crash n1; 5 restart n1; 5 crash n1; 5 restart n1",
        "5 crash leader; 5 crash leader; 8 crash leader; 8 restart leader; 9 restart n1; 9 restart n2; 9 restart n3",
        "4 pause A vm; 5 rate A 2; 6 rate A 0.5; 7 resume A; 7 pause A 1 vm; 7 resume A; 7 rate A 10",
        "4 pause A 1; 4 resume A; 4 pause A 1 vm; 4 crash A; 4 restart A; 4 pause A; 4 release A; 4 acquire A",
        "0 release A; 0 acquire A; 0 acquire B; 0 acquire C; 0 acquire D; 0.001 release A; 0.008 release A",
        "1 acquire D; 2 acquire D; 11 acquire D; 12 release D; 12 acquire D; 30.1 acquire D; 30.1 restart D",
        "0 margin 0; 0 lease 1; 0 renew 0.3",
        "0 margin 0; 0 lease 0.000002; 0 renew 0.000001",
        "0 renew 0.000001; 10 renew 3",
        "0 rate A 0.1; 0 rate n1 10; 0 rate store 0.1; 0 rate sweeper 10",
        "0 rate A 10; 0 rate B 10; 0 rate C 10; 0 rate D 10; 0 acquire D",
        "20 isolate A; 20 isolate B; 20 isolate n1; 20 isolate n2; 20 isolate n3; 20 isolate store; 20 heal; 20 heal",
        "20 partition leader,n1 | n2,n3; 21 partition leader | n1,n2,n3; 22 partition n1 | n2 | n3; 30 heal",
        "0 crash store; 0 crash sweeper; 0 crash n1; 0 crash n2; 0 crash n3; 30 restart store; 31 restart n1",
        "0 drop leader A; 0 drop A leader; 0 delay leader n2 30; 0 duplicate n2 leader; 0 drop n3 leader",
        "59.999999 pause A; 60 resume A; 60 crash A; 60.000001 restart A; 999999999 heal",
        "3 pause A 999999999; 4 delay B store 999999999; 5 step-wall A 999999999; 5 step-wall A 999999999",
        "16 crash r1; 16 pause primary; 16 isolate replica; 16 partition r1,r2 | r3; 16 crash n7; 16 restart r3 empty",
    ] {
        let run = story_with(text);
        assert!(run.events.len() < 1_000_000, "{text}: {} events", run.events.len());
        assert_eq!(verdict(&run, Invariant::TokensGrow), "holds", "{text}");
        assert_eq!(verdict(&run, Invariant::NoStaleWrite), "holds", "{text}");
        assert!(!lease_lab_scenarios::report::json(&run).is_empty());
    }
}
