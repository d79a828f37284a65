//! One writer across two Regions: the old one stops by its own clock, the new one waits by its own.

use lease_lab_sim::event::Kind;
use lease_lab_sim::machine::WorkerId;
use lease_lab_sim::settings::{ClaimRule, Plan, Program, ServiceKind, Settings};
use lease_lab_sim::time::{Span, TrueTime};

use crate::Run;
use crate::knobs::{Knob, Takes};
use crate::measures::{Measure, Value};
use crate::scenario::{Extra, Scenario, Variant};
use crate::trace;

pub(super) static SCENARIO: Scenario = Scenario {
    id: "handover",
    part: 7,
    name: "One writer across Regions",
    title: "The writer moves from one Region to another while the two cannot talk to each other",
    lede: "A writes in the old Region and refreshes its lease in the one authority. At 9.02, the flip, A’s Region is \
           cut off from the authority, right after a refresh that succeeded, and B in the new Region is told to take \
           over. This is the worst moment: A may go on longest.",
    notice: &[
        "A cannot be told anything. It stops because it cannot refresh, by its own monotonic clock, one lease after \
         the last good refresh was sent.",
        "B waits for one lease and a margin of five seconds on its own monotonic clock, raises the epoch in the store \
         that it will write, and only then writes. Whoever reads compares (epoch, version) and drops what is older.",
        "A lock needs one linearizable authority, across Regions too. Two tables that copy each other later are two \
         authorities: each would have granted the lock.",
    ],
    plan,
    faults: "9.02 partition A | table; 9.02 acquire B",
    knobs: &[&WAITS_LONGER],
    own_rule: "As it is: A’s Region is cut off, and B waits a lease and 5 s",
    variants: &[
        Variant::instead("The old Region dies at the flip", "9.02 crash A; 9.02 acquire B"),
        Variant::instead("The flip falls between two refreshes", "7.5 partition A | table; 7.5 acquire B"),
        Variant::adding("A’s last writes arrive eight seconds late", "17.5 delay A store 8"),
        Variant::adding("The new writer adds no margin", "0 set waits-longer 0"),
        Variant::adding("No margin, and A’s clock runs slow", "0 set waits-longer 0; 9.05 rate A 0.7"),
    ],
    measures,
    extras: &[Extra::Bars],
    window: (0, 35),
    ..Scenario::BASE
};

static WAITS_LONGER: Knob = Knob {
    key: "waits-longer",
    name: "The margin that the new writer adds to one lease",
    takes: Takes::Seconds {
        from: Span::ZERO,
        to: Span::seconds(60),
        apply: |plan, longer| plan.lease_items.waits_longer = longer,
    },
};

/// A writes from the start; it uses its whole lease, because the margin is on the other side.
fn plan() -> Plan {
    let mut plan = Plan {
        settings: Settings { margin: Span::ZERO, sweeper: false, ..Settings::default() },
        chunks: 60,
        service: ServiceKind::LeaseItem,
        programs: vec![Program { starts: Some(TrueTime::ZERO), takes_over: false, ..Program::idle(WorkerId::A) }],
        standby: Program { setup: Span::ZERO, ..Program::idle(WorkerId::D) },
        horizon: TrueTime::from_millis(40_000),
        ..Plan::default()
    };
    plan.lease_items.rule = ClaimRule::Unchanged;
    plan.lease_items.waits_longer = Span::seconds(5);
    plan
}

fn measures(run: &Run) -> Vec<Measure> {
    let flip = trace::first(run, |kind| matches!(kind, Kind::Started))
        .and(run.events.iter().find(|event| event.machine == WorkerId::B.into() && event.kind == Kind::Started));
    let stops = trace::right_ends_at(run, WorkerId::A).map(|stops| {
        let died = trace::first(run, |kind| matches!(kind, Kind::Crashed { worker: Some(WorkerId::A) }));
        died.map_or(stops, |died| died.t.min(stops))
    });
    let begins = trace::first(run, |kind| matches!(kind, Kind::LockAcquired { worker: WorkerId::B, .. }));
    let begins = begins.map(|event| event.t);
    let first = first_write(run);
    let last = first.and_then(|first| {
        trace::writes(run).rfind(|write| write.worker == WorkerId::A && write.accepted && write.t < first)
    });
    let dropped = trace::writes(run).filter(|write| write.worker == WorkerId::A && !write.accepted).count();
    let seconds = |at: TrueTime| Value::Seconds(trace::since_start(at));
    let difference = |later: Option<TrueTime>, earlier: Option<TrueTime>| {
        let both = later.zip(earlier);
        let how = both.map_or(String::new(), |(later, earlier)| format!("{} − {}", later.told(), earlier.told()));
        (both.map(|(later, earlier)| Value::Seconds(later - earlier)), how)
    };
    let (gap, gap_how) = difference(begins, stops);
    let (silence, silence_how) = difference(first, last.map(|write| write.t));
    let (waited, waited_how) = difference(begins, flip.map(|event| event.t));
    vec![
        Measure::new("stops", "The old writer’s last possible write", stops.map(seconds), "its stop time, or its end"),
        Measure::new("begins", "The new writer’s first possible write", begins.map(seconds), "it holds the lock"),
        Measure::new("gap", "The gap between the two", gap, gap_how),
        Measure::new("waited", "From the flip to the new writer’s right", waited, waited_how),
        Measure::new("silence", "How long nothing is written", silence, silence_how),
        Measure::new(
            "dropped",
            "Writes of the old writer that are dropped for their epoch",
            Some(Value::Count(dropped as u64)),
            "",
        ),
    ]
}

/// B's first write: the raise of the epoch in the store.
fn first_write(run: &Run) -> Option<TrueTime> {
    trace::first(run, |kind| matches!(kind, Kind::FenceRaised { worker: WorkerId::B, .. })).map(|event| event.t)
}
