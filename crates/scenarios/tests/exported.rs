//! Runs as Rust tests: what is exported compiles and passes, because it stands here.
//!
//! The files in `exported` are written by `LEASE_LAB_BLESS=1 cargo test -p lease-lab-scenarios --test exported`; this
//! test demands that they are what would be exported today, and they are tests themselves.

use std::fs;
use std::path::Path;

use lease_lab_scenarios::run::{Input, Run};
use lease_lab_scenarios::rust_test;
use lease_lab_sim::intervention::parse_list;

#[path = "exported/billing_story.rs"]
mod billing_story;
#[path = "exported/claim_rules.rs"]
mod claim_rules;
#[path = "exported/redlock_clock.rs"]
mod redlock_clock;

const EXPORTED: [(&str, &str, u64); 3] = [
    ("billing-story", "0 fence off; 4 pause A 15; 21 crash B", 7),
    ("claim-rules", "0 set claim-rule unchanged; 4 pause A 30", 0),
    ("redlock-clock", "", 0),
];

#[test]
fn what_stands_here_is_what_is_exported() {
    for (id, interventions, seed) in EXPORTED {
        let scenario = lease_lab_scenarios::find(id).expect("it exists");
        let list = match interventions {
            "" => scenario.own_interventions(),
            text => parse_list(text).expect("it can be read"),
        };
        let run = Run::new(scenario, Input { interventions: Some(list), seed, until: None }).expect("it makes sense");
        let text = rust_test::test(&run);
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/exported/{}.rs", id.replace('-', "_")));
        if std::env::var_os("LEASE_LAB_BLESS").is_some() {
            fs::write(&path, &text).expect("it can be written");
        }
        let stands = fs::read_to_string(&path).expect("the file is there");
        assert_eq!(bare(&stands), bare(&text), "{id}: set LEASE_LAB_BLESS=1 and look at the difference");
    }
}

/// Without what the formatter decides: spaces, and commas at the end of a list.
fn bare(text: &str) -> String {
    let bare: String = text.chars().filter(|letter| !letter.is_whitespace()).collect();
    bare.replace(",]", "]").replace(",)", ")")
}
