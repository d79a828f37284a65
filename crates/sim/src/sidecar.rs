//! A sidecar: a second process on a worker's machine that keeps the worker's lease alive.
//!
//! It knows nothing of what the worker does, not even whether it still does anything: that is the trap.

use crate::actor::{Actions, Context, Input, TimerKey};
use crate::labs_only::labs_only;
use crate::machine::WorkerId;
use crate::message::{LeaseId, Message, SidecarMessage};
use crate::service::{LockClient, Outcome};
use crate::settings::Plan;

/// The sidecar of one worker.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sidecar {
    worker: WorkerId,
    client: LockClient,
}

impl Sidecar {
    /// A process that keeps nothing yet.
    pub fn new(plan: &Plan, worker: WorkerId, incarnation: u32) -> Sidecar {
        Sidecar { worker, client: LockClient::new(plan, worker, incarnation) }
    }

    /// Takes one input.
    pub fn handle(&mut self, context: Context<'_>, input: Input, actions: &mut Actions) {
        let outcome = match input {
            Input::Message { message: Message::Sidecar(SidecarMessage::Keep { lease, sent }, ..), .. } => {
                self.client.adopt(lease);
                actions.set_timer(TimerKey::Renewal, sent + context.settings.renew);
                None
            }
            Input::Message { message: Message::Sidecar(..), .. } => {
                self.stop(actions);
                None
            }
            Input::Message { from, message } => self.client.message(context, from, message, actions),
            Input::Timer { key: TimerKey::Renewal, .. } => {
                self.client.renew(context, actions);
                None
            }
            Input::Timer { key: key @ TimerKey::RenewalTimeout, .. } => self.client.timer_fired(context, key, actions),
            _ => None,
        };
        match outcome {
            Some(Outcome::Renewed { stop, sent }) => {
                actions.set_timer(TimerKey::Renewal, sent + context.settings.renew);
                actions.send(self.worker, Message::Sidecar(SidecarMessage::Renewed { stop, sent }, labs_only()));
            }
            Some(Outcome::RenewalFailed { retry: true, .. } | Outcome::RetryRenewal) => {
                self.client.retry_renewal(context, actions);
            }
            Some(Outcome::Lost) => {
                self.stop(actions);
                actions.send(self.worker, Message::Sidecar(SidecarMessage::Lost, labs_only()));
            }
            _ => {}
        }
    }

    /// The lease that it keeps alive.
    pub fn keeps(&self) -> Option<LeaseId> {
        self.client.lease()
    }

    fn stop(&mut self, actions: &mut Actions) {
        self.client.reset();
        actions.cancel_timer(TimerKey::Renewal);
        actions.cancel_timer(TimerKey::RenewalTimeout);
    }
}
