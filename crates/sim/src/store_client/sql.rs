//! The client of an SQL database: each action is one transaction, sent as one text.

use super::{Calls, StoreOutcome};
use crate::actor::{Actions, Context};
use crate::labs_only::labs_only;
use crate::machine::JobId;
use crate::message::{CallId, Claim, StoreReply, StoreRequest, Token};
use crate::store::sql::{Inserts, Request, Transaction};
use crate::store::update::{Purpose, Set, Update, compares, fence_tests};

/// The client.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SqlClient {
    calls: Calls,
    /// The transaction under way: after a serialization failure it is sent again.
    transaction: Option<(JobId, Transaction)>,
}

impl SqlClient {
    pub(super) fn new(incarnation: u32) -> SqlClient {
        SqlClient { calls: Calls::new(incarnation), transaction: None }
    }

    pub(super) fn reset(&mut self) {
        self.calls.awaited = None;
        self.transaction = None;
    }

    pub(super) fn ask(&mut self, context: Context<'_>, job: JobId, request: Request, actions: &mut Actions) {
        self.transaction = None;
        self.calls.ask(context, job, StoreRequest::Sql(Box::new(request), labs_only()), actions);
    }

    fn change(
        &mut self,
        context: Context<'_>,
        job: JobId,
        update: Update,
        inserts: Option<Inserts>,
        actions: &mut Actions,
    ) {
        let isolation = context.plan.stores.isolation;
        self.send(context, job, Transaction { isolation, update, inserts }, actions);
    }

    fn send(&mut self, context: Context<'_>, job: JobId, transaction: Transaction, actions: &mut Actions) {
        self.ask(context, job, Request::Transaction(transaction.clone()), actions);
        self.transaction = Some((job, transaction));
    }

    pub(super) fn raise(&mut self, context: Context<'_>, job: JobId, token: Token, actions: &mut Actions) {
        let update = Update::raise(context.settings, token, context.wall()).with_sets(|set| match set {
            // One database has one clock: now() is the same for everybody who asks it.
            Set::ClaimedSince(_) => Set::ClaimedNow,
            set => set,
        });
        self.change(context, job, update, None, actions);
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
        // Compared or not, the statement locks the row.
        let sets = if compares(&tests) { vec![Set::Fence(token)] } else { Vec::new() };
        let update = Update { purpose: Purpose::Chunk(token, chunk), tests, sets };
        let inserts = Inserts { token, chunk, do_nothing: context.settings.idempotent };
        self.change(context, job, update, Some(inserts), actions);
    }

    pub(super) fn set_done(&mut self, context: Context<'_>, job: JobId, token: Token, actions: &mut Actions) {
        self.change(context, job, Update::done(context.settings, token), None, actions);
    }

    pub(super) fn requeue(&mut self, context: Context<'_>, claim: Claim, actions: &mut Actions) {
        self.change(context, claim.job, Update::requeue(claim), None, actions);
    }

    pub(super) fn answered(
        &mut self,
        context: Context<'_>,
        call: CallId,
        reply: StoreReply,
        actions: &mut Actions,
    ) -> Option<StoreOutcome> {
        if !self.calls.answered(call, actions) {
            return None;
        }
        match (reply, self.transaction.take()) {
            (StoreReply::SerializationFailure, Some((job, transaction))) => {
                self.send(context, job, transaction, actions);
                None
            }
            (reply, _) => super::plain_outcome(reply),
        }
    }
}
