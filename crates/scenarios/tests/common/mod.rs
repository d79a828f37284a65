//! What the tests of this crate share: a run in one line, and generated lists of interventions.

#![allow(dead_code, reason = "each test file uses its own part of it")]

use std::fmt;
use std::sync::Arc;

use lease_lab_scenarios::accept::accept;
use lease_lab_scenarios::measures::Value;
use lease_lab_scenarios::run::Input;
use lease_lab_scenarios::{Run, Scenario};
use lease_lab_sim::event::{Event, Kind};
use lease_lab_sim::intervention::{Change, Intervention, Target, parse_list};
use lease_lab_sim::invariants::{Invariant, Verdict};
use lease_lab_sim::machine::{MachineId, NodeId, WorkerId};
use lease_lab_sim::settings::{FenceMode, RaiseOrder};
use lease_lab_sim::simulation::Simulation;
use lease_lab_sim::time::{Span, TrueTime};
use lease_lab_sim::world::World;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;

pub(crate) fn story() -> &'static Scenario {
    lease_lab_scenarios::find("billing-story").expect("the story is a scenario")
}

/// The story with its own interventions and those of `text`.
pub(crate) fn story_with(text: &str) -> Run {
    Case::new(text, true, 0).run()
}

/// The story without its own interventions, under those of `text`.
pub(crate) fn plain_with(text: &str) -> Run {
    Case::new(text, false, 0).run()
}

pub(crate) fn seconds(seconds: f64) -> TrueTime {
    TrueTime::from_micros((seconds * 1e6).round() as i64)
}

/// The verdict's name, short enough to compare.
pub(crate) fn verdict(run: &Run, invariant: Invariant) -> &'static str {
    lease_lab_scenarios::report::verdict_name(&run.verdict(invariant, run.horizon))
}

/// When an invariant was broken first.
pub(crate) fn broken_at(run: &Run, invariant: Invariant) -> Option<f64> {
    match run.verdict(invariant, run.horizon) {
        Verdict::Broken(violation) => Some(violation.t.as_seconds()),
        _ => None,
    }
}

/// The events of one kind that are about `worker`.
pub(crate) fn events_of<'a>(run: &'a Run, kind: &'a str, worker: Option<WorkerId>) -> impl Iterator<Item = &'a Event> {
    run.events.iter().filter(move |event| event.kind.name() == kind && event.kind.worker() == worker)
}

/// The times at which one kind of event happens to `worker`.
pub(crate) fn times_of(run: &Run, kind: &str, worker: Option<WorkerId>) -> Vec<f64> {
    run.events
        .iter()
        .filter(|event| event.kind.name() == kind && event.kind.worker() == worker)
        .map(|event| event.t.as_seconds())
        .collect()
}

/// The story's times are exact to 0.05 s.
pub(crate) fn near(t: f64, expected: f64) -> bool {
    (t - expected).abs() <= 0.05
}

#[track_caller]
pub(crate) fn assert_near(times: &[f64], expected: &[f64], what: &str) {
    let alike = times.len() == expected.len() && times.iter().zip(expected).all(|(t, expected)| near(*t, *expected));
    assert!(alike, "{what}: {times:?}, expected {expected:?}");
}

/// The same cases in every run of the tests, unless `PROPTEST_RNG_SEED` asks for others.
pub(crate) fn cases_count(cases: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    let rng_seed = match default.rng_seed {
        RngSeed::Random => RngSeed::Fixed(50_000),
        fixed => fixed,
    };
    ProptestConfig { cases, rng_seed, failure_persistence: None, max_shrink_iters: 4_000, ..default }
}

/// A lab under its own interventions and those of `text`.
pub(crate) fn adding(id: &str, text: &str) -> Run {
    let mut list = scenario(id).own_interventions();
    list.extend(parse_list(text).unwrap_or_else(|mistake| panic!("{mistake}")));
    run_of(id, list)
}

/// A lab under the interventions of `text` alone.
pub(crate) fn instead(id: &str, text: &str) -> Run {
    run_of(id, parse_list(text).unwrap_or_else(|mistake| panic!("{mistake}")))
}

/// A lab under these interventions.
pub(crate) fn run_of(id: &str, list: Vec<Intervention>) -> Run {
    let input = Input { interventions: Some(list), ..Input::default() };
    Run::new(scenario(id), input).unwrap_or_else(|mistake| panic!("{mistake}"))
}

fn scenario(id: &str) -> &'static Scenario {
    lease_lab_scenarios::find(id).unwrap_or_else(|| panic!("{id} is a scenario"))
}

/// What a run measures.
#[track_caller]
pub(crate) fn value(run: &Run, id: &str) -> Option<Value> {
    let measure = run.measures().into_iter().find(|measure| measure.id == id);
    measure.unwrap_or_else(|| panic!("{} has no measure {id}", run.scenario.id)).value
}

#[track_caller]
pub(crate) fn seconds_of(run: &Run, id: &str) -> f64 {
    match value(run, id) {
        Some(Value::Seconds(span)) => span.as_micros() as f64 / 1e6,
        other => panic!("{id}: {other:?}"),
    }
}

#[track_caller]
pub(crate) fn assert_seconds(run: &Run, id: &str, expected: f64) {
    let found = seconds_of(run, id);
    assert!(near(found, expected), "{} {id}: {found}, expected {expected}", run.scenario.id);
}

/// As a reader sees it.
pub(crate) fn text_of(run: &Run, id: &str) -> String {
    value(run, id).map_or("none".into(), |value| value.told())
}

/// The input of one generated run; shown as the command line that repeats it.
#[derive(Clone)]
pub(crate) struct Case {
    /// In the order in which they were given.
    pub(crate) interventions: Vec<Intervention>,
    pub(crate) seed: u64,
}

impl Case {
    pub(crate) fn new(text: &str, with_own: bool, seed: u64) -> Case {
        let mut interventions = if with_own { story().own_interventions() } else { Vec::new() };
        interventions.extend(parse_list(text).unwrap_or_else(|mistake| panic!("{mistake}")));
        Case { interventions, seed }
    }

    pub(crate) fn run(&self) -> Run {
        let input = Input { interventions: Some(self.interventions.clone()), seed: self.seed, until: None };
        Run::new(story(), input).unwrap_or_else(|mistake| panic!("{mistake}"))
    }

    pub(crate) fn simulation(&self) -> Simulation {
        let (plan, interventions) =
            accept(story(), self.interventions.clone()).unwrap_or_else(|mistake| panic!("{mistake}"));
        Simulation::new(Arc::new(plan), interventions.into(), self.seed)
    }

    /// Shows `watcher` the world after each step, together with what the step recorded.
    pub(crate) fn watch(&self, mut watcher: impl FnMut(&World, &[Event]) -> TestResult) -> TestResult {
        let mut simulation = self.simulation();
        let mut events = Vec::new();
        let horizon = simulation.world().plan().horizon;
        while simulation.next_time().is_some_and(|next| next <= horizon) {
            events.clear();
            simulation.step(&mut events);
            watcher(simulation.world(), &events)?;
        }
        Ok(())
    }
}

pub(crate) type TestResult = Result<(), TestCaseError>;

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = self.interventions.iter().map(ToString::to_string).collect();
        write!(f, "lease-lab run billing-story --plain --seed {} --do '{}'", self.seed, texts.join("; "))
    }
}

/// A time between 0 and 60 s: anywhere, close to something that happens in the story, or on a full ten seconds, so
/// that some interventions fall on one instant.
pub(crate) fn any_time() -> BoxedStrategy<TrueTime> {
    let story_times = vec![
        0, 850, 950, 1_000, 3_000, 3_900, 4_000, 10_500, 12_100, 13_000, 13_500, 14_000, 19_000, 29_500, 40_000,
        47_000, 49_100,
    ];
    prop_oneof![
        4 => (0..=60_000_i64).prop_map(TrueTime::from_millis),
        3 => (select(story_times), 0..=120_i64).prop_map(|(near, by)| TrueTime::from_millis(near + by)),
        1 => (0..=6_i64).prop_map(|tens| TrueTime::from_millis(tens * 10_000)),
    ]
    .boxed()
}

pub(crate) fn any_worker() -> BoxedStrategy<WorkerId> {
    select(WorkerId::ALL.to_vec()).boxed()
}

/// Every machine of the run that interventions can name.
pub(crate) fn machines() -> Vec<MachineId> {
    let mut machines: Vec<MachineId> = WorkerId::ALL.into_iter().map(MachineId::from).collect();
    machines.extend((1..=3).map(|number| MachineId::Node(NodeId(number))));
    machines.extend([MachineId::Store, MachineId::Sweeper]);
    machines
}

fn any_target(machines: &[MachineId]) -> BoxedStrategy<Target> {
    prop_oneof![
        9 => select(machines.to_vec()).prop_map(Target::Machine),
        2 => Just(Target::Leader),
    ]
    .boxed()
}

fn any_path(machines: &[MachineId]) -> BoxedStrategy<(Target, Target)> {
    (any_target(machines), any_target(machines)).prop_filter("a path has two ends", |(from, to)| from != to).boxed()
}

/// Every machine on one of up to three sides, or on none: such a machine reaches everyone.
fn any_partition(machines: &[MachineId]) -> BoxedStrategy<Change> {
    let machines = machines.to_vec();
    vec(0..4_usize, machines.len())
        .prop_filter_map("a partition has two sides", move |sides| {
            let groups: Vec<Vec<Target>> = (0..3)
                .map(|side| {
                    let members = machines.iter().copied().zip(&sides).filter(|(_, chosen)| **chosen == side);
                    members.map(|(machine, _)| Target::Machine(machine)).collect()
                })
                .filter(|members: &Vec<Target>| !members.is_empty())
                .collect();
            (groups.len() > 1).then_some(Change::Partition(groups))
        })
        .boxed()
}

fn any_length(max_millis: i64) -> BoxedStrategy<Span> {
    prop_oneof![(1..=1_000_i64), (1..=max_millis)].prop_map(Span::millis).boxed()
}

/// Faults of machines and of the network; no message is delayed or doubled.
pub(crate) fn any_fault() -> BoxedStrategy<Change> {
    any_fault_of(&machines())
}

/// The same for a run with these machines.
pub(crate) fn any_fault_of(machines: &[MachineId]) -> BoxedStrategy<Change> {
    let target = || any_target(machines);
    prop_oneof![
        6 => (target(), option::weighted(0.8, any_length(20_000)), any::<bool>())
            .prop_map(|(target, lasts, vm)| Change::Pause { target, lasts, vm }),
        3 => target().prop_map(Change::Resume),
        4 => target().prop_map(Change::Crash),
        4 => target().prop_map(|target| Change::Restart { target, empty: false }),
        3 => any_partition(machines),
        2 => target().prop_map(Change::Isolate),
        3 => Just(Change::Heal),
        3 => any_path(machines).prop_map(|(from, to)| Change::Drop { from, to }),
        3 => any_worker().prop_map(Change::Acquire),
        2 => any_worker().prop_map(Change::Release),
        3 => (target(), 500_000..=2_000_000_i64).prop_map(|(target, ppm)| Change::Rate(target, ppm)),
        1 => (target(), -20_000..=20_000_i64).prop_map(|(target, by)| Change::StepWall(target, Span::millis(by))),
        1 => (target(), -20_000..=20_000_i64).prop_map(|(target, by)| Change::Offset(target, Span::millis(by))),
    ]
    .boxed()
}

/// Messages that come late or twice, most of them between a worker and the store.
pub(crate) fn late_or_twice() -> BoxedStrategy<Change> {
    late_or_twice_of(&machines())
}

/// The same for a run with these machines.
pub(crate) fn late_or_twice_of(machines: &[MachineId]) -> BoxedStrategy<Change> {
    let to_the_store =
        any_worker().prop_map(|worker| (Target::Machine(worker.into()), Target::Machine(MachineId::Store))).boxed();
    let path = prop_oneof![3 => to_the_store, 2 => any_path(machines)];
    (path, option::of(any_length(30_000)))
        .prop_map(|((from, to), by)| match by {
            Some(by) => Change::Delay { from, to, by },
            None => Change::Duplicate { from, to },
        })
        .boxed()
}

/// Settings, in combinations that leave a holder time to renew.
pub(crate) fn any_setting() -> BoxedStrategy<Change> {
    prop_oneof![
        select(vec![FenceMode::On, FenceMode::Off, FenceMode::RejectEqual, FenceMode::TwoStep]).prop_map(Change::Fence),
        any::<bool>().prop_map(Change::Idempotent),
        select(vec![RaiseOrder::First, RaiseOrder::Late]).prop_map(Change::Raise),
        (5_100..=20_000_i64).prop_map(|ms| Change::Lease(Span::millis(ms))),
        (50..=3_000_i64).prop_map(|ms| Change::Renew(Span::millis(ms))),
        (0..=2_000_i64).prop_map(|ms| Change::Margin(Span::millis(ms))),
        any::<bool>().prop_map(Change::Sweeper),
    ]
    .boxed()
}

/// Runs under up to `max` of these changes, with or without the story's own.
pub(crate) fn cases_of(change: BoxedStrategy<Change>, max: usize) -> BoxedStrategy<Case> {
    let interventions = vec((any_time(), change).prop_map(|(at, change)| Intervention { at, change }), 0..=max);
    (interventions, any::<bool>(), prop_oneof![Just(0), any::<u64>()])
        .prop_map(|(generated, with_own, seed)| {
            let mut case = Case::new("", with_own, seed);
            case.interventions.extend(generated);
            case
        })
        .boxed()
}

/// Faults only.
pub(crate) fn faulty_cases() -> BoxedStrategy<Case> {
    cases_of(any_fault(), 12)
}

/// Faults, and messages that come late or twice.
pub(crate) fn late_or_twice_cases() -> BoxedStrategy<Case> {
    cases_of(prop_oneof![3 => any_fault(), 2 => late_or_twice()].boxed(), 12)
}

/// Anything but clocks that run too fast, too slowly or not at all.
pub(crate) fn true_clock_cases() -> BoxedStrategy<Case> {
    any_cases()
        .prop_map(|mut case| {
            case.interventions.retain(|intervention| !matches!(intervention.change, Change::Rate(..)));
            for intervention in &mut case.interventions {
                if let Change::Pause { vm, .. } = &mut intervention.change {
                    *vm = false;
                }
            }
            case
        })
        .boxed()
}

/// Anything that an intervention can do.
pub(crate) fn any_cases() -> BoxedStrategy<Case> {
    cases_of(prop_oneof![6 => any_fault(), 2 => late_or_twice(), 2 => any_setting()].boxed(), 16)
}

/// Whether the store recorded a chunk and charged its customers again.
pub(crate) fn charges_again(kind: &Kind) -> bool {
    matches!(kind, Kind::ChunkWritten { charged, times_charged, .. } if *charged > 0 && *times_charged > 1)
}
