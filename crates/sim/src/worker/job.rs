//! A worker's calls to the store: raise the fence, write chunks, set DONE.

use super::{Phase, Worker};
use crate::actor::{Actions, Context, TimerKey};
use crate::event::{Act, GaveUpBecause, Kind};
use crate::machine::MachineId;
use crate::message::{CallId, Message, StoreReply, StoreRequest, Token};
use crate::settings::{FenceMode, RaiseOrder};
use crate::store::{Row, RowState};
use crate::time::Mono;

impl Worker {
    pub(super) fn ask_store(&mut self, context: Context<'_>, request: StoreRequest, actions: &mut Actions) -> CallId {
        let call = self.client.next_call();
        actions.send(MachineId::Store, Message::StoreRequest(call, request));
        actions.set_timer(TimerKey::StoreTimeout, context.mono() + context.plan.latency.store_timeout);
        call
    }

    /// Compares its clock with its stop time; at or past it, it lets go and `None` comes back.
    fn check(
        &mut self,
        context: Context<'_>,
        act: Act,
        chunk: Option<u8>,
        actions: &mut Actions,
    ) -> Option<(Token, Mono)> {
        let (token, stop_time) = self.held()?;
        let mono = context.mono();
        let passed = mono < stop_time;
        let worker = self.id;
        actions.record(Kind::StopTimeChecked { worker, token, act, chunk, mono, stop_time, passed });
        if !passed {
            self.give_up(GaveUpBecause::StopTimePassed, actions);
            return None;
        }
        Some((token, stop_time))
    }

    pub(super) fn work_done(&mut self, context: Context<'_>, actions: &mut Actions) {
        match self.phase {
            Phase::SettingUp => self.take_the_row(context, actions),
            Phase::Working(chunk) => self.check_chunk(context, chunk, actions),
            Phase::Building(chunk) => self.send_chunk(context, chunk, actions),
            _ => {}
        }
    }

    /// A new holder raises the fence before it reads or does anything, unless it was told to raise late.
    fn take_the_row(&mut self, context: Context<'_>, actions: &mut Actions) {
        let takes_over = self.told_to_acquire || context.plan.program(self.id).takes_over;
        if context.settings.raise == RaiseOrder::Late && takes_over {
            self.raises_before_first_chunk = true;
            let call = self.ask_store(context, StoreRequest::ReadRow, actions);
            self.phase = Phase::ReadingRow(call);
        } else {
            self.raise(context, actions);
        }
    }

    fn raise(&mut self, context: Context<'_>, actions: &mut Actions) {
        if let Some(call) = self.send_raise(context, actions) {
            self.raises_before_first_chunk = false;
            self.phase = Phase::Raising(call);
        }
    }

    fn send_raise(&mut self, context: Context<'_>, actions: &mut Actions) -> Option<CallId> {
        let (token, stop_time) = self.check(context, Act::Raise, None, actions)?;
        actions.record(Kind::RaiseSent { worker: self.id, token, mono: context.mono(), stop_time });
        Some(self.ask_store(context, StoreRequest::Raise { token }, actions))
    }

    fn check_chunk(&mut self, context: Context<'_>, chunk: u8, actions: &mut Actions) {
        if self.raises_before_first_chunk {
            if let Some(call) = self.send_raise(context, actions) {
                self.raises_before_first_chunk = false;
                self.phase = Phase::RaisingLate(chunk, call);
            }
            return;
        }
        if self.check(context, Act::Chunk, Some(chunk), actions).is_none() {
            return;
        }
        self.built = Some(chunk);
        if context.settings.fence == FenceMode::TwoStep {
            let call = self.ask_store(context, StoreRequest::ReadFence, actions);
            self.phase = Phase::ReadingFence(chunk, call);
        } else {
            self.phase = Phase::Building(chunk);
            actions.set_timer(TimerKey::Work, context.mono() + context.plan.program(self.id).build);
        }
    }

    fn send_chunk(&mut self, context: Context<'_>, chunk: u8, actions: &mut Actions) {
        let Some((token, stop_time)) = self.held() else { return };
        actions.record(Kind::WriteSent { worker: self.id, token, chunk, mono: context.mono(), stop_time });
        let unconditional = context.settings.fence == FenceMode::TwoStep;
        let call = self.ask_store(context, StoreRequest::WriteChunk { token, chunk, unconditional }, actions);
        self.phase = Phase::Writing(chunk, call);
    }

    pub(super) fn store_answered(
        &mut self,
        context: Context<'_>,
        call: CallId,
        reply: StoreReply,
        actions: &mut Actions,
    ) {
        let expected = match &self.phase {
            Phase::Looking(call)
            | Phase::Raising(call)
            | Phase::ReadingRow(call)
            | Phase::ReadingFence(_, call)
            | Phase::RaisingLate(_, call)
            | Phase::Writing(_, call)
            | Phase::SettingDone(call) => *call,
            _ => return,
        };
        if call != expected {
            return;
        }
        actions.cancel_timer(TimerKey::StoreTimeout);
        match (&self.phase, reply) {
            (Phase::Looking(_), StoreReply::Row(row)) if row.state == RowState::Queued => {
                self.read_key(context, actions);
            }
            (Phase::Looking(_), reply) => {
                if let StoreReply::Row(row) = reply
                    && self.last_seen.replace(row.state) != Some(row.state)
                {
                    actions.record(Kind::NoQueuedJob { worker: self.id, state: row.state });
                }
                self.wait_for_next_poll(context, actions);
            }
            (Phase::Raising(_) | Phase::ReadingRow(_), StoreReply::Row(row)) => {
                self.row_returned(context, &row, actions);
            }
            // It raised late, with its chunk already built from what it read before: the row that comes back now
            // is news that it has no eyes for.
            (Phase::RaisingLate(chunk, _), StoreReply::Row(row)) if row.state != RowState::Done => {
                let chunk = *chunk;
                self.built = Some(chunk);
                self.send_chunk(context, chunk, actions);
            }
            (Phase::RaisingLate(..), StoreReply::Row(row)) => self.row_returned(context, &row, actions),
            (Phase::ReadingFence(chunk, _), StoreReply::Fence(fence)) => {
                let chunk = *chunk;
                if self.token().is_some_and(|token| fence <= token) {
                    self.send_chunk(context, chunk, actions);
                } else {
                    self.give_up(GaveUpBecause::FenceAbove, actions);
                }
            }
            (Phase::Writing(chunk, _), StoreReply::Accepted) => {
                self.chunks_done.push(*chunk);
                self.built = None;
                self.proceed(context, actions);
            }
            (Phase::SettingDone(_), StoreReply::Accepted) => self.release(context, actions),
            (_, StoreReply::Refused(_)) => self.give_up(GaveUpBecause::Refused, actions),
            _ => {}
        }
    }

    fn row_returned(&mut self, context: Context<'_>, row: &Row, actions: &mut Actions) {
        actions.record(Kind::RowReturned { worker: self.id, chunks_done: row.chunks_recorded(), state: row.state });
        if row.state == RowState::Done {
            self.release(context, actions);
            return;
        }
        self.chunks_done = row.chunks.keys().copied().collect();
        self.proceed(context, actions);
    }

    /// After a call: the renewal that waited for it, then the first chunk that is not done, then DONE.
    fn proceed(&mut self, context: Context<'_>, actions: &mut Actions) {
        if !self.serve_overdue_renewal(context, actions) {
            return;
        }
        match (1..=context.plan.chunks).find(|chunk| !self.chunks_done.contains(chunk)) {
            Some(chunk) => {
                let program = context.plan.program(self.id);
                let ready = self.built == Some(chunk);
                let work = if ready { crate::time::Span::ZERO } else { program.work(chunk) };
                self.phase = Phase::Working(chunk);
                actions.set_timer(TimerKey::Work, context.mono() + work);
            }
            None if self.raises_before_first_chunk => self.raise(context, actions),
            None => {
                let Some((token, stop_time)) = self.check(context, Act::Done, None, actions) else { return };
                actions.record(Kind::DoneSent { worker: self.id, token, mono: context.mono(), stop_time });
                let call = self.ask_store(context, StoreRequest::SetDone { token }, actions);
                self.phase = Phase::SettingDone(call);
            }
        }
    }

    /// Returns whether the worker goes on.
    fn serve_overdue_renewal(&mut self, context: Context<'_>, actions: &mut Actions) -> bool {
        if std::mem::take(&mut self.renewal.overdue) {
            self.renew(context, actions);
        }
        self.is_running()
    }

    /// No answer: the write may have come through or not.
    /// Its own raise returns the row, and tells.
    pub(super) fn store_timed_out(&mut self, context: Context<'_>, actions: &mut Actions) {
        if let Phase::Looking(_) = self.phase {
            self.wait_for_next_poll(context, actions);
            return;
        }
        if !self.call_under_way() {
            return;
        }
        actions.record(Kind::StoreTimedOut { worker: self.id });
        if !self.serve_overdue_renewal(context, actions) {
            return;
        }
        if let Phase::ReadingRow(_) = self.phase {
            let call = self.ask_store(context, StoreRequest::ReadRow, actions);
            self.phase = Phase::ReadingRow(call);
        } else {
            self.raise(context, actions);
        }
    }
}
