//! The store: what is protected, and where the token is checked.
//!
//! Where things are: one file for each kind of store; each evaluates the requests that it is sent.

mod row;

use std::fmt;

use litemap::LiteMap;
use serde::Serialize;

use crate::actor::{Actions, Context, Input};
use crate::machine::JobId;
use crate::message::Token;
use crate::settings::{Plan, StoreKind};
use crate::time::Wall;
use row::RowStore;

/// The state of the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum RowState {
    /// Waits for a worker.
    Queued,
    /// Claimed by a holder.
    Running,
    /// Finished.
    Done,
}

impl fmt::Display for RowState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RowState::Queued => "QUEUED",
            RowState::Running => "RUNNING",
            RowState::Done => "DONE",
        })
    }
}

/// A job's row, as a worker gets to see it on every kind of store.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Row {
    /// The state.
    pub state: RowState,
    /// The highest token that the store has accepted.
    pub fence: Token,
    /// The token that claimed the row.
    pub owner_token: Option<Token>,
    /// Since when it is claimed, on the store's wall clock.
    /// Present only while it is claimed: the sparse index holds exactly the rows that have it.
    pub claimed_since: Option<Wall>,
    /// Which tokens recorded each chunk; more than one entry means that its invoices were charged again.
    pub chunks: LiteMap<u8, Vec<Token>>,
}

impl Row {
    /// How many chunks have been recorded at least once.
    pub fn chunks_recorded(&self) -> u8 {
        self.chunks.len() as u8
    }
}

impl Default for Row {
    fn default() -> Row {
        Row { state: RowState::Queued, fence: 0, owner_token: None, claimed_since: None, chunks: LiteMap::new() }
    }
}

/// The store's logic and its durable state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Store {
    /// One row for each job.
    Row(RowStore),
}

impl Store {
    /// A store in which every job is queued.
    pub fn new(plan: &Plan) -> Store {
        match plan.store {
            StoreKind::Row | StoreKind::Sql | StoreKind::DynamoDb | StoreKind::S3 => {
                Store::Row(RowStore::new(plan.jobs))
            }
        }
    }

    /// The first job's row, for snapshots and observers.
    pub fn row(&self) -> Option<&Row> {
        self.row_of(JobId::FIRST)
    }

    /// A job's row, for snapshots and observers.
    pub fn row_of(&self, job: JobId) -> Option<&Row> {
        match self {
            Store::Row(store) => store.row(job),
        }
    }

    /// Takes one input.
    pub fn handle(&mut self, context: Context<'_>, input: Input, actions: &mut Actions) {
        match self {
            Store::Row(store) => store.handle(context, input, actions),
        }
    }
}
