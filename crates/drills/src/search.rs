//! The search for a shorter way: every list of interventions within bounds that has fewer than a drill’s par.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use lease_lab_scenarios::Run;
use lease_lab_scenarios::accept::accept;
use lease_lab_scenarios::knobs::Takes;
use lease_lab_sim::event::Kind;
use lease_lab_sim::intervention::{Intervention, Target, parse_one};
use lease_lab_sim::invariants::{Invariant, Observers, Verdict};
use lease_lab_sim::machine::MachineId;
use lease_lab_sim::simulation::Simulation;
use lease_lab_sim::time::{Span, TrueTime};

use crate::drill::{Bounds, Drill, Task};
use crate::grade::counts;
use crate::query::{Condition, Named};

/// More runs than this are too many for a test that everybody waits for.
pub const RUNS_MAX: usize = 40_000;
const MACHINES: [&str; 26] = [
    "A",
    "B",
    "C",
    "D",
    "n1",
    "n2",
    "n3",
    "n4",
    "n5",
    "n6",
    "n7",
    "r1",
    "r2",
    "r3",
    "r4",
    "r5",
    "primary",
    "replica",
    "table",
    "allocator",
    "partner",
    "store",
    "sweeper",
    "sidecar-A",
    "sidecar-B",
    "sidecar-C",
];

/// What a search came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Searched {
    /// How many lists were run.
    pub runs: usize,
    /// A list that reaches the goal with fewer interventions than par.
    pub shorter: Option<Vec<Intervention>>,
}

/// Runs every list within the drill’s bounds that is shorter than its par, the given setting alone among them.
///
/// # Errors
/// When the drill is no break-it drill, cannot be run, or the bounds are too wide.
pub fn shorter_than_par(drill: &Drill) -> Result<Searched, String> {
    let Task::BreakIt { goal, par, allow, bounds, .. } = drill.task else {
        return Err("only a break-it drill has a par to search for".into());
    };
    let goal = Goal::read(goal)?;
    let singles = if par > 1 { candidates(drill, allow, bounds)? } else { Vec::new() };
    let lists = lists(&singles, par.saturating_sub(1).into())?;
    let next = AtomicUsize::new(0);
    // The place of the first list that was found: the same on every machine, however many threads look for it.
    let first = AtomicUsize::new(usize::MAX);
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    match lists.get(place) {
                        Some(list) if place < first.load(Ordering::Relaxed) => {
                            if goal.is_reached(drill, list) {
                                first.fetch_min(place, Ordering::Relaxed);
                            }
                        }
                        _ => break,
                    }
                }
            });
        }
    });
    Ok(Searched { runs: lists.len(), shorter: lists.get(first.into_inner()).cloned() })
}

/// All lists of at most `longest` of these, the empty one first.
fn lists(singles: &[Intervention], longest: u32) -> Result<Vec<Vec<Intervention>>, String> {
    let count = (1..=longest).fold(1_usize, |sum, length| sum.saturating_add(singles.len().saturating_pow(length)));
    if count > RUNS_MAX {
        return Err(format!(
            "the search for a shorter way would take {count} runs; expected at most {RUNS_MAX}, with fewer verbs, \
             instants or lengths in [bounds]"
        ));
    }
    let mut lists = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..longest {
        let to = lists.len();
        for place in from..to {
            for single in singles {
                let mut longer: Vec<Intervention> = lists[place].clone();
                longer.push(single.clone());
                lists.push(longer);
            }
        }
        from = to;
    }
    Ok(lists)
}

struct Goal {
    conditions: Vec<Condition>,
    /// The invariants that must be broken, which can be seen without keeping a run.
    broken: Vec<Invariant>,
}

impl Goal {
    fn read(goal: &[&str]) -> Result<Goal, String> {
        let conditions = goal.iter().map(|text| Condition::parse(text)).collect::<Result<Vec<_>, _>>()?;
        let broken = conditions.iter().filter_map(Condition::broken).collect();
        Ok(Goal { conditions, broken })
    }

    /// A list that makes no sense reaches nothing.
    fn is_reached(&self, drill: &Drill, added: &[Intervention]) -> bool {
        if !self.broken.is_empty() && !self.breaks_all(drill, added).unwrap_or(false) {
            return false;
        }
        let Ok(run) = drill.setup.run_with(added) else { return false };
        let runs = [Named { name: "", run }];
        self.conditions.iter().all(|condition| condition.of(&runs).holds)
    }

    fn breaks_all(&self, drill: &Drill, added: &[Intervention]) -> Result<bool, String> {
        let mut list = drill.setup.interventions()?;
        list.extend_from_slice(added);
        let (plan, list) = accept(drill.setup.scenario()?, list).map_err(|mistake| mistake.to_string())?;
        let horizon = plan.horizon;
        let mut simulation = Simulation::new(Arc::new(plan), list.into(), drill.setup.seed);
        let mut observers = Observers::default();
        let mut happens = Vec::new();
        while simulation.step_until(horizon, &mut happens) {
            for event in happens.drain(..) {
                observers.observe(&event, simulation.world());
            }
        }
        let is_broken = |invariant: &Invariant| {
            matches!(observers.verdict(*invariant, horizon, horizon, simulation.world()), Verdict::Broken(_))
        };
        Ok(self.broken.iter().all(is_broken))
    }
}

/// Every single intervention within the bounds that counts and makes sense.
fn candidates(drill: &Drill, allow: &[&str], bounds: Bounds) -> Result<Vec<Intervention>, String> {
    let scenario = drill.setup.scenario()?;
    let given = drill.setup.run_with(&[])?;
    let machines: Vec<&str> = MACHINES
        .into_iter()
        .filter(|name| MachineId::parse(name).is_some_and(|machine| given.end().life(machine).is_some()))
        .collect();
    let workers = machines.iter().copied().filter(|name| ["A", "B", "C", "D"].contains(name));
    let workers: Vec<&str> = workers.collect();
    let lengths: Vec<String> = bounds.lengths_micros.iter().map(|micros| Span::micros(*micros).to_string()).collect();
    let mut texts: Vec<String> = Vec::new();
    let mut at = bounds.from_micros;
    while at <= bounds.to_micros {
        let t = TrueTime::from_micros(at);
        let mut add = |change: String| texts.push(format!("{t} {change}"));
        for machine in &machines {
            for verb in ["pause", "resume", "crash", "restart", "isolate"] {
                add(format!("{verb} {machine}"));
            }
            for length in &lengths {
                add(format!("pause {machine} {length}"));
                add(format!("pause {machine} {length} vm"));
                // An offset is a step from where the clock is.
                add(format!("step-wall {machine} {length}"));
                add(format!("step-wall {machine} -{length}"));
            }
            for rate in ["0.5", "2"] {
                add(format!("rate {machine} {rate}"));
            }
            let others = machines.iter().skip_while(|other| *other != machine).skip(1);
            for other in others {
                add(format!("partition {machine} | {other}"));
            }
        }
        for split in splits(&machines, &workers) {
            add(format!("partition {split}"));
        }
        for verb in [
            "heal",
            "outage",
            "sweeper on",
            "sweeper off",
            "idempotent on",
            "idempotent off",
            "raise first",
            "raise late",
            "fence on",
            "fence off",
            "fence two-step",
            "fence reject-equal",
            "margin 0",
        ] {
            add(verb.to_owned());
        }
        for length in &lengths {
            for verb in ["outage", "lease", "renew", "margin"] {
                add(format!("{verb} {length}"));
            }
        }
        for worker in &workers {
            add(format!("acquire {worker}"));
            add(format!("release {worker}"));
        }
        for revision in 1..=12 {
            add(format!("restore {revision}"));
        }
        at += bounds.step_micros;
    }
    for choice in ["consensus", "redis", "redlock", "lease-item"] {
        texts.push(format!("0 service {choice}"));
    }
    for choice in ["row", "sql", "dynamodb", "s3"] {
        texts.push(format!("0 store {choice}"));
    }
    for knob in scenario.knobs {
        let values: Vec<String> = match &knob.takes {
            Takes::Choice(choices) => choices.iter().map(|choice| choice.value.to_owned()).collect(),
            Takes::Seconds { from, to, .. } => vec![from.to_string(), to.to_string()],
            Takes::Count { from, to, .. } => vec![from.to_string(), to.to_string()],
        };
        texts.extend(values.iter().map(|value| format!("0 set {} {value}", knob.key)));
    }
    let mut all = Vec::new();
    for text in texts {
        all.push(parse_one(&text).map_err(|mistake| mistake.to_string())?);
    }
    all.extend(on_paths(&given, bounds));
    all.retain(|intervention| {
        let change = intervention.change.to_string();
        let verb = change.split(' ').next().unwrap_or_default();
        (bounds.verbs.is_empty() || bounds.verbs.contains(&verb)) && counts(&intervention.change, allow)
    });
    Ok(all)
}

/// The ways to cut the nodes of a lock service in two, or all of them from each other; the workers with neither side,
/// or with one of them.
fn splits(machines: &[&str], workers: &[&str]) -> Vec<String> {
    let is_node = |name: &&&str| MachineId::parse(name).is_some_and(MachineId::is_lock_service);
    let nodes: Vec<&str> = machines.iter().filter(is_node).copied().collect();
    if nodes.len() < 3 {
        return Vec::new();
    }
    let mut splits = vec![nodes.join(" | ")];
    let workers = workers.join(",");
    // The last node is on the right: otherwise each cut would come twice.
    for bits in 1..1_u32 << (nodes.len() - 1) {
        let is_left = |place: &usize| bits & (1 << place) != 0;
        let side = |left: bool| {
            let places = (0..nodes.len()).filter(|place| is_left(place) == left);
            places.map(|place| nodes[place]).collect::<Vec<&str>>().join(",")
        };
        let (left, right) = (side(true), side(false));
        splits.push(format!("{left} | {right}"));
        if !workers.is_empty() {
            splits.push(format!("{left},{workers} | {right}"));
            splits.push(format!("{left} | {right},{workers}"));
        }
    }
    splits
}

/// Delays, losses and doublings of the messages of the given run: one for each instant and message that it would hit.
fn on_paths(given: &Run, bounds: Bounds) -> Vec<Intervention> {
    let mut sent: Vec<(MachineId, MachineId, TrueTime)> = Vec::new();
    for event in &given.events {
        if let Kind::MessageSent { to, .. } = &event.kind {
            sent.push((event.machine, *to, event.t));
        }
    }
    let mut paths: Vec<(MachineId, MachineId)> = sent.iter().map(|(from, to, _)| (*from, *to)).collect();
    paths.sort_unstable();
    paths.dedup();
    let mut all = Vec::new();
    for (from, to) in paths {
        let is_named = |machine: MachineId| MachineId::parse(&machine.to_string()).is_some();
        if !is_named(from) || !is_named(to) {
            continue;
        }
        let mut earlier = None;
        let mut at = bounds.from_micros;
        while at <= bounds.to_micros {
            let t = TrueTime::from_micros(at);
            let hit = sent.iter().find(|(sender, receiver, when)| *sender == from && *receiver == to && *when >= t);
            if hit.is_some() && hit != earlier {
                let (from, to) = (Target::Machine(from), Target::Machine(to));
                use lease_lab_sim::intervention::Change::{Delay, Drop, Duplicate};
                let lengths = bounds.lengths_micros.iter().map(|micros| Span::micros(*micros));
                let delays = lengths.map(|by| Delay { from, to, by });
                let changes = delays.chain([Drop { from, to }, Duplicate { from, to }]);
                all.extend(changes.map(|change| Intervention { at: t, change }));
            }
            earlier = hit;
            at += bounds.step_micros;
        }
    }
    all
}
