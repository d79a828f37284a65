//! How real systems elect, as a table; and one of their rules to run: lock-delay.

use lease_lab_sim::event::Kind;
use lease_lab_sim::machine::WorkerId;
use lease_lab_sim::settings::{LockRules, Plan, Settings};
use lease_lab_sim::time::{Mono, Span, TrueTime};

use crate::Run;
use crate::knobs::LOCK_DELAY;
use crate::measures::{Measure, Value};
use crate::scenario::{Extra, Scenario, Variant};
use crate::trace;

pub(super) static SCENARIO: Scenario = Scenario {
    id: "election-systems",
    part: 7,
    name: "Elections in real systems",
    title: "Lock-delay: nobody gets the lock for a while after an expiry",
    lede: "Systems differ in their key, their token, and above all in whose clock says that a leader is gone. Some add \
           a lock-delay: after a holder’s lease has run out, the lock stays closed for some seconds, in case the old \
           holder still acts. Here A freezes, the fence is off, and the delay is 15 s, Consul’s default.",
    notice: &[
        "A’s late write lands while nobody else can have the lock. So it does no harm, although nothing compares \
         tokens: the delay has narrowed the window.",
        "It has not closed it. A holder that is frozen for longer than lease and delay together writes into its \
         successor’s work. Only a fence refuses that, however late it comes.",
        "The delay is in the memory of the lock service’s leader, as in Consul. If that leader dies, the delay is \
         forgotten; and a release ends without any delay.",
    ],
    plan,
    faults: "0 fence off; 4 pause A 15",
    knobs: &[&LOCK_DELAY],
    variants: &[
        Variant::adding("No lock-delay", "0 set lock-delay 0"),
        Variant::instead("A freezes for 30 s", "0 fence off; 4 pause A 30"),
        Variant::instead("A freezes for 30 s, and the fence is on", "4 pause A 30"),
        Variant::adding("The leader dies at 14.0 and takes the delay with it", "14 crash leader"),
        Variant::instead("A releases at 3.5", "0 fence off; 3.5 release A"),
    ],
    measures,
    extras: &[Extra::Table("election-systems")],
    window: (2, 42),
    ..Scenario::BASE
};

fn plan() -> Plan {
    let story = super::billing_story::plan();
    let mut plan = Plan {
        settings: Settings { sweeper: false, ..Settings::default() },
        lock_rules: LockRules { lock_delay: Span::seconds(15), ..LockRules::default() },
        programs: story.programs.into_iter().take(2).collect(),
        horizon: TrueTime::from_millis(50_000),
        ..story
    };
    // B waits from the start, so that a release can be seen, too.
    if let Some(b) = plan.programs.get_mut(1) {
        b.starts = Some(TrueTime::from_millis(2_500));
    }
    plan
}

fn measures(run: &Run) -> Vec<Measure> {
    let ended = trace::first(run, |kind| {
        matches!(kind, Kind::LeaseExpired { worker: WorkerId::A, .. } | Kind::LockReleased { worker: WorkerId::A, .. })
    });
    let until = run.events.iter().find_map(|event| match event.kind {
        Kind::LockDelayBegan { until, .. } => Some(until),
        _ => None,
    });
    let taken = trace::granted_at(run, WorkerId::B);
    let late = trace::late_write(run, WorkerId::A);
    let fate = late.map_or("there is none".into(), |write| {
        let verdict = if write.accepted { "accepted" } else { "refused" };
        let when = match taken {
            Some(taken) if taken < write.t => "after B got the lock",
            _ => "before B got the lock",
        };
        format!("{verdict} at {}, {when}", write.t.told())
    });
    let none = |text: &str| Value::Text(text.into());
    vec![
        Measure::at("ended", "A’s key is deleted at", ended.map(|event| event.t), ""),
        Measure::new(
            "until",
            "The lock stays closed until",
            Some(until.map_or_else(|| none("no delay"), |until| Value::Seconds(until - Mono::ZERO))),
            ended.filter(|_| until.is_some()).map_or(String::new(), |event| {
                format!("{} + {}", event.t.told(), run.plan.lock_rules.lock_delay.told())
            }),
        ),
        Measure::at("taken", "B gets the lock at", taken, "B asks every 0.5 s"),
        Measure::new("late", "A’s late write", Some(Value::Text(fate)), ""),
        Measure::new("charged-twice", "Customers charged twice", Some(Value::Count(trace::charged_twice(run))), ""),
    ]
}
