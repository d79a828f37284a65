//! The other tenants of the lock service: they commit a change now and then, so that revisions have gaps.

use crate::actor::{Actions, Context, Input, TimerKey};
use crate::labs_only::labs_only;
use crate::machine::NodeId;
use crate::message::{CallId, LockReply, LockRequest, Message};
use crate::redis::protocol::{RedisReply, RedisRequest};
use crate::service::nodes::{Attempt, Next, NodeClient};
use crate::settings::{Plan, ServiceKind};
use crate::time::Mono;

/// All other tenants as one client.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tenants {
    client: NodeClient,
    committed: usize,
    attempt: Option<Attempt>,
}

impl Tenants {
    /// The client before its first change.
    pub fn new(plan: &Plan) -> Tenants {
        Tenants { client: NodeClient::new(plan, 0), committed: 0, attempt: None }
    }

    /// Takes one input.
    pub fn handle(&mut self, context: Context<'_>, input: Input, actions: &mut Actions) {
        match input {
            // Redlock's masters have no counter that tenants could share.
            Input::Start if context.plan.service != ServiceKind::Redis && !context.plan.has_cluster() => {}
            Input::Start => self.wait_for_next(context, actions),
            Input::Timer { key: TimerKey::Poll, .. } => {
                let attempt = self.client.begin(context);
                self.send(context, attempt, actions);
            }
            Input::Timer { key: TimerKey::LockTimeout, .. } => {
                if let Some(attempt) = self.attempt.take() {
                    if attempt.backing_off {
                        self.send(context, attempt, actions);
                    } else {
                        self.try_next(context, attempt, None, actions);
                    }
                }
            }
            Input::Message { message: Message::LockReply(call, reply), .. } => match reply {
                LockReply::NotLeader(named) => self.answered(context, call, Err(named), actions),
                _ => self.answered(context, call, Ok(()), actions),
            },
            Input::Message { message: Message::RedisReply(call, reply, ..), .. } => match reply {
                RedisReply::ReadOnly => self.answered(context, call, Err(None), actions),
                _ => self.answered(context, call, Ok(()), actions),
            },
            _ => {}
        }
    }

    /// The change is made, or another machine should be asked.
    fn answered(
        &mut self,
        context: Context<'_>,
        call: CallId,
        answer: Result<(), Option<NodeId>>,
        actions: &mut Actions,
    ) {
        let Some(attempt) = self.attempt.take_if(|attempt| attempt.call == call) else { return };
        match answer {
            Err(named) => self.try_next(context, attempt, named, actions),
            Ok(()) => {
                self.client.answered(&attempt);
                actions.cancel_timer(TimerKey::LockTimeout);
                self.committed += 1;
                self.wait_for_next(context, actions);
            }
        }
    }

    fn wait_for_next(&self, context: Context<'_>, actions: &mut Actions) {
        if let Some(at) = context.plan.tenant_commits.get(self.committed) {
            actions.set_timer(TimerKey::Poll, (Mono::ZERO + *at).max(context.mono()));
        }
    }

    fn send(&mut self, context: Context<'_>, mut attempt: Attempt, actions: &mut Actions) {
        let number = context.plan.tenant_commits_before + self.committed as u32 + 1;
        let request = |call| match context.plan.service {
            ServiceKind::Redis => Message::Redis(call, RedisRequest::Increment, labs_only()),
            _ => Message::LockRequest(call, LockRequest::TenantPut { number }),
        };
        self.client.send(context, &mut attempt, request, TimerKey::LockTimeout, actions);
        self.attempt = Some(attempt);
    }

    fn try_next(&mut self, context: Context<'_>, mut attempt: Attempt, named: Option<NodeId>, actions: &mut Actions) {
        match attempt.next_node(context, named) {
            Next::Send => self.send(context, attempt, actions),
            Next::AllTried => {
                attempt.back_off(context, TimerKey::LockTimeout, actions);
                self.attempt = Some(attempt);
            }
        }
    }
}
