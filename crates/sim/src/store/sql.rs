//! An SQL database in the manner of PostgreSQL: one row for each job, one for each invoice, transactions, row locks.
//!
//! A transaction that changes a row holds its lock until it ends; another that wants to change the row waits.
//! At READ COMMITTED it then evaluates its WHERE again, on the new version of the row; at REPEATABLE READ it fails
//! with the SQLSTATE 40001 (PostgreSQL documentation, 13.2, Transaction Isolation).

use std::collections::VecDeque;

use super::sessions::Sessions;
use super::update::{self, Purpose, Update};
use super::{Row, claims};
use crate::actor::{Actions, Context, Input, TimerKey};
use crate::event::{Kind, RefusedBecause};
use crate::labs_only::labs_only;
use crate::machine::{JobId, MachineId};
use crate::message::{CallId, Message, StoreReply, StoreRequest, Token};
use crate::settings::{DatabaseLock, Isolation, Plan};
use crate::time::Mono;

/// What the database is asked; each comes as one text and is one transaction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Request {
    /// SELECT the job’s row and its chunks.
    SelectRow,
    /// SELECT the fence.
    SelectFence,
    /// SELECT the claimed rows.
    SelectClaims,
    /// BEGIN, UPDATE the job’s row on a condition, INSERT if a row was found, COMMIT; else ROLLBACK.
    Transaction(Transaction),
}

/// A transaction that changes the job’s row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Transaction {
    /// How strictly it is kept apart from others.
    pub isolation: Isolation,
    /// The UPDATE; without anything to set, it is a SELECT … FOR UPDATE.
    pub update: Update,
    /// The INSERTs.
    pub inserts: Option<Inserts>,
}

/// The INSERTs of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Inserts {
    /// The holder's token.
    pub token: Token,
    /// The chunk.
    pub chunk: u8,
    /// ON CONFLICT DO NOTHING: the table has a unique key, and an invoice that is there stays as it is.
    pub do_nothing: bool,
}

/// The database.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SqlStore {
    rows: Vec<Versioned>,
    /// Transactions that hold a row lock, in the order in which they end.
    open: Vec<Open>,
    /// Transactions that wait for one, in order of arrival.
    waiting: VecDeque<Asked>,
    /// The sessions that hold a lock.
    sessions: Sessions,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Versioned {
    row: Row,
    version: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Asked {
    from: MachineId,
    call: CallId,
    job: JobId,
    transaction: Transaction,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Open {
    asked: Asked,
    inserts: Inserts,
    ends: Mono,
}

impl SqlStore {
    pub(super) fn new(plan: &Plan) -> SqlStore {
        let rows = super::rows_at_start(plan).into_iter().map(|row| Versioned { row, version: 1 }).collect();
        SqlStore { rows, open: Vec::new(), waiting: VecDeque::new(), sessions: Sessions::default() }
    }

    pub(super) fn row(&self, job: JobId) -> Option<&Row> {
        self.rows.get(usize::from(job.0)).map(|versioned| &versioned.row)
    }

    /// How many committed versions of the job’s row there have been.
    pub fn version(&self, job: JobId) -> Option<u32> {
        self.rows.get(usize::from(job.0)).map(|versioned| versioned.version)
    }

    /// Who holds the lock of the job’s row.
    pub fn locked_by(&self, job: JobId) -> Option<MachineId> {
        self.open.iter().find(|open| open.asked.job == job).map(|open| open.asked.from)
    }

    /// Who waits for it, in order.
    pub fn waiting(&self, job: JobId) -> impl Iterator<Item = MachineId> + '_ {
        self.waiting.iter().filter(move |asked| asked.job == job).map(|asked| asked.from)
    }

    /// What was not committed is gone.
    pub(super) fn crash(&mut self) {
        self.open.clear();
        self.waiting.clear();
        self.sessions.crash();
    }

    /// The sessions that hold a lock.
    pub fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    pub(super) fn handle(&mut self, context: Context<'_>, input: Input, actions: &mut Actions) {
        match input {
            Input::Message { from, message: Message::StoreRequest(call, job, StoreRequest::Sql(request, ..)) } => {
                self.serve(context, from, call, job, *request, actions);
            }
            Input::Message { from, message: Message::SessionRequest(call, job, request, ..) } => {
                self.sessions.serve(context, from, call, job, request, actions);
            }
            Input::Timer { key: TimerKey::Commit, .. } => self.commit(context, actions),
            Input::Timer { key: TimerKey::LeaseExpiry, .. } => self.sessions.expire(context, actions),
            _ => {}
        }
    }

    fn serve(
        &mut self,
        context: Context<'_>,
        from: MachineId,
        call: CallId,
        job: JobId,
        request: Request,
        actions: &mut Actions,
    ) {
        // Readers see the last committed version and never wait.
        let Some(row) = self.row(job) else { return };
        let reply = match request {
            Request::SelectRow => {
                if let Some(worker) = from.worker() {
                    actions.record(Kind::RowLookedAt { worker, state: row.state });
                }
                StoreReply::Row(Box::new(row.clone()))
            }
            Request::SelectFence => StoreReply::Fence(row.fence),
            Request::SelectClaims => StoreReply::Claims(claims(self.rows.iter().map(|versioned| &versioned.row))),
            Request::Transaction(transaction) => {
                let asked = Asked { from, call, job, transaction };
                match self.locked_by(job) {
                    Some(holder) => {
                        actions.record(Kind::RowLockAwaited { from, holder, labs: labs_only() });
                        self.waiting.push_back(asked);
                    }
                    None => self.run(context, asked, actions),
                }
                return;
            }
        };
        actions.send(from, Message::StoreReply(call, reply));
    }

    /// The row is not locked: evaluates the WHERE on its present version.
    fn run(&mut self, context: Context<'_>, asked: Asked, actions: &mut Actions) {
        let Some(Versioned { row, version }) = self.rows.get_mut(usize::from(asked.job.0)) else { return };
        let Asked { from, call, job, transaction } = &asked;
        let update = &transaction.update;
        let before = Box::new(row.clone());
        let on_session = context.plan.database_lock == DatabaseLock::SameSession;
        let session_ended = from.worker().filter(|worker| on_session && !self.sessions.is_held_by(*job, *worker));
        if session_ended.is_some() {
            update.purpose.refused(from.worker(), row.fence, RefusedBecause::SessionEnded, actions);
            actions.send(*from, Message::StoreReply(*call, StoreReply::Refused(row.fence)));
            return;
        }
        if let Some(because) = update::refuses(&update.tests, row) {
            // No row was found: ROLLBACK. A raise reads why, and a finished job is no refusal.
            let reply = if because == RefusedBecause::JobDone && matches!(update.purpose, Purpose::Raise(_)) {
                StoreReply::Row(before)
            } else {
                update.purpose.refused(from.worker(), row.fence, because, actions);
                StoreReply::Refused(row.fence)
            };
            actions.send(*from, Message::StoreReply(*call, reply));
            return;
        }
        if let Some(inserts) = transaction.inserts {
            let ends = context.mono() + context.plan.stores.inserts_take;
            self.open.push(Open { asked, inserts, ends });
            self.set_timer(actions);
            return;
        }
        update::apply(&update.sets, row, context.wall());
        *version += 1;
        let compared = update::compares(&update.tests);
        update.purpose.accepted(context, *job, from.worker(), (&before, row), compared, actions);
        let reply = match update.purpose {
            Purpose::Raise(_) => StoreReply::Row(before),
            _ => StoreReply::Accepted,
        };
        actions.send(*from, Message::StoreReply(*call, reply));
    }

    fn set_timer(&self, actions: &mut Actions) {
        if let Some(ends) = self.open.iter().map(|open| open.ends).min() {
            actions.set_timer(TimerKey::Commit, ends);
        }
    }

    /// The inserts of the oldest transaction are done: COMMIT, and whoever waited for the row goes on.
    fn commit(&mut self, context: Context<'_>, actions: &mut Actions) {
        if self.open.is_empty() {
            return;
        }
        // They all take the same time, so the oldest ends first.
        let Open { asked, inserts, .. } = self.open.remove(0);
        self.set_timer(actions);
        let Asked { from, call, job, transaction } = asked;
        let Some(Versioned { row, version }) = self.rows.get_mut(usize::from(job.0)) else { return };
        update::apply(&transaction.update.sets, row, context.wall());
        *version += 1;
        let Inserts { token, chunk, do_nothing } = inserts;
        let records = row.chunks.entry(chunk).or_default();
        let recognised = do_nothing && !records.is_empty();
        if !recognised {
            records.push(token);
        }
        let times_charged = records.len() as u32;
        let charged = if recognised { 0 } else { context.plan.invoices_per_chunk };
        if let Some(worker) = from.worker() {
            actions.record(Kind::ChunkWritten { job, worker, token, fence: row.fence, chunk, charged, times_charged });
        }
        actions.send(from, Message::StoreReply(call, StoreReply::Inserted(charged)));
        self.wake(context, job, actions);
    }

    fn wake(&mut self, context: Context<'_>, job: JobId, actions: &mut Actions) {
        while self.locked_by(job).is_none() {
            let Some(place) = self.waiting.iter().position(|asked| asked.job == job) else { return };
            let Some(asked) = self.waiting.remove(place) else { return };
            match asked.transaction.isolation {
                Isolation::ReadCommitted => self.run(context, asked, actions),
                Isolation::RepeatableRead => {
                    actions.record(Kind::SerializationFailed { from: asked.from, labs: labs_only() });
                    actions.send(asked.from, Message::StoreReply(asked.call, StoreReply::SerializationFailure));
                }
            }
        }
    }
}
