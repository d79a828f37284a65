//! What a Redis server keeps: keys with a value and an expiry, and one counter.

use litemap::LiteMap;

use crate::machine::{JobId, WorkerId};
use crate::message::{KeyName, LeaseId, Token};
use crate::time::Wall;

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    /// Its value: different for each acquisition, so that nobody takes another's key for their own.
    pub value: LeaseId,
    /// The number that came with it, or [`NO_TOKEN`](crate::message::NO_TOKEN).
    /// It is here so that the trace can show it; no client reads it.
    pub token: Token,
    /// When it expires: an absolute time on the server's own wall clock.
    pub expires: Wall,
}

impl Entry {
    /// The worker that set it.
    pub fn holder(&self) -> WorkerId {
        self.value.worker
    }
}

/// What a command changed, as it is written to the disk and shipped to the replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// `SET key value PXAT expires`.
    Set(KeyName, Entry),
    /// `PEXPIREAT key expires`.
    Expire(KeyName, Wall),
    /// `DEL key`.
    Delete(KeyName),
    /// `INCR counter`.
    Increment,
}

/// The whole data set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Data {
    /// The keys of locks.
    pub keys: LiteMap<KeyName, Entry>,
    /// The counter of tokens.
    pub counter: u64,
}

impl Data {
    /// Carries out what a command changes.
    pub fn apply(&mut self, effect: Effect) {
        match effect {
            Effect::Set(key, entry) => {
                self.keys.insert(key, entry);
            }
            Effect::Expire(key, expires) => {
                if let Some(entry) = self.keys.get_mut(&key) {
                    entry.expires = expires;
                }
            }
            Effect::Delete(key) => {
                self.keys.remove(&key);
            }
            Effect::Increment => self.counter += 1,
        }
    }

    /// The key of a plain lock.
    pub fn lock(&self, job: JobId) -> Option<&Entry> {
        self.keys.get(&KeyName::lock(job))
    }

    /// The earliest expiry of a key.
    pub fn first_expiry(&self) -> Option<Wall> {
        self.keys.values().map(|entry| entry.expires).min()
    }

    /// A key that has expired at `wall`.
    pub fn expired(&self, wall: Wall) -> Option<(KeyName, Entry)> {
        self.keys.iter().find(|(_, entry)| entry.expires <= wall).map(|(key, entry)| (*key, *entry))
    }

    /// The values of all keys.
    pub fn values(&self) -> Vec<LeaseId> {
        self.keys.values().map(|entry| entry.value).collect()
    }
}
