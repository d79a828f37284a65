//! The lock service loses its leader while a worker holds the lock: beats 20 to 23 of the story.

use lease_lab_sim::event::{Kind, RestartedLease};
use lease_lab_sim::machine::WorkerId;
use lease_lab_sim::settings::Plan;
use lease_lab_sim::time::{Deadline, Mono, Span, TrueTime};

use super::billing_story::BEATS;
use crate::Run;
use crate::knobs::CHECKPOINT;
use crate::measures::{Measure, Value};
use crate::scenario::{Extra, Scenario, Variant};
use crate::trace;

pub(super) static SCENARIO: Scenario = Scenario {
    id: "failover",
    part: 8,
    name: "The leader dies",
    title: "The lock service loses its leader while C holds the lock",
    lede: "At 47.0, soon after C has renewed, the leader n1 dies. An election later another node leads. The grant and \
           the token are in its log; the deadline was in n1’s memory. What a new leader does not know, it must not \
           guess too early.",
    notice: &[
        "The new leader starts C’s lease again at full length. That is safe, because it can only be later than n1’s \
         deadline. The price is paid when the holder is dead, too: its lock ends later, by up to a lease and an \
         election.",
        "Checkpoints put what is left of a lease into the log now and then. A renewal takes its checkpoint back, so \
         they help only once a holder has been silent for a while. C’s last renewal is too fresh: when n1 dies, the \
         next checkpoint is not due yet.",
        "etcd has this feature and leaves it off by default; its interval there is 5 minutes, for leases that are \
         much longer than this one. Here it can be every 2 s.",
    ],
    plan,
    faults: "4 pause A 15; 21 crash B; 47 crash leader",
    knobs: &[&CHECKPOINT],
    variants: &[
        Variant::instead("C dies at 47.0, and n1 does not", "4 pause A 15; 21 crash B; 47 crash C"),
        Variant::adding("C dies with n1 at 47.0", "47 crash C"),
        Variant::adding("The same, with a checkpoint every 2 s", "47 crash C; 0 set checkpoint 2"),
        Variant::instead("C dies at 47.0, and n1 at 49.0", "4 pause A 15; 21 crash B; 47 crash C; 49 crash leader"),
        Variant::instead(
            "The same, with a checkpoint every 2 s",
            "4 pause A 15; 21 crash B; 47 crash C; 49 crash leader; 0 set checkpoint 2",
        ),
    ],
    measures,
    extras: &[Extra::Nodes],
    window: (39, 64),
    beats: BEATS.split_at(19).1,
    ..Scenario::BASE
};

fn plan() -> Plan {
    Plan { horizon: TrueTime::from_millis(70_000), ..super::billing_story::plan() }
}

fn measures(run: &Run) -> Vec<Measure> {
    let elected = trace::first(run, |kind| matches!(kind, Kind::LeaderElected { .. }));
    let until = elected.map_or(run.horizon, |event| event.t);
    let applied = trace::last_applied(run, WorkerId::C, until);
    let deadline = applied.and_then(|event| match event.kind {
        Kind::LeaseRenewed { deadline: Deadline::Mono(deadline), .. }
        | Kind::LeaseGranted { deadline: Deadline::Mono(deadline), .. } => Some(deadline),
        _ => None,
    });
    let rebuilt: Option<&RestartedLease> = elected.and_then(|event| match &event.kind {
        Kind::LeaderElected { leases, .. } => leases.iter().find(|lease| lease.worker == WorkerId::C),
        _ => None,
    });
    let ended = trace::last(run, |kind| {
        matches!(kind, Kind::LeaseExpired { worker: WorkerId::C, .. } | Kind::LockReleased { worker: WorkerId::C, .. })
    });
    let lease = run.plan.settings.lease;
    let reading = |mono: Mono| Value::Seconds(mono - Mono::ZERO);
    let by = match ended.map(|event| &event.kind) {
        Some(Kind::LockReleased { .. }) => "C has finished and released it",
        Some(_) => "the lease ran out, and the deletion was on a majority of disks a few ms later",
        None => "",
    };
    let later = ended.zip(deadline).map(|(ended, deadline)| ended.t - TrueTime::from_micros(deadline.as_micros()));
    vec![
        Measure::new(
            "deadline",
            "C’s deadline, as the old leader had it",
            deadline.map(reading),
            applied.map_or(String::new(), |event| format!("renewed at {} + {}", event.t.told(), lease.told())),
        ),
        Measure::new(
            "elected",
            "The new leader is elected at",
            Some(
                elected.map_or(Value::Text("no election".into()), |event| Value::Seconds(trace::since_start(event.t))),
            ),
            "",
        ),
        Measure::new(
            "rebuilt",
            "C’s deadline, as the new leader has it",
            Some(rebuilt.map_or(Value::Text("no election".into()), |lease| reading(lease.deadline))),
            elected.zip(rebuilt).map_or(String::new(), |(event, rebuilt)| match rebuilt.checkpoint {
                Some(left) => format!("{} + {}, what the checkpoint says was left", event.t.told(), left.told()),
                None => format!("{} + {}, the full length", event.t.told(), lease.told()),
            }),
        ),
        Measure::at("ended", "C’s lock ends at", ended.map(|event| event.t), by),
        Measure::lasts(
            "later",
            "Later than the old leader’s deadline by",
            Some(later.filter(|later| *later > Span::ZERO).unwrap_or_default()),
            match later {
                Some(later) if later <= Span::ZERO => "it ended before that deadline",
                _ => "",
            },
        ),
    ]
}
