//! The deadlines in a leader's memory, with the earliest always at hand.

use std::collections::VecDeque;

use crate::message::LeaseId;
use crate::ordered_map::OrderedMap;
use crate::time::Mono;

/// Deadlines of leases, on the leader's monotonic clock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Deadlines {
    of: OrderedMap<LeaseId, Deadline>,
    /// Every deadline that was set, in order; one that was moved or removed since is skipped when its turn comes.
    /// Leases of one length are renewed in order, so a new deadline almost always belongs at the end.
    order: VecDeque<(Mono, LeaseId)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Deadline {
    at: Mono,
    /// The expiry is in the log but not applied: the lease is not renewed any more.
    expiring: bool,
}

impl Deadlines {
    /// A lease's deadline.
    pub(super) fn get(&self, lease: LeaseId) -> Option<Mono> {
        self.of.get(&lease).map(|deadline| deadline.at)
    }

    /// Whether the lease has time left and is not about to end.
    pub(super) fn runs(&self, lease: LeaseId, now: Mono) -> bool {
        self.of.get(&lease).is_some_and(|deadline| !deadline.expiring && deadline.at > now)
    }

    /// Moves the deadline of a lease to `at`, but never back; returns where it is then.
    pub(super) fn renew(&mut self, lease: LeaseId, at: Mono) -> Mono {
        let Some(deadline) = self.of.get_mut(&lease) else { return at };
        // A renewal that was held up on its way must not take back what a later one has promised.
        deadline.at = deadline.at.max(at);
        let at = deadline.at;
        self.note(lease, at);
        at
    }

    /// Whether its expiry is in the log.
    pub(super) fn is_expiring(&self, lease: LeaseId) -> bool {
        self.of.get(&lease).is_some_and(|deadline| deadline.expiring)
    }

    /// Sets or moves a deadline.
    pub(super) fn set(&mut self, lease: LeaseId, at: Mono) {
        let expiring = self.is_expiring(lease);
        self.of.insert(lease, Deadline { at, expiring });
        self.note(lease, at);
    }

    fn note(&mut self, lease: LeaseId, at: Mono) {
        let entry = (at, lease);
        if self.order.back().is_none_or(|last| *last <= entry) {
            self.order.push_back(entry);
        } else {
            let place = self.order.partition_point(|other| *other <= entry);
            self.order.insert(place, entry);
        }
    }

    /// Forgets a lease.
    pub(super) fn remove(&mut self, lease: LeaseId) {
        self.of.remove(&lease);
    }

    /// The earliest deadline of a lease whose expiry is not in the log yet.
    pub(super) fn earliest(&mut self) -> Option<Mono> {
        while let Some((at, lease)) = self.order.front().copied() {
            if self.of.get(&lease) == Some(&Deadline { at, expiring: false }) {
                return Some(at);
            }
            self.order.pop_front();
        }
        None
    }

    /// The leases whose deadline has passed, in the order of their names; from now on they are expiring.
    pub(super) fn take_due(&mut self, now: Mono) -> Vec<LeaseId> {
        let mut due = Vec::new();
        while self.earliest().is_some_and(|at| at <= now) {
            let Some((_, lease)) = self.order.pop_front() else { break };
            if let Some(deadline) = self.of.get_mut(&lease) {
                deadline.expiring = true;
            }
            let place = due.partition_point(|other| *other < lease);
            due.insert(place, lease);
        }
        due
    }

    /// All of them, in the order of the leases.
    pub(super) fn iter(&self) -> impl Iterator<Item = (LeaseId, Mono)> + '_ {
        self.of.iter().map(|(lease, deadline)| (*lease, deadline.at))
    }
}
