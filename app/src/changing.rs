//! Changing a run: what the panel of interventions and the list of them do to the state.

use lease_lab_links::{Entry, List, active, with_rule};
use lease_lab_sim::event::{Event, Kind};
use lease_lab_sim::intervention::{Change, Intervention, Mistake};
use lease_lab_sim::settings::{Plan, Settings};
use lease_lab_sim::time::{Span, TrueTime};
use leptos::prelude::*;

use crate::state::{Lab, simulate};

impl Lab {
    /// Makes `list` the present one if it makes sense.
    pub(crate) fn change(&self, list: List) -> Result<(), Mistake> {
        let mut whole = self.drill.map_or_else(Vec::new, |drill| drill.given.get_untracked());
        whole.extend(active(&list));
        simulate(self.scenario, whole, self.seed)?;
        self.history.update(|history| history.push(list));
        self.reveal();
        Ok(())
    }

    /// Adds one intervention.
    pub(crate) fn add(&self, intervention: Intervention) -> Result<(), Mistake> {
        let mut list = self.history.read_untracked().list().clone();
        list.push(Entry { intervention, on: true });
        self.change(list)
    }

    /// Sets a rule from `at` on, in the place of an earlier setting of it at that time.
    pub(crate) fn set_rule(&self, at: TrueTime, change: Change) -> Result<(), Mistake> {
        let mut list = with_rule(self.history.read_untracked().list(), at, &change);
        let plan = (self.scenario.plan)();
        if at == TrueTime::ZERO && is_set(&plan, &plan.settings, &change) {
            list.retain(|entry| entry.intervention.at != at || entry.intervention.change != change);
        }
        self.change(list)
    }

    /// Why an intervention would have no effect: the simulator is asked.
    pub(crate) fn idle_because(&self, at: TrueTime, change: &Change) -> Option<String> {
        let run = self.run.read_untracked();
        let before = Span::micros(i64::from(at > TrueTime::ZERO));
        let mut world = run.world_at(at - before);
        let mut events: Vec<Event> = Vec::new();
        for earlier in run.interventions.iter().filter(|earlier| before != Span::ZERO && earlier.at == at) {
            world.apply(earlier, &mut events);
        }
        events.clear();
        world.apply(&Intervention { at, change: change.clone() }, &mut events);
        events.into_iter().find_map(|event| match event.kind {
            Kind::NoEffect { because, .. } => Some(because),
            _ => None,
        })
    }

    /// Refuses an intervention that comes after the end.
    pub(crate) fn in_time(&self, intervention: Intervention) -> Result<Intervention, Mistake> {
        let horizon = self.horizon();
        if intervention.at <= horizon {
            return Ok(intervention);
        }
        let what = format!("the run ends at {horizon} s, before this happens");
        Err(Mistake::senseless(&intervention, what, format!("a time from 0 to {horizon}")))
    }
}

/// Whether a rule is set so already.
pub(crate) fn is_set(plan: &Plan, settings: &Settings, change: &Change) -> bool {
    match change {
        Change::Service(kind) => plan.service == *kind,
        Change::Store(kind) => plan.store == *kind,
        Change::Fence(mode) => settings.fence == *mode,
        Change::Raise(order) => settings.raise == *order,
        Change::Idempotent(on) => settings.idempotent == *on,
        Change::Sweeper(on) => settings.sweeper == *on,
        Change::Lease(span) => settings.lease == *span,
        Change::Renew(span) => settings.renew == *span,
        Change::Margin(span) => settings.margin == *span,
        _ => false,
    }
}
