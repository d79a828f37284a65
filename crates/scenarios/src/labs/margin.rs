//! What a margin covers, and what it cannot.

use lease_lab_sim::machine::WorkerId;
use lease_lab_sim::settings::{Finds, Plan, Program};
use lease_lab_sim::time::{Span, TrueTime};

use crate::Run;
use crate::measures::{Measure, Value};
use crate::scenario::{Extra, Scenario, Variant};
use crate::trace;

pub(super) static SCENARIO: Scenario = Scenario {
    id: "margin",
    part: 3,
    name: "What the margin covers",
    title: "The margin pays for slow messages and slow clocks, and for nothing else",
    lede: "A holder stops two seconds before its lease ends. A writes twice a second and is cut off from the lock \
           service at 4.5, so its stop time and the end of its lease both draw near. How much of the two seconds does \
           each fault use up before A’s last write has arrived?",
    notice: &[
        "A write that is on its way for 1.5 s, or a clock that runs ten percent slow, costs a part of the margin. Both \
         have a size that can be known beforehand, so a margin can be chosen for them.",
        "A clock offset costs nothing, because no machine compares its clock with another’s. That is why it cannot be \
         found in the formula.",
        "A pause between check and send has no largest size. No margin covers it; the fence has to.",
    ],
    plan,
    faults: "4.5 partition A | n1,n2,n3",
    variants: &[
        Variant::adding("One write is 1.5 s late", "10.5 delay A store 1.5"),
        Variant::adding("One write is 3 s late", "10.5 delay A store 3"),
        Variant::adding("A’s clock runs 10% slow", "0 rate A 0.9"),
        Variant::adding("A’s clock runs 25% slow", "0 rate A 0.75"),
        Variant::adding("A’s wall clock is 60 s fast", "0 offset A 60"),
        Variant::adding("No margin", "0 margin 0"),
        Variant::adding("No margin, and one write is 1.5 s late", "0 margin 0; 12.5 delay A store 1.5"),
        Variant::adding("A margin of 5 s, a clock that is 25% slow", "0 margin 5; 0 rate A 0.75"),
        Variant::adding("A pause of 5 s between check and send", "10.5 pause A 5"),
        Variant::adding("The same with a margin of 5 s", "0 margin 5; 7.5 pause A 8"),
    ],
    measures,
    extras: &[Extra::Calculator("margin")],
    window: (0, 20),
    ..Scenario::BASE
};

/// Small chunks, so that A is always about to write; B is quick to take over.
fn plan() -> Plan {
    let ms = Span::millis;
    Plan {
        chunks: 50,
        invoices_per_chunk: 1_000,
        programs: vec![
            Program {
                starts: Some(TrueTime::ZERO),
                takes_over: false,
                work_default: ms(300),
                ..Program::idle(WorkerId::A)
            },
            Program {
                starts: Some(TrueTime::from_millis(9_100)),
                finds: Finds::Standby { every: ms(200) },
                work_default: ms(300),
                ..Program::idle(WorkerId::B)
            },
        ],
        ..Plan::default()
    }
}

fn measures(run: &Run) -> Vec<Measure> {
    let expired = trace::expired_at(run, WorkerId::A);
    let last = trace::writes(run).rfind(|write| write.worker == WorkerId::A);
    let spare = expired.zip(last);
    let stop = trace::last_stop(run, WorkerId::A);
    let clocks = trace::clocks_of(run, WorkerId::A);
    let stops = stop.and_then(|(from, stop)| clocks.when_mono(stop, from, run.horizon));
    let at = |t: Option<TrueTime>| t.map(|t| Value::Seconds(trace::since_start(t)));
    vec![
        Measure::new(
            "stops",
            "True time at which A must stop",
            at(stops),
            stop.map_or(String::new(), |(_, stop)| format!("when its own clock shows {}", stop.told())),
        ),
        Measure::new("expires", "True time at which A’s lease expires", at(expired), ""),
        Measure::new(
            "last-arrival",
            "When A’s last write reaches the store",
            at(last.map(|write| write.t)),
            last.map_or(String::new(), |write| {
                let verdict = if write.accepted { "accepted" } else { "refused" };
                format!("chunk {}, {verdict}", write.chunk)
            }),
        ),
        Measure::new(
            "spare",
            "From A’s last write to the expiry of its lease",
            spare.map(|(expired, write)| Value::Seconds(expired - write.t)),
            spare.map_or(String::new(), |(expired, write)| format!("{} − {}", expired.told(), write.t.told())),
        ),
    ]
}
