//! The list of interventions as it was edited: undo, redo, and branches that are kept.

use lease_lab_links::List;
#[cfg(feature = "labs")]
use lease_lab_sim::intervention::sort_by_time;

/// All versions of the list as a tree; the present one is a leaf or, after an undo, an inner node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct History {
    versions: Vec<Version>,
    present: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Version {
    list: List,
    before: Option<usize>,
    /// The version that redo goes to.
    after: Option<usize>,
}

impl History {
    pub(crate) fn new(list: List) -> History {
        History { versions: vec![Version { list, before: None, after: None }], present: 0 }
    }

    pub(crate) fn list(&self) -> &List {
        &self.versions[self.present].list
    }

    #[cfg(feature = "labs")]
    /// Makes `list` the present version.
    pub(crate) fn push(&mut self, mut list: List) {
        sort_by_time(&mut list, |entry| entry.intervention.at);
        if list == *self.list() {
            return;
        }
        let place = self.versions.len();
        self.versions[self.present].after = Some(place);
        self.versions.push(Version { list, before: Some(self.present), after: None });
        self.present = place;
    }

    #[cfg(feature = "labs")]
    pub(crate) fn can_undo(&self) -> bool {
        self.versions[self.present].before.is_some()
    }

    #[cfg(feature = "labs")]
    pub(crate) fn can_redo(&self) -> bool {
        self.versions[self.present].after.is_some()
    }

    pub(crate) fn undo(&mut self) {
        if let Some(before) = self.versions[self.present].before {
            self.versions[before].after = Some(self.present);
            self.present = before;
        }
    }

    pub(crate) fn redo(&mut self) {
        if let Some(after) = self.versions[self.present].after {
            self.present = after;
        }
    }

    #[cfg(feature = "labs")]
    /// Ends of branches other than the present one, newest first: place and list.
    pub(crate) fn other_branches(&self) -> Vec<(usize, &List)> {
        let is_end = |place: usize| !self.versions.iter().any(|version| version.before == Some(place));
        let leads_here = |mut place: usize| {
            // Whether the present version comes before this one: then redo leads there.
            while let Some(before) = self.versions[place].before {
                if before == self.present {
                    return true;
                }
                place = before;
            }
            false
        };
        (0..self.versions.len())
            .rev()
            .filter(|place| *place != self.present && is_end(*place) && !leads_here(*place))
            .map(|place| (place, &self.versions[place].list))
            .collect()
    }

    #[cfg(feature = "labs")]
    /// Returns to a branch.
    pub(crate) fn go_to(&mut self, place: usize) {
        if place < self.versions.len() {
            self.present = place;
        }
    }
}
