//! The labs about clocks, margins, zombies and fences: what each run comes to, worked out here a second time.

mod common;

use common::{adding, assert_seconds, instead, seconds_of, text_of, value, verdict};
use lease_lab_scenarios::Run;
use lease_lab_scenarios::measures::Value;
use lease_lab_sim::invariants::Invariant;

const LEASE: f64 = 10.0;
const MARGIN: f64 = 2.0;
/// Both labs about time renew last at 3.0 by A's own clock.
const LAST_RENEWAL: f64 = 3.0;

fn broken(run: &Run, invariant: Invariant) -> bool {
    verdict(run, invariant) == "broken"
}

#[test]
fn a_wall_clock_that_is_set_back_says_stop_after_the_deadline() {
    let (acquired, stepped_by) = (13.5, 3.0);
    let run = adding("wall-step", "");
    assert_seconds(&run, "monotonic", acquired + LEASE - MARGIN);
    assert_seconds(&run, "wall", acquired + LEASE - MARGIN + stepped_by);
    assert_seconds(&run, "deadline", acquired + LEASE);
    assert_seconds(&run, "late", stepped_by - MARGIN);
    assert!(!broken(&run, Invariant::ActsInTime), "the step alone does nothing");
    assert!(!broken(&run, Invariant::OneActingHolder));
}

#[test]
fn a_worker_that_judges_by_its_wall_clock_acts_late() {
    let run = adding("wall-step", "0 set stop-clock wall");
    assert_eq!(text_of(&run, "late-write"), "refused at 24.05 s: token 12, fence 14");
    assert!(broken(&run, Invariant::ActsInTime) && broken(&run, Invariant::OneActingHolder));
    assert_eq!(text_of(&run, "charged-twice"), "0", "the fence is in the way");

    let run = adding("wall-step", "0 set stop-clock wall; 0 fence off");
    assert_eq!(text_of(&run, "late-write"), "accepted at 24.05 s");
    assert_eq!(text_of(&run, "charged-twice"), "5,000");

    let unstepped = instead("wall-step", "4 crash A; 0 set stop-clock wall");
    assert_eq!(text_of(&unstepped, "late-write"), "B sends none", "a wall clock that nobody sets is as good");
    assert!(!broken(&unstepped, Invariant::ActsInTime));
}

#[test]
fn a_worker_that_does_not_renew_sends_no_renewal() {
    use lease_lab_sim::machine::WorkerId;
    let run = adding("wall-step", "");
    let renews = |worker| !common::times_of(&run, "lease-renewed", Some(worker)).is_empty();
    assert!(!renews(WorkerId::B) && renews(WorkerId::C));
}

/// When A must stop and when its lease ends, in true time, if A's clocks run at `rate` and the leader's at `leader`,
/// both from the start.
fn stop_and_expiry(rate: f64, leader: f64, renewal: f64) -> (f64, f64) {
    let stops = (renewal + LEASE - MARGIN) / rate;
    // The leader counts its own seconds from the moment at which the renewal reaches it.
    let expires = renewal / rate + LEASE / leader;
    (stops, expires)
}

#[test]
fn rates_matter_and_offsets_do_not() {
    let right = instead("two-clocks", "5 partition A | n1,n2,n3");
    for (change, rate, leader, renewal) in [
        ("", 1.0, 1.0, LAST_RENEWAL),
        ("7 step-wall A -5", 1.0, 1.0, LAST_RENEWAL),
        ("0 offset A 3600; 0 offset leader -7200", 1.0, 1.0, LAST_RENEWAL),
        ("0 rate A 0.9", 0.9, 1.0, LAST_RENEWAL),
        ("0 rate A 0.75", 0.75, 1.0, LAST_RENEWAL),
        // Its second renewal, at 6.0 by its own clock, is sent before the cut.
        ("0 rate A 1.25", 1.25, 1.0, 2.0 * LAST_RENEWAL),
        ("0 rate leader 1.3", 1.0, 1.3, LAST_RENEWAL),
    ] {
        let run = adding("two-clocks", change);
        let (stops, expires) = stop_and_expiry(rate, leader, renewal);
        assert_seconds(&run, "stops", stops);
        assert_seconds(&run, "expires", expires);
        assert_seconds(&run, "spare", expires - stops);
        assert_eq!(broken(&run, Invariant::OneActingHolder), stops > expires, "{change}");
        if rate == 1.0 && leader == 1.0 {
            for id in ["stops", "expires", "spare"] {
                assert_eq!(value(&run, id), value(&right, id), "{change}: exactly as with wall clocks that are right");
            }
        } else {
            assert_ne!(value(&run, "spare"), value(&right, "spare"), "{change}");
        }
    }
}

#[test]
fn a_margin_covers_delays_and_rates_and_no_pause() {
    // (what is different, by how much later the last write arrives, whether a margin of 2 s is enough for it)
    let plain = adding("margin", "");
    assert_seconds(&plain, "stops", LAST_RENEWAL + LEASE - MARGIN);
    assert_seconds(&plain, "expires", LAST_RENEWAL + LEASE);
    let last = seconds_of(&plain, "last-arrival");
    for (change, later, covered) in [
        ("0 offset A 60", 0.0, true),
        ("10.5 delay A store 1.5", 1.5, true),
        ("10.5 delay A store 3", 3.0, false),
        ("10.5 pause A 5", 15.5 - 10.55, false),
    ] {
        let run = adding("margin", change);
        assert_seconds(&run, "last-arrival", last + later);
        assert_seconds(&run, "spare", LAST_RENEWAL + LEASE - last - later);
        assert_eq!(seconds_of(&run, "spare") > 0.0, covered, "{change}");
    }
    for (change, rate, margin) in
        [("0 rate A 0.9", 0.9, 2.0), ("0 rate A 0.75", 0.75, 2.0), ("0 margin 5; 0 rate A 0.75", 0.75, 5.0)]
    {
        let run = adding("margin", change);
        assert_seconds(&run, "stops", (LAST_RENEWAL + LEASE - margin) / rate);
        assert_seconds(&run, "expires", LAST_RENEWAL / rate + LEASE);
        let covered = (LAST_RENEWAL + LEASE - margin) / rate < LAST_RENEWAL / rate + LEASE;
        assert_eq!(broken(&run, Invariant::OneActingHolder), !covered, "{change}");
        assert_eq!(seconds_of(&run, "spare") > 0.0, covered, "{change}");
    }
    let more_margin = adding("margin", "0 margin 5; 7.5 pause A 8");
    assert!(seconds_of(&more_margin, "spare") < 0.0, "a wider margin is beaten by a longer pause");
    assert!(broken(&more_margin, Invariant::ActsInTime));
}

#[test]
fn what_a_pause_does_depends_on_its_length() {
    let expiry = LAST_RENEWAL + LEASE;
    for (length, fate) in [(5.0, "accepted"), (8.0, "accepted"), (12.0, "refused"), (15.0, "refused")] {
        let run = instead("zombie", &format!("4 pause A {length}"));
        assert_eq!(text_of(&run, "write"), fate, "{length}");
        assert_seconds(&run, "clock-on-waking", 4.0 + length);
        if 4.0 + length > expiry {
            // The answer takes 0.1 s: then it knows.
            assert_seconds(&run, "zombie-for", 4.0 + length + 0.1 - expiry);
        } else {
            assert_eq!(value(&run, "zombie-for"), None, "{length}");
        }
        assert_eq!(text_of(&run, "charged-twice"), "0");
    }
    let vm = instead("zombie", "4 pause A 15 vm");
    assert_seconds(&vm, "clock-on-waking", 4.0);
    assert!(!broken(&vm, Invariant::ActsInTime), "by its own clock it is in time");
    assert_eq!(text_of(&vm, "write"), "refused");
    let off = adding("zombie", "0 fence off");
    assert_eq!((text_of(&off, "write").as_str(), text_of(&off, "charged-twice").as_str()), ("accepted", "5,000"));
    assert_eq!(value(&instead("zombie", ""), "clock-on-waking"), None);
}

#[test]
fn the_beats_of_the_zombie_are_those_of_the_story() {
    let (story, zombie) = (common::story_with(""), adding("zombie", ""));
    for number in 1..=12 {
        let of_story = story.beat(number).map(|event| event.t);
        assert_eq!(zombie.beat(number).map(|event| event.t), of_story, "beat {number}");
    }
    assert!(zombie.beat(13).is_none());
}

#[test]
fn four_rules_for_one_late_write() {
    for (rule, stale_accepted, stale_refused, honest_refused, charged_twice) in [
        ("on", "0", "1", "0", "0"),
        ("off", "1", "0", "0", "5,000"),
        // Each of A, B and C is refused at its first chunk.
        ("reject-equal", "0", "0", "3", "0"),
        ("two-step", "1", "0", "0", "5,000"),
    ] {
        let run = adding("fence-rules", &format!("0 fence {rule}"));
        let found = ["stale-accepted", "stale-refused", "honest-refused", "charged-twice"].map(|id| text_of(&run, id));
        assert_eq!(found, [stale_accepted, stale_refused, honest_refused, charged_twice], "{rule}");
    }
}

/// A's stop-time check is at 3.9, its look at the fence comes back at 4.0, and its write goes at once.
#[test]
fn in_two_steps_only_a_pause_between_check_and_write_lets_the_zombie_through() {
    for (from, stale) in [("3.85", 0), ("3.89", 0), ("3.91", 1), ("3.95", 1), ("3.999", 1), ("4.2", 0)] {
        let run = instead("fence-rules", &format!("0 fence two-step; {from} pause A 15"));
        assert_eq!(value(&run, "stale-accepted"), Some(Value::Count(stale)), "paused from {from} on");
        assert_eq!(broken(&run, Invariant::ChargedOnce), stale > 0, "paused from {from} on");
    }
    let in_one_step = instead("fence-rules", "3.95 pause A 15");
    assert_eq!(value(&in_one_step, "stale-accepted"), Some(Value::Count(0)));
}

#[test]
fn raised_late_the_new_holder_works_from_a_stale_row() {
    let late = adding("raise-first", "");
    let (read, written, raised) =
        (seconds_of(&late, "read"), seconds_of(&late, "late-write"), seconds_of(&late, "raised"));
    assert!(read < written && written < raised, "{read}, {written}, {raised}");
    // It wakes at 13.7, and its write takes 0.05 s.
    assert_seconds(&late, "late-write", 4.0 + 9.7 + 0.05);
    assert_eq!(text_of(&late, "charged-twice"), "5,000");

    let first = instead("raise-first", "4 pause A 9.7");
    assert!(seconds_of(&first, "raised") < seconds_of(&first, "late-write"));
    assert_eq!(text_of(&first, "charged-twice"), "0");
    let slept = instead("raise-first", "0 raise late; 4 pause A 15");
    assert_eq!(text_of(&slept, "charged-twice"), "0", "by then B has raised");
    let recognised = adding("raise-first", "0 idempotent on");
    assert_eq!(text_of(&recognised, "charged-twice"), "0");
}
