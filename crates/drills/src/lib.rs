//! Think-first drills: the learner commits to an answer, the simulator runs, and the run decides.
//!
//! A drill is a file in `content`, which becomes a [`Drill`] when this is built; see `docs/drills.md`.
//! No answer is stored anywhere: [`grade`](grade::grade) runs the scenario and reads the truth off the run, with the
//! queries in [`query`]. What was answered, and when it comes back, is in [`progress`].

#[cfg(not(target_family = "wasm"))]
pub mod check;
pub mod drill;
#[cfg(not(target_family = "wasm"))]
pub mod format;
pub mod grade;
pub mod progress;
pub mod query;
#[cfg(not(target_family = "wasm"))]
pub mod search;

pub use drill::{Drill, Kind};

// Which of the types are needed depends on what the files say.
#[allow(unused_imports)]
mod content {
    use crate::drill::{
        Also, Ask::*, Attack, Bounds, Choice, Drill, Item, Mistake, Near, Offer, Setup, Swap, Task::*, Variation,
    };
    include!(concat!(env!("OUT_DIR"), "/drills.rs"));
}

/// What a learner can do at the end; drills name them by their number, from 1.
pub const OUTCOMES: [&str; 11] = [
    "Tell lock, lease and fence apart.",
    "Walk through acquire, renew and release, and say what lives where.",
    "Say which clock times a lease, and what a margin covers.",
    "Trace a zombie being stopped, and say why the fence is raised before anything is read.",
    "Write the fence for DynamoDB, SQL and S3, and a lease that trusts nobody’s clock.",
    "Find and clean up an orphan, and compute the earliest safe takeover.",
    "Treat elections and single writers as leases with epochs.",
    "Explain a lock service’s own failover, an asynchronous one’s, and the argument about Redlock.",
    "Decide when no lock is needed.",
    "Trace three requests from code to disk.",
    "Map it to AWS, and name what only looks like it.",
];

/// The three rules; drills name them by their number, from 1.
pub const RULES: [&str; 3] = [
    "A holder acts only before its own stop time.",
    "The resource refuses tokens that are lower than its fence.",
    "A new holder raises the fence before it reads or writes anything.",
];

/// Every drill, in the order of the parts.
pub fn all() -> impl ExactSizeIterator<Item = &'static Drill> {
    content::ALL.iter()
}

/// The drill with this id.
pub fn find(id: &str) -> Option<&'static Drill> {
    all().find(|drill| drill.id == id)
}

/// The drills of this kind, in the order of the parts.
pub fn of_kind(kind: Kind) -> impl Iterator<Item = &'static Drill> {
    all().filter(move |drill| drill.kind() == kind)
}

/// The drills of this part.
pub fn of_part(part: u8) -> impl Iterator<Item = &'static Drill> {
    all().filter(move |drill| drill.part == part)
}
