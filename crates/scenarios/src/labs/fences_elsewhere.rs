//! The same rule elsewhere: a journal on three nodes fences its old engine.

use std::collections::BTreeMap;

use lease_lab_sim::event::Kind;
use lease_lab_sim::machine::WorkerId;
use lease_lab_sim::models::Model;
use lease_lab_sim::models::journal::{Fences, Rules};
use lease_lab_sim::settings::{Plan, Program};
use lease_lab_sim::time::{Span, TrueTime};

use crate::Run;
use crate::knobs::{Choice, Knob, Takes};
use crate::measures::{Measure, Value};
use crate::scenario::{Extra, Scenario, Variant};
use crate::trace;

pub(super) static SCENARIO: Scenario = Scenario {
    id: "fences-elsewhere",
    part: 4,
    name: "The same rule elsewhere",
    title: "An exchange’s engine freezes, and a spare one takes over its journal",
    lede: "The engine A writes every order into a journal on three nodes; an entry counts when two of them have it. A \
           freezes at 9.0, the spare B takes over at 10.0, and A wakes up while B still replays.",
    notice: &[
        "B’s first message is the fence: two of three nodes promise to refuse every epoch below 2. Only then does B read \
         and replay. When A wakes, no majority takes its entries any more, and it halts.",
        "Two majorities always share a node. That is why the promise of any two nodes is enough, and why whatever counted \
         before is among what B reads.",
        "If B reads first and fences later, A’s entries of the time between count, customers are told, and B never sees \
         them: its own entries take their places.",
    ],
    plan,
    faults: "9 pause A 2",
    knobs: &[&FENCE],
    any_service_and_store: false,
    variants: &[
        Variant::adding("B fences after it has replayed", "0 set fence late"),
        Variant::adding("The nodes compare no epochs", "0 fence off"),
        Variant::instead("A is only cut off from two nodes", "9 partition A,n1 | B,n2,n3"),
        Variant::adding("One node is down", "5 crash n3"),
        Variant::adding("Two nodes are down until 20.0", "5 crash n2; 5 crash n3; 20 restart n2"),
        Variant::instead("A dies", "9 crash A"),
    ],
    measures,
    extras: &[Extra::Table("fences-elsewhere")],
    window: (0, 20),
    ..Scenario::BASE
};

static FENCE: Knob = Knob {
    key: "fence",
    name: "When the spare engine fences",
    takes: Takes::Choice(&[
        Choice { value: "first", means: "before it reads", apply: |plan| fences(plan, Fences::BeforeReplay) },
        Choice { value: "late", means: "after it has replayed", apply: |plan| fences(plan, Fences::AfterReplay) },
    ]),
};

fn fences(plan: &mut Plan, fences: Fences) {
    plan.model = Some(Model::Journal(Rules { fences, every: Span::millis(500), replay: Span::seconds(3) }));
}

fn plan() -> Plan {
    let starts = |worker: WorkerId, millis: i64| Program {
        starts: Some(TrueTime::from_millis(millis)),
        ..Program::idle(worker)
    };
    let mut plan = Plan {
        programs: vec![starts(WorkerId::A, 0), starts(WorkerId::B, 10_000)],
        horizon: TrueTime::from_millis(30_000),
        ..Plan::default()
    };
    fences(&mut plan, Fences::BeforeReplay);
    plan
}

fn measures(run: &Run) -> Vec<Measure> {
    let mut places: BTreeMap<u32, String> = BTreeMap::new();
    let (mut by_a, mut by_b, mut lost) = (0, 0, 0);
    let mut counted: Vec<TrueTime> = Vec::new();
    for event in &run.events {
        if let Kind::EntryCounted { worker, place, entry, .. } = &event.kind {
            match *worker {
                WorkerId::A => by_a += 1,
                _ => by_b += 1,
            }
            lost += u64::from(places.insert(*place, entry.clone()).is_some_and(|before| before != *entry));
            counted.push(event.t);
        }
    }
    let refused = run.events.iter().filter(|event| matches!(event.kind, Kind::JournalRefused { .. })).count() as u64;
    let gap = counted.windows(2).map(|pair| (pair[1] - pair[0], pair[1])).max();
    let halted = trace::first(run, |kind| matches!(kind, Kind::EngineHalted { .. }));
    vec![
        Measure::new("by-a", "Entries of A that counted", Some(Value::Count(by_a)), ""),
        Measure::new("by-b", "Entries of B that counted", Some(Value::Count(by_b)), ""),
        Measure::new("lost", "Entries that counted and were replaced by others", Some(Value::Count(lost)), ""),
        Measure::new("refused", "Writes that a node refused", Some(Value::Count(refused)), ""),
        Measure::new(
            "gap",
            "The longest time in which no entry counted",
            gap.map(|(span, _)| Value::Seconds(span)),
            gap.map_or(String::new(), |(span, to)| format!("{} − {}", to.told(), (to - span).told())),
        ),
        Measure::new(
            "halted",
            "When the old engine halts",
            halted.map(|event| Value::Seconds(trace::since_start(event.t))),
            "",
        ),
    ]
}
