//! The orphan and the sweeper, lock and lease side by side, and the small models: their numbers by formula, and what
//! no fault may break.

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::cases_count;
use lease_lab_scenarios::Run;
use lease_lab_scenarios::measures::Value;
use lease_lab_scenarios::run::Input;
use lease_lab_sim::event::Kind;
use lease_lab_sim::intervention::parse_list;
use lease_lab_sim::invariants::{Invariant, Verdict};
use lease_lab_sim::machine::WorkerId;
use proptest::prelude::*;
use proptest::sample::select;

/// A lab with its own interventions, or without, under those of `list`.
#[track_caller]
fn run(id: &str, own: bool, list: &str) -> Run {
    let scenario = lease_lab_scenarios::find(id).expect("it is a lab");
    let mut interventions = if own { scenario.own_interventions() } else { Vec::new() };
    interventions.extend(parse_list(list).unwrap_or_else(|mistake| panic!("{mistake}")));
    Run::new(scenario, Input { interventions: Some(interventions), ..Input::default() })
        .unwrap_or_else(|mistake| panic!("{mistake}"))
}

fn measure(run: &Run, id: &str) -> Option<Value> {
    run.measures().into_iter().find(|measure| measure.id == id).expect("the measure exists").value
}

#[track_caller]
fn number(run: &Run, id: &str) -> f64 {
    match measure(run, id) {
        Some(Value::Count(count)) => count as f64,
        Some(Value::Seconds(span)) => span.as_micros() as f64 / 1e6,
        other => panic!("{id}: {other:?}"),
    }
}

#[track_caller]
fn assert_near(value: f64, expected: f64, what: &str) {
    assert!((value - expected).abs() <= 0.05, "{what} is {value}, expected {expected}");
}

fn holds(run: &Run, invariant: Invariant) -> bool {
    run.verdict(invariant, run.horizon) == Verdict::Holds
}

/// The story's: A and B hold for 10 s from each renewal, B renewed at 19.5 and died at 21.0.
const EXPIRED: f64 = 19.5 + 10.0;
const DIED: f64 = 21.0;

#[test]
fn the_orphan_waits_for_two_sweeps_five_seconds_apart() {
    for every in [2.0, 4.0, 10.0, 15.0] {
        let run = run("orphan", true, &format!("0 set every {every}"));
        let first = (EXPIRED / every).ceil() * every;
        let second = ((first + 5.0) / every).ceil() * every;
        assert_near(number(&run, "lock-held-by-dead"), EXPIRED - DIED, "with the dead");
        assert_near(number(&run, "between-sightings"), second - first, "between the sightings");
        assert_near(number(&run, "orphaned"), second - EXPIRED, "claimed by nobody");
        assert!(holds(&run, Invariant::ChargedOnce) && holds(&run, Invariant::JobFinishes), "every {every}");
    }
}

#[test]
fn one_sighting_is_quicker_and_nobody_is_charged_twice() {
    let run = run("orphan", true, "0 set sightings 1");
    assert_near(number(&run, "orphaned"), 30.0 - EXPIRED, "claimed by nobody");
    assert!(holds(&run, Invariant::ChargedOnce));
}

#[test]
fn without_a_sweeper_only_a_worker_that_waits_for_this_lock_helps() {
    assert_eq!(measure(&run("orphan", true, "0 sweeper off"), "idle"), None);
    let run = run("orphan", true, "0 sweeper off; 25 acquire D");
    // D asks every half second from 25.0 on, and raises 0.1 s after its grant.
    let takes = (EXPIRED / 0.5).ceil() * 0.5 + if EXPIRED % 0.5 == 0.0 { 0.5 } else { 0.0 } + 0.1;
    assert_near(number(&run, "idle"), takes - DIED, "without anybody");
}

#[test]
fn a_wrong_sweep_costs_work_and_never_data() {
    let (two, one) = (run("sweeper", true, ""), run("sweeper", true, "0 set sightings 1"));
    assert_eq!((number(&two, "needless"), number(&one, "needless")), (0.0, 1.0));
    assert_eq!((number(&two, "work-lost"), number(&one, "work-kept")), (0.0, 0.0));
    // The same half-done chunk is kept in one run and lost in the other.
    assert_eq!(number(&two, "work-kept"), number(&one, "work-lost"));
    assert!(number(&one, "work-lost") > 0.0);
    assert!(number(&one, "done") > number(&two, "done"));
    for run in [&two, &one] {
        assert_eq!(number(run, "charged-twice"), 0.0);
        assert!(holds(run, Invariant::JobFinishes) && holds(run, Invariant::NoStaleWrite));
    }
}

#[test]
fn a_requeue_that_is_held_up_meets_a_changed_row() {
    let run = run("sweeper", true, "0 set sightings 1; 20.003 delay sweeper store 5");
    assert_eq!((number(&run, "needless"), number(&run, "refused"), number(&run, "work-lost")), (0.0, 1.0, 0.0));
}

/// With a true death one sighting saves exactly one interval between sweeps.
#[test]
fn two_sightings_cost_a_dead_holders_job_one_sweep() {
    let two = run("sweeper", true, "12 crash A");
    let one = run("sweeper", true, "12 crash A; 0 set sightings 1");
    assert_near(number(&two, "done") - number(&one, "done"), 10.0, "the second sighting");
}

/// Which lock, which fault: how long B waits from 10.5 on, and who is charged twice.
#[test]
fn a_lock_a_timeout_a_lease_and_a_fence() {
    const PAUSE: &str = "4 pause A 15";
    const CRASH: &str = "4 crash A";
    // A's only renewal was at 3.0, and B asks every half second.
    let lease = 3.0 + 10.0 + 0.5;
    // A goes on when it wakes: its chunk at 19.05, the answer at 19.1, and B’s next attempt.
    let timeout = 19.5;
    // A has written chunk 2 at 19.05; each of the other eight takes 1.65 s, and DONE and the release follow.
    let finished = 19.05 + 8.0 * 1.65 + 0.05 + 0.1;
    let plain = (finished / 0.5_f64).ceil() * 0.5;
    for (lock, fault, waits_until, twice) in [
        ("plain", PAUSE, Some(plain), 0.0),
        ("plain", CRASH, None, 0.0),
        ("client-timeout", PAUSE, Some(timeout), 0.0),
        ("client-timeout", CRASH, None, 0.0),
        ("lease", PAUSE, Some(lease), 5_000.0),
        ("lease", CRASH, Some(lease), 0.0),
        ("lease-and-fence", PAUSE, Some(lease), 0.0),
        ("lease-and-fence", CRASH, Some(lease), 0.0),
    ] {
        let run = run("lock-lease-fence", false, &format!("0 set lock {lock}; {fault}"));
        let what = format!("{lock}, {fault}");
        match waits_until {
            Some(until) => assert_near(number(&run, "waits"), until - 10.5, &what),
            None => assert_eq!(measure(&run, "waits"), Some(Value::Text("for ever".into())), "{what}"),
        }
        assert_eq!(number(&run, "charged-twice"), twice, "{what}");
        assert_eq!(number(&run, "refused"), f64::from(lock == "lease-and-fence" && fault == PAUSE), "{what}");
        assert_eq!(holds(&run, Invariant::JobFinishes), waits_until.is_some(), "{what}");
        // Without an end at the service, B gets the lock only from A's own hands.
        if !lock.starts_with("lease") {
            assert!(holds(&run, Invariant::OneActingHolder) && holds(&run, Invariant::ChargedOnce), "{what}");
        }
    }
}

#[test]
fn a_quota_comes_back_at_its_deadline_and_a_late_holder_exceeds_it_for_a_moment() {
    let frozen = run("not-this-lease", true, "");
    // A asked at 0 and 3, for 10 s.
    assert_near(number(&frozen, "back"), 3.0 + 10.0 - 4.5, "until it is free");
    assert_eq!(number(&frozen, "granted"), 100.0);
    // Its unfinished 40, and what the two others have then: 40 each.
    assert_eq!(number(&frozen, "used"), 40.0 + 2.0 * 40.0);
    let dead = run("not-this-lease", false, "4.5 crash A");
    assert_near(number(&dead, "back"), 3.0 + 10.0 - 4.5, "until it is free");
    assert_eq!(number(&dead, "used"), 100.0);
}

#[test]
fn a_crash_wastes_the_rest_of_a_block_and_repeats_nothing() {
    let block = 20.0;
    for list in ["", "4.5 pause A 15", "4.5 crash A; 20 restart A", "1 duplicate A allocator"] {
        let run = run("not-this-lease", false, &format!("0 set kind id-block; {list}"));
        assert_eq!(number(&run, "twice"), 0.0, "{list}");
        assert_eq!(number(&run, "handed-out") % block, 0.0, "{list}");
        let reserved = common::times_of(&run, "ids-reserved", Some(WorkerId::A));
        let used = common::times_of(&run, "id-used", Some(WorkerId::A)).len() as f64;
        let wasted = reserved.len() as f64 * block - used;
        match list {
            // The first process had used one number every 0.4 s for 4.5 s.
            _ if list.contains("crash") => assert!(wasted >= block - (4.5_f64 / 0.4).floor(), "{wasted}"),
            _ if list.contains("duplicate") => assert!(wasted >= block, "{wasted}"),
            _ => assert!(wasted < block, "{list}: {wasted}"),
        }
    }
}

#[test]
fn two_locks_in_two_orders_wait_for_each_other_while_both_are_healthy() {
    let any = run("how-much", true, "");
    assert_eq!(measure(&any, "cycle"), Some(Value::Text("A waits for B, and B for A".into())));
    assert_eq!(number(&any, "done"), 0.0);
    // Each keeps one lock alive from its start on, every 3 s, and no lease ever expires.
    assert_near(number(&any, "keep-alives"), 2.0 * (60.0_f64 / 3.0 - 1.0).floor(), "renewals");
    assert!(any.events.iter().all(|event| !matches!(event.kind, Kind::LeaseExpired { .. })));

    let global = run("how-much", true, "0 set order global");
    assert_eq!(measure(&global, "cycle"), Some(Value::Text("none".into())));
    assert_eq!(number(&global, "done"), 2.0);
}

#[test]
fn a_death_ends_the_cycle_when_its_lease_is_over() {
    let run = run("how-much", true, "20 crash A");
    let expired = common::times_of(&run, "lease-expired", Some(WorkerId::A));
    assert_eq!(expired.len(), 1);
    // A's last renewal before 20: it began when it had the lock and comes every 3 s.
    assert!((18.0 + 10.0..=18.2 + 10.0).contains(&expired[0]), "{expired:?}");
    let got = common::times_of(&run, "lock-acquired", Some(WorkerId::B));
    assert!(got[1] > expired[0] && got[1] <= expired[0] + 0.55, "{got:?}");
    assert_eq!(number(&run, "done"), 1.0);
}

/// A writes an entry every half second, also at 0; B reads at 10.0 and replays for 3 s.
#[test]
fn the_journal_fences_before_it_replays() {
    let first = run("fences-elsewhere", true, "");
    assert_eq!(number(&first, "by-a"), 9.0 / 0.5);
    assert_eq!((number(&first, "lost"), number(&first, "refused")), (0.0, 3.0));
    assert_near(number(&first, "halted"), 11.0, "A halts when it wakes");
    assert_near(number(&first, "gap"), 10.0 + 3.0 - 8.5, "from A's last entry to B's first");

    let late = run("fences-elsewhere", true, "0 set fence late");
    // What A writes between waking and B's fence, both ends included.
    assert_eq!(number(&late, "lost"), (13.0 - 11.0) / 0.5 + 1.0);
    let off = run("fences-elsewhere", true, "0 fence off");
    assert!(number(&off, "lost") > number(&late, "lost"));
    assert_eq!(number(&off, "refused"), 0.0);
}

#[test]
fn a_journal_goes_on_with_two_nodes_and_stops_with_one() {
    assert_eq!(number(&run("fences-elsewhere", true, "5 crash n3"), "by-a"), 18.0);
    let alone = run("fences-elsewhere", true, "5 crash n2; 5 crash n3");
    assert_eq!((number(&alone, "by-a"), number(&alone, "by-b")), (5.0 / 0.5, 0.0));
    // Whoever is cut off from two nodes is not told, and counts nothing any more.
    let cut = run("fences-elsewhere", false, "9 partition A,n1 | B,n2,n3");
    assert_eq!((number(&cut, "by-a"), number(&cut, "refused"), number(&cut, "lost")), (18.0, 0.0, 0.0));
    assert!(number(&cut, "by-b") > 0.0);
}

/// Faults of these machines, at any time.
fn faults(machines: &'static [&'static str], max: usize) -> impl Strategy<Value = String> {
    let machine = select(machines);
    let path = (select(machines), select(machines)).prop_filter("a path has two ends", |(from, to)| from != to);
    let fault = prop_oneof![
        4 => (machine.clone(), 1..=200_u32).prop_map(|(machine, tenths)| format!("pause {machine} {}", f64::from(tenths) / 10.0)),
        2 => machine.clone().prop_map(|machine| format!("crash {machine}")),
        3 => machine.clone().prop_map(|machine| format!("restart {machine}")),
        2 => machine.prop_map(|machine| format!("isolate {machine}")),
        3 => Just("heal".to_owned()),
        2 => path.clone().prop_map(|(from, to)| format!("drop {from} {to}")),
        2 => path.clone().prop_map(|(from, to)| format!("duplicate {from} {to}")),
        3 => (path, 1..=80_u32).prop_map(|((from, to), tenths)| format!("delay {from} {to} {}", f64::from(tenths) / 10.0)),
    ];
    let at = prop_oneof![(0..=300_u32), (85..=140_u32)];
    proptest::collection::vec((at, fault), 0..=max).prop_map(|list| {
        list.iter().map(|(at, fault)| format!("{} {fault}", f64::from(*at) / 10.0)).collect::<Vec<_>>().join("; ")
    })
}

proptest! {
    #![proptest_config(cases_count(300))]

    /// A careful spare never replaces an entry that has counted, whatever happens to whom.
    #[test]
    fn what_has_counted_stays(list in faults(&["A", "B", "n1", "n2", "n3"], 14)) {
        let run = run("fences-elsewhere", false, &list);
        let mut places: BTreeMap<u32, &String> = BTreeMap::new();
        for event in &run.events {
            if let Kind::EntryCounted { place, entry, .. } = &event.kind {
                let before = places.insert(*place, entry);
                prop_assert!(before.is_none_or(|before| before == entry), "place {}: {:?}, then {}", place, before, entry);
            }
        }
    }
}

proptest! {
    #![proptest_config(cases_count(150))]

    #[test]
    fn no_more_is_granted_than_there_is(list in faults(&["A", "B", "C", "allocator"], 12)) {
        let run = run("not-this-lease", false, &list);
        for event in &run.events {
            if let Kind::QuotaGranted { in_all, .. } = event.kind {
                prop_assert!(in_all <= 100, "{} at {}", in_all, event.t);
            }
        }
    }

    #[test]
    fn no_number_is_used_twice(list in faults(&["A", "B", "C", "allocator"], 12)) {
        let run = run("not-this-lease", false, &format!("0 set kind id-block; {list}"));
        let mut used = BTreeSet::new();
        for event in &run.events {
            if let Kind::IdUsed { id, .. } = event.kind {
                prop_assert!(used.insert(id), "{} is used twice", id);
            }
        }
    }

    /// However the two are held up, one order for all lets both through, as long as nobody dies and nothing stays cut.
    #[test]
    fn one_order_has_no_cycle(a in 0..=50_u32, b in 0..=50_u32, at in 0..=80_u32, lasts in 1..=60_u32) {
        let tenths = |n: u32| f64::from(n) / 10.0;
        let list = format!(
            "0 set order global; 0 pause A {}; 0 pause B {}; {} pause A {}",
            tenths(a + 1), tenths(b + 1), tenths(at), tenths(lasts)
        );
        let run = run("how-much", false, &list);
        prop_assert_eq!(measure(&run, "cycle"), Some(Value::Text("none".into())));
        // One that was frozen past its stop time lets go; the other gets through in any case.
        prop_assert!(number(&run, "done") >= 1.0);
        prop_assert!(holds(&run, Invariant::TokensGrow) && holds(&run, Invariant::OnlyOwnerReleases));
    }

    /// The rules of the sweeper change who works when, never what is charged.
    #[test]
    fn no_sweep_costs_data(
        sightings in 1..=2_u32,
        apart in 0..=10_u32,
        every in 1..=12_u32,
        list in faults(&["A", "C", "store", "sweeper", "n1"], 8),
    ) {
        // A second copy of a chunk with the current token is another matter.
        prop_assume!(!list.contains("duplicate") && !list.contains("delay"));
        let rules = format!("0 set sightings {sightings}; 0 set apart {apart}; 0 set every {every}");
        let run = run("sweeper", true, &format!("{rules}; {list}"));
        prop_assert!(holds(&run, Invariant::ChargedOnce) && holds(&run, Invariant::NoStaleWrite));
    }
}
