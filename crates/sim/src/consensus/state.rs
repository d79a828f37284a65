//! The state machine that the log drives: revision, leases, the key.
//!
//! Deadlines are not part of it: they live in the leader's memory only.

use std::collections::BTreeMap;

use crate::consensus::log::Command;
use crate::machine::{JobId, WorkerId};
use crate::message::{Holder, KeyName, LeaseId, Token};
use crate::time::Span;

/// The lock service's replicated state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct LockState {
    /// Grows by one with each committed change of keys.
    pub revision: u64,
    /// All leases.
    pub leases: BTreeMap<LeaseId, Lease>,
    /// All keys.
    pub keys: BTreeMap<KeyName, Key>,
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
    /// The lease has ended.
    LeaseEnded {
        /// The job that the key belonged to.
        job: JobId,
        /// The token of the key that went with it.
        token: Option<Token>,
    },
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
            Command::GrantLease { lease, ttl } => {
                self.leases.entry(lease).or_insert(Lease { ttl, key: None });
                Applied::LeaseExists
            }
            Command::ExtendTtl { lease, ttl } => match self.leases.get_mut(&lease) {
                Some(lease) => {
                    lease.ttl = lease.ttl.max(ttl);
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
                let name = record.key.unwrap_or_default();
                let token = record.key.and_then(|name| self.keys.remove(&name)).map(|key| key.created);
                self.revision += u64::from(token.is_some());
                Applied::LeaseEnded { job: name.job, token }
            }
        }
    }

    /// The key of a job's plain lock.
    pub fn lock(&self, job: JobId) -> Option<&Key> {
        self.keys.get(&KeyName::lock(job))
    }

    /// Who holds a job's plain lock.
    pub fn holder(&self, job: JobId) -> Option<Holder> {
        self.lock(job).map(|key| Holder { job, worker: key.holder(), token: key.created })
    }

    /// The token of the key that is bound to `lease`, and the job that it belongs to.
    pub fn bound_to(&self, lease: LeaseId) -> Option<(JobId, Token)> {
        let name = self.leases.get(&lease)?.key?;
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
