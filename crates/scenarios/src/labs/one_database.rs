//! One SQL database that holds the rows and says whose turn it is: by a version in the row, or by a session lock.

use lease_lab_sim::event::Kind;
use lease_lab_sim::machine::WorkerId;
use lease_lab_sim::settings::{DatabaseLock, Plan, Program, ServiceKind, Settings, StoreKind};
use lease_lab_sim::time::{Span, TrueTime};

use crate::Run;
use crate::knobs::{Choice, Knob, Takes};
use crate::measures::{Measure, Value};
use crate::scenario::{Extra, Scenario, Variant};
use crate::trace;

pub(super) static SCENARIO: Scenario = Scenario {
    id: "one-database",
    part: 9,
    name: "The database is enough",
    title: "Two workers and one SQL database, without a lock service",
    lede: "All that has to be protected is in one database, so the database can say whose turn it is. In the first run \
           a worker takes the row by setting its version, on condition of the version it saw. In the second it takes a \
           lock that lasts as long as its session, an advisory lock, and writes on other connections of its pool.",
    notice: &[
        "The version is authority and fence in one. B may take the row whenever it likes; A may still believe that it \
         is its turn, but its write carries the old version, finds no row, and is rolled back. No clock is part of \
         what makes this safe.",
        "A session lock is a lease on a connection. The server ends a silent session by its own clock and cannot tell \
         A, which knows no time at which it must stop and has no number to show: the same zombie, and nothing to \
         refuse it by. A row lock that is held for minutes (SELECT … FOR UPDATE) is no different.",
        "Write on the very session that holds the lock, and the server knows which session a write comes from: what a \
         dead session sends is refused. That ends where the writes leave this database.",
    ],
    plan,
    faults: "3.8 pause A 15",
    knobs: &[&AUTHORITY],
    variants: &[
        Variant::adding("A session lock, and writes on other connections", "0 set authority session"),
        Variant::adding("A session lock, and writes on the same session", "0 set authority same-session"),
        Variant::instead("A version; nobody freezes, but B waits for 1.5 s only", "0 renew 1; 0 margin 0; 0 lease 1.5"),
        Variant::instead(
            "A session lock; the server restarts at 6.3",
            "0 set authority session; 6.3 crash store; 6.4 restart store",
        ),
    ],
    any_service_and_store: false,
    measures,
    extras: &[Extra::Requests],
    window: (0, 24),
    ..Scenario::BASE
};

static AUTHORITY: Knob = Knob {
    key: "authority",
    name: "What says whose turn it is",
    takes: Takes::Choice(&[
        Choice {
            value: "row",
            means: "a version in the row, by compare-and-set",
            apply: |plan| plan.database_lock = DatabaseLock::Version,
        },
        Choice {
            value: "session",
            means: "a session lock; writes travel on other connections",
            apply: |plan| plan.database_lock = DatabaseLock::Session,
        },
        Choice {
            value: "same-session",
            means: "a session lock; writes travel on that session",
            apply: |plan| plan.database_lock = DatabaseLock::SameSession,
        },
    ]),
};

/// A begins at once, B waits from 6.0 on; A takes some time between its check and its send.
fn plan() -> Plan {
    let ms = Span::millis;
    Plan {
        settings: Settings { sweeper: false, ..Settings::default() },
        service: ServiceKind::Database,
        store: StoreKind::Sql,
        programs: vec![
            Program {
                starts: Some(TrueTime::ZERO),
                takes_over: false,
                work: vec![(1, ms(300)), (2, ms(2_350))],
                build: ms(500),
                ..Program::idle(WorkerId::A)
            },
            Program { starts: Some(TrueTime::from_millis(6_000)), ..Program::idle(WorkerId::B) },
        ],
        horizon: TrueTime::from_millis(45_000),
        ..Plan::default()
    }
}

fn measures(run: &Run) -> Vec<Measure> {
    let taken = trace::first(run, |kind| matches!(kind, Kind::LockAcquired { worker: WorkerId::B, .. }));
    let late =
        taken.and_then(|taken| trace::writes(run).find(|write| write.worker == WorkerId::A && write.t > taken.t));
    let let_go = trace::first(run, |kind| {
        matches!(kind, Kind::GaveUp { worker: WorkerId::A, .. } | Kind::ReleaseSent { worker: WorkerId::A, .. })
    });
    let believes = taken.zip(let_go).map(|(taken, let_go)| (let_go.t - taken.t).max(Span::ZERO));
    vec![
        Measure::new(
            "taken",
            "B has the row or the lock at",
            taken.map(|event| Value::Seconds(trace::since_start(event.t))),
            match run.plan.database_lock {
                DatabaseLock::Version => "the row has not changed for one lease, by B’s own clock",
                _ => "the session that held the lock has ended",
            },
        ),
        Measure::new(
            "late-write",
            "What becomes of A’s first write after that",
            late.map(|write| Value::Text(if write.accepted { "accepted" } else { "refused" }.into())),
            late.map_or(String::new(), |write| format!("at {}", write.t.told())),
        ),
        Measure::new(
            "believes",
            "How long A believes that it is still its turn",
            believes.map(Value::Seconds),
            taken
                .zip(let_go)
                .map_or(String::new(), |(taken, let_go)| format!("{} − {}", let_go.t.told(), taken.t.told())),
        ),
        Measure::new("charged-twice", "Customers charged twice", Some(Value::Count(trace::charged_twice(run))), ""),
    ]
}
