//! Scenarios as data, and runs of them: beats, verdicts, snapshots, reports.
//!
//! A scenario is a value in a file of its own and a line in [`all`].
//! A [`Run`](run::Run) is a scenario under interventions; everything that the page, the command line and the tests
//! show comes out of one.

pub mod accept;
pub mod beats;
mod billing_story;
pub mod cheat_card;
pub mod checklist;
pub mod glossary;
pub mod parts;
pub mod report;
pub mod run;
pub mod scenario;
pub mod shiviz;
pub mod snapshot;
pub mod tables;
pub mod why;

pub use run::Run;
pub use scenario::Scenario;

/// Every scenario that can be run, in the order of the parts.
pub fn all() -> [&'static Scenario; 1] {
    [&billing_story::SCENARIO]
}

/// The scenario with this id.
pub fn find(id: &str) -> Option<&'static Scenario> {
    all().into_iter().find(|scenario| scenario.id == id)
}
