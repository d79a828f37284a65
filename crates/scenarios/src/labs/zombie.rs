//! A holder freezes, its lease expires, another one takes over, and the first wakes up: beats 5 to 12 of the story.

use lease_lab_sim::event::Kind;
use lease_lab_sim::machine::WorkerId;

use super::billing_story::{BEATS, BOOKMARKS};
use crate::Run;
use crate::measures::{Measure, Value};
use crate::scenario::{Scenario, Variant};
use crate::trace;

pub(super) static SCENARIO: Scenario = Scenario {
    id: "zombie",
    part: 4,
    name: "Pause and takeover",
    title: "A holder freezes past the end of its lease, and wakes up with a write in its hands",
    lede: "A has checked its stop time and is about to send a chunk when it freezes. How long it stays frozen decides \
           what becomes of the write: nothing at all, an accepted write, or a zombie’s write that only the fence can \
           refuse.",
    notice: &[
        "A’s check before the pause is honest: its clock is before its stop time. Nothing that A does afterwards \
         repeats it, so no check by A can catch a pause that falls between check and send.",
        "A process pause lets A’s clocks run on; after waking, its next check would fail. A paused VM stops the clocks \
         too: A’s own clock then says that it acted in time, and only the store knows better.",
        "A pause of 8 s ends after A’s stop time and before its lease expires. Its write is accepted, rightly: nobody \
         else has the lock yet.",
    ],
    plan: super::billing_story::plan,
    faults: "4 pause A 15",
    variants: &[
        Variant::instead("No pause", ""),
        Variant::instead("A pause of 5 s", "4 pause A 5"),
        Variant::instead("A pause of 8 s", "4 pause A 8"),
        Variant::instead("A pause of 12 s", "4 pause A 12"),
        Variant::instead("The whole VM pauses for 15 s", "4 pause A 15 vm"),
        Variant::adding("The fence is off", "0 fence off"),
    ],
    measures,
    window: (3, 21),
    beats: BEATS.split_at(12).0,
    bookmarks: BOOKMARKS.split_at(3).0,
    ..Scenario::BASE
};

fn measures(run: &Run) -> Vec<Measure> {
    let expired = trace::expired_at(run, WorkerId::A);
    let let_go = trace::let_go_at(run, WorkerId::A).filter(|let_go| expired.is_some_and(|expired| expired < *let_go));
    let zombie = expired.zip(let_go);
    let woke = trace::first(run, |kind| matches!(kind, Kind::Resumed { worker: Some(WorkerId::A), .. }));
    let held_back = trace::writes(run).find(|write| write.worker == WorkerId::A && write.chunk == 2);
    vec![
        Measure::new(
            "clock-on-waking",
            "What A’s monotonic clock shows when it wakes up",
            woke.and_then(|event| match event.kind {
                Kind::Resumed { mono, .. } => Some(Value::Seconds(mono - lease_lab_sim::time::Mono::ZERO)),
                _ => None,
            }),
            woke.map_or(String::new(), |event| format!("it wakes up at {} s of true time", event.t.told())),
        ),
        Measure::new(
            "zombie-for",
            "How long A takes itself for the holder after its lease has expired",
            zombie.map(|(expired, let_go)| Value::Seconds(let_go - expired)),
            zombie.map_or(String::new(), |(expired, let_go)| format!("{} − {}", let_go.told(), expired.told())),
        ),
        Measure::new(
            "write",
            "What becomes of the write that A had in its hands",
            held_back.map(|write| Value::Text(if write.accepted { "accepted" } else { "refused" }.into())),
            held_back.map_or(String::new(), |write| {
                format!("at {} s, with token {} and the fence at {}", write.t.told(), write.token, write.fence)
            }),
        ),
        Measure::new("charged-twice", "Customers charged twice", Some(Value::Count(trace::charged_twice(run))), ""),
    ]
}
