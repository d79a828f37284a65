//! One winner without a lock service: what a database or a broker can decide by itself.

use lease_lab_sim::contest::{Contest, Way};
use lease_lab_sim::event::Kind;
use lease_lab_sim::machine::WorkerId;
use lease_lab_sim::settings::{Cluster, Plan, Program, Settings};
use lease_lab_sim::time::{Span, TrueTime};

use crate::Run;
use crate::knobs::{Choice, Knob, Takes};
use crate::measures::{Measure, Value};
use crate::scenario::{Extra, Scenario, Variant};
use crate::trace;

pub(super) static SCENARIO: Scenario = Scenario {
    id: "no-lock",
    part: 9,
    name: "One winner without a lock service",
    title: "Four workers want the job, and what stores it decides who gets it",
    lede: "A, B, C and D try at the same moment. There is no lock service. A unique key, a version, a row lock that \
           others skip, or a partition with one consumer: each finds exactly one winner. They differ in what happens \
           when the winner dies.",
    notice: &[
        "With a unique key or a version, the winner is written down, and stays so. If it dies, nobody else gets the \
         job until somebody decides that it is dead, and that takes a lease or a person.",
        "A row lock ends with its session. The operating system closes the connection of a process that died, so the \
         next worker gets the row. A worker that is only paused keeps its session, and its lock.",
        "A broker gives the partition to another member when the first has not reported for the session timeout. That \
         is a lease, and the generation is its token: a late record of an old generation is refused.",
    ],
    plan,
    knobs: &[&WAY],
    variants: &[
        Variant::adding("Compare-and-set on a version", "0 set way version"),
        Variant::adding("FOR UPDATE SKIP LOCKED", "0 set way skip-locked"),
        Variant::adding("One partition, one consumer", "0 set way partition"),
        Variant::adding("Unique key, and the winner dies", "2 crash A"),
        Variant::adding("A version, and the winner dies", "0 set way version; 2 crash A"),
        Variant::adding("SKIP LOCKED, and the winner dies", "0 set way skip-locked; 2 crash A"),
        Variant::adding("A partition, and its consumer dies", "0 set way partition; 2 crash A"),
        Variant::adding("A partition, and its consumer pauses", "0 set way partition; 2 pause A 8"),
        Variant::adding("SKIP LOCKED, and the winner pauses", "0 set way skip-locked; 2 pause A 8"),
    ],
    measures,
    extras: &[Extra::Requests],
    window: (0, 7),
    ..Scenario::BASE
};

static WAY: Knob = Knob {
    key: "way",
    name: "How the winner is found",
    takes: Takes::Choice(&[
        Choice {
            value: "unique-key",
            means: "INSERT a claim whose key only one can have",
            apply: |plan| choose(plan, Way::UniqueKey),
        },
        Choice {
            value: "version",
            means: "UPDATE on condition of the version that was read",
            apply: |plan| choose(plan, Way::Version),
        },
        Choice {
            value: "skip-locked",
            means: "SELECT … FOR UPDATE SKIP LOCKED, held while the work is done",
            apply: |plan| choose(plan, Way::SkipLocked),
        },
        Choice {
            value: "partition",
            means: "a broker assigns the one partition to one consumer",
            apply: |plan| choose(plan, Way::Partition),
        },
    ]),
};

fn choose(plan: &mut Plan, way: Way) {
    plan.contest =
        Some(Contest { way, work: Span::seconds(2), every: Span::seconds(1), session_timeout: Span::seconds(3) });
}

/// Nothing but four workers and what decides between them.
fn plan() -> Plan {
    let program = |worker| Program { starts: Some(TrueTime::from_millis(1_000)), ..Program::idle(worker) };
    let mut plan = Plan {
        settings: Settings { sweeper: false, ..Settings::default() },
        cluster: Cluster { election_timeouts: Vec::new(), ..Cluster::default() },
        programs: WorkerId::ALL.map(program).to_vec(),
        chunks: 1,
        horizon: TrueTime::from_millis(15_000),
        ..Plan::default()
    };
    choose(&mut plan, Way::UniqueKey);
    plan
}

fn measures(run: &Run) -> Vec<Measure> {
    let winners: Vec<(WorkerId, TrueTime)> = run
        .events
        .iter()
        .filter_map(|event| match event.kind {
            Kind::ContestWon { worker, .. } => Some((worker, event.t)),
            _ => None,
        })
        .collect();
    let told: Vec<String> = winners.iter().map(|(who, t)| format!("{who} at {} s", t.told())).collect();
    let first = winners.first();
    let lost = run.events.iter().filter(|event| {
        matches!(event.kind, Kind::ContestLost { .. }) && first.is_some_and(|(_, won)| event.t == *won)
    });
    let count = |fits: fn(&Kind) -> bool| {
        Some(Value::Count(run.events.iter().filter(|event| fits(&event.kind)).count() as u64))
    };
    let recorded = trace::first(run, |kind| matches!(kind, Kind::ChunkWritten { .. }));
    let recorded_when = recorded.map(|event| Value::Seconds(trace::since_start(event.t)));
    let crashed = trace::first(run, |kind| matches!(kind, Kind::Crashed { .. }));
    let mut measures = vec![
        Measure::new(
            "winners",
            "Workers that got the job, one after another",
            Some(Value::Count(winners.len() as u64)),
            told.join(", "),
        ),
        Measure::new(
            "lost",
            "Workers that tried at the same moment and did not",
            Some(Value::Count(lost.count() as u64)),
            "",
        ),
        Measure::new(
            "recorded",
            "How often the work is recorded",
            count(|kind| matches!(kind, Kind::ChunkWritten { .. })),
            recorded.map_or("never within this run".into(), |event| format!("at {} s", event.t.told())),
        ),
        Measure::new(
            "refused",
            "Late records that are refused",
            count(|kind| matches!(kind, Kind::WorkRefused { .. })),
            "",
        ),
    ];
    if let Some(crashed) = crashed {
        let next = winners.iter().find(|(_, won)| *won > crashed.t);
        measures.push(Measure::new(
            "free-again",
            "How long after the winner’s death another one gets the job",
            next.map(|(_, won)| Value::Seconds(*won - crashed.t)),
            next.map_or("nobody does".into(), |(who, won)| format!("{who}: {} − {}", won.told(), crashed.t.told())),
        ));
        measures.push(Measure::new("recorded-at", "When the work is recorded", recorded_when, ""));
    }
    measures
}
