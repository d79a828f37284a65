//! The sweeper: finds claims whose holder is gone and puts them back into the queue.
//!
//! It asks the lock service whether a live key exists and compares no clocks.
//! Two sightings only avoid needless work; what makes it safe is the conditional write.

use crate::actor::{Actions, Context, Input, TimerKey};
use crate::event::Kind;
use crate::lock_client::{Attempt, LockClient, Next};
use crate::machine::{MachineId, NodeId};
use crate::message::{CallId, LockReply, LockRequest, Message, StoreReply, StoreRequest, Token};
use crate::time::Mono;

/// The sweeper's process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sweeper {
    client: LockClient,
    next_sweep: Mono,
    sighting: Option<Sighting>,
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
    ReadingIndex(CallId),
    AskingLock { attempt: Attempt, owner: Token, fence: Token },
    Requeuing(CallId),
}

impl Sweeper {
    /// A process without memory.
    pub fn new(incarnation: u32) -> Sweeper {
        Sweeper { client: LockClient::new(incarnation), next_sweep: Mono::ZERO, sighting: None, phase: Phase::Waiting }
    }

    /// The orphan that has been seen once: owner and fence.
    pub fn sighting(&self) -> Option<(Token, Token)> {
        self.sighting.as_ref().map(|sighting| (sighting.owner, sighting.fence))
    }

    /// Takes one input.
    pub fn handle(&mut self, context: Context<'_>, input: Input, actions: &mut Actions) {
        match input {
            Input::Start => self.wait(context, actions),
            Input::Timer { key: TimerKey::Poll, .. } => self.sweep(context, actions),
            Input::Timer { key: TimerKey::StoreTimeout, .. } => self.phase = Phase::Waiting,
            Input::Timer { key: TimerKey::LockTimeout, .. } => self.try_next_node(context, None, actions),
            Input::Message { message: Message::StoreReply(call, reply), .. } => {
                self.store_answered(context, call, reply, actions);
            }
            Input::Message { message: Message::LockReply(call, reply), .. } => {
                self.lock_answered(context, call, reply, actions);
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
        if !context.settings.sweeper {
            self.sighting = None;
            self.phase = Phase::Waiting;
            return;
        }
        let call = self.ask_store(context, StoreRequest::ReadIndex, actions);
        self.phase = Phase::ReadingIndex(call);
    }

    fn ask_store(&mut self, context: Context<'_>, request: StoreRequest, actions: &mut Actions) -> CallId {
        let call = self.client.next_call();
        actions.send(MachineId::Store, Message::StoreRequest(call, request));
        actions.set_timer(TimerKey::StoreTimeout, context.mono() + context.plan.latency.store_timeout);
        call
    }

    fn store_answered(&mut self, context: Context<'_>, call: CallId, reply: StoreReply, actions: &mut Actions) {
        match (&self.phase, reply) {
            (Phase::ReadingIndex(expected), StoreReply::Claim(claim)) if *expected == call => {
                actions.cancel_timer(TimerKey::StoreTimeout);
                match claim {
                    Some((owner, fence)) => {
                        let attempt = self.client.begin(context);
                        self.ask_lock(context, attempt, owner, fence, actions);
                    }
                    None => {
                        self.sighting = None;
                        self.phase = Phase::Waiting;
                    }
                }
            }
            (Phase::Requeuing(expected), _) if *expected == call => {
                actions.cancel_timer(TimerKey::StoreTimeout);
                self.sighting = None;
                self.phase = Phase::Waiting;
            }
            _ => {}
        }
    }

    fn ask_lock(
        &mut self,
        context: Context<'_>,
        mut attempt: Attempt,
        owner: Token,
        fence: Token,
        actions: &mut Actions,
    ) {
        self.client.send(context, &mut attempt, LockRequest::ReadKey, TimerKey::LockTimeout, actions);
        self.phase = Phase::AskingLock { attempt, owner, fence };
    }

    /// Without an answer from the lock service the sweeper knows nothing, and leaves the row until the next sweep.
    fn try_next_node(&mut self, context: Context<'_>, named: Option<NodeId>, actions: &mut Actions) {
        let Phase::AskingLock { attempt, owner, fence } = &self.phase else { return };
        let (mut attempt, owner, fence) = (attempt.clone(), *owner, *fence);
        self.phase = Phase::Waiting;
        actions.cancel_timer(TimerKey::LockTimeout);
        if attempt.next_node(context, named) == Next::Send {
            self.ask_lock(context, attempt, owner, fence, actions);
        }
    }

    fn lock_answered(&mut self, context: Context<'_>, call: CallId, reply: LockReply, actions: &mut Actions) {
        let Phase::AskingLock { attempt, owner, fence } = &self.phase else { return };
        if attempt.call != call {
            return;
        }
        let (owner, fence) = (*owner, *fence);
        match reply {
            LockReply::NotLeader(named) => self.try_next_node(context, named, actions),
            LockReply::Key(key) => {
                self.client.answered(attempt);
                actions.cancel_timer(TimerKey::LockTimeout);
                self.phase = Phase::Waiting;
                match key {
                    Some((holder, token)) => {
                        self.sighting = None;
                        actions.record(Kind::ClaimHeld { owner_token: owner, holder, token });
                    }
                    None => self.orphan_found(context, owner, fence, actions),
                }
            }
            _ => {}
        }
    }

    fn orphan_found(&mut self, context: Context<'_>, owner: Token, fence: Token, actions: &mut Actions) {
        let now = context.mono();
        match &self.sighting {
            Some(seen) if seen.owner == owner && seen.fence == fence => {
                if now - seen.first_seen >= context.plan.sweeping.sightings_apart {
                    let call = self.ask_store(context, StoreRequest::Requeue { owner, fence }, actions);
                    self.phase = Phase::Requeuing(call);
                }
            }
            _ => {
                self.sighting = Some(Sighting { owner, fence, first_seen: now });
                actions.record(Kind::OrphanSeen { owner_token: owner, fence });
            }
        }
    }
}
