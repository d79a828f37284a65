//! A worker that wants the job: it tries, does the work if it has won, and records it.

use super::{Contest, Reply, Request, Right, Way};
use crate::actor::{Actions, Context, Input, TimerKey};
use crate::event::Kind;
use crate::labs_only::labs_only;
use crate::machine::{JobId, MachineId, WorkerId};
use crate::message::{CallId, Message, StoreReply, StoreRequest};

/// The worker's process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Contestant {
    id: WorkerId,
    incarnation: u32,
    calls: u32,
    phase: Phase,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Idle,
    Trying(CallId),
    Waiting,
    Working(Right),
    Recording(CallId),
    Ended,
}

impl Contestant {
    /// A process that has not started.
    pub fn new(id: WorkerId, incarnation: u32) -> Contestant {
        Contestant { id, incarnation, calls: 0, phase: Phase::Idle }
    }

    /// Takes one input.
    pub fn handle(&mut self, context: Context<'_>, input: Input, actions: &mut Actions) {
        let Some(contest) = &context.plan.contest else { return };
        match input {
            Input::Start => {
                // A new process in the place of an old one is told as a restart.
                if self.incarnation == 0 {
                    actions.record(Kind::Started);
                }
                self.attempt(context, contest, actions);
            }
            Input::Timer { key: TimerKey::Poll, .. } => self.poll(context, contest, actions),
            Input::Timer { key: TimerKey::StoreTimeout, .. } => self.wait(context, contest, actions),
            Input::Timer { key: TimerKey::Work, .. } => {
                if let Phase::Working(right) = self.phase {
                    let call = self.ask(context, Request::Record(right), actions);
                    self.phase = Phase::Recording(call);
                }
            }
            Input::Message { message: Message::StoreReply(call, StoreReply::Contest(reply, ..)), .. } => {
                self.answered(context, contest, call, reply, actions);
            }
            _ => {}
        }
    }

    fn ask(&mut self, context: Context<'_>, request: Request, actions: &mut Actions) -> CallId {
        self.calls += 1;
        let call = CallId { incarnation: self.incarnation, number: self.calls };
        let message = Message::StoreRequest(call, JobId::FIRST, StoreRequest::Contest(request, labs_only()));
        actions.send(MachineId::Store, message);
        actions.set_timer(TimerKey::StoreTimeout, context.mono() + context.plan.latency.store_timeout);
        call
    }

    fn attempt(&mut self, context: Context<'_>, contest: &Contest, actions: &mut Actions) {
        let request = match contest.way {
            Way::UniqueKey => Request::InsertClaim,
            Way::Version => Request::SelectVersion,
            Way::SkipLocked => Request::SelectSkipLocked,
            Way::Partition => Request::Report,
        };
        let call = self.ask(context, request, actions);
        self.phase = Phase::Trying(call);
        if contest.way == Way::Partition {
            actions.set_timer(TimerKey::Poll, context.mono() + contest.every);
        }
    }

    /// Waits for the next attempt; without an answer to a record, nobody knows, and an attempt finds out.
    fn wait(&mut self, context: Context<'_>, contest: &Contest, actions: &mut Actions) {
        if !matches!(self.phase, Phase::Working(_) | Phase::Ended) {
            self.phase = Phase::Waiting;
            actions.set_timer(TimerKey::Poll, context.mono() + contest.every);
        }
    }

    fn poll(&mut self, context: Context<'_>, contest: &Contest, actions: &mut Actions) {
        match self.phase {
            Phase::Waiting | Phase::Trying(_) => self.attempt(context, contest, actions),
            // A member of a group reports while it works.
            Phase::Working(_) if contest.way == Way::Partition => {
                self.ask(context, Request::Report, actions);
                actions.cancel_timer(TimerKey::StoreTimeout);
                actions.set_timer(TimerKey::Poll, context.mono() + contest.every);
            }
            _ => {}
        }
    }

    fn answered(&mut self, context: Context<'_>, contest: &Contest, call: CallId, reply: Reply, actions: &mut Actions) {
        let awaited = matches!(self.phase, Phase::Trying(asked) | Phase::Recording(asked) if asked == call);
        if !awaited {
            return;
        }
        actions.cancel_timer(TimerKey::StoreTimeout);
        match reply {
            Reply::Version(version) => {
                let call = self.ask(context, Request::TakeVersion(version), actions);
                self.phase = Phase::Trying(call);
            }
            Reply::Won(right) => {
                self.phase = Phase::Working(right);
                actions.set_timer(TimerKey::Work, context.mono() + contest.work);
            }
            Reply::Lost(_) => self.wait(context, contest, actions),
            Reply::NothingToDo | Reply::Recorded | Reply::Refused => {
                self.phase = Phase::Ended;
                actions.cancel_timer(TimerKey::Poll);
                actions.record(Kind::WorkerDone { worker: self.id });
            }
        }
    }
}
