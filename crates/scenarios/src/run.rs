//! A scenario under interventions: simulated once, then looked at from every side.

use std::fmt::Write as _;
use std::hash::Hasher;
use std::sync::Arc;

use fnv::FnvHasher;
use lease_lab_sim::event::Event;
use lease_lab_sim::intervention::{Intervention, Mistake};
use lease_lab_sim::invariants::{Invariant, Observers, Verdict};
use lease_lab_sim::settings::Plan;
use lease_lab_sim::simulation::Simulation;
use lease_lab_sim::time::TrueTime;
use lease_lab_sim::world::World;

use crate::accept::accept;
use crate::measures::Measure;
use crate::scenario::{Bookmark, Scenario};
use crate::{beats, report};

/// After how many steps the simulation is kept to go on from when somebody looks back.
const STEPS_BETWEEN_CHECKPOINTS: usize = 128;
/// More than this are not kept.
const CHECKPOINTS_MAX: usize = 256;
/// As many are kept even of a world of thousands of machines.
const CHECKPOINTS_MIN: usize = 8;
/// A world of so many machines counts as one of the usual size.
const SMALL_WORLD: usize = 32;
/// Snapshots are taken at multiples of this: the times of the story are exact to it.
const SNAPSHOT_GRID_MICROS: i64 = 50_000;

/// A run.
#[derive(Debug)]
pub struct Run {
    /// What was run.
    pub scenario: &'static Scenario,
    /// Its plan.
    pub plan: Arc<Plan>,
    /// All interventions, sorted.
    pub interventions: Arc<[Intervention]>,
    /// The seed.
    pub seed: u64,
    /// When the run ends.
    pub horizon: TrueTime,
    /// The trace.
    pub events: Vec<Event>,
    /// The beat that each event is.
    pub beats: Vec<Option<u8>>,
    observers: Observers,
    checkpoints: Vec<Simulation>,
    end: World,
}

/// What a run is made of, apart from the scenario.
#[derive(Clone, Debug, Default)]
pub struct Input {
    /// The complete list of interventions; `None`: the scenario's own.
    pub interventions: Option<Vec<Intervention>>,
    /// The seed.
    pub seed: u64,
    /// When the run ends; `None`: at the scenario's horizon.
    pub until: Option<TrueTime>,
}

impl Run {
    /// Simulates `scenario`.
    ///
    /// # Errors
    /// When the interventions make no sense for the scenario.
    pub fn new(scenario: &'static Scenario, input: Input) -> Result<Run, Mistake> {
        let interventions = input.interventions.unwrap_or_else(|| scenario.own_interventions());
        let (plan, interventions) = accept(scenario, interventions)?;
        let (plan, interventions): (_, Arc<[Intervention]>) = (Arc::new(plan), interventions.into());
        let horizon = input.until.unwrap_or(plan.horizon);

        let mut simulation = Simulation::new(plan.clone(), interventions.clone(), input.seed);
        let mut observers = Observers::default();
        let mut events: Vec<Event> = Vec::new();
        let mut checkpoints = vec![simulation.clone()];
        let mut steps = 0;
        // A world of thousands of machines is large, and one step of it is little: fewer are kept, further apart.
        let size = simulation.world().machine_count().div_ceil(SMALL_WORLD);
        let checkpoints_max = (CHECKPOINTS_MAX / size).max(CHECKPOINTS_MIN);
        let mut between_checkpoints = STEPS_BETWEEN_CHECKPOINTS * size * if size > 1 { 4 } else { 1 };
        let mut happens = Vec::new();
        while simulation.step_until(horizon, &mut happens) {
            for event in happens.drain(..) {
                observers.observe(&event, simulation.world());
                if event.is_told_by(plan.trace) {
                    events.push(event);
                }
            }
            steps += 1;
            if steps % between_checkpoints == 0 {
                checkpoints.push(simulation.clone());
            }
            if checkpoints.len() > checkpoints_max {
                // A long run keeps every second one: memory stays bounded, and looking back takes twice as long.
                let mut place = 0;
                checkpoints.retain(|_| {
                    place += 1;
                    place % 2 == 1
                });
                between_checkpoints *= 2;
            }
        }
        let beats = beats::number(&events, scenario.beats);
        Ok(Run {
            scenario,
            plan,
            interventions,
            seed: input.seed,
            horizon,
            events,
            beats,
            observers,
            checkpoints,
            end: simulation.world().clone(),
        })
    }

    /// The world at `at`, after everything of that instant.
    pub fn world_at(&self, at: TrueTime) -> World {
        let later = self.checkpoints.partition_point(|checkpoint| checkpoint.world().now() <= at);
        // The first checkpoint is the start, which nothing comes before.
        let mut simulation = self.checkpoints[later.saturating_sub(1)].clone();
        simulation.run_until(at, &mut Vec::new());
        simulation.world().clone()
    }

    /// The world at the end.
    pub fn end(&self) -> &World {
        &self.end
    }

    /// The verdict on an invariant at `at`.
    pub fn verdict(&self, invariant: Invariant, at: TrueTime) -> Verdict {
        // Writers that only check a fence do no job.
        if cfg!(feature = "labs") && invariant == Invariant::JobFinishes && self.plan.writers.per_second > 0 {
            return Verdict::NotApplicable;
        }
        self.observers.verdict(invariant, at, self.horizon, &self.end)
    }

    /// All verdicts at `at`, in order.
    pub fn verdicts(&self, at: TrueTime) -> Vec<(Invariant, Verdict)> {
        Invariant::ALL.into_iter().map(|invariant| (invariant, self.verdict(invariant, at))).collect()
    }

    /// The numbers that this run comes to.
    pub fn measures(&self) -> Vec<Measure> {
        (self.scenario.measures)(self)
    }

    /// The event that is beat `number`, if this run has it.
    pub fn beat(&self, number: u8) -> Option<&Event> {
        let place = self.beats.iter().position(|beat| *beat == Some(number))?;
        self.events.get(place)
    }

    /// The beats of this run with their times, in order of time.
    pub fn beats_in_order(&self) -> impl DoubleEndedIterator<Item = (u8, TrueTime)> + '_ {
        self.beats.iter().zip(&self.events).filter_map(|(beat, event)| beat.map(|number| (number, event.t)))
    }

    /// When a named snapshot is taken in this run.
    pub fn bookmark_at(&self, bookmark: &Bookmark) -> TrueTime {
        match self.beat(bookmark.beat) {
            Some(event) => {
                let micros = (event.t + bookmark.settles).as_micros();
                let up = (micros + SNAPSHOT_GRID_MICROS - 1).div_euclid(SNAPSHOT_GRID_MICROS);
                TrueTime::from_micros(up * SNAPSHOT_GRID_MICROS)
            }
            None => bookmark.otherwise,
        }
    }

    /// The bookmark with this name.
    pub fn bookmark(&self, name: &str) -> Option<&'static Bookmark> {
        self.scenario.bookmarks.iter().find(|bookmark| bookmark.name == name)
    }

    /// FNV-1a, 64 bits, of the trace as compact JSON: see `docs/trace.md`.
    pub fn hash(&self) -> String {
        let mut hasher = FnvHasher::default();
        hasher.write(report::trace_text(self).as_bytes());
        let mut hex = String::new();
        // Writing to a string cannot fail.
        let _ = write!(hex, "{:016x}", hasher.finish());
        hex
    }
}
