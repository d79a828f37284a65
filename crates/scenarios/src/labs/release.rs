//! A release that comes too late: revoking one's own lease harms nobody, deleting the key by name frees another's lock.

use lease_lab_sim::event::Kind;
use lease_lab_sim::machine::WorkerId;
use lease_lab_sim::settings::{Plan, Settings};
use lease_lab_sim::time::TrueTime;

use crate::Run;
use crate::knobs::RELEASE;
use crate::measures::{Measure, Value};
use crate::scenario::{Scenario, Variant};
use crate::trace;

pub(super) static SCENARIO: Scenario = Scenario {
    id: "release",
    part: 2,
    name: "Release",
    title: "A wakes up and releases a lock that is B’s by now",
    lede: "A freezes at 4.0, and its lease expires. B takes over at 13.5. When A wakes up, its clean-up code releases \
           the lock: its own, as it believes. D waits for the lock, too.",
    notice: &[
        "A release revokes A’s lease, and with it only the keys that are bound to it. The lease is gone already, so \
         the late release changes nothing.",
        "The wrong release deletes the key by its name. That key is B’s: D gets the lock while B goes on, because B’s \
         lease is alive and its keep-alives keep working.",
        "In Redis the right release compares the random value of the key and deletes it, in one step: a script. A GET \
         followed by a DEL leaves a gap in which the key can change hands.",
    ],
    plan,
    faults: "4 pause A 15; 14 acquire D; 19.02 release A",
    knobs: &[&RELEASE],
    variants: &[
        Variant::adding("The release deletes the key by its name", "0 set release unconditional"),
        Variant::adding("The same, and the fence is off", "0 set release unconditional; 0 fence off"),
        Variant::adding("On Redis: compare the value, then delete, in one step", "0 service redis"),
        Variant::adding("On Redis: delete the key by its name", "0 service redis; 0 set release unconditional"),
        Variant::instead("A releases its own lock in time", "3.5 release A; 14 acquire D"),
    ],
    measures,
    window: (12, 32),
    ..Scenario::BASE
};

fn plan() -> Plan {
    let story = super::billing_story::plan();
    Plan {
        settings: Settings { sweeper: false, ..Settings::default() },
        programs: story.programs.into_iter().take(2).collect(),
        horizon: TrueTime::from_millis(40_000),
        ..story
    }
}

fn measures(run: &Run) -> Vec<Measure> {
    let released = trace::first(run, |kind| matches!(kind, Kind::LockReleased { released_by: WorkerId::A, .. }));
    let freed = match released.map(|event| &event.kind) {
        Some(Kind::LockReleased { worker, .. }) => format!("{worker}’s lock"),
        _ => "nobody’s lock".into(),
    };
    let held = trace::granted_at(run, WorkerId::B);
    let d = trace::granted_at(run, WorkerId::D);
    // Both hold from D's grant until B learns of it or finishes.
    let both = d.filter(|d| held.is_some_and(|held| held < *d)).and_then(|d| {
        let b_ends = trace::let_go_at(run, WorkerId::B).unwrap_or(run.horizon);
        (b_ends > d).then(|| b_ends - d)
    });
    vec![
        Measure::new(
            "freed",
            "What A’s release freed",
            Some(Value::Text(freed)),
            released.map_or("its lease was gone, and its key with it".into(), |event| {
                format!("the key was deleted at {}", event.t.told())
            }),
        ),
        Measure::new(
            "both",
            "How long B and D both took themselves for the holder",
            Some(Value::Seconds(both.unwrap_or_default())),
            d.filter(|_| both.is_some()).map_or(String::new(), |d| format!("from D’s grant at {} on", d.told())),
        ),
        Measure::new("charged-twice", "Customers charged twice", Some(Value::Count(trace::charged_twice(run))), ""),
    ]
}
