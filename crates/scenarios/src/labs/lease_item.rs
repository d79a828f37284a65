//! The life of a lease item: claimed, renewed, released, claimed again.

use lease_lab_sim::event::Kind;
use lease_lab_sim::machine::{JobId, WorkerId};
use lease_lab_sim::settings::{Plan, Program, ServiceKind, Settings};
use lease_lab_sim::time::TrueTime;

use super::claim_rules::CLAIM_RULE;
use crate::Run;
use crate::measures::{Measure, Value};
use crate::scenario::{Extra, Scenario, Variant};
use crate::trace;

pub(super) static SCENARIO: Scenario = Scenario {
    id: "lease-item",
    part: 5,
    name: "A lease in an item",
    title: "One item in a table is the lease: claimed, renewed, released and claimed again",
    lede: "The item has a holder, a time lease_until, a record version number rvn and an epoch. Every step is one \
           conditional write, and the epoch, which grows by one with every claim, is the fencing token.",
    notice: &[
        "A release removes the holder and puts lease_until to zero, but leaves the item: it carries the epoch, and the \
         next claim must count on from there.",
        "Renew and release are conditional on holder and epoch. A holder that has been replaced changes nothing by \
         either, and learns it from the answer.",
        "When B dies, nothing happens at lease_until. A table expires nobody; B’s claim stands in the item until C’s \
         condition passes and C overwrites it.",
    ],
    plan,
    faults: "5 release A; 9 crash B",
    knobs: &[&CLAIM_RULE],
    variants: &[
        Variant::adding("C claims when lease_until < its now", "0 set claim-rule now"),
        Variant::adding("C claims what has not changed for one lease", "0 set claim-rule unchanged"),
        Variant::instead("A dies instead of releasing", "5 crash A"),
        Variant::instead("A wakes up after B has claimed, and renews", "0 set claim-rule now; 4 pause A 10"),
    ],
    measures,
    extras: &[Extra::Requests],
    window: (0, 30),
    ..Scenario::BASE
};

/// A is first, B waits from 4.25 on, C from 9.5 on.
fn plan() -> Plan {
    let starts = |worker, millis| Program { starts: Some(TrueTime::from_millis(millis)), ..Program::idle(worker) };
    Plan {
        settings: Settings { sweeper: false, ..Settings::default() },
        service: ServiceKind::LeaseItem,
        programs: vec![
            Program { takes_over: false, ..starts(WorkerId::A, 0) },
            starts(WorkerId::B, 4_250),
            starts(WorkerId::C, 9_500),
        ],
        horizon: TrueTime::from_millis(45_000),
        ..Plan::default()
    }
}

fn measures(run: &Run) -> Vec<Measure> {
    let epochs: Vec<String> = trace::tokens(run).iter().map(u64::to_string).collect();
    let released = trace::first(run, |kind| matches!(kind, Kind::LockReleased { .. }));
    let left = released.and_then(|event| {
        let world = run.world_at(event.t);
        let item = world.table()?.item(JobId::FIRST)?;
        let holder = item.holder.map_or("no holder".into(), |holder| format!("holder {}", holder.worker));
        Some(format!("{holder}, lease_until {}, epoch {}", item.lease_until.told(), item.epoch))
    });
    let replaced = trace::first(run, |kind| matches!(kind, Kind::ClaimReplaced { .. }));
    vec![
        Measure::new(
            "epochs",
            "The epochs of the claims, in order",
            (!epochs.is_empty()).then(|| Value::Text(epochs.join(", "))),
            "epoch = if_not_exists(epoch, 0) + 1, with each claim",
        ),
        Measure::new(
            "after-release",
            "What is left of the item after the first release",
            left.map(Value::Text),
            released.map_or(String::new(), |event| format!("read at {}", event.t.told())),
        ),
        Measure::new(
            "outlived",
            "How long a dead holder’s claim stays in the item after its lease_until",
            replaced.and_then(|event| match event.kind {
                // Every wall clock of this lab is right, so the reading is true time.
                Kind::ClaimReplaced { lease_until, .. } => {
                    Some(Value::Seconds(trace::since_start(event.t) - (lease_until - lease_lab_sim::time::Wall::ZERO)))
                }
                _ => None,
            }),
            replaced.map_or(String::new(), |event| match event.kind {
                Kind::ClaimReplaced { lease_until, .. } => format!("{} − {}", event.t.told(), lease_until.told()),
                _ => String::new(),
            }),
        ),
    ]
}
