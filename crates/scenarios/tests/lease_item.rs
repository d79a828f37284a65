//! Leases in a table's items: what the labs come to, worked out here a second time; and what must never happen.

mod common;

use std::collections::BTreeMap;

use common::{
    adding, any_fault_of, any_time, assert_seconds, broken_at, cases_count, instead, late_or_twice_of, near, run_of,
    seconds_of, text_of, value, verdict,
};
use lease_lab_scenarios::measures::Value;
use lease_lab_scenarios::{Run, wire};
use lease_lab_sim::event::Kind;
use lease_lab_sim::intervention::{Change, Intervention, parse_list};
use lease_lab_sim::invariants::Invariant;
use lease_lab_sim::machine::{JobId, MachineId, WorkerId};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value as Json;

const LEASE: f64 = 10.0;
const MARGIN: f64 = 2.0;
const CLAIM_MARGIN: f64 = 5.0;
/// One way between a client and the table, and from a write's evaluation to its answer.
const WIRE: f64 = 0.001;
const WRITE: f64 = 0.014;

/// Exact to a millisecond.
#[track_caller]
fn assert_exactly(run: &Run, id: &str, expected: f64) {
    let found = seconds_of(run, id);
    assert!((found - expected).abs() < 0.000_5, "{} {id}: {found}, expected {expected}", run.scenario.id);
}

/// The first of the times 0.5, 1.5, 2.5, … that fits.
fn first_poll(fits: impl Fn(f64) -> bool) -> f64 {
    (0..60).map(|n| f64::from(n) + 0.5).find(|t| fits(*t)).expect("some poll fits")
}

#[test]
fn the_three_claim_rules_come_to_an_overlap_and_two_gaps() {
    let (renewed, offset) = (3.0, 3.0);
    let lease_until = renewed + LEASE;
    let right_ends = renewed + LEASE - MARGIN;
    let first_seen = first_poll(|t| t > renewed);
    let rules = [
        ("now", first_poll(|t| lease_until < t + offset)),
        ("now-margin", first_poll(|t| lease_until < t + offset - CLAIM_MARGIN)),
        ("unchanged", first_poll(|t| t - first_seen >= LEASE)),
        ("storage-now", first_poll(|t| lease_until < t)),
    ];
    for (rule, claim) in rules {
        let run = adding("claim-rules", &format!("0 set claim-rule {rule}"));
        assert_seconds(&run, "claim", claim);
        assert_seconds(&run, "right-ends", right_ends);
        assert_seconds(&run, "overlap", (right_ends - claim).max(0.0));
        assert_seconds(&run, "gap", (claim - right_ends).max(0.0));
    }
    assert_eq!(rules.map(|(_, claim)| claim), [10.5, 15.5, 13.5, 13.5]);

    // The overlap is real: woken up within it, A may act and so may D.
    let awake = adding("claim-rules", "10.6 resume A");
    assert!(near(broken_at(&awake, Invariant::OneActingHolder).expect("two may act"), 10.6));
    // A faster clock than the margin pays for breaks the second rule, and never the third.
    let faster = |rule| adding("claim-rules", &format!("0 set claim-rule {rule}; 0.1 offset D 9"));
    assert_seconds(&faster("now-margin"), "overlap", right_ends - first_poll(|t| lease_until < t + 9.0 - CLAIM_MARGIN));
    assert_seconds(&faster("unchanged"), "gap", first_seen + LEASE - right_ends);
}

#[test]
fn an_item_outlives_its_release_and_counts_on() {
    let run = adding("lease-item", "");
    assert_eq!(text_of(&run, "epochs"), "1, 2, 3");
    assert_eq!(text_of(&run, "after-release"), "no holder, lease_until 0.0, epoch 1");
    // B polls at 5.25 and renews every 3 s; C polls at 9.5, 10.0, …
    let b_until = 5.25 + 3.0 + LEASE;
    let claim = (0..99).map(|n| 9.5 + 0.5 * f64::from(n)).find(|t| b_until < t - CLAIM_MARGIN).expect("C claims");
    assert_seconds(&run, "outlived", claim - b_until);
    assert!(!run.events.iter().any(|event| matches!(event.kind, Kind::LeaseExpired { .. })), "nobody expires a lease");
}

#[test]
fn a_holder_that_was_replaced_renews_nothing() {
    let run = instead("lease-item", "0 set claim-rule now; 4 pause A 10");
    let refused = run.events.iter().filter(|event| matches!(event.kind, Kind::RenewalRefused { .. })).count();
    assert_eq!(refused, 0, "A is past its stop time when it wakes, and does not even try");
    // B is fast enough to replace an A that is awake: then A's renewal fails its condition.
    let run = adding("whose-now", "");
    let refused = common::times_of(&run, "renewal-refused", Some(WorkerId::A));
    common::assert_near(&refused, &[3.0], "A’s renewal");
    assert_eq!(common::times_of(&run, "lease-renewed", Some(WorkerId::A)).len(), 0);
}

#[test]
fn a_fast_client_claims_early_unless_one_clock_judges() {
    // A renews at 3.0; until then the item says 10.0.
    let (offset, renews) = (8.0, 3.0);
    let claim = (0..9).map(|n| 0.5 + 0.5 * f64::from(n)).find(|t| LEASE < t + offset).expect("B claims");
    let run = adding("whose-now", "");
    assert_seconds(&run, "claim", claim);
    assert_seconds(&run, "overlap", renews - claim);
    assert_eq!(verdict(&run, Invariant::OneActingHolder), "broken");
    for (text, expected) in [
        ("0 set claim-rule storage-now", "holds"),
        ("0 set claim-rule unchanged", "holds"),
        ("0 set claim-rule storage-now; 2.2 step-wall table 8", "broken"),
    ] {
        let run = adding("whose-now", text);
        assert_eq!(verdict(&run, Invariant::OneActingHolder), expected, "{text}");
        assert_eq!(value(&run, "claim").is_none(), expected == "holds", "{text}");
    }
    // With a slow clock, B comes late instead.
    let slow = instead("whose-now", "0 offset B -8; 4 crash A");
    let until = renews + LEASE;
    assert_seconds(
        &slow,
        "claim",
        (0..99).map(|n| 0.5 + 0.5 * f64::from(n)).find(|t| until < t - 8.0).expect("B claims"),
    );
}

#[test]
fn a_deleted_or_restored_epoch_repeats_a_token() {
    let run = adding("ttl-trap", "");
    assert_eq!(text_of(&run, "epochs").split(", ").take(2).collect::<Vec<_>>(), ["1", "1"]);
    assert_eq!(text_of(&run, "repeated"), "1");
    assert_eq!(text_of(&run, "charged-twice"), "5,000");
    let deleted = common::times_of(&run, "item-deleted", None);
    common::assert_near(&deleted[..1], &[3.0 + LEASE + 2.0], "TTL comes two seconds after lease_until");

    let without = adding("ttl-trap", "0 set ttl 0");
    assert_eq!((text_of(&without, "epochs").as_str(), text_of(&without, "repeated").as_str()), ("1, 2, 3", "none"));
    assert_eq!(verdict(&without, Invariant::ChargedOnce), "holds");

    let restored =
        |bump| instead("ttl-trap", &format!("0 set ttl 0; 4 pause A 15; 20.55 pause B 15; 25 restore 1{bump}"));
    let (plain, bumped) = (restored(""), restored(" bump 1000000"));
    assert_eq!((text_of(&plain, "epochs").as_str(), text_of(&plain, "repeated").as_str()), ("1, 2, 2", "2"));
    assert_eq!(verdict(&plain, Invariant::ChargedOnce), "broken");
    assert_eq!(text_of(&bumped, "epochs"), format!("1, 2, {}", 1 + 1_000_000 + 1));
    assert_eq!(verdict(&bumped, Invariant::ChargedOnce), "holds");
    assert_eq!(verdict(&bumped, Invariant::TokensGrow), "holds");
}

#[test]
fn a_restore_beyond_what_was_has_no_effect() {
    let run = instead("ttl-trap", "0 set ttl 0; 10 restore 2; 12 restore 1");
    let idle: Vec<f64> = common::times_of(&run, "no-effect", None);
    common::assert_near(&idle, &[10.0], "only the first");
    let before = instead("ttl-trap", "0 set ttl 0; 10 restore 0");
    assert!(before.world_at(common::seconds(10.2)).table().is_some_and(|table| table.item(JobId::FIRST).is_none()));
}

/// Whoever claims an item that was not there begins above the bump, too: no token comes twice.
#[test]
fn a_bump_holds_for_items_that_are_not_there() {
    for list in ["0 restore 0 bump 1000000", "10 restore 0 bump 1000000", "10 restore 0 bump 1000000; 12 restore 0"] {
        let run = instead("ttl-trap", &format!("0 set ttl 0; {list}"));
        let epochs: Vec<u64> = text_of(&run, "epochs").split(", ").filter_map(|epoch| epoch.parse().ok()).collect();
        // A grant before the restore has the epoch 1; a second restore without a bump is one that repeats.
        let expected: &[u64] = match list {
            _ if list.starts_with("0 ") => &[1_000_001],
            _ if list.ends_with("bump 1000000") => &[1, 1_000_001],
            _ => &[1, 1_000_001, 1],
        };
        assert!(epochs.starts_with(expected), "{list}: {epochs:?}");
        let grows = if list.ends_with("bump 1000000") { "holds" } else { "broken" };
        assert_eq!(verdict(&run, Invariant::TokensGrow), grows, "{list}");
    }
}

#[test]
fn a_takeover_is_safe_one_lease_after_the_last_applied_renewal() {
    let tenths = |fits: &dyn Fn(f64) -> bool| {
        (0..300).map(|n| 6.0 + 0.1 * f64::from(n)).find(|t| fits(*t)).expect("B takes over")
    };
    // The consensus leader applies a keep-alive one wire and one more after it was sent; a grant goes to disks.
    for (text, own, applied) in [("", true, 3.0), ("2.5 isolate A", false, 0.0)] {
        let run = if own { adding("takeover", text) } else { instead("takeover", text) };
        assert_seconds(&run, "applied", applied);
        assert_seconds(&run, "earliest", applied + LEASE);
        let taken = tenths(&|t| t > applied + LEASE + 0.02);
        assert!(
            matches!(value(&run, "taken"), Some(Value::Seconds(span))
            if (span.as_micros() as f64 / 1e6 - taken).abs() <= 0.12),
            "{text}"
        );
    }
    let until = 3.0 + LEASE;
    let first_seen = 6.0;
    for (text, claim) in [
        ("0 service lease-item", tenths(&|t| until < t - CLAIM_MARGIN - 1e-9)),
        ("0 service lease-item; 0 offset B 3", tenths(&|t| until < t + 3.0 - CLAIM_MARGIN - 1e-9)),
        ("0 service lease-item; 0 set claim-rule unchanged", first_seen + LEASE),
        ("0 service lease-item; 0 set claim-rule storage-now", tenths(&|t| until < t - 1e-9)),
    ] {
        let run = adding("takeover", text);
        assert_seconds(&run, "taken", claim);
        assert_seconds(&run, "later", claim - until);
    }
}

#[test]
fn a_handover_leaves_a_gap_of_the_margin() {
    let (flip, renewed, margin) = (9.02, 9.0, 5.0);
    // B reads at the flip and every half second; its lease and margin count from when the first read has returned.
    let begins = flip + 2.0 * WIRE + LEASE + margin + 2.0 * WIRE + WRITE;
    let run = adding("handover", "");
    assert_seconds(&run, "stops", renewed + LEASE);
    assert_exactly(&run, "begins", begins);
    assert_exactly(&run, "waited", LEASE + margin + 4.0 * WIRE + WRITE);
    assert_seconds(&run, "gap", margin);
    assert_eq!(verdict(&run, Invariant::OneActingHolder), "holds");
    assert_eq!(verdict(&run, Invariant::ActsInTime), "holds");

    // If the old Region dies at the flip, nothing is written from A's last write on until B's raise has arrived.
    let dead = instead("handover", "9.02 crash A; 9.02 acquire B");
    let writes = common::times_of(&dead, "chunk-written", Some(WorkerId::A));
    let last = writes.last().expect("A has written");
    assert!(*last < flip && writes.len() >= 3);
    let to_store = 0.05;
    assert_exactly(&dead, "silence", begins + to_store - last);
    assert!(begins + to_store - last > LEASE + margin);

    // Between two refreshes the gap is wider by the time since the last one.
    let between = instead("handover", "7.5 partition A | table; 7.5 acquire B");
    assert_seconds(&between, "gap", margin + 1.5);
    // What A sent in time and what comes late is dropped for its epoch.
    let late = adding("handover", "17.5 delay A store 8");
    assert_eq!(text_of(&late, "dropped"), "1");
    // Without the margin, a slow clock is enough for two writers.
    let slow = adding("handover", "0 set waits-longer 0; 9.05 rate A 0.7");
    assert_eq!(verdict(&slow, Invariant::OneActingHolder), "broken");
    assert_eq!(verdict(&adding("handover", "9.05 rate A 0.7"), Invariant::OneActingHolder), "holds");
}

#[test]
fn one_database_needs_no_lock_service_but_sessions_are_leases() {
    let to_store = 0.05;
    let polls = || (0..99).map(|n| 6.0 + 0.5 * f64::from(n));
    // B reads the row from 6.0 on; it has not changed for one lease when a read returns at the earliest then.
    let first_read = 6.0 + 2.0 * to_store;
    let read = polls().find(|t| t + 2.0 * to_store - first_read >= LEASE - 1e-9).expect("B takes the row");
    let version = adding("one-database", "");
    assert_seconds(&version, "taken", read + 4.0 * to_store);
    assert_eq!((text_of(&version, "late-write"), text_of(&version, "charged-twice")), ("refused".into(), "0".into()));

    // The server heard from A's session last at 3.05, and ends it one lease later.
    let ended = 3.0 + to_store + LEASE;
    let asked = polls().find(|t| t + to_store > ended).expect("B gets the lock");
    for (authority, write, twice) in [("session", "accepted", "5,000"), ("same-session", "refused", "0")] {
        let run = adding("one-database", &format!("0 set authority {authority}"));
        common::assert_near(&common::times_of(&run, "lease-expired", Some(WorkerId::A)), &[ended], authority);
        assert_seconds(&run, "taken", asked + 2.0 * to_store);
        assert_eq!((text_of(&run, "late-write").as_str(), text_of(&run, "charged-twice").as_str()), (write, twice));
        assert_eq!(verdict(&run, Invariant::OneActingHolder), "broken", "A knows of no time at which to stop");
        assert!(!run.events.iter().any(|event| matches!(event.kind, Kind::StopTimeChecked { .. })));
    }
    // However impatient B is, the version costs work and never data.
    for lease in ["1.5", "3", "8"] {
        let run = instead("one-database", &format!("0 renew 1; 0 margin 0; 0 lease {lease}"));
        assert_eq!(verdict(&run, Invariant::ChargedOnce), "holds", "{lease}");
        assert_eq!(verdict(&run, Invariant::JobFinishes), "holds", "{lease}");
    }
    // A server that restarts ends every session, and tells nobody either.
    let restarted = instead("one-database", "0 set authority session; 6.3 crash store; 6.4 restart store");
    assert_eq!(verdict(&restarted, Invariant::ChargedOnce), "broken");
}

#[test]
fn the_story_runs_on_a_lease_item() {
    let run = common::story_with("0 service lease-item");
    let tokens: Vec<u64> = run
        .events
        .iter()
        .filter_map(|event| match event.kind {
            Kind::LeaseGranted { token, .. } => Some(token),
            _ => None,
        })
        .collect();
    assert_eq!(tokens, [1, 2, 3]);
    // A's item says 13.0, and B polls every half second.
    common::assert_near(&common::times_of(&run, "lease-granted", Some(WorkerId::B)), &[18.5], "B waits out the margin");
    common::assert_near(&common::times_of(&run, "write-refused", Some(WorkerId::A)), &[19.05], "the zombie’s write");
    let idle: Vec<&Kind> =
        run.events.iter().map(|event| &event.kind).filter(|kind| kind.name() == "no-effect").collect();
    assert!(matches!(idle[..], [Kind::NoEffect { intervention, .. }] if intervention == "47 crash leader"), "{idle:?}");
    for invariant in [Invariant::ChargedOnce, Invariant::OneActingHolder, Invariant::TokensGrow, Invariant::JobFinishes]
    {
        assert_eq!(verdict(&run, invariant), "holds", "{invariant}");
    }
    // The sweeper compares no clock of anybody's: it finds the orphan because the item has not changed for a lease.
    common::assert_near(&common::times_of(&run, "orphan-seen", None), &[30.0], "B’s orphan");
}

#[test]
fn a_claim_whose_answer_was_lost_is_recognised() {
    let run = instead("lease-item", "0 drop table A");
    let acquired = common::times_of(&run, "lock-acquired", Some(WorkerId::A));
    common::assert_near(&acquired, &[0.5], "the next attempt finds its own claim");
    let tokens = run.events.iter().filter(|event| matches!(event.kind, Kind::LeaseGranted { worker: WorkerId::A, .. }));
    assert_eq!(tokens.count(), 1, "it claims only once");
}

/// What the printed requests do to an item, worked out from their text alone.
#[test]
fn the_printed_request_is_what_was_evaluated() {
    let runs = [
        adding("claim-rules", ""),
        adding("claim-rules", "0 set claim-rule now-margin"),
        adding("claim-rules", "0 set claim-rule unchanged"),
        adding("lease-item", ""),
        instead("lease-item", "0 set claim-rule now; 4 pause A 10"),
        adding("whose-now", ""),
    ];
    let mut outcomes = BTreeMap::new();
    for run in &runs {
        let mut item: BTreeMap<String, Json> = BTreeMap::new();
        let checked = run.events.iter().filter_map(|event| match &event.kind {
            Kind::ConditionChecked { condition, passed, .. } => Some((event.t, condition, passed)),
            _ => None,
        });
        let exchanges = wire::exchanges(run);
        let mut printed = exchanges.iter().filter(|exchange| exchange.request.starts_with("UpdateItem"));
        for (t, condition, passed) in checked {
            let exchange = printed.next().expect("what was evaluated was printed");
            assert_eq!((exchange.t, exchange.to, exchange.refused), (t, MachineId::Table, !passed));
            let text = exchange.request.trim_start_matches("UpdateItem");
            let request: Json = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
            assert_eq!(request["ConditionExpression"], condition.as_str());
            let values = &request["ExpressionAttributeValues"];
            let expected = holds(condition, values, &item);
            assert_eq!(*passed, expected, "{condition} with {values} on {item:?}");
            *outcomes.entry((condition.clone(), *passed)).or_insert(0) += 1;
            if expected {
                apply(request["UpdateExpression"].as_str().expect("it changes something"), values, &mut item);
                let answer = exchange.answer.trim_start_matches("200");
                let answer: Json = serde_json::from_str(answer).unwrap_or_else(|error| panic!("{error}: {answer}"));
                assert_eq!(answer["Attributes"], serde_json::json!(item), "the item after {condition}");
            }
        }
        assert_eq!(printed.next(), None);
    }
    // Each condition was met with both outcomes, or the test shows little.
    for condition in ["attribute_not_exists(holder) OR lease_until < :before", "holder = :me AND epoch = :e"] {
        for passed in [true, false] {
            assert!(outcomes.contains_key(&(condition.to_owned(), passed)), "{condition} never came to {passed}");
        }
    }
    assert!(outcomes.contains_key(&("rvn = :seen".to_owned(), true)));
}

fn number(value: &Json) -> f64 {
    value["N"].as_str().expect("a number").parse().expect("digits")
}

fn holds(condition: &str, values: &Json, item: &BTreeMap<String, Json>) -> bool {
    let term = |term: &str| match term.split(' ').collect::<Vec<_>>()[..] {
        [name, "<", placeholder] => item.get(name).is_some_and(|value| number(value) < number(&values[placeholder])),
        [name, "=", placeholder] => item.get(name) == Some(&values[placeholder]),
        _ => {
            let name = term.strip_prefix("attribute_not_exists(").and_then(|rest| rest.strip_suffix(')'));
            !item.contains_key(name.unwrap_or_else(|| panic!("“{term}” is no term")))
        }
    };
    match condition.contains(" AND ") {
        true => condition.split(" AND ").all(term),
        false => condition.split(" OR ").any(term),
    }
}

fn apply(expression: &str, values: &Json, item: &mut BTreeMap<String, Json>) {
    let (set, removed) = match expression.split_once(" REMOVE ") {
        Some((set, removed)) => (set, Some(removed)),
        None => (expression, None),
    };
    let counted = "if_not_exists(epoch, :zero) + :one";
    let set = set.strip_prefix("SET ").expect("it sets something").replace(counted, "counted");
    for assignment in set.split(", ") {
        let (name, value) = assignment.split_once(" = ").expect("an assignment");
        let value = if value == "counted" {
            let epoch = item.get("epoch").map_or(number(&values[":zero"]), number) + number(&values[":one"]);
            serde_json::json!({ "N": epoch.to_string() })
        } else {
            values[value].clone()
        };
        assert!(!value.is_null(), "{assignment} has no value");
        item.insert(name.to_owned(), value);
    }
    if let Some(removed) = removed {
        item.remove(removed);
    }
}

fn machines() -> Vec<MachineId> {
    let workers = WorkerId::ALL.into_iter().map(MachineId::from);
    workers.chain([MachineId::Table, MachineId::Store, MachineId::Sweeper]).collect()
}

fn database_machines() -> Vec<MachineId> {
    machines().into_iter().filter(|machine| *machine != MachineId::Table).collect()
}

/// Faults, and messages that come late or twice, under a claim rule.
fn lists(rule: &'static str) -> BoxedStrategy<Vec<Intervention>> {
    let change = prop_oneof![4 => any_fault_of(&machines()), 1 => late_or_twice_of(&machines())];
    vec((any_time(), change).prop_map(|(at, change)| Intervention { at, change }), 0..=12)
        .prop_map(move |mut list| {
            list.extend(parse_list(&format!("0 set claim-rule {rule}")).expect("it can be read"));
            list
        })
        .boxed()
}

/// Clocks that run at their true rate, or whose wall reading alone is wrong.
fn with_true_rates(mut list: Vec<Intervention>) -> Vec<Intervention> {
    list.retain(|intervention| !matches!(intervention.change, Change::Rate(..)));
    for intervention in &mut list {
        if let Change::Pause { vm, .. } = &mut intervention.change {
            *vm = false;
        }
    }
    list
}

proptest! {
    #![proptest_config(cases_count(300))]

    #[test]
    fn a_version_in_the_row_needs_no_clock_at_all(
        changes in vec((any_time(), any_fault_of(&database_machines())), 0..=12),
    ) {
        let list: Vec<Intervention> = changes.into_iter().map(|(at, change)| Intervention { at, change }).collect();
        let run = run_of("one-database", list.clone());
        let texts: Vec<String> = list.iter().map(ToString::to_string).collect();
        for invariant in [Invariant::ChargedOnce, Invariant::NoStaleWrite] {
            prop_assert_eq!(verdict(&run, invariant), "holds", "{}: {}", invariant, texts.join("; "));
        }
    }

    #[test]
    fn unchanged_for_a_lease_needs_no_wall_clock(list in lists("unchanged").prop_map(with_true_rates)) {
        let run = run_of("claim-rules", list.clone());
        let texts: Vec<String> = list.iter().map(ToString::to_string).collect();
        prop_assert_eq!(verdict(&run, Invariant::OneActingHolder), "holds", "{}", texts.join("; "));
    }

    #[test]
    fn epochs_grow_under_every_rule(
        list in prop_oneof![lists("now"), lists("now-margin"), lists("unchanged"), lists("storage-now")],
    ) {
        let run = run_of("claim-rules", list.clone());
        let texts: Vec<String> = list.iter().map(ToString::to_string).collect();
        prop_assert_eq!(verdict(&run, Invariant::TokensGrow), "holds", "{}", texts.join("; "));
    }
}

#[test]
fn one_wrong_wall_clock_breaks_the_rules_that_ask_it() {
    let broken = |text: &str| verdict(&instead("claim-rules", text), Invariant::OneActingHolder) == "broken";
    // A renews every 3 s, and D polls half a second before: then 7.5 s are left of the lease, and no more.
    assert!(broken("0 offset D 7.6"));
    assert!(!broken("0 offset D 7.5"));
    assert!(broken("0 set claim-rule now-margin; 0 offset D 12.6"));
    assert!(!broken("0 set claim-rule now-margin; 0 offset D 12.5"));
    assert!(broken("0 set claim-rule storage-now; 0.4 step-wall table 10"));
    assert!(!broken("0 set claim-rule unchanged; 0 offset D 1000; 1 step-wall A -1000; 2 step-wall table 1000"));
    // A renewal that comes nine seconds late puts lease_until back to 13.0, while A may act until 17.54.
    let late = |rule| broken(&format!("0 set claim-rule {rule}; 2.9 delay A table 9; 12.1 pause A 3"));
    assert!(late("now"), "right clocks are no help");
    assert!(!late("now-margin") && !late("unchanged"));
    // By rates, the third rule breaks as well: D's second is then shorter than A's.
    assert!(broken("0 set claim-rule unchanged; 0 rate D 2; 3.1 partition A | table"));
}
