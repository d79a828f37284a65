//! Recognising beats in a trace.

use lease_lab_sim::event::Event;
use lease_lab_sim::machine::MachineId;

use crate::scenario::{Beat, Place};

/// The number of the beat that each event is, if it is one.
///
/// A beat is a kind, a place, a worker and a count, so it is found again in a run that has changed, and only there
/// where it still happens.
pub fn number(events: &[Event], beats: &[Beat]) -> Vec<Option<u8>> {
    let mut seen = vec![0; beats.len()];
    events
        .iter()
        .map(|event| {
            let kind = event.kind.name();
            let mut number = None;
            for (beat, seen) in beats.iter().zip(&mut seen) {
                if beat.kind == kind && beat.worker == event.kind.worker() && is_at(beat.place, event.machine) {
                    *seen += 1;
                    if *seen == beat.nth {
                        number = Some(beat.number);
                    }
                }
            }
            number
        })
        .collect()
}

fn is_at(place: Place, machine: MachineId) -> bool {
    match place {
        Place::Machine(expected) => machine == expected,
        Place::LockService => machine.is_lock_service(),
    }
}
