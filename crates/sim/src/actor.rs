//! The contract of every machine's logic: what it may know, and what it may do.
//!
//! An actor takes its own clock reading and an input and returns actions.
//! It cannot read true time, another machine's state, or the network's: the types give it no way to.

use crate::clock::Reading;
use crate::event::Kind;
use crate::machine::MachineId;
use crate::message::Message;
use crate::settings::{Plan, Settings};
use crate::time::{Mono, Wall};

/// What an actor may look at: its own clocks and the configuration that it was deployed with.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The machine's own clocks.
    pub reading: Reading,
    /// Settings as deployed at this moment.
    pub settings: &'a Settings,
    /// The plan of the scenario: programs, cluster, time-outs.
    pub plan: &'a Plan,
    /// Where its randomness comes from: the same for every machine of a run.
    pub seed: u64,
}

impl Context<'_> {
    /// The machine's monotonic clock.
    pub fn mono(&self) -> Mono {
        self.reading.mono
    }

    /// The machine's wall clock.
    pub fn wall(&self) -> Wall {
        self.reading.wall
    }
}

/// What happens to an actor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// Its process has started.
    Start,
    /// A message has arrived.
    Message {
        /// The sender.
        from: MachineId,
        /// What it says.
        message: Message,
    },
    /// A timer that it set is due.
    Timer {
        /// Which one.
        key: TimerKey,
        /// For when it was set, on the monotonic clock; a frozen machine gets its timers late.
        due: Mono,
    },
    /// The operator tells a worker to acquire the lock.
    Acquire,
    /// The operator tells a worker to release the lock and end.
    Release,
}

/// Names a timer within its machine; setting one that runs replaces it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TimerKey {
    /// A lock node: nobody has led for too long.
    Election,
    /// A lock node: tell the followers that the leader lives; a Redis server: look after the other one.
    Heartbeat,
    /// A lock node: the earliest deadline of a lease; a Redis server: the earliest expiry of a key.
    LeaseExpiry,
    /// A lock node or a Redis server: the oldest write to the disk is done.
    Disk,
    /// A database: the oldest open transaction is done.
    Commit,
    /// A lock node: the remaining time of a lease should go into the log.
    Checkpoint,
    /// A Redis primary: commands are due to be shipped to the replica.
    Replication,
    /// A Redis primary: a client has waited long enough for the replica.
    Wait,
    /// A client: the next look, attempt or sweep.
    Poll,
    /// A worker: its present piece of work is done.
    Work,
    /// A client: the store has not answered.
    StoreTimeout,
    /// A client: the lock node has not answered, or the pause before asking all again is over.
    LockTimeout,
    /// A worker: the lock node has not answered a renewal, or as above.
    RenewalTimeout,
    /// A worker: time to renew.
    Renewal,
}

/// What an actor does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Sends a message.
    Send {
        /// To whom.
        to: MachineId,
        /// What.
        message: Message,
    },
    /// Sets a timer on its own monotonic clock.
    SetTimer {
        /// Which one.
        key: TimerKey,
        /// When.
        at: Mono,
    },
    /// Sets a timer on its own wall clock: it is due as soon as that clock shows the reading, be it that the clock has
    /// run there or that it was set.
    SetAlarm {
        /// Which one.
        key: TimerKey,
        /// When.
        at: Wall,
    },
    /// Stops a timer.
    CancelTimer {
        /// Which one.
        key: TimerKey,
    },
    /// Tells the trace what it did.
    Record {
        /// What happened.
        kind: Kind,
        /// The log entry whose application this is.
        /// Every node applies every entry; the trace shows the first time that a leader did.
        log_index: Option<u64>,
    },
}

/// Collects what an actor does during one input.
#[derive(Debug, Default)]
pub struct Actions(Vec<Action>);

impl Actions {
    /// Sends `message` to `to`.
    pub fn send(&mut self, to: impl Into<MachineId>, message: Message) {
        self.0.push(Action::Send { to: to.into(), message });
    }

    /// Sets or replaces the timer `key`.
    pub fn set_timer(&mut self, key: TimerKey, at: Mono) {
        self.0.push(Action::SetTimer { key, at });
    }

    /// Sets or replaces the timer `key`, on the wall clock.
    pub fn set_alarm(&mut self, key: TimerKey, at: Wall) {
        self.0.push(Action::SetAlarm { key, at });
    }

    /// Stops the timer `key`.
    pub fn cancel_timer(&mut self, key: TimerKey) {
        self.0.push(Action::CancelTimer { key });
    }

    /// Records an event.
    pub fn record(&mut self, kind: Kind) {
        self.0.push(Action::Record { kind, log_index: None });
    }

    /// Records that the log entry at `log_index` was applied.
    pub fn record_applied(&mut self, log_index: u64, kind: Kind) {
        self.0.push(Action::Record { kind, log_index: Some(log_index) });
    }

    /// Takes the actions out, in order.
    pub fn drain(&mut self) -> impl Iterator<Item = Action> + '_ {
        self.0.drain(..)
    }
}
