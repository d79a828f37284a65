//! Scenarios as data, and runs of them: beats, verdicts, snapshots, reports.
//!
//! A scenario is a value in a file of its own in `labs`, and a line in the list there.
//! A [`Run`](run::Run) is a scenario under interventions; everything that the page, the command line and the tests
//! show comes out of one.

pub mod accept;
pub mod beats;
pub mod calculators;
pub mod cheat_card;
pub mod checklist;
pub mod clocks;
pub mod glossary;
pub mod guarantees;
pub mod knobs;
mod labs;
pub mod measures;
pub mod pages;
pub mod parts;
pub mod recap;
pub mod report;
pub mod run;
pub mod rust_test;
pub mod scenario;
pub mod shelf;
pub mod shiviz;
pub mod snapshot;
pub mod tables;
pub mod trace;
pub mod why;
pub mod wire;

pub use run::Run;
pub use scenario::Scenario;

/// Every scenario that can be run, in the order of the parts.
pub fn all() -> impl ExactSizeIterator<Item = &'static Scenario> {
    labs::ALL.iter().copied()
}

/// The scenario with this id.
pub fn find(id: &str) -> Option<&'static Scenario> {
    all().find(|scenario| scenario.id == id)
}
