//! Many candidates, one deletion: how many wake up.

use lease_lab_sim::event::Kind;
use lease_lab_sim::machine::{MachineId, WorkerId};
use lease_lab_sim::settings::{LockRules, Plan, Program, Settings, WatchRule};
use lease_lab_sim::time::{Span, TrueTime};

use super::election::WATCH;
use crate::Run;
use crate::knobs::{Knob, Takes};
use crate::measures::{Measure, Value};
use crate::scenario::{Scenario, Variant};
use crate::trace;

pub(super) static SCENARIO: Scenario = Scenario {
    id: "herd",
    part: 7,
    name: "Herd or predecessor",
    title: "One key is deleted, and twenty candidates wait",
    lede: "A leads, and the other candidates wait. At 5.0 A dies, and a while later its key is deleted. If all of them \
           watch that key, all of them wake up and ask, to find that one of them leads. If each watches the key just \
           before its own, one wakes up.",
    notice: &[
        "The outcome is the same in both runs: the candidate with the next oldest key leads. What differs is how much \
         is asked of the lock service at one instant, and that grows with every candidate.",
        "Watching the predecessor costs nothing more. It is what etcd’s and ZooKeeper’s recipes do, and it has one \
         consequence: if a candidate in the middle goes, exactly one other is told and looks again.",
    ],
    plan: || plan_of(20),
    faults: "5 crash A",
    knobs: &[&CANDIDATES, &WATCH],
    variants: &[
        Variant::adding("Each watches its predecessor", "0 set watch predecessor"),
        Variant::adding("50 candidates", "0 set candidates 50"),
        Variant::adding("50 candidates, each watches its predecessor", "0 set candidates 50; 0 set watch predecessor"),
        Variant::adding("Predecessors, and C in the middle dies", "0 set watch predecessor; 5 crash C"),
    ],
    measures,
    window: (4, 16),
    ..Scenario::BASE
};

/// How many candidates there are.
static CANDIDATES: Knob = Knob {
    key: "candidates",
    name: "Candidates",
    takes: Takes::Count { from: 2, to: 50, apply: |plan, count| plan.programs = programs(count as u16) },
};

/// They queue one after another, A first; the work takes longer than the run.
fn programs(count: u16) -> Vec<Program> {
    let program = |number: u16| Program {
        starts: Some(TrueTime::from_millis(i64::from(number) * 50)),
        work_default: Span::seconds(600),
        ..Program::idle(WorkerId(number))
    };
    (0..count).map(program).collect()
}

fn plan_of(count: u16) -> Plan {
    Plan {
        settings: Settings { sweeper: false, ..Settings::default() },
        lock_rules: LockRules { campaign: Some(WatchRule::Leader), ..LockRules::default() },
        programs: programs(count),
        horizon: TrueTime::from_millis(20_000),
        ..Plan::default()
    }
}

fn measures(run: &Run) -> Vec<Measure> {
    let deleted = trace::expired_at(run, WorkerId::A);
    // Everything that follows happens within a few milliseconds.
    let soon = |t: TrueTime| deleted.is_some_and(|at| (at..=at + Span::millis(100)).contains(&t));
    let woken = run.events.iter().filter(|event| soon(event.t) && matches!(event.kind, Kind::CandidateWoken { .. }));
    let asked = run.events.iter().filter(|event| {
        soon(event.t)
            && event.machine.worker().is_some()
            && matches!(&event.kind, Kind::MessageSent { to: MachineId::Node(_), what, .. } if what != "keep alive")
    });
    let leads = deleted.and_then(|deleted| {
        run.events.iter().find_map(|event| match event.kind {
            Kind::LockAcquired { worker, token, .. } if event.t >= deleted => {
                Some(format!("{worker}, with epoch {token}"))
            }
            _ => None,
        })
    });
    let waiting = run.plan.programs.len().saturating_sub(1);
    vec![
        Measure::count("candidates", "Candidates that wait behind A", waiting, ""),
        Measure::at("deleted", "A’s key is deleted at", deleted, ""),
        Measure::count(
            "woken",
            "Candidates that wake up",
            woken.count(),
            "each is told that the key it watches is gone",
        ),
        Measure::count(
            "asked",
            "Requests that this causes at once",
            asked.count(),
            "who is the oldest now, and new watches",
        ),
        Measure::new("leads", "Who leads then", leads.map(Value::Text), ""),
    ]
}
