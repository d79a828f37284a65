//! The same chunk, three workers, and three ways to deal with that.

use lease_lab_sim::event::Kind;
use lease_lab_sim::machine::WorkerId;
use lease_lab_sim::settings::{Plan, Program, StoreKind};
use lease_lab_sim::time::{Span, TrueTime, grouped};

use crate::Run;
use crate::knobs::{Choice, Knob, Takes};
use crate::measures::{Measure, Value};
use crate::scenario::{Extra, Scenario, Variant};

pub(super) static SCENARIO: Scenario = Scenario {
    id: "three-ways",
    part: 9,
    name: "The same job three ways",
    title: "Three workers start chunk 2 at the same moment",
    lede: "A, B and C find the same job with the same chunk to do, and begin at the same instant. Nothing else goes \
           wrong: no pause, no crash. What happens depends on how they coordinate, if they do.",
    notice: &[
        "Without coordination each of them charges every customer of the chunk.",
        "With conditional puts, only the first put of an invoice succeeds. That is enough for correctness, without any \
         lock; the price is work that is done and thrown away.",
        "With a lock, two of them wait and do nothing. The lock saves the work; that the money is right is still the \
         business of the store.",
    ],
    plan,
    knobs: &[&COORDINATION],
    variants: &[
        Variant::adding("Idempotent conditional puts", "0 set coordination idempotent"),
        Variant::adding("A lock", "0 set coordination lock"),
        Variant::adding("A lock, and its holder dies", "0 set coordination lock; 1.4 crash A"),
        Variant::adding("Conditional puts, and the first worker dies", "0 set coordination idempotent; 1.4 crash A"),
    ],
    measures,
    extras: &[Extra::Requests],
    window: (1, 2),
    ..Scenario::BASE
};

static COORDINATION: Knob = Knob {
    key: "coordination",
    name: "Coordination",
    takes: Takes::Choice(&[
        Choice {
            value: "none",
            means: "each begins, and each put is accepted",
            apply: |plan| coordinate(plan, false, false),
        },
        Choice {
            value: "idempotent",
            means: "each begins, and each put demands that the invoice is not there yet",
            apply: |plan| coordinate(plan, false, true),
        },
        Choice { value: "lock", means: "each asks for the lock first", apply: |plan| coordinate(plan, true, true) },
    ]),
};

fn coordinate(plan: &mut Plan, lock: bool, idempotent: bool) {
    plan.coordinated = lock;
    // Without a lock service, nobody can tell an orphan.
    plan.settings.sweeper = lock;
    plan.settings.idempotent = idempotent;
    plan.stores.puts_if_absent = idempotent;
}

/// Chunk 1 is done; chunk 2 is the last.
fn plan() -> Plan {
    let program = |worker| Program {
        starts: Some(TrueTime::from_millis(1_000)),
        setup: Span::millis(50),
        work_default: Span::millis(100),
        ..Program::idle(worker)
    };
    let mut plan = Plan {
        store: StoreKind::DynamoDb,
        chunks: 2,
        programs: [WorkerId::A, WorkerId::B, WorkerId::C].map(program).to_vec(),
        horizon: TrueTime::from_millis(30_000),
        ..Plan::default()
    };
    plan.stores.chunks_before = 1;
    coordinate(&mut plan, false, false);
    plan
}

fn measures(run: &Run) -> Vec<Measure> {
    let per_chunk = u64::from(run.plan.invoices_per_chunk);
    let mut charged_by: Vec<(WorkerId, u64)> = Vec::new();
    let (mut refused, mut built) = (0, 0);
    for event in &run.events {
        match event.kind {
            Kind::InvoicesRecorded { worker, charged, .. } | Kind::ChunkWritten { worker, charged, .. } => {
                match charged_by.iter_mut().find(|(who, _)| *who == worker) {
                    Some((_, sum)) => *sum += u64::from(charged),
                    None => charged_by.push((worker, u64::from(charged))),
                }
            }
            Kind::WriteRefused { .. } => refused += 1,
            Kind::WriteSent { .. } => built += 1,
            _ => {}
        }
    }
    let charged: u64 = charged_by.iter().map(|(_, sum)| sum).sum();
    let told: Vec<String> =
        charged_by.iter().filter(|(_, sum)| *sum > 0).map(|(who, sum)| format!("{who} {}", grouped(*sum))).collect();
    // The chunk that was recorded before cost nothing in this run.
    let (there, twice) = run.end().store().map_or((0, 0), |store| store.charged(run.plan.invoices_per_chunk));
    let useful = there - per_chunk * u64::from(run.plan.stores.chunks_before);
    let worked = built * per_chunk;
    vec![
        Measure::new("charged", "Charges for chunk 2", Some(Value::Count(charged)), told.join(", ")),
        Measure::new("twice", "Customers charged more than once", Some(Value::Count(twice)), ""),
        Measure::new("refused", "Chunk writes refused", Some(Value::Count(refused)), ""),
        Measure::new(
            "in-vain",
            "Invoices worked on in vain",
            Some(Value::Count(worked.saturating_sub(useful))),
            format!("{built} × {} worked on − {} of use", grouped(per_chunk), grouped(useful)),
        ),
    ]
}
