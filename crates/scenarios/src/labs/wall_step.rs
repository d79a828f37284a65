//! A holder whose wall clock is set back: how late it would stop by it, and what it does if it judges by it.

use lease_lab_sim::machine::WorkerId;
use lease_lab_sim::settings::{Finds, Plan, StopClock};
use lease_lab_sim::time::{Deadline, Span, TrueTime, Wall};

use crate::Run;
use crate::knobs::{Choice, Knob, Takes};
use crate::measures::{Measure, Value};
use crate::scenario::{Extra, Scenario, Variant};
use crate::trace;

pub(super) static SCENARIO: Scenario = Scenario {
    id: "wall-step",
    part: 3,
    name: "A wall clock steps back",
    title: "B’s wall clock is set back by 3 s while B holds the lock",
    lede: "B acquires the lock and, in this run, never renews. At 16.0 somebody corrects its wall clock by three \
           seconds. The stop time stays one reading; the two clocks reach it at different moments, and one of them \
           comes after the lock service has let the lease expire.",
    notice: &[
        "In the clock graph the stop time is a flat line. The monotonic clock crosses it as if nothing had happened; \
         the wall clock has lost three seconds and crosses it three seconds later.",
        "Let B judge by its wall clock, and it does not only look late: it checks once more, finds itself in time, and \
         sends. C has the lock by then, and only the fence is in the way.",
    ],
    plan,
    faults: "4 crash A; 16 step-wall B -3",
    knobs: &[&STOP_CLOCK],
    variants: &[
        Variant::adding("B judges by its wall clock", "0 set stop-clock wall"),
        Variant::adding("B judges by its wall clock, and the fence is off", "0 set stop-clock wall; 0 fence off"),
        Variant::instead(
            "The clock is set forward instead, and B judges by it",
            "4 crash A; 16 step-wall B 3; 0 set stop-clock wall",
        ),
    ],
    measures,
    extras: &[Extra::ClockGraph],
    clocks_of: WorkerId::B,
    window: (12, 27),
    ..Scenario::BASE
};

static STOP_CLOCK: Knob = Knob {
    key: "stop-clock",
    name: "The clock by which B judges its stop time",
    takes: Takes::Choice(&[
        Choice {
            value: "monotonic",
            means: "the clock that nobody can set",
            apply: |plan| judge_by(plan, StopClock::Monotonic),
        },
        Choice { value: "wall", means: "the clock that can be set", apply: |plan| judge_by(plan, StopClock::Wall) },
    ]),
};

fn judge_by(plan: &mut Plan, clock: StopClock) {
    for program in &mut plan.programs {
        if program.worker == WorkerId::B {
            program.stop_clock = clock;
        }
    }
}

/// The story up to B’s takeover; then B does not renew, has a chunk to send at 24.0, and C waits for the lock.
fn plan() -> Plan {
    let ms = Span::millis;
    let mut plan = super::billing_story::plan();
    for program in &mut plan.programs {
        match program.worker {
            WorkerId::B => {
                program.renews = false;
                program.work.push((4, ms(3_850)));
            }
            WorkerId::C => {
                program.starts = Some(TrueTime::from_millis(15_250));
                program.finds = Finds::Standby { every: ms(500) };
            }
            _ => {}
        }
    }
    Plan { horizon: TrueTime::from_millis(40_000), ..plan }
}

fn measures(run: &Run) -> Vec<Measure> {
    let clocks = trace::clocks_of(run, WorkerId::B);
    let stop = trace::last_stop(run, WorkerId::B);
    let by_mono = stop.and_then(|(from, stop)| clocks.when_mono(stop, from, run.horizon));
    let by_wall = stop.and_then(|(from, stop)| {
        // The same reading, on the other clock: B had set the two alike when it acquired.
        let ahead = clocks.reading(from).wall.as_micros() - clocks.reading(from).mono.as_micros();
        clocks.when_wall(Wall::from_micros(stop.as_micros() + ahead), from, run.horizon)
    });
    let expired = trace::expired_at(run, WorkerId::B);
    let late = by_wall.zip(expired).map(|(wall, expired)| (wall, expired, wall - expired));
    let at = |t: Option<TrueTime>| t.map(|t| Value::Seconds(trace::since_start(t)));
    let stop_told = stop.map_or(String::new(), |(_, stop)| stop.told());
    let late_write = trace::late_write(run, WorkerId::B);
    vec![
        Measure::new(
            "monotonic",
            "True time at which B’s monotonic clock reaches its stop time",
            at(by_mono),
            format!("when it shows {stop_told}"),
        ),
        Measure::new(
            "wall",
            "True time at which B’s wall clock reaches the same reading",
            at(by_wall),
            by_mono.zip(by_wall).map_or(String::new(), |(mono, wall)| {
                if wall < mono {
                    format!("{} − {}, by which it is ahead", mono.told(), (mono - wall).told())
                } else {
                    format!("{} + {}, by which it is behind", mono.told(), (wall - mono).told())
                }
            }),
        ),
        Measure::new(
            "deadline",
            "The lock service’s deadline for B’s lease, on its leader’s clock",
            match trace::last_deadline(run, WorkerId::B) {
                Some(Deadline::Mono(deadline)) => Some(Value::Seconds(Span::micros(deadline.as_micros()))),
                _ => None,
            },
            "",
        ),
        Measure::new(
            "late",
            "How much later than the expiry of the lease the wall clock says stop",
            late.map(|(_, _, by)| Value::Seconds(by)),
            late.map_or(String::new(), |(wall, expired, _)| format!("{} − {}", wall.told(), expired.told())),
        ),
        Measure::new(
            "late-write",
            "What becomes of a write that B sends after that",
            Some(Value::Text(match late_write {
                None => "B sends none".into(),
                Some(write) if write.accepted => format!("accepted at {} s", write.t.told()),
                Some(write) => format!("refused at {} s: token {}, fence {}", write.t.told(), write.token, write.fence),
            })),
            "",
        ),
        Measure::new("charged-twice", "Customers charged twice", Some(Value::Count(trace::charged_twice(run))), ""),
    ]
}
