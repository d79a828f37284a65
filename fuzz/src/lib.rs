//! What must hold of any text, for each parser that reads what comes from outside; a panic says that it does not.

pub mod seeds;

use lease_lab_drills::grade::Answer;
use lease_lab_drills::progress::Progress;
use lease_lab_drills::query::{Condition, Pattern, Value};
use lease_lab_links::{LENGTH_MAX, Link};
use lease_lab_sim::intervention::{Intervention, parse_list, parse_one};

/// One parser with its checks.
pub type Target = fn(&str);

/// Every target by its name.
pub const TARGETS: [(&str, Target); 4] =
    [("link", link), ("grammar", grammar), ("progress", progress), ("query", query)];

/// A link: what was read of it can be written, and reads as the same.
pub fn link(text: &str) {
    let read = Link::read(text);
    for notice in &read.notices {
        assert!(notice.ends_with('.') && !notice.contains(char::is_control), "{notice:?}");
    }
    let written = read.write();
    if written.len() <= LENGTH_MAX {
        let again = Link::read(&written);
        assert_eq!(again.notices, Vec::<String>::new(), "{written}");
        assert_eq!(again.list, read.list, "{written}");
        assert_eq!(again.write(), written);
    }
}

/// Interventions: what was read is printed, and reads as the same; what was not has one sentence.
pub fn grammar(text: &str) {
    match parse_list(text) {
        Ok(list) => {
            let printed: Vec<String> = list.iter().map(Intervention::to_string).collect();
            assert_eq!(parse_list(&printed.join("; ")).as_ref(), Ok(&list), "{printed:?}");
            for (one, text) in list.iter().zip(&printed) {
                assert_eq!(parse_one(text).as_ref(), Ok(one), "{text}");
            }
        }
        Err(mistake) => {
            let sentence = mistake.to_string();
            assert!(!sentence.contains(char::is_control) && !mistake.expected.is_empty(), "{sentence:?}");
        }
    }
}

/// A learner’s file: what was imported is exported, and imports as the same.
pub fn progress(text: &str) {
    match Progress::import(text) {
        Ok(progress) => {
            assert_eq!(Progress::import(&progress.export()).as_ref(), Ok(&progress));
            let _ = (progress.streak(20_000), progress.session(20_000, 10), progress.next_day(20_000));
            for drill in lease_lab_drills::all() {
                for attempt in progress.attempts(drill.id) {
                    let _ = Answer::read(&attempt.answer);
                }
            }
        }
        Err(sentence) => assert!(!sentence.contains(char::is_control), "{sentence:?}"),
    }
}

/// Patterns, values and conditions; what was answered is read in the same file of the page.
pub fn query(text: &str) {
    let _ = (Pattern::parse(text), Value::parse(text), Condition::parse(text));
    if let Some(answer) = Answer::read(text) {
        assert_eq!(Answer::read(&answer.to_string()), Some(answer), "{text}");
    }
}
