//! Four ways for a store to look at tokens.

use lease_lab_sim::event::{Kind, RefusedBecause};

use crate::Run;
use crate::measures::{Measure, Value};
use crate::scenario::{Scenario, Variant};
use crate::trace;

pub(super) static SCENARIO: Scenario = Scenario {
    id: "fence-rules",
    part: 4,
    name: "The fenced write",
    title: "A store accepts a write only if its token is not below the fence, in one step with the write",
    lede: "The same pause, the same late write, and four stores: one that compares in the step that writes, one that \
           compares nothing, one that refuses equal tokens too, and one whose workers compare first and write \
           afterwards.",
    notice: &[
        "With the fence on, a token equal to the fence is good: it is the holder’s own, and the holder writes many \
         times. A store that rejects equal tokens refuses the honest holder’s first chunk, because its raise came \
         before it. That rule is right only where each token makes exactly one write.",
        "In two steps, A reads the fence, compares, and then writes without a condition. The pause falls between the \
         two: what A compared with is as old as the pause is long when its write arrives, and the store takes it.",
    ],
    plan: super::billing_story::plan,
    faults: "4 pause A 15",
    variants: &[
        Variant::adding("The fence is off", "0 fence off"),
        Variant::adding("Equal tokens are rejected", "0 fence reject-equal"),
        Variant::adding("Check and write in two steps", "0 fence two-step"),
        Variant::instead("Two steps, paused before the check", "3.85 pause A 15; 0 fence two-step"),
        Variant::instead("Two steps, nobody pauses", "0 fence two-step"),
    ],
    measures,
    window: (0, 21),
    ..Scenario::BASE
};

fn measures(run: &Run) -> Vec<Measure> {
    let stale = stale_writes(run);
    let refused = |rule: RefusedBecause| {
        let refused = run
            .events
            .iter()
            .filter(|event| matches!(event.kind, Kind::WriteRefused { because, .. } if because == rule));
        Some(Value::Count(refused.count() as u64))
    };
    vec![
        Measure::new(
            "stale-accepted",
            "Writes accepted although a higher token had written before",
            Some(Value::Count(stale.len() as u64)),
            stale.first().map_or(String::new(), |(write, highest)| {
                format!("token {} after {highest}, at {} s", write.token, write.t.told())
            }),
        ),
        Measure::new(
            "stale-refused",
            "Writes refused because their token was below the fence",
            refused(RefusedBecause::TokenBelowFence),
            "",
        ),
        Measure::new(
            "honest-refused",
            "Writes refused although their token was the fence",
            refused(RefusedBecause::TokenEqualsFence),
            "",
        ),
        Measure::new("charged-twice", "Customers charged twice", Some(Value::Count(trace::charged_twice(run))), ""),
    ]
}

/// Accepted writes below a token that had raised the fence or written before, each with the highest of those.
fn stale_writes(run: &Run) -> Vec<(trace::Write, u64)> {
    let mut highest = 0;
    let mut stale = Vec::new();
    for event in &run.events {
        match event.kind {
            Kind::FenceRaised { token, .. } => highest = highest.max(token),
            Kind::ChunkWritten { worker, token, chunk, fence, .. } => {
                if token < highest {
                    stale.push((trace::Write { t: event.t, worker, token, chunk, fence, accepted: true }, highest));
                }
                highest = highest.max(token);
            }
            _ => {}
        }
    }
    stale
}
