//! The store: one row for the job, with the fence in it, and the invoices.

use std::fmt;

use litemap::LiteMap;
use serde::Serialize;

use crate::actor::{Actions, Context, Input};
use crate::event::{Kind, RefusedBecause};
use crate::machine::MachineId;
use crate::message::{CallId, Message, StoreReply, StoreRequest, Token};
use crate::settings::FenceMode;
use crate::time::Wall;

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

/// The job's row.
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

/// The store's logic and its durable state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Store {
    row: Row,
}

impl Default for Store {
    fn default() -> Self {
        Store {
            row: Row {
                state: RowState::Queued,
                fence: 0,
                owner_token: None,
                claimed_since: None,
                chunks: LiteMap::new(),
            },
        }
    }
}

impl Store {
    /// The row, for snapshots and observers.
    pub fn row(&self) -> &Row {
        &self.row
    }

    /// Takes one input; each request is one atomic step.
    pub fn handle(&mut self, context: Context<'_>, input: Input, actions: &mut Actions) {
        let Input::Message { from, message: Message::StoreRequest(call, request) } = input else { return };
        let reply = self.serve(context, from, request, actions);
        self.answer(from, call, reply, actions);
    }

    fn answer(&self, to: MachineId, call: CallId, reply: StoreReply, actions: &mut Actions) {
        actions.send(to, Message::StoreReply(call, reply));
    }

    fn serve(
        &mut self,
        context: Context<'_>,
        from: MachineId,
        request: StoreRequest,
        actions: &mut Actions,
    ) -> StoreReply {
        match (request, from.worker()) {
            (StoreRequest::ReadRow, Some(worker)) => {
                actions.record(Kind::RowLookedAt { worker, state: self.row.state });
                StoreReply::Row(Box::new(self.row.clone()))
            }
            (StoreRequest::Raise { token }, Some(worker)) => {
                let before = self.row.clone();
                if before.state == RowState::Done {
                    return StoreReply::Row(Box::new(before));
                }
                if let Some(because) = self.refuses(context, token, false) {
                    actions.record(Kind::RaiseRefused { worker, token, fence: self.row.fence, because });
                    return StoreReply::Refused(self.row.fence);
                }
                self.row.fence = self.row.fence.max(token);
                self.row.state = RowState::Running;
                if self.row.owner_token != Some(token) || self.row.claimed_since.is_none() {
                    self.row.claimed_since = Some(context.wall());
                }
                self.row.owner_token = Some(token);
                let claimed_since = self.row.claimed_since.unwrap_or(context.wall());
                let compared = context.settings.fence != FenceMode::Off;
                let fence_before = before.fence;
                actions.record(Kind::FenceRaised { worker, token, fence_before, claimed_since, compared });
                StoreReply::Row(Box::new(before))
            }
            (StoreRequest::ReadFence, Some(_)) => StoreReply::Fence(self.row.fence),
            (StoreRequest::WriteChunk { token, chunk, unconditional }, Some(worker)) => {
                let fence = self.row.fence;
                if let Some(because) = self.refuses(context, token, unconditional) {
                    actions.record(Kind::WriteRefused { worker, token, fence, chunk, because });
                    return StoreReply::Refused(fence);
                }
                self.row.fence = fence.max(token);
                let records = self.row.chunks.entry(chunk).or_default();
                let recognised = context.settings.idempotent && !records.is_empty();
                if !recognised {
                    records.push(token);
                }
                actions.record(Kind::ChunkWritten {
                    worker,
                    token,
                    fence: self.row.fence,
                    chunk,
                    charged: if recognised { 0 } else { context.plan.invoices_per_chunk },
                    times_charged: records.len() as u32,
                });
                StoreReply::Accepted
            }
            (StoreRequest::SetDone { token }, Some(worker)) => {
                let fence = self.row.fence;
                if let Some(because) = self.refuses(context, token, false) {
                    // Its own earlier request may have come through without the answer.
                    actions.record(Kind::DoneRefused { worker, token, fence, because });
                    return StoreReply::Refused(fence);
                }
                self.row.fence = fence.max(token);
                self.row.state = RowState::Done;
                self.row.claimed_since = None;
                actions.record(Kind::JobDone { worker, token, chunks_recorded: self.row.chunks_recorded() });
                StoreReply::Accepted
            }
            (StoreRequest::ReadIndex, _) => {
                let claimed = self.row.claimed_since.and(self.row.owner_token);
                StoreReply::Claim(claimed.map(|owner| (owner, self.row.fence)))
            }
            (StoreRequest::Requeue { owner, fence }, _) => {
                let as_seen = self.row.state == RowState::Running
                    && self.row.owner_token == Some(owner)
                    && self.row.fence == fence;
                if !as_seen {
                    actions.record(Kind::RequeueRefused {
                        owner_token: owner,
                        fence: self.row.fence,
                        because: RefusedBecause::RowChanged,
                    });
                    return StoreReply::Refused(self.row.fence);
                }
                self.row.state = RowState::Queued;
                self.row.owner_token = None;
                self.row.claimed_since = None;
                actions.record(Kind::RowRequeued { owner_token: owner, fence });
                StoreReply::Accepted
            }
            (_, None) => StoreReply::Refused(self.row.fence),
        }
    }

    /// The fence: accept only if fence ≤ token, in one step with the write.
    fn refuses(&self, context: Context<'_>, token: Token, unconditional: bool) -> Option<RefusedBecause> {
        if self.row.state == RowState::Done {
            return Some(RefusedBecause::JobDone);
        }
        if unconditional {
            return None;
        }
        match context.settings.fence {
            FenceMode::Off => None,
            FenceMode::On | FenceMode::TwoStep if token < self.row.fence => Some(RefusedBecause::TokenBelowFence),
            FenceMode::On | FenceMode::TwoStep => None,
            FenceMode::RejectEqual if token < self.row.fence => Some(RefusedBecause::TokenBelowFence),
            FenceMode::RejectEqual if token == self.row.fence => Some(RefusedBecause::TokenEqualsFence),
            FenceMode::RejectEqual => None,
        }
    }
}
