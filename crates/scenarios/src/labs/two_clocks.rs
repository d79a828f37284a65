//! Every machine has two clocks, and which of their faults matters to a lease.

use lease_lab_sim::machine::WorkerId;
use lease_lab_sim::settings::{Finds, Plan, Program};
use lease_lab_sim::time::{Span, TrueTime};

use crate::Run;
use crate::measures::{Measure, Value};
use crate::scenario::{Extra, Scenario, Variant};
use crate::trace;

pub(super) static SCENARIO: Scenario = Scenario {
    id: "two-clocks",
    part: 3,
    name: "Two clocks per machine",
    title: "Clocks that are set wrong do no harm; a clock that runs at the wrong rate does",
    lede: "A holds the lock and is cut off from the lock service at 5.0, so that nobody renews any more. The holder’s \
           stop time and the service’s deadline now approach, each on its own machine’s clock. Whether the holder \
           stops in time depends on how fast the two clocks run, and not on what they show.",
    notice: &[
        "A’s wall clock is 3 s fast and B’s is 40 s slow, from the start. Nothing comes of it: the holder counts \
         seconds on its own monotonic clock, and the service counts them on its leader’s.",
        "Let A’s clock run at 0.75 of true speed, and its 8 s take longer than the service’s 10 s: it may act when B \
         may, too. A leader whose clock runs fast does the same from the other side.",
    ],
    plan,
    faults: "0 offset A 3; 0 offset B -40; 5 partition A | n1,n2,n3",
    variants: &[
        Variant::instead("All wall clocks are right", "5 partition A | n1,n2,n3"),
        Variant::adding("A’s wall clock steps back 5 s", "7 step-wall A -5"),
        Variant::adding("A’s clocks run at 0.9 of true speed", "0 rate A 0.9"),
        Variant::adding("A’s clocks run at 0.75 of true speed", "0 rate A 0.75"),
        Variant::adding("A’s clocks run at 1.25 times true speed", "0 rate A 1.25"),
        Variant::adding("The leader’s clocks run at 1.3 times true speed", "0 rate leader 1.3"),
    ],
    measures,
    extras: &[Extra::ClockGraph],
    window: (0, 20),
    ..Scenario::BASE
};

fn plan() -> Plan {
    let ms = Span::millis;
    Plan {
        programs: vec![
            Program { starts: Some(TrueTime::ZERO), takes_over: false, setup: ms(434), ..Program::idle(WorkerId::A) },
            Program {
                starts: Some(TrueTime::from_millis(5_500)),
                finds: Finds::Standby { every: ms(250) },
                ..Program::idle(WorkerId::B)
            },
        ],
        ..Plan::default()
    }
}

fn measures(run: &Run) -> Vec<Measure> {
    let clocks = trace::clocks_of(run, WorkerId::A);
    let stop = trace::last_stop(run, WorkerId::A);
    let stops = stop.and_then(|(from, stop)| clocks.when_mono(stop, from, run.horizon));
    let expires = trace::expired_at(run, WorkerId::A);
    let both = stops.zip(expires);
    let at = |t: Option<TrueTime>| t.map(|t| Value::Seconds(trace::since_start(t)));
    let deadline = trace::last_deadline(run, WorkerId::A);
    let offset = expires.map(|t| {
        let wall = clocks.reading(t).wall;
        (t, Span::micros(wall.as_micros() - t.as_micros()))
    });
    vec![
        Measure::new(
            "stops",
            "True time at which A must stop by its own monotonic clock",
            at(stops),
            stop.map_or(String::new(), |(_, stop)| format!("when its clock shows {}", stop.told())),
        ),
        Measure::new(
            "expires",
            "True time at which the service lets A’s lease expire",
            at(expires),
            deadline.map_or(String::new(), |deadline| format!("when the leader’s clock shows {}", deadline.told())),
        ),
        Measure::new(
            "spare",
            "How long before the expiry A stops",
            both.map(|(stops, expires)| Value::Seconds(expires - stops)),
            both.map_or(String::new(), |(stops, expires)| format!("{} − {}", expires.told(), stops.told())),
        ),
        Measure::new(
            "offset",
            "How far A’s wall clock is ahead of true time then",
            offset.map(|(_, offset)| Value::Seconds(offset)),
            offset.map_or(String::new(), |(t, _)| format!("read at {} s", t.told())),
        ),
    ]
}
