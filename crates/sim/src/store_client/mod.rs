//! The clients' side of the stores: one client library for each kind of store, behind one face.
//!
//! A worker asks its [`StoreClient`] to raise the fence, to write a chunk, to set DONE; the client turns that into the
//! requests that its kind of store knows, one or several, and gives back what came of it as a [`StoreOutcome`].
//! When to act, and whether there is still time to, is the worker's business.
//!
//! Where things are: one file for each kind of store.

mod dynamodb;
mod row;
mod s3;
mod sql;

use dynamodb::DynamoClient;
use row::RowClient;
use s3::S3Client;
use sql::SqlClient;

use crate::actor::{Actions, Context, TimerKey};
use crate::labs_only::LabsOnly;
use crate::machine::{JobId, MachineId};
use crate::message::{CallId, Claim, Message, StoreReply, StoreRequest, Token};
use crate::settings::{Plan, StoreKind};
use crate::store::{Row, dynamodb as table, sql as database};

/// A client library for the store of the run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum StoreClient {
    /// One row for each job.
    Row(RowClient),
    /// An SQL database.
    Sql(LabsOnly<SqlClient>),
    /// A DynamoDB table.
    DynamoDb(LabsOnly<DynamoClient>),
    /// An S3 bucket.
    S3(LabsOnly<S3Client>),
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
    /// A queued job, if there is one.
    Queued(Option<JobId>),
    /// The claims that the index holds.
    Claims(Vec<Claim>),
    /// A first answer is in and the rest of the action is on its way: work on what comes next may begin.
    Underway,
    /// The client has read a token above the worker's.
    Superseded,
}

impl StoreClient {
    /// The client of one process; `incarnation` counts the processes of its machine from 0.
    pub fn new(plan: &Plan, incarnation: u32) -> StoreClient {
        match plan.store {
            StoreKind::Row => StoreClient::Row(RowClient::new(incarnation)),
            StoreKind::Sql => StoreClient::Sql(LabsOnly::new(|| SqlClient::new(incarnation))),
            StoreKind::DynamoDb => StoreClient::DynamoDb(LabsOnly::new(|| DynamoClient::new(incarnation))),
            StoreKind::S3 => StoreClient::S3(LabsOnly::new(|| S3Client::new(incarnation))),
        }
    }

    /// Forgets what it was about; answers that are still on their way mean nothing any more.
    pub fn reset(&mut self) {
        match self {
            StoreClient::Row(client) => client.reset(),
            StoreClient::Sql(client) => client.reset(),
            StoreClient::DynamoDb(client) => client.reset(),
            StoreClient::S3(client) => client.reset(),
        }
    }

    /// Reads the row.
    pub fn read_row(&mut self, context: Context<'_>, job: JobId, actions: &mut Actions) {
        match self {
            StoreClient::Row(client) => client.read_row(context, job, actions),
            StoreClient::Sql(client) => client.ask(context, job, database::Request::SelectRow, actions),
            StoreClient::DynamoDb(client) => client.ask(context, job, table::Request::QueryJob, actions),
            StoreClient::S3(client) => client.read_row(context, job, actions),
        }
    }

    /// Raises the fence and takes the row.
    pub fn raise(&mut self, context: Context<'_>, job: JobId, token: Token, actions: &mut Actions) {
        match self {
            StoreClient::Row(client) => client.raise(context, job, token, actions),
            StoreClient::Sql(client) => client.raise(context, job, token, actions),
            StoreClient::DynamoDb(client) => client.raise(context, job, token, actions),
            StoreClient::S3(client) => client.raise(context, job, token, actions),
        }
    }

    /// Reads the fence, for a worker that compares by itself.
    pub fn read_fence(&mut self, context: Context<'_>, job: JobId, actions: &mut Actions) {
        match self {
            StoreClient::Row(client) => client.read_fence(context, job, actions),
            StoreClient::Sql(client) => client.ask(context, job, database::Request::SelectFence, actions),
            StoreClient::DynamoDb(client) => client.ask(context, job, table::Request::GetFence, actions),
            StoreClient::S3(client) => client.read_fence(context, job, actions),
        }
    }

    /// The worker has checked its stop time and builds a chunk: what can be sent ahead of the write is sent now.
    pub fn build_chunk(&mut self, context: Context<'_>, job: JobId, token: Token, chunk: u8, actions: &mut Actions) {
        match self {
            StoreClient::Row(_) | StoreClient::Sql(_) => {}
            StoreClient::DynamoDb(client) => client.build_chunk(context, job, chunk, actions),
            StoreClient::S3(client) => client.build_chunk(context, job, token, chunk, actions),
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
            StoreClient::Sql(client) => client.write_chunk(context, job, token, chunk, unconditional, actions),
            StoreClient::DynamoDb(client) => client.write_chunk(context, job, token, chunk, unconditional, actions),
            StoreClient::S3(client) => client.write_chunk(context, job, token, chunk, unconditional, actions),
        }
    }

    /// Sets the state to DONE.
    pub fn set_done(&mut self, context: Context<'_>, job: JobId, token: Token, actions: &mut Actions) {
        match self {
            StoreClient::Row(client) => client.set_done(context, job, token, actions),
            StoreClient::Sql(client) => client.set_done(context, job, token, actions),
            StoreClient::DynamoDb(client) => client.set_done(context, job, token, actions),
            StoreClient::S3(client) => client.set_done(context, job, token, actions),
        }
    }

    /// Asks for a queued job, the first from `from` on.
    pub fn find_queued(&mut self, context: Context<'_>, from: JobId, actions: &mut Actions) {
        match self {
            StoreClient::Row(client) => client.find_queued(context, from, actions),
            // The other stores are not asked for a list: the one row is looked at.
            _ => self.read_row(context, from, actions),
        }
    }

    /// Reads the sparse index.
    pub fn read_index(&mut self, context: Context<'_>, actions: &mut Actions) {
        match self {
            StoreClient::Row(client) => client.read_index(context, actions),
            StoreClient::Sql(client) => {
                client.ask(context, JobId::FIRST, database::Request::SelectClaims, actions);
            }
            StoreClient::DynamoDb(client) => client.ask(context, JobId::FIRST, table::Request::ScanIndex, actions),
            StoreClient::S3(client) => client.read_index(context, actions),
        }
    }

    /// Puts a row back into the queue if it is still as it was seen.
    pub fn requeue(&mut self, context: Context<'_>, claim: Claim, actions: &mut Actions) {
        match self {
            StoreClient::Row(client) => client.requeue(context, claim, actions),
            StoreClient::Sql(client) => client.requeue(context, claim, actions),
            StoreClient::DynamoDb(client) => client.requeue(context, claim, actions),
            StoreClient::S3(client) => client.requeue(context, claim, actions),
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
        match self {
            StoreClient::Row(client) => client.answered(call, reply, actions),
            StoreClient::Sql(client) => client.answered(context, call, reply, actions),
            StoreClient::DynamoDb(client) => client.answered(context, call, reply, actions),
            StoreClient::S3(client) => client.answered(context, call, reply, actions),
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

    /// A number for the next call.
    fn number(&mut self) -> CallId {
        self.made += 1;
        CallId { incarnation: self.incarnation, number: self.made }
    }

    /// Sends a request whose answer is awaited instead of any earlier one's.
    fn ask(&mut self, context: Context<'_>, job: JobId, request: StoreRequest, actions: &mut Actions) {
        let call = self.number();
        self.awaited = Some(call);
        self.send(context, call, job, request, actions);
    }

    /// Sends a request whose answer its sender looks out for itself.
    fn send(&self, context: Context<'_>, call: CallId, job: JobId, request: StoreRequest, actions: &mut Actions) {
        actions.send(MachineId::Store, Message::StoreRequest(call, job, request));
        self.wait(context, actions);
    }

    /// Starts to wait for an answer.
    fn wait(&self, context: Context<'_>, actions: &mut Actions) {
        actions.set_timer(TimerKey::StoreTimeout, context.mono() + context.plan.latency.store_timeout);
    }

    /// Whether `call` is the awaited one; it is not awaited any more.
    fn answered(&mut self, call: CallId, actions: &mut Actions) -> bool {
        let awaited = self.awaited.take_if(|awaited| *awaited == call).is_some();
        if awaited {
            actions.cancel_timer(TimerKey::StoreTimeout);
        }
        awaited
    }

    /// An answer came that nobody waits for in particular: stops waiting unless another is awaited.
    fn quiet(&self, actions: &mut Actions) {
        if self.awaited.is_none() {
            actions.cancel_timer(TimerKey::StoreTimeout);
        }
    }
}

/// What an answer means by itself.
fn plain_outcome(reply: StoreReply) -> Option<StoreOutcome> {
    Some(match reply {
        StoreReply::Row(row) => StoreOutcome::Row(row),
        StoreReply::Fence(fence) => StoreOutcome::Fence(fence),
        StoreReply::Accepted | StoreReply::Inserted(_) => StoreOutcome::Accepted,
        StoreReply::Refused(_) => StoreOutcome::Refused,
        StoreReply::Claims(claims) => StoreOutcome::Claims(claims),
        StoreReply::Queued(found) => StoreOutcome::Queued(found),
        StoreReply::SerializationFailure | StoreReply::DynamoDb(..) | StoreReply::S3(..) | StoreReply::Contest(..) => {
            return None;
        }
    })
}
