//! The client of a store that keeps one row for each job: one request for each action.

use super::{Calls, StoreOutcome};
use crate::actor::{Actions, Context};
use crate::machine::JobId;
use crate::message::{CallId, Claim, StoreReply, StoreRequest, Token};

/// The client.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RowClient {
    calls: Calls,
}

impl RowClient {
    pub(super) fn new(incarnation: u32) -> RowClient {
        RowClient { calls: Calls::new(incarnation) }
    }

    pub(super) fn reset(&mut self) {
        self.calls.awaited = None;
    }

    fn ask(&mut self, context: Context<'_>, job: JobId, request: StoreRequest, actions: &mut Actions) {
        self.calls.ask(context, job, request, actions);
    }

    pub(super) fn read_row(&mut self, context: Context<'_>, job: JobId, actions: &mut Actions) {
        self.ask(context, job, StoreRequest::ReadRow, actions);
    }

    pub(super) fn raise(&mut self, context: Context<'_>, job: JobId, token: Token, actions: &mut Actions) {
        self.ask(context, job, StoreRequest::Raise { token }, actions);
    }

    pub(super) fn read_fence(&mut self, context: Context<'_>, job: JobId, actions: &mut Actions) {
        self.ask(context, job, StoreRequest::ReadFence, actions);
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
        self.ask(context, job, StoreRequest::WriteChunk { token, chunk, unconditional }, actions);
    }

    pub(super) fn set_done(&mut self, context: Context<'_>, job: JobId, token: Token, actions: &mut Actions) {
        self.ask(context, job, StoreRequest::SetDone { token }, actions);
    }

    pub(super) fn find_queued(&mut self, context: Context<'_>, from: JobId, actions: &mut Actions) {
        self.ask(context, from, StoreRequest::FindQueued { from }, actions);
    }

    pub(super) fn read_index(&mut self, context: Context<'_>, actions: &mut Actions) {
        self.ask(context, JobId::FIRST, StoreRequest::ReadIndex, actions);
    }

    pub(super) fn requeue(&mut self, context: Context<'_>, claim: Claim, actions: &mut Actions) {
        let request = StoreRequest::Requeue { owner: claim.owner, fence: claim.fence };
        self.ask(context, claim.job, request, actions);
    }

    pub(super) fn answered(&mut self, call: CallId, reply: StoreReply, actions: &mut Actions) -> Option<StoreOutcome> {
        if self.calls.answered(call, actions) { super::plain_outcome(reply) } else { None }
    }
}
