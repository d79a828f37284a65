//! Conditional updates of a job's row, as typed data: what is tested, and what is set if all of it is true.
//!
//! Clients of databases build them, engines evaluate them, and what is shown of a request is printed from the same
//! value.

use super::{Row, RowState};
use crate::actor::{Actions, Context};
use crate::event::{Kind, RefusedBecause};
use crate::machine::{JobId, WorkerId};
use crate::message::{Claim, NO_TOKEN, Token};
use crate::settings::{FenceMode, Settings};
use crate::time::Wall;

/// A change of the row on a condition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Update {
    /// What for; no engine decides by it, it only gives the event its name.
    pub purpose: Purpose,
    /// All of these must be true of the row as it is.
    pub tests: Vec<Test>,
    /// What then changes, in the same step.
    pub sets: Vec<Set>,
}

/// What a client means with a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// To raise the fence and take the row.
    Raise(Token),
    /// To record this chunk.
    Chunk(Token, u8),
    /// To set DONE.
    Done(Token),
    /// To put the row back into the queue.
    Requeue(Claim),
}

/// A test of the row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Test {
    /// Its state is not DONE.
    NotDone,
    /// fence ≤ this token, or no fence yet.
    FenceAtMost(Token),
    /// fence < this token, or no fence yet.
    FenceBelow(Token),
    /// Its state is RUNNING.
    Running,
    /// This token claimed it.
    OwnerIs(Token),
    /// The fence is exactly this token.
    FenceIs(Token),
}

/// A change of the row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Set {
    /// The fence.
    Fence(Token),
    /// The fence, unless it is higher already.
    FenceAtLeast(Token),
    /// The state.
    State(RowState),
    /// The owner.
    Owner(Token),
    /// Nobody owns it.
    NoOwner,
    /// Since when it is claimed, by the clock of whoever says so.
    ClaimedSince(Wall),
    /// It is claimed from now on, by the clock of the store.
    ClaimedNow,
    /// It is not claimed, and leaves the index.
    NotClaimed,
}

impl Test {
    /// Why `row` fails the test, if it does.
    pub fn fails(self, row: &Row) -> Option<RefusedBecause> {
        let (passes, because) = match self {
            Test::NotDone => (row.state != RowState::Done, RefusedBecause::JobDone),
            Test::FenceAtMost(token) => (row.fence <= token, RefusedBecause::TokenBelowFence),
            Test::FenceBelow(token) if row.fence == token => (false, RefusedBecause::TokenEqualsFence),
            Test::FenceBelow(token) => (row.fence < token, RefusedBecause::TokenBelowFence),
            Test::Running => (row.state == RowState::Running, RefusedBecause::RowChanged),
            Test::OwnerIs(owner) => (row.owner_token == Some(owner), RefusedBecause::RowChanged),
            Test::FenceIs(fence) => (row.fence == fence, RefusedBecause::RowChanged),
        };
        (!passes).then_some(because)
    }
}

/// Why `row` fails one of the tests, if it does.
pub fn refuses(tests: &[Test], row: &Row) -> Option<RefusedBecause> {
    tests.iter().find_map(|test| test.fails(row))
}

/// Changes `row`; the store's wall clock shows `now`.
pub fn apply(sets: &[Set], row: &mut Row, now: Wall) {
    for set in sets {
        match *set {
            Set::Fence(token) => row.fence = token,
            Set::FenceAtLeast(token) => row.fence = row.fence.max(token),
            Set::State(state) => row.state = state,
            Set::Owner(token) => row.owner_token = Some(token),
            Set::NoOwner => row.owner_token = None,
            Set::ClaimedSince(wall) => row.claimed_since = Some(wall),
            Set::ClaimedNow => row.claimed_since = Some(now),
            Set::NotClaimed => row.claimed_since = None,
        }
    }
}

/// The fence as a client asks for it: nothing is compared if it is off, if the worker has compared by itself, or if
/// there is no token.
pub fn fence_tests(settings: &Settings, token: Token, unconditional: bool) -> Vec<Test> {
    let mut tests = vec![Test::NotDone];
    match settings.fence {
        _ if unconditional || token == NO_TOKEN => {}
        FenceMode::Off => {}
        FenceMode::On | FenceMode::TwoStep => tests.push(Test::FenceAtMost(token)),
        FenceMode::RejectEqual => tests.push(Test::FenceBelow(token)),
    }
    tests
}

/// Whether the fence is among the tests.
pub fn compares(tests: &[Test]) -> bool {
    tests.iter().any(|test| matches!(test, Test::FenceAtMost(_) | Test::FenceBelow(_) | Test::FenceIs(_)))
}

impl Update {
    /// Raises the fence and takes the row at `now` by the sender's wall clock.
    pub fn raise(settings: &Settings, token: Token, now: Wall) -> Update {
        let tests = fence_tests(settings, token, false);
        let fence = if compares(&tests) { Set::Fence(token) } else { Set::FenceAtLeast(token) };
        let sets = vec![fence, Set::State(RowState::Running), Set::Owner(token), Set::ClaimedSince(now)];
        Update { purpose: Purpose::Raise(token), tests, sets }
    }

    /// The same with other changes in place of its own.
    pub fn with_sets(mut self, other: fn(Set) -> Set) -> Update {
        for set in &mut self.sets {
            *set = other(*set);
        }
        self
    }

    /// Sets DONE.
    pub fn done(settings: &Settings, token: Token) -> Update {
        let tests = fence_tests(settings, token, false);
        let sets = vec![Set::State(RowState::Done), Set::NotClaimed];
        Update { purpose: Purpose::Done(token), tests, sets }
    }

    /// Puts the row back into the queue if it is as it was seen.
    pub fn requeue(claim: Claim) -> Update {
        let tests = vec![Test::Running, Test::OwnerIs(claim.owner), Test::FenceIs(claim.fence)];
        let sets = vec![Set::State(RowState::Queued), Set::NoOwner, Set::NotClaimed];
        Update { purpose: Purpose::Requeue(claim), tests, sets }
    }
}

impl Purpose {
    /// Records that the change was refused; `fence` is what the store has.
    pub(super) fn refused(
        self,
        worker: Option<WorkerId>,
        fence: Token,
        because: RefusedBecause,
        actions: &mut Actions,
    ) {
        let kind = match (self, worker) {
            (Purpose::Raise(token), Some(worker)) => Kind::RaiseRefused { worker, token, fence, because },
            (Purpose::Chunk(token, chunk), Some(worker)) => Kind::WriteRefused { worker, token, fence, chunk, because },
            (Purpose::Done(token), Some(worker)) => Kind::DoneRefused { worker, token, fence, because },
            (Purpose::Requeue(claim), _) => Kind::RequeueRefused { owner_token: claim.owner, fence, because },
            _ => return,
        };
        actions.record(kind);
    }

    /// Records that the row was changed; what a chunk charges is recorded by the store that knows it.
    pub(super) fn accepted(
        self,
        context: Context<'_>,
        job: JobId,
        worker: Option<WorkerId>,
        (before, row): (&Row, &Row),
        compared: bool,
        actions: &mut Actions,
    ) {
        let kind = match (self, worker) {
            (Purpose::Raise(token), Some(worker)) => {
                let claimed_since = row.claimed_since.unwrap_or(context.wall());
                Kind::FenceRaised { job, worker, token, fence_before: before.fence, claimed_since, compared }
            }
            (Purpose::Done(token), Some(worker)) => {
                Kind::JobDone { job, worker, token, chunks_recorded: row.chunks_recorded() }
            }
            (Purpose::Requeue(claim), _) => Kind::RowRequeued { job, owner_token: claim.owner, fence: claim.fence },
            _ => return,
        };
        actions.record(kind);
    }

    /// A short label for drawings and logs.
    pub fn label(&self) -> String {
        match self {
            Purpose::Raise(token) => format!("raise the fence to {token}"),
            Purpose::Chunk(token, chunk) => format!("chunk {chunk}, token {token}"),
            Purpose::Done(token) => format!("set DONE, token {token}"),
            Purpose::Requeue(claim) => format!("re-queue if still owned by {}", claim.owner),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(state: RowState, fence: Token) -> Row {
        Row { state, fence, owner_token: Some(fence), ..Row::default() }
    }

    #[test]
    fn tests_say_why_they_fail() {
        use RefusedBecause::*;
        let running = row(RowState::Running, 7);
        for (test, expected) in [
            (Test::NotDone, None),
            (Test::FenceAtMost(6), Some(TokenBelowFence)),
            (Test::FenceAtMost(7), None),
            (Test::FenceBelow(6), Some(TokenBelowFence)),
            (Test::FenceBelow(7), Some(TokenEqualsFence)),
            (Test::FenceBelow(8), None),
            (Test::Running, None),
            (Test::OwnerIs(7), None),
            (Test::OwnerIs(8), Some(RowChanged)),
            (Test::FenceIs(8), Some(RowChanged)),
        ] {
            assert_eq!(test.fails(&running), expected, "{test:?}");
        }
        let done = row(RowState::Done, 7);
        assert_eq!(Test::NotDone.fails(&done), Some(JobDone));
        assert_eq!(Test::Running.fails(&done), Some(RowChanged));
    }

    #[test]
    fn a_raise_takes_the_row_and_a_requeue_lets_it_go() {
        let settings = Settings::default();
        let mut row = Row::default();
        let raise = Update::raise(&settings, 7, Wall::ZERO);
        assert_eq!(refuses(&raise.tests, &row), None);
        apply(&raise.sets, &mut row, Wall::ZERO);
        assert_eq!((row.state, row.fence, row.owner_token), (RowState::Running, 7, Some(7)));
        assert!(row.claimed_since.is_some(), "the sparse index finds it");
        assert_eq!(
            refuses(&Update::raise(&settings, 6, Wall::ZERO).tests, &row),
            Some(RefusedBecause::TokenBelowFence)
        );
        let seen = Claim { job: JobId::FIRST, owner: 7, fence: 7 };
        let requeue = Update::requeue(seen);
        apply(&Update::raise(&settings, 9, Wall::ZERO).sets, &mut row, Wall::ZERO);
        assert_eq!(refuses(&requeue.tests, &row), Some(RefusedBecause::RowChanged), "somebody else owns it now");
        let requeue = Update::requeue(Claim { owner: 9, fence: 9, ..seen });
        assert_eq!(refuses(&requeue.tests, &row), None);
        apply(&requeue.sets, &mut row, Wall::ZERO);
        assert_eq!((row.state, row.fence, row.claimed_since), (RowState::Queued, 9, None));
    }

    #[test]
    fn without_a_fence_nothing_is_compared_but_done_is_done() {
        let off = Settings { fence: FenceMode::Off, ..Settings::default() };
        assert_eq!(fence_tests(&off, 7, false), [Test::NotDone]);
        assert_eq!(fence_tests(&Settings::default(), NO_TOKEN, false), [Test::NotDone]);
        assert_eq!(fence_tests(&Settings::default(), 7, true), [Test::NotDone]);
        let mut shown = row(RowState::Running, 12);
        apply(&Update::raise(&off, 7, Wall::ZERO).sets, &mut shown, Wall::ZERO);
        assert_eq!(shown.fence, 12, "the row shows the highest token seen");
    }
}
