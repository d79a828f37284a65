//! A fence in an SQL database: a row lock that lasts as long as the transaction.

use lease_lab_sim::event::Kind;
use lease_lab_sim::machine::{MachineId, WorkerId};
use lease_lab_sim::settings::{Isolation, Plan, StoreKind};
use lease_lab_sim::time::{Span, TrueTime};

use super::billing_story;
use crate::Run;
use crate::knobs::{Choice, Knob, Takes};
use crate::measures::{Measure, Value};
use crate::scenario::{Extra, Scenario, Variant};
use crate::trace;

pub(super) static SCENARIO: Scenario = Scenario {
    id: "fence-sql",
    part: 5,
    name: "The fence in SQL",
    title: "The update of the fence row and the inserts are one transaction, and a raise waits for its row lock",
    lede: "A write is one transaction: an update of the job’s row on condition of the fence, then the inserts. If the \
           update finds a row, the transaction holds its lock until it commits. A wakes up just before B raises the \
           fence, so B’s raise meets A’s open transaction.",
    notice: &[
        "A’s update came first, and the fence was still A’s own: its transaction is in order, and B’s raise waits for \
         the row lock. At READ COMMITTED it then looks again, at the new version of the row, and gets it back with \
         A’s chunk in it.",
        "At REPEATABLE READ a transaction must not change a row that has changed since it began. B’s raise fails with \
         40001, a serialization failure, and B sends it again. That costs a round trip, and harms nobody.",
        "Had A slept longer, its update would have found 0 rows, and it would have rolled back. The row count is the \
         answer of the fence; code that does not look at it has no fence.",
    ],
    plan,
    faults: "4 pause A 9.54",
    knobs: &[&ISOLATION, &INSERTS],
    variants: &[
        Variant::adding("At REPEATABLE READ", "0 set isolation repeatable-read"),
        Variant::instead("The inserts take 0.3 s", "4.25 pause A 9.29; 0 set inserts 0.3"),
        Variant::instead("A sleeps 15 s", "4 pause A 15"),
        Variant::instead("A sleeps 15 s, the fence is off", "4 pause A 15; 0 fence off"),
        Variant::adding("The database dies before the commit", "13.6 crash store; 13.9 restart store"),
    ],
    measures,
    extras: &[Extra::Requests],
    window: (13, 15),
    ..Scenario::BASE
};

static ISOLATION: Knob = Knob {
    key: "isolation",
    name: "Isolation level",
    takes: Takes::Choice(&[
        Choice {
            value: "read-committed",
            means: "a statement that waited looks at the row again",
            apply: |plan| plan.stores.isolation = Isolation::ReadCommitted,
        },
        Choice {
            value: "repeatable-read",
            means: "a row that has changed since the transaction began cannot be changed",
            apply: |plan| plan.stores.isolation = Isolation::RepeatableRead,
        },
    ]),
};

static INSERTS: Knob = Knob {
    key: "inserts",
    name: "How long a chunk’s inserts take",
    takes: Takes::Seconds {
        from: Span::millis(1),
        to: Span::millis(400),
        apply: |plan, takes| plan.stores.inserts_take = takes,
    },
};

fn plan() -> Plan {
    Plan { store: StoreKind::Sql, ..billing_story::plan() }
}

fn measures(run: &Run) -> Vec<Measure> {
    let waited = waited(run);
    let count = |fits: fn(&Kind) -> bool| {
        Some(Value::Count(run.events.iter().filter(|event| fits(&event.kind)).count() as u64))
    };
    vec![
        Measure::new(
            "waited",
            "How long B’s raise waits for the row lock",
            Some(Value::Seconds(waited.map_or(Span::ZERO, |(from, to)| to - from))),
            waited.map_or(String::new(), |(from, to)| format!("{to} − {from}")),
        ),
        Measure::new(
            "serialization-failures",
            "Transactions that fail with 40001 and are sent again",
            count(|kind| matches!(kind, Kind::SerializationFailed { .. })),
            "",
        ),
        Measure::new(
            "raised",
            "When B has raised the fence",
            trace::first(run, |kind| matches!(kind, Kind::FenceRaised { worker: WorkerId::B, .. }))
                .map(|event| Value::Seconds(trace::since_start(event.t))),
            "",
        ),
        Measure::new(
            "rolled-back",
            "Chunks whose update of the fence row found 0 rows",
            count(|kind| matches!(kind, Kind::WriteRefused { .. })),
            "",
        ),
        Measure::new("charged-twice", "Customers charged twice", Some(Value::Count(trace::charged_twice(run))), ""),
    ]
}

/// From when to when B’s raise waited for a row lock.
fn waited(run: &Run) -> Option<(TrueTime, TrueTime)> {
    let waits = |kind: &Kind| matches!(kind, Kind::RowLockAwaited { from: MachineId::Worker(WorkerId::B), .. });
    let from = trace::first(run, waits)?.t;
    let ended = |kind: &Kind| {
        matches!(kind, Kind::FenceRaised { worker: WorkerId::B, .. })
            || matches!(kind, Kind::SerializationFailed { from: MachineId::Worker(WorkerId::B), .. })
    };
    let to = run.events.iter().find(|event| event.t > from && ended(&event.kind))?.t;
    Some((from, to))
}
