//! What becomes of an answer.

mod samples;

use lease_lab_drills::Kind::{BreakIt, Explain, FixIt, Predict};
use lease_lab_drills::grade::{Answer, counts, grade};
use lease_lab_drills::{Drill, Kind};
use lease_lab_sim::intervention::{parse_list, parse_one};
use lease_lab_sim::time::TrueTime;
use proptest::prelude::*;
use samples::{BREAK_IT, CHOOSE, EXPLAIN, FIX_IT, MARK, NUMBER, ORDER, changed, drill};

fn interventions(text: &str) -> Answer {
    Answer::Interventions(parse_list(text).expect(text))
}

struct Expected {
    right: bool,
    score: u8,
    predicted: &'static str,
    truth: &'static str,
    feedback: &'static str,
    misconception: Option<&'static str>,
}

fn check(drill: &Drill, answer: &Answer, expected: &Expected) {
    let graded = grade(drill, answer).expect("it can be graded");
    assert_eq!(graded.right, expected.right, "{answer}: {}", graded.feedback);
    assert_eq!(graded.score, expected.score, "{answer}");
    assert_eq!(graded.predicted, expected.predicted, "{answer}");
    assert_eq!(graded.truth, expected.truth, "{answer}");
    assert_eq!(graded.feedback, expected.feedback, "{answer}");
    assert_eq!(graded.misconception, expected.misconception, "{answer}");
    assert_eq!(graded.right, graded.score >= 60, "{answer}: right is 60 or more");
}

#[test]
fn predictions_are_graded_by_the_run() {
    let right = |predicted, truth, feedback| Expected {
        right: true,
        score: 100,
        predicted,
        truth,
        feedback,
        misconception: None,
    };
    let wrong = |score, predicted, truth, feedback, misconception| Expected {
        right: false,
        score,
        predicted,
        truth,
        feedback,
        misconception,
    };
    let order = "A’s lease ends → B gets the lock → B raises";
    let cases: Vec<(&str, Answer, Expected)> = vec![
        (CHOOSE, Answer::Option(0), right("Refused", "Refused", "So it is.")),
        (CHOOSE, Answer::Option(1), wrong(0, "Recorded", "Refused", "No.", Some("Late is fine"))),
        (ORDER, Answer::Order(vec![1, 2, 0]), right(order, order, "")),
        (
            ORDER,
            Answer::Order(vec![2, 1, 0]),
            // Two of three pairs are right.
            wrong(
                39,
                "B gets the lock → A’s lease ends → B raises",
                order,
                "Not before the lease ends.",
                Some("A lock can be taken away"),
            ),
        ),
        (
            ORDER,
            Answer::Order(vec![1, 0, 2]),
            wrong(39, "A’s lease ends → B raises → B gets the lock", order, "No.", None),
        ),
        (
            ORDER,
            Answer::Order(vec![0, 2, 1]),
            wrong(
                0,
                "B raises → B gets the lock → A’s lease ends",
                order,
                "Not before the lease ends.",
                Some("A lock can be taken away"),
            ),
        ),
        (NUMBER, Answer::Number(6_000_000), right("6.0 s", "6.09 s", "")),
        // As far off as the tolerance, and a millionth more.
        (NUMBER, Answer::Number(6_592_000), right("6.59 s", "6.09 s", "")),
        (NUMBER, Answer::Number(6_592_001), wrong(0, "6.59 s", "6.09 s", "No.", None)),
        (
            NUMBER,
            Answer::Number(15_000_000),
            wrong(0, "15.0 s", "6.09 s", "That is the pause.", Some("The lease ends at once")),
        ),
        (NUMBER, Answer::Number(i64::MIN), wrong(0, "−9223372036854.78 s", "6.09 s", "No.", None)),
        (MARK, Answer::Mark(TrueTime::from_millis(13_200)), right("13.2 s", "13.01 s", "")),
        (
            MARK,
            Answer::Mark(TrueTime::from_millis(18_500)),
            wrong(0, "18.5 s", "13.01 s", "That is when it wakes up.", Some("The lease waits for A")),
        ),
    ];
    for (sample, answer, expected) in cases {
        check(&drill(Predict, sample), &answer, &expected);
    }
}

/// The same answer under another run: what is right follows the run.
#[test]
fn no_answer_is_stored() {
    let calm = changed(Predict, CHOOSE, "hide = 18.0", "hide = 18.0\ndo = \"4 pause A 8\"").expect("it can be read");
    let graded = grade(&calm, &Answer::Option(0)).expect("it can be graded");
    assert!(!graded.right && graded.truth.is_empty(), "nothing is refused in this run");
    let shorter =
        changed(Predict, NUMBER, "hide = 12.0", "hide = 12.0\ndo = \"4 pause A 12\"").expect("it can be read");
    assert!(grade(&shorter, &Answer::Number(3_000_000)).expect("it can be graded").right);
    assert!(!grade(&shorter, &Answer::Number(6_000_000)).expect("it can be graded").right);
}

#[test]
fn every_win_counts_within_the_limit() {
    let drill = drill(BreakIt, BREAK_IT);
    let reached = "The goal is reached.";
    let cases: &[(&str, bool, u8, &str, &str)] = &[
        ("4 pause A 15", true, 100, reached, "It works, and no shorter way is known."),
        ("3.95 delay A store 12", true, 100, reached, "It works, and no shorter way is known."),
        ("4 pause A 15; 20 heal", true, 90, reached, "It works. The shortest known way has 1 intervention."),
        ("4 pause A 15; 20 heal; 21 heal", false, 0, reached, "It works, but with 3 interventions; at most 2 count."),
        ("4 pause A 15; 0 fence off", false, 0, reached, "“0 fence off” does not count here. Find a way without it."),
        ("4 crash A", false, 0, "The goal is not reached.", "The dead write nothing."),
        ("", false, 0, "The goal is not reached.", "No."),
    ];
    for (text, right, score, truth, feedback) in cases {
        let graded = grade(&drill, &interventions(text)).expect(text);
        let outcome = (graded.right, graded.score, graded.truth.as_str(), graded.feedback.as_str());
        assert_eq!(outcome, (*right, *score, *truth, *feedback), "{text}");
        assert_eq!(graded.checks.len(), 1);
        assert_eq!(graded.checks[0].holds, *truth == reached);
    }
    let senseless = grade(&drill, &interventions("3 set lag 1")).map(|graded| graded.right);
    assert!(senseless.is_err_and(|sentence| sentence.starts_with("intervention “3 set lag 1”: ")));
}

#[test]
fn some_changes_count_only_where_they_are_listed() {
    for (text, allow, counted) in [
        ("4 pause A 15", &[][..], true),
        ("0 raise late", &[], true),
        ("0 fence two-step", &[], true),
        ("0 fence on", &[], true),
        ("0 fence off", &[], false),
        ("0 fence off", &["fence off"], true),
        ("0 fence off", &["fence"], true),
        ("0 fence off", &["fence o"], false),
        ("0 set claim-rule now", &[], false),
        ("0 set claim-rule now", &["set"], true),
        ("0 set claim-rule now", &["set claim-rule"], true),
        ("0 set claim-rule now", &["set claim"], false),
        ("0 set ttl 2", &["set claim-rule"], false),
        ("30 restore 6", &["fence off", "set"], false),
        ("30 restore 6 bump 9", &["restore"], true),
    ] {
        let intervention = parse_one(text).expect(text);
        assert_eq!(counts(&intervention.change, allow), counted, "{text} with {allow:?}");
    }
}

#[test]
fn a_fix_must_withstand_every_attack() {
    let drill = drill(FixIt, FIX_IT);
    let cases: &[(&[usize], Expected)] = &[
        (
            &[1],
            Expected {
                right: true,
                score: 100,
                predicted: "Raise first",
                truth: "1 of 1 attack withstood",
                feedback: "It holds, and nothing less does.",
                misconception: None,
            },
        ),
        (
            &[1, 0, 1],
            Expected {
                right: true,
                score: 90,
                predicted: "A margin of 4 s + Raise first",
                truth: "1 of 1 attack withstood",
                feedback: "It holds. 1 change would do.",
                misconception: None,
            },
        ),
        (
            &[0],
            Expected {
                right: false,
                score: 29,
                predicted: "A margin of 4 s",
                truth: "0 of 1 attack withstood",
                feedback: "A frozen A looks at no clock.",
                misconception: Some("A margin covers a pause"),
            },
        ),
        (
            &[],
            Expected {
                right: false,
                score: 29,
                predicted: "no change",
                truth: "0 of 1 attack withstood",
                feedback: "Nothing is changed yet.",
                misconception: None,
            },
        ),
    ];
    for (chosen, expected) in cases {
        let answer = Answer::Changes(chosen.to_vec());
        check(&drill, &answer, expected);
        let graded = grade(&drill, &answer).expect("it can be graded");
        let names: Vec<&str> = graded.runs.iter().map(|named| named.name).collect();
        assert_eq!(names, ["", "A pause"]);
    }
}

#[test]
fn a_self_check_is_right_when_it_is_complete() {
    let drill = drill(Explain, EXPLAIN);
    for (ticked, right, score, predicted) in [
        ([true, true, true], true, 100, "3 of 3 points"),
        ([true, false, true], false, 39, "2 of 3 points"),
        ([false, false, false], false, 0, "0 of 3 points"),
    ] {
        let answer = Answer::SelfCheck(ticked.to_vec());
        let graded = grade(&drill, &answer).expect("it can be graded");
        assert_eq!((graded.right, graded.score, graded.predicted.as_str()), (right, score, predicted));
        assert_eq!(graded.truth, "One. Two. Three.");
    }
}

#[test]
fn an_answer_of_another_sort_gets_a_sentence() {
    let other = "the answer belongs to another kind of drill; expected one of this kind";
    let cases: Vec<(Kind, &str, Answer, &str)> = vec![
        (Predict, CHOOSE, Answer::Number(1), other),
        (Predict, NUMBER, Answer::Mark(TrueTime::ZERO), other),
        (BreakIt, BREAK_IT, Answer::Option(0), other),
        (FixIt, FIX_IT, interventions(""), other),
        (Explain, EXPLAIN, Answer::Changes(vec![]), other),
        (Predict, CHOOSE, Answer::Option(2), "there is no option 3; expected 1 to 2"),
        (Predict, ORDER, Answer::Order(vec![0, 1]), "the order must have each of the items 1 to 3 once"),
        (Predict, ORDER, Answer::Order(vec![0, 1, 1]), "the order must have each of the items 1 to 3 once"),
        (Predict, ORDER, Answer::Order(vec![0, 1, 3]), "the order must have each of the items 1 to 3 once"),
        (FixIt, FIX_IT, Answer::Changes(vec![2]), "there is no change 3; expected 1 to 2"),
        (Explain, EXPLAIN, Answer::SelfCheck(vec![true]), "1 points were answered; expected 3"),
    ];
    for (kind, sample, answer, sentence) in cases {
        let graded = grade(&drill(kind, sample), &answer).map(|graded| graded.right);
        assert_eq!(graded, Err(sentence.to_owned()), "{answer}");
    }
}

#[test]
fn what_is_kept_of_an_answer_is_read_again() {
    for (answer, text) in [
        (Answer::Option(1), "option 2"),
        (Answer::Order(vec![2, 0, 1]), "order 3 1 2"),
        (Answer::Number(-18_500_000), "number -18.5"),
        (Answer::Mark(TrueTime::from_millis(19_050)), "mark 19.05"),
        (interventions("4 pause A 8; 21 crash B"), "do 4 pause A 8; 21 crash B"),
        (interventions(""), "do "),
        (Answer::Changes(vec![0, 2]), "changes 1 3"),
        (Answer::Changes(vec![]), "changes"),
        (Answer::SelfCheck(vec![true, false]), "check yes no"),
    ] {
        assert_eq!(answer.to_string(), text);
        assert_eq!(Answer::read(text), Some(answer));
    }
    for text in
        ["", "option", "option 0", "option x", "order 1 x", "number 1e9", "do nonsense", "check maybe", "other 1"]
    {
        assert_eq!(Answer::read(text), None, "{text}");
    }
}

#[test]
fn the_events_that_show_it_are_found() {
    let graded = grade(&drill(Predict, CHOOSE), &Answer::Option(1)).expect("it can be graded");
    let (run, event) = graded.shows[0];
    assert_eq!(graded.runs[run].run.events[event].kind.name(), "write-refused");
    // Where the learner's run lacks one, it is left out.
    let graded = grade(&drill(BreakIt, BREAK_IT), &interventions("0.6 crash A; 1 crash B")).expect("it can be graded");
    assert_eq!(graded.shows, []);
    let graded = grade(&drill(FixIt, FIX_IT), &Answer::Changes(vec![])).expect("it can be graded");
    let (run, event) = graded.shows[0];
    assert_eq!((run, graded.runs[run].run.events[event].kind.name()), (1, "fence-raised"));
}

proptest! {
    #[test]
    fn no_kept_answer_does_harm(text in "(option|order|number|mark|do|changes|check)? ?[-0-9. a-z;]{0,30}", which in 0..7_usize) {
        let (kind, sample) = samples::ALL[which];
        if let Some(answer) = Answer::read(&text) {
            prop_assert_eq!(Answer::read(&answer.to_string()), Some(answer.clone()));
            let _ = grade(&drill(kind, sample), &answer);
        }
    }
}
