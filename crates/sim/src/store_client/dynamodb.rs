//! The client of a DynamoDB table: one UpdateItem for each change of the job's item, and transactions for a chunk.
//!
//! A chunk is more than one transaction can take.
//! Those that only put invoices travel together; the last, which marks the chunk as recorded, goes when they have
//! succeeded.
//! If that is interrupted, whoever continues asks which invoices are there, and puts only the missing ones.

use super::{Calls, StoreOutcome};
use crate::actor::{Actions, Context};
use crate::labs_only::labs_only;
use crate::machine::JobId;
use crate::message::{CallId, Claim, StoreReply, StoreRequest, Token};
use crate::store::dynamodb::{ACTIONS_MAX, Reply, Request, Transact};
use crate::store::ranges::Ranges;
use crate::store::update::{Set, Update, fence_tests};
use crate::store::{Row, RowState};

/// The client.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DynamoClient {
    calls: Calls,
    /// Since its raise it has not written a chunk yet: an earlier holder, or an earlier attempt of its own, may have
    /// left one half written.
    may_be_half_written: bool,
    raising: Raising,
    building: Building,
    /// The transactions that have yet to go when those under way have succeeded.
    last: Option<(JobId, Transact)>,
}

/// How far a raise has come.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Raising {
    No,
    /// The update of this job’s item is under way.
    Updating(JobId),
    /// The fence is raised, and these were the old values; which chunks are recorded is asked next.
    Querying(Box<Row>),
}

/// What it knows of the chunk that its worker builds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Building {
    Nothing,
    /// It has asked which invoices are there; the worker may be ready before the answer comes.
    Asking(CallId, Option<(JobId, Transact)>),
    /// These are there.
    There(Ranges),
}

impl DynamoClient {
    pub(super) fn new(incarnation: u32) -> DynamoClient {
        DynamoClient {
            calls: Calls::new(incarnation),
            may_be_half_written: true,
            raising: Raising::No,
            building: Building::Nothing,
            last: None,
        }
    }

    pub(super) fn reset(&mut self) {
        self.calls.awaited = None;
        self.may_be_half_written = true;
        self.building = Building::Nothing;
        self.last = None;
    }

    pub(super) fn ask(&mut self, context: Context<'_>, job: JobId, request: Request, actions: &mut Actions) {
        self.raising = Raising::No;
        self.calls.ask(context, job, StoreRequest::DynamoDb(Box::new(request), labs_only()), actions);
    }

    pub(super) fn raise(&mut self, context: Context<'_>, job: JobId, token: Token, actions: &mut Actions) {
        let update = Update::raise(context.settings, token, context.wall()).with_sets(|set| match set {
            // An update expression cannot take the greater of two numbers.
            Set::FenceAtLeast(token) => Set::Fence(token),
            set => set,
        });
        self.may_be_half_written = true;
        self.ask(context, job, Request::UpdateItem(update), actions);
        self.raising = Raising::Updating(job);
    }

    pub(super) fn build_chunk(&mut self, context: Context<'_>, job: JobId, chunk: u8, actions: &mut Actions) {
        self.building = Building::There(Ranges::default());
        if self.may_be_half_written {
            let call = self.calls.number();
            let request = Request::QueryInvoices { chunk };
            self.calls.send(context, call, job, StoreRequest::DynamoDb(Box::new(request), labs_only()), actions);
            self.building = Building::Asking(call, None);
        }
    }

    pub(super) fn write_chunk(
        &mut self,
        context: Context<'_>,
        job: JobId,
        token: Token,
        chunk: u8,
        unconditional: bool,
        actions: &mut Actions,
    ) {
        let tests = fence_tests(context.settings, token, unconditional);
        let if_absent = context.plan.stores.puts_if_absent;
        let transact = Transact { token, chunk, tests, marks: false, puts: Vec::new(), if_absent };
        if self.building == Building::Nothing {
            // A worker that raises late builds its chunk from what it read before.
            self.build_chunk(context, job, chunk, actions);
        }
        match std::mem::replace(&mut self.building, Building::Nothing) {
            Building::Asking(call, _) => {
                self.building = Building::Asking(call, Some((job, transact)));
                self.calls.wait(context, actions);
            }
            Building::There(there) => self.put(context, job, transact, &there, actions),
            Building::Nothing => self.put(context, job, transact, &Ranges::default(), actions),
        }
    }

    /// Sends all transactions but the last, or the last if there is no other.
    fn put(&mut self, context: Context<'_>, job: JobId, transact: Transact, there: &Ranges, actions: &mut Actions) {
        let all = Ranges::of(1, context.plan.invoices_per_chunk + 1);
        // One action of each transaction is the check of the job’s item.
        let room = ACTIONS_MAX - 1;
        let mut puts = all.without(there).cut(room);
        if puts.last().is_some_and(|last| last.len() == room) {
            // One more, for the mark.
            puts.push(Ranges::default());
        }
        let last = puts.pop().into_iter().collect();
        let marking = Transact { marks: true, puts: last, ..transact.clone() };
        if puts.is_empty() {
            self.ask(context, job, Request::Transact(marking), actions);
        } else {
            self.ask(context, job, Request::Transact(Transact { puts, ..transact }), actions);
            self.last = Some((job, marking));
        }
    }

    pub(super) fn set_done(&mut self, context: Context<'_>, job: JobId, token: Token, actions: &mut Actions) {
        self.ask(context, job, Request::UpdateItem(Update::done(context.settings, token)), actions);
    }

    pub(super) fn requeue(&mut self, context: Context<'_>, claim: Claim, actions: &mut Actions) {
        self.ask(context, claim.job, Request::UpdateItem(Update::requeue(claim)), actions);
    }

    pub(super) fn answered(
        &mut self,
        context: Context<'_>,
        call: CallId,
        reply: StoreReply,
        actions: &mut Actions,
    ) -> Option<StoreOutcome> {
        if let (Building::Asking(asked, ready), StoreReply::DynamoDb(answer, ..)) = (&mut self.building, &reply)
            && let (true, Reply::Invoices(there)) = (*asked == call, &**answer)
        {
            let (ready, there) = (ready.take(), there.clone());
            self.building = Building::Nothing;
            match ready {
                Some((job, transact)) => self.put(context, job, transact, &there, actions),
                None => {
                    self.building = Building::There(there);
                    self.calls.quiet(actions);
                }
            }
            return None;
        }
        if !self.calls.answered(call, actions) {
            return None;
        }
        let last = self.last.take();
        match (std::mem::replace(&mut self.raising, Raising::No), reply) {
            // UpdateItem returns the old values of the job’s item; the chunks’ are others.
            (Raising::Updating(job), StoreReply::Row(before)) => {
                self.ask(context, job, Request::QueryJob, actions);
                self.raising = Raising::Querying(before);
                Some(StoreOutcome::Underway)
            }
            (Raising::Querying(before), StoreReply::Row(now)) => {
                Some(StoreOutcome::Row(Box::new(Row { chunks: now.chunks, ..*before })))
            }
            // The item of a finished job is no refusal: it is what a new holder wants to know.
            (Raising::Updating(_), StoreReply::DynamoDb(reply, ..)) if matches!(&*reply, Reply::ConditionFailed(item) if item.state == RowState::Done) => {
                match *reply {
                    Reply::ConditionFailed(item) => Some(StoreOutcome::Row(item)),
                    _ => None,
                }
            }
            (_, reply) => self.others_answered(context, last, reply, actions),
        }
    }

    fn others_answered(
        &mut self,
        context: Context<'_>,
        last: Option<(JobId, Transact)>,
        reply: StoreReply,
        actions: &mut Actions,
    ) -> Option<StoreOutcome> {
        match reply {
            StoreReply::Accepted => match last {
                Some((job, marking)) => {
                    self.ask(context, job, Request::Transact(marking), actions);
                    Some(StoreOutcome::Underway)
                }
                None => {
                    self.may_be_half_written = false;
                    Some(StoreOutcome::Accepted)
                }
            },
            StoreReply::DynamoDb(reply, ..) => match *reply {
                Reply::ConditionFailed(_) | Reply::Cancelled { .. } => Some(StoreOutcome::Refused),
                Reply::Invoices(_) | Reply::Checked { .. } => None,
            },
            reply => super::plain_outcome(reply),
        }
    }
}
