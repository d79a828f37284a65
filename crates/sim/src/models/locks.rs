//! Two workers that need two locks each, and take them one after another.
//!
//! Whoever holds the first and waits for the second keeps the first alive: a lease does not end a waiting cycle.

use std::collections::VecDeque;

use crate::actor::{Actions, Context, Input, TimerKey};
use crate::event::{GaveUpBecause, Kind};
use crate::machine::{JobId, NodeId, WorkerId};
use crate::message::{KeyName, LeaseId, LockReply, LockRequest, Message, Token};
use crate::service::nodes::{Attempt, Next, NodeClient};
use crate::settings::Plan;
use crate::time::{Mono, Span};

/// In which order the workers take their two locks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// Each in its own: the second worker the other way round.
    #[default]
    Any,
    /// All in one order.
    Global,
}

/// From holding both locks to giving them back.
const WORK: Span = Span::seconds(3);

/// A worker that needs two locks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TwoLocks {
    worker: WorkerId,
    incarnation: u32,
    client: NodeClient,
    /// The locks that it still needs, in its order.
    needs: VecDeque<JobId>,
    holds: Vec<Held>,
    /// The request whose answer is awaited.
    asking: Option<(Attempt, Step)>,
    /// Requests that wait for it.
    then: VecDeque<Step>,
    leases: u32,
    ended: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Held {
    job: JobId,
    lease: LeaseId,
    token: Token,
    stop: Mono,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    Look(JobId),
    Grant(JobId, LeaseId, Mono),
    Create(JobId, LeaseId, Mono),
    Keep(LeaseId),
    End(LeaseId),
}

impl TwoLocks {
    pub(super) fn new(plan: &Plan, worker: WorkerId, incarnation: u32) -> TwoLocks {
        let reversed = worker != WorkerId::A && plan.model == Some(super::Model::TwoLocks(Order::Any));
        let needs = if reversed { [JobId(1), JobId(0)] } else { [JobId(0), JobId(1)] };
        TwoLocks {
            worker,
            incarnation,
            client: NodeClient::new(plan, incarnation),
            needs: needs.into(),
            holds: Vec::new(),
            asking: None,
            then: VecDeque::new(),
            leases: 0,
            ended: false,
        }
    }

    pub(super) fn handle(&mut self, context: Context<'_>, input: Input, actions: &mut Actions) {
        if self.ended {
            return;
        }
        match input {
            Input::Start => {
                if self.incarnation == 0 {
                    actions.record(Kind::Started);
                }
                self.look(context, actions);
            }
            Input::Timer { key: TimerKey::Poll, .. } => self.look(context, actions),
            Input::Timer { key: TimerKey::Renewal, .. } => self.renew(context, actions),
            Input::Timer { key: TimerKey::Work, .. } => self.release(context, actions),
            Input::Timer { key: TimerKey::LockTimeout, .. } => {
                let Some((attempt, step)) = self.asking.take() else { return };
                if attempt.backing_off {
                    self.send(context, attempt, step, actions);
                } else {
                    self.try_next(context, attempt, step, None, actions);
                }
            }
            Input::Message { message: Message::LockReply(call, reply), .. } => {
                let Some((attempt, step)) = self.asking.take_if(|(attempt, _)| attempt.call == call) else { return };
                if let LockReply::NotLeader(named) = reply {
                    self.try_next(context, attempt, step, named, actions);
                    return;
                }
                self.client.answered(&attempt);
                actions.cancel_timer(TimerKey::LockTimeout);
                self.answered(context, step, reply, attempt.sent, actions);
                self.ask_next(context, actions);
            }
            _ => {}
        }
    }

    fn look(&mut self, context: Context<'_>, actions: &mut Actions) {
        if let Some(job) = self.needs.front() {
            self.then.push_back(Step::Look(*job));
            self.ask_next(context, actions);
        }
    }

    fn renew(&mut self, context: Context<'_>, actions: &mut Actions) {
        if self.holds.iter().any(|held| context.mono() >= held.stop) {
            self.give_up(GaveUpBecause::StopTimePassed, actions);
            return;
        }
        self.then.extend(self.holds.iter().map(|held| Step::Keep(held.lease)));
        actions.set_timer(TimerKey::Renewal, context.mono() + context.settings.renew);
        self.ask_next(context, actions);
    }

    fn release(&mut self, context: Context<'_>, actions: &mut Actions) {
        actions.cancel_timer(TimerKey::Renewal);
        // The last first.
        while let Some(held) = self.holds.pop() {
            self.then.push_back(Step::End(held.lease));
            if self.holds.is_empty() {
                actions.record(Kind::ReleaseSent { worker: self.worker, token: held.token });
            }
        }
        self.ask_next(context, actions);
    }

    fn ask_next(&mut self, context: Context<'_>, actions: &mut Actions) {
        if self.asking.is_none()
            && let Some(step) = self.then.pop_front()
        {
            let attempt = self.client.begin(context);
            self.send(context, attempt, step, actions);
        }
    }

    fn send(&mut self, context: Context<'_>, mut attempt: Attempt, step: Step, actions: &mut Actions) {
        let ttl = context.settings.lease;
        let stop_on_holder = context.mono() + ttl - context.settings.margin;
        let request = match step {
            Step::Look(job) => LockRequest::ReadKey { job },
            Step::Grant(_, lease, _) => LockRequest::GrantLease { lease, ttl },
            Step::Create(job, lease, stop) => {
                LockRequest::CreateKey { lease, key: KeyName::lock(job), stop_on_holder: stop }
            }
            Step::Keep(lease) => LockRequest::KeepAlive { lease, ttl, stop_on_holder },
            Step::End(lease) => LockRequest::Revoke { lease },
        };
        let message = |call| Message::LockRequest(call, request);
        self.client.send(context, &mut attempt, message, TimerKey::LockTimeout, actions);
        self.asking = Some((attempt, step));
    }

    fn try_next(
        &mut self,
        context: Context<'_>,
        mut attempt: Attempt,
        step: Step,
        named: Option<NodeId>,
        actions: &mut Actions,
    ) {
        match attempt.next_node(context, named) {
            Next::Send => self.send(context, attempt, step, actions),
            Next::AllTried => {
                attempt.back_off(context, TimerKey::LockTimeout, actions);
                self.asking = Some((attempt, step));
            }
        }
    }

    fn answered(&mut self, context: Context<'_>, step: Step, reply: LockReply, sent: Mono, actions: &mut Actions) {
        let worker = self.worker;
        let stop = sent + context.settings.lease - context.settings.margin;
        match (step, reply) {
            (Step::Look(job), LockReply::Key(None)) => {
                self.leases += 1;
                let lease = LeaseId { worker, incarnation: self.incarnation, number: self.leases };
                let stop = context.mono() + context.settings.lease - context.settings.margin;
                self.then.push_front(Step::Grant(job, lease, stop));
            }
            (Step::Grant(job, lease, stop), LockReply::LeaseGranted) => {
                self.then.push_front(Step::Create(job, lease, stop));
            }
            (Step::Create(job, lease, stop), LockReply::Created(token)) => {
                actions.record(Kind::LockAcquired { job, worker, token, stop_time: stop });
                self.holds.push(Held { job, lease, token, stop });
                self.needs.pop_front();
                self.got_one(context, actions);
            }
            (Step::Look(_), LockReply::Key(Some((holder, token)))) => self.wait(context, holder, token, actions),
            (Step::Create(_, lease, _), LockReply::Held(holder, token)) => {
                self.then.push_front(Step::End(lease));
                self.wait(context, holder, token, actions);
            }
            (Step::Keep(lease), LockReply::KeptAlive { .. }) => {
                let Some(held) = self.holds.iter_mut().find(|held| held.lease == lease) else { return };
                held.stop = stop;
                let (job, token) = (held.job, held.token);
                actions.record(Kind::RenewalConfirmed { job, worker, token, stop_time: stop });
            }
            (Step::Keep(_), LockReply::LeaseNotFound) => self.give_up(GaveUpBecause::LeaseNotFound, actions),
            (Step::End(_), _) if self.needs.is_empty() && self.holds.is_empty() && self.then.is_empty() => {
                self.ended = true;
                actions.record(Kind::WorkerDone { worker });
            }
            _ => {}
        }
    }

    fn got_one(&mut self, context: Context<'_>, actions: &mut Actions) {
        if self.holds.len() == 1 {
            actions.set_timer(TimerKey::Renewal, context.mono() + context.settings.renew);
        }
        // What it does with the first before it needs the second.
        let setup = context.plan.program(self.worker).setup;
        match self.needs.is_empty() {
            false => actions.set_timer(TimerKey::Poll, context.mono() + setup),
            true => actions.set_timer(TimerKey::Work, context.mono() + WORK),
        }
    }

    /// It waits, and holds on to what it has.
    fn wait(&mut self, context: Context<'_>, holder: WorkerId, token: Token, actions: &mut Actions) {
        actions.record(Kind::LockBusy { worker: self.worker, holder, token });
        actions.set_timer(TimerKey::Poll, context.mono() + context.plan.program(self.worker).finds.every());
    }

    fn give_up(&mut self, because: GaveUpBecause, actions: &mut Actions) {
        if let Some(Held { token, stop, .. }) = self.holds.first().copied() {
            actions.record(Kind::GaveUp { worker: self.worker, token, because, stop_time: stop });
        }
        self.holds.clear();
        self.then.clear();
        self.ended = true;
        for key in [TimerKey::Poll, TimerKey::Renewal, TimerKey::Work, TimerKey::LockTimeout] {
            actions.cancel_timer(key);
        }
    }
}
