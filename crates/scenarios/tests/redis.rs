//! Locks on Redis: the numbers of the five labs, each worked out here from its formula, and what no run may break.

mod common;

use std::collections::BTreeMap;

use common::*;
use lease_lab_scenarios::Run;
use lease_lab_scenarios::measures::Value;
use lease_lab_scenarios::run::Input;
use lease_lab_scenarios::snapshot::Snapshot;
use lease_lab_sim::event::{Event, Kind};
use lease_lab_sim::intervention::{Change, Intervention, ServiceKind, Target, parse_list};
use lease_lab_sim::invariants::Invariant;
use lease_lab_sim::machine::{MachineId, WorkerId};
use lease_lab_sim::message::LeaseId;
use lease_lab_sim::time::{Span, TrueTime};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// The lock's length and the margin of every run here, in seconds.
const LEASE: f64 = 10.0;
const MARGIN: f64 = 2.0;
/// One way between a client and a server.
const WIRE: f64 = 0.001;
/// One way between a worker and the store.
const STORE: f64 = 0.05;
/// From the grant to the raise.
const SETUP: f64 = 0.034;

fn lab(id: &str, list: Option<&str>) -> Run {
    let scenario = lease_lab_scenarios::find(id).expect("the lab exists");
    let interventions = list.map(|list| parse_list(list).unwrap_or_else(|mistake| panic!("{mistake}")));
    Run::new(scenario, Input { interventions, ..Input::default() }).unwrap_or_else(|mistake| panic!("{mistake}"))
}

/// The lab's own faults and one of its variants more.
fn lab_and(id: &str, more: &str) -> Run {
    let scenario = lease_lab_scenarios::find(id).expect("the lab exists");
    lab(id, Some(&format!("{}; {more}", scenario.faults)))
}

fn seconds_of(run: &Run, id: &str) -> Option<f64> {
    run.measures().into_iter().find(|measure| measure.id == id)?.value.map(|value| match value {
        Value::Seconds(span) => span.as_micros() as f64 / 1e6,
        other => panic!("{id} is {other:?}"),
    })
}

fn count_of(run: &Run, id: &str) -> Option<u64> {
    run.measures().into_iter().find(|measure| measure.id == id)?.value.map(|value| match value {
        Value::Count(count) => count,
        other => panic!("{id} is {other:?}"),
    })
}

fn text_of(run: &Run, id: &str) -> Option<String> {
    run.measures().into_iter().find(|measure| measure.id == id)?.value.map(|value| value.told())
}

#[track_caller]
fn assert_exact(actual: Option<f64>, expected: f64, what: &str) {
    let actual = actual.unwrap_or_else(|| panic!("{what}: nothing"));
    assert!((actual - expected).abs() < 1e-6, "{what}: {actual}, expected {expected}");
}

fn first<'a>(run: &'a Run, kind: &str, worker: WorkerId) -> &'a Event {
    events_of_kind(run, kind).find(|event| event.kind.worker() == Some(worker)).unwrap_or_else(|| panic!("no {kind}"))
}

fn events_of_kind<'a>(run: &'a Run, kind: &str) -> impl Iterator<Item = &'a Event> {
    run.events.iter().filter(move |event| event.kind.name() == kind)
}

// One primary and a replica.

#[test]
fn a_failover_inside_the_lag_repeats_the_number() {
    let run = lab("cache-failover", None);
    let (granted, crashed, counter_before, promotion_after) = (40.2, 40.25, 14, 2.0);
    // The lag is longer than what the primary had left to live.
    let lag = 0.1;
    assert!(granted + lag > crashed);
    let grant = first(&run, "lease-granted", WorkerId::C);
    assert_exact(Some(grant.t.as_seconds()), granted, "C’s key is set");
    assert_eq!(count_of(&run, "token-c"), Some(counter_before + 1));
    // Neither the SET nor the INCR was shipped.
    assert_eq!(count_of(&run, "counter"), Some(counter_before));
    assert_eq!(count_of(&run, "token-d"), Some(counter_before + 1));
    assert_exact(seconds_of(&run, "promotion"), promotion_after, "promotion");

    // D asks every half second from 40.5 on, the dead primary first: 42.5 is the first time after the promotion.
    let d_acquires = 42.5 + 0.04 + 2.0 * WIRE;
    assert_exact(Some(first(&run, "lock-acquired", WorkerId::D).t.as_seconds()), d_acquires, "D acquires");
    // C renews three seconds after it asked, waits for the dead primary, and hears from the new one that it has nothing.
    let c_lets_go = (granted - WIRE) + 3.0 + 0.04 + 2.0 * WIRE;
    assert_exact(seconds_of(&run, "both-act"), c_lets_go - d_acquires, "both may act");

    assert_exact(broken_at(&run, Invariant::TokensGrow), d_acquires - WIRE, "the number is repeated");
    assert_exact(broken_at(&run, Invariant::OneActingHolder), d_acquires, "two may act");
}

#[test]
fn equal_numbers_tell_the_store_nothing() {
    let run = lab("cache-failover", None);
    let raises: Vec<(WorkerId, u64)> = run
        .events
        .iter()
        .filter_map(|event| match event.kind {
            Kind::FenceRaised { worker, token, .. } => Some((worker, token)),
            _ => None,
        })
        .collect();
    assert_eq!(raises, [(WorkerId::C, 15), (WorkerId::D, 15)]);
    let d_raised = first(&run, "fence-raised", WorkerId::D).t;
    let late = run.events.iter().any(|event| {
        event.t > d_raised && matches!(event.kind, Kind::ChunkWritten { worker: WorkerId::C, token: 15, chunk: 2, .. })
    });
    assert!(late, "C’s chunk 2 is accepted after D’s raise");
    assert_eq!(events_of_kind(&run, "write-refused").count(), 0);
    assert_eq!(count_of(&run, "charged-twice"), Some(5_000));
    // Equal is not lower: the observer of stale writes sees nothing, either.
    assert_eq!(verdict(&run, Invariant::NoStaleWrite), "holds");
}

#[test]
fn what_the_replica_has_survives() {
    let run = lab("cache-failover", Some("40.35 crash primary"));
    assert_eq!(count_of(&run, "token-c"), Some(15));
    assert_eq!(count_of(&run, "counter"), Some(15));
    assert_eq!(verdict(&run, Invariant::OneActingHolder), "holds");
    assert_eq!(verdict(&run, Invariant::JobFinishes), "holds");
    // A shorter lag does the same for the lab's own crash.
    assert_eq!(verdict(&lab_and("cache-failover", "0 set lag 0.04"), Invariant::TokensGrow), "holds");
}

#[test]
fn wait_narrows_the_gap_and_does_not_close_it() {
    let run = lab_and("cache-failover", "0 set wait 1; 44 restart primary");
    // C never takes itself for the holder of what was lost.
    assert!(first(&run, "lock-acquired", WorkerId::C).t > first(&run, "lock-acquired", WorkerId::D).t);
    assert_eq!(verdict(&run, Invariant::OneActingHolder), "holds");
    assert_eq!(count_of(&run, "charged-twice"), Some(0));
    // Without a replica that could acknowledge, nobody gets the lock at all.
    let alone = lab_and("cache-failover", "0 set wait 1");
    assert_eq!(events_of_kind(&alone, "lock-acquired").count(), 0);

    let renewal_lost =
        lab("cache-failover", Some("0 set wait 1; 43.25 crash primary; 43.3 pause C 7.3; 45 restart primary"));
    assert_eq!(verdict(&renewal_lost, Invariant::OneActingHolder), "broken");
    assert_eq!(text_of(&renewal_lost, "store-tells").as_deref(), Some("refuses it"));
}

#[test]
fn an_unconditional_release_frees_somebody_elses_lock() {
    let run = lab_and("cache-failover", "0 set release unconditional; 42.8 release C");
    assert_eq!(verdict(&run, Invariant::OnlyOwnerReleases), "broken");
    let compared = lab_and("cache-failover", "42.8 release C");
    assert_eq!(verdict(&compared, Invariant::OnlyOwnerReleases), "holds");
}

#[test]
fn an_old_primary_becomes_the_replica_and_loses_what_only_it_had() {
    let run = lab("cache-failover", Some("40.25 pause primary 5"));
    let copied = events_of_kind(&run, "fully-copied").next().expect("it takes a full copy");
    let Kind::FullyCopied { leases, lost, counter } = &copied.kind else { panic!("another kind") };
    assert_eq!((copied.machine, *counter), (MachineId::Primary, 15));
    assert_eq!(leases.iter().map(|lease| lease.worker).collect::<Vec<_>>(), [WorkerId::D]);
    assert_eq!(lost.iter().map(|lease| lease.worker).collect::<Vec<_>>(), [WorkerId::C]);
    let end = Snapshot::take(run.end(), run.horizon, None);
    assert_eq!(end.service.leader, Some(MachineId::Replica));
    assert_eq!(end.service.servers[&MachineId::Primary].role, "replica");
}

// Redlock.

#[test]
fn a_round_counts_what_answered_in_time() {
    let run = lab("redlock", None);
    let (masters, node_timeout) = (5, 0.05);
    let drift = LEASE * 0.01 + 0.002;
    // r4 answers after 22 ms, r5 never.
    assert_eq!(count_of(&run, "agreed"), Some(masters - 1));
    assert_exact(seconds_of(&run, "elapsed"), node_timeout, "elapsed");
    assert_exact(seconds_of(&run, "drift"), drift, "drift");
    assert_exact(seconds_of(&run, "validity"), LEASE - node_timeout - drift, "validity");
    assert_exact(seconds_of(&run, "stop-time"), 0.1 + LEASE - drift - MARGIN, "stop time");
    assert_eq!(count_of(&run, "agreed-b"), Some(1));
    // B's key on r5 is deleted again at once: a round trip and a message later.
    let b_set = first(&run, "key-set", WorkerId::B);
    let b_deleted = first(&run, "key-deleted", WorkerId::B);
    assert_eq!((b_set.machine, b_deleted.machine), (MachineId::Master(5), MachineId::Master(5)));
    assert_exact(Some((b_deleted.t - b_set.t).as_micros() as f64 / 1e6), 2.0 * WIRE, "B gives back");
}

#[test]
fn two_of_five_are_no_majority() {
    assert_eq!(count_of(&lab("redlock", Some("0 crash r4; 0 crash r5")), "agreed"), Some(3));
    let run = lab("redlock", Some("0 crash r3; 0 crash r4; 0 crash r5"));
    assert_eq!(count_of(&run, "agreed"), Some(2));
    assert_eq!(events_of_kind(&run, "lock-acquired").count(), 0);
}

#[test]
fn a_failed_attempt_is_repeated_three_times() {
    let run = lab("redlock", Some("0 crash r3; 0 crash r4; 0 crash r5; 0 crash B"));
    let rounds = events_of_kind(&run, "majority-counted").filter(|event| event.kind.worker() == Some(WorkerId::A));
    let times: Vec<f64> = rounds.map(|event| event.t.as_seconds()).collect();
    // Each round takes the time-out of 50 ms, and the pause after it is at most 200 ms; the next poll is on the half
    // second.
    for pair in times[..4].windows(2) {
        assert!((0.05..=0.25).contains(&(pair[1] - pair[0])), "{times:?}");
    }
    let next_poll = 0.1 + ((times[3] - 0.1) / 0.5).ceil() * 0.5;
    assert!((times[4] - (next_poll + 0.05)).abs() < 1e-6, "{times:?}");
}

#[test]
fn a_pause_before_the_count_is_noticed_and_one_after_the_check_is_not() {
    let before = lab("redlock", Some("0.1005 pause A 12"));
    assert_exact(seconds_of(&before, "elapsed"), 12.0 + 0.0005, "elapsed");
    assert_eq!(seconds_of(&before, "validity"), None);
    assert_eq!(verdict(&before, Invariant::OneActingHolder), "holds");
    assert_eq!(count_of(&before, "charged-twice"), Some(0));
    let after = lab("redlock", Some("1.7 pause A 12"));
    assert_eq!(verdict(&after, Invariant::ActsInTime), "broken");
    assert_eq!(count_of(&after, "charged-twice"), Some(5_000));
}

#[test]
fn a_clock_that_jumps_gives_two_clients_a_majority() {
    let run = lab("redlock-clock", None);
    assert_eq!(text_of(&run, "masters-a").as_deref(), Some("r1, r2, r3"));
    assert_eq!(text_of(&run, "masters-b").as_deref(), Some("r3, r4, r5"));
    assert_eq!(text_of(&run, "shared").as_deref(), Some("r3"));
    // A renewed at 3.0, so r3's key would have lived until 13.0 on r3's clock, which says 14.0 from 4.0 on.
    let expired = first(&run, "key-expired", WorkerId::A);
    assert_eq!((expired.machine, expired.t.as_seconds()), (MachineId::Master(3), 4.0));
    let (b_acquires, a_renews_in_vain) = (4.5 + 2.0 * WIRE, 6.0 + 2.0 * WIRE);
    assert_exact(seconds_of(&run, "both-act"), a_renews_in_vain - b_acquires, "both may act");
    assert_exact(broken_at(&run, Invariant::OneActingHolder), b_acquires, "two may act");
    assert_eq!(count_of(&run, "charged-twice"), Some(5_000));
    assert_eq!(verdict(&run, Invariant::TokensGrow), "not-applicable");
    // Without tokens the observer numbers grants by itself: A's write is older than B's raise.
    let b_raised = b_acquires + SETUP + STORE;
    assert!(broken_at(&run, Invariant::NoStaleWrite).is_some_and(|at| at > b_raised));
    for safe in ["4 step-wall r3 10", "0 drop A r4; 0 drop A r5; 4 step-wall r3 -10"] {
        let run = lab("redlock-clock", Some(safe));
        assert_exact(seconds_of(&run, "both-act"), 0.0, safe);
        assert_eq!(count_of(&run, "charged-twice"), Some(0), "{safe}");
    }
    let three = lab("redlock-clock", Some("4 step-wall r3 10; 4 step-wall r4 10; 4 step-wall r5 10"));
    assert_eq!(verdict(&three, Invariant::OneActingHolder), "broken");
}

#[test]
fn a_master_that_forgets_gives_two_clients_a_majority() {
    let run = lab("redlock-restart", None);
    assert_eq!(count_of(&run, "kept"), Some(0));
    assert_eq!(text_of(&run, "shared").as_deref(), Some("r3"));
    assert_exact(seconds_of(&run, "both-act"), (6.0 + 2.0 * WIRE) - (4.5 + 2.0 * WIRE), "both may act");
    assert_eq!(count_of(&run, "charged-twice"), Some(5_000));

    let away = lab("redlock-restart", Some("0 drop A r4; 0 drop A r5; 4 crash r3; 14.2 restart r3 empty"));
    assert!(seconds_of(&away, "away").is_some_and(|away| away > LEASE));
    let synced =
        lab("redlock-restart", Some("0 set fsync always; 0 drop A r4; 0 drop A r5; 4 crash r3; 4.2 restart r3"));
    assert_eq!(count_of(&synced, "kept"), Some(1));
    for safe in [&away, &synced] {
        assert_eq!(verdict(safe, Invariant::OneActingHolder), "holds");
        assert_eq!(count_of(safe, "charged-twice"), Some(0));
    }
    let a_second =
        lab("redlock-restart", Some("0 drop A r4; 0 drop A r5; 0.4 crash r3; 0.6 restart r3; 0.7 acquire D"));
    assert_eq!(count_of(&a_second, "kept"), Some(0));
    assert_eq!(verdict(&a_second, Invariant::OneActingHolder), "broken");
}

#[test]
fn with_a_token_and_a_check_the_lock_fails_and_the_data_do_not() {
    let forgets = "0 drop A r4; 0 drop A r5; 4 crash r3; 4.2 restart r3 empty";
    for list in [None, Some(forgets)] {
        let run = lab("redlock-fenced", list);
        // Six changes of others come before the two puts.
        assert_eq!((count_of(&run, "token-a"), count_of(&run, "token-b")), (Some(6 + 1), Some(6 + 2)));
        assert_eq!(verdict(&run, Invariant::OneActingHolder), "broken");
        assert_eq!(verdict(&run, Invariant::TokensGrow), "holds");
        assert_eq!(verdict(&run, Invariant::NoStaleWrite), "holds");
        assert_eq!(text_of(&run, "refused").as_deref(), Some("A’s chunk 2"));
        assert_eq!(count_of(&run, "charged-twice"), Some(0));
    }
    for list in ["0 set token none", "0 fence off"] {
        assert_eq!(count_of(&lab_and("redlock-fenced", list), "charged-twice"), Some(5_000), "{list}");
    }
}

// The story on both services.

#[test]
fn the_story_runs_on_redis_with_numbers_that_have_gaps() {
    let run = story_with("0 service redis");
    let tokens: Vec<u64> = run
        .events
        .iter()
        .filter_map(|event| match event.kind {
            Kind::LeaseGranted { token, .. } => Some(token),
            _ => None,
        })
        .collect();
    // Six before the story; others draw at 2.0, 5.0 and 9.0, and at 35.0.
    assert_eq!(tokens, [6 + 1, 6 + 1 + 3 + 1, 6 + 1 + 3 + 1 + 1 + 1]);
    for number in [1, 4, 7, 8, 12, 13, 16, 17, 18, 20, 23, 24] {
        assert!(run.beat(number).is_some(), "beat {number}");
    }
    for invariant in [Invariant::ChargedOnce, Invariant::NoStaleWrite, Invariant::TokensGrow, Invariant::JobFinishes] {
        assert_eq!(verdict(&run, invariant), "holds", "{invariant}");
    }
}

/// A lab that is about one lock service says so; every other runs on both, and comes to whatever it comes to.
#[test]
fn every_lab_runs_on_both_services() {
    for scenario in lease_lab_scenarios::all() {
        for service in ["redis", "redlock"] {
            let mut list = scenario.own_interventions();
            list.extend(parse_list(&format!("0 service {service}")).expect("it can be read"));
            match Run::new(scenario, Input { interventions: Some(list), ..Input::default() }) {
                Ok(run) => {
                    let _ = run.measures();
                    let end = Snapshot::take(run.end(), run.horizon, None);
                    assert_eq!(end.service.kind, service, "{}", scenario.id);
                }
                Err(mistake) => assert!(!scenario.any_service_and_store, "{}: {mistake}", scenario.id),
            }
        }
    }
}

#[test]
fn the_story_on_redlock_charges_twice() {
    let run = story_with("0 service redlock");
    // A's late chunk meets a store that has nothing to compare.
    assert_eq!(verdict(&run, Invariant::ChargedOnce), "broken");
    assert_eq!(verdict(&run, Invariant::NoStaleWrite), "broken");
    assert_eq!(verdict(&run, Invariant::JobFinishes), "holds");
}

#[test]
fn leader_is_the_primary_of_the_moment_and_the_first_master() {
    let crashed = |list: &str| -> Vec<MachineId> {
        let run = plain_with(list);
        events_of_kind(&run, "crashed").map(|event| event.machine).collect()
    };
    assert_eq!(crashed("0 service redis; 5 crash leader; 9 crash leader"), [MachineId::Primary, MachineId::Replica]);
    assert_eq!(crashed("0 service redlock; 5 crash leader"), [MachineId::Master(1)]);
    // Between death and promotion nobody decides.
    assert_eq!(crashed("0 service redis; 5 crash leader; 6 crash leader"), [MachineId::Primary]);
}

// What no run may break.

/// Lists on one service, made of these changes.
fn cases_on(service: ServiceKind, change: BoxedStrategy<Change>) -> BoxedStrategy<Case> {
    let interventions = vec((any_time(), change).prop_map(|(at, change)| Intervention { at, change }), 0..=10);
    (interventions, any::<bool>(), prop_oneof![Just(0), any::<u64>()])
        .prop_map(move |(generated, with_own, seed)| {
            let mut case = Case::new(&format!("0 service {service}"), false, seed);
            if with_own {
                // Without the death of the leader, which is a fault of the service.
                case.interventions.extend(parse_list("4 pause A 15; 21 crash B").expect("it can be read"));
            }
            case.interventions.extend(generated);
            case
        })
        .boxed()
}

fn servers(service: ServiceKind) -> Vec<MachineId> {
    match service {
        ServiceKind::Redis => vec![MachineId::Primary, MachineId::Replica],
        _ => (1..=5).map(MachineId::Master).collect(),
    }
}

fn all_machines(service: ServiceKind) -> Vec<MachineId> {
    let mut machines: Vec<MachineId> = WorkerId::ALL.into_iter().map(MachineId::from).collect();
    machines.extend(servers(service));
    machines.extend([MachineId::Store, MachineId::Sweeper]);
    machines
}

/// Faults that leave every clock as true as it is, on these machines.
fn faults_of(machines: Vec<MachineId>) -> BoxedStrategy<Change> {
    let target = move || select(machines.clone()).prop_map(Target::Machine);
    prop_oneof![
        4 => (target(), 1..=15_000_i64)
            .prop_map(|(target, ms)| Change::Pause { target, lasts: Some(Span::millis(ms)), vm: false }),
        2 => target().prop_map(Change::Crash),
        2 => target().prop_map(|target| Change::Restart { target, empty: false }),
        2 => target().prop_map(Change::Isolate),
        2 => Just(Change::Heal),
        1 => any_worker().prop_map(Change::Acquire),
        1 => any_worker().prop_map(Change::Release),
    ]
    .boxed()
}

/// Messages that are lost, late or doubled between any machines.
fn messages_of(machines: Vec<MachineId>) -> BoxedStrategy<Change> {
    let path = (select(machines.clone()), select(machines))
        .prop_filter("a path has two ends", |(from, to)| from != to)
        .prop_map(|(from, to)| (Target::Machine(from), Target::Machine(to)));
    (path, 0..3_u8, 1..=20_000_i64)
        .prop_map(|((from, to), what, ms)| match what {
            0 => Change::Drop { from, to },
            1 => Change::Delay { from, to, by: Span::millis(ms) },
            _ => Change::Duplicate { from, to },
        })
        .boxed()
}

/// No failover: the two servers neither fail nor lose each other.
fn redis_without_failover() -> BoxedStrategy<Case> {
    let workers: Vec<MachineId> = WorkerId::ALL.into_iter().map(MachineId::from).collect();
    let mut clients = workers.clone();
    clients.extend([MachineId::Store, MachineId::Sweeper]);
    let mut speaking = workers;
    speaking.push(MachineId::Primary);
    let change = prop_oneof![3 => faults_of(clients), 2 => messages_of(speaking)];
    cases_on(ServiceKind::Redis, change.boxed())
}

/// Masters crash and are cut off, but what they have answered is on their disks, and no clock is wrong.
fn redlock_with_memory() -> BoxedStrategy<Case> {
    let machines = all_machines(ServiceKind::Redlock);
    let change = prop_oneof![3 => faults_of(machines.clone()), 2 => messages_of(machines)];
    cases_on(ServiceKind::Redlock, change.boxed())
        .prop_map(|mut case| {
            // A restart would lose what the last second has not brought to the disk.
            case.interventions.retain(|intervention| {
                !matches!(intervention.change, Change::Restart { target: Target::Machine(MachineId::Master(_)), .. })
            });
            case
        })
        .boxed()
}

/// One key on each server: whatever is set was free there, and whatever ends had been set.
fn one_key_on_each_server(run: &Run) -> Result<(), TestCaseError> {
    let mut held: BTreeMap<MachineId, LeaseId> = BTreeMap::new();
    for event in &run.events {
        let machine = event.machine;
        match &event.kind {
            Kind::KeySet { lease, .. } | Kind::LeaseGranted { lease, .. } => {
                let before = held.insert(machine, *lease);
                prop_assert!(before.is_none(), "{machine} sets {lease} over {before:?} at {}", event.t);
            }
            Kind::KeyExpired { lease, .. }
            | Kind::LeaseExpired { lease, .. }
            | Kind::KeyDeleted { lease, .. }
            | Kind::LockReleased { lease, .. } => {
                prop_assert_eq!(held.remove(&machine), Some(*lease), "{} at {}", machine, event.t);
            }
            Kind::KeyExtended { lease, .. } | Kind::LeaseRenewed { lease, .. } => {
                prop_assert_eq!(held.get(&machine), Some(lease), "{} at {}", machine, event.t);
            }
            Kind::DataLoaded { leases, .. } | Kind::FullyCopied { leases, .. } => {
                held.remove(&machine);
                prop_assert!(leases.len() <= 1);
                for lease in leases {
                    held.insert(machine, *lease);
                }
            }
            _ => {}
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases_count(200))]

    #[test]
    fn a_single_redis_without_failover_has_one_acting_holder(case in redis_without_failover()) {
        let run = case.run();
        prop_assert_eq!(verdict(&run, Invariant::OneActingHolder), "holds");
        prop_assert_eq!(verdict(&run, Invariant::TokensGrow), "holds");
        prop_assert_eq!(verdict(&run, Invariant::OnlyOwnerReleases), "holds");
    }

    #[test]
    fn redlock_with_true_clocks_and_memory_has_one_acting_holder(case in redlock_with_memory()) {
        let run = case.run();
        prop_assert_eq!(verdict(&run, Invariant::OneActingHolder), "holds");
        prop_assert_eq!(verdict(&run, Invariant::OnlyOwnerReleases), "holds");
    }

    #[test]
    fn a_server_has_one_key_whatever_happens(
        case in select(vec![ServiceKind::Redis, ServiceKind::Redlock]).prop_flat_map(|service| {
            let machines = all_machines(service);
            let clocks = (select(machines.clone()), -15_000..=15_000_i64)
                .prop_map(|(machine, by)| Change::StepWall(Target::Machine(machine), Span::millis(by)));
            let change =
                prop_oneof![4 => faults_of(machines.clone()), 2 => messages_of(machines), 1 => clocks.boxed()];
            cases_on(service, change.boxed())
        })
    ) {
        let run = case.run();
        one_key_on_each_server(&run)?;
        prop_assert_eq!(verdict(&run, Invariant::OnlyOwnerReleases), "holds");
        // It can be told, and looked back at.
        prop_assert!(run.events.iter().all(|event| !lease_lab_scenarios::why::why(event, &run.plan).is_empty()));
        let middle = TrueTime::from_millis(30_000);
        let mut fresh = case.simulation();
        fresh.run_until(middle, &mut Vec::new());
        prop_assert!(run.world_at(middle) == *fresh.world());
    }
}

/// The shortest known ways to two acting holders: what the properties above leave out is what breaks them.
#[test]
fn what_is_left_out_is_what_breaks_it() {
    for list in [
        // A failover inside the lag.
        "0 service redis; 0.05 crash primary; 1 acquire D",
        // A clock of the one server.
        "0 service redis; 1 step-wall primary 12; 1 acquire D",
        // A restart that has lost the last second.
        "0 service redis; 0.5 crash primary; 0.6 restart primary; 0.7 acquire D",
        // Three masters that forget, three clocks, or one of either where the holder has no more than a majority.
        "0 service redlock; 1 step-wall r1 12; 1 step-wall r2 12; 1 step-wall r3 12; 1 acquire D",
        "0 service redlock; 0 drop A r4; 0 drop A r5; 1 step-wall r3 12; 1 acquire D",
        "0 service redlock; 0 drop A r4; 0 drop A r5; 1 crash r3; 1.1 restart r3 empty; 1.2 acquire D",
        // A holder whose clocks stand still.
        "0 service redis; 1 pause A 12 vm; 11 acquire D",
        "0 service redlock; 1 pause A 12 vm; 11 acquire D",
    ] {
        assert_eq!(verdict(&plain_with(list), Invariant::OneActingHolder), "broken", "{list}");
    }
}

/// A wall clock that is set concerns a server at once, however long its key would still have lived.
#[test]
fn a_step_of_a_servers_wall_clock_takes_effect_at_once() {
    let expired = |list: &str| -> Option<f64> {
        let run = plain_with(list);
        let mut events = run.events.iter();
        events
            .find(|event| matches!(event.kind, Kind::LeaseExpired { worker: WorkerId::A, .. }))
            .map(|event| event.t.as_seconds())
    };
    // A is dead from 1.0 on; its key was set at 0.001 for ten seconds.
    let dies = "0 service redis; 1 crash A";
    assert_exact(expired(dies), 10.001, "it expires");
    assert_exact(expired(&format!("{dies}; 5 step-wall primary 3")), 7.001, "it expires");
    assert_exact(expired(&format!("{dies}; 5 step-wall primary 30")), 5.0, "it expires");
    assert_exact(expired(&format!("{dies}; 5 step-wall primary -3")), 13.001, "it expires");
    assert_exact(expired(&format!("{dies}; 5 offset primary 2; 6 offset primary 0")), 10.001, "it expires");
    // Twice as fast from 5.0 on.
    assert_exact(expired(&format!("{dies}; 5 rate primary 2")), 5.0 + 5.001 / 2.0, "it expires");
    // A replica keeps what its own clock finds expired, until it is promoted.
    assert_exact(expired(&format!("{dies}; 5 step-wall replica 30")), 10.001, "it expires");
    assert_exact(expired(&format!("{dies}; 5 step-wall replica 30; 6 crash primary")), 8.0, "it expires");
    // A frozen server notices when it wakes up.
    assert_exact(expired(&format!("{dies}; 9.5 pause primary 1")), 10.5, "it expires");
}
