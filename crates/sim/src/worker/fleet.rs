//! One of many workers that share many jobs: what it does once it has lost its lock.
//!
//! It stops acting at its stop time like any other, but its process lives on, with a half-done chunk in its memory.
//! It comes back for its own lock now and then; in between it takes any job that is queued.
//! What it kept is good as long as the fence of its job is still its own token: then nobody has written since.

use super::{Phase, Worker};
use crate::actor::{Actions, Context, TimerKey};
use crate::event::Kind;
use crate::labs_only::labs_only;
use crate::machine::{JobId, WorkerId};
use crate::message::Token;
use crate::rng::Rng;
use crate::store::{Row, RowState};
use crate::time::{Mono, Span};

/// What such a worker remembers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Fleet {
    /// The chunk that it works on.
    piece: Option<Piece>,
    /// What it kept when it lost its lock.
    left: Option<Left>,
    /// When it comes back for its own lock.
    next_return: Mono,
    /// How many chance numbers it has drawn.
    drawn: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Piece {
    chunk: u8,
    total: Span,
    done_at: Mono,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Left {
    job: JobId,
    token: Token,
    chunk: u8,
    total: Span,
    spent: Span,
}

impl Worker {
    pub(super) fn poll_in_fleet(&mut self, context: Context<'_>, returns: Span, actions: &mut Actions) {
        // One without a job of its own has nothing to come back for.
        if returns > Span::ZERO && context.mono() >= self.fleet.next_return {
            self.fleet.next_return = context.mono() + returns;
            self.go_for(self.fleet.left.map_or(self.job, |left| left.job), context, actions);
        } else {
            self.phase = Phase::Looking;
            // Another place each time, so that not all find the same job.
            let from = self.fleet.chance(self.id) % u64::from(context.plan.jobs.max(1));
            self.store.find_queued(context, JobId(from as u16), actions);
        }
    }

    /// Tries to get the lock of `job`.
    pub(super) fn go_for(&mut self, job: JobId, context: Context<'_>, actions: &mut Actions) {
        self.job = job;
        self.lock.set_job(job);
        self.try_to_acquire(context, actions);
    }

    /// It has lost its lock; it keeps what it has done of a chunk.
    pub(super) fn come_back(
        &mut self,
        context: Context<'_>,
        lost: Option<Token>,
        returns: Span,
        actions: &mut Actions,
    ) {
        if let (Some(piece), Some(token)) = (self.fleet.piece.take(), lost) {
            let missing = (piece.done_at - context.mono()).max(Span::ZERO);
            let Piece { chunk, total, .. } = piece;
            self.fleet.left = Some(Left { job: self.job, token, chunk, total, spent: total - missing });
        }
        // Not all together: each begins after another part of the time.
        let part = self.fleet.chance(self.id) % (returns.as_micros().max(0) as u64 + 1);
        self.fleet.next_return = context.mono() + Span::micros(part as i64);
        self.wait_for_next_poll(context, actions);
    }

    /// Looks at a row that it has just taken: is what it kept still of use?
    pub(super) fn look_at_what_is_left(&mut self, row: &Row, actions: &mut Actions) {
        let Some(Left { job, token, chunk, spent, .. }) = self.fleet.left else { return };
        let untouched = job == self.job && row.fence == token && row.state != RowState::Done;
        let worker = self.id;
        if untouched && !row.chunks.contains_key(&chunk) {
            actions.record(Kind::WorkKept { job, worker, chunk, spent, labs: labs_only() });
        } else {
            self.fleet.left = None;
            actions.record(Kind::WorkDropped { job, worker, chunk, spent, labs: labs_only() });
        }
    }

    /// Somebody else holds the lock with this token; if that is of the job that it kept work for, and later than its
    /// own, the work is of no use any more.
    pub(super) fn has_a_successor(&mut self, token: Token, actions: &mut Actions) {
        let of_this = |left: &mut Left| left.job == self.job && left.token < token;
        if let Some(Left { job, chunk, spent, .. }) = self.fleet.left.take_if(of_this) {
            actions.record(Kind::WorkDropped { job, worker: self.id, chunk, spent, labs: labs_only() });
        }
    }

    /// Begins the work on `chunk`, or goes on with it.
    pub(super) fn begin_piece(
        &mut self,
        context: Context<'_>,
        chunk: u8,
        since: Mono,
        total: Span,
        actions: &mut Actions,
    ) {
        let left = self.fleet.left.take().filter(|left| left.chunk == chunk);
        let (total, missing) = left.map_or((total, total), |left| (left.total, left.total - left.spent));
        let done_at = (since + missing).max(context.mono());
        self.fleet.piece = Some(Piece { chunk, total, done_at });
        actions.set_timer(TimerKey::Work, done_at);
    }

    /// The chunk is recorded.
    pub(super) fn piece_done(&mut self) {
        self.fleet.piece = None;
    }
}

impl Fleet {
    /// A number that differs each time and for each worker.
    fn chance(&mut self, worker: WorkerId) -> u64 {
        self.drawn += 1;
        Rng::new(u64::from(self.drawn), u64::from(worker.0) + 1).next_u64()
    }
}
