//! How much to lock: two workers with two locks, and what keeping leases alive costs.

use lease_lab_sim::event::Kind;
use lease_lab_sim::machine::WorkerId;
use lease_lab_sim::models::Model;
use lease_lab_sim::models::locks::Order;
use lease_lab_sim::settings::{Plan, Program};
use lease_lab_sim::time::{Span, TrueTime};

use crate::Run;
use crate::knobs::{Choice, Knob, Takes};
use crate::measures::{Measure, Value};
use crate::scenario::{Extra, Scenario, Variant};

pub(super) static SCENARIO: Scenario = Scenario {
    id: "how-much",
    part: 9,
    name: "How much to lock",
    title: "A needs two locks, B needs the same two, and each holds one of them",
    lede: "Two workers move money between two accounts, each of which has a lock. A takes the first and then needs the \
           second; B takes the second and then needs the first. Both are healthy, and both renew.",
    notice: &[
        "A waits for B, and B waits for A. No lease ends this: each keeps its own lock alive while it waits, as it should. \
         A lease protects against a holder that is gone, not against one that waits.",
        "With one order that all keep to, whoever has the first lock can wait for nobody who needs it. The second worker \
         waits a little, and then both get through.",
        "Fewer and larger locks make this impossible and everything slower; many small ones cost a keep-alive each, and a \
         majority’s disk write for every grant and every expiry.",
    ],
    plan,
    knobs: &[&ORDER],
    any_service_and_store: false,
    variants: &[
        Variant::adding("One order for all", "0 set order global"),
        Variant::adding("A dies at 20.0", "20 crash A"),
        Variant::adding("B is told later, at 2.0", "0 pause B 2"),
    ],
    measures,
    extras: &[Extra::Calculator("how-much")],
    window: (0, 40),
    ..Scenario::BASE
};

static ORDER: Knob = Knob {
    key: "order",
    name: "In which order the two locks are taken",
    takes: Takes::Choice(&[
        Choice {
            value: "any",
            means: "each worker in its own",
            apply: |plan| plan.model = Some(Model::TwoLocks(Order::Any)),
        },
        Choice {
            value: "global",
            means: "all in the same",
            apply: |plan| plan.model = Some(Model::TwoLocks(Order::Global)),
        },
    ]),
};

fn plan() -> Plan {
    let worker = |worker: WorkerId, millis: i64| Program {
        starts: Some(TrueTime::from_millis(millis)),
        setup: Span::seconds(1),
        ..Program::idle(worker)
    };
    Plan {
        jobs: 2,
        model: Some(Model::TwoLocks(Order::Any)),
        programs: vec![worker(WorkerId::A, 0), worker(WorkerId::B, 100)],
        ..Plan::default()
    }
}

/// Whom `worker` waits for at the end: the holder that it found last, if it has got nothing since.
fn waits_for(run: &Run, worker: WorkerId) -> Option<WorkerId> {
    let last = run.events.iter().rev().find(|event| {
        event.machine == worker.into()
            && matches!(
                event.kind,
                Kind::LockBusy { .. }
                    | Kind::LockAcquired { .. }
                    | Kind::WorkerDone { .. }
                    | Kind::GaveUp { .. }
                    | Kind::Crashed { .. }
            )
    });
    match last.map(|event| &event.kind) {
        Some(Kind::LockBusy { holder, .. }) => Some(*holder),
        _ => None,
    }
}

fn measures(run: &Run) -> Vec<Measure> {
    let (a, b) = (WorkerId::A, WorkerId::B);
    let cycle = waits_for(run, a) == Some(b) && waits_for(run, b) == Some(a);
    let done = run.events.iter().filter(|event| matches!(event.kind, Kind::WorkerDone { .. })).count();
    let count = |counts: &dyn Fn(&Kind) -> bool| {
        Some(Value::Count(run.events.iter().filter(|event| counts(&event.kind)).count() as u64))
    };
    let minutes = run.horizon;
    vec![
        Measure::new(
            "cycle",
            "A waiting cycle at the end",
            Some(Value::Text(if cycle { "A waits for B, and B for A" } else { "none" }.into())),
            "",
        ),
        Measure::new("done", "Workers that got through", Some(Value::Count(done as u64)), "of 2"),
        Measure::new(
            "in-vain",
            "Attempts that found a lock taken",
            count(&|kind| matches!(kind, Kind::LockBusy { .. })),
            "",
        ),
        Measure::new(
            "keep-alives",
            "Renewals",
            count(&|kind| matches!(kind, Kind::LeaseRenewed { .. })),
            format!(
                "in the whole run of {} s, one for each lock held and every {} s",
                minutes.told(),
                run.plan.settings.renew.told()
            ),
        ),
    ]
}
