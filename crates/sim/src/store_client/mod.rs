//! The clients' side of the stores: one client library for each kind of store, behind one face.
//!
//! A worker asks its [`StoreClient`] to raise the fence, to write a chunk, to set DONE; the client turns that into the
//! requests that its kind of store knows, one or several, and gives back what came of it as a [`StoreOutcome`].
//! When to act, and whether there is still time to, is the worker's business.
//!
//! Where things are: one file for each kind of store.

mod row;

use row::RowClient;

use crate::actor::{Actions, Context};
use crate::machine::JobId;
use crate::message::{CallId, Claim, StoreReply, Token};
use crate::settings::{Plan, StoreKind};
use crate::store::Row;

/// A client library for the store of the run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum StoreClient {
    /// One row for each job.
    Row(RowClient),
}

/// What came of an action on the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreOutcome {
    /// The row (as it was before, if the action changed it).
    Row(Box<Row>),
    /// The fence.
    Fence(Token),
    /// Done.
    Accepted,
    /// Refused.
    Refused,
    /// The claims that the index holds.
    Claims(Vec<Claim>),
}

impl StoreClient {
    /// The client of one process; `incarnation` counts the processes of its machine from 0.
    pub fn new(plan: &Plan, incarnation: u32) -> StoreClient {
        match plan.store {
            StoreKind::Row | StoreKind::Sql | StoreKind::DynamoDb | StoreKind::S3 => {
                StoreClient::Row(RowClient::new(incarnation))
            }
        }
    }

    /// Forgets what it was about; answers that are still on their way mean nothing any more.
    pub fn reset(&mut self) {
        match self {
            StoreClient::Row(client) => client.reset(),
        }
    }

    /// Reads the row.
    pub fn read_row(&mut self, context: Context<'_>, job: JobId, actions: &mut Actions) {
        match self {
            StoreClient::Row(client) => client.read_row(context, job, actions),
        }
    }

    /// Raises the fence and takes the row.
    pub fn raise(&mut self, context: Context<'_>, job: JobId, token: Token, actions: &mut Actions) {
        match self {
            StoreClient::Row(client) => client.raise(context, job, token, actions),
        }
    }

    /// Reads the fence, for a worker that compares by itself.
    pub fn read_fence(&mut self, context: Context<'_>, job: JobId, actions: &mut Actions) {
        match self {
            StoreClient::Row(client) => client.read_fence(context, job, actions),
        }
    }

    /// The worker has checked its stop time and builds a chunk: what can be sent ahead of the write is sent now.
    pub fn build_chunk(&mut self, context: Context<'_>, job: JobId, token: Token, chunk: u8, actions: &mut Actions) {
        let _ = (context, job, token, chunk, actions);
        match self {
            StoreClient::Row(_) => {}
        }
    }

    /// Records a chunk; `unconditional`: the worker has compared by itself.
    pub fn write_chunk(
        &mut self,
        context: Context<'_>,
        job: JobId,
        token: Token,
        chunk: u8,
        unconditional: bool,
        actions: &mut Actions,
    ) {
        match self {
            StoreClient::Row(client) => client.write_chunk(context, job, token, chunk, unconditional, actions),
        }
    }

    /// Sets the state to DONE.
    pub fn set_done(&mut self, context: Context<'_>, job: JobId, token: Token, actions: &mut Actions) {
        match self {
            StoreClient::Row(client) => client.set_done(context, job, token, actions),
        }
    }

    /// Reads the sparse index.
    pub fn read_index(&mut self, context: Context<'_>, actions: &mut Actions) {
        match self {
            StoreClient::Row(client) => client.read_index(context, actions),
        }
    }

    /// Puts a row back into the queue if it is still as it was seen.
    pub fn requeue(&mut self, context: Context<'_>, claim: Claim, actions: &mut Actions) {
        match self {
            StoreClient::Row(client) => client.requeue(context, claim, actions),
        }
    }

    /// Takes an answer of the store.
    pub fn answered(
        &mut self,
        context: Context<'_>,
        call: CallId,
        reply: StoreReply,
        actions: &mut Actions,
    ) -> Option<StoreOutcome> {
        let _ = context;
        match self {
            StoreClient::Row(client) => client.answered(call, reply, actions),
        }
    }
}

/// Numbers calls and remembers the one whose answer is awaited.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Calls {
    incarnation: u32,
    made: u32,
    awaited: Option<CallId>,
}

impl Calls {
    fn new(incarnation: u32) -> Calls {
        Calls { incarnation, made: 0, awaited: None }
    }

    /// A number for the next call, whose answer is awaited instead of any earlier one's.
    fn next(&mut self) -> CallId {
        self.made += 1;
        let call = CallId { incarnation: self.incarnation, number: self.made };
        self.awaited = Some(call);
        call
    }

    /// Whether `call` is the awaited one; it is not awaited any more.
    fn take(&mut self, call: CallId) -> bool {
        self.awaited.take_if(|awaited| *awaited == call).is_some()
    }
}
