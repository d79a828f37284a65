//! The storm: what each rule against it does, and what none of them may do.

mod common;

use common::cases_count;
use lease_lab_scenarios::measures::Value;
use lease_lab_scenarios::run::Input;
use lease_lab_scenarios::{Run, Scenario};
use lease_lab_sim::event::Kind;
use lease_lab_sim::intervention::parse_list;
use lease_lab_sim::invariants::{Invariant, Verdict};
use lease_lab_sim::machine::{MachineId, WorkerId};
use lease_lab_sim::store::RowState;
use lease_lab_sim::time::{Span, TrueTime};
use proptest::prelude::*;

/// The setting of the lab: holders, the fault, the lease, and how often a worker comes back for its own lock.
const HOLDERS: u64 = 1_000;
const OUTAGE_BEGINS: f64 = 12.0;
const OUTAGE_ENDS: f64 = 42.0;
const LEASE: f64 = 10.0;
const RENEW: f64 = 3.0;
const RETURNS: f64 = 10.0;
const SWEEP_EVERY: f64 = 1.0;
const LOOK_EVERY: f64 = 2.0;
/// A and B.
const DEAD: u64 = 2;

const RULES: [&str; 4] = ["0 set cap 50", "0 set jitter 20", "0 set pause-share 5", "0 set hold-off on"];

fn storm() -> &'static Scenario {
    lease_lab_scenarios::find("storm").expect("the storm is a lab")
}

fn run_with(list: &str) -> Run {
    let mut interventions = storm().own_interventions();
    interventions.extend(parse_list(list).unwrap_or_else(|mistake| panic!("{mistake}")));
    Run::new(storm(), Input { interventions: Some(interventions), ..Input::default() })
        .unwrap_or_else(|mistake| panic!("{mistake}"))
}

fn measured(run: &Run, id: &str) -> f64 {
    let measure = run.measures().into_iter().find(|measure| measure.id == id).expect("the measure exists");
    match measure.value {
        Some(Value::Count(count)) => count as f64,
        Some(Value::Seconds(span)) => span.as_micros() as f64 / 1e6,
        other => panic!("{id}: {other:?}"),
    }
}

fn times(run: &Run, which: impl Fn(&Kind) -> bool) -> Vec<f64> {
    run.events.iter().filter(|event| which(&event.kind)).map(|event| event.t.as_seconds()).collect()
}

fn is_requeue(kind: &Kind) -> bool {
    matches!(kind, Kind::RowRequeued { .. })
}

/// The most in one second, counted anew.
fn peak(times: &[f64]) -> f64 {
    let mut counts = std::collections::BTreeMap::new();
    for t in times {
        *counts.entry(t.floor() as i64).or_insert(0) += 1;
    }
    f64::from(counts.values().copied().max().unwrap_or(0))
}

#[track_caller]
fn assert_within(value: f64, from: f64, to: f64, what: &str) {
    assert!((from..=to).contains(&value), "{what} is {value}, expected {from} to {to}");
}

fn all_jobs_done(run: &Run) -> bool {
    let store = run.end().store().expect("there is a store");
    run.plan.job_ids().all(|job| store.row_of(job).is_some_and(|row| row.state == RowState::Done))
}

/// Holders renew evenly; the last renewal before the outage is at most one interval old, so all leases expire between
/// 12 − 3 + 10 and 12 + 10, a third of them in each second.
#[test]
fn all_leases_expire_within_one_renewal_interval() {
    let run = run_with("");
    let expired = times(&run, |kind| matches!(kind, Kind::LeaseExpired { .. }));
    assert_eq!(expired.len() as u64, HOLDERS);
    for t in &expired {
        assert_within(*t, OUTAGE_BEGINS - RENEW + LEASE, OUTAGE_BEGINS + LEASE + 0.05, "an expiry");
    }
    let even = HOLDERS as f64 / RENEW;
    assert_within(measured(&run, "expiries-peak"), even * 0.99, even * 1.03, "the peak of expiries");
}

/// A holder may act until 8 s after its last renewal. It lets go when it next asks: 3 s after that renewal, and then
/// every 3 × 40 ms of asking in vain and 2 s of pause; the first of these that is past the stop time comes before the
/// lease expires.
#[test]
fn every_holder_lets_go_before_its_lease_expires() {
    let run = run_with("");
    let gave_up = times(&run, |kind| matches!(kind, Kind::GaveUp { .. }));
    // A and B are healthy until 20.
    assert!(gave_up.len() as u64 >= HOLDERS - DEAD);
    let (may_act, round) = (LEASE - 2.0, 3.0 * 0.04 + 2.0);
    let rounds = ((may_act - RENEW) / round).ceil();
    let notices = RENEW + rounds * round;
    assert!(notices < LEASE);
    for t in gave_up {
        let (from, to) = (OUTAGE_BEGINS - RENEW + may_act, OUTAGE_BEGINS + notices + 0.05);
        assert_within(t, from, to, "a holder lets go");
    }
}

#[test]
fn the_naive_sweeper_requeues_every_row_in_its_first_sweep() {
    let run = run_with("");
    let requeued = times(&run, is_requeue);
    assert_eq!(requeued.len() as u64, HOLDERS);
    for t in requeued {
        assert_within(t, OUTAGE_ENDS, OUTAGE_ENDS + 0.1, "a re-queue");
    }
    // Whoever has no lock looks every two seconds, and nearly every look finds a job.
    let claims = measured(&run, "claims-peak");
    assert_within(claims, 0.8 * HOLDERS as f64 / LOOK_EVERY, HOLDERS as f64 / LOOK_EVERY, "the peak of claims");
}

#[test]
fn each_rule_alone_lowers_what_it_is_there_for() {
    let naive = run_with("");
    for rule in RULES {
        let run = run_with(rule);
        for id in ["requeues-peak", "requeues", "claims-peak", "moved", "work-lost"] {
            let (with, without) = (measured(&run, id), measured(&naive, id));
            assert!(with < without * 0.6, "{rule}: {id} is {with}, and {without} without it");
        }
        assert_eq!(measured(&run, "requeues-peak"), peak(&times(&run, is_requeue)), "{rule}");
    }
}

#[test]
fn no_rule_loses_a_job() {
    for rule in RULES.iter().copied().chain(["", "0 set cap 50; 0 set jitter 5; 0 set hold-off on; 0 set sightings 2"])
    {
        let run = run_with(rule);
        assert!(all_jobs_done(&run), "{rule}");
        for invariant in [
            Invariant::ChargedOnce,
            Invariant::NoStaleWrite,
            Invariant::OneActingHolder,
            Invariant::TokensGrow,
            Invariant::ActsInTime,
            Invariant::JobFinishes,
        ] {
            assert_eq!(run.verdict(invariant, run.horizon), Verdict::Holds, "{rule}: {invariant}");
        }
    }
}

/// Only whoever is dead needs the sweeper.
#[test]
fn without_a_sweeper_the_jobs_of_the_dead_wait_for_ever() {
    let run = run_with("0 sweeper off");
    let store = run.end().store().expect("there is a store");
    let waiting = run.plan.job_ids().filter(|job| store.row_of(*job).is_some_and(|row| row.state != RowState::Done));
    assert_eq!(waiting.count() as u64, DEAD);
    assert_eq!(times(&run, is_requeue).len(), 0);
}

#[test]
fn a_cap_bounds_every_sweep() {
    for cap in [1, 20, 50, 300] {
        let run = run_with(&format!("0 set cap {cap}"));
        assert_within(measured(&run, "requeues-peak"), 1.0, f64::from(cap) / SWEEP_EVERY, "re-queues in a second");
    }
}

/// Spread evenly over J seconds; late ones find that the holder has come back, and are refused.
#[test]
fn jitter_spreads_the_requeues() {
    for jitter in [5.0, 20.0] {
        let run = run_with(&format!("0 set jitter {jitter}"));
        let even = HOLDERS as f64 / jitter;
        assert_within(measured(&run, "requeues-peak"), even * 0.8, even * 1.35, "the peak of re-queues");
        for t in times(&run, is_requeue) {
            assert_within(t, OUTAGE_ENDS, OUTAGE_ENDS + jitter + SWEEP_EVERY + RETURNS, "a re-queue");
        }
        let refused = times(&run, |kind| matches!(kind, Kind::RequeueRefused { .. }));
        assert!(!refused.is_empty(), "nobody came back in time");
    }
}

/// Holders come back evenly within the time that they leave between two attempts; the sweeper waits for longer, so
/// only the dead are re-queued, by the first sweep after one lease.
#[test]
fn hold_off_lets_the_holders_come_back_first() {
    let run = run_with("0 set hold-off on");
    let requeued = times(&run, is_requeue);
    assert_eq!(requeued.len() as u64, DEAD);
    for t in requeued {
        assert_within(t, OUTAGE_ENDS + LEASE, OUTAGE_ENDS + LEASE + SWEEP_EVERY + 0.1, "a re-queue");
    }
    let even = HOLDERS as f64 / RETURNS;
    assert_within(measured(&run, "claims-peak"), even, even * 1.35, "the peak of claims");
    assert_eq!(measured(&run, "moved"), 0.0);
    assert_eq!(measured(&run, "work-lost"), 0.0);
    assert_within(measured(&run, "all-running"), LEASE, LEASE + SWEEP_EVERY + LOOK_EVERY + 0.3, "until all run");
}

/// The share falls as holders come back; when it is low enough, the dead are re-queued.
#[test]
fn a_pause_waits_until_few_are_missing() {
    for share in [5, 50] {
        let run = run_with(&format!("0 set pause-share {share}"));
        let paused = run.events.iter().filter_map(|event| match event.kind {
            Kind::SweepPaused { orphans, claims, .. } => Some((orphans, claims)),
            _ => None,
        });
        for (orphans, claims) in paused {
            assert!(u64::from(orphans) * 100 > u64::from(claims) * share, "paused at {orphans} of {claims}");
        }
        let first = times(&run, is_requeue)[0];
        let even = RETURNS * (1.0 - share as f64 / 100.0);
        assert_within(first, OUTAGE_ENDS + even - 1.5, OUTAGE_ENDS + even + 1.5, "the first re-queue");
        assert!(measured(&run, "requeues-peak") <= HOLDERS as f64 * share as f64 / 100.0);
    }
}

/// A holder whose row nobody has touched goes on where it was; the others begin their chunk again.
#[test]
fn work_is_kept_by_whoever_gets_its_own_job_back() {
    let run = run_with("0 set hold-off on");
    let mut left = std::collections::BTreeMap::new();
    let mut kept = 0;
    for event in &run.events {
        match event.kind {
            Kind::ChunkWritten { worker, chunk, times_charged, .. } => {
                assert_eq!(times_charged, 1);
                if let Some((expected, at, spent)) = left.remove(&worker) {
                    assert_eq!(chunk, expected);
                    // 16 s of work in all, 0.1 s to build the chunk, 50 ms on the way, and the answer to the raise.
                    let missing = Span::millis(16_000) - spent + Span::millis(200);
                    let took: Span = event.t - at;
                    assert!((took - missing).as_micros().abs() < 10_000, "{worker} took {took}, expected {missing}");
                    kept += 1;
                }
            }
            Kind::WorkKept { worker, chunk, spent, .. } => {
                // It had the row from its raise, 50 ms away.
                left.insert(worker, (chunk, event.t - Span::millis(50), spent));
            }
            _ => {}
        }
    }
    assert!(kept as u64 > HOLDERS * 9 / 10, "{kept}");
}

#[test]
fn an_outage_cuts_clients_only_and_ends_by_itself() {
    let run = run_with("");
    assert_eq!(times(&run, |kind| matches!(kind, Kind::OutageBegan)), [OUTAGE_BEGINS]);
    assert_eq!(times(&run, |kind| matches!(kind, Kind::OutageEnded)), [OUTAGE_ENDS]);
    assert!(
        run.events.iter().all(|event| !matches!(event.kind, Kind::LeaderElected { .. } | Kind::SteppedDown { .. }))
    );
    // It is no partition: whoever has a lane shows that it tried and found nobody.
    let tried = run.events.iter().any(|event| {
        event.machine == MachineId::Worker(WorkerId::C) && matches!(event.kind, Kind::LockUnreachable { .. })
    });
    assert!(tried);
    for (list, ends) in [("0 outage 5; 3 heal", None), ("0 outage 5; 2 outage 9", Some(5.0)), ("20 outage", None)] {
        let story = common::story_with(list);
        let ended = story.events.iter().find(|event| matches!(event.kind, Kind::OutageEnded));
        assert_eq!(ended.map(|event| event.t.as_seconds()), ends, "{list}");
    }
}

#[test]
fn looking_back_shows_the_world_as_it_was() {
    let run = run_with("0 set holders 200");
    for seconds in [0, 11, 30, 42, 43, 90] {
        let at = TrueTime::from_millis(seconds * 1_000);
        let fresh = Run::new(
            storm(),
            Input { interventions: Some(run.interventions.to_vec()), until: Some(at), ..Input::default() },
        )
        .expect("it makes sense");
        assert!(run.world_at(at) == *fresh.end(), "at {seconds}");
    }
}

fn any_rules() -> impl Strategy<Value = String> {
    let knob = prop_oneof![
        (1..=100_u32).prop_map(|cap| format!("0 set cap {cap}")),
        (0..=30_u32).prop_map(|jitter| format!("0 set jitter {jitter}")),
        (1..=100_u32).prop_map(|share| format!("0 set pause-share {share}")),
        Just("0 set hold-off on".to_owned()),
        (1..=2_u32).prop_map(|sightings| format!("0 set sightings {sightings}")),
        (1..=20_u32).prop_map(|every| format!("0 set every {every}")),
        (5..=60_u32, 1..=40_u32).prop_map(|(at, lasts)| format!("{at} outage {lasts}")),
        (0..=60_u32).prop_map(|at| format!("{at} crash leader")),
        (0..=60_u32, 1..=20_u32).prop_map(|(at, lasts)| format!("{at} pause C {lasts}")),
        (0..=60_u32).prop_map(|at| format!("{at} isolate sweeper")),
        (0..=60_u32).prop_map(|at| format!("{at} heal")),
        (0..=60_u32).prop_map(|at| format!("{at} restart A")),
    ];
    proptest::collection::vec(knob, 0..8).prop_map(|list| list.join("; "))
}

proptest! {
    #![proptest_config(cases_count(60))]

    /// Whatever the rules and the faults: a wrong sweep costs work, never data.
    #[test]
    fn a_storm_costs_no_data(rules in any_rules()) {
        let run = run_with(&format!("0 set holders 100; {rules}"));
        for invariant in [
            Invariant::ChargedOnce,
            Invariant::NoStaleWrite,
            Invariant::OneActingHolder,
            Invariant::TokensGrow,
            Invariant::OnlyOwnerReleases,
        ] {
            prop_assert_eq!(run.verdict(invariant, run.horizon), Verdict::Holds, "{}", invariant);
        }
        // A re-queue is conditional on the owner and the fence that were seen, so it never undoes a finished job.
        let mut done = std::collections::BTreeSet::new();
        for event in &run.events {
            match event.kind {
                Kind::JobDone { job, .. } => prop_assert!(done.insert(job), "{:?} is DONE twice", job),
                Kind::RowRequeued { job, .. } | Kind::FenceRaised { job, .. } => {
                    prop_assert!(!done.contains(&job), "{:?} is taken after it was DONE", job);
                }
                _ => {}
            }
        }
    }
}
