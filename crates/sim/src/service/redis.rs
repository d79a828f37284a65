//! The client library of a lock on one Redis primary: `SET NX PX`, compare and extend, compare and delete.
//!
//! The token comes from `INCR`, in the same script as the `SET` and only if that succeeded, as Redisson's
//! `RFencedLock` does it.
//! Two calls would be wrong either way: drawn before the `SET`, a number can be older than that of a holder in between;
//! drawn after it, a client that is held up between the two can draw a higher number than its successor.
//!
//! A client asks the primary first and the replica next: after a failover that is how it finds the new primary.

use super::nodes::{Attempt, Inquiry, Next, NodeClient};
use super::{Answer, Grant, Outcome};
use crate::actor::{Actions, Context, TimerKey};
use crate::event::Kind;
use crate::labs_only::labs_only;
use crate::machine::{JobId, WorkerId};
use crate::message::{CallId, Holder, KeyName, LeaseId, Message, NO_TOKEN, Token};
use crate::redis::protocol::{Found, RedisReply, RedisRequest};
use crate::settings::{Plan, ReleaseRule};
use crate::time::{Mono, Span};

/// A worker's client.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RedisClient {
    worker: WorkerId,
    incarnation: u32,
    servers: NodeClient,
    locks_asked_for: u32,
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
    /// When it asked first.
    sent: Mono,
    token: Token,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Renewal {
    attempt: Attempt,
    stop_on_success: Mono,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Quiet,
    Setting(Attempt),
    WaitingForReplicas(Attempt),
    Releasing(Attempt),
}

impl RedisClient {
    /// The client of one process of `worker`.
    pub(super) fn new(plan: &Plan, worker: WorkerId, incarnation: u32) -> RedisClient {
        RedisClient {
            worker,
            incarnation,
            servers: NodeClient::new(plan, incarnation),
            locks_asked_for: 0,
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
            Phase::Setting(_) => "tries to set the key",
            Phase::WaitingForReplicas(_) => "waits for the replica to acknowledge",
            Phase::Releasing(_) => "releases the lock",
        }
    }

    /// Whether there is a key, or a request for one, to delete.
    pub(super) fn has_asked(&self) -> bool {
        self.asked.is_some()
    }

    /// Tries to set the key, with a value that nobody has used before.
    pub(super) fn acquire(&mut self, context: Context<'_>, actions: &mut Actions) {
        let settings = context.settings;
        self.locks_asked_for += 1;
        self.asked = Some(Asked {
            key: KeyName::lock(context.plan.program(self.worker).job),
            value: LeaseId { worker: self.worker, incarnation: self.incarnation, number: self.locks_asked_for },
            ttl: settings.lease,
            // Counted from before the first send: the key cannot have been set earlier.
            stop: context.mono() + settings.lease - settings.margin,
            sent: context.mono(),
            token: NO_TOKEN,
        });
        let attempt = self.servers.begin(context);
        self.send(context, Phase::Setting(attempt), actions);
    }

    /// Deletes the key.
    pub(super) fn release(&mut self, context: Context<'_>, actions: &mut Actions) {
        self.renewal = None;
        let attempt = self.servers.begin(context);
        self.send(context, Phase::Releasing(attempt), actions);
    }

    fn send(&mut self, context: Context<'_>, mut phase: Phase, actions: &mut Actions) {
        let Some(asked) = &self.asked else { return };
        let (key, value) = (asked.key, asked.value);
        let redis = &context.plan.redis;
        let (attempt, request) = match &mut phase {
            Phase::Setting(attempt) => {
                let (ttl, stop_on_holder) = (asked.ttl, asked.stop);
                (attempt, RedisRequest::SetIfAbsent { key, value, ttl, numbered: true, stop_on_holder })
            }
            Phase::WaitingForReplicas(attempt) => {
                (attempt, RedisRequest::Wait { replicas: redis.wait_for, timeout: redis.wait_timeout })
            }
            Phase::Releasing(attempt) if context.plan.lock_rules.release == ReleaseRule::Unconditional => {
                (attempt, RedisRequest::Delete { key })
            }
            Phase::Releasing(attempt) => (attempt, RedisRequest::DeleteIfMine { key, value }),
            Phase::Quiet => return,
        };
        let waits = matches!(request, RedisRequest::Wait { .. });
        self.servers.send(
            context,
            attempt,
            |call| Message::Redis(call, request, labs_only()),
            TimerKey::LockTimeout,
            actions,
        );
        if waits {
            let patience = redis.wait_timeout + context.plan.latency.lock_timeout;
            actions.set_timer(TimerKey::LockTimeout, context.mono() + patience);
        }
        self.phase = phase;
    }

    fn attempt(&mut self) -> Option<&mut Attempt> {
        match &mut self.phase {
            Phase::Setting(attempt) | Phase::WaitingForReplicas(attempt) | Phase::Releasing(attempt) => Some(attempt),
            Phase::Quiet => None,
        }
    }

    /// An attempt that came to nothing, or to nothing that the client knows of, deletes the key that it may have set,
    /// and does not wait for an answer.
    fn give_back(&mut self, actions: &mut Actions) {
        let (Some(asked), Some(attempt)) = (self.asked.clone(), self.attempt().map(|attempt| attempt.machine)) else {
            return;
        };
        let request = RedisRequest::DeleteIfMine { key: asked.key, value: asked.value };
        actions.send(attempt, Message::Redis(self.servers.next_call(), request, labs_only()));
    }

    pub(super) fn timer_fired(
        &mut self,
        context: Context<'_>,
        key: TimerKey,
        actions: &mut Actions,
    ) -> Option<Outcome> {
        if key == TimerKey::RenewalTimeout {
            return if self.renewal.as_ref()?.attempt.backing_off {
                Some(Outcome::RetryRenewal)
            } else {
                self.renewal_failed(context, true, actions)
            };
        }
        if self.attempt()?.backing_off {
            let phase = self.phase.clone();
            self.send(context, phase, actions);
            return None;
        }
        match self.phase {
            Phase::WaitingForReplicas(_) => self.replicas_counted(context, 0, actions),
            Phase::Setting(_) => {
                self.give_back(actions);
                self.ask_next(context, actions)
            }
            _ => self.ask_next(context, actions),
        }
    }

    fn ask_next(&mut self, context: Context<'_>, actions: &mut Actions) -> Option<Outcome> {
        if self.attempt()?.next_node(context, None) == Next::Send {
            let phase = self.phase.clone();
            self.send(context, phase, actions);
            return None;
        }
        let stopped = self.asked.as_ref().is_none_or(|asked| context.mono() >= asked.stop);
        match self.phase {
            Phase::Releasing(_) if !stopped => {
                self.attempt()?.back_off(context, TimerKey::LockTimeout, actions);
                None
            }
            // What was to be deleted has run out by itself.
            Phase::Releasing(_) => self.quiet(Outcome::Released),
            _ => {
                actions.record(Kind::LockUnreachable { worker: self.worker });
                self.not_acquired(actions)
            }
        }
    }

    fn not_acquired(&mut self, actions: &mut Actions) -> Option<Outcome> {
        actions.cancel_timer(TimerKey::LockTimeout);
        self.asked = None;
        self.quiet(Outcome::NotAcquired)
    }

    fn quiet(&mut self, outcome: Outcome) -> Option<Outcome> {
        self.phase = Phase::Quiet;
        Some(outcome)
    }

    /// Takes a message of a server.
    pub(super) fn message(&mut self, context: Context<'_>, message: Message, actions: &mut Actions) -> Option<Outcome> {
        let Message::RedisReply(call, reply, ..) = message else { return None };
        if self.renewal.as_ref().is_some_and(|renewal| renewal.attempt.call == call) {
            return self.renewal_answered(context, reply, actions);
        }
        self.answered(context, call, reply, actions)
    }

    fn answered(
        &mut self,
        context: Context<'_>,
        call: CallId,
        reply: RedisReply,
        actions: &mut Actions,
    ) -> Option<Outcome> {
        let attempt = self.attempt()?.clone();
        if attempt.call != call {
            return None;
        }
        if reply == RedisReply::ReadOnly {
            return self.ask_next(context, actions);
        }
        actions.cancel_timer(TimerKey::LockTimeout);
        self.servers.answered(&attempt);
        match (&self.phase, reply) {
            (Phase::Setting(_), RedisReply::Set(token)) => {
                self.asked.as_mut()?.token = token;
                if context.plan.redis.wait_for == 0 {
                    return self.acquired();
                }
                // Only the server that has set the key can say who has copied it: the one that has just answered.
                let attempt = self.servers.begin(context);
                self.send(context, Phase::WaitingForReplicas(attempt), actions);
                None
            }
            (Phase::Setting(_), RedisReply::Held(holder)) => {
                actions.record(Kind::LockBusy { worker: self.worker, holder, token: NO_TOKEN });
                self.not_acquired(actions)
            }
            (Phase::WaitingForReplicas(_), RedisReply::Acknowledged(count)) => {
                self.replicas_counted(context, count, actions)
            }
            (Phase::Releasing(_), _) => self.quiet(Outcome::Released),
            _ => self.not_acquired(actions),
        }
    }

    fn acquired(&mut self) -> Option<Outcome> {
        let Asked { token, stop, sent, .. } = *self.asked.as_ref()?;
        self.quiet(Outcome::Acquired(Grant { token, stop, sent }))
    }

    fn replicas_counted(&mut self, context: Context<'_>, acknowledged: u8, actions: &mut Actions) -> Option<Outcome> {
        let wanted = context.plan.redis.wait_for;
        actions.record(Kind::ReplicasCounted { worker: self.worker, acknowledged, wanted, labs: labs_only() });
        if acknowledged >= wanted {
            return self.acquired();
        }
        self.give_back(actions);
        self.not_acquired(actions)
    }

    /// Begins to renew.
    pub(super) fn renew(&mut self, context: Context<'_>, actions: &mut Actions) {
        let attempt = self.servers.begin(context);
        self.send_renewal(context, attempt, actions);
    }

    /// Sends a renewal again that found no answer.
    pub(super) fn retry_renewal(&mut self, context: Context<'_>, actions: &mut Actions) {
        if let Some(renewal) = self.renewal.take() {
            self.send_renewal(context, renewal.attempt, actions);
        }
    }

    fn send_renewal(&mut self, context: Context<'_>, mut attempt: Attempt, actions: &mut Actions) {
        let Some(asked) = &self.asked else { return };
        let (key, value, ttl) = (asked.key, asked.value, context.settings.lease);
        let stop_on_success = context.mono() + ttl - context.settings.margin;
        let request = RedisRequest::Extend { key, value, ttl, stop_on_holder: stop_on_success };
        let request = |call| Message::Redis(call, request, labs_only());
        self.servers.send(context, &mut attempt, request, TimerKey::RenewalTimeout, actions);
        self.renewal = Some(Renewal { attempt, stop_on_success });
    }

    fn renewal_failed(&mut self, context: Context<'_>, timed_out: bool, actions: &mut Actions) -> Option<Outcome> {
        let renewal = self.renewal.as_mut()?;
        let machine = renewal.attempt.machine;
        let retry = renewal.attempt.next_node(context, None) == Next::Send;
        if !retry {
            renewal.attempt.back_off(context, TimerKey::RenewalTimeout, actions);
        }
        Some(Outcome::RenewalFailed { machine, timed_out, retry })
    }

    fn renewal_answered(&mut self, context: Context<'_>, reply: RedisReply, actions: &mut Actions) -> Option<Outcome> {
        if reply == RedisReply::ReadOnly {
            return self.renewal_failed(context, false, actions);
        }
        let renewal = self.renewal.take()?;
        actions.cancel_timer(TimerKey::RenewalTimeout);
        match reply {
            RedisReply::Extended => {
                self.servers.answered(&renewal.attempt);
                Some(Outcome::Renewed { stop: renewal.stop_on_success, sent: renewal.attempt.sent })
            }
            RedisReply::NotMine => Some(Outcome::Lost),
            _ => None,
        }
    }
}

/// Asks the primary who holds locks, for the sweeper.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RedisProbe(Inquiry);

fn get(call: CallId, jobs: Vec<JobId>) -> Message {
    Message::Redis(call, RedisRequest::Get { jobs }, labs_only())
}

impl RedisProbe {
    pub(super) fn new(plan: &Plan, incarnation: u32) -> RedisProbe {
        RedisProbe(Inquiry::new(plan, incarnation))
    }

    pub(super) fn reset(&mut self) {
        self.0.reset();
    }

    pub(super) fn ask(&mut self, context: Context<'_>, jobs: Vec<JobId>, actions: &mut Actions) {
        self.0.ask(context, jobs, get, actions);
    }

    pub(super) fn timed_out(&mut self, context: Context<'_>, actions: &mut Actions) -> Option<Answer> {
        self.0.ask_next(context, None, get, actions)
    }

    pub(super) fn message(&mut self, context: Context<'_>, message: Message, actions: &mut Actions) -> Option<Answer> {
        let Message::RedisReply(call, reply, ..) = message else { return None };
        if !self.0.awaits(call) {
            return None;
        }
        let RedisReply::Values(found) = reply else { return self.0.ask_next(context, None, get, actions) };
        let holder = |found: Found| Holder { job: found.job, worker: found.value.worker, token: NO_TOKEN };
        self.0.answered(found.into_iter().map(holder).collect(), actions)
    }
}
