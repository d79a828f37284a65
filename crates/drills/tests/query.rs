//! What the query language reads, and what it says of a run.

mod samples;

use lease_lab_drills::Kind::Predict;
use lease_lab_drills::grade::runs;
use lease_lab_drills::query::{Condition, Named, Pattern, Scalar, Value, told};
use lease_lab_sim::event::Kind;
use lease_lab_sim::time::TrueTime;
use proptest::prelude::*;

/// The zombie’s run, and one without a pause.
fn zombie() -> Vec<Named> {
    let also = "[[also]]\nname = \"calm\"\ntext = \"Nobody freezes.\"\ndo = \"\"\n\n[variation]";
    runs(&samples::changed(Predict, samples::CHOOSE, "[variation]", also).expect("it can be read")).expect("it runs")
}

/// The time of the first event that fits, found without the language.
fn first(named: &Named, fits: impl Fn(&Kind) -> bool) -> i64 {
    named.run.events.iter().find(|event| fits(&event.kind)).expect("the run has it").t.as_micros()
}

#[test]
fn values_are_read_off_the_run() {
    let runs = zombie();
    let expired = first(&runs[0], |kind| matches!(kind, Kind::LeaseExpired { .. }));
    let gave_up = first(&runs[0], |kind| matches!(kind, Kind::GaveUp { .. }));
    let refused = first(&runs[0], |kind| matches!(kind, Kind::WriteRefused { .. }));
    let done = first(&runs[1], |kind| matches!(kind, Kind::JobDone { .. }));
    let written = runs[0].run.events.iter().filter(|event| matches!(event.kind, Kind::ChunkWritten { .. })).count();
    let written = written as i64 * 1_000_000;
    let cases: &[(&str, i64, i64)] = &[
        // The text, what it comes to, and the latest instant that it rests on.
        ("18.5", 18_500_000, 0),
        ("-3", -3_000_000, 0),
        ("0.000001", 1, 0),
        ("1 + 2 - 0.5", 2_500_000, 0),
        ("time lease-expired worker=A", expired, expired),
        ("time gave-up worker=A - time lease-expired worker=A", gave_up - expired, gave_up),
        ("field token of lease-granted worker=B", 12_000_000, 13_515_000),
        ("field fence of write-refused on store", 12_000_000, refused),
        ("field t of write-refused", refused, refused),
        ("count chunk-written", written, 60_000_000),
        ("count chunk-written before 1.5", 1_000_000, 1_500_000),
        ("count chunk-written chunk=99", 0, 60_000_000),
        ("measure zombie-for", gave_up - expired, 60_000_000),
        ("world 19.05 /store/fence", 12_000_000, 19_050_000),
        ("world 0.3 /store/fence", 0, 300_000),
        ("calm: time job-done", done, i64::MAX),
        ("calm: time job-done - time lease-expired", done - expired, i64::MAX),
        (
            "time chunk-written #2 worker=B after 1",
            first(&runs[0], |kind| matches!(kind, Kind::ChunkWritten { chunk: 3, .. })),
            20_000_000,
        ),
    ];
    for (text, micros, rests_on) in cases {
        let found = Value::parse(text).and_then(|value| value.of(&runs)).expect(text);
        assert_eq!(found.value, Scalar::Number((*micros).into()), "{text}");
        assert_eq!(found.rests_on, TrueTime::from_micros(*rests_on), "{text}");
    }
    let word = Value::parse("world 19.05 /service/key/holder").and_then(|value| value.of(&runs));
    assert_eq!(word.map(|found| found.value), Ok(Scalar::Word("B".into())));
}

#[test]
fn conditions_hold_or_do_not() {
    let runs = zombie();
    let cases: &[(&str, bool, &str)] = &[
        ("happens write-refused worker=A", true, "19.05"),
        ("happens write-refused worker=A #2", false, "60"),
        ("happens write-refused worker=A after 19.05", false, "60"),
        ("happens write-refused worker=A after 19.04 before 19.06", true, "19.05"),
        ("happens write-refused worker=A before 19.05", false, "19.05"),
        ("happens write-refused because=token-below-fence token=7", true, "19.05"),
        ("happens write-refused token=7.0", true, "19.05"),
        ("happens write-refused token=8", false, "60"),
        ("happens write-refused nothing=8", false, "60"),
        ("happens stop-time-checked passed=true act=raise", true, "0.45"),
        ("happens paused worker=A vm=false for=15", true, "4"),
        ("never crashed", true, "60"),
        ("never paused", false, "4"),
        ("never paused before 4", true, "4"),
        ("holds charged-once", true, "60"),
        ("broken charged-once", false, "60"),
        ("broken acts-in-time", true, "19"),
        ("holds acts-in-time", false, "19"),
        ("time lease-expired < time lease-granted worker=B", true, "13.515"),
        ("time lease-expired >= time lease-granted worker=B", false, "13.515"),
        ("count lease-granted = 2", true, "60"),
        ("count lease-granted != 2", false, "60"),
        ("count lease-granted <= 2", true, "60"),
        ("count lease-granted > 2", false, "60"),
        ("world 30 /service/key/holder = \"B\"", true, "30"),
        ("world 30 /service/key/holder != \"A\"", true, "30"),
        // A word is neither more nor less than anything.
        ("world 30 /service/key/holder > \"A\"", false, "30"),
        ("world 30 /service/key/holder < 3", false, "30"),
        // What the run does not have compares with nothing.
        ("time crashed < 99", false, "60"),
        ("time crashed != 99", false, "60"),
        ("world 30 /no/such/place = 0", false, "60"),
        ("measure no-such-measure = 0", false, "60"),
        ("world 30 /service/key/holder + 1 = 0", false, "60"),
        ("calm: never write-refused", true, "never"),
        ("calm: count write-refused = 0", true, "never"),
        ("storm: never write-refused", false, "never"),
        ("count write-refused > calm: count write-refused", true, "never"),
    ];
    for (text, holds, rests_on) in cases {
        let outcome = Condition::parse(text).expect(text).of(&runs);
        assert_eq!(outcome.holds, *holds, "{text}: {outcome:?}");
        let known = if outcome.rests_on == TrueTime::MAX { "never".into() } else { outcome.rests_on.to_string() };
        assert_eq!(known, *rests_on, "{text}");
    }
}

#[test]
fn what_cannot_be_read_gets_a_sentence() {
    let value = "expected a number, time, field, count, measure, world or a word in quotes";
    let begins = "a condition begins with happens, never, broken, holds or a value";
    let pattern = "expected field=value, on MACHINE, #N, after S or before S";
    let cases: &[(&str, String)] = &[
        ("", format!("it ends too early; {value}; {begins}")),
        ("happens", "it ends too early; expected the kind of an event, such as write-refused".into()),
        ("happens worker=A", "“worker=A” is no kind of event; expected one of docs/trace.md, such as write-refused".into()),
        ("happens crashed of", format!("“of” means nothing in a pattern; {pattern}")),
        ("happens crashed worker=", format!("“worker=” means nothing in a pattern; {pattern}")),
        ("happens crashed =A", format!("“=A” means nothing in a pattern; {pattern}")),
        ("happens crashed on", "it ends too early; expected a machine".into()),
        ("happens crashed on Z", "there is no machine “Z”; expected one such as A or n1".into()),
        ("happens crashed #0", "“#0” counts nothing; expected # and a number from 1, such as #2".into()),
        ("happens crashed #x", "“#x” counts nothing; expected # and a number from 1, such as #2".into()),
        ("happens crashed after -1", "“-1” is not an instant; expected true seconds, such as 19.05".into()),
        ("happens crashed < 3", "“<” is one word too many; expected nothing after what stands before it".into()),
        ("never crashed #2", "never takes no #N; expected count PATTERN < N".into()),
        (
            "broken promise",
            "“promise” is no invariant; expected charged-once or one-acting-holder or no-stale-write or tokens-grow or \
             only-owner-releases or acts-in-time or job-finishes"
                .into(),
        ),
        ("time crashed", "it ends too early; expected = or != or < or <= or > or >=".into()),
        ("time crashed 3", format!("“3” means nothing in a pattern; {pattern}; {begins}")),
        ("3 == 3", "“==” compares nothing; expected = or != or < or <= or > or >=".into()),
        ("3 < B", format!("“B” is no value; {value}")),
        ("3 < 1e9", format!("“1e9” is no value; {value}")),
        ("3 < 1.0000001", format!("“1.0000001” is no value; {value}")),
        ("field token crashed = 1", format!("“crashed” stands after the field; expected “of” and a pattern; {begins}")),
        ("world 3 store = 1", format!("“store” is no place in a snapshot; expected one such as /store/fence; {begins}")),
        ("1 < 2 < 3", "“<” is one word too many; expected nothing after what stands before it".into()),
        (": 1 < 2", format!("“:” is no value; {value}; {begins}")),
    ];
    for (text, wrong) in cases {
        assert_eq!(Condition::parse(text).map(|_| ()), Err(format!("“{text}”: {wrong}")));
    }
    assert!(Pattern::parse("crashed - crashed").is_err());
    assert!(Value::parse("1 = 1").is_err());
}

#[test]
fn numbers_are_told_with_their_unit() {
    for (micros, unit, text) in [
        (18_500_000, "s", "18.5 s"),
        (18_000_000, "s", "18.0 s"),
        (5_000_000_000, "invoices", "5,000 invoices"),
        (1_500_000, "", "1.5"),
        (-2_000_000, "", "−2"),
        (0, "nodes", "0 nodes"),
    ] {
        assert_eq!(told(micros, unit), text);
    }
}

/// Texts that are nearly queries.
fn nearly() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "happens",
        "never",
        "broken",
        "holds",
        "time",
        "field",
        "count",
        "measure",
        "world",
        "of",
        "on",
        "after",
        "before",
        "=",
        "!=",
        "<",
        "<=",
        ">",
        ">=",
        "+",
        "-",
        "#1",
        "#2",
        "#99999999999999999999",
        "A",
        "n1",
        "3",
        "-3",
        "19.05",
        "999999999999",
        "0.000001",
        "\"B\"",
        "\"",
        "wall:",
        "calm:",
        ":",
        "worker=A",
        "token=7",
        "t=4",
        "machine=A",
        "a.b.0=1",
        "=",
        "token",
        "lease-granted",
        "write-refused",
        "paused",
        "leader-elected",
        "charged-once",
        "job-finishes",
        "zombie-for",
        "write",
        "/store/fence",
        "/service/nodes/n1/log/0/index",
        "/",
        "’",
        "٣",
    ]);
    prop::collection::vec(word, 0..12).prop_map(|words| words.join(" "))
}

proptest! {
    #[test]
    fn no_text_does_harm(text in "\\PC{0,60}") {
        let _ = Condition::parse(&text);
        let _ = Value::parse(&text);
        let _ = Pattern::parse(&text);
    }

    #[test]
    fn nothing_that_is_nearly_a_query_does_harm(texts in prop::collection::vec(nearly(), 20)) {
        thread_local!(static RUNS: Vec<Named> = zombie());
        RUNS.with(|runs| {
            for text in &texts {
                let _ = Condition::parse(text).map(|condition| condition.of(runs));
                let _ = Value::parse(text).map(|value| value.of(runs));
                let _ = Pattern::parse(text).map(|pattern| pattern.find(&runs[0].run));
            }
        });
    }
}
