//! The story as a table: the planned beats, and when and where this run has them.

use lease_lab_sim::machine::MachineId;
use lease_lab_sim::time::TrueTime;
use serde::Serialize;

use crate::Run;
use crate::scenario::Place;
use crate::why::why;

/// A beat of the plan, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BeatRow {
    /// Its number.
    pub number: u8,
    /// What was planned, in a few words.
    pub title: &'static str,
    /// When it happens in this run; nothing if it does not.
    pub t: Option<TrueTime>,
    /// Where it happens; in a run that lacks it, where it would.
    pub machine: String,
    /// What happens and why, in one sentence; in a run that lacks it, that it does not happen.
    pub why: String,
}

/// One row for each beat of the scenario, in order of their numbers.
pub fn rows(run: &Run) -> Vec<BeatRow> {
    let row = |beat: &crate::scenario::Beat| {
        let (number, title) = (beat.number, beat.title);
        match run.beat(number) {
            Some(event) => BeatRow {
                number,
                title,
                t: Some(event.t),
                machine: event.machine.to_string(),
                why: why(event, &run.plan),
            },
            None => BeatRow {
                number,
                title,
                t: None,
                machine: planned_place(beat.place),
                why: "This does not happen in this run.".into(),
            },
        }
    };
    run.scenario.beats.iter().map(row).collect()
}

fn planned_place(place: Place) -> String {
    match place {
        Place::Machine(machine) => MachineId::to_string(&machine),
        Place::LockService => "lock service".into(),
    }
}
