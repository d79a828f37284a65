//! The command line's contract: exit status, what goes where, and the shapes that tools rely on.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::process::{Command, Output};

use serde_json::Value;

fn lease_lab<S: AsRef<OsStr>>(arguments: &[S]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lease-lab")).args(arguments).output().expect("the command line runs")
}

/// What a good command line prints; it prints nothing on standard error.
#[track_caller]
fn text(arguments: &[&str]) -> String {
    let output = lease_lab(arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}");
    assert!(output.stderr.is_empty(), "{arguments:?}");
    String::from_utf8(output.stdout).expect("it prints text")
}

#[track_caller]
fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&text(arguments)).expect("it prints JSON")
}

/// The sentence about a bad command line.
#[track_caller]
fn sentence<S: AsRef<OsStr> + std::fmt::Debug>(arguments: &[S]) -> String {
    let output = lease_lab(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    let text = String::from_utf8(output.stderr).expect("it prints text");
    assert_eq!(text.lines().count(), 1, "{arguments:?}: {text}");
    assert!(text.ends_with('\n'), "{arguments:?}");
    text.trim_end().to_owned()
}

fn events_of<'a>(run: &'a Value, kind: &'a str) -> impl Iterator<Item = &'a Value> {
    run["events"].as_array().expect("events are a list").iter().filter(move |event| event["kind"] == kind)
}

#[test]
fn bad_command_lines_get_one_sentence() {
    let run = ["run", "billing-story"];
    for (arguments, says) in [
        (vec!["run"], "run lacks the id of a scenario"),
        (vec!["run", "nowhere"], "there is no scenario “nowhere”; expected an id that lease-lab list shows"),
        (vec!["run", "aws"], "“aws” is a page to read and has no run; expected the id of a scenario"),
        (vec!["snapshot", "aws", "4"], "“aws” is a page to read and has no run"),
        (vec!["run", "billing-story", "more"], "run has an argument too many"),
        (vec!["list", "more"], "list has an argument too many"),
        (vec!["drills", "chek"], "drills “chek” is unknown; expected drills, or drills check [FILE.toml]"),
        (vec!["drills", "check", "a", "b"], "drills has an argument too many"),
        (vec!["drills", "check", "no/such.toml"], "no/such.toml cannot be read: "),
        (
            vec!["drills", "check", "Cargo.toml"],
            "Cargo.toml is in no folder of drills; expected one that is called predict",
        ),
        (vec!["jump"], "there is no command “jump”; expected list, run, snapshot, bench, drills or help"),
        (vec!["-x"], "the option -x is unknown"),
        (vec!["--nope"], "the option --nope is unknown; expected --do, --plain, --until, --seed or --format"),
        (vec!["snapshot"], "snapshot lacks an id or an instant"),
        (vec!["snapshot", "billing-story"], "snapshot lacks an id or an instant"),
        (vec!["snapshot", "billing-story", "S9"], "has no snapshot “S9”; expected S1, S2, S3, S4, S5, S6 or seconds"),
        (vec!["snapshot", "billing-story", "s1"], "has no snapshot “s1”"),
        (vec!["snapshot", "billing-story", "3601"], "the instant “3601” is not a time"),
        (vec!["snapshot", "billing-story", "1e3"], "the instant “1e3” is not a time"),
        (vec!["snapshot", "billing-story", "S1", "--format", "table"], "snapshot prints JSON only"),
    ] {
        let actual = sentence(&arguments);
        assert!(actual.contains(says), "{arguments:?}: {actual}");
    }
    for (options, says) in [
        (vec!["--do"], "--do lacks its value"),
        (vec!["--do", "x"], "intervention 1, “x”: the time “x” is not a number; expected true seconds from 0 on"),
        (
            vec!["--do", "4 pause Z"],
            "intervention 1, “4 pause Z”: there is no machine “Z”; expected A to D, sidecar-A to sidecar-D, n1 to n7",
        ),
        (vec!["--do", "1 heal; 2 jump"], "intervention 2, “2 jump”: there is no verb “jump”"),
        (vec!["--do", "-1 heal"], "the time “-1” has a sign"),
        (vec!["--do", "1 pause A\n2 heal"], "one word too many"),
        (vec!["--do", "0 margin 8"], "intervention “0 margin 8”: with a lease of 10 s and a margin of 8 s"),
        (vec!["--do", "1 service redlock"], "the lock service and the store are chosen at the start"),
        (vec!["--until"], "--until lacks its value"),
        (vec!["--until", "soon"], "--until “soon” is not a time; expected true seconds from 0 to 3600"),
        (vec!["--until", "-1"], "--until “-1” is not a time"),
        (vec!["--until", "3600.000001"], "is not a time"),
        (vec!["--until", "1.0000001"], "is not a time"),
        (vec!["--seed", "-1"], "--seed “-1” is not a whole number"),
        (vec!["--seed", "1.5"], "--seed “1.5” is not a whole number"),
        (vec!["--seed", "18446744073709551616"], "expected 0 to 18446744073709551615"),
        (vec!["--format", "yaml"], "--format “yaml” is unknown; expected table, json or shiviz"),
        (vec!["--plain=1"], "--plain"),
    ] {
        let arguments: Vec<&str> = run.into_iter().chain(options).collect();
        let actual = sentence(&arguments);
        assert!(actual.contains(says), "{arguments:?}: {actual}");
    }
    let many = "1 heal;".repeat(10_000);
    let says = "the list of interventions has more than 200 entries; expected at most 200";
    assert_eq!(sentence(&["run", "billing-story", "--do", &many]), says);
    // 3 of its own and 198 more.
    assert_eq!(sentence(&["run", "billing-story", "--do", &"1 heal;".repeat(198)]), says);
    assert_eq!(
        json(&["run", "billing-story", "--format", "json", "--do", &"1 heal;".repeat(197)])["interventions"][0],
        "1 heal"
    );
}

#[cfg(unix)]
#[test]
fn what_is_no_text_gets_a_sentence_too() {
    use std::os::unix::ffi::OsStrExt as _;
    let broken = OsStr::from_bytes(b"\xff\xfe");
    for before in [vec![], vec!["run"], vec!["run", "billing-story", "--do"], vec!["run", "billing-story", "--seed"]] {
        let arguments: Vec<&OsStr> = before.iter().map(OsStr::new).chain([broken]).collect();
        assert!(sentence(&arguments).contains("text"), "{arguments:?}");
    }
}

#[test]
fn a_broken_invariant_is_no_error() {
    let run = json(&["run", "billing-story", "--format", "json", "--do", "0 fence off"]);
    assert_eq!(run["invariants"][0]["verdict"], "broken");
}

#[test]
fn a_run_as_json_has_the_shape_of_the_contract() {
    let run = json(&["run", "billing-story", "--format", "json"]);
    let keys: Vec<&String> = run.as_object().expect("a run is an object").keys().collect();
    let mut expected = ["scenario", "format", "seed", "interventions", "hash", "events", "invariants", "end"];
    expected.sort_unstable();
    assert_eq!(keys, expected);
    assert_eq!(run["scenario"], "billing-story");
    assert_eq!((&run["format"], &run["seed"]), (&Value::from(1), &Value::from(0)));
    assert_eq!(run["interventions"], serde_json::json!(["4 pause A 15", "21 crash B", "47 crash leader"]));
    let hash = run["hash"].as_str().expect("the hash is text");
    assert!(hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase()));

    for event in run["events"].as_array().expect("events are a list") {
        assert!(event["t"].is_number() && event["machine"].is_string() && event["kind"].is_string(), "{event}");
        assert!(event["why"].as_str().is_some_and(|why| why.ends_with('.') || why.ends_with('”')), "{event}");
    }
    let beats: Vec<u64> = run["events"].as_array().into_iter().flatten().filter_map(|e| e["beat"].as_u64()).collect();
    assert_eq!(beats, (1..=24).collect::<Vec<u64>>());

    for (kind, fields) in [
        ("lease-granted", vec!["worker", "token", "revision", "deadline", "stop_time"]),
        ("lease-renewed", vec!["worker", "deadline", "stop_time"]),
        ("fence-raised", vec!["worker", "token"]),
        ("write-sent", vec!["worker", "token", "chunk"]),
        ("chunk-written", vec!["worker", "token", "fence", "chunk"]),
        ("write-refused", vec!["worker", "token", "fence", "chunk"]),
        ("renewal-failed", vec!["worker", "node"]),
        ("stop-time-checked", vec!["worker", "mono", "stop_time", "passed"]),
        ("paused", vec!["worker", "for"]),
        ("resumed", vec!["worker", "mono"]),
        ("crashed", vec![]),
        ("lease-expired", vec!["worker", "revision"]),
        ("lock-released", vec!["worker", "revision"]),
        ("gave-up", vec!["worker", "because"]),
        ("orphan-seen", vec!["owner_token", "fence"]),
        ("row-requeued", vec!["owner_token", "fence"]),
        ("leader-elected", vec!["node", "term", "deadline", "leases"]),
        ("job-done", vec!["worker", "token"]),
    ] {
        let mut count = 0;
        for event in events_of(&run, kind) {
            count += 1;
            for field in &fields {
                assert!(!event[*field].is_null(), "{kind} lacks {field}: {event}");
            }
        }
        assert!(count > 0, "no {kind} in the story");
    }

    let invariants: Vec<(&str, &str)> = run["invariants"]
        .as_array()
        .expect("invariants are a list")
        .iter()
        .map(|line| (line["id"].as_str().unwrap_or(""), line["verdict"].as_str().unwrap_or("")))
        .collect();
    assert_eq!(
        invariants,
        [
            ("charged-once", "holds"),
            ("one-acting-holder", "holds"),
            ("no-stale-write", "holds"),
            ("tokens-grow", "holds"),
            ("only-owner-releases", "holds"),
            ("acts-in-time", "broken"),
            ("job-finishes", "holds"),
        ]
    );
    let broken = &run["invariants"][5];
    assert_eq!(broken["t"], 19.0);
    assert!(broken["why"].is_string());
}

#[test]
fn a_snapshot_has_the_shape_of_the_contract() {
    let s2 = json(&["snapshot", "billing-story", "S2"]);
    assert_eq!((&s2["t"], &s2["name"]), (&Value::from(14.0), &Value::from("S2")));
    let a = &s2["workers"]["A"];
    assert_eq!((&a["state"], &a["token"], &a["believes_holding"]), (&"paused".into(), &7.into(), &true.into()));
    for reading in ["stop_time", "mono", "wall"] {
        assert!(a[reading].is_number(), "{reading}");
    }
    assert_eq!(s2["workers"].as_object().map(|workers| workers.len()), Some(4));
    let service = &s2["service"];
    assert_eq!(
        (&service["kind"], &service["leader"], &service["term"]),
        (&"consensus".into(), &"n1".into(), &1.into())
    );
    assert_eq!((&service["revision"], &service["key"]["holder"]), (&12.into(), &"B".into()));
    assert_eq!(service["key"]["token"], 12);
    assert!(service["key"]["deadline"].is_number());
    let n1 = &service["nodes"]["n1"];
    assert_eq!((&n1["role"], &n1["up"]), (&"leader".into(), &true.into()));
    assert!(n1["log"].is_array() && n1["memory"]["deadlines"].is_object());
    let store = &s2["store"];
    assert_eq!(store["chunks"], serde_json::json!({"1": [7], "2": [12]}));
    for (field, expected) in [
        ("state", Value::from("RUNNING")),
        ("fence", 12.into()),
        ("owner_token", 12.into()),
        ("indexed", true.into()),
        ("invoices_charged", 10_000.into()),
        ("charged_twice", 0.into()),
    ] {
        assert_eq!(store[field], expected, "{field}");
    }
    assert!(store["claimed_since"].is_number());

    let free = json(&["snapshot", "billing-story", "29.6"]);
    assert_eq!((&free["name"], &free["service"]["key"]), (&Value::Null, &Value::Null));
    let states: Vec<&str> = ["idle", "waiting", "working", "paused", "crashed", "gave-up", "done"].into();
    for t in 0..60 {
        let snapshot = json(&["snapshot", "billing-story", &t.to_string()]);
        for (worker, card) in snapshot["workers"].as_object().expect("workers are an object") {
            assert!(states.contains(&card["state"].as_str().unwrap_or("")), "{worker} at {t}: {card}");
        }
    }
    let end = &json(&["run", "billing-story", "--format", "json"])["end"];
    assert_eq!(*end, json(&["snapshot", "billing-story", "60"]));
}

#[test]
fn plain_leaves_out_the_scenarios_own_interventions() {
    let plain = json(&["run", "billing-story", "--format", "json", "--plain"]);
    assert_eq!(plain["interventions"], serde_json::json!([]));
    assert!(events_of(&plain, "paused").next().is_none());
    let own = "4 pause A 15; 21 crash B; 47 crash leader";
    assert_eq!(
        text(&["run", "billing-story", "--format", "json", "--plain", "--do", own]),
        text(&["run", "billing-story", "--format", "json"]),
        "the complete list is the same run"
    );
    assert_eq!(
        json(&["run", "billing-story", "--format", "json", "--do", "30 heal", "--do", "0 fence off; 21 heal"])["interventions"],
        serde_json::json!(["0 fence off", "4 pause A 15", "21 crash B", "21 heal", "30 heal", "47 crash leader"]),
        "sorted by time, the scenario's own first"
    );
}

#[test]
fn until_ends_a_run_earlier_or_later() {
    let early = json(&["run", "billing-story", "--format", "json", "--until", "19.05"]);
    let last = early["events"].as_array().and_then(|events| events.last()).expect("there are events");
    assert_eq!(last["t"], 19.05, "the instant itself belongs to the run");
    assert_eq!(early["end"]["t"], 19.05);
    assert!(events_of(&early, "write-refused").next().is_some());
    assert_eq!(early["invariants"][6]["verdict"], "broken", "not finished by then");
    let late = json(&["run", "billing-story", "--format", "json", "--until", "120", "--do", "100 crash leader"]);
    assert!(events_of(&late, "crashed").any(|event| event["t"] == 100.0));
    assert_eq!(json(&["run", "billing-story", "--format", "json", "--until", "0"])["end"]["t"], 0.0);
}

#[test]
fn a_seed_gives_the_same_run_each_time() {
    let run = |seed| text(&["run", "billing-story", "--format", "json", "--seed", seed]);
    assert_eq!(run("7"), run("7"));
    let (one, other) = (run("7"), run("8"));
    assert_ne!(one, other);
    let one: Value = serde_json::from_str(&one).expect("it is JSON");
    assert_eq!(one["seed"], 7);
    assert_eq!(json(&["run", "billing-story", "--format", "json", "--seed", "18446744073709551615"])["seed"], u64::MAX);
}

/// ShiViz reads pairs of lines with `(?<host>\S*) (?<clock>{.*})\n(?<event>.*)` and refuses clocks that go back.
#[test]
fn the_shiviz_log_can_be_read_by_shiviz() {
    for list in ["", "0 fence off", "3 duplicate A n1; 4 delay A store 3; 12 partition A,n1 | n2,n3,B; 30 heal"] {
        let log = text(&["run", "billing-story", "--format", "shiviz", "--do", list]);
        let lines: Vec<&str> = log.lines().collect();
        assert!(lines.len() > 200 && lines.len().is_multiple_of(2));
        let mut latest: BTreeMap<&str, BTreeMap<String, u64>> = BTreeMap::new();
        for pair in lines.chunks(2) {
            let (host, clock) = pair[0].split_once(' ').expect("a host and a clock");
            assert!(!host.is_empty() && clock.starts_with('{') && clock.ends_with('}'), "{}", pair[0]);
            assert!(!pair[1].is_empty() && !pair[1].contains('{'), "{}", pair[1]);
            let clock: BTreeMap<String, u64> = serde_json::from_str(clock).expect("a clock is JSON");
            let before = latest.get(host);
            let own_before = before.and_then(|before| before.get(host)).copied().unwrap_or(0);
            assert_eq!(clock[host], own_before + 1, "{host} counts its events: {}", pair[0]);
            for (other, count) in before.into_iter().flatten() {
                assert!(clock.get(other).is_some_and(|now| now >= count), "{host} forgets {other}: {}", pair[0]);
            }
            for (other, count) in &clock {
                let reached = latest.get(other.as_str()).and_then(|clock| clock.get(other)).copied().unwrap_or(0);
                assert!(other == host || *count <= reached, "{host} knows of {other}'s future: {}", pair[0]);
            }
            latest.insert(host, clock);
        }
        assert!(latest.contains_key("A") && latest.contains_key("store") && latest.contains_key("n2"));
    }
}

#[test]
fn the_table_is_for_people() {
    let table = text(&["run", "billing-story"]);
    assert!(table.starts_with("billing-story: "));
    assert!(table.contains("acts-in-time         BROKEN at 19.0"));
    assert_eq!(table, text(&["run", "billing-story", "--format", "table"]));
    assert!(!table.contains("heartbeat"));
    let list = text(&["list"]);
    let scenarios = lease_lab_scenarios::all().map(|lab| (lab.id, lab.part, lab.title, ""));
    let pages = lease_lab_scenarios::pages::pages().iter().map(|page| (page.id, page.part, page.title, " (page)"));
    let labs: Vec<_> = scenarios.chain(pages).collect();
    assert_eq!(list.lines().count(), labs.len());
    for (id, part, title, page) in labs {
        let line = list.lines().find(|line| line.split_whitespace().next() == Some(id));
        let line = line.unwrap_or_else(|| panic!("{id} is not in the list"));
        assert!(line.contains(&format!(" part {part} ")) && line.ends_with(&format!("{title}{page}")), "{line}");
    }
    let help = text(&["help"]);
    assert_eq!(help, text(&[]));
    assert_eq!(help, text(&["--help"]));
    for word in
        ["list", "run ID", "snapshot ID NAME|SECONDS", "bench", "--do", "--plain", "--until", "--seed", "--format"]
    {
        assert!(help.contains(word), "{word}");
    }
}

#[test]
fn figures_can_be_read_by_machines() {
    let figures = json(&["bench", "--format", "json"]);
    let figures = figures.as_array().expect("figures are a list");
    assert!(!figures.is_empty());
    for figure in figures {
        assert!(figure["name"].is_string() && figure["median_ms"].as_f64() <= figure["p95_ms"].as_f64(), "{figure}");
    }
}

/// A reader that has seen enough closes the pipe; that is no error of ours.
#[cfg(unix)]
#[test]
fn a_closed_pipe_is_no_error() {
    let command = format!("{} run billing-story --format json | head -c 10", env!("CARGO_BIN_EXE_lease-lab"));
    let output = Command::new("sh").args(["-c", &command]).output().expect("sh runs");
    assert_eq!(output.stdout.len(), 10);
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn drills_are_listed_and_a_file_is_checked() {
    let list = text(&["drills"]);
    assert!(list.lines().count() > 50);
    assert!(
        list.lines().any(|line| line.starts_with("late-write ") && line.contains("predict") && line.contains("part 4"))
    );
    let content = concat!(env!("CARGO_MANIFEST_DIR"), "/../drills/content/predict");
    let facts = text(&["drills", "check", &format!("{content}/late-write.toml")]);
    assert!(facts.contains("option 3, right: It refuses the chunk"), "{facts}");

    // The same drill with a promise that the run breaks.
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("predict");
    std::fs::create_dir_all(&folder).expect("there is room for a file");
    let right = std::fs::read_to_string(format!("{content}/late-write.toml")).expect("the drill is there");
    for (from, to, says) in [
        ("hide = 18.9", "hide = 30", "is known at 19.05 s, which is not after `hide`, 30 s"),
        ("part = 4", "part = four", "wrong.toml: line 3: "),
    ] {
        assert!(right.contains(from));
        let file = folder.join("wrong.toml");
        std::fs::write(&file, right.replace(from, to)).expect("it can be written");
        let output = lease_lab(&["drills".as_ref(), "check".as_ref(), file.as_os_str()]);
        let told = String::from_utf8(output.stderr).expect("it prints text");
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(output.stdout.is_empty() && told.contains(says), "{told}");
    }
}
