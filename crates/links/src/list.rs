//! The list of interventions with those that are switched off.

use lease_lab_scenarios::Scenario;
use lease_lab_scenarios::accept::accept;
use lease_lab_sim::intervention::{
    Change, INTERVENTIONS_MAX, Intervention, Mistake, parse_list, parse_one, sort, sort_by_time,
};
use lease_lab_sim::time::TrueTime;

/// One line of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What is done, and when.
    pub intervention: Intervention,
    /// Switched off, it stays in the list and out of the run.
    pub on: bool,
}

/// The list, sorted by time.
pub type List = Vec<Entry>;

/// A list in which everything is on.
pub fn all_on(mut interventions: Vec<Intervention>) -> List {
    sort(&mut interventions);
    interventions.into_iter().map(|intervention| Entry { intervention, on: true }).collect()
}

/// What is switched on.
pub fn active(list: &List) -> Vec<Intervention> {
    list.iter().filter(|entry| entry.on).map(|entry| entry.intervention.clone()).collect()
}

/// `list` with a change made at `at`; a rule stands in the place of an earlier setting of it at that time.
pub fn with_rule(list: &List, at: TrueTime, change: &Change) -> List {
    let same_rule = |entry: &Entry| {
        let before = &entry.intervention.change;
        entry.intervention.at == at
            && std::mem::discriminant(before) == std::mem::discriminant(change)
            && match (before, change) {
                (Change::Set { key: before, .. }, Change::Set { key, .. }) => before == key,
                _ => is_rule(change),
            }
    };
    let mut list: List = list.iter().filter(|entry| !same_rule(entry)).cloned().collect();
    list.push(Entry { intervention: Intervention { at, change: change.clone() }, on: true });
    sort_by_time(&mut list, |entry| entry.intervention.at);
    list
}

/// Whether a change sets something, so that a later one replaces it.
fn is_rule(change: &Change) -> bool {
    matches!(
        change,
        Change::Fence(_)
            | Change::Raise(_)
            | Change::Idempotent(_)
            | Change::Sweeper(_)
            | Change::Lease(_)
            | Change::Renew(_)
            | Change::Margin(_)
            | Change::Service(_)
            | Change::Store(_)
    )
}

/// Reads what is on, and puts what is off where it stood: `3:21 crash B` is the third of the whole list.
pub(crate) fn read(on: &str, off: &str) -> Result<List, Mistake> {
    let mut list = all_on(parse_list(on)?);
    for (before, part) in off.split(';').filter(|part| !part.trim().is_empty()).enumerate() {
        if before == INTERVENTIONS_MAX {
            return Err(Mistake::too_many());
        }
        let (place, text) = match part.split_once(':') {
            Some((place, text)) => (place.trim().parse().unwrap_or(usize::MAX), text),
            None => (usize::MAX, part),
        };
        let intervention = parse_one(text).map_err(|mistake| Mistake { part: 0, ..mistake })?;
        let place = place.saturating_sub(1).min(list.len());
        list.insert(place, Entry { intervention, on: false });
    }
    sort_by_time(&mut list, |entry| entry.intervention.at);
    Ok(list)
}

/// Writes the entries that are on, or those that are off with their places.
pub(crate) fn write(list: &List, on: bool) -> String {
    let mut text = String::new();
    for (place, entry) in list.iter().enumerate().filter(|(_, entry)| entry.on == on) {
        if !text.is_empty() {
            text.push_str("; ");
        }
        if !on {
            text.push_str(&format!("{}:", place + 1));
        }
        text.push_str(&entry.intervention.to_string());
    }
    text
}

/// When a run with what is on ends, or why the list makes no sense for the scenario.
pub(crate) fn horizon(scenario: &Scenario, list: &List) -> Result<TrueTime, Mistake> {
    accept(scenario, active(list)).map(|(plan, _)| plan.horizon)
}

/// A run to compare with: interventions in the grammar that are added, or that stand instead of all others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beside {
    /// The interventions, separated by `;`.
    pub text: String,
    /// They stand instead of all others.
    pub alone: bool,
}

impl Beside {
    /// In a link, a `=` in front stands for “instead of all others”.
    pub(crate) fn read(text: &str) -> Beside {
        let (text, alone) = match text.strip_prefix('=') {
            Some(text) => (text, true),
            None => (text, false),
        };
        Beside { text: text.trim().to_owned(), alone }
    }

    pub(crate) fn write(&self) -> String {
        format!("{}{}", if self.alone { "=" } else { "" }, self.text)
    }

    /// The whole list of that run, beside `list`.
    ///
    /// # Errors
    /// When the text is not in the grammar.
    pub fn list(&self, list: &List) -> Result<List, Mistake> {
        let added = parse_list(&self.text)?;
        let mut whole = if self.alone { List::new() } else { list.clone() };
        for intervention in added {
            whole = with_rule(&whole, intervention.at, &intervention.change);
        }
        Ok(whole)
    }
}
