//! Two things that are called leases too: a block of capacity for a time, and a block of numbers for good.
//!
//! A block of capacity goes back by itself when its time is over, like a lease; but there is nothing that a late holder
//! could spoil, only a limit that it exceeds for a moment.
//! A block of numbers is taken by an atomic addition and never goes back: a crash wastes numbers, and nothing can hand
//! out one of them twice.

use std::collections::BTreeMap;
use std::fmt;

use crate::actor::{Actions, Context, Input, TimerKey};
use crate::event::Kind;
use crate::labs_only::labs_only;
use crate::machine::{MachineId, WorkerId};
use crate::message::{CallId, Message};
use crate::time::{Mono, Span};

/// What is handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rents {
    /// Capacity.
    Quota,
    /// Numbers.
    Ids,
}

/// The terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Terms {
    /// What is handed out.
    pub rents: Rents,
    /// How many units of capacity there are.
    pub capacity: u32,
    /// The most units of a block; the numbers in a block.
    pub block: u32,
    /// A piece of work: it uses the worker's units for so long, or a number in so long.
    pub work: Span,
}

/// What renters and the allocator say to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RentMessage {
    /// Give me a block, or keep and fill up mine.
    Ask,
    /// So many units, for so long from now; zero if there is none.
    Units(u32, Span),
    /// The numbers from the first up to and including the second.
    Numbers(u64, u64),
}

impl fmt::Display for RentMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RentMessage::Ask => f.write_str("a block, please"),
            RentMessage::Units(0, _) => f.write_str("no unit is free"),
            RentMessage::Units(units, span) => write!(f, "{units} units for {span} s"),
            RentMessage::Numbers(first, last) => write!(f, "numbers {first} to {last}"),
        }
    }
}

/// Hands out blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Allocator {
    /// Who has how many units, and until when on its own clock.
    granted: BTreeMap<WorkerId, (u32, Mono)>,
    /// How many numbers have been handed out.
    numbers: u64,
}

impl Allocator {
    pub(super) fn handle(&mut self, context: Context<'_>, terms: Terms, input: Input, actions: &mut Actions) {
        match input {
            Input::Message { from, message: Message::Rent(call, RentMessage::Ask, ..) } => {
                let Some(worker) = from.worker() else { return };
                let reply = match terms.rents {
                    Rents::Quota => self.grant(context, terms, worker, actions),
                    Rents::Ids => self.add(terms, worker, actions),
                };
                actions.send(from, Message::Rent(call, reply, labs_only()));
            }
            Input::Timer { key: TimerKey::LeaseExpiry, .. } => self.take_back(context, actions),
            _ => {}
        }
    }

    fn in_all(&self) -> u32 {
        self.granted.values().map(|(units, _)| units).sum()
    }

    fn grant(&mut self, context: Context<'_>, terms: Terms, worker: WorkerId, actions: &mut Actions) -> RentMessage {
        let has = self.granted.get(&worker).map_or(0, |(units, _)| *units);
        let free = terms.capacity.saturating_sub(self.in_all());
        let units = (has + free).min(terms.block);
        let lasts = context.settings.lease;
        if units > 0 {
            let until = context.mono() + lasts;
            self.granted.insert(worker, (units, until));
            actions.record(Kind::QuotaGranted { worker, units, until, in_all: self.in_all(), labs: labs_only() });
            self.set_timer(actions);
        }
        RentMessage::Units(units, lasts)
    }

    /// One atomic addition; the allocator does not remember who got what.
    fn add(&mut self, terms: Terms, worker: WorkerId, actions: &mut Actions) -> RentMessage {
        let first = self.numbers + 1;
        self.numbers += u64::from(terms.block);
        actions.record(Kind::IdsReserved { worker, first, last: self.numbers, labs: labs_only() });
        RentMessage::Numbers(first, self.numbers)
    }

    fn take_back(&mut self, context: Context<'_>, actions: &mut Actions) {
        let is_over = |(worker, (units, until)): (&WorkerId, &(u32, Mono))| {
            (*until <= context.mono()).then_some((*worker, *units))
        };
        let over: Vec<(WorkerId, u32)> = self.granted.iter().filter_map(is_over).collect();
        for (worker, units) in over {
            self.granted.remove(&worker);
            actions.record(Kind::QuotaExpired { worker, units, in_all: self.in_all(), labs: labs_only() });
        }
        self.set_timer(actions);
    }

    fn set_timer(&self, actions: &mut Actions) {
        if let Some(next) = self.granted.values().map(|(_, until)| *until).min() {
            actions.set_timer(TimerKey::LeaseExpiry, next);
        }
    }
}

/// Asks for blocks and uses them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Renter {
    worker: WorkerId,
    incarnation: u32,
    calls: u32,
    /// The call whose answer is awaited, and when it was sent.
    asked: Option<(CallId, Mono)>,
    /// Its units, and until when it begins to use them, on its own clock.
    units: Option<(u32, Mono)>,
    /// The numbers that it has not used yet: the next and the last.
    numbers: Option<(u64, u64)>,
    /// The units that it uses at present.
    uses: u32,
}

/// A renter that found nothing, or got no answer, asks again after this.
const ASKS_AGAIN: Span = Span::seconds(1);

impl Renter {
    pub(super) fn new(worker: WorkerId, incarnation: u32) -> Renter {
        Renter { worker, incarnation, calls: 0, asked: None, units: None, numbers: None, uses: 0 }
    }

    pub(super) fn handle(&mut self, context: Context<'_>, terms: Terms, input: Input, actions: &mut Actions) {
        match input {
            Input::Start => {
                if self.incarnation == 0 {
                    actions.record(Kind::Started);
                }
                self.ask(context, actions);
            }
            Input::Timer { key: TimerKey::Renewal | TimerKey::LockTimeout, .. } => self.ask(context, actions),
            Input::Timer { key: TimerKey::Work, .. } => self.work_done(context, terms, actions),
            Input::Message { message: Message::Rent(call, reply, ..), .. } => {
                let Some((_, sent)) = self.asked.take_if(|(asked, _)| *asked == call) else { return };
                actions.cancel_timer(TimerKey::LockTimeout);
                self.answered(context, terms, reply, sent, actions);
            }
            _ => {}
        }
    }

    fn ask(&mut self, context: Context<'_>, actions: &mut Actions) {
        self.calls += 1;
        let call = CallId { incarnation: self.incarnation, number: self.calls };
        self.asked = Some((call, context.mono()));
        actions.send(MachineId::Allocator, Message::Rent(call, RentMessage::Ask, labs_only()));
        actions.set_timer(TimerKey::LockTimeout, context.mono() + ASKS_AGAIN);
    }

    fn answered(&mut self, context: Context<'_>, terms: Terms, reply: RentMessage, sent: Mono, actions: &mut Actions) {
        match reply {
            RentMessage::Units(0, _) => actions.set_timer(TimerKey::LockTimeout, context.mono() + ASKS_AGAIN),
            RentMessage::Units(units, lasts) => {
                // As with any lease, its time counts from before it was asked for.
                self.units = Some((units, sent + lasts));
                actions.set_timer(TimerKey::Renewal, sent + context.settings.renew);
                self.begin_work(context, terms, actions);
            }
            RentMessage::Numbers(first, last) => {
                self.numbers = Some((first, last));
                self.begin_work(context, terms, actions);
            }
            RentMessage::Ask => {}
        }
    }

    fn begin_work(&mut self, context: Context<'_>, terms: Terms, actions: &mut Actions) {
        if self.uses > 0 {
            return;
        }
        match terms.rents {
            Rents::Quota => {
                let Some((units, until)) = self.units else { return };
                if context.mono() >= until {
                    self.units = None;
                    return;
                }
                self.uses = units;
                actions.record(Kind::UnitsUsed { worker: self.worker, units, labs: labs_only() });
            }
            Rents::Ids => match self.numbers {
                None => {
                    self.ask(context, actions);
                    return;
                }
                Some(_) => self.uses = 1,
            },
        }
        actions.set_timer(TimerKey::Work, context.mono() + terms.work);
    }

    fn work_done(&mut self, context: Context<'_>, terms: Terms, actions: &mut Actions) {
        let worker = self.worker;
        match (terms.rents, self.numbers) {
            (Rents::Quota, _) => actions.record(Kind::UnitsFree { worker, units: self.uses, labs: labs_only() }),
            (Rents::Ids, Some((id, last))) => {
                actions.record(Kind::IdUsed { worker, id, labs: labs_only() });
                self.numbers = (id < last).then_some((id + 1, last));
            }
            (Rents::Ids, None) => {}
        }
        self.uses = 0;
        self.begin_work(context, terms, actions);
    }
}
