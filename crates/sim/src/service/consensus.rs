//! The consensus service's client library: read the key, grant a lease, create the key; keep alive; revoke.

use super::nodes::{Attempt, Inquiry, Next, NodeClient};
use super::{Answer, Grant, Outcome};
use crate::actor::{Actions, Context, TimerKey};
use crate::event::Kind;
use crate::labs_only::labs_only;
use crate::machine::{JobId, NodeId, WorkerId};
use crate::message::{CallId, Holder, KeyName, LeaseId, LockReply, LockRequest, Message, NO_TOKEN, Token};
use crate::settings::{Limit, Plan, ReleaseRule, WatchRule};
use crate::time::{Mono, Span};

/// A worker's client.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConsensusClient {
    worker: WorkerId,
    incarnation: u32,
    job: JobId,
    nodes: NodeClient,
    leases_asked_for: u32,
    lease: Option<Asked>,
    phase: Phase,
    renewal: Option<Renewal>,
    /// In whose term the latest keep-alive was answered.
    renewed_in_term: u32,
}

/// The lease that the worker holds, or is about to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Asked {
    lease: LeaseId,
    key: KeyName,
    /// The length that it asked for; a repeated request must not ask for another, which `stop` would not fit.
    ttl: Span,
    /// The stop time if it gets the lock.
    stop: Mono,
    /// When it asked first; for a candidate, when it sent its latest keep-alive.
    sent: Mono,
    /// The create revision of its key, once there is one.
    token: Token,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Renewal {
    attempt: Attempt,
    /// The stop time if the present attempt succeeds.
    stop_on_success: Mono,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Quiet,
    ReadingKey(Attempt),
    GrantingLease(Attempt),
    CreatingKey(Attempt),
    /// Somebody else was quicker: the lease that is of no use is given back.
    ReturningLease(Attempt),
    Releasing(Attempt),
    /// A candidate has a key: is it the oldest?
    ReadingCandidates(Attempt),
    /// It asks to be told when another key is gone.
    SettingWatch(Attempt, Token),
    /// It will be told by the leader of this term, as the answer to that call.
    Waiting(Attempt, Token, u32),
}

impl ConsensusClient {
    /// The client of one process of `worker`.
    pub(super) fn new(plan: &Plan, worker: WorkerId, incarnation: u32) -> ConsensusClient {
        ConsensusClient {
            worker,
            incarnation,
            job: plan.program(worker).job,
            nodes: NodeClient::new(plan, incarnation),
            leases_asked_for: 0,
            lease: None,
            phase: Phase::Quiet,
            renewal: None,
            renewed_in_term: 0,
        }
    }

    /// Forgets what it was about; the names of calls and leases stay used up.
    pub(super) fn reset(&mut self) {
        self.lease = None;
        self.phase = Phase::Quiet;
        self.renewal = None;
    }

    /// Names the job whose lock it asks for from now on.
    pub(super) fn set_job(&mut self, job: JobId) {
        self.job = job;
    }

    /// What it is doing, in a few words.
    pub(super) fn activity(&self) -> &'static str {
        match self.phase {
            Phase::Quiet => "waits",
            Phase::ReadingKey(_) => "asks who holds the key",
            Phase::GrantingLease(_) => "asks for a lease",
            Phase::CreatingKey(_) => "creates the key",
            Phase::ReturningLease(_) => "returns a lease it cannot use",
            Phase::Releasing(_) => "releases the lock",
            Phase::ReadingCandidates(_) => "asks whose key is the oldest",
            Phase::SettingWatch(..) => "sets a watch",
            Phase::Waiting(..) => "waits until another key is gone",
        }
    }

    /// Whether there is a lease, or a request for one, to give back.
    pub(super) fn has_asked(&self) -> bool {
        self.lease.is_some()
    }

    /// Acquiring begins with a look at the key, so that a failed attempt leaves no lease behind.
    /// A candidate creates a key of its own in any case.
    pub(super) fn acquire(&mut self, context: Context<'_>, actions: &mut Actions) {
        self.lease = None;
        self.renewal = None;
        if context.plan.lock_rules.campaign.is_some() {
            self.grant_lease(context, actions);
            return;
        }
        let attempt = self.nodes.begin(context);
        self.send(context, Phase::ReadingKey(attempt), actions);
    }

    /// Ends the lease.
    pub(super) fn release(&mut self, context: Context<'_>, actions: &mut Actions) {
        self.renewal = None;
        let attempt = self.nodes.begin(context);
        self.send(context, Phase::Releasing(attempt), actions);
    }

    /// Sends what the phase is waiting for to the attempt's node.
    fn send(&mut self, context: Context<'_>, mut phase: Phase, actions: &mut Actions) {
        let (attempt, request) = match (&mut phase, &self.lease) {
            (Phase::ReadingKey(attempt), _) => (attempt, LockRequest::ReadKey { job: self.job }),
            (Phase::GrantingLease(attempt), Some(asked)) => {
                (attempt, LockRequest::GrantLease { lease: asked.lease, ttl: asked.ttl })
            }
            (Phase::CreatingKey(attempt), Some(asked)) => {
                (attempt, LockRequest::CreateKey { lease: asked.lease, key: asked.key, stop_on_holder: asked.stop })
            }
            (Phase::Releasing(attempt), Some(asked))
                if context.plan.lock_rules.release == ReleaseRule::Unconditional =>
            {
                (attempt, LockRequest::DeleteKey { key: asked.key })
            }
            (Phase::ReturningLease(attempt) | Phase::Releasing(attempt), Some(asked)) => {
                (attempt, LockRequest::Revoke { lease: asked.lease })
            }
            (Phase::ReadingCandidates(attempt), Some(asked)) => {
                (attempt, LockRequest::ReadCandidates { job: asked.key.job })
            }
            (Phase::SettingWatch(attempt, created), Some(asked)) => {
                (attempt, LockRequest::Watch { job: asked.key.job, created: *created })
            }
            _ => return,
        };
        let request = |call| Message::LockRequest(call, request);
        self.nodes.send(context, attempt, request, TimerKey::LockTimeout, actions);
        self.phase = phase;
    }

    fn attempt(&mut self) -> Option<&mut Attempt> {
        match &mut self.phase {
            Phase::ReadingKey(attempt)
            | Phase::GrantingLease(attempt)
            | Phase::CreatingKey(attempt)
            | Phase::ReturningLease(attempt)
            | Phase::ReadingCandidates(attempt)
            | Phase::SettingWatch(attempt, _)
            | Phase::Waiting(attempt, ..)
            | Phase::Releasing(attempt) => Some(attempt),
            Phase::Quiet => None,
        }
    }

    pub(super) fn timer_fired(
        &mut self,
        context: Context<'_>,
        key: TimerKey,
        actions: &mut Actions,
    ) -> Option<Outcome> {
        if key == TimerKey::RenewalTimeout {
            let renewal = self.renewal.as_ref()?;
            let outcome = if renewal.attempt.backing_off {
                Some(Outcome::RetryRenewal)
            } else {
                self.renewal_failed(context, None, true, actions)
            };
            return self.of_candidate(context, outcome, actions);
        }
        if self.attempt()?.backing_off {
            let phase = self.phase.clone();
            self.send(context, phase, actions);
            None
        } else {
            self.ask_next_node(context, None, actions)
        }
    }

    fn ask_next_node(&mut self, context: Context<'_>, named: Option<NodeId>, actions: &mut Actions) -> Option<Outcome> {
        if self.attempt()?.next_node(context, named) == Next::Send {
            let phase = self.phase.clone();
            self.send(context, phase, actions);
            return None;
        }
        let stopped = self.lease.as_ref().is_some_and(|asked| context.mono() >= asked.stop);
        match self.phase {
            Phase::ReadingKey(_) => {
                actions.record(Kind::LockUnreachable { worker: self.worker });
                actions.cancel_timer(TimerKey::LockTimeout);
                self.quiet(Outcome::NotAcquired)
            }
            // Whatever was asked for has run out by itself.
            Phase::Releasing(_) if stopped => self.quiet(Outcome::Released),
            _ if stopped => {
                actions.cancel_timer(TimerKey::LockTimeout);
                self.quiet(Outcome::NotAcquired)
            }
            _ => {
                self.attempt()?.back_off(context, TimerKey::LockTimeout, actions);
                None
            }
        }
    }

    fn quiet(&mut self, outcome: Outcome) -> Option<Outcome> {
        self.phase = Phase::Quiet;
        Some(outcome)
    }

    /// Takes a message of the service.
    pub(super) fn message(&mut self, context: Context<'_>, message: Message, actions: &mut Actions) -> Option<Outcome> {
        let Message::LockReply(call, reply) = message else { return None };
        if self.renewal.as_ref().is_some_and(|renewal| renewal.attempt.call == call) {
            let outcome = self.renewal_answered(context, reply, actions);
            self.of_candidate(context, outcome, actions)
        } else {
            self.answered(context, call, reply, actions)
        }
    }

    fn answered(
        &mut self,
        context: Context<'_>,
        call: CallId,
        reply: LockReply,
        actions: &mut Actions,
    ) -> Option<Outcome> {
        if self.attempt()?.call != call {
            return None;
        }
        if let LockReply::NotLeader(named) = reply {
            return self.ask_next_node(context, named, actions);
        }
        actions.cancel_timer(TimerKey::LockTimeout);
        let attempt = self.attempt()?.clone();
        self.nodes.answered(&attempt);
        let worker = self.worker;
        match (&self.phase, reply) {
            (Phase::ReadingKey(_), LockReply::Key(None)) => {
                self.grant_lease(context, actions);
                None
            }
            (Phase::ReadingKey(_), LockReply::Key(Some((holder, token)))) => {
                actions.record(Kind::LockBusy { worker, holder, token });
                self.quiet(Outcome::Busy(token))
            }
            (Phase::GrantingLease(_), LockReply::LeaseGranted) => {
                let attempt = self.nodes.begin(context);
                self.send(context, Phase::CreatingKey(attempt), actions);
                None
            }
            (Phase::ReadingKey(_), LockReply::Delayed) => {
                actions.record(Kind::LockDelayed { worker, labs: labs_only() });
                self.quiet(Outcome::NotAcquired)
            }
            (Phase::CreatingKey(_), LockReply::Created(token)) if context.plan.lock_rules.campaign.is_some() => {
                self.queued(context, token, actions);
                None
            }
            (Phase::ReadingCandidates(_), LockReply::Candidates(candidates)) => {
                self.look_at_candidates(context, &candidates, actions)
            }
            (Phase::SettingWatch(attempt, watched), LockReply::Watching { term }) => {
                self.phase = Phase::Waiting(attempt.clone(), *watched, term);
                None
            }
            (Phase::SettingWatch(_, watched) | Phase::Waiting(_, watched, _), LockReply::KeyDeleted) => {
                let (token, watched) = (self.lease.as_ref()?.token, *watched);
                actions.record(Kind::CandidateWoken { worker, token, watched, labs: labs_only() });
                self.read_candidates(context, actions);
                None
            }
            (Phase::SettingWatch(..) | Phase::Waiting(..), LockReply::HistoryGone) => {
                let token = self.lease.as_ref()?.token;
                actions.record(Kind::WatchLost { worker, token, history_gone: true, labs: labs_only() });
                self.read_candidates(context, actions);
                None
            }
            (Phase::CreatingKey(_), LockReply::Created(token)) => {
                let asked = self.lease.as_ref()?;
                let (stop, sent) = (asked.stop, asked.sent);
                self.quiet(Outcome::Acquired(Grant { token, stop, sent }))
            }
            (Phase::CreatingKey(_), reply @ (LockReply::Held(..) | LockReply::Delayed)) => {
                match reply {
                    LockReply::Held(holder, token) => actions.record(Kind::LockBusy { worker, holder, token }),
                    _ => actions.record(Kind::LockDelayed { worker, labs: labs_only() }),
                }
                let attempt = self.nodes.begin(context);
                self.send(context, Phase::ReturningLease(attempt), actions);
                None
            }
            (Phase::Releasing(_), _) => self.quiet(Outcome::Released),
            _ => self.quiet(Outcome::NotAcquired),
        }
    }

    fn grant_lease(&mut self, context: Context<'_>, actions: &mut Actions) {
        self.leases_asked_for += 1;
        let settings = context.settings;
        // A lock without a lease is one that never ends by itself.
        let limited = context.plan.lock_rules.limit == Limit::Lease;
        self.lease = Some(Asked {
            lease: LeaseId { worker: self.worker, incarnation: self.incarnation, number: self.leases_asked_for },
            key: KeyName { job: self.job, candidate: context.plan.lock_rules.campaign.map(|_| self.worker) },
            ttl: if limited { settings.lease } else { Span::FOREVER },
            // Counted from before the first send: the lease cannot have begun earlier.
            stop: if limited { context.mono() + settings.lease - settings.margin } else { Mono::NEVER },
            sent: context.mono(),
            token: NO_TOKEN,
        });
        let attempt = self.nodes.begin(context);
        self.send(context, Phase::GrantingLease(attempt), actions);
    }

    pub(super) fn lease(&self) -> Option<LeaseId> {
        self.lease.as_ref().map(|asked| asked.lease)
    }

    /// Only keep-alives are sent for an adopted lease.
    pub(super) fn adopt(&mut self, lease: LeaseId) {
        self.reset();
        let key = KeyName::default();
        self.lease = Some(Asked { lease, key, ttl: Span::ZERO, stop: Mono::ZERO, sent: Mono::ZERO, token: NO_TOKEN });
    }

    /// Begins to renew.
    pub(super) fn renew(&mut self, context: Context<'_>, actions: &mut Actions) {
        let attempt = self.nodes.begin(context);
        self.send_renewal(context, attempt, actions);
    }

    /// Sends a renewal again that found no answer.
    pub(super) fn retry_renewal(&mut self, context: Context<'_>, actions: &mut Actions) {
        if let Some(renewal) = self.renewal.take() {
            self.send_renewal(context, renewal.attempt, actions);
        }
    }

    fn send_renewal(&mut self, context: Context<'_>, mut attempt: Attempt, actions: &mut Actions) {
        let Some(asked) = &self.lease else { return };
        let settings = context.settings;
        let stop_on_success = context.mono() + settings.lease - settings.margin;
        let request =
            LockRequest::KeepAlive { lease: asked.lease, ttl: settings.lease, stop_on_holder: stop_on_success };
        let request = |call| Message::LockRequest(call, request);
        self.nodes.send(context, &mut attempt, request, TimerKey::RenewalTimeout, actions);
        self.renewal = Some(Renewal { attempt, stop_on_success });
    }

    fn renewal_failed(
        &mut self,
        context: Context<'_>,
        named: Option<NodeId>,
        timed_out: bool,
        actions: &mut Actions,
    ) -> Option<Outcome> {
        let renewal = self.renewal.as_mut()?;
        let failed = renewal.attempt.machine;
        match renewal.attempt.next_node(context, named) {
            Next::Send => Some(Outcome::RenewalFailed { machine: failed, timed_out, retry: true }),
            Next::AllTried => {
                renewal.attempt.back_off(context, TimerKey::RenewalTimeout, actions);
                Some(Outcome::RenewalFailed { machine: failed, timed_out, retry: false })
            }
        }
    }

    fn renewal_answered(&mut self, context: Context<'_>, reply: LockReply, actions: &mut Actions) -> Option<Outcome> {
        match reply {
            LockReply::NotLeader(named) => self.renewal_failed(context, named, false, actions),
            LockReply::KeptAlive { term } => {
                self.renewed_in_term = term;
                let renewal = self.renewal.take()?;
                self.nodes.answered(&renewal.attempt);
                actions.cancel_timer(TimerKey::RenewalTimeout);
                Some(Outcome::Renewed { stop: renewal.stop_on_success, sent: renewal.attempt.sent })
            }
            LockReply::LeaseNotFound => {
                self.renewal = None;
                Some(Outcome::Lost)
            }
            _ => {
                self.renewal = None;
                None
            }
        }
    }
}

/// A candidate in an election: it has a key of its own and waits until no older one is left (the recipe of etcd's
/// `concurrency.Election`).
impl ConsensusClient {
    /// From here on it keeps its lease alive, and with it its place in the queue.
    fn queued(&mut self, context: Context<'_>, token: Token, actions: &mut Actions) {
        if let Some(asked) = &mut self.lease {
            asked.token = token;
            actions.set_timer(TimerKey::Renewal, asked.sent + context.settings.renew);
        }
        self.read_candidates(context, actions);
    }

    fn read_candidates(&mut self, context: Context<'_>, actions: &mut Actions) {
        let attempt = self.nodes.begin(context);
        self.send(context, Phase::ReadingCandidates(attempt), actions);
    }

    /// The oldest key leads; all others watch.
    fn look_at_candidates(
        &mut self,
        context: Context<'_>,
        candidates: &[Holder],
        actions: &mut Actions,
    ) -> Option<Outcome> {
        let asked = self.lease.as_ref()?;
        let (token, stop, sent) = (asked.token, asked.stop, asked.sent);
        let place = candidates.iter().position(|candidate| candidate.token == token);
        match place {
            Some(_) if context.mono() >= stop => self.lost_place(actions),
            None => self.lost_place(actions),
            Some(0) => self.quiet(Outcome::Acquired(Grant { token, stop, sent })),
            Some(place) => {
                let watched = match context.plan.lock_rules.campaign {
                    Some(WatchRule::Leader) => candidates.first()?,
                    _ => candidates.get(place - 1)?,
                };
                actions.record(Kind::CandidateWaits {
                    worker: self.worker,
                    token,
                    watches: watched.token,
                    labs: labs_only(),
                });
                self.set_watch(context, watched.token, actions);
                None
            }
        }
    }

    fn set_watch(&mut self, context: Context<'_>, watched: Token, actions: &mut Actions) {
        let attempt = self.nodes.begin(context);
        self.send(context, Phase::SettingWatch(attempt, watched), actions);
    }

    /// Its lease is over, and its key with it, or there is no time left to use them: it must queue again.
    fn lost_place(&mut self, actions: &mut Actions) -> Option<Outcome> {
        self.reset();
        for key in [TimerKey::Renewal, TimerKey::RenewalTimeout, TimerKey::LockTimeout] {
            actions.cancel_timer(key);
        }
        Some(Outcome::NotAcquired)
    }

    fn is_queued(&self) -> bool {
        matches!(self.phase, Phase::ReadingCandidates(_) | Phase::SettingWatch(..) | Phase::Waiting(..))
    }

    /// A candidate that waits renews by itself.
    pub(super) fn renew_as_candidate(&mut self, context: Context<'_>, actions: &mut Actions) {
        if self.is_queued() {
            self.renew(context, actions);
        }
    }

    /// What comes of a candidate's keep-alive is its own business; a holder's is the worker's.
    fn of_candidate(
        &mut self,
        context: Context<'_>,
        outcome: Option<Outcome>,
        actions: &mut Actions,
    ) -> Option<Outcome> {
        if !self.is_queued() {
            return outcome;
        }
        match outcome? {
            Outcome::Renewed { stop, sent } => {
                let asked = self.lease.as_mut()?;
                asked.stop = stop;
                asked.sent = sent;
                actions.set_timer(TimerKey::Renewal, sent + context.settings.renew);
                self.watch_again(context, actions);
                None
            }
            Outcome::RetryRenewal | Outcome::RenewalFailed { retry: true, .. } => {
                if context.mono() >= self.lease.as_ref()?.stop {
                    return self.lost_place(actions);
                }
                self.retry_renewal(context, actions);
                None
            }
            Outcome::Lost => self.lost_place(actions),
            _ => None,
        }
    }

    /// A watch is in the memory of one leader: with a new one it must be set again.
    fn watch_again(&mut self, context: Context<'_>, actions: &mut Actions) {
        if let Phase::Waiting(_, _, term) = self.phase
            && term != self.renewed_in_term
        {
            let token = self.lease.as_ref().map_or(NO_TOKEN, |asked| asked.token);
            actions.record(Kind::WatchLost { worker: self.worker, token, history_gone: false, labs: labs_only() });
            self.read_candidates(context, actions);
        }
    }
}

/// Asks who holds locks, for the sweeper.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConsensusProbe(Inquiry);

fn read_keys(call: CallId, jobs: Vec<JobId>) -> Message {
    Message::LockRequest(call, LockRequest::ReadKeys { jobs })
}

impl ConsensusProbe {
    pub(super) fn new(plan: &Plan, incarnation: u32) -> ConsensusProbe {
        ConsensusProbe(Inquiry::new(plan, incarnation))
    }

    pub(super) fn reset(&mut self) {
        self.0.reset();
    }

    pub(super) fn ask(&mut self, context: Context<'_>, jobs: Vec<JobId>, actions: &mut Actions) {
        self.0.ask(context, jobs, read_keys, actions);
    }

    pub(super) fn timed_out(&mut self, context: Context<'_>, actions: &mut Actions) -> Option<Answer> {
        self.0.ask_next(context, None, read_keys, actions)
    }

    pub(super) fn message(&mut self, context: Context<'_>, message: Message, actions: &mut Actions) -> Option<Answer> {
        match message {
            Message::LockReply(call, _) if !self.0.awaits(call) => None,
            Message::LockReply(_, LockReply::NotLeader(named)) => self.0.ask_next(context, named, read_keys, actions),
            Message::LockReply(_, LockReply::Keys(holders)) => self.0.answered(holders, actions),
            _ => None,
        }
    }
}
