//! The sweeper's rules one by one, and a wrong sweep: it costs work, never data.

use lease_lab_sim::time::Span;

use crate::knobs::{Knob, Takes};

pub(super) static SIGHTINGS: Knob = Knob {
    key: "sightings",
    name: "How often an orphan must be seen",
    takes: Takes::Count { from: 1, to: 2, apply: |plan, count| plan.sweeping.sightings = count as u8 },
};
pub(super) static EVERY: Knob = Knob {
    key: "every",
    name: "The time between two sweeps",
    takes: Takes::Seconds {
        from: Span::millis(500),
        to: Span::seconds(30),
        apply: |plan, span| plan.sweeping.every = span,
    },
};
