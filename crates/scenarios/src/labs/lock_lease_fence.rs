//! The same pause and the same crash on a lock, a lock with a timeout in its client, a lease, and a lease with a fence.

use lease_lab_sim::event::Kind;
use lease_lab_sim::machine::WorkerId;
use lease_lab_sim::settings::{FenceMode, Limit, Plan, Settings};
use lease_lab_sim::time::TrueTime;

use crate::Run;
use crate::knobs::{Choice, Knob, Takes};
use crate::measures::{Measure, Value};
use crate::scenario::{Extra, Scenario, Variant};
use crate::trace;

pub(super) static SCENARIO: Scenario = Scenario {
    id: "lock-lease-fence",
    part: 1,
    name: "Lock, lease, fence",
    title: "A holds the lock, and freezes or dies; B waits",
    lede: "A lock is a promise that one holder at a time may act. A lease is a lock that expires by itself unless it is \
           renewed. A fence is a check at the resource, which refuses whoever comes with a lower token. Each is there \
           because the one before it is not enough.",
    notice: &[
        "A plain lock is safe and never ends by itself: if A dies, B waits for ever. A timeout in A’s own process does \
         not help, because nobody else knows of it: it freezes with A, and dies with A.",
        "A lease ends at the service, whatever becomes of A, so B can go on. But A does not know that it is over, and \
         its late write is accepted beside B’s: customers pay twice.",
        "With a fence the store refuses A’s late write. Now B need not wait for A, and nobody need trust A’s clock.",
    ],
    plan,
    faults: "4 pause A 15",
    knobs: &[&LOCK],
    own_rule: "As it is: A freezes; a lease and a fence",
    variants: &[
        Variant::adding("A plain lock", "0 set lock plain"),
        Variant::adding("A lock with a timeout in its client", "0 set lock client-timeout"),
        Variant::adding("A lease without a fence", "0 set lock lease"),
        Variant::instead("A dies: a plain lock", "0 set lock plain; 4 crash A"),
        Variant::instead("A dies: a lock with a timeout in its client", "0 set lock client-timeout; 4 crash A"),
        Variant::instead("A dies: a lease without a fence", "0 set lock lease; 4 crash A"),
        Variant::instead("A dies: a lease and a fence", "4 crash A"),
    ],
    measures,
    extras: &[Extra::Bars],
    window: (0, 33),
    ..Scenario::BASE
};

static LOCK: Knob = Knob {
    key: "lock",
    name: "What protects the job",
    takes: Takes::Choice(&[
        Choice {
            value: "plain",
            means: "a lock without any limit",
            apply: |plan| choose(plan, Limit::Nothing, FenceMode::Off),
        },
        Choice {
            value: "client-timeout",
            means: "a lock, and a timer in its holder’s process",
            apply: |plan| choose(plan, Limit::ClientTimeout, FenceMode::Off),
        },
        Choice { value: "lease", means: "a lease", apply: |plan| choose(plan, Limit::Lease, FenceMode::Off) },
        Choice {
            value: "lease-and-fence",
            means: "a lease, and a fence at the store",
            apply: |plan| choose(plan, Limit::Lease, FenceMode::On),
        },
    ]),
};

fn choose(plan: &mut Plan, limit: Limit, fence: FenceMode) {
    plan.lock_rules.limit = limit;
    plan.settings.fence = fence;
}

/// A and B of the story; nobody sweeps.
fn plan() -> Plan {
    Plan {
        settings: Settings { sweeper: false, ..Settings::default() },
        programs: super::billing_story::plan().programs.into_iter().take(2).collect(),
        ..Plan::default()
    }
}

fn measures(run: &Run) -> Vec<Measure> {
    let began = trace::first(run, |kind| matches!(kind, Kind::Started)).map(|event| event.t);
    let waits_from = run.events.iter().find(|event| event.machine == WorkerId::B.into()).map(|event| event.t);
    let gets = run.events.iter().find_map(|event| match event.kind {
        Kind::LeaseGranted { worker: WorkerId::B, .. } => Some(event.t),
        _ => None,
    });
    let waited = match (waits_from, gets) {
        (Some(from), Some(to)) => (Value::Seconds(to - from), format!("{} − {}", to.told(), from.told())),
        (Some(from), None) => (Value::Text("for ever".into()), format!("from {} on", from.told())),
        (None, _) => (Value::Text("not at all".into()), String::new()),
    };
    let writes: Vec<TrueTime> = trace::writes(run).filter(|write| write.accepted).map(|write| write.t).collect();
    let longest = writes.windows(2).map(|pair| (pair[1] - pair[0], pair[1])).max();
    let done = trace::first(run, |kind| matches!(kind, Kind::JobDone { .. })).map(|event| event.t);
    let refused = trace::writes(run).filter(|write| !write.accepted).count() as u64;
    vec![
        Measure::new("waits", "How long B waits for the lock", Some(waited.0), waited.1),
        Measure::new(
            "standstill",
            "The longest time without an accepted write, among those that are followed by one",
            longest.map(|(span, _)| Value::Seconds(span)),
            longest.map_or(String::new(), |(span, to)| format!("{} − {}", to.told(), (to - span).told())),
        ),
        Measure::new("refused", "Late writes that the store refuses", Some(Value::Count(refused)), ""),
        Measure::new("charged-twice", "Customers charged twice", Some(Value::Count(trace::charged_twice(run))), ""),
        Measure::new(
            "done",
            "From the start until the job is DONE",
            done.zip(began).map(|(done, began)| Value::Seconds(done - began)),
            "",
        ),
    ]
}
