//! Several workers want one job, and no lock service decides: a database or a broker that they have anyway does.
//!
//! Four ways: a unique key, compare-and-set on a version, a row lock that others skip, and a partition that has one
//! consumer.
//!
//! Where things are: `judge` is the side that decides, `contestant` the worker's.

mod contestant;
mod judge;

pub use contestant::Contestant;
pub use judge::Judge;

use crate::machine::WorkerId;
use crate::time::Span;

/// How one winner is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Way {
    /// INSERT a row whose key only one can have.
    #[default]
    UniqueKey,
    /// UPDATE the job's row on condition of the version that was read.
    Version,
    /// SELECT … FOR UPDATE SKIP LOCKED: the row lock lasts as long as the session.
    SkipLocked,
    /// A partition is assigned to one consumer of a group.
    Partition,
}

/// A contest for one job.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Contest {
    /// How the winner is found.
    pub way: Way,
    /// How long the work takes.
    pub work: Span,
    /// How long one that did not win waits before it tries again; members of a group report as often.
    pub every: Span,
    /// After how long without a report a member is taken for dead.
    pub session_timeout: Span,
}

/// What the judge is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Request {
    /// INSERT the claim, ON CONFLICT DO NOTHING.
    InsertClaim,
    /// SELECT the job's state and version.
    SelectVersion,
    /// UPDATE the job on condition that this is its version, and raise the version by 1.
    TakeVersion(u32),
    /// BEGIN; SELECT the queued job FOR UPDATE SKIP LOCKED.
    SelectSkipLocked,
    /// A member of the group joins, or reports that it lives.
    Report,
    /// The work is done: record it, under the right that the winner got.
    Record(Right),
}

/// What a winner got, and what recording its work is conditional on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Right {
    /// Its claim has the key.
    Key,
    /// The row has this version.
    Version(u32),
    /// Its session holds the row lock.
    Session,
    /// Its group is in this generation.
    Generation(u32),
}

/// What the judge answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reply {
    /// The asker has won.
    Won(Right),
    /// Somebody else has; who, if the answer says so.
    Lost(Option<WorkerId>),
    /// The job waits and has this version.
    Version(u32),
    /// The job is done; there is nothing to do.
    NothingToDo,
    /// The work is recorded.
    Recorded,
    /// It is not: the right is over.
    Refused,
}
