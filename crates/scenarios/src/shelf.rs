//! Every lab in the order in which a reader goes through them: those with a run and those that are pages.

use crate::Scenario;

/// A lab as a list of contents names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lab {
    /// The name in links.
    pub id: &'static str,
    /// The part that it belongs to.
    pub part: u8,
    /// What it is called.
    pub name: &'static str,
    /// What happens in it, as a line.
    pub title: &'static str,
}

/// All labs, in order.
pub fn labs() -> impl Iterator<Item = Lab> {
    let of_scenario = |scenario: &&'static Scenario| Lab {
        id: scenario.id,
        part: scenario.part,
        name: scenario.name,
        title: scenario.title,
    };
    crate::labs::ALL.iter().map(of_scenario)
}

/// The labs before and after the one with this id.
pub fn neighbours(id: &str) -> (Option<Lab>, Option<Lab>) {
    let all: Vec<Lab> = labs().collect();
    let Some(place) = all.iter().position(|lab| lab.id == id) else { return (None, None) };
    (place.checked_sub(1).map(|before| all[before]), all.get(place + 1).copied())
}
