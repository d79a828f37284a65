//! Every lab in the order in which a reader goes through them: those with a run and those that are pages.

use crate::pages::pages;
use crate::parts;

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

/// All labs, in order: in each part those with a run first.
pub fn labs() -> impl Iterator<Item = Lab> {
    let of_part = |part: u8| {
        let scenarios = crate::labs::ALL
            .iter()
            .filter(move |scenario| scenario.part == part)
            .map(move |scenario| Lab { id: scenario.id, part, name: scenario.name, title: scenario.title });
        let pages = pages().iter().filter(move |page| page.part == part).map(move |page| Lab {
            id: page.id,
            part,
            name: page.name,
            title: page.title,
        });
        scenarios.chain(pages)
    };
    parts::ALL.iter().flat_map(move |part| of_part(part.number))
}

/// The labs before and after the one with this id.
pub fn neighbours(id: &str) -> (Option<Lab>, Option<Lab>) {
    let all: Vec<Lab> = labs().collect();
    let Some(place) = all.iter().position(|lab| lab.id == id) else { return (None, None) };
    (place.checked_sub(1).map(|before| all[before]), all.get(place + 1).copied())
}
