//! Three requests, traced down to the disk and back; and what a slow disk does to the leader.

use lease_lab_sim::event::Kind;
use lease_lab_sim::machine::{MachineId, WorkerId};
use lease_lab_sim::settings::{Cluster, Latency, Plan, Program, Settings};
use lease_lab_sim::time::{Span, TrueTime};

use crate::Run;
use crate::knobs::FSYNC;
use crate::measures::{Measure, Value};
use crate::scenario::{Extra, Scenario, Variant};
use crate::trace;

pub(super) static SCENARIO: Scenario = Scenario {
    id: "layers",
    part: 10,
    name: "Three requests, traced down",
    title: "An acquisition, a keep-alive and a fenced write on their way to the disk and back",
    lede: "A acquires the lock, raises the fence, writes a chunk and renews. Each request passes through the client \
           library, the network, the leader, its log and disk, a follower’s disk, and back. Slow the disks down and \
           see which of the three requests notices.",
    notice: &[
        "The acquisition is two entries of the log, one after the other: the lease, and the key. For each, the leader \
         waits for its own disk and for one follower’s. The third node’s disk is not waited for.",
        "The keep-alive touches no disk at all. That is why it is cheap, and why the deadline is gone with the leader.",
        "A node does nothing else of the protocol while it syncs, as in etcd. With slow disks heartbeats are late; \
         once they are later than the shortest election timeout, here 1 s, the leader is lost. No other one is elected \
         then, because a vote must be on a disk before it counts.",
    ],
    plan,
    knobs: &[&FSYNC],
    variants: &[
        Variant::adding("A sync takes 30 ms", "0 set fsync 30"),
        Variant::adding("A sync takes 300 ms", "0 set fsync 300"),
        Variant::adding("A sync takes 1.2 s", "0 set fsync 1200"),
        Variant::adding("n3 is down", "0 crash n3"),
        Variant::adding("n2 and n3 are down", "0 crash n2; 0 crash n3"),
    ],
    measures,
    extras: &[Extra::Layers],
    window: (0, 4),
    ..Scenario::BASE
};

/// etcd’s defaults: a heartbeat every 100 ms, an election timeout of 1 s; and a client that waits long enough.
fn plan() -> Plan {
    let ms = Span::millis;
    let story = Plan::default();
    Plan {
        settings: Settings { sweeper: false, ..Settings::default() },
        cluster: Cluster {
            election_timeouts: vec![ms(1_150), ms(1_000), ms(1_300)],
            heartbeat: ms(100),
            waits_for_disk: true,
            traces_entries: true,
            ..Cluster::default()
        },
        latency: Latency { lock_timeout: ms(5_000), ..story.latency.clone() },
        programs: vec![Program {
            starts: Some(TrueTime::ZERO),
            takes_over: false,
            work: vec![(1, ms(300))],
            ..Program::idle(WorkerId::A)
        }],
        tenant_commits_before: 6,
        horizon: TrueTime::from_millis(25_000),
        ..story
    }
}

fn measures(run: &Run) -> Vec<Measure> {
    let acquired = trace::first(run, |kind| matches!(kind, Kind::LockAcquired { .. })).map(|event| event.t);
    let sent = |wanted: &str, to_store: bool| {
        run.events.iter().find(|event| {
            event.machine == WorkerId::A.into()
                && matches!(&event.kind, Kind::MessageSent { to, what, .. }
                    if what.starts_with(wanted) && (*to == MachineId::Store) == to_store)
        })
    };
    let since =
        |from: Option<&lease_lab_sim::event::Event>, to: Option<TrueTime>| from.zip(to).map(|(from, to)| to - from.t);
    let asked = sent("grant a lease", false);
    let acquiring = since(asked, acquired);
    let renewed = trace::first(run, |kind| matches!(kind, Kind::RenewalConfirmed { .. })).map(|event| event.t);
    let renewing = since(sent("keep alive", false), renewed);
    let written = trace::first(run, |kind| matches!(kind, Kind::ChunkWritten { .. })).map(|event| event.t);
    let writing = since(sent("chunk", true), written.map(|at| at + run.plan.latency.worker_store));
    let lost = trace::first(run, |kind| matches!(kind, Kind::SteppedDown { .. }));
    let elections = run.events.iter().filter(|event| matches!(event.kind, Kind::LeaderElected { .. }));
    // The longest time in which the leader sent no heartbeat.
    let mut longest = Span::ZERO;
    let mut before = TrueTime::ZERO;
    for event in &run.events {
        if matches!(event.kind, Kind::Heartbeat { .. } | Kind::SteppedDown { .. }) {
            longest = longest.max(event.t - before);
            before = event.t;
        }
    }
    let fsync = run.plan.cluster.fsync;
    let wire = run.plan.latency.wire;
    let took = |span: Option<Span>| Some(span.map_or(Value::Text("it does not come to it".into()), Value::Seconds));
    let clean = lost.is_none() && run.events.iter().all(|event| !matches!(event.kind, Kind::Crashed { .. }));
    vec![
        Measure::new(
            "acquire",
            "The acquisition takes, from the request for the lease on",
            took(acquiring),
            if clean { format!("2 × (4 × {wire} + {fsync})") } else { String::new() },
        ),
        Measure::new("keep-alive", "The keep-alive takes", took(renewing), format!("2 × {wire}, and no disk")),
        Measure::new(
            "write",
            "The fenced write takes",
            took(writing),
            format!("2 × {}: there and back", run.plan.latency.worker_store),
        ),
        Measure::lasts(
            "silence",
            "The longest time without a heartbeat",
            Some(longest),
            format!("it should be {}", run.plan.cluster.heartbeat),
        ),
        Measure::new(
            "lost",
            "The leader is lost at",
            Some(lost.map_or(Value::Text("it is not".into()), |event| Value::Seconds(trace::since_start(event.t)))),
            format!("{} elections", elections.count()),
        ),
    ]
}
