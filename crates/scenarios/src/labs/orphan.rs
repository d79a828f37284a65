//! B dies holding the job, and nobody is waiting for its lock: beats 13 to 19 of the story.

use lease_lab_sim::event::Kind;
use lease_lab_sim::machine::WorkerId;

use super::billing_story::{BEATS, BOOKMARKS};
use super::sweeper::{APART, EVERY, SIGHTINGS};
use crate::Run;
use crate::measures::{Measure, Value};
use crate::scenario::{Extra, Scenario, Variant};
use crate::trace;

pub(super) static SCENARIO: Scenario = Scenario {
    id: "orphan",
    part: 6,
    name: "B dies holding the job",
    title: "A holder dies, and its lock is free again; its row still says RUNNING",
    lede: "B has taken over from A and dies at 21.0. The lock service deletes its key in time, but the lock service knows \
           nothing of rows: the claim in the store is an orphan. C looks for queued jobs only. Who finds this one?",
    notice: &[
        "A lease frees the lock, not the row. The row is found because it is claimed: the sparse index holds exactly \
         the rows that have claimed_since, and the sweeper reads nothing else.",
        "Every arrow into RUNNING is a raise of the fence, also the one from RUNNING to RUNNING, when a new holder takes \
         over from one that it knows nothing of.",
        "The sweeper’s arrow has a condition: RUNNING, and owner and fence exactly as it saw them twice. If anybody has \
         taken the row in between, the re-queue changes nothing.",
    ],
    plan: super::billing_story::plan,
    faults: "4 pause A 15; 21 crash B",
    knobs: &[&SIGHTINGS, &APART, &EVERY],
    variants: &[
        Variant::adding("No sweeper", "0 sweeper off"),
        Variant::adding("A worker waits for this lock: D, from 25.0 on", "25 acquire D"),
        Variant::adding("B’s process is back at 31.0, between two sightings", "31 restart B"),
        Variant::adding("The re-queue is held up until D has the row", "40.003 delay sweeper store 1; 40.1 acquire D"),
        Variant::adding("The sweeper looks every 2 s", "0 set every 2"),
    ],
    measures,
    extras: &[Extra::RowStates],
    window: (19, 42),
    beats: BEATS.split_at(12).1.split_at(7).0,
    bookmarks: BOOKMARKS.split_at(3).1.split_at(1).0,
    ..Scenario::BASE
};

fn measures(run: &Run) -> Vec<Measure> {
    let died = trace::first(run, |kind| matches!(kind, Kind::Crashed { worker: Some(WorkerId::B) }));
    let died = died.map(|event| event.t);
    let expired = run.events.iter().find_map(|event| match event.kind {
        Kind::LeaseExpired { worker: WorkerId::B, .. } => Some(event.t),
        _ => None,
    });
    let taken = died.and_then(|died| {
        run.events.iter().find(|event| event.t > died && matches!(event.kind, Kind::FenceRaised { .. }))
    });
    let taken = taken.map(|event| event.t);
    let between = |id, name: &str, from: Option<_>, to: Option<lease_lab_sim::time::TrueTime>| {
        let both = from.zip(to);
        let how = both.map_or(String::new(), |(from, to): (lease_lab_sim::time::TrueTime, _)| {
            format!("{} − {}", to.told(), from.told())
        });
        Measure::new(id, name, both.map(|(from, to)| Value::Seconds(to - from)), how)
    };
    let seen = trace::first(run, |kind| matches!(kind, Kind::OrphanSeen { .. })).map(|event| event.t);
    let requeued = trace::first(run, |kind| matches!(kind, Kind::RowRequeued { .. })).map(|event| event.t);
    let raises = run.events.iter().filter(|event| matches!(event.kind, Kind::FenceRaised { .. })).count();
    vec![
        between("lock-held-by-dead", "How long the lock stays with a dead holder", died, expired),
        between("orphaned", "How long the row is claimed while nobody holds the lock", expired, requeued),
        between("between-sightings", "From the first sighting to the re-queue", seen, requeued),
        between("idle", "How long nobody works on the job", died, taken),
        Measure::new("raises", "Arrows into RUNNING, each a raise of the fence", Some(Value::Count(raises as u64)), ""),
    ]
}
