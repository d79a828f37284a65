//! The sidecar trap: a second process renews for the application, whatever the application does.

use lease_lab_sim::event::Kind;
use lease_lab_sim::machine::WorkerId;
use lease_lab_sim::settings::{LockRules, Plan, Renewer, Settings};
use lease_lab_sim::time::TrueTime;

use crate::Run;
use crate::knobs::RENEWER;
use crate::measures::{Measure, Value};
use crate::scenario::{Scenario, Variant};
use crate::trace;

pub(super) static SCENARIO: Scenario = Scenario {
    id: "sidecar",
    part: 10,
    name: "The sidecar trap",
    title: "A freezes, and a second process goes on renewing for it",
    lede: "A sidecar is a process that runs beside the application. It seems a good place for the renewals: the \
           application need not care, and no long pause of it costs the lock. That is the trap. A freezes for 15 s, \
           the lease lives on, and nobody works.",
    notice: &[
        "The lease says that the sidecar is alive. It says nothing about A. B waits for the lock and would do the job; \
         it has no chance.",
        "If A’s process dies, its sidecar renews for a dead worker, for ever. A heartbeat must come from the process \
         that does the work, best from the very loop that does it.",
        "If the sidecar dies instead, A is a zombie as ever once it wakes. The lease protects nothing that the fence \
         does not have to protect as well.",
    ],
    plan,
    faults: "4 pause A 15",
    knobs: &[&RENEWER],
    variants: &[
        Variant::adding("A renews by itself", "0 set renewer app"),
        Variant::instead("A’s process dies", "4 crash A"),
        Variant::instead("A’s process dies, and it renews by itself", "4 crash A; 0 set renewer app"),
        Variant::instead("The whole VM freezes", "4 pause A 15 vm"),
        Variant::adding("The sidecar dies at 5.0", "5 crash sidecar-A"),
        Variant::adding("The sidecar dies at 5.0, and the fence is off", "5 crash sidecar-A; 0 fence off"),
    ],
    measures,
    window: (0, 32),
    ..Scenario::BASE
};

fn plan() -> Plan {
    let story = super::billing_story::plan();
    let mut plan = Plan {
        settings: Settings { sweeper: false, ..Settings::default() },
        lock_rules: LockRules { renewer: Renewer::Sidecar, ..LockRules::default() },
        programs: story.programs.into_iter().take(2).collect(),
        ..story
    };
    if let Some(b) = plan.programs.get_mut(1) {
        b.starts = Some(TrueTime::from_millis(2_500));
    }
    plan
}

fn measures(run: &Run) -> Vec<Measure> {
    let stopped = trace::first(run, |kind| {
        matches!(kind, Kind::Paused { worker: Some(WorkerId::A), .. } | Kind::Crashed { worker: Some(WorkerId::A) })
    });
    let from = stopped.map_or(run.horizon, |event| event.t);
    let back = run
        .events
        .iter()
        .find(|event| matches!(event.kind, Kind::Resumed { worker: Some(WorkerId::A), .. }))
        .map_or(run.horizon, |event| event.t);
    let renewed = run.events.iter().filter(|event| {
        matches!(event.kind, Kind::LeaseRenewed { worker: WorkerId::A, .. }) && (from..=back).contains(&event.t)
    });
    let next_write = trace::writes(run).find(|write| write.accepted && write.t > from).map(|write| write.t);
    let taken = trace::granted_at(run, WorkerId::B);
    let text = |text: &str| Value::Text(text.into());
    vec![
        Measure::count("renewed", "Renewals while A did nothing", renewed.count(), ""),
        Measure::new(
            "taken",
            "B gets the lock at",
            Some(taken.map_or_else(|| text("not at all"), |at| Value::Seconds(trace::since_start(at)))),
            "",
        ),
        Measure::new(
            "idle",
            "How long the job stands still",
            Some(Value::Seconds(next_write.unwrap_or(run.horizon) - from)),
            next_write.map_or("until the end of the run".into(), |at| format!("{} − {}", at.told(), from.told())),
        ),
        Measure::new("charged-twice", "Customers charged twice", Some(Value::Count(trace::charged_twice(run))), ""),
    ]
}
