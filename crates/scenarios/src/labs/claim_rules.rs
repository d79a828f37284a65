//! A lease in an item: by which clock somebody else may claim it, and what comes of each rule.

use lease_lab_sim::event::Kind;
use lease_lab_sim::machine::WorkerId;
use lease_lab_sim::settings::{ClaimRule, Finds, Plan, Program, ServiceKind, Settings};
use lease_lab_sim::time::{Span, TrueTime};

use crate::Run;
use crate::knobs::{Choice, Knob, Takes};
use crate::measures::{Measure, Value};
use crate::scenario::{Extra, Scenario, Variant};
use crate::trace;

pub(super) static SCENARIO: Scenario = Scenario {
    id: "claim-rules",
    part: 5,
    name: "Whose clock judges a claim",
    title: "The same item and the same poller under three claim rules",
    lede: "The item says until when A holds it; A’s own right to act ends a margin earlier. A freezes at 4.0 and does \
           not come back in time. D looks at the item once a second, and its wall clock is three seconds fast. When D \
           may claim depends on whose clock the rule asks: compare the bars.",
    notice: &[
        "“lease_until < my now” compares a time that A wrote by its own wall clock with D’s wall clock. The \
         difference of the two clocks goes straight into the result: D claims while A may still act.",
        "A claim margin of five seconds pays for a clock that is three seconds fast, and makes every takeover five \
         seconds later. It protects up to the margin and no further.",
        "The third rule reads no clock of anybody else: D waits until the record version number has stayed the same \
         for one full lease on D’s own monotonic clock. An offset has no effect on it at all.",
    ],
    plan,
    faults: "0 offset D 3; 4 pause A 15",
    knobs: &[&CLAIM_RULE],
    own_rule: "As it is: lease_until < my now, and D is 3 s fast",
    variants: &[
        Variant::adding("lease_until < my now − 5 s", "0 set claim-rule now-margin"),
        Variant::adding("rvn unchanged for one lease", "0 set claim-rule unchanged"),
        Variant::adding("lease_until < my now, and A wakes up at 10.6", "10.6 resume A"),
        Variant::adding("my now − 5 s, but D is 9 s fast", "0 set claim-rule now-margin; 0.1 offset D 9"),
        Variant::adding("rvn unchanged, and D is 9 s fast", "0 set claim-rule unchanged; 0.1 offset D 9"),
    ],
    measures,
    extras: &[Extra::Bars, Extra::Requests, Extra::ClockGraph],
    clocks_of: WorkerId::D,
    window: (0, 20),
    ..Scenario::BASE
};

/// By what a claimant judges.
pub(super) static CLAIM_RULE: Knob = Knob {
    key: "claim-rule",
    name: "When a lease item may be claimed",
    takes: Takes::Choice(&[
        Choice { value: "now", means: "lease_until < my now", apply: |plan| rule(plan, ClaimRule::Now) },
        Choice {
            value: "now-margin",
            means: "lease_until < my now − 5 s",
            apply: |plan| rule(plan, ClaimRule::NowMargin),
        },
        Choice {
            value: "unchanged",
            means: "rvn unchanged for one lease, on my monotonic clock",
            apply: |plan| rule(plan, ClaimRule::Unchanged),
        },
        Choice {
            value: "storage-now",
            means: "lease_until < now() of the database that also wrote it",
            apply: |plan| rule(plan, ClaimRule::StorageNow),
        },
    ]),
};

fn rule(plan: &mut Plan, rule: ClaimRule) {
    plan.lease_items.rule = rule;
}

/// A works as in the story; D polls once a second from 0.5 on.
fn plan() -> Plan {
    let mut plan = Plan {
        settings: Settings { sweeper: false, ..Settings::default() },
        service: ServiceKind::LeaseItem,
        programs: super::billing_story::plan().programs.into_iter().take(1).collect(),
        horizon: TrueTime::from_millis(40_000),
        ..Plan::default()
    };
    plan.programs.push(Program {
        starts: Some(TrueTime::from_millis(500)),
        finds: Finds::Standby { every: Span::seconds(1) },
        ..Program::idle(WorkerId::D)
    });
    plan.lease_items.rule = ClaimRule::Now;
    plan
}

fn measures(run: &Run) -> Vec<Measure> {
    let claim = trace::granted_at(run, WorkerId::D);
    let right_ends = trace::right_ends_at(run, WorkerId::A);
    let mut measures = vec![
        Measure::new("claim", "D claims at", claim.map(|at| Value::Seconds(trace::since_start(at))), why_then(run)),
        Measure::new(
            "right-ends",
            "A’s right to act ends at",
            right_ends.map(|at| Value::Seconds(trace::since_start(at))),
            trace::last_stop(run, WorkerId::A)
                .map_or(String::new(), |(_, stop)| format!("A’s last stop time is {}, by its own clock", stop.told())),
        ),
    ];
    measures.extend(overlap_and_gap(claim, right_ends));
    measures
}

/// How far two rights to act overlap, and how far apart they are; at least one of the two is nothing.
pub(super) fn overlap_and_gap(begins: Option<TrueTime>, ends: Option<TrueTime>) -> [Measure; 2] {
    let both = begins.zip(ends);
    let least = |span: Span| Some(Value::Seconds(span.max(Span::ZERO)));
    let told = |a: TrueTime, b: TrueTime| if a > b { format!("{} − {}", a.told(), b.told()) } else { String::new() };
    [
        Measure::new(
            "overlap",
            "Two have the right to act for",
            both.and_then(|(begins, ends)| least(ends - begins)),
            both.map_or(String::new(), |(begins, ends)| told(ends, begins)),
        ),
        Measure::new(
            "gap",
            "Nobody has the right to act for",
            both.and_then(|(begins, ends)| least(begins - ends)),
            both.map_or(String::new(), |(begins, ends)| told(begins, ends)),
        ),
    ]
}

/// What made D's claim pass when it did, in the run's own numbers.
fn why_then(run: &Run) -> String {
    let Some(event) = trace::first(run, |kind| matches!(kind, Kind::ClaimReplaced { by: WorkerId::D, .. })) else {
        return String::new();
    };
    let Kind::ClaimReplaced { worker, lease_until, .. } = event.kind else { return String::new() };
    let wall = trace::clocks_of(run, WorkerId::D).reading(event.t).wall;
    match run.plan.lease_items.rule {
        ClaimRule::Now => format!("the first poll with {} < {}, D’s wall clock", lease_until.told(), wall.told()),
        ClaimRule::NowMargin => {
            let margin = run.plan.lease_items.claim_margin.told();
            format!("the first poll with {} < {} − {margin}, D’s wall clock", lease_until.told(), wall.told())
        }
        ClaimRule::StorageNow => format!("the first poll with {} < now()", lease_until.told()),
        ClaimRule::Unchanged => {
            let Some(written) = trace::last_applied(run, worker, event.t) else { return String::new() };
            let seen = run
                .events
                .iter()
                .find(|seen| seen.t > written.t && matches!(seen.kind, Kind::LockBusy { worker: WorkerId::D, .. }));
            let Some(seen) = seen else { return String::new() };
            format!("D saw the last rvn first at {}; + {}", seen.t.told(), run.plan.settings.lease.told())
        }
    }
}
