//! A worker's calls to the lock service: acquire, renew, release.

use super::{Ending, Holding, Phase, Worker};
use crate::actor::{Actions, Context, TimerKey};
use crate::event::{GaveUpBecause, Kind};
use crate::lock_client::{Attempt, Next};
use crate::machine::NodeId;
use crate::message::{CallId, LeaseId, LockReply, LockRequest};
use crate::time::Mono;

impl Worker {
    /// Acquiring begins with a look at the key, so that a failed attempt leaves no lease behind.
    pub(super) fn read_key(&mut self, context: Context<'_>, actions: &mut Actions) {
        let attempt = self.client.begin(context);
        self.send_acquire(context, Phase::ReadingKey(attempt), actions);
    }

    /// Sends what the phase is waiting for to the attempt's node.
    fn send_acquire(&mut self, context: Context<'_>, mut phase: Phase, actions: &mut Actions) {
        let lease = self.holding.as_ref().map(|holding| (holding.lease, holding.ttl, holding.stop));
        let (attempt, request) = match (&mut phase, lease) {
            (Phase::ReadingKey(attempt), _) => (attempt, LockRequest::ReadKey),
            (Phase::GrantingLease(attempt), Some((lease, ttl, _))) => (attempt, LockRequest::GrantLease { lease, ttl }),
            (Phase::CreatingKey(attempt), Some((lease, _, stop))) => {
                (attempt, LockRequest::CreateKey { lease, stop_on_holder: stop })
            }
            (Phase::ReturningLease(attempt) | Phase::Releasing(attempt), Some((lease, ..))) => {
                (attempt, LockRequest::Revoke { lease })
            }
            _ => return,
        };
        self.client.send(context, attempt, request, TimerKey::LockTimeout, actions);
        self.phase = phase;
    }

    pub(super) fn lock_timed_out(&mut self, context: Context<'_>, actions: &mut Actions) {
        let Some(attempt) = self.lock_attempt() else { return };
        if attempt.backing_off {
            let phase = self.phase.clone();
            self.send_acquire(context, phase, actions);
        } else {
            self.ask_next_node(context, None, actions);
        }
    }

    fn lock_attempt(&mut self) -> Option<&mut Attempt> {
        match &mut self.phase {
            Phase::ReadingKey(attempt)
            | Phase::GrantingLease(attempt)
            | Phase::CreatingKey(attempt)
            | Phase::ReturningLease(attempt)
            | Phase::Releasing(attempt) => Some(attempt),
            _ => None,
        }
    }

    fn ask_next_node(&mut self, context: Context<'_>, named: Option<NodeId>, actions: &mut Actions) {
        let Some(attempt) = self.lock_attempt() else { return };
        if attempt.next_node(context, named) == Next::Send {
            let phase = self.phase.clone();
            self.send_acquire(context, phase, actions);
            return;
        }
        let stopped = self.holding.as_ref().is_some_and(|holding| context.mono() >= holding.stop);
        match &mut self.phase {
            Phase::ReadingKey(_) => {
                actions.record(Kind::LockUnreachable { worker: self.id });
                actions.cancel_timer(TimerKey::LockTimeout);
                self.wait_for_next_poll(context, actions);
            }
            // Whatever was asked for has run out by itself.
            Phase::GrantingLease(_) | Phase::CreatingKey(_) | Phase::ReturningLease(_) if stopped => {
                actions.cancel_timer(TimerKey::LockTimeout);
                self.wait_for_next_poll(context, actions);
            }
            Phase::Releasing(_) if stopped => self.finish(actions),
            Phase::GrantingLease(attempt)
            | Phase::CreatingKey(attempt)
            | Phase::ReturningLease(attempt)
            | Phase::Releasing(attempt) => {
                attempt.back_off(context, TimerKey::LockTimeout, actions);
            }
            _ => {}
        }
    }

    pub(super) fn acquire_answered(
        &mut self,
        context: Context<'_>,
        call: CallId,
        reply: LockReply,
        actions: &mut Actions,
    ) {
        match self.lock_attempt() {
            Some(attempt) if attempt.call == call => {}
            _ => return,
        }
        if let LockReply::NotLeader(named) = reply {
            self.ask_next_node(context, named, actions);
            return;
        }
        actions.cancel_timer(TimerKey::LockTimeout);
        if let Some(attempt) = self.lock_attempt().cloned() {
            self.client.answered(&attempt);
        }
        match (&self.phase, reply) {
            (Phase::ReadingKey(_), LockReply::Key(None)) => self.grant_lease(context, actions),
            (Phase::ReadingKey(_), LockReply::Key(Some((holder, token)))) => {
                actions.record(Kind::LockBusy { worker: self.id, holder, token });
                self.wait_for_next_poll(context, actions);
            }
            (Phase::GrantingLease(_), LockReply::LeaseGranted) => {
                let attempt = self.client.begin(context);
                self.send_acquire(context, Phase::CreatingKey(attempt), actions);
            }
            (Phase::CreatingKey(_), LockReply::Created(token)) => self.acquired(context, token, actions),
            (Phase::CreatingKey(_), LockReply::Held(holder, token)) => {
                actions.record(Kind::LockBusy { worker: self.id, holder, token });
                let attempt = self.client.begin(context);
                self.send_acquire(context, Phase::ReturningLease(attempt), actions);
            }
            (Phase::Releasing(_), _) => self.finish(actions),
            _ => self.wait_for_next_poll(context, actions),
        }
    }

    fn grant_lease(&mut self, context: Context<'_>, actions: &mut Actions) {
        self.leases_asked_for += 1;
        let settings = context.settings;
        self.holding = Some(Holding {
            lease: LeaseId { worker: self.id, incarnation: self.incarnation, number: self.leases_asked_for },
            ttl: settings.lease,
            token: None,
            // Counted from before the first send: the lease cannot have begun earlier.
            stop: context.mono() + settings.lease - settings.margin,
            last_sent: context.mono(),
        });
        let attempt = self.client.begin(context);
        self.send_acquire(context, Phase::GrantingLease(attempt), actions);
    }

    fn acquired(&mut self, context: Context<'_>, token: u64, actions: &mut Actions) {
        let Some(holding) = &mut self.holding else { return };
        holding.token = Some(token);
        let stop_time = holding.stop;
        let renew_at = holding.last_sent + context.settings.renew;
        actions.record(Kind::LockAcquired { worker: self.id, token, stop_time });
        actions.set_timer(TimerKey::Renewal, renew_at);
        let program = context.plan.program(self.id);
        self.raises_before_first_chunk = false;
        self.phase = Phase::SettingUp;
        actions.set_timer(TimerKey::Work, context.mono() + program.setup);
    }

    /// Renews, unless the stop time has passed: then it lets go, also when the renewal is merely late.
    pub(super) fn renew(&mut self, context: Context<'_>, actions: &mut Actions) {
        if !self.believes_holding() || matches!(self.phase, Phase::Releasing(_)) {
            return;
        }
        let attempt = self.client.begin(context);
        self.send_renewal(context, attempt, actions);
    }

    fn send_renewal(&mut self, context: Context<'_>, mut attempt: Attempt, actions: &mut Actions) {
        let Some(holding) = &self.holding else { return };
        if context.mono() >= holding.stop {
            self.give_up(GaveUpBecause::StopTimePassed, actions);
            return;
        }
        let settings = context.settings;
        let stop_on_holder = context.mono() + settings.lease - settings.margin;
        let request = LockRequest::KeepAlive { lease: holding.lease, ttl: settings.lease, stop_on_holder };
        self.client.send(context, &mut attempt, request, TimerKey::RenewalTimeout, actions);
        self.renewal.stop_on_success = stop_on_holder;
        self.renewal.attempt = Some(attempt);
    }

    pub(super) fn renewal_timed_out(&mut self, context: Context<'_>, actions: &mut Actions) {
        let Some(attempt) = self.renewal.attempt.take() else { return };
        if attempt.backing_off {
            self.send_renewal(context, attempt, actions);
        } else {
            self.renewal_failed(context, attempt, None, true, actions);
        }
    }

    fn renewal_failed(
        &mut self,
        context: Context<'_>,
        mut attempt: Attempt,
        named: Option<NodeId>,
        timed_out: bool,
        actions: &mut Actions,
    ) {
        if let Some((token, stop_time)) = self.held() {
            let node = attempt.node;
            actions.record(Kind::RenewalFailed { worker: self.id, token, node, timed_out, stop_time });
        }
        match attempt.next_node(context, named) {
            Next::Send => self.send_renewal(context, attempt, actions),
            Next::AllTried => {
                attempt.back_off(context, TimerKey::RenewalTimeout, actions);
                self.renewal.attempt = Some(attempt);
            }
        }
    }

    pub(super) fn renewal_answered(&mut self, context: Context<'_>, reply: LockReply, actions: &mut Actions) {
        let Some(attempt) = self.renewal.attempt.take() else { return };
        match reply {
            LockReply::NotLeader(named) => self.renewal_failed(context, attempt, named, false, actions),
            LockReply::KeptAlive => {
                self.client.answered(&attempt);
                actions.cancel_timer(TimerKey::RenewalTimeout);
                let stop: Mono = self.renewal.stop_on_success;
                let Some(holding) = &mut self.holding else { return };
                holding.stop = stop;
                holding.last_sent = attempt.sent;
                if let Some(token) = holding.token {
                    actions.record(Kind::RenewalConfirmed { worker: self.id, token, stop_time: stop });
                }
                actions.set_timer(TimerKey::Renewal, attempt.sent + context.settings.renew);
            }
            LockReply::LeaseNotFound => self.give_up(GaveUpBecause::LeaseNotFound, actions),
            _ => {}
        }
    }

    /// Ends the lease at the lock service and then the process.
    pub(super) fn release(&mut self, context: Context<'_>, actions: &mut Actions) {
        if !self.can_release() {
            return;
        }
        let token = self.token();
        // From here on it does nothing else.
        self.end(Ending::Done, actions);
        if let Some(token) = token {
            actions.record(Kind::ReleaseSent { worker: self.id, token });
        }
        let attempt = self.client.begin(context);
        self.send_acquire(context, Phase::Releasing(attempt), actions);
    }

    fn finish(&mut self, actions: &mut Actions) {
        actions.record(Kind::WorkerDone { worker: self.id });
        self.end(Ending::Done, actions);
    }
}
