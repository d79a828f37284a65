//! Redlock's client library: the same key on independent masters, held if a majority has set it in time.
//!
//! A round: take the time; send to all masters at once; wait for their answers, but not long; count.
//! The lock is held if a majority has set the key and the time that this took leaves something of the lock's length.
//! What is left is the validity: length − elapsed − drift, where the drift allows for clocks that run unlike.
//! Otherwise the key is deleted on all masters, and after a random pause, which takes apart clients that got in each
//! other's way, there is another attempt, a few times.
//!
//! The worker's margin comes on top: it stops so much before the validity ends.
//! The drift is the library's, for the clocks of the masters; the margin is the worker's, for its own delays.
//! With a margin of 0 it stops exactly when the validity ends.
//!
//! There is no growing number: the masters have no common counter.
//! `TokenFrom::Consensus` fetches one elsewhere, after the lock: the revision of a put into a replicated log.
//!
//! Source: "Distributed Locks with Redis" in the documentation of Redis, and its implementations' defaults.

use super::nodes::{Attempt, Next, NodeClient};
use super::{Answer, Grant, Outcome};
use crate::actor::{Actions, Context, TimerKey};
use crate::event::Kind;
use crate::labs_only::labs_only;
use crate::machine::{JobId, MachineId, NodeId, WorkerId};
use crate::message::{CallId, Holder, KeyName, LeaseId, LockReply, LockRequest, Message, NO_TOKEN};
use crate::redis::protocol::{Found, RedisReply, RedisRequest};
use crate::rng::Rng;
use crate::settings::{Plan, ReleaseRule, TokenFrom};
use crate::time::{Mono, Span};

/// A worker's client.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RedlockClient {
    worker: WorkerId,
    incarnation: u32,
    /// Numbers calls, and asks the nodes that issue tokens.
    nodes: NodeClient,
    locks_asked_for: u32,
    retries_left: u8,
    asked: Option<Asked>,
    phase: Phase,
    renewal: Option<Renewal>,
}

/// The lock that the worker holds, or is about to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Asked {
    key: KeyName,
    value: LeaseId,
    ttl: Span,
    /// The stop time if it gets the lock.
    stop: Mono,
    /// When it asked.
    sent: Mono,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Quiet,
    Setting(Round),
    /// The random pause before another attempt.
    Resting,
    GettingToken(Attempt),
    Releasing(Round),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Renewal {
    Asking(Round, Span),
    BackingOff,
}

/// One request to all masters, and what they have answered; a bit for each.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Round {
    call: CallId,
    sent: Mono,
    masters: u8,
    agreed: u8,
    refused: u8,
    /// Who has the key on a master that refused last.
    holder: Option<WorkerId>,
}

impl Round {
    fn answered(&mut self, from: MachineId, reply: RedisReply) {
        let MachineId::Master(number) = from else { return };
        let bit = 1 << (number - 1);
        if let RedisReply::Held(holder) = reply {
            self.holder = Some(holder);
        }
        let agreed = matches!(reply, RedisReply::Set(_) | RedisReply::Extended | RedisReply::Deleted);
        if agreed {
            self.agreed |= bit;
        } else {
            self.refused |= bit;
        }
    }

    fn agreed(&self) -> u8 {
        self.agreed.count_ones() as u8
    }

    fn refused(&self) -> u8 {
        (self.refused & !self.agreed).count_ones() as u8
    }

    fn unanswered(&self) -> u8 {
        self.masters - self.agreed() - self.refused()
    }

    /// A master that did not agree, and whether it did not answer at all.
    fn missing(&self) -> (MachineId, bool) {
        let silent = |number: &u8| (self.agreed | self.refused) & (1 << (number - 1)) == 0;
        let not_agreed = |number: &u8| self.agreed & (1 << (number - 1)) == 0;
        let mut numbers = 1..=self.masters;
        match numbers.clone().find(silent) {
            Some(number) => (MachineId::Master(number), true),
            None => (MachineId::Master(numbers.find(not_agreed).unwrap_or(1)), false),
        }
    }
}

impl RedlockClient {
    /// The client of one process of `worker`.
    pub(super) fn new(plan: &Plan, worker: WorkerId, incarnation: u32) -> RedlockClient {
        RedlockClient {
            worker,
            incarnation,
            nodes: NodeClient::new(plan, incarnation),
            locks_asked_for: 0,
            retries_left: 0,
            asked: None,
            phase: Phase::Quiet,
            renewal: None,
        }
    }

    /// Forgets what it was about; the names of calls and values stay used up.
    pub(super) fn reset(&mut self) {
        self.asked = None;
        self.phase = Phase::Quiet;
        self.renewal = None;
    }

    /// What it is doing, in a few words.
    pub(super) fn activity(&self) -> &'static str {
        match self.phase {
            Phase::Quiet => "waits",
            Phase::Setting(_) => "tries to set the key on all masters",
            Phase::Resting => "rests before it tries again",
            Phase::GettingToken(_) => "fetches a token from the replicated log",
            Phase::Releasing(_) => "deletes the key on all masters",
        }
    }

    /// Whether there are keys, or requests for some, to delete.
    pub(super) fn has_asked(&self) -> bool {
        self.asked.is_some()
    }

    /// Tries to get the lock, and a few times again.
    pub(super) fn acquire(&mut self, context: Context<'_>, actions: &mut Actions) {
        self.retries_left = context.plan.redlock.retries;
        self.attempt(context, actions);
    }

    fn attempt(&mut self, context: Context<'_>, actions: &mut Actions) {
        let ttl = context.settings.lease;
        self.locks_asked_for += 1;
        let asked = Asked {
            key: KeyName::lock(context.plan.program(self.worker).job),
            value: LeaseId { worker: self.worker, incarnation: self.incarnation, number: self.locks_asked_for },
            ttl,
            stop: stop(context, ttl),
            sent: context.mono(),
        };
        let Asked { key, value, stop: stop_on_holder, .. } = asked;
        self.asked = Some(asked);
        let request = RedisRequest::SetIfAbsent { key, value, ttl, numbered: false, stop_on_holder };
        let round = self.ask_all(context, &request, Some(TimerKey::LockTimeout), actions);
        self.phase = Phase::Setting(round);
    }

    /// Sends a request to all masters at once.
    fn ask_all(
        &mut self,
        context: Context<'_>,
        request: &RedisRequest,
        timer: Option<TimerKey>,
        actions: &mut Actions,
    ) -> Round {
        let redlock = &context.plan.redlock;
        let call = self.nodes.next_call();
        for number in 1..=redlock.masters {
            actions.send(MachineId::Master(number), Message::Redis(call, request.clone(), labs_only()));
        }
        if let Some(timer) = timer {
            actions.set_timer(timer, context.mono() + redlock.node_timeout);
        }
        Round { call, sent: context.mono(), masters: redlock.masters, agreed: 0, refused: 0, holder: None }
    }

    /// Deletes the key on all masters.
    pub(super) fn release(&mut self, context: Context<'_>, actions: &mut Actions) {
        self.renewal = None;
        let Some(Asked { key, value, .. }) = self.asked else { return };
        let request = match context.plan.lock_rules.release {
            ReleaseRule::Conditional => RedisRequest::DeleteIfMine { key, value },
            ReleaseRule::Unconditional => RedisRequest::Delete { key },
        };
        let round = self.ask_all(context, &request, Some(TimerKey::LockTimeout), actions);
        self.phase = Phase::Releasing(round);
    }

    pub(super) fn timer_fired(
        &mut self,
        context: Context<'_>,
        key: TimerKey,
        actions: &mut Actions,
    ) -> Option<Outcome> {
        if key == TimerKey::RenewalTimeout {
            return match self.renewal {
                Some(Renewal::Asking(..)) => self.renewal_counted(context, actions),
                Some(Renewal::BackingOff) => Some(Outcome::RetryRenewal),
                None => None,
            };
        }
        match &self.phase {
            Phase::Setting(_) => self.counted(context, actions),
            Phase::Resting => {
                self.attempt(context, actions);
                None
            }
            Phase::GettingToken(attempt) if attempt.backing_off => {
                self.ask_for_token(context, attempt.clone(), actions);
                None
            }
            Phase::GettingToken(_) => self.ask_next_node(context, None, actions),
            Phase::Releasing(_) => self.quiet(Outcome::Released),
            Phase::Quiet => None,
        }
    }

    fn quiet(&mut self, outcome: Outcome) -> Option<Outcome> {
        self.phase = Phase::Quiet;
        Some(outcome)
    }

    /// Takes a message of a master, or of a node that issues tokens.
    pub(super) fn message(
        &mut self,
        context: Context<'_>,
        from: MachineId,
        message: Message,
        actions: &mut Actions,
    ) -> Option<Outcome> {
        let (call, reply) = match message {
            Message::RedisReply(call, reply, ..) => (call, reply),
            Message::LockReply(call, reply) => return self.node_answered(context, call, reply, actions),
            _ => return None,
        };
        if let Some(Renewal::Asking(round, _)) = &mut self.renewal
            && round.call == call
        {
            round.answered(from, reply);
            return if round.unanswered() == 0 { self.renewal_counted(context, actions) } else { None };
        }
        let (Phase::Setting(round) | Phase::Releasing(round)) = &mut self.phase else { return None };
        if round.call != call {
            return None;
        }
        round.answered(from, reply);
        if round.unanswered() > 0 {
            return None;
        }
        match self.phase {
            Phase::Setting(_) => self.counted(context, actions),
            _ => {
                actions.cancel_timer(TimerKey::LockTimeout);
                self.quiet(Outcome::Released)
            }
        }
    }

    /// All have answered, or the time is up: does the client hold the lock?
    fn counted(&mut self, context: Context<'_>, actions: &mut Actions) -> Option<Outcome> {
        actions.cancel_timer(TimerKey::LockTimeout);
        let Phase::Setting(round) = self.phase.clone() else { return None };
        let asked = self.asked.clone()?;
        let validity = self.count(context, &round, asked.value, asked.ttl, false, actions);
        if validity.is_none() {
            if let (0, Some(holder)) = (self.retries_left, round.holder) {
                actions.record(Kind::LockBusy { worker: self.worker, holder, token: NO_TOKEN });
            }
            return self.failed(context, &asked, actions);
        }
        match context.plan.redlock.token {
            TokenFrom::Nowhere => {
                self.quiet(Outcome::Acquired(Grant { token: NO_TOKEN, stop: asked.stop, sent: asked.sent }))
            }
            TokenFrom::Consensus => {
                let attempt = self.nodes.begin(context);
                self.ask_for_token(context, attempt, actions);
                None
            }
        }
    }

    /// The validity, if a majority has agreed in time.
    fn count(
        &self,
        context: Context<'_>,
        round: &Round,
        lease: LeaseId,
        ttl: Span,
        renewal: bool,
        actions: &mut Actions,
    ) -> Option<Span> {
        let redlock = &context.plan.redlock;
        let elapsed = context.mono() - round.sent;
        let left = ttl - elapsed - redlock.drift(ttl);
        let validity = (usize::from(round.agreed()) >= redlock.majority() && left > Span::ZERO).then_some(left);
        actions.record(Kind::MajorityCounted {
            worker: self.worker,
            lease,
            renewal,
            agreed: round.agreed(),
            refused: round.refused(),
            unanswered: round.unanswered(),
            elapsed,
            validity,
            labs: labs_only(),
        });
        validity
    }

    /// Gives back what it got and tries again after a random pause, or not any more.
    fn failed(&mut self, context: Context<'_>, asked: &Asked, actions: &mut Actions) -> Option<Outcome> {
        let request = RedisRequest::DeleteIfMine { key: asked.key, value: asked.value };
        self.ask_all(context, &request, None, actions);
        self.asked = None;
        if self.retries_left == 0 {
            return self.quiet(Outcome::NotAcquired);
        }
        self.retries_left -= 1;
        self.phase = Phase::Resting;
        let stream =
            u64::from(self.worker.0) << 48 | u64::from(self.incarnation) << 32 | u64::from(self.locks_asked_for);
        let pause = Rng::new(context.seed, stream).span_up_to(context.plan.redlock.retry_delay);
        actions.set_timer(TimerKey::LockTimeout, context.mono() + pause);
        None
    }

    fn ask_for_token(&mut self, context: Context<'_>, mut attempt: Attempt, actions: &mut Actions) {
        let Some(asked) = &self.asked else { return };
        let request = LockRequest::IssueToken { lease: asked.value };
        let request = |call| Message::LockRequest(call, request);
        self.nodes.send(context, &mut attempt, request, TimerKey::LockTimeout, actions);
        self.phase = Phase::GettingToken(attempt);
    }

    fn ask_next_node(&mut self, context: Context<'_>, named: Option<NodeId>, actions: &mut Actions) -> Option<Outcome> {
        let Phase::GettingToken(attempt) = &mut self.phase else { return None };
        let asked = self.asked.clone()?;
        if context.mono() >= asked.stop {
            actions.cancel_timer(TimerKey::LockTimeout);
            self.retries_left = 0;
            return self.failed(context, &asked, actions);
        }
        match attempt.next_node(context, named) {
            Next::Send => {
                let attempt = attempt.clone();
                self.ask_for_token(context, attempt, actions);
            }
            Next::AllTried => attempt.back_off(context, TimerKey::LockTimeout, actions),
        }
        None
    }

    fn node_answered(
        &mut self,
        context: Context<'_>,
        call: CallId,
        reply: LockReply,
        actions: &mut Actions,
    ) -> Option<Outcome> {
        let Phase::GettingToken(attempt) = &self.phase else { return None };
        if attempt.call != call {
            return None;
        }
        match reply {
            LockReply::TokenIssued(token) => {
                self.nodes.answered(attempt);
                actions.cancel_timer(TimerKey::LockTimeout);
                let Asked { stop, sent, .. } = *self.asked.as_ref()?;
                self.quiet(Outcome::Acquired(Grant { token, stop, sent }))
            }
            LockReply::NotLeader(named) => self.ask_next_node(context, named, actions),
            _ => None,
        }
    }

    /// Begins to renew: extends the key on all masters.
    pub(super) fn renew(&mut self, context: Context<'_>, actions: &mut Actions) {
        let Some(Asked { key, value, .. }) = self.asked else { return };
        let ttl = context.settings.lease;
        let request = RedisRequest::Extend { key, value, ttl, stop_on_holder: stop(context, ttl) };
        let round = self.ask_all(context, &request, Some(TimerKey::RenewalTimeout), actions);
        self.renewal = Some(Renewal::Asking(round, ttl));
    }

    fn renewal_counted(&mut self, context: Context<'_>, actions: &mut Actions) -> Option<Outcome> {
        actions.cancel_timer(TimerKey::RenewalTimeout);
        let Some(Renewal::Asking(round, ttl)) = self.renewal.take() else { return None };
        let lease = self.asked.as_ref()?.value;
        if self.count(context, &round, lease, ttl, true, actions).is_some() {
            let redlock = &context.plan.redlock;
            let stop = round.sent + ttl - redlock.drift(ttl) - context.settings.margin;
            return Some(Outcome::Renewed { stop, sent: round.sent });
        }
        let majority = context.plan.redlock.majority();
        if usize::from(round.masters - round.refused()) < majority {
            // So many have forgotten the key that no majority can have it any more.
            return Some(Outcome::Lost);
        }
        self.renewal = Some(Renewal::BackingOff);
        actions.set_timer(TimerKey::RenewalTimeout, context.mono() + context.plan.latency.lock_backoff);
        let (machine, timed_out) = round.missing();
        Some(Outcome::RenewalFailed { machine, timed_out, retry: false })
    }
}

/// When a holder must stop that asks now.
fn stop(context: Context<'_>, ttl: Span) -> Mono {
    context.mono() + ttl - context.plan.redlock.drift(ttl) - context.settings.margin
}

/// Asks all masters who holds locks, for the sweeper.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RedlockProbe {
    incarnation: u32,
    calls: u32,
    asking: Option<(CallId, Vec<JobId>)>,
    answers: Vec<(MachineId, Vec<Found>)>,
}

impl RedlockProbe {
    pub(super) fn new(incarnation: u32) -> RedlockProbe {
        RedlockProbe { incarnation, calls: 0, asking: None, answers: Vec::new() }
    }

    pub(super) fn reset(&mut self) {
        self.asking = None;
    }

    pub(super) fn ask(&mut self, context: Context<'_>, jobs: Vec<JobId>, actions: &mut Actions) {
        self.calls += 1;
        let call = CallId { incarnation: self.incarnation, number: self.calls };
        for number in 1..=context.plan.redlock.masters {
            actions.send(
                MachineId::Master(number),
                Message::Redis(call, RedisRequest::Get { jobs: jobs.clone() }, labs_only()),
            );
        }
        actions.set_timer(TimerKey::LockTimeout, context.mono() + context.plan.redlock.node_timeout);
        self.asking = Some((call, jobs));
        self.answers.clear();
    }

    pub(super) fn message(
        &mut self,
        context: Context<'_>,
        from: MachineId,
        message: Message,
        actions: &mut Actions,
    ) -> Option<Answer> {
        let Message::RedisReply(call, RedisReply::Values(found), ..) = message else { return None };
        if self.asking.as_ref()?.0 != call || self.answers.iter().any(|(master, _)| *master == from) {
            return None;
        }
        self.answers.push((from, found));
        if self.answers.len() < usize::from(context.plan.redlock.masters) {
            return None;
        }
        self.timed_out(context, actions)
    }

    /// All have answered, or the time is up.
    ///
    /// A lock counts as held unless the masters that answered make it certain that no majority has it.
    pub(super) fn timed_out(&mut self, context: Context<'_>, actions: &mut Actions) -> Option<Answer> {
        let (_, jobs) = self.asking.take()?;
        actions.cancel_timer(TimerKey::LockTimeout);
        let redlock = &context.plan.redlock;
        let silent = usize::from(redlock.masters) - self.answers.len();
        if silent >= redlock.majority() {
            return Some(None);
        }
        let holders = jobs.into_iter().filter_map(|job| {
            let values = || self.answers.iter().flat_map(|(_, found)| found).filter(move |found| found.job == job);
            let count = |value: LeaseId| values().filter(|found| found.value == value).count();
            let likeliest = values().map(|found| found.value).max_by_key(|value| count(*value))?;
            let may_have_it = count(likeliest) + silent >= redlock.majority();
            may_have_it.then_some(Holder { job, worker: likeliest.worker, token: NO_TOKEN })
        });
        Some(Some(holders.collect()))
    }
}
