//! What a scenario is made of.

use lease_lab_sim::intervention::Intervention;
use lease_lab_sim::machine::{MachineId, WorkerId};
use lease_lab_sim::settings::Plan;
use lease_lab_sim::time::{Span, TrueTime};

/// A scenario: a plan and the names for what it shows.
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
    /// The words of its first question.
    pub terms: &'static str,
    /// Lays down the plan.
    pub plan: fn() -> Plan,
    /// Its own faults: the interventions of a run that is left as it is.
    /// They are no part of the plan, which machines are deployed with.
    pub faults: fn() -> Vec<Intervention>,
    /// The numbered beats.
    pub beats: &'static [Beat],
    /// The named snapshots.
    pub bookmarks: &'static [Bookmark],
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
