//! What clients say to a Redis server, and what a primary and its replica say to each other.

use std::fmt;

use super::data::{Data, Effect};
use crate::machine::{JobId, MachineId, WorkerId};
use crate::message::{KeyName, LeaseId, NO_TOKEN, Token};
use crate::time::{Mono, Span};

/// What a client asks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RedisRequest {
    /// `SET key value NX PX ttl`; with a number, `INCR` in the same script if the key was set.
    SetIfAbsent {
        /// The key.
        key: KeyName,
        /// Its value.
        value: LeaseId,
        /// How long it lives.
        ttl: Span,
        /// Whether the counter grows with it.
        numbered: bool,
        /// The stop time that the sender will use if this succeeds.
        /// It is here so that the trace can show it; no server reads it.
        stop_on_holder: Mono,
    },
    /// A script: if the key has this value, `PEXPIRE key ttl GT`, which never takes back what was given.
    Extend {
        /// The key.
        key: KeyName,
        /// The value that it must have.
        value: LeaseId,
        /// How long it lives from now on.
        ttl: Span,
        /// As in `SetIfAbsent`.
        stop_on_holder: Mono,
    },
    /// A script: if the key has this value, `DEL key`.
    DeleteIfMine {
        /// The key.
        key: KeyName,
        /// The value that it must have.
        value: LeaseId,
    },
    /// `DEL key`, whoever's it is: the wrong way to release.
    Delete {
        /// The key.
        key: KeyName,
    },
    /// `MGET`: the values of the locks of these jobs.
    Get {
        /// The jobs, in order.
        jobs: Vec<JobId>,
    },
    /// `INCR counter`: another tenant's.
    Increment,
    /// `WAIT replicas timeout`: how many replicas have all that this server has done so far?
    Wait {
        /// How many are waited for.
        replicas: u8,
        /// For how long.
        timeout: Span,
    },
}

/// What a server answers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RedisReply {
    /// The key is set, and this is the number that came with it.
    Set(Token),
    /// The key exists already and has somebody's value.
    Held(WorkerId),
    /// The key lives longer now.
    Extended,
    /// The key is deleted.
    Deleted,
    /// The key does not exist or has another value.
    NotMine,
    /// The locks that are held.
    Values(Vec<Found>),
    /// The counter.
    Counter(u64),
    /// So many replicas have acknowledged.
    Acknowledged(u8),
    /// This server is a replica and takes no commands of clients.
    ReadOnly,
}

/// A lock that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Found {
    /// The job.
    pub job: JobId,
    /// The value of its key.
    pub value: LeaseId,
}

/// A primary's run: offsets count commands within one; after a restart or a promotion there is a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct History {
    /// The primary.
    pub of: MachineId,
    /// Which run of it, counted from 0.
    pub run: u32,
}

/// What a primary and its replica say to each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Replication {
    /// From the primary: the commands after that offset.
    Commands {
        /// The run that they belong to.
        history: History,
        /// The offset before the first.
        after: u64,
        /// What they change.
        effects: Vec<Effect>,
    },
    /// From the primary: everything, for a replica whose history is another.
    Full {
        /// The run that the offset belongs to.
        history: History,
        /// How far it goes.
        offset: u64,
        /// The data.
        data: Data,
    },
    /// From the replica: how far it has come.
    Acknowledge {
        /// The run that the offset belongs to; nothing if it has lost its place.
        history: Option<History>,
        /// How far it has come.
        offset: u64,
        /// It is the monitor's ping, and wants an answer.
        ping: bool,
    },
    /// From a promoted replica's monitor: you are the replica now.
    Demote {
        /// The number of promotions that there have been.
        epoch: u32,
    },
}

impl Replication {
    /// Whether it only says that its sender lives.
    pub fn is_background(&self) -> bool {
        match self {
            Replication::Commands { effects, .. } => effects.is_empty(),
            Replication::Acknowledge { ping, .. } => *ping,
            Replication::Demote { .. } => true,
            Replication::Full { .. } => false,
        }
    }
}

impl fmt::Display for RedisRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RedisRequest::SetIfAbsent { value, ttl, numbered: true, .. } => {
                write!(f, "SET NX PX {} by {value}, INCR", ttl.as_micros() / 1_000)
            }
            RedisRequest::SetIfAbsent { value, ttl, .. } => {
                write!(f, "SET NX PX {} by {value}", ttl.as_micros() / 1_000)
            }
            RedisRequest::Extend { value, ttl, .. } => {
                write!(f, "if {value}: PEXPIRE {}", ttl.as_micros() / 1_000)
            }
            RedisRequest::DeleteIfMine { value, .. } => write!(f, "if {value}: DEL"),
            RedisRequest::Delete { .. } => f.write_str("DEL"),
            RedisRequest::Get { jobs } if jobs.len() == 1 => f.write_str("GET"),
            RedisRequest::Get { jobs } => write!(f, "MGET of {} keys", jobs.len()),
            RedisRequest::Increment => f.write_str("INCR"),
            RedisRequest::Wait { replicas, timeout } => {
                write!(f, "WAIT {replicas} {}", timeout.as_micros() / 1_000)
            }
        }
    }
}

impl fmt::Display for RedisReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RedisReply::Set(NO_TOKEN) => f.write_str("OK"),
            RedisReply::Set(token) => write!(f, "OK, {token}"),
            RedisReply::Held(holder) => write!(f, "no, {holder} has it"),
            RedisReply::Extended => f.write_str("1: extended"),
            RedisReply::Deleted => f.write_str("1: deleted"),
            RedisReply::NotMine => f.write_str("0: not yours"),
            RedisReply::Values(found) => match found[..] {
                [] => f.write_str("nobody holds it"),
                [Found { value, .. }] => write!(f, "{value}"),
                _ => write!(f, "{} are held", found.len()),
            },
            RedisReply::Counter(count) => write!(f, "{count}"),
            RedisReply::Acknowledged(count) => write!(f, "{count} acknowledged"),
            RedisReply::ReadOnly => f.write_str("READONLY: a replica"),
        }
    }
}

impl fmt::Display for Replication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Replication::Commands { effects, .. } if effects.is_empty() => f.write_str("pong"),
            Replication::Commands { after, effects, .. } => match effects.len() {
                1 => write!(f, "command {}", after + 1),
                count => write!(f, "commands {}–{}", after + 1, after + count as u64),
            },
            Replication::Full { offset, .. } => write!(f, "full copy up to {offset}"),
            Replication::Acknowledge { ping: true, .. } => f.write_str("ping"),
            Replication::Acknowledge { offset, .. } => write!(f, "has {offset}"),
            Replication::Demote { epoch } => write!(f, "you are the replica, epoch {epoch}"),
        }
    }
}
