//! Restores forget: the lock service comes back from a snapshot, and its counter with it.

use lease_lab_sim::event::Kind;
use lease_lab_sim::machine::WorkerId;
use lease_lab_sim::settings::Plan;
use lease_lab_sim::time::{TrueTime, grouped};

use crate::Run;
use crate::measures::{Measure, Value};
use crate::scenario::{Extra, Scenario, Variant};
use crate::trace;

pub(super) static SCENARIO: Scenario = Scenario {
    id: "restore",
    part: 8,
    name: "Restores forget",
    title: "The lock service is restored from a snapshot, and a token comes twice",
    lede: "C holds the lock. At 45.0 the lock service is restored from a snapshot that was taken at revision 14, just \
           before C got it. C’s key, its lease and its token never happened. D asks for the lock, finds it free, and \
           gets the next revision.",
    notice: &[
        "D’s token is C’s token. The fence accepts both, because it cannot tell them apart, and for a while both \
         workers write.",
        "A bump of the revision repairs that: the restored service goes on far above any revision that it can have \
         given out. D’s token is then above C’s, and the fence refuses C as it should.",
        "A bump alone is not enough for those who watch: they know revisions that this history never had. So etcd \
         marks everything before the jump as compacted, and a watcher that comes back is told to read again.",
    ],
    plan,
    faults: "4 pause A 15; 21 crash B; 45 restore 14; 45.05 acquire D",
    variants: &[
        Variant::instead(
            "With a bump of 1,000,000",
            "4 pause A 15; 21 crash B; 45 restore 14 bump 1000000; 45.05 acquire D",
        ),
        Variant::instead("Restored from revision 12", "4 pause A 15; 21 crash B; 45 restore 12; 45.05 acquire D"),
        Variant::instead("Not restored", "4 pause A 15; 21 crash B; 45.05 acquire D"),
        Variant::instead("A revision that never was", "4 pause A 15; 21 crash B; 45 restore 99; 45.05 acquire D"),
    ],
    measures,
    extras: &[Extra::Nodes],
    window: (39, 56),
    ..Scenario::BASE
};

fn plan() -> Plan {
    Plan { horizon: TrueTime::from_millis(70_000), ..super::billing_story::plan() }
}

fn measures(run: &Run) -> Vec<Measure> {
    let restored = trace::first(run, |kind| matches!(kind, Kind::HistoryRestored { .. }));
    let at = restored.map_or(run.horizon, |event| event.t);
    let granted = |after: bool| {
        run.events.iter().filter_map(move |event| match event.kind {
            Kind::LeaseGranted { worker, token, .. } if (event.t > at) == after => Some((event.t, worker, token)),
            _ => None,
        })
    };
    let next = granted(true).next();
    let repeated = next.and_then(|(_, _, token)| granted(false).find(|(_, _, earlier)| *earlier == token));
    let highest = granted(false).map(|(_, _, token)| token).max();
    let text = |text: &str| Value::Text(text.into());
    let c_ends = run.events.iter().find(|event| {
        event.machine == WorkerId::C.into() && matches!(event.kind, Kind::GaveUp { .. } | Kind::WorkerDone { .. })
    });
    let both = next
        .zip(c_ends)
        .map(|((granted, ..), ends)| if ends.t > granted { ends.t - granted } else { Default::default() });
    vec![
        Measure::new(
            "next",
            "The first revision after the restore that is a token",
            Some(next.map_or_else(|| text("none"), |(_, _, token)| Value::Count(token))),
            restored.map_or(String::new(), |event| match event.kind {
                Kind::HistoryRestored { continues_from, .. } => {
                    let from = grouped(continues_from);
                    match next {
                        Some((_, _, token)) if token == continues_from + 1 => format!("{from} + 1"),
                        _ => format!("the new history goes on from {from}; other changes take revisions, too"),
                    }
                }
                _ => String::new(),
            }),
        ),
        Measure::new(
            "repeats",
            "Whose token it repeats",
            Some(repeated.map_or_else(|| text("nobody’s"), |(_, worker, _)| Value::Text(format!("{worker}’s")))),
            highest.map_or(String::new(), |highest| format!("the highest one before was {highest}")),
        ),
        Measure::lasts(
            "both",
            "How long C goes on beside its successor",
            Some(both.unwrap_or_default()),
            c_ends.map_or(String::new(), |event| format!("C ends at {}", event.t.told())),
        ),
        Measure::new("charged-twice", "Customers charged twice", Some(Value::Count(trace::charged_twice(run))), ""),
    ]
}
