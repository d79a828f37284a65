//! A worker's calls to the store: raise the fence, write chunks, set DONE.

use super::{Phase, Worker};
use crate::actor::{Actions, Context, TimerKey};
use crate::event::{Act, GaveUpBecause, Kind};
use crate::labs_only::labs_only;
use crate::machine::MachineId;
use crate::message::{Message, NO_TOKEN, PartnerCall, Token};
use crate::settings::{FenceMode, RaiseOrder};
use crate::store::{Row, RowState};
use crate::store_client::StoreOutcome;
use crate::time::Mono;

impl Worker {
    /// Compares its clock with its stop time; at or past it, it lets go and `None` comes back.
    fn check(
        &mut self,
        context: Context<'_>,
        act: Act,
        chunk: Option<u8>,
        actions: &mut Actions,
    ) -> Option<(Token, Mono)> {
        let (token, stop_time) = self.held()?;
        // Who knows of no stop time has nothing to compare.
        if stop_time == Mono::NEVER {
            return Some((token, stop_time));
        }
        let mono = context.mono();
        let passed = self.is_before_stop(context.reading);
        let (worker, stop_on_wall) = (self.id, self.stop_on_wall);
        let wall = stop_on_wall.map(|_| context.wall());
        actions.record(Kind::StopTimeChecked {
            worker,
            token,
            act,
            chunk,
            mono,
            stop_time,
            wall,
            stop_on_wall,
            passed,
        });
        if !passed {
            self.give_up(context, GaveUpBecause::StopTimePassed, actions);
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
            self.phase = Phase::ReadingRow;
            self.store.read_row(context, self.job, actions);
        } else {
            self.raise(context, actions);
        }
    }

    fn raise(&mut self, context: Context<'_>, actions: &mut Actions) {
        if self.send_raise(context, actions) {
            self.phase = Phase::Raising;
        }
    }

    /// Returns whether there was still time to.
    fn send_raise(&mut self, context: Context<'_>, actions: &mut Actions) -> bool {
        let Some((token, stop_time)) = self.check(context, Act::Raise, None, actions) else { return false };
        actions.record(Kind::RaiseSent { worker: self.id, token, mono: context.mono(), stop_time });
        self.raises_before_first_chunk = false;
        self.store.raise(context, self.job, token, actions);
        true
    }

    fn check_chunk(&mut self, context: Context<'_>, chunk: u8, actions: &mut Actions) {
        if self.raises_before_first_chunk {
            if self.send_raise(context, actions) {
                self.phase = Phase::RaisingLate(chunk);
            }
            return;
        }
        let Some((token, _)) = self.check(context, Act::Chunk, Some(chunk), actions) else { return };
        self.built = Some(chunk);
        let job = self.job;
        self.store.build_chunk(context, job, token, chunk, actions);
        if context.settings.fence == FenceMode::TwoStep {
            self.phase = Phase::ReadingFence(chunk);
            self.store.read_fence(context, job, actions);
        } else {
            self.phase = Phase::Building(chunk);
            actions.set_timer(TimerKey::Work, context.mono() + context.plan.program(self.id).build);
        }
    }

    fn send_chunk(&mut self, context: Context<'_>, chunk: u8, actions: &mut Actions) {
        let Some((token, stop_time)) = self.held() else { return };
        actions.record(Kind::WriteSent { worker: self.id, token, chunk, mono: context.mono(), stop_time });
        let unconditional = context.settings.fence == FenceMode::TwoStep;
        self.phase = Phase::Writing(chunk);
        self.works_since = None;
        let job = self.job;
        self.store.write_chunk(context, job, token, chunk, unconditional, actions);
        if let Some(partner) = &context.plan.partner {
            let call = PartnerCall { job, chunk, keyed: partner.idempotency_key };
            actions.send(MachineId::Partner, Message::PartnerCall(call, labs_only()));
        }
    }

    /// What the client library of the store says.
    pub(super) fn store_outcome(&mut self, context: Context<'_>, outcome: StoreOutcome, actions: &mut Actions) {
        match (&self.phase, outcome) {
            (_, StoreOutcome::Underway) => self.works_since = Some(context.mono()),
            (_, StoreOutcome::Superseded) => self.give_up(context, GaveUpBecause::FenceAbove, actions),
            (Phase::Looking, StoreOutcome::Row(row)) if row.state == RowState::Queued => {
                self.try_to_acquire(context, actions);
            }
            (Phase::Looking, StoreOutcome::Queued(Some(job))) => self.go_for(job, context, actions),
            (Phase::Looking, outcome) => {
                if let StoreOutcome::Row(row) = outcome
                    && self.last_seen.replace(row.state) != Some(row.state)
                {
                    actions.record(Kind::NoQueuedJob { worker: self.id, state: row.state });
                }
                self.wait_for_next_poll(context, actions);
            }
            (Phase::Raising | Phase::ReadingRow, StoreOutcome::Row(row)) => {
                self.row_returned(context, &row, actions);
            }
            // It raised late, with its chunk already built from what it read before: the row that comes back now
            // is news that it has no eyes for.
            (Phase::RaisingLate(chunk), StoreOutcome::Row(row)) if row.state != RowState::Done => {
                let chunk = *chunk;
                self.built = Some(chunk);
                self.send_chunk(context, chunk, actions);
            }
            (Phase::RaisingLate(_), StoreOutcome::Row(row)) => self.row_returned(context, &row, actions),
            (Phase::ReadingFence(chunk), StoreOutcome::Fence(fence)) => {
                let chunk = *chunk;
                if self.token().is_some_and(|token| token == NO_TOKEN || fence <= token) {
                    self.send_chunk(context, chunk, actions);
                } else {
                    self.give_up(context, GaveUpBecause::FenceAbove, actions);
                }
            }
            (Phase::Writing(chunk), StoreOutcome::Accepted) => {
                self.chunks_done.push(*chunk);
                self.built = None;
                self.piece_done();
                self.proceed(context, actions);
            }
            (Phase::SettingDone, StoreOutcome::Accepted) => self.release(context, actions),
            (_, StoreOutcome::Refused) => self.give_up(context, GaveUpBecause::Refused, actions),
            _ => {}
        }
    }

    fn row_returned(&mut self, context: Context<'_>, row: &Row, actions: &mut Actions) {
        actions.record(Kind::RowReturned { worker: self.id, chunks_done: row.chunks_recorded(), state: row.state });
        self.look_at_what_is_left(row, actions);
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
        self.keep_own_timer(context, actions);
        match (1..=context.plan.chunks).find(|chunk| !self.chunks_done.contains(chunk)) {
            Some(chunk) => {
                let program = context.plan.program(self.id);
                let ready = self.built == Some(chunk);
                let work = if ready { crate::time::Span::ZERO } else { program.work(chunk) };
                self.phase = Phase::Working(chunk);
                let since = self.works_since.take().unwrap_or(context.mono());
                self.begin_piece(context, chunk, since, work, actions);
            }
            None if self.raises_before_first_chunk => self.raise(context, actions),
            None => {
                let Some((token, stop_time)) = self.check(context, Act::Done, None, actions) else { return };
                actions.record(Kind::DoneSent { worker: self.id, token, mono: context.mono(), stop_time });
                self.phase = Phase::SettingDone;
                self.store.set_done(context, self.job, token, actions);
            }
        }
    }

    /// Returns whether the worker goes on.
    fn serve_overdue_renewal(&mut self, context: Context<'_>, actions: &mut Actions) -> bool {
        if std::mem::take(&mut self.renewal_overdue) {
            self.renew(context, actions);
        }
        self.is_running() && self.phase != Phase::Releasing
    }

    /// No answer: the write may have come through or not.
    /// Its own raise returns the row, and tells.
    pub(super) fn store_timed_out(&mut self, context: Context<'_>, actions: &mut Actions) {
        self.store.reset();
        self.works_since = None;
        if self.phase == Phase::Looking {
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
        if self.phase == Phase::ReadingRow {
            self.store.read_row(context, self.job, actions);
        } else {
            self.raise(context, actions);
        }
    }
}
