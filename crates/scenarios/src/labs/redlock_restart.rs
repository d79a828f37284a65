//! Redlock and a master that restarts without its memory.

use lease_lab_sim::event::Kind;
use lease_lab_sim::machine::MachineId;

use crate::Run;
use crate::knobs::REDIS_FSYNC;
use crate::measures::{Measure, Value};
use crate::scenario::{Scenario, Variant};

pub(super) static SCENARIO: Scenario = Scenario {
    id: "redlock-restart",
    part: 8,
    name: "Redlock and a restart",
    title: "A master restarts empty, and grants what it had granted already",
    lede: "A holds the lock on r1, r2 and r3. At 4.0 the process of r3 dies, and a moment later it is back without its \
           keys. B comes at 4.5 and asks all five: how many know of a lock?",
    notice: &[
        "No clock is wrong here. What a master has promised must outlive the master, or the promise of the majority \
         does not hold either.",
        "Two cures: a master that has lost its memory stays away for longer than any lock lives, or it brings every \
         change to its disk before it answers. The usual setting, a sync every second, is neither.",
    ],
    plan: super::redlock_clock::plan,
    faults: "0 drop A r4; 0 drop A r5; 4 crash r3; 4.2 restart r3 empty",
    knobs: &[&REDIS_FSYNC],
    variants: &[
        Variant::instead(
            "r3 stays away for longer than a lock lives",
            "0 drop A r4; 0 drop A r5; 4 crash r3; 14.2 restart r3 empty",
        ),
        Variant::instead(
            "Every write is on the disk before the answer",
            "0 set fsync always; 0 drop A r4; 0 drop A r5; 4 crash r3; 4.2 restart r3",
        ),
        Variant::instead(
            "A sync every second, and r3 dies within that second",
            "0 drop A r4; 0 drop A r5; 0.4 crash r3; 0.6 restart r3; 0.7 acquire D",
        ),
    ],
    measures,
    window: (0, 8),
    ..Scenario::BASE
};

fn measures(run: &Run) -> Vec<Measure> {
    let on_r3 = |name: &'static str| {
        let mut events = run.events.iter();
        events.find(move |event| event.machine == MachineId::Master(3) && event.kind.name() == name)
    };
    let away = on_r3("crashed").zip(on_r3("restarted"));
    let loaded = on_r3("data-loaded").and_then(|event| match &event.kind {
        Kind::DataLoaded { leases, .. } => Some(leases.len() as u64),
        _ => None,
    });
    let mut measures = vec![
        Measure::new(
            "away",
            "How long r3 is away",
            away.map(|(crashed, restarted)| Value::Seconds(restarted.t - crashed.t)),
            away.map_or(String::new(), |(crashed, restarted)| {
                format!("{} − {}; a lock lives for {} s", restarted.t.told(), crashed.t.told(), run.plan.settings.lease)
            }),
        ),
        Measure::new("kept", "Keys that r3 still has when it is back", loaded.map(Value::Count), ""),
    ];
    measures.extend(super::redlock_clock::measures(run));
    measures
}
