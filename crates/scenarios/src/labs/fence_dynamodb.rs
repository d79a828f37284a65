//! A fence on DynamoDB: conditions in the step that writes, and transactions that are smaller than a chunk.

use lease_lab_sim::event::Kind;
use lease_lab_sim::machine::WorkerId;
use lease_lab_sim::message::{Message, StoreReply};
use lease_lab_sim::settings::{Plan, StoreKind};
use lease_lab_sim::store::dynamodb::{ACTIONS_MAX, Cancelled, Reply};
use lease_lab_sim::time::{Span, grouped};

use super::billing_story;
use crate::Run;
use crate::knobs::{Knob, Takes};
use crate::measures::{Measure, Value};
use crate::scenario::{Extra, Scenario, Variant};
use crate::trace;

pub(super) static SCENARIO: Scenario = Scenario {
    id: "fence-dynamodb",
    part: 5,
    name: "The fence on DynamoDB",
    title: "One conditional update raises the fence, and every transaction of a chunk checks it",
    lede: "The row and its fence are one item; each invoice is an item, too. A transaction takes at most 100 actions \
           and none twice on one item, so a chunk of 5,000 invoices needs many. Each checks the fence first. A wakes \
           up with a chunk that B is still working on.",
    notice: &[
        "A’s transactions fail as a whole, each of them. The reasons stand in the order of the actions: the check of \
         the fence failed, and with every put by itself nothing was wrong.",
        "The transactions that only put travel together; the last one marks the chunk as recorded, and goes when the \
         others have succeeded. If a worker dies between them, the next holder asks which invoices are there, and \
         puts the missing ones.",
        "Without the fence, nobody is charged twice here either, because every put demands that its invoice is not \
         there yet. But what a zombie writes first stays, and the honest holder is refused.",
    ],
    plan,
    faults: "4 pause A 15",
    knobs: &[&B_WORK],
    variants: &[
        Variant::adding("B has written the chunk by then", "0 set b-work 0.2"),
        Variant::adding("The fence is off", "0 fence off"),
        Variant::instead("A dies between the transactions", "1.02 crash A"),
        Variant::instead("An answer is lost between them", "0.99 drop store A"),
        Variant::adding("B raises late", "0 raise late"),
    ],
    measures,
    extras: &[Extra::Requests, Extra::Calculator("fence-dynamodb")],
    window: (0, 21),
    ..Scenario::BASE
};

static B_WORK: Knob = Knob {
    key: "b-work",
    name: "How long B works on chunk 2",
    takes: Takes::Seconds { from: Span::millis(100), to: Span::seconds(20), apply: set_b_work },
};

fn set_b_work(plan: &mut Plan, takes: Span) {
    for program in plan.programs.iter_mut().filter(|program| program.worker == WorkerId::B) {
        for (_, work) in program.work.iter_mut().filter(|(chunk, _)| *chunk == 2) {
            *work = takes;
        }
    }
}

/// The story’s, with a B that is still working on chunk 2 when A wakes up: only the fence stands between.
fn plan() -> Plan {
    let mut plan = Plan { store: StoreKind::DynamoDb, ..billing_story::plan() };
    set_b_work(&mut plan, Span::seconds(6));
    plan
}

fn measures(run: &Run) -> Vec<Measure> {
    let invoices = run.plan.invoices_per_chunk;
    let room = ACTIONS_MAX - 1;
    let chunk = transactions(run, Some(1));
    let all = transactions(run, None);
    let late = cancelled(run);
    let (charged, twice) = run.end().store().map_or((0, 0), |store| store.charged(invoices));
    vec![
        Measure::new(
            "chunk-transactions",
            "Transactions for chunk 1",
            (chunk > 0).then_some(Value::Count(chunk)),
            format!(
                "({} puts + 1 mark) ÷ {room} actions beside the check of the fence, rounded up",
                grouped(invoices.into())
            ),
        ),
        Measure::new(
            "run-transactions",
            "Transactions that went through in the whole run",
            Some(Value::Count(all)),
            format!("{} chunks of {chunk} make {}", run.plan.chunks, grouped(u64::from(run.plan.chunks) * chunk)),
        ),
        Measure::new(
            "late-cancelled",
            "Transactions of A that were cancelled",
            Some(Value::Count(late.as_ref().map_or(0, |(count, _)| u64::from(*count)))),
            late.as_ref().map_or(String::new(), |(_, first)| format!("the first: {}", reasons(first))),
        ),
        Measure::new("charged", "Invoices charged", Some(Value::Count(charged)), ""),
        Measure::new("charged-twice", "Of these, more than once", Some(Value::Count(twice)), ""),
    ]
}

/// Transactions that went through, of one chunk or of all.
fn transactions(run: &Run, of: Option<u8>) -> u64 {
    run.events
        .iter()
        .map(|event| match event.kind {
            Kind::InvoicesRecorded { chunk, transactions, .. } if of.is_none_or(|of| of == chunk) => {
                u64::from(transactions)
            }
            Kind::ChunkWritten { chunk, .. } if of.is_none_or(|of| of == chunk) => 1,
            _ => 0,
        })
        .sum()
}

/// What the store answered to A’s refused chunk, taken from the wire: how many transactions it cancelled, and the
/// first of them.
fn cancelled(run: &Run) -> Option<(u32, Cancelled)> {
    let refused = trace::first(run, |kind| matches!(kind, Kind::WriteRefused { worker: WorkerId::A, .. }))?;
    let world = run.world_at(refused.t);
    world.in_flight().into_iter().find_map(|envelope| match &envelope.message {
        Message::StoreReply(_, StoreReply::DynamoDb(reply, ..)) if envelope.to == WorkerId::A.into() => {
            match &**reply {
                Reply::Cancelled { cancelled, first, .. } => Some((*cancelled, first.clone())),
                _ => None,
            }
        }
        _ => None,
    })
}

/// The reasons of a cancelled transaction in order, equal ones counted.
fn reasons(cancelled: &Cancelled) -> String {
    let mut runs: Vec<(bool, u32)> = Vec::new();
    for place in 0..cancelled.actions {
        let failed = cancelled.failed.holds(place);
        match runs.last_mut() {
            Some((same, count)) if *same == failed => *count += 1,
            _ => runs.push((failed, 1)),
        }
    }
    let told = runs.into_iter().map(|(failed, count)| {
        let code = if failed { "ConditionalCheckFailed" } else { "None" };
        if count == 1 { code.into() } else { format!("{count} times {code}") }
    });
    told.collect::<Vec<String>>().join(", ")
}
