//! What a lock node has on its disk, and what only the leader has in its memory.

use lease_lab_sim::event::Kind;
use lease_lab_sim::machine::NodeId;
use lease_lab_sim::settings::{Plan, Settings};
use lease_lab_sim::time::{Mono, Span, TrueTime};

use crate::Run;
use crate::measures::{Measure, Value};
use crate::scenario::{Extra, Scenario, Variant};
use crate::trace;

pub(super) static SCENARIO: Scenario = Scenario {
    id: "what-is-where",
    part: 2,
    name: "Log or memory",
    title: "The leader dies: what is still known, and what is not",
    lede: "Each node has the replicated log on its disk: the leases with their lengths, the keys, the revision. The \
           deadlines are nowhere but in the leader’s memory. Move the time across 8.0, when the leader dies, and watch \
           which of the two the next leader has.",
    notice: &[
        "A renews every 3 s. The logs do not grow: a renewal moves a deadline in the leader’s memory, and no other \
         node learns of it.",
        "The new leader knows that A holds the lock, with which token, and for how long a lease runs. It does not know \
         when A renewed last, so it starts the lease again at full length.",
        "A node that comes back has its log, and no deadlines. As a follower it needs none.",
    ],
    plan,
    faults: "8 crash leader; 14 restart n1",
    variants: &[
        Variant::instead("Nothing fails", ""),
        Variant::instead("A follower dies", "8 crash n3"),
        Variant::instead("A releases at 7.0, then the leader dies", "7 release A; 8 crash leader; 14 restart n1"),
    ],
    measures,
    extras: &[Extra::Nodes],
    opens: 7_900,
    window: (0, 23),
    ..Scenario::BASE
};

fn plan() -> Plan {
    let story = super::billing_story::plan();
    Plan {
        settings: Settings { sweeper: false, ..Settings::default() },
        programs: story.programs.into_iter().take(1).collect(),
        horizon: TrueTime::from_millis(25_000),
        ..story
    }
}

fn measures(run: &Run) -> Vec<Measure> {
    let crash = trace::first(run, |kind| matches!(kind, Kind::Crashed { .. }));
    let before = crash.map_or(run.horizon, |event| event.t - Span::micros(1));
    let world = run.world_at(before);
    let in_memory = |node: NodeId| world.node(node).map_or(0, |node| node.deadlines().count());
    let log = world.leader().and_then(|leader| world.node(leader)).map_or(0, |node| node.entries().len());
    let leader = world.leader();
    let led = leader.map_or(0, in_memory);
    let others: usize = world.nodes().filter(|(id, _)| Some(*id) != leader).map(|(id, _)| in_memory(id)).sum();
    let deadline = |world: &lease_lab_sim::world::World| -> Option<Mono> {
        world.leader().and_then(|leader| world.node(leader))?.deadlines().map(|(_, deadline)| deadline).next()
    };
    let elected = trace::first(run, |kind| matches!(kind, Kind::LeaderElected { .. }));
    let rebuilt = elected.and_then(|event| deadline(&run.world_at(event.t)));
    let told = |deadline: Option<Mono>| match deadline {
        Some(deadline) => Value::Seconds(deadline - Mono::ZERO),
        None => Value::Text("none".into()),
    };
    let when = match crash {
        Some(event) => format!("just before {}", event.t.told()),
        None => "at the end".to_owned(),
    };
    let log_how = format!("{when}; those of other tenants included");
    vec![
        Measure::count("log", "Entries in the leader’s log", log, log_how),
        Measure::count("memory", "Deadlines in the leader’s memory", led, when.clone()),
        Measure::count("elsewhere", "Deadlines on the other nodes", others, when.clone()),
        Measure::new("before", "A’s deadline, as the leader knows it", Some(told(deadline(&world))), when),
        Measure::new(
            "rebuilt",
            "A’s deadline, as the next leader rebuilds it",
            Some(elected.map_or(Value::Text("no other leader came".into()), |_| told(rebuilt))),
            elected.filter(|_| rebuilt.is_some()).map_or(String::new(), |event| {
                format!("elected at {} + {}", event.t.told(), run.plan.settings.lease.told())
            }),
        ),
    ]
}
