//! Two other things that are called leases: a block of capacity for a time, and a block of numbers for good.

use std::collections::BTreeSet;

use lease_lab_sim::event::Kind;
use lease_lab_sim::machine::WorkerId;
use lease_lab_sim::models::Model;
use lease_lab_sim::models::rent::{Rents, Terms};
use lease_lab_sim::settings::{Plan, Program};
use lease_lab_sim::time::{Span, TrueTime};

use crate::Run;
use crate::knobs::{Choice, Knob, Takes};
use crate::measures::{Measure, Value};
use crate::scenario::{Scenario, Variant};
use crate::trace;

pub(super) static SCENARIO: Scenario = Scenario {
    id: "not-this-lease",
    part: 1,
    name: "The other two “leases”",
    title: "A holds a block of capacity, and freezes or dies",
    lede: "Not every lease guards something that only one may do. A quota lease is a share of a capacity for a time; an \
           id-block lease is a range of numbers, taken once and for good. Three clients use them, and A freezes for 15 s. \
           Where is the fence?",
    notice: &[
        "The quota goes back by itself at its deadline, like any lease. When A wakes, its old piece of work is still \
         there: for a moment more units are in use than there are. A limit is exceeded a little, and nothing is \
         overwritten, so nobody needs a token.",
        "A block of numbers never goes back: the allocator adds to one counter and forgets who asked. A pause changes \
         nothing; a crash wastes what was left of the block; and nothing can hand out a number twice.",
        "A lease needs a fence when a late holder could spoil what a new one does. Here there is no new holder of the \
         same thing.",
    ],
    plan,
    faults: "4.5 pause A 15",
    knobs: &[&KIND],
    any_service_and_store: false,
    variants: &[
        Variant::instead("A dies", "4.5 crash A"),
        Variant::instead("Nothing happens", ""),
        Variant::adding("Blocks of numbers", "0 set kind id-block"),
        Variant::instead("Blocks of numbers, and A dies", "0 set kind id-block; 4.5 crash A; 20 restart A"),
        Variant::instead(
            "Blocks of numbers, and a request arrives twice",
            "0 set kind id-block; 1 duplicate A allocator; 1 duplicate B allocator",
        ),
    ],
    measures,
    window: (0, 30),
    ..Scenario::BASE
};

static KIND: Knob = Knob {
    key: "kind",
    name: "What is handed out",
    takes: Takes::Choice(&[
        Choice { value: "quota", means: "capacity for a time", apply: |plan| plan.model = Some(Model::Rent(QUOTA)) },
        Choice { value: "id-block", means: "numbers for good", apply: |plan| plan.model = Some(Model::Rent(IDS)) },
    ]),
};

/// Three want 40 of 100 units each, so one gets less.
const QUOTA: Terms = Terms { rents: Rents::Quota, capacity: 100, block: 40, work: Span::millis(900) };
const IDS: Terms = Terms { rents: Rents::Ids, capacity: 0, block: 20, work: Span::millis(400) };

fn plan() -> Plan {
    let starts = |worker: WorkerId, millis: i64| Program {
        starts: Some(TrueTime::from_millis(millis)),
        ..Program::idle(worker)
    };
    Plan {
        model: Some(Model::Rent(QUOTA)),
        programs: vec![starts(WorkerId::A, 0), starts(WorkerId::B, 100), starts(WorkerId::C, 200)],
        horizon: TrueTime::from_millis(40_000),
        ..Plan::default()
    }
}

fn is_quota(run: &Run) -> bool {
    matches!(run.plan.model, Some(Model::Rent(Terms { rents: Rents::Quota, .. })))
}

fn measures(run: &Run) -> Vec<Measure> {
    if is_quota(run) { of_quota(run) } else { of_ids(run) }
}

fn of_quota(run: &Run) -> Vec<Measure> {
    let (mut granted, mut used, mut most_used) = (0, 0_u32, (0, TrueTime::ZERO));
    let mut uses = std::collections::BTreeMap::new();
    let mut expired = None;
    for event in &run.events {
        match &event.kind {
            Kind::QuotaGranted { in_all, .. } => granted = granted.max(*in_all),
            Kind::QuotaExpired { worker: WorkerId::A, .. } => expired = expired.or(Some(event.t)),
            Kind::UnitsUsed { worker, units, .. } => {
                uses.insert(*worker, *units);
                used += units;
            }
            Kind::UnitsFree { worker, .. } => used -= uses.remove(worker).unwrap_or(0),
            // Whoever has died uses nothing.
            Kind::Crashed { worker: Some(worker) } => used -= uses.remove(worker).unwrap_or(0),
            _ => continue,
        }
        if used > most_used.0 {
            most_used = (used, event.t);
        }
    }
    let stopped = trace::first(run, |kind| matches!(kind, Kind::Paused { .. } | Kind::Crashed { .. }));
    let back = expired.zip(stopped.map(|event| event.t));
    vec![
        Measure::new("granted", "The most units granted at once", Some(Value::Count(granted.into())), "of 100"),
        Measure::new(
            "used",
            "The most units in use at once, a frozen client’s unfinished work included",
            Some(Value::Count(most_used.0.into())),
            format!("from {} s on; see A’s bar that is only outlined", most_used.1.told()),
        ),
        Measure::new(
            "back",
            "From A’s pause or death until its units are free again",
            back.map(|(expired, stopped)| Value::Seconds(expired - stopped)),
            back.map_or(String::new(), |(expired, stopped)| format!("{} − {}", expired.told(), stopped.told())),
        ),
    ]
}

fn of_ids(run: &Run) -> Vec<Measure> {
    let (mut handed_out, mut seen, mut twice) = (0, BTreeSet::new(), 0_u64);
    for event in &run.events {
        match &event.kind {
            Kind::IdsReserved { last, .. } => handed_out = handed_out.max(*last),
            Kind::IdUsed { id, .. } => twice += u64::from(!seen.insert(*id)),
            _ => {}
        }
    }
    let used = seen.len() as u64;
    vec![
        Measure::new("handed-out", "Numbers handed out", Some(Value::Count(handed_out)), ""),
        Measure::new("used", "Numbers used", Some(Value::Count(used)), ""),
        Measure::new(
            "left",
            "Numbers that are wasted, or in somebody’s block at the end",
            Some(Value::Count(handed_out - used)),
            format!("{handed_out} − {used}"),
        ),
        Measure::new("twice", "Numbers used twice", Some(Value::Count(twice)), ""),
    ]
}
