//! A store that keeps one row for each job, with the fence in it, and that takes each request as one atomic step.

use super::{Row, RowState};
use crate::actor::{Actions, Context, Input};
use crate::event::{Kind, RefusedBecause};
use crate::machine::{JobId, MachineId};
use crate::message::{Message, NO_TOKEN, StoreReply, StoreRequest, Token};
use crate::ordered_map::OrderedMap;
use crate::settings::{FenceMode, Plan};

/// The rows and what is done with them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RowStore {
    rows: Vec<Row>,
    /// The jobs that are queued.
    queued: OrderedMap<JobId, ()>,
}

impl RowStore {
    pub(super) fn new(plan: &Plan) -> RowStore {
        let mut queued = OrderedMap::default();
        for job in plan.job_ids() {
            queued.insert(job, ());
        }
        RowStore { rows: super::rows_at_start(plan), queued }
    }

    pub(super) fn row(&self, job: JobId) -> Option<&Row> {
        self.rows.get(usize::from(job.0))
    }

    /// Takes one input; each request is one atomic step.
    pub(super) fn handle(&mut self, context: Context<'_>, input: Input, actions: &mut Actions) {
        let Input::Message { from, message: Message::StoreRequest(call, job, request) } = input else { return };
        let reply = match request {
            StoreRequest::ReadIndex => StoreReply::Claims(super::claims(self.rows.iter())),
            StoreRequest::FindQueued { from } => {
                let found = self.queued.from(from).map(|(job, ())| job).next().or_else(|| self.queued.keys().next());
                StoreReply::Queued(found.copied())
            }
            request => {
                let Some(row) = self.rows.get_mut(usize::from(job.0)) else { return };
                let was = row.state;
                let reply = serve(row, context, job, from, request, actions);
                match row.state {
                    state if state == was => {}
                    RowState::Queued => {
                        self.queued.insert(job, ());
                    }
                    _ => {
                        self.queued.remove(&job);
                    }
                }
                reply
            }
        };
        actions.send(from, Message::StoreReply(call, reply));
    }
}

fn serve(
    row: &mut Row,
    context: Context<'_>,
    job: JobId,
    from: MachineId,
    request: StoreRequest,
    actions: &mut Actions,
) -> StoreReply {
    match (request, from.worker()) {
        (StoreRequest::ReadRow, Some(worker)) => {
            actions.record(Kind::RowLookedAt { worker, state: row.state });
            StoreReply::Row(Box::new(row.clone()))
        }
        (StoreRequest::Raise { token }, Some(worker)) => {
            let before = row.clone();
            if before.state == RowState::Done {
                return StoreReply::Row(Box::new(before));
            }
            if let Some(because) = refuses(row, context, token, false) {
                actions.record(Kind::RaiseRefused { worker, token, fence: row.fence, because });
                return StoreReply::Refused(row.fence);
            }
            row.fence = row.fence.max(token);
            row.state = RowState::Running;
            if row.owner_token != Some(token) || row.claimed_since.is_none() {
                row.claimed_since = Some(context.wall());
            }
            row.owner_token = Some(token);
            let claimed_since = row.claimed_since.unwrap_or(context.wall());
            let compared = context.settings.fence != FenceMode::Off;
            let fence_before = before.fence;
            actions.record(Kind::FenceRaised { job, worker, token, fence_before, claimed_since, compared });
            StoreReply::Row(Box::new(before))
        }
        (StoreRequest::ReadFence, Some(_)) => StoreReply::Fence(row.fence),
        (StoreRequest::WriteChunk { token, chunk, unconditional }, Some(worker)) => {
            let fence = row.fence;
            if let Some(because) = refuses(row, context, token, unconditional) {
                actions.record(Kind::WriteRefused { worker, token, fence, chunk, because });
                return StoreReply::Refused(fence);
            }
            row.fence = fence.max(token);
            let records = row.chunks.entry(chunk).or_default();
            let recognised = context.settings.idempotent && !records.is_empty();
            if !recognised {
                records.push(token);
            }
            actions.record(Kind::ChunkWritten {
                job,
                worker,
                token,
                fence: row.fence,
                chunk,
                charged: if recognised { 0 } else { context.plan.invoices_per_chunk },
                times_charged: records.len() as u32,
            });
            StoreReply::Accepted
        }
        (StoreRequest::SetDone { token }, Some(worker)) => {
            let fence = row.fence;
            if let Some(because) = refuses(row, context, token, false) {
                // Its own earlier request may have come through without the answer.
                actions.record(Kind::DoneRefused { worker, token, fence, because });
                return StoreReply::Refused(fence);
            }
            row.fence = fence.max(token);
            row.state = RowState::Done;
            row.claimed_since = None;
            actions.record(Kind::JobDone { job, worker, token, chunks_recorded: row.chunks_recorded() });
            StoreReply::Accepted
        }
        (StoreRequest::Requeue { owner, fence }, _) => {
            let as_seen = row.state == RowState::Running && row.owner_token == Some(owner) && row.fence == fence;
            if !as_seen {
                actions.record(Kind::RequeueRefused {
                    owner_token: owner,
                    fence: row.fence,
                    because: RefusedBecause::RowChanged,
                });
                return StoreReply::Refused(row.fence);
            }
            row.state = RowState::Queued;
            row.owner_token = None;
            row.claimed_since = None;
            actions.record(Kind::RowRequeued { job, owner_token: owner, fence });
            StoreReply::Accepted
        }
        _ => StoreReply::Refused(row.fence),
    }
}

/// The fence: accept only if fence ≤ token, in one step with the write.
fn refuses(row: &Row, context: Context<'_>, token: Token, unconditional: bool) -> Option<RefusedBecause> {
    if row.state == RowState::Done {
        return Some(RefusedBecause::JobDone);
    }
    // A holder without a token has nothing that could be compared.
    if unconditional || token == NO_TOKEN {
        return None;
    }
    match context.settings.fence {
        FenceMode::Off => None,
        FenceMode::On | FenceMode::TwoStep if token < row.fence => Some(RefusedBecause::TokenBelowFence),
        FenceMode::On | FenceMode::TwoStep => None,
        FenceMode::RejectEqual if token < row.fence => Some(RefusedBecause::TokenBelowFence),
        FenceMode::RejectEqual if token == row.fence => Some(RefusedBecause::TokenEqualsFence),
        FenceMode::RejectEqual => None,
    }
}
