//! What a scenario is made of.

use lease_lab_sim::intervention::{Intervention, parse_list};
use lease_lab_sim::machine::{MachineId, WorkerId};
use lease_lab_sim::settings::Plan;
use lease_lab_sim::time::{Span, TrueTime};

use crate::Run;
use crate::knobs::Knob;
use crate::measures::Measure;

/// A scenario: a plan, and what a lab needs to show it.
#[derive(Debug)]
pub struct Scenario {
    /// The name in links and on the command line.
    pub id: &'static str,
    /// The part of the course that it belongs to.
    pub part: u8,
    /// What it is called.
    pub name: &'static str,
    /// What happens in it, as a line.
    pub title: &'static str,
    /// What a reader must know before the first screen.
    pub lede: &'static str,
    /// The words of its first question; empty when it asks none.
    pub terms: &'static str,
    /// What to look at, two or three sentences, one paragraph each.
    pub notice: &'static [&'static str],
    /// Lays down the plan.
    pub plan: fn() -> Plan,
    /// Its own faults: the interventions of a run that is left as it is, in the grammar of interventions.
    /// They are no part of the plan, which machines are deployed with.
    pub faults: &'static str,
    /// The settings that only this scenario has: `0 set KEY VALUE`.
    pub knobs: &'static [&'static Knob],
    /// Whether another lock service or store can be chosen for it.
    pub any_service_and_store: bool,
    /// What it is as it is, beside its variants.
    pub own_rule: &'static str,
    /// Changes worth a try, and to compare with.
    pub variants: &'static [Variant],
    /// The numbers that a run of it comes to.
    pub measures: fn(&Run) -> Vec<Measure>,
    /// What a lab shows besides the timeline, in this order.
    pub extras: &'static [Extra],
    /// The true seconds that the timeline shows at first; the whole run if both are zero.
    pub window: (u16, u16),
    /// The instant at which it opens, in milliseconds; the end of the window if it is zero.
    pub opens: u32,
    /// Whose clocks the clock graph shows at first.
    pub clocks_of: WorkerId,
    /// The numbered beats.
    pub beats: &'static [Beat],
    /// The named snapshots.
    pub bookmarks: &'static [Bookmark],
}

impl Scenario {
    /// What a scenario has that says nothing else.
    pub const BASE: Scenario = Scenario {
        id: "",
        part: 0,
        name: "",
        title: "",
        lede: "",
        terms: "",
        notice: &[],
        plan: Plan::default,
        faults: "",
        knobs: &[],
        any_service_and_store: true,
        own_rule: "As it is",
        variants: &[],
        measures: |_| Vec::new(),
        extras: &[],
        window: (0, 0),
        opens: 0,
        clocks_of: WorkerId::A,
        beats: &[],
        bookmarks: &[],
    };

    /// Its own faults as interventions.
    pub fn own_interventions(&self) -> Vec<Intervention> {
        let read = parse_list(self.faults);
        // A test reads those of every scenario.
        debug_assert!(read.is_ok(), "{}: {read:?}", self.id);
        read.unwrap_or_default()
    }
}

/// A change worth a try: interventions that are added to the scenario's own.
#[derive(Debug)]
pub struct Variant {
    /// What is different, in a few words.
    pub name: &'static str,
    /// The interventions, in the grammar of interventions.
    pub adds: &'static str,
    /// It replaces the scenario's own interventions instead.
    pub alone: bool,
}

impl Variant {
    /// Adds to the scenario's own interventions.
    pub const fn adding(name: &'static str, adds: &'static str) -> Variant {
        Variant { name, adds, alone: false }
    }

    /// Replaces the scenario's own interventions.
    pub const fn instead(name: &'static str, adds: &'static str) -> Variant {
        Variant { name, adds, alone: true }
    }
}

/// What a lab shows besides the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extra {
    /// Clocks against true time.
    ClockGraph,
    /// Per node, what is in the log and what is only in memory.
    Nodes,
    /// The requests that the store was sent and what it answered, in their real form.
    Requests,
    /// Counts of events over time.
    Plot,
    /// The times during which somebody had a right to act, as bars, one row for each variant.
    Bars,
    /// One request's way through the layers.
    Layers,
    /// The row's states and the arrows between them, with those that this run took.
    RowStates,
    /// A calculator, by its id.
    Calculator(&'static str),
    /// A table of facts, by its id.
    Table(&'static str),
    /// The guarantees of several systems under the same faults, each cell from a run.
    Guarantees,
    /// The table of beats.
    Beats,
    /// The card.
    CheatCard,
    /// The failure checklist.
    Checklist,
}

/// A numbered moment of the story, recognised by what happens, not by when.
#[derive(Debug)]
pub struct Beat {
    /// The number, from 1.
    pub number: u8,
    /// The kind of event.
    pub kind: &'static str,
    /// Where it happens.
    pub place: Place,
    /// The worker that it is about.
    pub worker: Option<WorkerId>,
    /// How-manieth event that fits.
    pub nth: u32,
    /// What happens, in a few words.
    pub title: &'static str,
}

/// Where a beat happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// On this machine.
    Machine(MachineId),
    /// On whichever node of the lock service.
    LockService,
}

/// A named snapshot.
#[derive(Debug)]
pub struct Bookmark {
    /// The name.
    pub name: &'static str,
    /// After which beat it is taken.
    pub beat: u8,
    /// How long the beat's consequences take to reach whom they concern.
    pub settles: Span,
    /// When it is taken in a run that lacks the beat.
    pub otherwise: TrueTime,
    /// What to look at.
    pub shows: &'static str,
}
