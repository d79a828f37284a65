//! Redlock: one round, step by step.

use lease_lab_sim::event::Kind;
use lease_lab_sim::machine::WorkerId;
use lease_lab_sim::settings::{Plan, Program, ServiceKind};
use lease_lab_sim::time::{Span, TrueTime};

use crate::Run;
use crate::knobs::{NODE_TIMEOUT, REDIS_FSYNC};
use crate::measures::{Measure, Value};
use crate::scenario::{Scenario, Variant};
use crate::trace;

pub(super) static SCENARIO: Scenario = Scenario {
    id: "redlock",
    part: 8,
    name: "Redlock, one round",
    title: "A asks five masters at once and counts",
    lede: "Five Redis masters know nothing of each other. A client takes the time, asks all five to set the same key, \
           waits for each only briefly, and counts. It holds the lock if a majority has set the key and some of the \
           lock’s length is left; else it deletes the key on all five.",
    notice: &[
        "r4 answers late and r5 never hears of it. A majority is enough, but A has waited for the last one as long as \
         it waits for any: what is left for it, the validity, is shorter by that and by an allowance for clocks that \
         run unlike.",
        "B asks next and finds too few masters free for a majority: it deletes its key there at once, pauses for a \
         random while, and tries again.",
        "A counts on its own clock after the answers are in. A pause before the count is noticed, because the time is \
         gone; a pause after it is not.",
    ],
    plan,
    faults: "0 delay A r4 0.02; 0 drop A r5",
    knobs: &[&NODE_TIMEOUT, &REDIS_FSYNC],
    variants: &[
        Variant::instead("All five answer at once", ""),
        Variant::instead("Two masters are down", "0 crash r4; 0 crash r5"),
        Variant::instead("Three masters are down", "0 crash r3; 0 crash r4; 0 crash r5"),
        Variant::instead("A freezes before it has the answers", "0.1005 pause A 12"),
        Variant::instead("A freezes between its check and its write", "1.7 pause A 12"),
    ],
    measures,
    window: (0, 1),
    ..Scenario::BASE
};

fn plan() -> Plan {
    Plan {
        service: ServiceKind::Redlock,
        chunks: 4,
        programs: vec![
            Program { starts: Some(TrueTime::from_millis(100)), ..Program::idle(WorkerId::A) },
            Program { starts: Some(TrueTime::from_millis(500)), ..Program::idle(WorkerId::B) },
        ],
        horizon: TrueTime::from_millis(25_000),
        ..Plan::default()
    }
}

/// A client's first count.
pub(super) struct Count {
    pub(super) agreed: u8,
    pub(super) elapsed: Span,
    pub(super) validity: Option<Span>,
}

/// What `worker` counted first.
pub(super) fn first_count(run: &Run, worker: WorkerId) -> Option<Count> {
    run.events.iter().find_map(|event| match event.kind {
        Kind::MajorityCounted { worker: who, agreed, elapsed, validity, .. } if who == worker => {
            Some(Count { agreed, elapsed, validity })
        }
        _ => None,
    })
}

fn measures(run: &Run) -> Vec<Measure> {
    let (a, b) = (first_count(run, WorkerId::A), first_count(run, WorkerId::B));
    let lease = run.plan.settings.lease;
    let drift = run.plan.redlock.drift(lease);
    let stop = trace::acquired(run, WorkerId::A).and_then(|event| match event.kind {
        Kind::LockAcquired { stop_time, .. } => Some(stop_time),
        _ => None,
    });
    let masters = run.plan.redlock.masters;
    let majority = run.plan.redlock.majority();
    vec![
        Measure::new(
            "agreed",
            "Masters that set the key for A",
            a.as_ref().map(|count| Value::Count(count.agreed.into())),
            format!("of {masters}; {majority} are needed"),
        ),
        Measure::new(
            "elapsed",
            "What A’s clock says that the round took",
            a.as_ref().map(|count| Value::Seconds(count.elapsed)),
            format!("a master that does not answer is given up after {} s", run.plan.redlock.node_timeout),
        ),
        Measure::new(
            "drift",
            "Allowance for clocks that run unlike",
            Some(Value::Seconds(drift)),
            format!("{lease} s × 0.01 + 0.002 s"),
        ),
        Measure::new(
            "validity",
            "How long the lock is valid from A’s count on",
            a.as_ref().and_then(|count| count.validity).map(Value::Seconds),
            a.as_ref().map_or(String::new(), |count| format!("{lease} − {} − {drift}", count.elapsed)),
        ),
        Measure::new(
            "stop-time",
            "When A must stop, on its own clock",
            stop.map(|stop| Value::Seconds(Span::micros(stop.as_micros()))),
            format!("the time before the round + {lease} − {drift} − the margin of {}", run.plan.settings.margin),
        ),
        Measure::new(
            "agreed-b",
            "Masters that set the key for B in its first round",
            b.map(|count| Value::Count(count.agreed.into())),
            "",
        ),
        Measure::new("charged-twice", "Customers charged twice", Some(Value::Count(trace::charged_twice(run))), ""),
    ]
}
