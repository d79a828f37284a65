//! Redlock and a master whose wall clock jumps forward: two majorities share it.

use lease_lab_sim::event::Kind;
use lease_lab_sim::machine::{MachineId, WorkerId};
use lease_lab_sim::settings::{Plan, Program, ServiceKind};
use lease_lab_sim::time::{Span, TrueTime};

use crate::Run;
use crate::knobs::REDIS_FSYNC;
use crate::measures::{Measure, Value};
use crate::scenario::{Scenario, Variant};
use crate::trace;

pub(super) static SCENARIO: Scenario = Scenario {
    id: "redlock-clock",
    part: 8,
    name: "Redlock and a clock",
    title: "One master’s wall clock jumps forward, and two clients have a majority",
    lede: "A holds the lock on r1, r2 and r3; its requests to r4 and r5 were lost. A key expires when its own server’s \
           wall clock says so. At 4.0 the clock of r3 jumps ten seconds forward, so r3 has done its duty and forgets \
           A. B comes at 4.5 and asks all five.",
    notice: &[
        "Any two majorities of five share a master. That is what keeps two holders apart, and here it is r3, which \
         has forgotten the first when the second asks.",
        "A’s own clock is right and its stop time far away. It learns the truth only by its next renewal, which finds \
         no majority; until then both may act, and both write.",
        "Neither has a token, so the store cannot even tell that one of the two writes is the older one’s.",
    ],
    plan,
    faults: "0 drop A r4; 0 drop A r5; 4 step-wall r3 10",
    knobs: &[&REDIS_FSYNC],
    variants: &[
        Variant::instead("A holds all five masters", "4 step-wall r3 10"),
        Variant::instead("The clock is set back instead", "0 drop A r4; 0 drop A r5; 4 step-wall r3 -10"),
        Variant::instead(
            "A holds all five, and three clocks jump",
            "4 step-wall r3 10; 4 step-wall r4 10; 4 step-wall r5 10",
        ),
    ],
    measures,
    window: (0, 8),
    ..Scenario::BASE
};

/// A has a chunk to send at about 5.0; B comes at 4.5.
pub(super) fn plan() -> Plan {
    let ms = Span::millis;
    Plan {
        service: ServiceKind::Redlock,
        chunks: 4,
        programs: vec![
            Program {
                starts: Some(TrueTime::ZERO),
                takes_over: false,
                work: vec![(1, ms(300)), (2, ms(4_200))],
                ..Program::idle(WorkerId::A)
            },
            Program {
                starts: Some(TrueTime::from_millis(4_500)),
                work: vec![(2, ms(600))],
                ..Program::idle(WorkerId::B)
            },
        ],
        horizon: TrueTime::from_millis(30_000),
        ..Plan::default()
    }
}

/// The masters that set the key with which `worker` first got the lock.
pub(super) fn masters_of(run: &Run, worker: WorkerId) -> Vec<MachineId> {
    let lease = run.events.iter().find_map(|event| match event.kind {
        Kind::MajorityCounted { worker: who, lease, validity: Some(_), .. } if who == worker => Some(lease),
        _ => None,
    });
    let set = |event: &&lease_lab_sim::event::Event| matches!(event.kind, Kind::KeySet { lease: set, .. } if Some(set) == lease);
    run.events.iter().filter(set).map(|event| event.machine).collect()
}

fn names(machines: &[MachineId]) -> Option<Value> {
    let names: Vec<String> = machines.iter().map(ToString::to_string).collect();
    (!names.is_empty()).then(|| Value::Text(names.join(", ")))
}

/// Who had which masters, and what came of it.
pub(super) fn measures(run: &Run) -> Vec<Measure> {
    let next = trace::first(run, |kind| matches!(kind, Kind::LockAcquired { worker, .. } if *worker != WorkerId::A));
    let second = next.and_then(|event| event.kind.worker()).unwrap_or(WorkerId::B);
    let both = trace::both_act(run, WorkerId::A, second);
    let (of_a, of_second) = (masters_of(run, WorkerId::A), masters_of(run, second));
    // One after the other, they share whatever they like.
    let shared: Vec<MachineId> =
        of_a.iter().copied().filter(|master| both.is_some() && of_second.contains(master)).collect();
    vec![
        Measure::new("masters-a", "Masters that set the key for A", names(&of_a), ""),
        Measure::new("masters-b", format!("Masters that set the key for {second}"), names(&of_second), ""),
        Measure::new("shared", "Masters that both count on at the same time", names(&shared), ""),
        Measure::new(
            "both-act",
            format!("How long A and {second} may both act"),
            Some(Value::Seconds(both.map_or(Span::ZERO, |(from, to)| to - from))),
            both.map_or(String::new(), |(from, to)| format!("{} − {}", to.told(), from.told())),
        ),
        Measure::new("charged-twice", "Customers charged twice", Some(Value::Count(trace::charged_twice(run))), ""),
    ]
}
