//! What a minority of the lock service's nodes cannot do.

use lease_lab_sim::event::Kind;
use lease_lab_sim::machine::{NodeId, WorkerId};
use lease_lab_sim::settings::{Cluster, Plan, Program, Settings};
use lease_lab_sim::time::TrueTime;

use crate::Run;
use crate::knobs::NODES;
use crate::measures::{Measure, Value};
use crate::scenario::{Extra, Scenario, Variant};
use crate::trace;

pub(super) static SCENARIO: Scenario = Scenario {
    id: "minority",
    part: 8,
    name: "What a minority cannot do",
    title: "Five nodes are cut in two and three, and the old leader is on the small side",
    lede: "From 10.0 on n1, which leads, reaches only n2. A is on its side and releases its lock at 10.5. n1 takes the \
           request into its log, and there it stays: what is not on three of five disks is not committed, and nobody \
           is told that it happened. The other side is large enough to go on without n1.",
    notice: &[
        "n1 accepts requests that it can never commit, and they time out. It can neither grant nor release a lock, \
         and it cannot even let one expire: each of these is an entry of the log.",
        "A leader that has not heard from a majority for the shortest election timeout steps down by itself. Until \
         then it may still renew, which is safe: the other side cannot have a leader yet.",
        "The large side elects a leader in a higher term. When the network heals, that term wins: the old leader \
         follows and drops the entries that were never committed.",
    ],
    plan,
    faults: "10 partition n1,n2,A,B | n3,n4,n5,n6,n7,C; 10.5 release A; 30 heal",
    knobs: &[&NODES],
    variants: &[
        Variant::instead(
            "A’s lease should expire on the small side",
            "2 crash A; 9 partition n1,n2,B | n3,n4,n5,n6,n7,C; 30 heal",
        ),
        Variant::instead(
            "B asks the small side for a free lock",
            "5 release A; 10 partition n1,n2,B | n3,n4,n5,n6,n7,C; 10.5 acquire B; 30 heal",
        ),
        Variant::instead(
            "The old leader is on the large side",
            "10 partition n4,n5 | n1,n2,n3,A,B; 10.5 release A; 30 heal",
        ),
        Variant::adding("Three nodes", "0 set nodes 3"),
        Variant::adding("Seven nodes", "0 set nodes 7"),
        Variant::instead("Two of five nodes die", "10 crash n1; 10 crash n3"),
        Variant::instead("Three of five nodes die", "10 crash n1; 10 crash n3; 10 crash n4"),
    ],
    measures,
    extras: &[Extra::Nodes],
    opens: 29_500,
    window: (8, 34),
    ..Scenario::BASE
};

fn plan() -> Plan {
    let story = super::billing_story::plan();
    Plan {
        settings: Settings { sweeper: false, ..Settings::default() },
        cluster: Cluster { traces_entries: true, ..Cluster::of_size(5) },
        programs: story.programs.into_iter().take(1).chain([c()]).collect(),
        tenant_commits_before: story.tenant_commits_before,
        horizon: TrueTime::from_millis(40_000),
        ..Plan::default()
    }
}

/// C asks for the lock from shortly after the cut on.
fn c() -> Program {
    Program { starts: Some(TrueTime::from_millis(10_600)), ..Program::idle(WorkerId::C) }
}

fn measures(run: &Run) -> Vec<Measure> {
    let of_n1 = |kind: fn(&Kind) -> bool| {
        run.events.iter().find(move |event| event.machine == NodeId(1).into() && kind(&event.kind)).map(|event| event.t)
    };
    let cut = trace::first(run, |kind| {
        matches!(kind, Kind::Partitioned { .. }) || matches!(kind, Kind::Crashed { worker: None })
    })
    .map(|event| event.t);
    let stepped_down = of_n1(|kind| matches!(kind, Kind::SteppedDown { .. }));
    let accepted: Vec<u64> = run
        .events
        .iter()
        .filter(|event| event.machine == NodeId(1).into() && cut.is_some_and(|cut| event.t >= cut))
        .filter_map(|event| match event.kind {
            Kind::EntryLogged { index, .. } => Some(index),
            _ => None,
        })
        .collect();
    let committed_to = run
        .events
        .iter()
        .filter(|event| {
            event.machine == NodeId(1).into() && stepped_down.is_none_or(|stepped_down| event.t < stepped_down)
        })
        .filter_map(|event| match event.kind {
            Kind::EntryCommitted { index, .. } => Some(index),
            _ => None,
        })
        .max();
    let committed = accepted.iter().filter(|index| committed_to.is_some_and(|to| **index <= to));
    let dropped: u64 = run
        .events
        .iter()
        .filter(|event| event.machine == NodeId(1).into())
        .map(|event| match event.kind {
            Kind::EntriesDiscarded { count, .. } => count,
            _ => 0,
        })
        .sum();
    let elected = trace::first(run, |kind| matches!(kind, Kind::LeaderElected { .. }));
    let next = cut.and_then(|cut| {
        run.events.iter().find_map(|event| match event.kind {
            Kind::LeaseGranted { worker, .. } if event.t > cut => Some((event.t, worker)),
            _ => None,
        })
    });
    let nodes = run.plan.cluster.nodes().len();
    let majority = nodes / 2 + 1;
    let text = |text: &str| Value::Text(text.into());
    let at =
        |at: Option<TrueTime>, none: &str| at.map_or_else(|| text(none), |at| Value::Seconds(trace::since_start(at)));
    let timeout = run.plan.cluster.election_timeout_min();
    vec![
        Measure::new(
            "tolerates",
            "How many nodes this cluster can lose",
            Some(Value::Count((nodes - majority) as u64)),
            format!("{nodes} nodes − a majority of {majority}; of 3 it is 1, of 5 it is 2, of 7 it is 3"),
        ),
        Measure::count("accepted", "Entries that n1 takes into its log after the cut", accepted.len(), ""),
        Measure::count("committed", "Of them committed while it leads", committed.count(), ""),
        Measure::new(
            "stepped-down",
            "n1 steps down at",
            Some(at(stepped_down, "it does not")),
            cut.filter(|_| stepped_down.is_some()).map_or(String::new(), |cut| {
                format!(
                    "it last heard from a majority shortly before {}; the shortest election timeout is {} s",
                    cut.told(),
                    timeout
                )
            }),
        ),
        Measure::new(
            "elected",
            "The other side has a leader at",
            Some(at(elected.map(|event| event.t), "it does not")),
            elected.map_or(String::new(), |event| match event.kind {
                Kind::LeaderElected { node, term, .. } => format!("{node}, in term {term}"),
                _ => String::new(),
            }),
        ),
        Measure::new("dropped", "Entries that n1 drops when the network heals", Some(Value::Count(dropped)), ""),
        Measure::new(
            "next",
            "Who gets the lock next",
            Some(
                next.map_or_else(|| text("nobody"), |(at, worker)| Value::Text(format!("{worker}, at {}", at.told()))),
            ),
            "",
        ),
    ]
}
