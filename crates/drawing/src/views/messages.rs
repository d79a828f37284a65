//! Messages between lanes.

use lease_lab_sim::event::{Event, Kind};
use lease_lab_sim::machine::MachineId;
use lease_lab_sim::time::TrueTime;

/// A message that arrived or was lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The sender.
    pub from: MachineId,
    /// The receiver.
    pub to: MachineId,
    /// When it was sent.
    pub sent: TrueTime,
    /// When it arrived, or was lost.
    pub ended: TrueTime,
    /// It was lost.
    pub lost: bool,
    /// What it says.
    pub what: String,
}

impl Line {
    /// A message that changes something: drawn at every zoom; the others only when there is room.
    pub fn matters(&self) -> bool {
        let asks = self.from.worker().is_some() || self.from == MachineId::Sweeper;
        let reads = ["who holds", "read ", "get the ", "select ", "which invoices"];
        asks && !reads.iter().any(|read| self.what.starts_with(read))
    }
}

/// All messages of the trace, in the order in which they ended.
pub fn lines(events: &[Event]) -> Vec<Line> {
    events
        .iter()
        .filter_map(|event| match &event.kind {
            Kind::MessageReceived { from, what, sent, .. } => Some(Line {
                from: *from,
                to: event.machine,
                sent: *sent,
                ended: event.t,
                lost: false,
                what: what.clone(),
            }),
            Kind::MessageLost { to, what, sent, .. } => {
                Some(Line { from: event.machine, to: *to, sent: *sent, ended: event.t, lost: true, what: what.clone() })
            }
            _ => None,
        })
        .collect()
}
