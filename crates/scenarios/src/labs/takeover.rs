//! The earliest safe takeover, and how much later the real one comes.

use lease_lab_sim::machine::WorkerId;
use lease_lab_sim::settings::{Finds, Plan, Program, ServiceKind, Settings};
use lease_lab_sim::time::{Span, TrueTime};

use super::claim_rules::CLAIM_RULE;
use crate::Run;
use crate::measures::{Measure, Value};
use crate::scenario::{Extra, Scenario, Variant};
use crate::trace;

pub(super) static SCENARIO: Scenario = Scenario {
    id: "takeover",
    part: 6,
    name: "The earliest safe takeover",
    title: "A dies at 4.0: when B may take over, and when it does",
    lede: "Nobody can know that A is dead. All that others may rely on is that A’s right to act ends, one lease after \
           the last renewal that the authority applied. B asks for the lock ten times a second from 6.0 on.",
    notice: &[
        "The earliest safe takeover is the last renewal that the authority applied, plus one lease. What A sent after \
         that and the authority never applied does not count, whatever A hoped.",
        "If the authority judges by the clock on which it started the lease, nothing is added. A claim margin is \
         needed only where the claimant judges, by a clock of its own.",
    ],
    plan,
    faults: "4 crash A",
    knobs: &[&CLAIM_RULE],
    own_rule: "As it is: A dies, and the lock service judges by its own clock",
    variants: &[
        Variant::instead("A’s renewal at 3.0 never arrives", "2.5 isolate A"),
        Variant::adding("A lease item, and B judges with a margin of 5 s", "0 service lease-item"),
        Variant::adding("The same, and B’s wall clock is 3 s fast", "0 service lease-item; 0 offset B 3"),
        Variant::adding(
            "A lease item, and B waits for one lease without a change",
            "0 service lease-item; 0 set claim-rule unchanged",
        ),
        Variant::adding(
            "A row in a database that judges by its own now()",
            "0 service lease-item; 0 set claim-rule storage-now",
        ),
    ],
    measures,
    extras: &[Extra::Calculator("takeover"), Extra::Bars],
    window: (0, 20),
    ..Scenario::BASE
};

/// A as in the story; B asks often.
fn plan() -> Plan {
    let mut plan = Plan {
        settings: Settings { sweeper: false, ..Settings::default() },
        programs: super::billing_story::plan().programs.into_iter().take(1).collect(),
        horizon: TrueTime::from_millis(40_000),
        ..Plan::default()
    };
    plan.programs.push(Program {
        starts: Some(TrueTime::from_millis(6_000)),
        finds: Finds::Standby { every: Span::millis(100) },
        ..Program::idle(WorkerId::B)
    });
    plan
}

fn measures(run: &Run) -> Vec<Measure> {
    let taken = trace::granted_at(run, WorkerId::B);
    let applied = trace::last_applied(run, WorkerId::A, taken.unwrap_or(run.horizon)).map(|event| event.t);
    let lease = run.plan.settings.lease;
    let earliest = applied.map(|at| at + lease);
    let seconds = |at: TrueTime| Value::Seconds(trace::since_start(at));
    let judge = match run.plan.service {
        ServiceKind::LeaseItem => "the claimant judges: see the claim rule",
        _ => "the authority judges: the lease expires, the key is deleted, and B’s next attempt finds it gone",
    };
    vec![
        Measure::new("applied", "The last renewal that the authority applied", applied.map(seconds), ""),
        Measure::new(
            "earliest",
            "The earliest safe takeover",
            earliest.map(seconds),
            applied.map_or(String::new(), |at| format!("{} + {}", at.told(), lease.told())),
        ),
        Measure::new("taken", "B takes over at", taken.map(seconds), judge),
        Measure::new(
            "later",
            "Later than necessary by",
            taken.zip(earliest).map(|(taken, earliest)| Value::Seconds(taken - earliest)),
            taken.zip(earliest).map_or(String::new(), |(taken, earliest)| format!("{taken} − {earliest}")),
        ),
    ]
}
