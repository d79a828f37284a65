//! `:now` in a condition is some client's clock; a database's `now()` is one.

use lease_lab_sim::event::Kind;
use lease_lab_sim::machine::WorkerId;
use lease_lab_sim::settings::{ClaimRule, Plan, Program, ServiceKind, Settings};
use lease_lab_sim::time::{Span, TrueTime};

use super::claim_rules::{CLAIM_RULE, overlap_and_gap};
use crate::Run;
use crate::measures::{Measure, Value};
use crate::scenario::{Extra, Scenario, Variant};
use crate::trace;

pub(super) static SCENARIO: Scenario = Scenario {
    id: "whose-now",
    part: 3,
    name: "The storage’s clock",
    title: "A client whose clock is fast claims a lease from a holder who is alive and well",
    lede: "A condition in DynamoDB can compare values, test attributes (attribute_exists, attribute_not_exists, \
           attribute_type, begins_with, contains) and ask for a size. It has no now(). So the :now in a lease’s \
           condition is the wall clock of whichever client sends it. Here B’s is eight seconds fast.",
    notice: &[
        "A is healthy and about to renew. B’s :now is already past lease_until, so the condition passes and B replaces \
         A’s claim. For a moment both have the right to act, each by its own clock; the figures say for how long.",
        "Let one SQL database judge by its own now(), and clients’ clocks no longer matter: the same clock writes \
         lease_until and compares it. For rows of that one database this is fine.",
        "For anything outside that database it proves nothing, and it is still a wall clock: set it forward, and every \
         lease in it is over at once.",
    ],
    plan,
    faults: "0 offset B 8",
    knobs: &[&CLAIM_RULE],
    own_rule: "As it is: lease_until is compared with B’s own clock, which is 8 s fast",
    variants: &[
        Variant::adding("The database judges by its own now()", "0 set claim-rule storage-now"),
        Variant::adding(
            "The database judges, and its own clock is set forward by 8 s",
            "0 set claim-rule storage-now; 2.2 step-wall table 8",
        ),
        Variant::adding("B judges by a monotonic clock of its own", "0 set claim-rule unchanged"),
        Variant::instead("B’s clock is 8 s slow, and A dies", "0 offset B -8; 4 crash A"),
    ],
    measures,
    extras: &[Extra::Bars, Extra::Requests, Extra::ClockGraph],
    clocks_of: WorkerId::B,
    window: (0, 12),
    ..Scenario::BASE
};

/// A works steadily; B waits for the lock from the start.
fn plan() -> Plan {
    let starts = |worker, millis| Program {
        starts: Some(TrueTime::from_millis(millis)),
        work_default: Span::seconds(3),
        ..Program::idle(worker)
    };
    let mut plan = Plan {
        settings: Settings { sweeper: false, ..Settings::default() },
        service: ServiceKind::LeaseItem,
        programs: vec![Program { takes_over: false, ..starts(WorkerId::A, 0) }, starts(WorkerId::B, 500)],
        horizon: TrueTime::from_millis(30_000),
        ..Plan::default()
    };
    plan.lease_items.rule = ClaimRule::Now;
    plan
}

fn measures(run: &Run) -> Vec<Measure> {
    let claim = trace::granted_at(run, WorkerId::B);
    let told = trace::let_go_at(run, WorkerId::A);
    // A may act until its own stop time, unless it learns before that its claim is gone.
    let right_ends = trace::right_ends_at(run, WorkerId::A).map(|ends| told.map_or(ends, |told| ends.min(told)));
    let mut measures = vec![
        Measure::new("claim", "B claims at", claim.map(|at| Value::Seconds(trace::since_start(at))), why_then(run)),
        Measure::new(
            "right-ends",
            "A’s right to act ends at",
            right_ends.map(|at| Value::Seconds(trace::since_start(at))),
            match told {
                Some(told) if right_ends == Some(told) => "A lets go: its claim is gone, or its process",
                _ => "A’s last stop time, by its own clock",
            },
        ),
    ];
    measures.extend(overlap_and_gap(claim, right_ends));
    measures
}

fn why_then(run: &Run) -> String {
    let replaced = trace::first(run, |kind| matches!(kind, Kind::ClaimReplaced { by: WorkerId::B, .. }));
    let Some((event, Kind::ClaimReplaced { lease_until, .. })) = replaced.map(|event| (event, &event.kind)) else {
        return String::new();
    };
    let (whose, clock) = match run.plan.lease_items.rule {
        ClaimRule::StorageNow => ("the table’s", lease_lab_sim::machine::MachineId::Table),
        _ => ("B’s", WorkerId::B.into()),
    };
    let wall = crate::clocks::tracks(&run.events).remove(&clock).unwrap_or_default().reading(event.t).wall;
    format!("lease_until is {}, {whose} wall clock says {}", lease_until.told(), wall.told())
}
