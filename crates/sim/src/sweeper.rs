//! The sweeper: finds claims whose holder is gone and puts them back into the queue.
//!
//! It asks the lock service whether a live key exists and compares no clocks.
//! Two sightings, and its other rules, only avoid needless work; what makes it safe is the conditional write.

use std::collections::VecDeque;

use crate::actor::{Actions, Context, Input, TimerKey};
use crate::event::Kind;
use crate::labs_only::labs_only;
use crate::machine::{JobId, WorkerId};
use crate::message::{Claim, Holder, Message, Token};
use crate::ordered_map::OrderedMap;
use crate::rng::Rng;
use crate::service::{Answer, Probe};
use crate::settings::Plan;
use crate::store_client::{StoreClient, StoreOutcome};
use crate::time::{Mono, Span};

/// The sweeper's process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sweeper {
    probe: Probe,
    store: StoreClient,
    /// A second connection, for re-queues that do not wait for each other.
    many: StoreClient,
    next_sweep: Mono,
    sightings: OrderedMap<JobId, Sighting>,
    phase: Phase,
    /// Re-queues that wait for their time.
    planned: VecDeque<(Mono, Claim)>,
    rng: Rng,
    /// The last question to the lock service found no answer.
    unanswered: bool,
    /// Since when the lock service answers again, if it did not.
    back_since: Option<Mono>,
}

/// An orphan as it was first seen; any change of owner or fence starts it afresh.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Sighting {
    owner: Token,
    fence: Token,
    first_seen: Mono,
    /// Its re-queue waits for its time.
    planned: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Waiting,
    ReadingIndex,
    AskingLock(Vec<Claim>),
    /// One after another; these are still to come.
    Requeuing(VecDeque<Claim>),
}

/// Sets the second connection's calls apart.
const SECOND_CONNECTION: u32 = 1 << 31;

impl Sweeper {
    /// A process without memory.
    pub fn new(plan: &Plan, incarnation: u32) -> Sweeper {
        Sweeper {
            probe: Probe::new(plan, incarnation),
            store: StoreClient::new(plan, incarnation),
            many: StoreClient::new(plan, incarnation | SECOND_CONNECTION),
            next_sweep: Mono::ZERO,
            sightings: OrderedMap::default(),
            phase: Phase::Waiting,
            planned: VecDeque::new(),
            rng: Rng::new(0, u64::from(incarnation)),
            unanswered: false,
            back_since: None,
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
            Input::Timer { key: TimerKey::Work, .. } => self.requeue_planned(context, actions),
            Input::Timer { key: TimerKey::StoreTimeout, .. } => self.phase = Phase::Waiting,
            Input::Timer { key: TimerKey::LockTimeout, .. } => {
                let answer = self.probe.timed_out(context, actions);
                self.lock_answered(context, answer, actions);
            }
            Input::Message { message: Message::StoreReply(call, reply), .. } => {
                if let Some(outcome) = self.store.answered(context, call, reply.clone(), actions) {
                    self.store_answered(context, outcome, actions);
                } else {
                    let _ = self.many.answered(context, call, reply, actions);
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
            self.sightings.clear();
            self.planned.clear();
            self.phase = Phase::Waiting;
            return;
        }
        self.phase = Phase::ReadingIndex;
        self.store.read_index(context, actions);
    }

    fn store_answered(&mut self, context: Context<'_>, outcome: StoreOutcome, actions: &mut Actions) {
        match (&mut self.phase, outcome) {
            (Phase::ReadingIndex, StoreOutcome::Claims(claims)) => {
                // The claims come in the order of the jobs.
                self.sightings.retain(|job, _| claims.binary_search_by_key(job, |claim| claim.job).is_ok());
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
        let Some(holders) = answer else {
            self.unanswered = true;
            return;
        };
        if std::mem::take(&mut self.unanswered) {
            self.back_since = Some(context.mono());
        }
        let held_off = self.back_since.map(|back| back + context.settings.lease);
        if let Some(until) = held_off.filter(|until| context.plan.sweeping.hold_off && context.mono() < *until) {
            actions.record(Kind::SweepHeldOff { until, labs: labs_only() });
            return;
        }
        self.judge(context, claims, holders, actions);
    }

    fn judge(&mut self, context: Context<'_>, claims: Vec<Claim>, holders: Vec<Holder>, actions: &mut Actions) {
        let claimed = claims.len() as u32;
        let mut held = holders.into_iter().peekable();
        let (mut orphaned, mut orphans) = (0, VecDeque::new());
        // Both lists are in the order of the jobs.
        for claim in claims {
            match held.next_if(|holder| holder.job == claim.job) {
                Some(holder) => self.is_held(claim, holder.worker, holder.token, actions),
                None => {
                    orphaned += 1;
                    if self.is_orphan(context, claim, actions) {
                        orphans.push_back(claim);
                    }
                }
            }
        }
        self.apply_rules(context, orphaned, claimed, &mut orphans, actions);
        if orphans.is_empty() {
            return;
        }
        if context.plan.sweeping.together {
            self.plan_requeues(context, orphans);
            self.requeue_planned(context, actions);
        } else {
            self.phase = Phase::Requeuing(orphans);
            self.requeue_next(context, actions);
        }
    }

    /// Rules against storms; an orphan that they spare now is found again by the next sweep.
    fn apply_rules(
        &self,
        context: Context<'_>,
        orphaned: u32,
        claims: u32,
        orphans: &mut VecDeque<Claim>,
        actions: &mut Actions,
    ) {
        let rules = &context.plan.sweeping;
        let too_many = |share: u8| u64::from(orphaned) * 100 > u64::from(claims) * u64::from(share);
        if rules.pause_share.is_some_and(too_many) && !orphans.is_empty() {
            actions.record(Kind::SweepPaused { orphans: orphaned, claims, labs: labs_only() });
            orphans.clear();
        }
        if let Some(cap) = rules.cap.filter(|cap| orphans.len() > *cap as usize) {
            actions.record(Kind::SweepCapped { orphans: orphans.len() as u32, cap, labs: labs_only() });
            orphans.truncate(cap as usize);
        }
    }

    fn is_held(&mut self, claim: Claim, holder: WorkerId, token: Token, actions: &mut Actions) {
        self.sightings.remove(&claim.job);
        actions.record(Kind::ClaimHeld { owner_token: claim.owner, holder, token });
    }

    /// Notes the sighting; returns whether it is the last that is asked for, late enough after the first.
    fn is_orphan(&mut self, context: Context<'_>, claim: Claim, actions: &mut Actions) -> bool {
        let now = context.mono();
        let sweeping = &context.plan.sweeping;
        let Claim { job, owner, fence } = claim;
        match self.sightings.get(&job) {
            Some(seen) if seen.owner == owner && seen.fence == fence => {
                let long_enough = sweeping.sightings < 2 || now - seen.first_seen >= sweeping.sightings_apart;
                long_enough && !seen.planned
            }
            _ => {
                self.sightings.insert(job, Sighting { owner, fence, first_seen: now, planned: false });
                actions.record(Kind::OrphanSeen { job, owner_token: owner, fence });
                sweeping.sightings < 2
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

    /// Gives each re-queue its time.
    fn plan_requeues(&mut self, context: Context<'_>, orphans: VecDeque<Claim>) {
        let jitter = context.plan.sweeping.jitter;
        for claim in orphans {
            let wait = if jitter == Span::ZERO { Span::ZERO } else { self.rng.span_up_to(jitter) };
            let at = context.mono() + wait;
            if let Some(sighting) = self.sightings.get_mut(&claim.job) {
                sighting.planned = true;
            }
            let place = self.planned.partition_point(|(other, _)| *other <= at);
            self.planned.insert(place, (at, claim));
        }
    }

    fn requeue_planned(&mut self, context: Context<'_>, actions: &mut Actions) {
        while let Some((_, claim)) = self.planned.front().copied().filter(|(at, _)| *at <= context.mono()) {
            self.planned.pop_front();
            self.sightings.remove(&claim.job);
            self.many.requeue(context, claim, actions);
        }
        if let Some((at, _)) = self.planned.front() {
            actions.set_timer(TimerKey::Work, *at);
        }
    }
}
