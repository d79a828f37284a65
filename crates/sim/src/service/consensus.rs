//! The consensus service's client library: read the key, grant a lease, create the key; keep alive; revoke.

use super::nodes::{Attempt, Next, NodeClient};
use super::{Answer, Grant, Outcome};
use crate::actor::{Actions, Context, TimerKey};
use crate::event::Kind;
use crate::machine::{JobId, NodeId, WorkerId};
use crate::message::{CallId, KeyName, LeaseId, LockReply, LockRequest, Message};
use crate::settings::Plan;
use crate::time::{Mono, Span};

/// A worker's client.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConsensusClient {
    worker: WorkerId,
    incarnation: u32,
    nodes: NodeClient,
    leases_asked_for: u32,
    lease: Option<Asked>,
    phase: Phase,
    renewal: Option<Renewal>,
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
    /// When it asked first.
    sent: Mono,
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
}

impl ConsensusClient {
    /// The client of one process of `worker`.
    pub(super) fn new(plan: &Plan, worker: WorkerId, incarnation: u32) -> ConsensusClient {
        ConsensusClient {
            worker,
            incarnation,
            nodes: NodeClient::new(plan, incarnation),
            leases_asked_for: 0,
            lease: None,
            phase: Phase::Quiet,
            renewal: None,
        }
    }

    /// Forgets what it was about; the names of calls and leases stay used up.
    pub(super) fn reset(&mut self) {
        self.lease = None;
        self.phase = Phase::Quiet;
        self.renewal = None;
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
        }
    }

    /// Whether there is a lease, or a request for one, to give back.
    pub(super) fn has_asked(&self) -> bool {
        self.lease.is_some()
    }

    /// Acquiring begins with a look at the key, so that a failed attempt leaves no lease behind.
    pub(super) fn acquire(&mut self, context: Context<'_>, actions: &mut Actions) {
        self.lease = None;
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
            (Phase::ReadingKey(attempt), _) => {
                (attempt, LockRequest::ReadKey { job: context.plan.program(self.worker).job })
            }
            (Phase::GrantingLease(attempt), Some(asked)) => {
                (attempt, LockRequest::GrantLease { lease: asked.lease, ttl: asked.ttl })
            }
            (Phase::CreatingKey(attempt), Some(asked)) => {
                (attempt, LockRequest::CreateKey { lease: asked.lease, key: asked.key, stop_on_holder: asked.stop })
            }
            (Phase::ReturningLease(attempt) | Phase::Releasing(attempt), Some(asked)) => {
                (attempt, LockRequest::Revoke { lease: asked.lease })
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
            return if renewal.attempt.backing_off {
                Some(Outcome::RetryRenewal)
            } else {
                self.renewal_failed(context, None, true, actions)
            };
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
            self.renewal_answered(context, reply, actions)
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
                self.quiet(Outcome::NotAcquired)
            }
            (Phase::GrantingLease(_), LockReply::LeaseGranted) => {
                let attempt = self.nodes.begin(context);
                self.send(context, Phase::CreatingKey(attempt), actions);
                None
            }
            (Phase::CreatingKey(_), LockReply::Created(token)) => {
                let asked = self.lease.as_ref()?;
                let (stop, sent) = (asked.stop, asked.sent);
                self.quiet(Outcome::Acquired(Grant { token, stop, sent }))
            }
            (Phase::CreatingKey(_), LockReply::Held(holder, token)) => {
                actions.record(Kind::LockBusy { worker, holder, token });
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
        self.lease = Some(Asked {
            lease: LeaseId { worker: self.worker, incarnation: self.incarnation, number: self.leases_asked_for },
            key: KeyName::lock(context.plan.program(self.worker).job),
            ttl: settings.lease,
            // Counted from before the first send: the lease cannot have begun earlier.
            stop: context.mono() + settings.lease - settings.margin,
            sent: context.mono(),
        });
        let attempt = self.nodes.begin(context);
        self.send(context, Phase::GrantingLease(attempt), actions);
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
            LockReply::KeptAlive => {
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

/// Asks who holds locks, for the sweeper.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConsensusProbe {
    nodes: NodeClient,
    asking: Option<(Attempt, Vec<JobId>)>,
}

impl ConsensusProbe {
    pub(super) fn new(plan: &Plan, incarnation: u32) -> ConsensusProbe {
        ConsensusProbe { nodes: NodeClient::new(plan, incarnation), asking: None }
    }

    pub(super) fn reset(&mut self) {
        self.asking = None;
    }

    pub(super) fn ask(&mut self, context: Context<'_>, jobs: Vec<JobId>, actions: &mut Actions) {
        let attempt = self.nodes.begin(context);
        self.send(context, attempt, jobs, actions);
    }

    fn send(&mut self, context: Context<'_>, mut attempt: Attempt, jobs: Vec<JobId>, actions: &mut Actions) {
        let request = |call| Message::LockRequest(call, LockRequest::ReadKeys { jobs: jobs.clone() });
        self.nodes.send(context, &mut attempt, request, TimerKey::LockTimeout, actions);
        self.asking = Some((attempt, jobs));
    }

    pub(super) fn timed_out(&mut self, context: Context<'_>, actions: &mut Actions) -> Option<Answer> {
        self.try_next(context, None, actions)
    }

    fn try_next(&mut self, context: Context<'_>, named: Option<NodeId>, actions: &mut Actions) -> Option<Answer> {
        let (mut attempt, jobs) = self.asking.take()?;
        actions.cancel_timer(TimerKey::LockTimeout);
        match attempt.next_node(context, named) {
            Next::Send => {
                self.send(context, attempt, jobs, actions);
                None
            }
            Next::AllTried => Some(None),
        }
    }

    pub(super) fn message(&mut self, context: Context<'_>, message: Message, actions: &mut Actions) -> Option<Answer> {
        let Message::LockReply(call, reply) = message else { return None };
        if self.asking.as_ref()?.0.call != call {
            return None;
        }
        match reply {
            LockReply::NotLeader(named) => self.try_next(context, named, actions),
            LockReply::Keys(holders) => {
                let (attempt, _) = self.asking.take()?;
                self.nodes.answered(&attempt);
                actions.cancel_timer(TimerKey::LockTimeout);
                Some(Some(holders))
            }
            _ => None,
        }
    }
}
