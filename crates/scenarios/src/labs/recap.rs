//! The whole story, as the table of its beats.

use super::billing_story::{BEATS, BOOKMARKS, plan};
use crate::Run;
use crate::measures::{Measure, Value};
use crate::scenario::{Extra, Scenario, Variant};

pub(super) static SCENARIO: Scenario = Scenario {
    id: "recap",
    part: 12,
    name: "The whole story, beat by beat",
    title: "Twenty-four beats, from the first grant to the last release",
    lede: "The story once more, as a table that the simulator fills in. Each row is a moment that you can open in the \
           lab.",
    notice: &[
        "Read down the times and say for each row, before you open it, who holds the lock, what the fence is, and what \
         would go wrong without it.",
        "Change something, and the table is filled in again: rows that no longer happen say so, and the others move.",
    ],
    plan,
    faults: "4 pause A 15; 21 crash B; 47 crash leader",
    variants: &[
        Variant::instead("A pauses for 8 s only", "4 pause A 8; 21 crash B; 47 crash leader"),
        Variant::instead("B does not die", "4 pause A 15; 47 crash leader"),
        Variant::adding("The fence is off", "0 fence off"),
        Variant::adding("The sweeper is off", "0 sweeper off"),
    ],
    measures,
    extras: &[Extra::Beats],
    beats: &BEATS,
    bookmarks: &BOOKMARKS,
    ..Scenario::BASE
};

fn measures(run: &Run) -> Vec<Measure> {
    let happened = run.beats_in_order().count() as u64;
    vec![Measure::new(
        "beats",
        "Beats of the story that happen in this run",
        Some(Value::Count(happened)),
        format!("of {}", run.scenario.beats.len()),
    )]
}
