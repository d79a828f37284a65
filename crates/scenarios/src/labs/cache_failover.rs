//! One Redis primary, an asynchronous replica, and a failover inside the replication lag.

use lease_lab_sim::event::Kind;
use lease_lab_sim::machine::{MachineId, WorkerId};
use lease_lab_sim::message::NO_TOKEN;
use lease_lab_sim::settings::{Plan, Program, ServiceKind};
use lease_lab_sim::time::{Span, TrueTime};

use crate::Run;
use crate::knobs::{LAG, PROMOTION, REDIS_FSYNC, RELEASE, WAIT};
use crate::measures::{Measure, Value};
use crate::scenario::{Scenario, Variant};
use crate::trace;

pub(super) static SCENARIO: Scenario = Scenario {
    id: "cache-failover",
    part: 8,
    name: "A lock in a replicated cache",
    title: "The primary dies before its replica has heard of C’s lock",
    lede: "The lock is a key on one Redis primary, and the token comes from a counter beside it. Both are copied to a \
           replica, a tenth of a second later. C gets the lock, the primary dies within that tenth, and the replica \
           is promoted: it knows neither the lock nor the number that went with it.",
    notice: &[
        "The primary answers C at once and would ship the two commands one lag later. It dies in between, so the \
         promoted replica finds no key to refuse D with, and its counter still stands where it stood before C.",
        "D therefore gets the very number that C has. A fence refuses what is lower, and neither is: the store takes \
         the writes of both, and nothing in them tells it which to believe.",
        "WAIT makes a new holder wait for the copy. It narrows the gap, because only what it waited for is safe: a \
         renewal that is lost in the same way still lets a second holder in, though with a higher number.",
    ],
    plan,
    faults: "40.25 crash primary",
    knobs: &[&LAG, &PROMOTION, &WAIT, &RELEASE, &REDIS_FSYNC],
    variants: &[
        Variant::instead("The primary dies after the lag", "40.35 crash primary"),
        Variant::instead(
            "C waits for the replica, and the old primary comes back",
            "0 set wait 1; 40.25 crash primary; 44 restart primary",
        ),
        Variant::instead(
            "C has waited, but a renewal is lost",
            "0 set wait 1; 43.25 crash primary; 43.3 pause C 7.3; 45 restart primary",
        ),
        Variant::adding("The replica is promoted only after C’s stop time", "0 set promotion 15"),
        Variant::adding("C releases with a plain DEL", "0 set release unconditional; 42.8 release C"),
    ],
    measures,
    window: (40, 46),
    ..Scenario::BASE
};

fn plan() -> Plan {
    let ms = Span::millis;
    Plan {
        service: ServiceKind::Redis,
        // Numbers that others have drawn.
        tenant_commits_before: 14,
        programs: vec![
            // The request is a millisecond on its way: the key is set at 40.2.
            Program {
                starts: Some(TrueTime::from_millis(40_199)),
                work: vec![(2, ms(800))],
                ..Program::idle(WorkerId::C)
            },
            Program { starts: Some(TrueTime::from_millis(40_500)), ..Program::idle(WorkerId::D) },
        ],
        horizon: TrueTime::from_millis(70_000),
        ..Plan::default()
    }
}

fn measures(run: &Run) -> Vec<Measure> {
    let promoted = trace::first(run, |kind| matches!(kind, Kind::Promoted { .. }));
    let died = run
        .events
        .iter()
        .find(|event| event.machine == MachineId::Primary && matches!(event.kind, Kind::Crashed { .. }));
    let counter = promoted.and_then(|event| match event.kind {
        Kind::Promoted { counter, .. } => Some(counter),
        _ => None,
    });
    let token = |worker| trace::token_of(run, worker).filter(|token| *token != NO_TOKEN);
    let (of_c, of_d) = (token(WorkerId::C), token(WorkerId::D));
    let granted = |token: u64| match run.plan.service {
        ServiceKind::Redis => format!("the counter stood at {}; INCR makes it {token}", token.saturating_sub(1)),
        _ => String::new(),
    };
    let both = trace::both_act(run, WorkerId::C, WorkerId::D);
    let raised = trace::first(run, |kind| matches!(kind, Kind::FenceRaised { worker: WorkerId::D, .. }));
    let late = raised.and_then(|raised| {
        let mut late = trace::writes(run).filter(|write| write.worker == WorkerId::C && write.t > raised.t);
        late.next()
    });
    vec![
        Measure::new("token-c", "The number that C gets", of_c.map(Value::Count), of_c.map_or(String::new(), granted)),
        Measure::new(
            "promotion",
            "From the primary’s death to the promotion of the replica",
            died.zip(promoted).map(|(died, promoted)| Value::Seconds(promoted.t - died.t)),
            died.zip(promoted)
                .map_or(String::new(), |(died, promoted)| format!("{} − {}", promoted.t.told(), died.t.told())),
        ),
        Measure::new("counter", "The promoted replica’s counter", counter.map(Value::Count), ""),
        Measure::new("token-d", "The number that D gets", of_d.map(Value::Count), of_d.map_or(String::new(), granted)),
        Measure::new(
            "both-act",
            "How long C and D may both act",
            Some(Value::Seconds(both.map_or(Span::ZERO, |(from, to)| to - from))),
            both.map_or(String::new(), |(from, to)| format!("{} − {}", to.told(), from.told())),
        ),
        Measure::new(
            "store-tells",
            "What the store does with a write that C sends after D’s raise",
            Some(Value::Text(late.map_or("C sends none".into(), |write| {
                if write.accepted { "accepts it".into() } else { "refuses it".into() }
            }))),
            late.map_or(String::new(), |write| format!("token {}, fence {}", write.token, write.fence)),
        ),
        Measure::new("charged-twice", "Customers charged twice", Some(Value::Count(trace::charged_twice(run))), ""),
    ]
}
