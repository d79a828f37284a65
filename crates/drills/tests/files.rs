//! Files that cannot be read, and drills that their runs contradict, get a sentence.

mod samples;

use lease_lab_drills::Kind::{BreakIt, Explain, FixIt, Predict};
use lease_lab_drills::{Kind, check, format};
use proptest::prelude::*;
use samples::{BREAK_IT, CHOOSE, EXPLAIN, FIX_IT, MARK, NUMBER, ORDER, changed, drill};

#[test]
fn the_samples_are_right() {
    for (kind, sample) in samples::ALL {
        assert_eq!(check::check(&drill(kind, sample)).problems, [""; 0], "{sample}");
    }
}

#[test]
fn what_cannot_be_read_gets_a_sentence() {
    let keys = "expected it, as in the other files of its folder";
    let cases: &[(Kind, &str, &str, &str, &str)] = &[
        (Predict, CHOOSE, "title = \"A title\"", "title = \"A title", "line 2: invalid basic string, expected `\"`"),
        (Predict, CHOOSE, "title =", "tittle =", "line 2: unknown field `tittle`, expected one of `title`, `part`, "),
        (Predict, CHOOSE, "title = \"A title\"\n", "", &format!("a predict drill lacks `title`; {keys}")),
        (Predict, CHOOSE, "\"A title\"", "\" \"", "`title` is empty; expected text"),
        (Predict, CHOOSE, "part = 4\n", "", "a predict drill lacks `part`; expected a number from 1 to 12"),
        (Predict, CHOOSE, "part = 4", "part = 13", "`part` is 13; expected a number from 1 to 12"),
        (Predict, CHOOSE, "part = 4", "part = \"4\"", "line 3: invalid type: string \"4\", expected u8"),
        (
            Predict,
            CHOOSE,
            "outcomes = [4]",
            "outcomes = []",
            "a predict drill lacks `outcomes`; expected a list of numbers such as [4]",
        ),
        (Predict, CHOOSE, "outcomes = [4]", "outcomes = [12]", "`outcomes` names 12; expected numbers from 1 to 11"),
        (Predict, CHOOSE, "part = 4", "part = 4\nrules = [0]", "`rules` names 0; expected numbers from 1 to 3"),
        (Predict, CHOOSE, "lab = \"zombie\"\n", "", &format!("a predict drill lacks `lab`; {keys}")),
        (Predict, CHOOSE, "hide = 18.0\n", "", &format!("a predict drill lacks `hide`; {keys}")),
        (Predict, CHOOSE, "hide = 18.0", "hide = -1", "`hide` is -1; expected 0 to 3600"),
        (Predict, CHOOSE, "hide = 18.0", "hide = nan", "`hide` is NaN; expected 0 to 3600"),
        (
            Predict,
            CHOOSE,
            "situation = [\"A freezes.\"]",
            "situation = []",
            "`situation` is empty; expected at least one",
        ),
        (
            Predict,
            CHOOSE,
            "hide = 18.0",
            "hide = 18.0\npar = 1",
            "`par` is no key of a predict drill; expected it in break-it and fix-it only",
        ),
        (
            Predict,
            CHOOSE,
            "[variation]\ntext = \"Try it.\"\ndo = \"\"\n",
            "",
            "a predict drill lacks `variation`; expected a table with text, and lab or do",
        ),
        (Predict, CHOOSE, "feedback = \"No.\"\n", "", "line 19: missing field `feedback`"),
        (
            Predict,
            CHOOSE,
            "[[choose.option]]\ntext = \"Recorded\"\nwhen = [\"happens chunk-written worker=A after 18\"]\n\
             feedback = \"No.\"\nmisconception = \"Late is fine\"\n",
            "",
            "[choose] has fewer than two options; expected two or more [[choose.option]]",
        ),
        (
            Predict,
            CHOOSE,
            "[variation]",
            "[mark]\nquestion = \"When?\"\nvalue = 3\ntolerance = 1\nmistake = []\notherwise = \"No.\"\n[variation]",
            "a predict drill asks one thing; expected exactly one of the tables [choose], [order], [number] and [mark]",
        ),
        (
            Predict,
            CHOOSE,
            "[variation]",
            "[[also]]\nname = \"a b\"\ntext = \"B.\"\n[variation]",
            "`also` has the name “a b”; expected a word of a-z, 0-9 and -",
        ),
        (
            Predict,
            CHOOSE,
            "[variation]",
            "[[also]]\nname = \"a\"\ntext = \"B.\"\n[[also]]\nname = \"a\"\ntext = \"B.\"\n[variation]",
            "two runs of `also` are called “a”; expected different names",
        ),
        (
            Predict,
            ORDER,
            "before = 3",
            "before = 4",
            "`order.mistake.before` is 4; expected the number of an item, 1 to 3",
        ),
        (
            Predict,
            ORDER,
            "[[order.item]]\ntext = \"B raises\"\nevent = \"fence-raised worker=B\"\n",
            "",
            "[order] has 2 items; expected three or more [[order.item]]",
        ),
        (Predict, NUMBER, "max = 60", "max = 0", "`number.min` is 0 and `number.max` is 0; expected min < max"),
        (Predict, NUMBER, "tolerance = 0.5", "tolerance = -1", "`number.tolerance` is -1; expected 0 to 1000000000000"),
        (
            Predict,
            NUMBER,
            "value = 15",
            "value = [15]",
            "line 21: invalid type: sequence, expected a number, or a text such as \"time gave-up worker=B\"",
        ),
        (BreakIt, BREAK_IT, "par = 1", "par = 3", "`limit` is 2 and `par` is 3; expected par ≤ limit"),
        (BreakIt, BREAK_IT, "par = 1", "par = 0", "`par` is 0; expected 1 or more"),
        (BreakIt, BREAK_IT, "solution = \"4 pause A 15\"\n", "", &format!("a break-it drill lacks `solution`; {keys}")),
        (
            BreakIt,
            BREAK_IT,
            "[variation]",
            "[bounds]\nstep = 0\n[variation]",
            "`bounds.step` is below 0.01 s; expected a step that a search can go through",
        ),
        (FixIt, FIX_IT, "works = [\"holds job-finishes\"]\n", "", &format!("a fix-it drill lacks `works`; {keys}")),
        (
            Explain,
            EXPLAIN,
            "lab =",
            "why = [\"A fence.\"]\nlab =",
            "`why` is no key of an explain drill; expected it in predict and break-it and fix-it only",
        ),
    ];
    for (kind, sample, from, to, sentence) in cases {
        let read = changed(*kind, sample, from, to).map(|drill| drill.title);
        // The list of all keys is long.
        assert!(read.as_ref().is_err_and(|wrong| wrong.starts_with(sentence)), "{to}: {read:?}");
    }
}

#[test]
fn further_runs_take_after_the_drill() {
    let also = "seed = 7\ndo = \"4 pause A 8\"\n[[also]]\nname = \"own\"\ntext = \"Its own.\"\n\
                [[also]]\nname = \"other\"\ntext = \"Another.\"\nlab = \"margin\"\ndo = \"\"\nseed = 8\n";
    let drill = changed(Predict, CHOOSE, "[choose]", &format!("{also}[choose]")).expect("it can be read");
    let setups: Vec<_> = std::iter::once(drill.setup).chain(drill.also.iter().map(|also| also.setup)).collect();
    let setups: Vec<_> = setups.iter().map(|setup| (setup.lab, setup.interventions, setup.seed)).collect();
    assert_eq!(setups, [("zombie", Some("4 pause A 8"), 7), ("zombie", None, 7), ("margin", Some(""), 8)]);
    assert_eq!(drill.setup.interventions().map(|list| list.len()), Ok(1));
    assert_eq!(drill.also[0].setup.interventions().map(|list| list[0].to_string()), Ok("4 pause A 15".into()));
}

proptest! {
    #[test]
    fn no_change_of_a_file_does_harm(
        sample in 0..samples::ALL.len(),
        at in any::<prop::sample::Index>(),
        length in 0..12_usize,
        with in "[\\[\\]={}\"',.a-z0-9\n-]{0,4}",
    ) {
        let (kind, text) = samples::ALL[sample];
        let mut letters: Vec<char> = text.chars().collect();
        let from = at.index(letters.len());
        let to = (from + length).min(letters.len());
        letters.splice(from..to, with.chars());
        let text: String = letters.into_iter().collect();
        if let Ok(drill) = format::read("sample", kind, &text) {
            let _ = check::check(&drill);
        }
    }
}

#[test]
fn a_file_name_is_an_id() {
    let long = "a".repeat(41);
    for id in ["", "A", "a b", "a_b", "ä", "a/b", &long] {
        let read = format::read(id, Predict, CHOOSE).map(|drill| drill.id);
        let sentence = format!("the file’s name “{id}” is not an id; expected at most 40 of a-z, 0-9 and -");
        assert_eq!(read, Err(sentence));
    }
}

/// A check that nothing fails would prove nothing.
#[test]
fn what_the_run_contradicts_gets_a_sentence() {
    let cases: &[(Kind, &str, &str, &str, &str)] = &[
        (
            Predict,
            CHOOSE,
            "after 18",
            "before 18",
            "the options that hold in the run are 1 and 2; expected exactly one",
        ),
        (
            Predict,
            CHOOSE,
            "happens write-refused worker=A\"]\nfeedback",
            "never write-refused worker=A\"]\nfeedback",
            "the options that hold in the run are none; expected exactly one",
        ),
        (
            Predict,
            CHOOSE,
            "misconception = \"Late is fine\"\n",
            "",
            "option 2 is wrong in the run and names no `misconception`",
        ),
        (
            Predict,
            CHOOSE,
            "hide = 18.0",
            "hide = 20.0",
            "option 1: whether “happens write-refused worker=A” holds is known at 19.05 s, which is not after `hide`, 20 s",
        ),
        (
            Predict,
            CHOOSE,
            "happens chunk-written worker=A after 18",
            "never resumed after 17 before 18",
            "the options that hold in the run are 1 and 2; expected exactly one",
        ),
        (
            Predict,
            CHOOSE,
            "hide = 18.0",
            "hide = 600",
            "`hide` is 600 and the run ends at 60; expected it to be before",
        ),
        (
            Predict,
            CHOOSE,
            "happens write-refused",
            "happens write-refuse",
            "there is no event “write-refuse”; expected a kind of docs/trace.md",
        ),
        (
            Predict,
            CHOOSE,
            "happens chunk-written worker=A",
            "happens chunk-written workers=A",
            "a chunk-written has no field “workers”; expected one that docs/trace.md names",
        ),
        (
            Predict,
            CHOOSE,
            "happens chunk-written worker=A",
            "happens chunk-written worker=Alfred",
            "“worker=Alfred” has a value that no event of docs/trace.md has",
        ),
        (
            Predict,
            CHOOSE,
            "after 18",
            "after noon",
            "“happens chunk-written worker=A after noon”: “noon” is not an instant; expected true seconds, such as 19.05",
        ),
        (
            Predict,
            CHOOSE,
            "after 18",
            "after 18\", \"late: happens crashed",
            "there is no run “late”; expected the name of an [[also]]",
        ),
        (
            Predict,
            CHOOSE,
            "after 18",
            "after 18\", \"measure zombie-fro = 3",
            "zombie has no measure “zombie-fro”; expected one of its measures",
        ),
        (
            Predict,
            CHOOSE,
            "after 18",
            "after 18\", \"world 3 /store/fenc = 3",
            "“fenc” in /store/fenc is no word of a snapshot; expected one that docs/trace.md names",
        ),
        (
            Predict,
            CHOOSE,
            "after 18",
            "after 18\", \"field tokens of crashed = 3",
            "a crashed has no field “tokens”; expected one that docs/trace.md names",
        ),
        (
            Predict,
            CHOOSE,
            "shows = [\"write-refused worker=A\"]",
            "shows = [\"crashed worker=A\"]",
            "`shows` names “crashed worker=A”, which the run does not have",
        ),
        (
            Predict,
            CHOOSE,
            "lab = \"zombie\"",
            "lab = \"zombi\"",
            "there is no scenario “zombi”; expected an id that lease-lab list shows",
        ),
        (
            Predict,
            CHOOSE,
            "do = \"\"",
            "do = \"4 pause A 15\"",
            "the variation runs exactly what the drill runs; expected a difference",
        ),
        (Predict, CHOOSE, "A freezes.", "A freezes", "“A freezes” ends in the middle; expected . or ? or ! at its end"),
        (Predict, CHOOSE, "A freezes.", "A's clock.", "“A's clock.” has a straight quote; expected ’ or “ and ”"),
        (Predict, ORDER, "hide = 12.0", "hide = 13.2", "item 2 happens at 13.008 s, which is not after `hide`, 13.2 s"),
        (
            Predict,
            ORDER,
            "before = 3\nafter = 2",
            "before = 2\nafter = 3",
            "order.mistake 1: item 2 does come before item 3; expected a wrong order",
        ),
        (
            Predict,
            ORDER,
            "lease-expired worker=A",
            "lease-expired worker=C",
            "the run has no event “lease-expired worker=C”",
        ),
        (
            Predict,
            ORDER,
            "fence-raised worker=B",
            "lease-expired worker=A",
            "items 1 and 2 happen at the same instant, 13.008 s; expected different ones",
        ),
        (
            Predict,
            NUMBER,
            "value = 15",
            "value = 6",
            "the mistake “6” comes to 6.0 s, which is right within the tolerance",
        ),
        (Predict, NUMBER, "max = 60", "max = 6", "the right number is 6.09 s; expected it between `min` and `max`"),
        (
            Predict,
            NUMBER,
            "time gave-up worker=A - time lease-expired worker=A",
            "time paused worker=A",
            "“time paused worker=A” is known at 4 s, which is not after `hide`, 12 s",
        ),
        (
            Predict,
            NUMBER,
            "time gave-up worker=A - time lease-expired worker=A",
            "time gave-up worker=C",
            "the run has no such gave-up",
        ),
        (
            Predict,
            NUMBER,
            "time gave-up worker=A - time lease-expired worker=A",
            "measure write",
            "“measure write” comes to the word “refused”; expected a number",
        ),
        (
            Predict,
            MARK,
            "value = \"time lease-expired worker=A\"",
            "value = \"time gave-up worker=A - time lease-expired worker=A\"",
            "the instant to mark is 6.092; expected it after `hide` and before the end at 60",
        ),
        (
            BreakIt,
            BREAK_IT,
            "par = 1\nsolution = \"4 pause A 15\"",
            "par = 2\nsolution = \"4 pause A 15; 30 heal\"",
            "`par` is 2, and “4 pause A 8 vm” reaches the goal; expected nothing shorter",
        ),
        (
            BreakIt,
            BREAK_IT,
            "do = \"0 fence off\"",
            "do = \"0 fence off; 4 pause A 15\"",
            "`par` is 1, and the given setting alone reaches the goal; expected nothing shorter",
        ),
        (BreakIt, BREAK_IT, "4 pause A 15", "5 pause C 1", "the solution does not win: No."),
        (
            BreakIt,
            BREAK_IT,
            "4 pause A 15",
            "4 pause A 15; 30 heal",
            "`solution` has 2 interventions and `par` is 1; expected the same",
        ),
        (
            BreakIt,
            BREAK_IT,
            "4 pause A 15",
            "4 pause X",
            "`solution`: intervention 1, “4 pause X”: there is no machine “X”; expected ",
        ),
        (
            FixIt,
            FIX_IT,
            "0 raise first",
            "0 margin 3",
            "no choice of changes withstands every attack; expected one that does",
        ),
        (FixIt, FIX_IT, "par = 1", "par = 2", "`par` is 2, and 1 changes suffice; expected the fewest"),
        (
            FixIt,
            FIX_IT,
            "4 pause A 9.7\"\n\n",
            "4 pause A 1\"\n\n",
            "`par` is 1, and 0 changes suffice; expected the fewest",
        ),
        (
            FixIt,
            FIX_IT,
            "shows = [\"fence-raised worker=B\"]",
            "shows = [\"crashed worker=A\"]",
            "`shows` names 1 events that no run with changes 2 has",
        ),
        (
            Explain,
            EXPLAIN,
            "answer = [\"One.\", \"Two.\", \"Three.\"]",
            "answer = [\"One. Two. Three.\"]",
            "`answer` has 1 sentences; expected 3 to 6, each an entry of its own",
        ),
        (
            Explain,
            EXPLAIN,
            "check = [\"One.\", \"Two.\", \"Three.\"]",
            "check = [\"One.\"]",
            "`check` has 1 points; expected 3 to 5",
        ),
        (Explain, EXPLAIN, "lab = \"zombie\"", "lab = \"zombi\"", "there is no lab or page “zombi” to open"),
    ];
    for (kind, sample, from, to, sentence) in cases {
        let drill = changed(*kind, sample, from, to).expect("it can be read");
        let problems = check::check(&drill).problems;
        assert!(problems.iter().any(|problem| problem.starts_with(sentence)), "{to}: {problems:#?}");
    }
}
