//! The queue of what comes next.
//!
//! Messages that nothing disturbs arrive in the order in which they were sent, if they travel for the same time: for
//! each of the two times there is a plain line, which costs less than an ordered map when thousands of machines talk.

use std::collections::VecDeque;

use super::Envelope;
use crate::actor::TimerKey;
use crate::machine::MachineId;
use crate::ordered_map::OrderedMap;
use crate::settings::Latency;
use crate::time::{Span, TrueTime};

/// Order of what is due at one instant: ends of pauses, then messages that waited for a frozen machine, then messages,
/// then timers, each in order of creation.
type Key = (TrueTime, Class, u64);

/// See [`Key`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Class {
    Control,
    Held,
    Message,
    Timer,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Pending {
    EndPause {
        machine: MachineId,
        pause: u32,
    },
    EndOutage(u32),
    /// One that was delayed, doubled or held.
    Message(Box<Envelope>),
    Timer {
        machine: MachineId,
        key: TimerKey,
    },
    Start {
        machine: MachineId,
    },
}

/// What is due.
pub(super) enum Due {
    Message(Envelope),
    Pending(Pending),
}

/// Messages that travel for the same time, in order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Line {
    travels: Span,
    messages: VecDeque<(TrueTime, u64, Envelope)>,
}

impl Line {
    fn next(&self) -> Option<Key> {
        self.messages.front().map(|(at, created, _)| (*at, Class::Message, *created))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Queue {
    lines: [Line; 2],
    others: OrderedMap<Key, Pending>,
}

impl Queue {
    pub(super) fn new(latency: &Latency) -> Queue {
        let line = |travels| Line { travels, messages: VecDeque::new() };
        Queue { lines: [line(latency.wire), line(latency.worker_store)], others: OrderedMap::default() }
    }

    /// When the next thing is due.
    pub(super) fn next(&self) -> Option<TrueTime> {
        self.next_key().map(|((at, _, _), _)| at)
    }

    /// Its key, and the line in which it waits, if it waits in one.
    fn next_key(&self) -> Option<(Key, Option<usize>)> {
        let mut first = self.others.keys().next().map(|key| (*key, None));
        for (place, line) in self.lines.iter().enumerate() {
            if let Some(key) = line.next()
                && first.is_none_or(|(earliest, _)| key < earliest)
            {
                first = Some((key, Some(place)));
            }
        }
        first
    }

    /// Takes what is due next, if it is due by `until`.
    pub(super) fn pop(&mut self, until: TrueTime) -> Option<(TrueTime, Due)> {
        let ((at, _, _), line) = self.next_key()?;
        if at > until {
            return None;
        }
        match line {
            Some(line) => self.lines[line].messages.pop_front().map(|(at, _, envelope)| (at, Due::Message(envelope))),
            None => self.others.pop_first().map(|((at, _, _), pending)| (at, Due::Pending(pending))),
        }
    }

    pub(super) fn insert(&mut self, key: Key, pending: Pending) {
        self.others.insert(key, pending);
    }

    pub(super) fn remove(&mut self, key: Key) {
        self.others.remove(&key);
    }

    /// Puts a message that is sent now, and travels undisturbed for `travels`, on its way.
    pub(super) fn send(&mut self, arrives: TrueTime, created: u64, travels: Span, envelope: Envelope) {
        match self.lines.iter_mut().find(|line| line.travels == travels) {
            Some(line) => line.messages.push_back((arrives, created, envelope)),
            None => self.insert((arrives, Class::Message, created), Pending::Message(Box::new(envelope))),
        }
    }

    /// Messages on their way, in order of arrival.
    pub(super) fn messages(&self) -> impl Iterator<Item = &Envelope> + '_ {
        let mut all: Vec<(Key, &Envelope)> = Vec::new();
        for (at, created, envelope) in self.lines.iter().flat_map(|line| &line.messages) {
            put(&mut all, (*at, Class::Message, *created), envelope);
        }
        for (key, pending) in self.others.iter() {
            if let Pending::Message(envelope) = pending {
                put(&mut all, *key, envelope);
            }
        }
        all.into_iter().map(|(_, envelope)| envelope)
    }

    /// Takes messages off their way, in order of arrival.
    pub(super) fn take_messages(&mut self, which: impl Fn(&Envelope) -> bool) -> Vec<Envelope> {
        let mut taken = Vec::new();
        for line in &mut self.lines {
            line.messages.retain(|(at, created, envelope)| {
                let takes = which(envelope);
                if takes {
                    put(&mut taken, (*at, Class::Message, *created), envelope.clone());
                }
                !takes
            });
        }
        self.others.retain(|key, pending| match pending {
            Pending::Message(envelope) if which(envelope) => {
                put(&mut taken, *key, Envelope::clone(envelope));
                false
            }
            _ => true,
        });
        taken.into_iter().map(|(_, envelope)| envelope).collect()
    }
}

/// Keeps a list in order; what comes is almost in order already.
fn put<T>(list: &mut Vec<(Key, T)>, key: Key, what: T) {
    let place = list.partition_point(|(other, _)| *other < key);
    list.insert(place, (key, what));
}
