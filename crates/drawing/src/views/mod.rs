//! Views: what the lanes of the timeline show, derived from the events of a trace up to an instant.

pub mod counts;
pub mod difference;
pub mod faults;
pub mod layers;
pub mod lock;
pub mod messages;
pub mod models;
pub mod redis;
pub mod row_states;
pub mod store;
pub mod workers;

pub use lease_lab_scenarios::clocks;
use lease_lab_sim::event::Event;
use lease_lab_sim::time::TrueTime;

/// The events of a trace up to and including `until`.
pub fn up_to(events: &[Event], until: TrueTime) -> &[Event] {
    &events[..events.partition_point(|event| event.t <= until)]
}

/// A stretch of true time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// From.
    pub from: TrueTime,
    /// To.
    pub to: TrueTime,
}

impl Stretch {
    /// What the two have in common, if anything.
    pub fn common(self, other: Stretch) -> Option<Stretch> {
        let both = Stretch { from: self.from.max(other.from), to: self.to.min(other.to) };
        (both.from < both.to).then_some(both)
    }
}
