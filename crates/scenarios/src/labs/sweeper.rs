//! The sweeper's rules one by one, and a wrong sweep: it costs work, never data.

use lease_lab_sim::event::Kind;
use lease_lab_sim::machine::WorkerId;
use lease_lab_sim::settings::{Finds, Plan, Program};
use lease_lab_sim::time::{Span, TrueTime};

use crate::Run;
use crate::knobs::{Knob, Takes};
use crate::measures::{Measure, Value};
use crate::scenario::{Extra, Scenario, Variant};
use crate::trace;

pub(super) static SCENARIO: Scenario = Scenario {
    id: "sweeper",
    part: 6,
    name: "The sweeper",
    title: "Nobody holds the key: the holder is dead, or about to come back",
    lede: "A loses the lock service for 14 s, lets go in time, keeps its half-done chunk, and comes back for its lock. \
           The sweeper sees what it would see if A were dead: a claimed row, and no key.",
    notice: &[
        "The sweeper compares no clocks. It reads the rows of the sparse index and asks the lock service whether their \
         keys exist; an answer that does not come is no answer, and it leaves the rows alone.",
        "Two sightings at least 5 s apart give a healthy holder time to come back. With one sighting the row is \
         re-queued at once, C takes the job, and A’s half-done chunk is thrown away.",
        "Either way no customer is charged twice: the re-queue is conditional on owner and fence as seen, and whoever \
         comes next raises the fence. A wrong sweep costs work, never data.",
    ],
    plan,
    faults: "6 outage 14",
    knobs: &[&SIGHTINGS, &APART, &EVERY],
    any_service_and_store: false,
    variants: &[
        Variant::adding("One sighting is enough", "0 set sightings 1"),
        Variant::adding(
            "One sighting, and its re-queue is held up for 5 s",
            "0 set sightings 1; 20.003 delay sweeper store 5",
        ),
        Variant::adding("A has died", "12 crash A"),
        Variant::adding("A has died, and one sighting is enough", "12 crash A; 0 set sightings 1"),
        Variant::adding(
            "A has died; sweeps every 2 s, sightings 1 s apart",
            "12 crash A; 0 set every 2; 0 set apart 1",
        ),
        Variant::adding("A has died, and there is no sweeper", "12 crash A; 0 sweeper off"),
        Variant::instead("The lock service stays away for 29 s", "6 outage 29"),
    ],
    measures,
    extras: &[Extra::RowStates],
    window: (0, 66),
    ..Scenario::BASE
};

pub(super) static SIGHTINGS: Knob = Knob {
    key: "sightings",
    name: "How often an orphan must be seen",
    takes: Takes::Count { from: 1, to: 2, apply: |plan, count| plan.sweeping.sightings = count as u8 },
};
pub(super) static APART: Knob = Knob {
    key: "apart",
    name: "The least time between two sightings",
    takes: Takes::Seconds {
        from: Span::ZERO,
        to: Span::seconds(60),
        apply: |plan, span| plan.sweeping.sightings_apart = span,
    },
};
pub(super) static EVERY: Knob = Knob {
    key: "every",
    name: "The time between two sweeps",
    takes: Takes::Seconds {
        from: Span::millis(500),
        to: Span::seconds(30),
        apply: |plan, span| plan.sweeping.every = span,
    },
};

/// A comes back for its own lock every few seconds; C looks for queued jobs, as in the story.
fn plan() -> Plan {
    Plan {
        chunks: 6,
        programs: vec![
            Program {
                starts: Some(TrueTime::ZERO),
                finds: Finds::Fleet { every: Span::seconds(3), returns: Span::seconds(4) },
                work_default: Span::seconds(8),
                ..Program::idle(WorkerId::A)
            },
            Program {
                starts: Some(TrueTime::from_millis(300)),
                finds: Finds::Queue { every: Span::seconds(1) },
                work_default: Span::seconds(8),
                ..Program::idle(WorkerId::C)
            },
        ],
        horizon: TrueTime::from_millis(120_000),
        ..Plan::default()
    }
}

fn measures(run: &Run) -> Vec<Measure> {
    let died = trace::first(run, |kind| matches!(kind, Kind::Crashed { worker: Some(WorkerId::A) }));
    let is_needless = |at: lease_lab_sim::time::TrueTime| died.is_none_or(|died| at < died.t);
    let requeues = run.events.iter().filter(|event| matches!(event.kind, Kind::RowRequeued { .. }));
    let needless = requeues.filter(|event| is_needless(event.t)).count() as u64;
    let refused = run.events.iter().filter(|event| matches!(event.kind, Kind::RequeueRefused { .. })).count() as u64;
    let sightings = run.events.iter().filter(|event| matches!(event.kind, Kind::OrphanSeen { .. })).count() as u64;
    let (mut lost, mut kept) = (Span::ZERO, Span::ZERO);
    for event in &run.events {
        match event.kind {
            Kind::WorkDropped { spent, .. } => lost = lost + spent,
            Kind::WorkKept { spent, .. } => kept = kept + spent,
            _ => {}
        }
    }
    let done = trace::first(run, |kind| matches!(kind, Kind::JobDone { .. })).map(|event| event.t);
    vec![
        Measure::new("sightings", "Times that an orphan is seen anew", Some(Value::Count(sightings)), ""),
        Measure::new("needless", "Re-queues while A is healthy", Some(Value::Count(needless)), ""),
        Measure::new(
            "refused",
            "Re-queues that the store refuses, because the row has changed",
            Some(Value::Count(refused)),
            "",
        ),
        Measure::new("work-kept", "Work that A kept and could use", Some(Value::Seconds(kept)), ""),
        Measure::new("work-lost", "Work thrown away", Some(Value::Seconds(lost)), ""),
        Measure::new("charged-twice", "Customers charged twice", Some(Value::Count(trace::charged_twice(run))), ""),
        Measure::new("done", "When the job is DONE", done.map(|at| Value::Seconds(trace::since_start(at))), ""),
    ]
}
