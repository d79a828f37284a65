//! A worker and its lock: acquire, renew, release, and what comes of it.

use super::{Ending, Phase, Worker};
use crate::actor::{Actions, Context, TimerKey};
use crate::event::{GaveUpBecause, Kind};
use crate::labs_only::labs_only;
use crate::machine::MachineId;
use crate::message::{Message, NO_TOKEN, SidecarMessage};
use crate::service::{Grant, Outcome};
use crate::settings::{Limit, Renewer, StopClock};

impl Worker {
    /// Tries once to get the lock.
    pub(super) fn try_to_acquire(&mut self, context: Context<'_>, actions: &mut Actions) {
        if !context.plan.coordinated {
            // It asks nobody: it begins.
            self.holding = Some(Grant { token: NO_TOKEN, stop: crate::time::Mono::NEVER, sent: context.mono() });
            self.phase = Phase::SettingUp;
            actions.set_timer(TimerKey::Work, context.mono() + context.plan.program(self.id).setup);
            return;
        }
        self.phase = Phase::Acquiring;
        self.lock.acquire(context, actions);
    }

    /// What the client library of the lock service says.
    pub(super) fn lock_outcome(&mut self, context: Context<'_>, outcome: Outcome, actions: &mut Actions) {
        match outcome {
            Outcome::NotAcquired if self.phase == Phase::Acquiring => self.wait_for_next_poll(context, actions),
            Outcome::Busy(token) if self.phase == Phase::Acquiring => {
                self.has_a_successor(token, actions);
                self.wait_for_next_poll(context, actions);
            }
            Outcome::Acquired(grant) if self.phase == Phase::Acquiring => self.acquired(context, grant, actions),
            Outcome::Released if self.phase == Phase::Releasing => self.finish(actions),
            _ if !self.renews() => {}
            Outcome::Renewed { stop, sent } => self.renewed(context, stop, sent, actions),
            Outcome::RenewalFailed { machine, timed_out, retry } => {
                if let Some((token, stop_time)) = self.held() {
                    let worker = self.id;
                    actions.record(Kind::RenewalFailed { worker, token, node: machine, timed_out, stop_time });
                }
                if retry {
                    self.retry_renewal(context, actions);
                }
            }
            Outcome::RetryRenewal => self.retry_renewal(context, actions),
            Outcome::Lost => self.give_up(context, GaveUpBecause::LeaseNotFound, actions),
            _ => {}
        }
    }

    fn acquired(&mut self, context: Context<'_>, grant: Grant, actions: &mut Actions) {
        self.holding = Some(grant);
        let Grant { token, stop: stop_time, sent } = grant;
        let job = self.job;
        actions.record(Kind::LockAcquired { job, worker: self.id, token, stop_time });
        self.note_stop_on_wall(context);
        match self.lock.lease() {
            Some(lease) if context.plan.lock_rules.renewer == Renewer::Sidecar => {
                actions.record(Kind::HandedToSidecar { worker: self.id, lease, labs: labs_only() });
                self.tell_sidecar(SidecarMessage::Keep { lease, sent }, actions);
            }
            _ if context.plan.lock_rules.limit == Limit::Nothing => {}
            _ if context.plan.lock_rules.limit == Limit::ClientTimeout => self.keep_own_timer(context, actions),
            _ if !context.plan.program(self.id).renews => {}
            _ => actions.set_timer(TimerKey::Renewal, sent + context.settings.renew),
        }
        self.raises_before_first_chunk = false;
        self.phase = Phase::SettingUp;
        actions.set_timer(TimerKey::Work, context.mono() + context.plan.program(self.id).setup);
    }

    /// It is getting on: the timer in its own process starts anew.
    pub(super) fn keep_own_timer(&self, context: Context<'_>, actions: &mut Actions) {
        if context.plan.lock_rules.limit == Limit::ClientTimeout {
            actions.set_timer(TimerKey::Renewal, context.mono() + context.settings.lease);
        }
    }

    /// The timer in its own process, of which nobody else knows, has run out: it gives the lock back.
    fn own_timeout(&mut self, context: Context<'_>, actions: &mut Actions) {
        if self.renews() {
            actions.record(Kind::OwnTimeout { worker: self.id, labs: labs_only() });
            self.release(context, actions);
        }
    }

    /// A worker that judges by its wall clock adds the time that is left to what that clock shows now.
    fn note_stop_on_wall(&mut self, context: Context<'_>) {
        self.stop_on_wall = match context.plan.program(self.id).stop_clock {
            StopClock::Monotonic => None,
            StopClock::Wall => self.held().map(|(_, stop)| context.wall() + (stop - context.mono())),
        };
    }

    fn renews(&self) -> bool {
        self.believes_holding() && self.phase != Phase::Releasing
    }

    /// Renews, unless the stop time has passed: then it lets go, also when the renewal is merely late.
    pub(super) fn renew(&mut self, context: Context<'_>, actions: &mut Actions) {
        if context.plan.lock_rules.limit == Limit::ClientTimeout {
            self.own_timeout(context, actions);
            return;
        }
        if self.renews() && self.has_time(context, actions) {
            self.lock.renew(context, actions);
        }
    }

    fn retry_renewal(&mut self, context: Context<'_>, actions: &mut Actions) {
        if self.has_time(context, actions) {
            self.lock.retry_renewal(context, actions);
        }
    }

    fn has_time(&mut self, context: Context<'_>, actions: &mut Actions) -> bool {
        let stopped = !self.is_before_stop(context.reading);
        if stopped {
            self.give_up(context, GaveUpBecause::StopTimePassed, actions);
        }
        !stopped
    }

    fn renewed(
        &mut self,
        context: Context<'_>,
        stop: crate::time::Mono,
        sent: crate::time::Mono,
        actions: &mut Actions,
    ) {
        let Some(grant) = &mut self.holding else { return };
        grant.stop = stop;
        grant.sent = sent;
        let token = grant.token;
        self.note_stop_on_wall(context);
        let job = self.job;
        actions.record(Kind::RenewalConfirmed { job, worker: self.id, token, stop_time: stop });
        if context.plan.lock_rules.renewer == Renewer::App {
            actions.set_timer(TimerKey::Renewal, sent + context.settings.renew);
        }
    }

    fn tell_sidecar(&self, message: SidecarMessage, actions: &mut Actions) {
        actions.send(MachineId::Sidecar(self.id), Message::Sidecar(message, labs_only()));
    }

    /// What the sidecar says.
    pub(super) fn sidecar_says(&mut self, context: Context<'_>, message: SidecarMessage, actions: &mut Actions) {
        let outcome = match message {
            SidecarMessage::Renewed { stop, sent } => Outcome::Renewed { stop, sent },
            SidecarMessage::Lost => Outcome::Lost,
            SidecarMessage::Keep { .. } | SidecarMessage::Stop => return,
        };
        self.lock_outcome(context, outcome, actions);
    }

    /// Ends the lease at the lock service and then the process.
    pub(super) fn release(&mut self, context: Context<'_>, actions: &mut Actions) {
        if !self.can_release() {
            return;
        }
        if !context.plan.coordinated {
            self.finish(actions);
            return;
        }
        let token = self.token();
        // From here on it does nothing else.
        self.end(Ending::Done, actions);
        if let Some(token) = token {
            actions.record(Kind::ReleaseSent { worker: self.id, token });
        }
        if context.plan.lock_rules.renewer == Renewer::Sidecar {
            self.tell_sidecar(SidecarMessage::Stop, actions);
        }
        self.phase = Phase::Releasing;
        self.lock.release(context, actions);
    }

    fn finish(&mut self, actions: &mut Actions) {
        actions.record(Kind::WorkerDone { worker: self.id });
        self.end(Ending::Done, actions);
    }
}
