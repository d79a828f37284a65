//! The store: what is protected, and where the token is checked.
//!
//! Where things are: one file for each kind of store; each evaluates the requests that it is sent.
//! `update` is what conditional writes of a row have in common, `ranges` are sets of invoices.

pub mod dynamodb;
pub mod ranges;
mod row;
pub mod s3;
pub mod sessions;
pub mod sql;
pub mod update;

use std::fmt;

use litemap::LiteMap;
use serde::Serialize;

use crate::actor::{Actions, Context, Input};
use crate::contest::Judge;
use crate::labs_only::LabsOnly;
use crate::machine::JobId;
use crate::message::{Claim, Token};
use crate::settings::{Plan, StoreKind};
use crate::time::Wall;
use dynamodb::DynamoStore;
use row::RowStore;
use s3::S3Store;
use sql::SqlStore;

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
    /// An SQL database.
    Sql(LabsOnly<SqlStore>),
    /// A DynamoDB table.
    DynamoDb(LabsOnly<DynamoStore>),
    /// An S3 bucket.
    S3(LabsOnly<S3Store>),
    /// A database or a broker that finds one winner by itself.
    Contest(LabsOnly<Judge>),
}

impl Store {
    /// A store in which every job is queued.
    pub fn new(plan: &Plan) -> Store {
        if plan.contest.is_some() {
            return Store::Contest(LabsOnly::new(|| Judge::new(plan)));
        }
        match plan.store {
            StoreKind::Row => Store::Row(RowStore::new(plan)),
            StoreKind::Sql => Store::Sql(LabsOnly::new(|| SqlStore::new(plan))),
            StoreKind::DynamoDb => Store::DynamoDb(LabsOnly::new(|| DynamoStore::new(plan))),
            StoreKind::S3 => Store::S3(LabsOnly::new(|| S3Store::new(plan))),
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
            Store::Sql(store) => store.row(job),
            Store::DynamoDb(store) => store.row(job),
            Store::S3(store) => store.row(job),
            Store::Contest(judge) => job.is_first().then(|| judge.row()),
        }
    }

    /// Takes one input.
    pub fn handle(&mut self, context: Context<'_>, input: Input, actions: &mut Actions) {
        match self {
            Store::Row(store) => store.handle(context, input, actions),
            Store::Sql(store) => store.handle(context, input, actions),
            Store::DynamoDb(store) => store.handle(context, input, actions),
            Store::S3(store) => store.handle(context, input, actions),
            Store::Contest(judge) => judge.handle(context, input, actions),
        }
    }

    /// Its process dies; what is on its disk stays.
    pub fn crash(&mut self) {
        match self {
            Store::Sql(store) => store.crash(),
            Store::S3(store) => store.crash(),
            Store::Contest(judge) => judge.crash(),
            Store::Row(_) | Store::DynamoDb(_) => {}
        }
    }

    /// How many invoices of the first job are charged, each counted once, and how many of them more than once.
    pub fn charged(&self, invoices_per_chunk: u32) -> (u64, u64) {
        if let Store::DynamoDb(store) = self {
            return store.invoices(JobId::FIRST).fold((0, 0), |(once, twice), (_, invoices)| {
                (once + u64::from(invoices.there.len()), twice + u64::from(invoices.again.len()))
            });
        }
        let per_chunk = u64::from(invoices_per_chunk);
        let Some(row) = self.row() else { return (0, 0) };
        let twice = row.chunks.values().filter(|tokens| tokens.len() > 1).count() as u64;
        (u64::from(row.chunks_recorded()) * per_chunk, twice * per_chunk)
    }
}

/// Every job's row before the run: queued, with the chunks that were recorded before.
fn rows_at_start(plan: &Plan) -> Vec<Row> {
    let mut row = Row::default();
    for chunk in 1..=plan.stores.chunks_before {
        row.chunks.insert(chunk, vec![row.fence]);
    }
    vec![row; usize::from(plan.jobs)]
}

/// A row's entry in the sparse index, if it is claimed.
fn claim(job: JobId, owner: Option<Token>, claimed_since: Option<Wall>, fence: Token) -> Option<Claim> {
    Some(Claim { job, owner: claimed_since.and(owner)?, fence })
}

/// The sparse index: the rows that are claimed, in the order of the jobs.
fn claims<'a>(rows: impl Iterator<Item = &'a Row>) -> Vec<Claim> {
    let claims =
        rows.zip(0..).filter_map(|(row, number)| claim(JobId(number), row.owner_token, row.claimed_since, row.fence));
    claims.collect()
}
