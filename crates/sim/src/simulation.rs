//! A world together with the interventions that are still to come.

use std::sync::Arc;

use crate::event::Event;
use crate::intervention::Intervention;
use crate::settings::Plan;
use crate::time::TrueTime;
use crate::world::World;

/// A run at one instant; cloning it is cheap, and the clone goes on exactly as the original would.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Simulation {
    world: World,
    schedule: Arc<[Intervention]>,
    applied: usize,
}

impl Simulation {
    /// A run of `plan` under `interventions`, which must be sorted by time.
    pub fn new(plan: Arc<Plan>, interventions: Arc<[Intervention]>, seed: u64) -> Simulation {
        debug_assert!(interventions.is_sorted_by_key(|intervention| intervention.at));
        Simulation { world: World::new(plan, seed), schedule: interventions, applied: 0 }
    }

    /// The world at present.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// When the next thing happens.
    pub fn next_time(&self) -> Option<TrueTime> {
        let intervention = self.schedule.get(self.applied).map(|intervention| intervention.at);
        let event = self.world.next();
        match (intervention, event) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Lets the next thing happen and appends what it records to `events`; returns whether there was one.
    ///
    /// All interventions of an instant come before any event of it, the end of a pause included.
    pub fn step(&mut self, events: &mut Vec<Event>) -> bool {
        self.step_until(TrueTime::MAX, events)
    }

    /// The same, but only if it happens by `until`.
    pub fn step_until(&mut self, until: TrueTime, events: &mut Vec<Event>) -> bool {
        let Some(intervention) = self.schedule.get(self.applied).filter(|intervention| intervention.at <= until) else {
            return self.world.step_until(until, events);
        };
        if self.world.next().is_some_and(|next| next < intervention.at) {
            return self.world.step_until(until, events);
        }
        self.applied += 1;
        self.world.apply(intervention, events);
        true
    }

    /// Lets everything happen up to and including `until`.
    pub fn run_until(&mut self, until: TrueTime, events: &mut Vec<Event>) {
        while self.step_until(until, events) {}
    }
}
