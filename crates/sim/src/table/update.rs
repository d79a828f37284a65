//! A conditional write to a lease item: what it compares and what it changes.
//!
//! What a reader sees of a request is printed from the same lists that are evaluated here.

use std::fmt;

use serde::{Serialize, Serializer};

use super::Item;
use crate::machine::WorkerId;
use crate::message::{LeaseId, Token};
use crate::time::{Mono, Span, Wall};

/// A record version number: made up by the client that writes it, never twice the same, and never larger or smaller
/// than another.
/// Real clients take a random UUID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rvn {
    /// The worker that wrote it.
    pub worker: WorkerId,
    /// Which process of that worker, counted from 0.
    pub incarnation: u32,
    /// Which write of that process, counted from 1.
    pub number: u32,
}

impl fmt::Display for Rvn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.worker)?;
        if self.incarnation > 0 {
            write!(f, "{}", self.incarnation)?;
        }
        write!(f, "-v{}", self.number)
    }
}

impl Serialize for Rvn {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// One comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    /// Nobody holds it: `attribute_not_exists(holder)`.
    NoHolder,
    /// `lease_until < :before`.
    UntilBefore(Wall),
    /// `lease_until < now()`, on the storage's clock.
    UntilBeforeNow,
    /// `holder = :me`.
    HolderIs(WorkerId),
    /// `epoch = :e`.
    EpochIs(Token),
    /// `rvn = :seen`.
    RvnIs(Rvn),
}

/// Several comparisons.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Condition {
    /// At least one must hold.
    Any(Vec<Term>),
    /// All must hold.
    All(Vec<Term>),
}

/// One change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// `holder = :me`.
    Holder(WorkerId),
    /// `lease_until = :until`.
    Until(Wall),
    /// `lease_until = now() + …`, on the storage's clock.
    UntilNowPlus(Span),
    /// The length of the lease.
    Lease(Span),
    /// `rvn = :rvn`.
    Rvn(Rvn),
    /// `epoch = if_not_exists(epoch, 0) + 1`.
    NextEpoch,
    /// The item has no holder any more.
    NoHolder,
}

/// A conditional write.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Update {
    /// On which condition.
    pub condition: Condition,
    /// What it changes.
    pub changes: Vec<Change>,
    /// The claim that it is about, for the trace.
    pub lease: LeaseId,
    /// The stop time that the sender will use if this succeeds, for the trace: nothing is compared with it.
    pub stop_on_holder: Mono,
}

impl Condition {
    /// The comparisons, and what joins them.
    pub fn terms(&self) -> (&[Term], &'static str) {
        match self {
            Condition::Any(terms) => (terms, " OR "),
            Condition::All(terms) => (terms, " AND "),
        }
    }

    /// The condition as DynamoDB spells it, or SQL.
    pub fn text(&self, sql: bool) -> String {
        let (terms, joint) = self.terms();
        let texts: Vec<String> = terms.iter().map(|term| term.text(sql)).collect();
        texts.join(joint)
    }

    /// Whether the item is as the condition wants it; `now` is the storage's own wall clock.
    pub fn holds(&self, item: Option<&Item>, now: Wall) -> bool {
        match self {
            Condition::Any(terms) => terms.iter().any(|term| term.holds(item, now)),
            Condition::All(terms) => terms.iter().all(|term| term.holds(item, now)),
        }
    }
}

impl Term {
    fn text(self, sql: bool) -> String {
        let text = match self {
            Term::NoHolder if sql => "leases.holder IS NULL",
            Term::NoHolder => "attribute_not_exists(holder)",
            Term::UntilBeforeNow => "leases.lease_until < now()",
            // In an insert that turns into an update, a bare column could be of either.
            Term::UntilBefore(wall) if sql => return format!("leases.lease_until < {wall}"),
            Term::HolderIs(worker) if sql => return format!("leases.holder = '{worker}'"),
            Term::EpochIs(epoch) if sql => return format!("leases.epoch = {epoch}"),
            Term::RvnIs(rvn) if sql => return format!("leases.rvn = '{rvn}'"),
            Term::UntilBefore(_) => "lease_until < :before",
            Term::HolderIs(_) => "holder = :me",
            Term::EpochIs(_) => "epoch = :e",
            Term::RvnIs(_) => "rvn = :seen",
        };
        text.into()
    }

    /// A comparison with what does not exist never holds.
    fn holds(self, item: Option<&Item>, now: Wall) -> bool {
        let has = |wanted: fn(&Item) -> bool| item.is_some_and(wanted);
        match self {
            Term::NoHolder => !has(|item| item.holder.is_some()),
            Term::UntilBefore(wall) => item.is_some_and(|item| item.lease_until < wall),
            Term::UntilBeforeNow => item.is_some_and(|item| item.lease_until < now),
            Term::HolderIs(worker) => item.and_then(|item| item.holder).is_some_and(|holder| holder.worker == worker),
            Term::EpochIs(epoch) => item.is_some_and(|item| item.epoch == epoch),
            Term::RvnIs(rvn) => item.is_some_and(|item| item.rvn == Some(rvn)),
        }
    }
}

impl Update {
    /// Whether it makes its sender the holder.
    pub fn claims(&self) -> bool {
        self.changes.contains(&Change::NextEpoch)
    }

    /// Whether it keeps its sender the holder.
    pub fn renews(&self) -> bool {
        !self.claims() && !self.changes.contains(&Change::NoHolder)
    }

    /// The item after the change; `now` is the storage's own wall clock.
    pub(super) fn applied_to(&self, before: Option<&Item>, now: Wall) -> Item {
        let mut item = before.cloned().unwrap_or_default();
        for change in &self.changes {
            match change {
                Change::Holder(_) => item.holder = Some(self.lease),
                Change::Until(wall) => item.lease_until = *wall,
                Change::UntilNowPlus(span) => item.lease_until = now + *span,
                Change::Lease(span) => item.lease = *span,
                Change::Rvn(rvn) => item.rvn = Some(*rvn),
                Change::NextEpoch => item.epoch += 1,
                Change::NoHolder => item.holder = None,
            }
        }
        item
    }
}
