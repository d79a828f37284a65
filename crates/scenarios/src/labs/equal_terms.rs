//! One job on several systems, under the same faults.

use lease_lab_sim::event::Kind;
use lease_lab_sim::machine::WorkerId;
use lease_lab_sim::settings::{DatabaseLock, Plan, Program, ServiceKind, StoreKind};
use lease_lab_sim::time::{Span, TrueTime};

use crate::Run;
use crate::knobs::{self, Choice, Knob, Takes};
use crate::measures::{Measure, Value};
use crate::scenario::{Extra, Scenario, Variant};
use crate::trace;

pub(crate) static SCENARIO: Scenario = Scenario {
    id: "equal-terms",
    part: 9,
    name: "An equal-terms comparison",
    title: "The same job and the same faults on every system that claims to protect it",
    lede: "Each line of the table is a way to let one worker at a time do the job, each column a kind of fault. A cell \
           is what the simulator came to, and opens the run that shows it.",
    notice: &[
        "Read the columns before the lines. Nearly every system survives most faults; what tells them apart is which \
         one they do not.",
        "“No effect” is no pass: the fault has nothing to hit in that system. “Held” means held in the runs that were \
         tried.",
        "A fence does not make a system more available. It makes the wrong write fail instead of the right one.",
    ],
    plan,
    faults: "4 pause A 15",
    knobs: &[&DATABASE, &knobs::TOKEN],
    variants: &[
        Variant::adding("The fence is off", "0 fence off"),
        Variant::instead("A dies", "4 crash A"),
        Variant::instead("The leader dies", "3.1 crash leader"),
        Variant::instead("A is cut off", "2 partition A | n1,n2,n3"),
        Variant::instead("The lock service is restored", "3.3 restore 6"),
        Variant::instead("It is restored, and its counter jumps", "3.3 restore 6 bump 1000000"),
    ],
    measures,
    extras: &[Extra::Guarantees],
    window: (0, 22),
    ..Scenario::BASE
};

static DATABASE: Knob = Knob {
    key: "database",
    name: "One SQL database, without a lock service",
    takes: Takes::Choice(&[
        Choice {
            value: "version",
            means: "a version in the row, by compare-and-set",
            apply: |plan| use_database(plan, DatabaseLock::Version),
        },
        Choice {
            value: "session",
            means: "a session lock; writes travel on other connections",
            apply: |plan| use_database(plan, DatabaseLock::Session),
        },
    ]),
};

fn use_database(plan: &mut Plan, lock: DatabaseLock) {
    plan.service = ServiceKind::Database;
    plan.store = StoreKind::Sql;
    plan.database_lock = lock;
}

/// The story’s A, which freezes with its second chunk in its hands, and a standby that waits from the start.
/// The first chunk is written before the first renewal: a holder whose lock was forgotten has not learned of it yet.
fn plan() -> Plan {
    let ms = Span::millis;
    Plan {
        programs: vec![
            Program {
                starts: Some(TrueTime::ZERO),
                takes_over: false,
                setup: ms(434),
                work: vec![(1, ms(1_950)), (2, ms(1_200))],
                ..Program::idle(WorkerId::A)
            },
            Program { starts: Some(TrueTime::from_millis(750)), ..Program::idle(WorkerId::B) },
        ],
        tenant_commits_before: 6,
        ..Plan::default()
    }
}

fn measures(run: &Run) -> Vec<Measure> {
    let refused = trace::writes(run).filter(|write| !write.accepted).count() as u64;
    let taken = trace::first(run, |kind| matches!(kind, Kind::LockAcquired { worker: WorkerId::B, .. }));
    vec![
        Measure::new(
            "taken-over",
            "When B has the lock",
            taken.map(|event| Value::Seconds(trace::since_start(event.t))),
            "",
        ),
        Measure::new("refused", "Writes that the store refuses", Some(Value::Count(refused)), ""),
        Measure::new("charged-twice", "Customers charged twice", Some(Value::Count(trace::charged_twice(run))), ""),
    ]
}
