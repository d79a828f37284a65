//! The labs of the consensus lock service: numbers by formula, and promises whatever happens.

mod common;
#[path = "../../sim/tests/raft_rules/mod.rs"]
mod raft_rules;

use std::sync::Arc;

use common::*;
use lease_lab_scenarios::accept::accept;
use lease_lab_scenarios::measures::Value;
use lease_lab_scenarios::run::Input;
use lease_lab_scenarios::{Run, find};
use lease_lab_sim::consensus::Node;
use lease_lab_sim::event::{Event, Kind};
use lease_lab_sim::intervention::{Change, Intervention, parse_list};
use lease_lab_sim::invariants::Invariant;
use lease_lab_sim::machine::{NodeId, WorkerId};
use lease_lab_sim::simulation::Simulation;
use lease_lab_sim::time::Span;
use lease_lab_sim::world::World;
use proptest::prelude::*;
use proptest::sample::select;
use raft_rules::RaftRules;

const T: f64 = 10.0;
const MARGIN: f64 = 2.0;
/// One way between two machines.
const WIRE: f64 = 0.001;
const FSYNC: f64 = 0.003;
/// From the arrival of a request at the leader until its entry is applied: out to a follower, its disk, and back.
const COMMIT: f64 = 2.0 * WIRE + FSYNC;
/// n2’s election timeout, from the last heartbeat that it heard; then the votes and its own vote’s way to the disk.
const N2_TIMEOUT: f64 = 2.292;
const HEARTBEAT: f64 = 0.2;

fn lab(id: &str, own: bool, text: &str) -> Run {
    let scenario = find(id).unwrap_or_else(|| panic!("there is no lab {id}"));
    let mut list = if own { scenario.own_interventions() } else { Vec::new() };
    list.extend(parse_list(text).unwrap_or_else(|mistake| panic!("{mistake}")));
    Run::new(scenario, Input { interventions: Some(list), ..Input::default() })
        .unwrap_or_else(|mistake| panic!("{id}: {mistake}"))
}

#[track_caller]
fn measured(run: &Run, id: &str) -> Value {
    let measures = run.measures();
    let measure = measures.into_iter().find(|measure| measure.id == id).unwrap_or_else(|| panic!("no measure {id}"));
    measure.value.unwrap_or_else(|| panic!("{id} comes to nothing"))
}

#[track_caller]
fn seconds_of(run: &Run, id: &str) -> f64 {
    match measured(run, id) {
        Value::Seconds(span) => span.as_micros() as f64 / 1e6,
        other => panic!("{id} is {other:?}"),
    }
}

#[track_caller]
fn count_of(run: &Run, id: &str) -> u64 {
    match measured(run, id) {
        Value::Count(count) => count,
        other => panic!("{id} is {other:?}"),
    }
}

#[track_caller]
fn exactly(run: &Run, id: &str, expected: f64) {
    let value = seconds_of(run, id);
    assert!((value - expected).abs() < 1e-6, "{id}: {value}, expected {expected}");
}

fn text_of(run: &Run, id: &str) -> String {
    measured(run, id).told()
}

#[test]
fn an_acquisition_is_two_entries_and_the_holder_stops_first() {
    let run = lab("acquire", true, "");
    assert_eq!(count_of(&run, "entries"), 2);
    assert_eq!(count_of(&run, "token"), 6 + 1);
    // The question who holds the key goes first.
    let sent = 2.0 * WIRE;
    let applied = sent + WIRE + COMMIT;
    exactly(&run, "deadline", applied + T);
    exactly(&run, "stop", sent + T - MARGIN);
    exactly(&run, "spare", applied - sent + MARGIN);

    // A delay on the way moves the deadline and not the stop time.
    let late = lab("acquire", true, "0.002 delay A n1 0.03");
    exactly(&late, "deadline", applied + 0.03 + T);
    exactly(&late, "stop", sent + T - MARGIN);

    // Both find the key absent, and one creates it; the other gives its lease back.
    let race = lab("acquire", true, "0.001 acquire B");
    assert!(times_of(&race, "lease-granted", Some(WorkerId::B)).iter().all(|t| *t > 10.0), "not before A has finished");
    let busy = events_of(&race, "lock-busy", Some(WorkerId::B)).next().expect("B finds A’s key");
    assert!((busy.t.as_seconds() - 0.016).abs() < 0.004, "at {}", busy.t);
    let leases = race.world_at(seconds(0.1)).node(NodeId(1)).map(|node| node.lock_state().leases.len());
    assert_eq!(leases, Some(1), "a failed attempt leaves no lease behind");
}

#[test]
fn renewals_write_nothing_and_are_retried_until_the_stop_time() {
    let fine = lab("renew", false, "");
    assert!(count_of(&fine, "renewals") >= 5);
    let grown = |run: &Run, from: f64, to: f64| {
        let length = |t: f64| run.world_at(seconds(t)).node(NodeId(1)).map_or(0, |node| node.entries().len());
        length(to) - length(from)
    };
    assert_eq!(grown(&fine, 1.0, 12.0), 0, "four renewals, no entry");

    let run = lab("renew", true, "");
    let renewed = times_of(&run, "lease-renewed", Some(WorkerId::A));
    // The last renewal before the crash was sent at 3.002.
    let stop = 3.0 + 2.0 * WIRE + T - MARGIN;
    exactly(&run, "stop", stop);
    let again = renewed.iter().copied().find(|t| *t > 5.9).expect("A finds the next leader");
    let elected = times_of(&run, "leader-elected", None)[0];
    assert!(elected < again && again < elected + 0.5 + 0.2 && again < stop, "{elected} {again}");

    for fault in ["5.9 crash n1; 5.9 crash n2", "5.9 isolate A"] {
        let run = lab("renew", false, fault);
        let acts = run.events.iter().filter(|event| {
            event.machine == WorkerId::A.into()
                && matches!(event.kind, Kind::WriteSent { .. } | Kind::RaiseSent { .. } | Kind::DoneSent { .. })
        });
        assert!(acts.map(|event| event.t.as_seconds()).all(|t| t < stop), "{fault}");
        assert_eq!(times_of(&run, "gave-up", Some(WorkerId::A)).len(), 1, "{fault}");
    }
}

#[test]
fn only_the_wrong_release_frees_another_ones_lock() {
    let right = lab("release", true, "");
    assert_eq!(text_of(&right, "freed"), "nobody’s lock");
    assert_eq!(verdict(&right, Invariant::OnlyOwnerReleases), "holds");
    assert_eq!(verdict(&right, Invariant::OneActingHolder), "holds");

    let wrong = lab("release", true, "0 set release unconditional");
    assert_eq!(text_of(&wrong, "freed"), "B’s lock");
    let sent = 19.02;
    let deleted = broken_at(&wrong, Invariant::OnlyOwnerReleases).expect("A frees B’s lock");
    assert!((deleted - (sent + WIRE + COMMIT)).abs() < 1e-6, "at {deleted}");
    assert_eq!(verdict(&wrong, Invariant::OneActingHolder), "broken");
    assert_eq!(count_of(&wrong, "charged-twice"), 0, "the fence protects the invoices even so");
    assert!(count_of(&lab("release", true, "0 set release unconditional; 0 fence off"), "charged-twice") > 0);

    // On Redis: a script that compares and deletes, or a plain DEL.
    for (text, freed, promise) in [
        ("0 service redis", "nobody’s lock", "holds"),
        ("0 service redis; 0 set release unconditional", "B’s lock", "broken"),
    ] {
        let run = lab("release", true, text);
        assert_eq!(text_of(&run, "freed"), freed, "{text}");
        assert_eq!(verdict(&run, Invariant::OnlyOwnerReleases), promise, "{text}");
    }
}

#[test]
fn deadlines_are_nowhere_but_in_the_leaders_memory() {
    let run = lab("what-is-where", true, "");
    assert_eq!((count_of(&run, "memory"), count_of(&run, "elsewhere")), (1, 0));
    let renewed = 6.0 + 3.0 * WIRE;
    exactly(&run, "before", renewed + T);
    let elected = times_of(&run, "leader-elected", None)[0];
    exactly(&run, "rebuilt", elected + T);
    // The grant and the token are on every disk; the logs do not grow while A renews.
    for t in [1.0, 7.9] {
        let world = run.world_at(seconds(t));
        let tokens: Vec<_> =
            world.nodes().map(|(_, node)| node.lock_state().keys.iter().next().map(|(_, k)| k.created)).collect();
        assert_eq!(tokens, [Some(7); 3], "at {t}");
    }
    assert!(run.world_at(seconds(20.0)).node(NodeId(1)).is_some_and(|node| node.deadlines().count() == 0));
}

#[test]
fn the_next_candidate_leads_when_the_leaders_lease_is_over() {
    let run = lab("election", true, "");
    // Other tenants: 6 before, 3 since; A’s key came and went. Then B, then C, and no commit between.
    let b = 6 + 3 + 2 + 1;
    assert_eq!((count_of(&run, "b-epoch"), count_of(&run, "c-epoch")), (b, b + 1));
    assert_near(&times_of(&run, "lease-renewed", Some(WorkerId::B)), &[16.5, 19.5], "B’s renewals");
    // B’s last keep-alive was sent at 19.5; the deletion is committed, C is told, asks, and is answered.
    let leads = 19.5 + WIRE + T + COMMIT + 3.0 * WIRE;
    exactly(&run, "leads-at", leads);
    assert_eq!(text_of(&run, "leads"), format!("C, with epoch {}", b + 1));
    assert_eq!(verdict(&run, Invariant::TokensGrow), "holds");
    assert_eq!(verdict(&run, Invariant::OneActingHolder), "holds");

    // A new leader knows of no watch: C finds out by its keep-alive, and B’s lease starts again at full length.
    let run = lab("election", true, "25 crash leader");
    let elected = times_of(&run, "leader-elected", None)[0];
    exactly(&run, "leads-at", elected + T + COMMIT + 3.0 * WIRE);
    assert_eq!(times_of(&run, "watch-lost", Some(WorkerId::C)).len(), 1);

    // Who dies in the queue is skipped.
    let run = lab("election", true, "14 acquire D; 22 crash C");
    assert_eq!(text_of(&run, "leads"), format!("D, with epoch {}", b + 2));
}

#[test]
fn one_wakes_up_or_all_do() {
    for (candidates, woken, text) in [
        (20_u64, 19, ""),
        (20, 1, "0 set watch predecessor"),
        (2, 1, "0 set candidates 2"),
        (50, 49, "0 set candidates 50"),
        (50, 1, "0 set candidates 50; 0 set watch predecessor"),
    ] {
        let run = lab("herd", true, text);
        assert_eq!(count_of(&run, "woken"), woken, "{text}");
        // Each that wakes asks once, and all but the new leader set a watch again.
        assert_eq!(count_of(&run, "asked"), woken + woken - 1, "{text}");
        assert_eq!(count_of(&run, "candidates"), candidates - 1);
        assert_eq!(text_of(&run, "leads"), "B, with epoch 2", "{text}");
    }
}

#[test]
fn lock_delay_narrows_the_window_and_does_not_close_it() {
    let delay = 15.0;
    let run = lab("election-systems", true, "");
    let ended = 3.0 + 3.0 * WIRE + T + COMMIT;
    exactly(&run, "ended", ended);
    exactly(&run, "until", ended + delay);
    let taken = seconds_of(&run, "taken");
    assert!(taken > ended + delay && taken < ended + delay + 0.5 + 0.05, "{taken}");
    for (text, own, twice) in [
        ("", true, 0),
        ("0 set lock-delay 0", true, 5_000),
        ("0 fence off; 4 pause A 30", false, 5_000),
        ("4 pause A 30", false, 0),
        ("14 crash leader", true, 5_000),
        ("0 fence off; 3.5 release A", false, 0),
    ] {
        assert_eq!(count_of(&lab("election-systems", own, text), "charged-twice"), twice, "{text}");
    }
}

#[test]
fn a_new_leader_restarts_the_lease_and_a_checkpoint_shortens_that() {
    // C’s keep-alive was sent at 46.202.
    let deadline = 46.2 + 3.0 * WIRE + T;
    let common = "4 pause A 15; 21 crash B; ";
    let ended = |text: &str| {
        let run = lab("failover", false, &format!("{common}{text}"));
        let elected = times_of(&run, "leader-elected", None).first().copied();
        (seconds_of(&run, "ended"), elected)
    };
    let (alone, _) = ended("47 crash C");
    assert!((alone - (deadline + COMMIT)).abs() < 1e-6, "{alone}");

    // n2 heard the last heartbeat at most one interval before the crash.
    let (both, elected) = ended("47 crash C; 47 crash leader");
    let elected = elected.expect("n2 is elected");
    let earliest = 47.0 - HEARTBEAT + N2_TIMEOUT;
    assert!((earliest..earliest + HEARTBEAT + 0.02).contains(&elected), "{elected}");
    assert!((both - (elected + T + COMMIT)).abs() < 1e-6, "{both}");

    // C renewed 0.8 s before the crash, which took the last checkpoint back; the next was due 2 s after it.
    let (fresh, _) = ended("47 crash C; 47 crash leader; 0 set checkpoint 2");
    assert!((fresh - both).abs() < 1e-6, "{fresh}");

    // With n1 alive until 49.0 it was made: 10 − 2 = 8 s left.
    let (without, elected) = ended("47 crash C; 49 crash leader");
    assert!((without - (elected.expect("n2 leads") + T + COMMIT)).abs() < 1e-6, "{without}");
    let (with, elected) = ended("47 crash C; 49 crash leader; 0 set checkpoint 2");
    assert!((with - (elected.expect("n2 leads") + T - 2.0 + COMMIT)).abs() < 1e-6, "{with}");
    assert!(with > deadline, "never earlier than the holder counts on");
}

#[test]
fn a_renewal_takes_its_checkpoint_back() {
    let run = lab("failover", true, "0 set checkpoint 2");
    let mut left: Option<Span> = None;
    let mut taken_back = 0;
    for event in &run.events {
        match &event.kind {
            Kind::LeaseCheckpointed { worker: WorkerId::C, remaining, .. } => {
                taken_back += u32::from(left.is_some() && remaining.is_none());
                left = *remaining;
            }
            Kind::LeaseRenewed { worker: WorkerId::C, .. } => assert_eq!(left, None, "at {}", event.t),
            _ => {}
        }
    }
    assert!(taken_back >= 2, "{taken_back}");
    assert_eq!(verdict(&run, Invariant::JobFinishes), "holds");
}

#[test]
fn a_minority_decides_nothing() {
    for (text, own) in [
        ("", true),
        ("2 crash A; 9 partition n1,n2,B | n3,n4,n5,C; 30 heal", false),
        ("5 release A; 10 partition n1,n2,B | n3,n4,n5,C; 10.5 acquire B; 30 heal", false),
    ] {
        let run = lab("minority", own, text);
        assert!(count_of(&run, "accepted") > 0, "{text}");
        assert_eq!(count_of(&run, "committed"), 0, "{text}");
        assert_eq!(count_of(&run, "dropped"), count_of(&run, "accepted"), "{text}");
        let cut = times_of(&run, "partitioned", None)[0];
        let down = seconds_of(&run, "stepped-down");
        // It last heard a majority within one heartbeat before the cut, and looks with every heartbeat.
        assert!(down > cut + N2_TIMEOUT - HEARTBEAT - 0.01 && down < cut + N2_TIMEOUT + HEARTBEAT, "{text}: {down}");
        let elected = run.events.iter().find_map(|event| match event.kind {
            Kind::LeaderElected { node, term, .. } => Some((event.t.as_seconds(), node, term)),
            _ => None,
        });
        let (at, node, term) = elected.expect("the large side elects");
        assert!((3..=5).contains(&node.0) && term > 1 && at < 30.0, "{text}: {node} in term {term} at {at}");
        let by_n1 = |event: &&Event| {
            event.machine == NodeId(1).into() && event.t.as_seconds() > cut && event.t.as_seconds() < 30.0
        };
        let decides = run.events.iter().filter(by_n1).filter(|event| {
            matches!(event.kind, Kind::LeaseGranted { .. } | Kind::LockReleased { .. } | Kind::LeaseExpired { .. })
        });
        assert_eq!(decides.count(), 0, "{text}");
        assert_eq!(verdict(&run, Invariant::OneActingHolder), "holds", "{text}");
    }
}

/// Not by formula here: so many nodes die, and somebody does or does not get the lock.
#[test]
fn three_five_and_seven_nodes_tolerate_one_two_and_three() {
    for nodes in [3_u8, 5, 7] {
        let tolerates = (nodes - 1) / 2;
        let run = lab("minority", true, &format!("0 set nodes {nodes}"));
        assert_eq!(count_of(&run, "tolerates"), u64::from(tolerates));
        for dead in 0..=nodes {
            let crashes: String = (1..=dead).map(|node| format!("; 1 crash n{node}")).collect();
            let run = lab("minority", false, &format!("0 set nodes {nodes}; 0.9 release A{crashes}"));
            let granted = !times_of(&run, "lease-granted", Some(WorkerId::C)).is_empty();
            assert_eq!(granted, dead <= tolerates, "{dead} of {nodes} are dead");
        }
    }
}

#[test]
fn a_restore_repeats_a_token_and_a_bump_does_not() {
    let run = lab("restore", true, "");
    assert_eq!(count_of(&run, "next"), 14 + 1);
    assert_eq!(text_of(&run, "repeats"), "C’s");
    assert_eq!(verdict(&run, Invariant::TokensGrow), "broken");
    assert_eq!(verdict(&run, Invariant::ChargedOnce), "broken", "equal tokens cannot be told apart");

    let bumped = lab("restore", false, "4 pause A 15; 21 crash B; 45 restore 14 bump 1000000; 45.05 acquire D");
    assert_eq!(count_of(&bumped, "next"), 14 + 1_000_000 + 1);
    assert_eq!(verdict(&bumped, Invariant::TokensGrow), "holds");
    assert_eq!(verdict(&bumped, Invariant::ChargedOnce), "holds");
}

/// The shortest known way to break it: two workers and one restore.
#[test]
fn tokens_do_not_grow_over_a_restore() {
    let run = plain_with("1 restore 6; 1 acquire D");
    assert_eq!(verdict(&run, Invariant::TokensGrow), "broken");
    assert_eq!(verdict(&plain_with("1 restore 6 bump 1; 1 acquire D"), Invariant::TokensGrow), "holds");
    // A restored lease starts again at full length.
    let run = plain_with("5 isolate A; 8 restore 7");
    let expired = times_of(&run, "lease-expired", Some(WorkerId::A))[0];
    assert!((expired - (8.0 + T + COMMIT)).abs() < 1e-6, "{expired}");
}

#[test]
fn watchers_are_told_that_their_history_is_gone() {
    // C waits behind B when the service forgets both.
    let told = |text: &str| {
        let run = lab("election", false, &format!("4 crash A; {text}"));
        run.events.iter().filter(|event| matches!(event.kind, Kind::WatchLost { history_gone: true, .. })).count()
    };
    assert_eq!(told("15 restore 11 bump 1000"), 1);
    assert_eq!(told("15 restore 11"), 0, "without a jump nothing tells the histories apart");
}

#[test]
fn the_way_to_the_disk_takes_two_syncs_and_the_keep_alive_none() {
    for fsync in [3, 30, 300] {
        let run = lab("layers", true, &format!("0 set fsync {fsync}"));
        // To the leader and back, to a follower and back; the leader’s own disk works meanwhile.
        exactly(&run, "acquire", 2.0 * (4.0 * WIRE + f64::from(fsync) / 1_000.0));
        exactly(&run, "keep-alive", 2.0 * WIRE);
        exactly(&run, "write", 2.0 * 0.05);
        assert_eq!(text_of(&run, "lost"), "it is not", "{fsync} ms");
        let late = (f64::from(fsync) / 1_000.0 - 0.1).max(0.0);
        assert!(seconds_of(&run, "silence") >= 0.1 + late - 0.015, "{fsync} ms: heartbeats wait for the disk");
    }
    // One of three disks is not waited for; two are.
    exactly(&lab("layers", true, "0 crash n3"), "acquire", 2.0 * (4.0 * WIRE + FSYNC));
    assert_eq!(text_of(&lab("layers", true, "0 crash n2; 0 crash n3"), "acquire"), "it does not come to it");
    // Slower than the shortest election timeout, 1 s.
    let lost = seconds_of(&lab("layers", true, "0 set fsync 1200"), "lost");
    assert!((1.2..1.3).contains(&lost), "{lost}");
}

#[test]
fn a_sidecar_renews_for_a_frozen_and_for_a_dead_worker() {
    let run = lab("sidecar", true, "");
    // Renewals at 6, 9, 12, 15 and 18 while A is frozen from 4 to 19.
    assert_eq!(count_of(&run, "renewed"), 5);
    assert!(times_of(&run, "lease-expired", Some(WorkerId::A)).is_empty());
    exactly(&run, "idle", 15.05);

    let by_itself = lab("sidecar", true, "0 set renewer app");
    assert_eq!(count_of(&by_itself, "renewed"), 0);
    assert_near(&times_of(&by_itself, "lease-granted", Some(WorkerId::B)), &[13.5], "B takes over");

    let dead = lab("sidecar", false, "4 crash A");
    assert!(times_of(&dead, "lease-granted", Some(WorkerId::B)).is_empty(), "the lease of a dead worker lives on");
    assert_eq!(verdict(&dead, Invariant::JobFinishes), "broken");

    // A virtual machine freezes with every process on it.
    let vm = lab("sidecar", false, "4 pause A 15 vm");
    assert_near(&times_of(&vm, "lease-granted", Some(WorkerId::B)), &[13.5], "B takes over");

    for (text, twice) in [("5 crash sidecar-A", 0), ("5 crash sidecar-A; 0 fence off", 5_000)] {
        assert_eq!(count_of(&lab("sidecar", true, text), "charged-twice"), twice, "{text}");
    }
}

/// The labs whose lock service works by other rules, each with a choice of settings.
fn any_lab() -> BoxedStrategy<(&'static str, &'static str)> {
    select(vec![
        ("failover", "0 set checkpoint 1"),
        ("failover", "0 set checkpoint 2"),
        ("minority", "0 set nodes 5"),
        ("minority", "0 set nodes 7"),
        ("election", "0 set watch predecessor"),
        ("election", "0 set watch leader"),
        ("election-systems", "0 set lock-delay 4"),
        ("sidecar", "0 set renewer sidecar"),
        ("layers", "0 set fsync 3"),
        ("layers", "0 set fsync 200"),
        ("layers", "0 set fsync 700"),
    ])
    .boxed()
}

/// A run of a lab under faults and settings; its own faults are left out.
fn simulate(
    (id, setting): (&str, &str),
    case: &Case,
    mut watcher: impl FnMut(&World, &[Event]) -> TestResult,
) -> TestResult {
    let scenario = find(id).unwrap_or_else(|| panic!("there is no lab {id}"));
    let mut list = parse_list(setting).unwrap_or_else(|mistake| panic!("{mistake}"));
    list.extend(case.interventions.iter().cloned());
    let (plan, list) = accept(scenario, list).unwrap_or_else(|mistake| panic!("{mistake}"));
    let horizon = plan.horizon;
    let mut simulation = Simulation::new(Arc::new(plan), list.into(), case.seed);
    let mut events = Vec::new();
    while simulation.next_time().is_some_and(|next| next <= horizon) {
        events.clear();
        simulation.step(&mut events);
        watcher(simulation.world(), &events)?;
    }
    Ok(())
}

fn run_of((id, setting): (&str, &str), case: &Case) -> Run {
    let scenario = find(id).unwrap_or_else(|| panic!("there is no lab {id}"));
    let mut list = parse_list(setting).unwrap_or_else(|mistake| panic!("{mistake}"));
    list.extend(case.interventions.iter().cloned());
    Run::new(scenario, Input { interventions: Some(list), seed: case.seed, until: None })
        .unwrap_or_else(|mistake| panic!("{id}: {mistake}"))
}

proptest! {
    #![proptest_config(cases_count(600))]

    #[test]
    fn raft_keeps_its_promises_in_every_lab(lab in any_lab(), case in any_cases()) {
        let mut rules = RaftRules::default();
        simulate(lab, &case, |world, _| {
            let nodes: Vec<(NodeId, &Node)> = world.nodes().collect();
            rules.check(&nodes).map_err(TestCaseError::fail)
        })?;
    }

    #[test]
    fn tokens_grow_and_only_owners_release_in_every_lab(lab in any_lab(), case in any_cases()) {
        let run = run_of(lab, &case);
        prop_assert_eq!(verdict(&run, Invariant::TokensGrow), "holds", "{:?}", lab);
        prop_assert_eq!(verdict(&run, Invariant::OnlyOwnerReleases), "holds", "{:?}", lab);
    }

    /// Checkpoints, lock-delay, elections and sidecars leave this to stop times, as ever.
    #[test]
    fn with_true_clocks_one_worker_may_act_in_every_lab(lab in any_lab(), case in true_clock_cases()) {
        prop_assert_eq!(verdict(&run_of(lab, &case), Invariant::OneActingHolder), "holds", "{:?}", lab);
    }

    /// With a bump above all that was given out, no restore makes a token come twice.
    #[test]
    fn with_a_bump_tokens_grow_over_any_restore(case in any_cases(), restores in restores(Some(1_000_000))) {
        let mut case = case;
        case.interventions.extend(restores);
        prop_assert_eq!(verdict(&case.run(), Invariant::TokensGrow), "holds");
    }

    /// A restored service is a working one: every run comes to an end, and what it does next can be told.
    #[test]
    fn a_restore_at_any_time_leaves_a_service_that_works(case in faulty_cases(), restores in restores(None)) {
        let mut case = case;
        case.interventions.extend(restores);
        let run = case.run();
        prop_assert!(run.events.is_sorted_by_key(|event| event.t));
        prop_assert_eq!(verdict(&run, Invariant::OnlyOwnerReleases), "holds");
    }
}

/// Up to two restores of any revision.
fn restores(bump: Option<u64>) -> BoxedStrategy<Vec<Intervention>> {
    let restore = (any_time(), 0..20_u64)
        .prop_map(move |(at, revision)| Intervention { at, change: Change::Restore { revision, bump } });
    proptest::collection::vec(restore, 1..=2).boxed()
}
