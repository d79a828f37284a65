//! The table of beats, and the pages that are read and not run.

mod common;

use std::collections::BTreeSet;

use common::near;
use lease_lab_scenarios::pages::pages;
use lease_lab_scenarios::recap::{BeatRow, rows};
use lease_lab_scenarios::run::Input;
use lease_lab_scenarios::scenario::Extra;
use lease_lab_scenarios::{Run, all, find, tables};
use lease_lab_sim::intervention::parse_list;

/// The times of the story’s beats, from its table.
const TIMES: [f64; 24] = [
    0.0, 0.5, 1.0, 3.0, 3.9, 4.0, 13.0, 13.5, 13.6, 14.0, 19.0, 19.05, 19.5, 20.0, 21.0, 29.5, 40.0, 40.2, 40.3, 46.2,
    47.0, 49.1, 49.2, 52.0,
];

fn table(interventions: Option<&str>) -> Vec<BeatRow> {
    let interventions = interventions.map(|text| parse_list(text).unwrap_or_else(|mistake| panic!("{mistake}")));
    let scenario = find("recap").expect("it is a scenario");
    let run = Run::new(scenario, Input { interventions, ..Input::default() });
    rows(&run.unwrap_or_else(|mistake| panic!("{mistake}")))
}

#[test]
fn the_table_has_the_24_beats_at_their_times() {
    let rows = table(None);
    assert_eq!(rows.len(), TIMES.len());
    for (number, (row, expected)) in (1..).zip(rows.iter().zip(TIMES)) {
        assert_eq!(row.number, number);
        let t = row.t.unwrap_or_else(|| panic!("beat {number} happens")).as_seconds();
        assert!(near(t, expected), "beat {number}: {t}, expected {expected}");
        assert!(!row.title.is_empty() && !row.why.is_empty() && !row.machine.is_empty());
    }
    let machines: Vec<&str> = rows.iter().map(|row| row.machine.as_str()).collect();
    assert_eq!((machines[0], machines[5], machines[11], machines[21]), ("n1", "A", "store", "n2"));
}

#[test]
fn rows_that_do_not_happen_say_so() {
    let rows = table(Some("4 pause A 5"));
    let missing: Vec<u8> = rows.iter().filter(|row| row.t.is_none()).map(|row| row.number).collect();
    assert!(missing.contains(&7) && missing.contains(&12) && missing.contains(&21), "{missing:?}");
    assert!(!missing.contains(&1) && !missing.contains(&11));
    for row in rows.iter().filter(|row| row.t.is_none()) {
        assert_eq!(row.why, "This does not happen in this run.");
    }
    assert_eq!(rows[6].machine, "lock service", "where it would happen");
    assert_eq!(rows[11].machine, "store");
}

#[test]
fn the_recap_is_the_story() {
    let (recap, story) = (table(None), rows(&common::story_with("")));
    assert_eq!(recap, story);
}

#[test]
fn pages_have_their_texts_and_are_no_scenarios() {
    let ids: BTreeSet<&str> = pages().iter().map(|page| page.id).collect();
    assert_eq!(ids, ["aws", "cheat-card", "checklist", "compare"].into());
    assert!(pages().is_sorted_by_key(|page| page.part));
    for page in pages() {
        assert!(find(page.id).is_none(), "{} is a scenario as well", page.id);
        assert!((1..=12).contains(&page.part));
        assert!((2..=3).contains(&page.notice.len()), "{}", page.id);
        assert!(!page.extras.is_empty(), "{} shows nothing", page.id);
        let texts = [page.name, page.title, page.lede].into_iter().chain(page.notice.iter().copied());
        for text in texts {
            assert!(!text.trim().is_empty() && !text.contains('\''), "{}: “{text}”", page.id);
        }
        assert!(!page.title.ends_with('.'));
    }
    let extras = all().flat_map(|scenario| scenario.extras).chain(pages().iter().flat_map(|page| page.extras));
    for extra in extras {
        if let Extra::Table(id) = extra {
            assert!(tables::find(id).is_some(), "there is no table {id}");
        }
    }
}
