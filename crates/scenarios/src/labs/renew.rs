//! Renewals: a message to the leader and nothing else; and what a holder does when no leader answers.

use lease_lab_sim::event::Kind;
use lease_lab_sim::machine::WorkerId;
use lease_lab_sim::time::Mono;

use crate::Run;
use crate::measures::{Measure, Value};
use crate::scenario::{Extra, Scenario, Variant};
use crate::trace;

pub(super) static SCENARIO: Scenario = Scenario {
    id: "renew",
    part: 2,
    name: "Renew",
    title: "The leader dies just before A renews",
    lede: "A renews every 3 s. A keep-alive goes to the leader only, which moves the deadline in its memory: no entry \
           in the log, no disk. At 5.9 the leader dies, and A’s next keep-alive finds nobody.",
    notice: &[
        "A asks the other nodes, waits, and asks again until somebody leads. It may do so until its stop time, and it \
         goes on working meanwhile: before each action it compares its clock with the stop time.",
        "If no leader comes in time, A does nothing after its stop time: whatever it would do next, it lets go instead, \
         and tells nobody. It needs no message for that, because the stop time was fixed when its last successful \
         request was sent.",
    ],
    plan: super::acquire::plan,
    faults: "5.9 crash leader",
    variants: &[
        Variant::instead("Nothing fails", ""),
        Variant::instead("One keep-alive is lost", "5.9 drop A n1"),
        Variant::instead("Two of three nodes die", "5.9 crash n1; 5.9 crash n2"),
        Variant::instead("A is cut off", "5.9 isolate A"),
        Variant::instead("A is cut off for 4 s", "5.9 isolate A; 9.9 heal"),
    ],
    measures,
    extras: &[Extra::Nodes],
    window: (2, 14),
    ..Scenario::BASE
};

fn measures(run: &Run) -> Vec<Measure> {
    let of_a = |kind: &Kind| kind.worker() == Some(WorkerId::A);
    let renewed =
        run.events.iter().filter(|event| matches!(event.kind, Kind::LeaseRenewed { .. }) && of_a(&event.kind));
    // What changes a lease that exists.
    let entries = run.events.iter().filter(|event| {
        matches!(&event.kind, Kind::EntryLogged { command, .. } if command.starts_with("extend") || command.starts_with("lease"))
    });
    let failed = trace::first(run, |kind| matches!(kind, Kind::RenewalFailed { .. }) && of_a(kind));
    let failures = run.events.iter().filter(|event| matches!(event.kind, Kind::RenewalFailed { .. }));
    let again = failed.and_then(|failed| {
        run.events.iter().find(|event| event.t > failed.t && matches!(event.kind, Kind::RenewalConfirmed { .. }))
    });
    let gave_up = trace::first(run, |kind| matches!(kind, Kind::GaveUp { .. }) && of_a(kind)).map(|event| event.t);
    let stop = failed.and_then(|event| match event.kind {
        Kind::RenewalFailed { stop_time, .. } => Some(stop_time),
        _ => None,
    });
    let outcome = match (failed, again, gave_up) {
        (None, ..) => "every renewal worked".to_owned(),
        (Some(_), Some(again), _) => format!("A renewed again at {}", again.t.told()),
        (Some(_), None, Some(gave_up)) => format!("A gave up at {}", gave_up.told()),
        (Some(_), None, None) => "A was still trying at the end".to_owned(),
    };
    vec![
        Measure::count("renewals", "Renewals that a leader applied", renewed.count(), ""),
        Measure::count("entries", "Log entries that they took", entries.count(), "a renewal changes memory only"),
        Measure::new(
            "stop",
            "A’s stop time when its renewal failed first",
            Some(stop.map_or(Value::Text("no renewal failed".into()), |stop| Value::Seconds(stop - Mono::ZERO))),
            "",
        ),
        Measure::count("failures", "Answers that A did not get, or that said “not the leader”", failures.count(), ""),
        Measure::new("outcome", "What came of it", Some(Value::Text(outcome)), ""),
    ]
}
