//! The state machine that the log drives: revision, leases, keys.
//!
//! Deadlines are not part of it: they live in the leader's memory only.

use crate::consensus::log::Command;
use crate::machine::{JobId, WorkerId};
use crate::message::{Holder, KeyName, LeaseId, Token};
use crate::ordered_map::OrderedMap;
use crate::time::Span;

/// The lock service's replicated state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct LockState {
    /// Grows by one with each committed change of keys.
    pub revision: u64,
    /// All leases.
    pub leases: OrderedMap<LeaseId, Lease>,
    /// All keys.
    pub keys: OrderedMap<KeyName, Key>,
    /// How many changes of other tenants have been applied.
    pub tenant_puts: u32,
}

/// A lease.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lease {
    /// Its length.
    pub ttl: Span,
    /// The key that is bound to it.
    pub key: Option<KeyName>,
    /// What was left of it at the last checkpoint; `None`: nothing that the log knows of, so a new leader gives it its
    /// full length.
    pub remaining: Option<Span>,
}

/// A key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// The lease that it is bound to.
    pub lease: LeaseId,
    /// The revision at which it was created: the fencing token.
    pub created: Token,
}

impl Key {
    /// The worker that holds the lock.
    pub fn holder(&self) -> WorkerId {
        self.lease.worker
    }
}

/// What applying a command changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Applied {
    /// Nothing that anybody waits for.
    Nothing,
    /// A tenant's change, new or known already.
    Put {
        /// It was new and took a revision.
        new: bool,
    },
    /// The put has taken a revision, which is the token.
    Issued,
    /// The lease exists.
    LeaseExists,
    /// The key was created by this command, or by an earlier one of the same lease.
    Created {
        /// The token.
        token: Token,
        /// This command created it.
        new: bool,
    },
    /// Somebody else's key exists.
    Held(WorkerId, Token),
    /// The lease does not exist.
    LeaseNotFound,
    /// The lease has ended, and this key went with it.
    LeaseEnded(Option<Deleted>),
    /// A key was deleted that its lease outlives.
    KeyDeleted(Deleted),
}

/// A key that was deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deleted {
    /// Its name.
    pub name: KeyName,
    /// The lease that it was bound to.
    pub lease: LeaseId,
    /// Its create revision.
    pub token: Token,
    /// It was the lock; otherwise a candidate's place in the queue.
    pub held: bool,
    /// The key that is the lock now: the next candidate's.
    pub next: Option<(LeaseId, Token)>,
}

impl LockState {
    /// Applies one committed command.
    pub fn apply(&mut self, command: &Command) -> Applied {
        match *command {
            Command::Noop => Applied::Nothing,
            Command::TenantPut { number } => {
                let new = number > self.tenant_puts;
                if new {
                    self.tenant_puts = number;
                    self.revision += 1;
                }
                Applied::Put { new }
            }
            Command::IssueToken { .. } => {
                self.revision += 1;
                Applied::Issued
            }
            Command::GrantLease { lease, ttl } => {
                if self.leases.get(&lease).is_none() {
                    self.leases.insert(lease, Lease { ttl, key: None, remaining: None });
                }
                Applied::LeaseExists
            }
            Command::ExtendTtl { lease, ttl } => match self.leases.get_mut(&lease) {
                Some(lease) => {
                    lease.ttl = lease.ttl.max(ttl);
                    lease.remaining = None;
                    Applied::LeaseExists
                }
                None => Applied::LeaseNotFound,
            },
            Command::CreateKey { lease, key: name } => {
                let Some(record) = self.leases.get_mut(&lease) else { return Applied::LeaseNotFound };
                match self.keys.get(&name) {
                    Some(key) if key.lease == lease => Applied::Created { token: key.created, new: false },
                    Some(key) => Applied::Held(key.holder(), key.created),
                    None => {
                        self.revision += 1;
                        record.key = Some(name);
                        self.keys.insert(name, Key { lease, created: self.revision });
                        Applied::Created { token: self.revision, new: true }
                    }
                }
            }
            Command::Revoke { lease, .. } | Command::Expire { lease } => {
                let Some(record) = self.leases.remove(&lease) else { return Applied::LeaseNotFound };
                // Deletes only the key that is bound to this lease: who lost the lock cannot free the next holder's.
                Applied::LeaseEnded(record.key.and_then(|name| self.delete(name)))
            }
            Command::Checkpoint { lease, remaining } => match self.leases.get_mut(&lease) {
                Some(lease) => {
                    lease.remaining = remaining;
                    Applied::LeaseExists
                }
                None => Applied::LeaseNotFound,
            },
            Command::DeleteKey { key, .. } => match self.delete(key) {
                Some(deleted) => {
                    if let Some(lease) = self.leases.get_mut(&deleted.lease) {
                        lease.key = None;
                    }
                    Applied::KeyDeleted(deleted)
                }
                None => Applied::Nothing,
            },
            Command::Restore(ref state) => {
                *self = (**state).clone();
                Applied::Nothing
            }
        }
    }

    fn delete(&mut self, name: KeyName) -> Option<Deleted> {
        let held = self.lock(name.job).map(|key| key.created);
        let key = self.keys.remove(&name)?;
        self.revision += 1;
        let held = held == Some(key.created);
        let next = if held { self.lock(name.job).map(|key| (key.lease, key.created)) } else { None };
        Some(Deleted { name, lease: key.lease, token: key.created, held, next })
    }

    /// The key that is the job's lock: the plain one, or the oldest of its candidates'.
    pub fn lock(&self, job: JobId) -> Option<&Key> {
        match self.keys.get(&KeyName::lock(job)) {
            Some(key) => Some(key),
            None => self.candidate_keys(job).min_by_key(|key| key.created),
        }
    }

    fn candidate_keys(&self, job: JobId) -> impl Iterator<Item = &Key> {
        // The plain lock's name comes before those of the candidates.
        let from = self.keys.from(KeyName::lock(job));
        from.take_while(move |(name, _)| name.job == job)
            .filter(|(name, _)| name.candidate.is_some())
            .map(|(_, key)| key)
    }

    /// Whether the job has a key with this create revision.
    pub fn has_key_created_at(&self, job: JobId, created: Token) -> bool {
        let keys = self.keys.from(KeyName::lock(job)).take_while(|(name, _)| name.job == job);
        keys.into_iter().any(|(_, key)| key.created == created)
    }

    /// The keys of the job's candidates, the oldest first.
    pub fn candidates(&self, job: JobId) -> Vec<Holder> {
        let mut candidates: Vec<Holder> = Vec::new();
        for key in self.candidate_keys(job) {
            let place = candidates.partition_point(|other| other.token < key.created);
            candidates.insert(place, Holder { job, worker: key.holder(), token: key.created });
        }
        candidates
    }

    /// Who holds the job's lock.
    pub fn holder(&self, job: JobId) -> Option<Holder> {
        self.lock(job).map(|key| Holder { job, worker: key.holder(), token: key.created })
    }

    /// The state at `revision`, rebuilt from the commands of a log in order: as it was right after the change that
    /// made this revision; nothing if the commands do not reach it, or begin after it.
    pub fn at_revision<'a>(commands: impl Iterator<Item = &'a Command>, revision: u64) -> Option<LockState> {
        let mut state = LockState::default();
        for command in commands {
            // A log may begin with a snapshot; nothing is known of what was before.
            if state.revision >= revision && !matches!(command, Command::Restore(_)) {
                break;
            }
            state.apply(command);
        }
        (state.revision == revision).then_some(state)
    }

    /// The token of the key that is bound to `lease`, and the job that it belongs to.
    pub fn bound_to(&self, lease: LeaseId) -> Option<(JobId, Token)> {
        self.bound_by(self.leases.get(&lease)?)
    }

    /// The same for the lease itself.
    pub fn bound_by(&self, lease: &Lease) -> Option<(JobId, Token)> {
        let name = lease.key?;
        Some((name.job, self.keys.get(&name)?.created))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TTL: Span = Span::seconds(10);

    fn lease(worker: WorkerId, number: u32) -> LeaseId {
        LeaseId { worker, incarnation: 0, number }
    }

    #[test]
    fn only_changes_of_keys_take_a_revision() {
        let (a, b) = (lease(WorkerId::A, 1), lease(WorkerId::B, 1));
        let mut state = LockState::default();
        for (command, revision) in [
            (Command::TenantPut { number: 1 }, 1),
            (Command::TenantPut { number: 1 }, 1),
            (Command::Noop, 1),
            (Command::GrantLease { lease: a, ttl: TTL }, 1),
            (Command::CreateKey { lease: a, key: KeyName::default() }, 2),
            (Command::CreateKey { lease: a, key: KeyName::default() }, 2),
            (Command::GrantLease { lease: b, ttl: TTL }, 2),
            (Command::CreateKey { lease: b, key: KeyName::default() }, 2),
            (Command::Revoke { lease: b, by: WorkerId::B }, 2),
            (Command::Expire { lease: a }, 3),
            (Command::Expire { lease: a }, 3),
        ] {
            state.apply(&command);
            assert_eq!(state.revision, revision, "after {command}");
        }
    }

    #[test]
    fn a_lost_lease_cannot_free_the_next_holders_key() {
        let (a, b) = (lease(WorkerId::A, 1), lease(WorkerId::B, 1));
        let mut state = LockState::default();
        state.apply(&Command::GrantLease { lease: a, ttl: TTL });
        state.apply(&Command::CreateKey { lease: a, key: KeyName::default() });
        state.apply(&Command::Expire { lease: a });
        state.apply(&Command::GrantLease { lease: b, ttl: TTL });
        state.apply(&Command::CreateKey { lease: b, key: KeyName::default() });
        assert_eq!(state.apply(&Command::Revoke { lease: a, by: WorkerId::A }), Applied::LeaseNotFound);
        assert_eq!(state.lock(JobId::FIRST).map(Key::holder), Some(WorkerId::B));
    }
}
