//! Interventions: what a person changes in a run, as data with one text grammar.
//!
//! `4 pause A 15`, `47 crash leader`, `0 fence off`: seconds of true time, a verb, its arguments.
//! The grammar is documented in `docs/grammar.md`; reading is in `parse`, printing in `print`, nowhere else.

mod parse;
mod print;

pub use parse::{INTERVENTIONS_MAX, Mistake, parse_list, parse_one, shorten};

use crate::machine::{MachineId, WorkerId};
use crate::settings::{FenceMode, RaiseOrder};
pub use crate::settings::{ServiceKind, StoreKind};
use crate::time::{Span, TrueTime};

/// A change at an instant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Intervention {
    /// When, in true time.
    pub at: TrueTime,
    /// What.
    pub change: Change,
}

/// A machine, by name or by what it is when the intervention is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// This machine.
    Machine(MachineId),
    /// Whichever node leads the lock service then.
    Leader,
}

/// What an intervention changes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// Freezes a process, or a whole virtual machine with its clocks.
    Pause {
        /// What freezes.
        target: Target,
        /// For how long; without it, until it is resumed.
        lasts: Option<Span>,
        /// The guest's clocks stop too.
        vm: bool,
    },
    /// Ends a pause.
    Resume(Target),
    /// Ends a process; what is on its disk stays.
    Crash(Target),
    /// Starts a new process.
    Restart {
        /// What starts.
        target: Target,
        /// Without what was on the disk.
        empty: bool,
    },
    /// Steps a wall clock.
    StepWall(Target, Span),
    /// Sets a wall clock's offset from true time.
    Offset(Target, Span),
    /// Sets the rate of both clocks, in parts per million of true time.
    Rate(Target, i64),
    /// Splits the network.
    Partition(Vec<Vec<Target>>),
    /// Ends partition and isolation.
    Heal,
    /// Cuts one machine off.
    Isolate(Target),
    /// Cuts the whole lock service off from all its clients, for so long or until it is healed; its nodes still reach
    /// each other.
    Outage(Option<Span>),
    /// Delays the next message.
    Delay {
        /// Sender.
        from: Target,
        /// Receiver.
        to: Target,
        /// By how much.
        by: Span,
    },
    /// Loses the next message.
    Drop {
        /// Sender.
        from: Target,
        /// Receiver.
        to: Target,
    },
    /// Sends the next message twice.
    Duplicate {
        /// Sender.
        from: Target,
        /// Receiver.
        to: Target,
    },
    /// Sets how the store compares.
    Fence(FenceMode),
    /// Sets whether the store recognises recorded chunks.
    Idempotent(bool),
    /// Sets when a worker that takes over raises.
    Raise(RaiseOrder),
    /// Sets the lease length.
    Lease(Span),
    /// Sets the renewal interval.
    Renew(Span),
    /// Sets the margin.
    Margin(Span),
    /// Switches the sweeper.
    Sweeper(bool),
    /// Chooses the lock service.
    Service(ServiceKind),
    /// Chooses the store.
    Store(StoreKind),
    /// Tells a worker to acquire.
    Acquire(WorkerId),
    /// Tells a worker to release and end.
    Release(WorkerId),
    /// Restores the lock service from a snapshot.
    Restore {
        /// The snapshot's revision.
        revision: u64,
        /// How far the revision jumps afterwards.
        bump: Option<u64>,
    },
    /// Sets a knob of one lab.
    Set {
        /// The knob.
        key: String,
        /// Its value.
        value: String,
    },
}

/// Sorts by time; what stands earlier in the list stays earlier at the same instant.
pub fn sort(interventions: &mut [Intervention]) {
    sort_by_time(interventions, |intervention| intervention.at);
}

/// The same for lists of anything that has a time.
///
/// An insertion sort: lists have at most 200 entries, are almost in order, and are sorted in the browser, where the
/// standard sort would be downloaded once for each type.
pub fn sort_by_time<T>(list: &mut [T], at: impl Fn(&T) -> TrueTime) {
    for place in 1..list.len() {
        let time = at(&list[place]);
        let target = list[..place].partition_point(|earlier| at(earlier) <= time);
        list[target..=place].rotate_right(1);
    }
}
