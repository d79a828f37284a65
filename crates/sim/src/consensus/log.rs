//! Entries of the replicated log.

use std::fmt;

use crate::consensus::state::LockState;
use crate::machine::WorkerId;
use crate::message::{KeyName, LeaseId};
use crate::time::Span;

/// One entry; its index is its place in the log, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    /// The term of the leader that made it.
    pub term: u32,
    /// What it changes.
    pub command: Command,
}

/// A change of the lock service's state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// Changes nothing: a new leader commits one to learn how far the log is committed (Raft, 8).
    Noop,
    /// Another tenant's change.
    TenantPut {
        /// Which one, counted from 1.
        number: u32,
    },
    /// A put whose revision is a token for a grant of another service.
    IssueToken {
        /// The other service's name for that grant.
        lease: LeaseId,
    },
    /// A lease exists.
    GrantLease {
        /// The lease.
        lease: LeaseId,
        /// Its length.
        ttl: Span,
    },
    /// A lease is longer from now on.
    ExtendTtl {
        /// The lease.
        lease: LeaseId,
        /// Its length.
        ttl: Span,
    },
    /// Create the key if it does not exist and the lease does.
    CreateKey {
        /// The lease that it is bound to.
        lease: LeaseId,
        /// The key.
        key: KeyName,
    },
    /// End a lease at its holder's wish.
    Revoke {
        /// The lease.
        lease: LeaseId,
        /// Who asked for it.
        by: WorkerId,
    },
    /// End a lease whose deadline has passed.
    Expire {
        /// The lease.
        lease: LeaseId,
    },
    /// A new leader shall restart the lease with so much time; `None`: at full length.
    Checkpoint {
        /// The lease.
        lease: LeaseId,
        /// What was left of it.
        remaining: Option<Span>,
    },
    /// Delete the key, whosever it is.
    DeleteKey {
        /// The key.
        key: KeyName,
        /// Who asked for it.
        by: WorkerId,
    },
    /// All state comes from a snapshot: the first entry of a new history.
    Restore(Box<LockState>),
}

impl Command {
    /// The worker that the change is about.
    pub fn worker(&self) -> Option<WorkerId> {
        match self {
            Command::Noop | Command::TenantPut { .. } | Command::Restore(_) => None,
            Command::DeleteKey { by, .. } => Some(*by),
            Command::IssueToken { lease }
            | Command::GrantLease { lease, .. }
            | Command::ExtendTtl { lease, .. }
            | Command::CreateKey { lease, .. }
            | Command::Revoke { lease, .. }
            | Command::Checkpoint { lease, .. }
            | Command::Expire { lease } => Some(lease.worker),
        }
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Command::Noop => f.write_str("no-op"),
            Command::TenantPut { number } => write!(f, "other tenant's put {number}"),
            Command::GrantLease { lease, ttl } if *ttl == Span::FOREVER => write!(f, "lock {lease} without a lease"),
            Command::IssueToken { lease } => write!(f, "put {lease}"),
            Command::GrantLease { lease, ttl } => write!(f, "grant lease {lease} for {ttl} s"),
            Command::ExtendTtl { lease, ttl } => write!(f, "extend lease {lease} to {ttl} s"),
            Command::CreateKey { lease, key: KeyName { candidate: Some(_), .. } } => {
                write!(f, "create candidate’s key with lease {lease}")
            }
            Command::CreateKey { lease, .. } => write!(f, "create key with lease {lease}"),
            Command::Revoke { lease, .. } => write!(f, "revoke lease {lease}"),
            Command::Expire { lease } => write!(f, "expire lease {lease}"),
            Command::Checkpoint { lease, remaining: Some(left) } => write!(f, "lease {lease} has {left} s left"),
            Command::Checkpoint { lease, remaining: None } => write!(f, "lease {lease} has its full length left"),
            Command::DeleteKey { by, .. } => write!(f, "delete the key for {by}"),
            Command::Restore(state) => write!(f, "snapshot of revision {}", state.revision),
        }
    }
}
