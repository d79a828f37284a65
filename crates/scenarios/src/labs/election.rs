//! A leader is a lease holder: candidates queue with a key each, and the oldest key leads.

use lease_lab_sim::event::Kind;
use lease_lab_sim::machine::WorkerId;
use lease_lab_sim::settings::{LockRules, Plan, Settings, WatchRule};
use lease_lab_sim::time::{Span, TrueTime};

use crate::Run;
use crate::knobs::{Choice, Knob, Takes};
use crate::measures::{Measure, Value};
use crate::scenario::{Scenario, Variant};
use crate::trace;

pub(super) static SCENARIO: Scenario = Scenario {
    id: "election",
    part: 7,
    name: "A leader is a lease holder",
    title: "B leads, C waits behind it, and B dies",
    lede: "To campaign is to create a key of one’s own, bound to one’s own lease. The oldest key leads, and its create \
           revision is the leader’s epoch. Everybody else watches the key just before its own. B campaigns at 13.5, \
           right after A’s key is gone, and C behind it.",
    notice: &[
        "C’s epoch is fixed when it queues, not when it leads: the revision at which its own key was created. It is \
         above B’s, and that is all that a fence needs.",
        "C renews its lease while it waits. A candidate whose lease runs out loses its place, and those behind it move \
         up without noticing.",
        "Nobody looks at a clock to see whether B is dead. The lock service lets B’s lease expire and tells C that the \
         key before its own is gone.",
    ],
    plan,
    faults: "4 crash A; 21 crash B",
    knobs: &[&WATCH],
    variants: &[
        Variant::instead("B resigns at 21.0 instead", "4 crash A; 21 release B"),
        Variant::instead("B is only paused, for 15 s", "4 crash A; 20.9 pause B 15"),
        Variant::adding("D queues behind C, and C dies while it waits", "14 acquire D; 22 crash C"),
        Variant::adding("The leader of the lock service dies at 25.0", "25 crash leader"),
    ],
    measures,
    window: (12, 34),
    ..Scenario::BASE
};

/// Which key a candidate watches.
pub(super) static WATCH: Knob = Knob {
    key: "watch",
    name: "A candidate watches",
    takes: Takes::Choice(&[
        Choice {
            value: "predecessor",
            means: "the key just before its own",
            apply: |plan| plan.lock_rules.campaign = Some(WatchRule::Predecessor),
        },
        Choice {
            value: "leader",
            means: "the leader’s key",
            apply: |plan| plan.lock_rules.campaign = Some(WatchRule::Leader),
        },
    ]),
};

/// The story’s workers, as candidates; C comes right after B.
fn plan() -> Plan {
    let mut plan = super::billing_story::plan();
    plan.settings = Settings { sweeper: false, ..Settings::default() };
    plan.lock_rules = LockRules { campaign: Some(WatchRule::Predecessor), ..LockRules::default() };
    plan.horizon = TrueTime::from_millis(50_000);
    for (place, starts) in [(1, 13_500), (2, 13_550)] {
        if let Some(program) = plan.programs.get_mut(place) {
            program.starts = Some(TrueTime::from_millis(starts));
            program.finds = plan.standby.finds;
        }
    }
    plan
}

fn measures(run: &Run) -> Vec<Measure> {
    let b_key = trace::granted_at(run, WorkerId::B);
    let gone = trace::first(run, |kind| {
        matches!(kind, Kind::LeaseExpired { worker: WorkerId::B, .. } | Kind::LockReleased { worker: WorkerId::B, .. })
    });
    let until = gone.map_or(run.horizon, |event| event.t);
    let renewed = trace::last_applied(run, WorkerId::B, until).map(|event| event.t);
    let next = gone.and_then(|gone| {
        run.events.iter().find_map(|event| match event.kind {
            Kind::LockAcquired { worker, token, .. } if event.t >= gone.t => Some((event.t, worker, token)),
            _ => None,
        })
    });
    let epoch_of = |worker: WorkerId| {
        run.events.iter().find_map(|event| match event.kind {
            Kind::LeaseGranted { worker: who, token, .. } | Kind::CandidateQueued { worker: who, token, .. }
                if who == worker =>
            {
                Some(Value::Count(token))
            }
            _ => None,
        })
    };
    let none = || Value::Text("nobody leads".into());
    let how = match (gone.map(|event| &event.kind), renewed) {
        (Some(Kind::LeaseExpired { .. }), Some(renewed)) => {
            let elected = run.events.iter().rfind(|event| {
                matches!(event.kind, Kind::LeaderElected { .. }) && (renewed..=until).contains(&event.t)
            });
            let (what, at) = match elected {
                Some(event) => ("a new leader of the lock service started B’s lease again at", event.t),
                None => ("B’s last renewal at", renewed),
            };
            format!("{what} {} + {}, and the way to the next", at.told(), run.plan.settings.lease.told())
        }
        (Some(_), _) => "B’s release, and the way to the next".into(),
        _ => String::new(),
    };
    vec![
        Measure::new(
            "b-epoch",
            "B’s epoch",
            epoch_of(WorkerId::B),
            b_key.map_or(String::new(), |at| format!("at {}", at.told())),
        ),
        Measure::new(
            "c-epoch",
            "C’s epoch, from when it queues",
            epoch_of(WorkerId::C),
            "the next change of keys after B’s",
        ),
        Measure::new(
            "leads",
            "Who leads after B",
            Some(next.map_or_else(none, |(_, worker, token)| Value::Text(format!("{worker}, with epoch {token}")))),
            "",
        ),
        Measure::new(
            "leads-at",
            "From when on",
            Some(next.map_or_else(none, |(at, ..)| Value::Seconds(trace::since_start(at)))),
            how,
        ),
        Measure::new(
            "gap",
            "How long nobody led",
            Some(match (next, gone.and_then(|gone| last_act(run, gone.t))) {
                (Some((at, ..)), Some(last)) => Value::Seconds(at - last),
                _ => Value::Seconds(Span::ZERO),
            }),
            "from B’s last moment as a leader that could act",
        ),
    ]
}

/// When B could act last, before its key was gone at `gone`.
fn last_act(run: &Run, gone: TrueTime) -> Option<TrueTime> {
    let ended = run.events.iter().find(|event| {
        event.machine == WorkerId::B.into()
            && matches!(
                event.kind,
                Kind::Crashed { .. } | Kind::GaveUp { .. } | Kind::ReleaseSent { .. } | Kind::Paused { .. }
            )
    });
    ended.map(|event| event.t.min(gone))
}
