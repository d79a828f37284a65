//! What was answered, when it comes back, and what can be imported.

use lease_lab_drills::progress::{Attempt, Due, IMPORT_BYTES_MAX, Progress};
use lease_lab_drills::{Kind, all};
use proptest::prelude::*;

fn attempt(day: u32, right: bool) -> Attempt {
    Attempt { day, right, score: if right { 100 } else { 0 }, answer: "option 1".into() }
}

fn after(attempts: &[(u32, bool)]) -> Progress {
    let mut progress = Progress::default();
    for (day, right) in attempts {
        progress.record("late-write", attempt(*day, *right));
    }
    progress
}

#[test]
fn a_drill_comes_back_after_1_3_and_7_days() {
    let (right, wrong) = (true, false);
    let cases: &[(&[(u32, bool)], Due)] = &[
        (&[], Due::New),
        (&[(10, right)], Due::On(11)),
        (&[(10, right), (11, right)], Due::On(14)),
        (&[(10, right), (11, right), (14, right)], Due::On(21)),
        (&[(10, right), (11, right), (14, right), (21, right)], Due::Finished),
        // A wrong one: again the next day, from the beginning.
        (&[(10, wrong)], Due::On(11)),
        (&[(10, wrong), (11, right)], Due::On(12)),
        (&[(10, right), (11, right), (14, wrong)], Due::On(15)),
        (&[(10, right), (11, right), (14, wrong), (15, right)], Due::On(16)),
        (&[(10, right), (11, right), (14, wrong), (15, right), (16, right)], Due::On(19)),
        (&[(10, right), (11, right), (14, right), (21, right), (90, wrong)], Due::On(91)),
        // Answered once more on the same day: right adds nothing, wrong counts.
        (&[(10, wrong), (10, right)], Due::On(11)),
        (&[(10, right), (10, right), (10, right), (10, right)], Due::On(11)),
        (&[(10, right), (10, wrong)], Due::On(11)),
        // Late is as good as on the day, and the next interval begins then.
        (&[(10, right), (30, right)], Due::On(33)),
        (&[(10, right), (11, right), (13, right)], Due::On(14)),
        // A device whose date was set back.
        (&[(10, right), (3, right)], Due::On(11)),
        (&[(10, right), (3, wrong)], Due::On(4)),
    ];
    for (attempts, due) in cases {
        assert_eq!(after(attempts).due("late-write"), *due, "{attempts:?}");
    }
}

#[test]
fn an_attempt_is_never_overwritten() {
    let progress = after(&[(10, false), (10, true), (11, true)]);
    let first = progress.attempts("late-write").first().expect("there is a first one");
    assert!(!first.right);
    assert_eq!(progress.attempts("late-write").len(), 3);
    let mut many = after(&[(10, false)]);
    for day in 11..3_000 {
        many.record("late-write", attempt(day, true));
    }
    assert_eq!(many.attempts("late-write").first(), Some(&attempt(10, false)), "the first one stays");
    assert_eq!(many.attempts("late-write").last(), Some(&attempt(2_999, true)));
    assert!(Progress::import(&many.export()).is_ok(), "what is exported can be imported");
}

#[test]
fn a_streak_ends_today_or_yesterday() {
    let cases: &[(&[u32], u32, u32)] = &[
        (&[], 10, 0),
        (&[10], 10, 1),
        (&[9], 10, 1),
        (&[8], 10, 0),
        (&[7, 8, 9, 10], 10, 4),
        (&[7, 8, 9], 10, 3),
        (&[6, 8, 9, 10], 10, 3),
        (&[0, 1], 1, 2),
        (&[], 0, 0),
    ];
    for (days, today, streak) in cases {
        let attempts: Vec<(u32, bool)> = days.iter().map(|day| (*day, day % 2 == 0)).collect();
        assert_eq!(after(&attempts).streak(*today), *streak, "{days:?} on {today}");
    }
}

#[test]
fn a_session_takes_what_is_due_first() {
    let mut progress = Progress::default();
    let ids: Vec<&str> = all().map(|drill| drill.id).collect();
    progress.record(ids[3], attempt(10, false)); // due on 11, missed
    progress.record(ids[1], attempt(9, true)); // due on 10
    progress.record(ids[0], attempt(12, true)); // due on 13
    progress.record(ids[2], attempt(8, true)); // due on 9
    let session: Vec<&str> = progress.session(12, 6).iter().map(|drill| drill.id).collect();
    assert_eq!(session[..3], [ids[2], ids[1], ids[3]]);
    assert!(!session.contains(&ids[0]), "it is not due");
    assert_eq!(progress.session(12, 2).len(), 2);
    assert_eq!(progress.next_day(12), Some(13));
    assert_eq!(Progress::default().next_day(12), None);
    assert_eq!(progress.session(12, 6), progress.session(12, 6));
}

#[test]
fn a_first_session_mixes_kinds_and_follows_the_course() {
    let session = Progress::default().session(1, 6);
    assert_eq!(session.len(), 6.min(all().len()));
    let mut kinds: Vec<Kind> = session.iter().map(|drill| drill.kind()).collect();
    kinds.sort();
    kinds.dedup();
    assert!(kinds.len() >= 2, "{kinds:?}");
    let mut answered = Progress::default();
    for (day, drill) in (0..).zip(all()) {
        answered.record(drill.id, attempt(day, true));
    }
    assert!(answered.session(0, 6).is_empty(), "nothing is new and nothing is due yet");
}

#[test]
fn outcomes_are_proved_by_the_last_answers() {
    let drill = all().next().expect("there are drills");
    let outcome = drill.outcomes[0];
    let mut progress = Progress::default();
    let (none, total) = progress.proved(outcome);
    assert!(none == 0 && total > 0);
    progress.record(drill.id, attempt(1, true));
    assert_eq!(progress.proved(outcome), (1, total));
    progress.record(drill.id, attempt(2, false));
    assert_eq!(progress.proved(outcome), (0, total));
    for drill in all() {
        progress.record(drill.id, attempt(3, true));
    }
    assert_eq!(progress.proved(outcome), (total, total));
}

#[test]
fn the_export_is_stable() {
    let mut progress = Progress::default();
    assert_eq!(progress.export(), "{\n  \"version\": 1,\n  \"items\": {}\n}\n");
    progress.record("zebra", attempt(2, true));
    progress.record("a drill of “another” version", attempt(1, false));
    progress.record("zebra", Attempt { answer: "do 4 pause A 8; 5 crash \"B\"\n".into(), ..attempt(3, false) });
    let text = "{
  \"version\": 1,
  \"items\": {
    \"a drill of “another” version\": {
      \"attempts\": [
        { \"day\": 1, \"right\": false, \"score\": 0, \"answer\": \"option 1\" }
      ]
    },
    \"zebra\": {
      \"attempts\": [
        { \"day\": 2, \"right\": true, \"score\": 100, \"answer\": \"option 1\" },
        { \"day\": 3, \"right\": false, \"score\": 0, \"answer\": \"do 4 pause A 8; 5 crash \\\"B\\\"\\n\" }
      ]
    }
  }
}
";
    assert_eq!(progress.export(), text);
    assert_eq!(Progress::import(text), Ok(progress), "unknown ids are kept");
}

#[test]
fn what_cannot_be_imported_gets_a_sentence() {
    let item = |attempt: &str| format!("{{\"version\": 1, \"items\": {{\"x\": {{\"attempts\": [{attempt}]}}}}}}");
    let exported = "expected a file that was exported here";
    let cases: Vec<(String, String)> = vec![
        (String::new(), format!("the file is not JSON from line 1, column 0 on; {exported}")),
        ("{\n  nonsense".into(), format!("the file is not JSON from line 2, column 3 on; {exported}")),
        ("[]".into(), "the file is not an object; expected one with version, items".into()),
        ("{}".into(), format!("“version” in the file is not 1; {exported}")),
        ("{\"version\": 2, \"items\": {}}".into(), format!("“version” in the file is not 1; {exported}")),
        ("{\"version\": \"1\", \"items\": {}}".into(), format!("“version” in the file is not 1; {exported}")),
        (
            "{\"version\": 1}".into(),
            "“items” is missing in the file; expected an object with an entry for each drill".into(),
        ),
        (
            "{\"version\": 1, \"items\": {}, \"more\": 1}".into(),
            "the file has a key that is not known here; expected version, items".into(),
        ),
        (
            "{\"version\": 1, \"items\": {\"\": {}}}".into(),
            "“” in “items” is not the id of a drill; expected one such as late-write".into(),
        ),
        ("{\"version\": 1, \"items\": {\"x\": 3}}".into(), "“x” is not an object; expected one with attempts".into()),
        (
            "{\"version\": 1, \"items\": {\"x\": {}}}".into(),
            "“x” has no “attempts”; expected a list of 1 to 500".into(),
        ),
        (item(""), "“x” has no “attempts”; expected a list of 1 to 500".into()),
        (item("4"), "attempt 1 of “x” is not an object; expected one with day, right, score, answer".into()),
        (
            item("{\"day\": -1, \"right\": true, \"score\": 1, \"answer\": \"\"}"),
            "“day” in attempt 1 of “x” is wrong; expected a whole number from 0 to 1000000".into(),
        ),
        (
            item("{\"day\": 1.5, \"right\": true, \"score\": 1, \"answer\": \"\"}"),
            "“day” in attempt 1 of “x” is wrong; expected a whole number from 0 to 1000000".into(),
        ),
        (
            item("{\"day\": 1, \"right\": \"yes\", \"score\": 1, \"answer\": \"\"}"),
            "“right” in attempt 1 of “x” is wrong; expected true or false".into(),
        ),
        (
            item("{\"day\": 1, \"right\": true, \"score\": 101, \"answer\": \"\"}"),
            "“score” in attempt 1 of “x” is wrong; expected a whole number from 0 to 100".into(),
        ),
        (
            item("{\"day\": 1, \"right\": true, \"score\": 1}"),
            "“answer” in attempt 1 of “x” is wrong; expected a text of at most 20000 bytes".into(),
        ),
        (
            " ".repeat(IMPORT_BYTES_MAX + 1),
            format!("the file has {} bytes; expected at most {IMPORT_BYTES_MAX}", IMPORT_BYTES_MAX + 1),
        ),
        // As deep as somebody likes.
        ("[".repeat(100_000), format!("the file is not JSON from line 1, column 128 on; {exported}")),
    ];
    for (text, sentence) in cases {
        let short: String = text.chars().take(60).collect();
        assert_eq!(Progress::import(&text), Err(sentence), "{short}");
    }
}

fn progresses() -> impl Strategy<Value = Progress> {
    let attempt = (0..1_000_000_u32, any::<bool>(), 0..=100_u8, "\\PC{0,30}");
    let item = ("[^\u{0}-\u{1f}\u{7f}-\u{9f}]{1,20}", attempt);
    proptest::collection::vec(item, 0..20).prop_map(|items| {
        let mut progress = Progress::default();
        for (id, (day, right, score, answer)) in items {
            progress.record(&id, Attempt { day, right, score, answer });
        }
        progress
    })
}

proptest! {
    #[test]
    fn what_is_exported_is_imported_as_it_was(progress in progresses()) {
        prop_assert_eq!(Progress::import(&progress.export()), Ok(progress));
    }

    #[test]
    fn no_text_does_harm(text in "\\PC{0,200}") {
        let _ = Progress::import(&text);
    }

    #[test]
    fn no_change_of_an_export_does_harm(
        progress in progresses(),
        at in any::<prop::sample::Index>(),
        with in "[\\[\\]{}\",:0-9a-z\\\\-]{0,3}",
    ) {
        let mut text: Vec<char> = progress.export().chars().collect();
        let place = at.index(text.len());
        text.splice(place..=place, with.chars());
        let text: String = text.into_iter().collect();
        if let Ok(changed) = Progress::import(&text) {
            prop_assert_eq!(Progress::import(&changed.export()), Ok(changed));
        }
    }
}
