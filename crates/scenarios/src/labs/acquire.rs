//! One acquisition, step by step: two entries of the log, one token, and two clocks that start at different instants.

use lease_lab_sim::event::Kind;
use lease_lab_sim::machine::WorkerId;
use lease_lab_sim::settings::{Cluster, Plan, Settings};
use lease_lab_sim::time::{Deadline, Mono, TrueTime};

use crate::Run;
use crate::measures::{Measure, Value};
use crate::scenario::{Extra, Scenario, Variant};
use crate::trace;

pub(super) static SCENARIO: Scenario = Scenario {
    id: "acquire",
    part: 2,
    name: "Acquire",
    title: "A gets a lease, and a key that is bound to it",
    lede: "Acquiring takes two requests. The first grants a lease of 10 s. The second is one transaction: create the \
           key, bound to that lease, if it does not exist. Both go through the log, so both are on a majority of disks \
           before anybody hears of them.",
    notice: &[
        "The token is the revision at which the key was created. The grant of the lease alone takes no revision.",
        "The leader starts the lease when it applies the grant, by its monotonic clock. A counts its stop time from \
         before it sent the request, by its own. So every delay on the way makes A stop earlier, never later.",
        "Two workers may both find the key absent. The transaction decides: one creates the key, and the other gives \
         its unused lease back.",
    ],
    plan,
    variants: &[
        Variant::adding("B asks one millisecond after A", "0.001 acquire B"),
        Variant::adding("The request for the lease takes 30 ms longer", "0.002 delay A n1 0.03"),
        Variant::adding("The answer to the creation is lost", "0.012 drop n1 A"),
        Variant::adding("n3 is down", "0 crash n3"),
    ],
    measures,
    extras: &[Extra::Layers, Extra::Nodes],
    window: (0, 1),
    ..Scenario::BASE
};

/// A alone, with the entries of the log in the trace.
pub(super) fn plan() -> Plan {
    let story = super::billing_story::plan();
    Plan {
        settings: Settings { sweeper: false, ..Settings::default() },
        programs: story.programs.into_iter().take(1).collect(),
        tenant_commits_before: story.tenant_commits_before,
        cluster: Cluster { traces_entries: true, ..Cluster::default() },
        horizon: TrueTime::from_millis(25_000),
        ..Plan::default()
    }
}

fn measures(run: &Run) -> Vec<Measure> {
    let granted = trace::first(run, |kind| matches!(kind, Kind::LeaseGranted { .. }));
    let acquired = trace::first(run, |kind| matches!(kind, Kind::LockAcquired { .. }));
    let holder = acquired.and_then(|event| event.kind.worker()).unwrap_or(WorkerId::A);
    let (token, deadline) = match granted.map(|event| &event.kind) {
        Some(Kind::LeaseGranted { token, deadline: Deadline::Mono(deadline), .. }) => (Some(*token), Some(*deadline)),
        _ => (None, None),
    };
    let stop = acquired.and_then(|event| match event.kind {
        Kind::LockAcquired { stop_time, .. } => Some(stop_time),
        _ => None,
    });
    let until = acquired.map_or(run.horizon, |event| event.t);
    let entries = run.events.iter().filter(|event| {
        let Kind::EntryLogged { command, .. } = &event.kind else { return false };
        event.t <= until && command.contains(&format!("lease {holder}-"))
    });
    let lease = run.plan.settings.lease;
    let margin = run.plan.settings.margin;
    let reading = |mono: Mono| Value::Seconds(mono - Mono::ZERO);
    vec![
        Measure::count("entries", "Log entries for this acquisition", entries.count(), "the lease, and the key"),
        Measure::new(
            "token",
            format!("{holder}’s token: the revision of the key’s creation"),
            token.map(Value::Count),
            format!("{} earlier changes of other tenants + 1", run.plan.tenant_commits_before),
        ),
        Measure::new(
            "deadline",
            "The deadline, by the leader’s clock",
            deadline.map(reading),
            deadline.map_or(String::new(), |deadline| {
                format!(
                    "the grant was applied at {} + {}",
                    Mono::from_micros((deadline - lease).as_micros()),
                    lease.told()
                )
            }),
        ),
        Measure::new(
            "stop",
            format!("{holder}’s stop time, by its own clock"),
            stop.map(reading),
            stop.map_or(String::new(), |stop| {
                let sent = Mono::from_micros((stop - lease).as_micros()) + margin;
                format!("the request was sent at {sent} + {} − {}", lease.told(), margin.told())
            }),
        ),
        Measure::lasts(
            "spare",
            "From the stop time to the deadline",
            deadline.zip(stop).map(|(deadline, stop)| deadline - stop),
            "the margin, and the time from the send to the application of the grant",
        ),
    ]
}
