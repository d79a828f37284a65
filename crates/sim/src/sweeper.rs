//! The sweeper: finds claims whose holder is gone and puts them back into the queue.
//!
//! It asks the lock service whether a live key exists and compares no clocks.
//! Two sightings only avoid needless work; what makes it safe is the conditional write.

use std::collections::VecDeque;

use litemap::LiteMap;

use crate::actor::{Actions, Context, Input, TimerKey};
use crate::event::Kind;
use crate::machine::{JobId, WorkerId};
use crate::message::{Claim, Message, Token};
use crate::service::{Answer, Probe};
use crate::settings::Plan;
use crate::store_client::{StoreClient, StoreOutcome};
use crate::time::Mono;

/// The sweeper's process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sweeper {
    probe: Probe,
    store: StoreClient,
    next_sweep: Mono,
    sightings: LiteMap<JobId, Sighting>,
    phase: Phase,
}

/// An orphan as it was first seen; any change of owner or fence starts it afresh.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Sighting {
    owner: Token,
    fence: Token,
    first_seen: Mono,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Waiting,
    ReadingIndex,
    AskingLock(Vec<Claim>),
    /// One after another; these are still to come.
    Requeuing(VecDeque<Claim>),
}

impl Sweeper {
    /// A process without memory.
    pub fn new(plan: &Plan, incarnation: u32) -> Sweeper {
        Sweeper {
            probe: Probe::new(plan, incarnation),
            store: StoreClient::new(plan, incarnation),
            next_sweep: Mono::ZERO,
            sightings: LiteMap::new(),
            phase: Phase::Waiting,
        }
    }

    /// The orphan of the first job that has been seen once: owner and fence.
    pub fn sighting(&self) -> Option<(Token, Token)> {
        self.sightings.get(&JobId::FIRST).map(|sighting| (sighting.owner, sighting.fence))
    }

    /// Takes one input.
    pub fn handle(&mut self, context: Context<'_>, input: Input, actions: &mut Actions) {
        match input {
            Input::Start => self.wait(context, actions),
            Input::Timer { key: TimerKey::Poll, .. } => self.sweep(context, actions),
            Input::Timer { key: TimerKey::StoreTimeout, .. } => self.phase = Phase::Waiting,
            Input::Timer { key: TimerKey::LockTimeout, .. } => {
                let answer = self.probe.timed_out(context, actions);
                self.lock_answered(context, answer, actions);
            }
            Input::Message { message: Message::StoreReply(call, reply), .. } => {
                if let Some(outcome) = self.store.answered(context, call, reply, actions) {
                    self.store_answered(context, outcome, actions);
                }
            }
            Input::Message { from, message } => {
                let answer = self.probe.message(context, from, message, actions);
                self.lock_answered(context, answer, actions);
            }
            _ => {}
        }
    }

    /// Sweeps at multiples of the interval on its own clock.
    fn wait(&mut self, context: Context<'_>, actions: &mut Actions) {
        let every = context.plan.sweeping.every;
        while self.next_sweep <= context.mono() {
            self.next_sweep += every;
        }
        actions.set_timer(TimerKey::Poll, self.next_sweep);
    }

    fn sweep(&mut self, context: Context<'_>, actions: &mut Actions) {
        self.wait(context, actions);
        self.probe.reset();
        self.store.reset();
        if !context.settings.sweeper {
            self.sightings = LiteMap::new();
            self.phase = Phase::Waiting;
            return;
        }
        self.phase = Phase::ReadingIndex;
        self.store.read_index(context, actions);
    }

    fn store_answered(&mut self, context: Context<'_>, outcome: StoreOutcome, actions: &mut Actions) {
        match (&mut self.phase, outcome) {
            (Phase::ReadingIndex, StoreOutcome::Claims(claims)) => {
                self.sightings.retain(|job, _| claims.iter().any(|claim| claim.job == *job));
                if claims.is_empty() {
                    self.phase = Phase::Waiting;
                    return;
                }
                let jobs = claims.iter().map(|claim| claim.job).collect();
                self.phase = Phase::AskingLock(claims);
                self.probe.ask(context, jobs, actions);
            }
            (Phase::Requeuing(_), _) => self.requeue_next(context, actions),
            _ => {}
        }
    }

    /// Without an answer from the lock service the sweeper knows nothing, and leaves the rows until the next sweep.
    fn lock_answered(&mut self, context: Context<'_>, answer: Option<Answer>, actions: &mut Actions) {
        let (Some(answer), Phase::AskingLock(claims)) = (answer, &mut self.phase) else { return };
        let claims = std::mem::take(claims);
        self.phase = Phase::Waiting;
        let Some(holders) = answer else { return };
        let mut held = holders.into_iter().peekable();
        let mut orphans = VecDeque::new();
        // Both lists are in the order of the jobs.
        for claim in claims {
            match held.next_if(|holder| holder.job == claim.job) {
                Some(holder) => self.is_held(claim, holder.worker, holder.token, actions),
                None if self.is_orphan(context, claim, actions) => orphans.push_back(claim),
                None => {}
            }
        }
        if !orphans.is_empty() {
            self.phase = Phase::Requeuing(orphans);
            self.requeue_next(context, actions);
        }
    }

    fn is_held(&mut self, claim: Claim, holder: WorkerId, token: Token, actions: &mut Actions) {
        self.sightings.remove(&claim.job);
        actions.record(Kind::ClaimHeld { owner_token: claim.owner, holder, token });
    }

    /// Notes the sighting; returns whether it is the second, late enough after the first.
    fn is_orphan(&mut self, context: Context<'_>, claim: Claim, actions: &mut Actions) -> bool {
        let now = context.mono();
        let Claim { job, owner, fence } = claim;
        match self.sightings.get(&job) {
            Some(seen) if seen.owner == owner && seen.fence == fence => {
                now - seen.first_seen >= context.plan.sweeping.sightings_apart
            }
            _ => {
                self.sightings.insert(job, Sighting { owner, fence, first_seen: now });
                actions.record(Kind::OrphanSeen { job, owner_token: owner, fence });
                false
            }
        }
    }

    fn requeue_next(&mut self, context: Context<'_>, actions: &mut Actions) {
        let Phase::Requeuing(orphans) = &mut self.phase else { return };
        match orphans.pop_front() {
            Some(claim) => {
                self.sightings.remove(&claim.job);
                self.store.requeue(context, claim, actions);
            }
            None => self.phase = Phase::Waiting,
        }
    }
}
