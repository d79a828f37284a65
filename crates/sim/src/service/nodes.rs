//! Asking the machines of a replicated lock service: one after another until one answers.
//!
//! Every client of it does that: workers, the sweeper, other tenants.
//! The consensus service has its nodes, a replicated Redis its primary and its replica.

use super::Answer;
use crate::actor::{Actions, Context, TimerKey};
use crate::machine::{JobId, MachineId, NodeId};
use crate::message::{CallId, Holder, Message};
use crate::settings::{Plan, ServiceKind};
use crate::time::Mono;

/// What a client keeps between requests.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NodeClient {
    incarnation: u32,
    calls: u32,
    /// The machine that answered last; the first to be asked next time.
    preferred: MachineId,
}

/// A request that is on its way, possibly to its second or third machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Attempt {
    /// The present call.
    pub call: CallId,
    /// Which machine is asked.
    pub machine: MachineId,
    /// When the present call was sent.
    pub sent: Mono,
    /// How many machines have been asked since the last pause.
    tried: u8,
    /// All have been asked in vain; the request waits before it asks again.
    pub backing_off: bool,
}

/// What comes after a machine that did not help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Ask the machine that the attempt names now.
    Send,
    /// Every machine has been asked.
    AllTried,
}

impl NodeClient {
    /// A client that asks n1 first, or the primary of a replicated Redis.
    pub fn new(plan: &Plan, incarnation: u32) -> NodeClient {
        let preferred = match plan.service {
            ServiceKind::Redis => MachineId::Primary,
            _ => MachineId::Node(NodeId(1)),
        };
        NodeClient { incarnation, calls: 0, preferred }
    }

    /// A number for a call, to whomever.
    pub fn next_call(&mut self) -> CallId {
        self.calls += 1;
        CallId { incarnation: self.incarnation, number: self.calls }
    }

    /// Begins a request.
    pub fn begin(&mut self, context: Context<'_>) -> Attempt {
        // Sending gives it a call of its own; real ones are counted from 1.
        let call = CallId { incarnation: self.incarnation, number: 0 };
        Attempt { call, machine: self.preferred, sent: context.mono(), tried: 0, backing_off: false }
    }

    /// Sends a request to the attempt's machine and waits for an answer until the time-out.
    pub fn send(
        &mut self,
        context: Context<'_>,
        attempt: &mut Attempt,
        request: impl FnOnce(CallId) -> Message,
        timer: TimerKey,
        actions: &mut Actions,
    ) {
        attempt.call = self.next_call();
        attempt.sent = context.mono();
        attempt.tried += 1;
        attempt.backing_off = false;
        actions.send(attempt.machine, request(attempt.call));
        actions.set_timer(timer, context.mono() + context.plan.latency.lock_timeout);
    }

    /// Remembers that the attempt's machine answered.
    pub fn answered(&mut self, attempt: &Attempt) {
        self.preferred = attempt.machine;
    }
}

impl Attempt {
    /// Moves on to the next machine: the one that the last one named, else the next in line.
    pub fn next_node(&mut self, context: Context<'_>, named: Option<NodeId>) -> Next {
        let (next, count) = next_in_line(self.machine, context.plan);
        if self.tried >= count {
            return Next::AllTried;
        }
        self.machine = named.map_or(next, MachineId::from);
        Next::Send
    }

    /// Rests before all are asked again.
    pub fn back_off(&mut self, context: Context<'_>, timer: TimerKey, actions: &mut Actions) {
        self.tried = 0;
        self.backing_off = true;
        self.machine = next_in_line(self.machine, context.plan).0;
        actions.set_timer(timer, context.mono() + context.plan.latency.lock_backoff);
    }
}

/// Who is asked after `machine`, and how many there are.
fn next_in_line(machine: MachineId, plan: &Plan) -> (MachineId, u8) {
    match machine {
        MachineId::Node(NodeId(number)) => {
            let count = plan.cluster.nodes().len() as u8;
            (NodeId(number % count + 1).into(), count)
        }
        MachineId::Primary => (MachineId::Replica, 2),
        _ => (MachineId::Primary, 2),
    }
}

/// Who holds the locks of some jobs: asks one machine after another, for the sweeper.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Inquiry {
    nodes: NodeClient,
    asking: Option<(Attempt, Vec<JobId>)>,
}

/// The request that asks for the locks of these jobs.
type Question = fn(CallId, Vec<JobId>) -> Message;

impl Inquiry {
    /// Nothing has been asked yet.
    pub fn new(plan: &Plan, incarnation: u32) -> Inquiry {
        Inquiry { nodes: NodeClient::new(plan, incarnation), asking: None }
    }

    /// Forgets what it was about.
    pub fn reset(&mut self) {
        self.asking = None;
    }

    /// Asks for the locks of `jobs`.
    pub fn ask(&mut self, context: Context<'_>, jobs: Vec<JobId>, question: Question, actions: &mut Actions) {
        let attempt = self.nodes.begin(context);
        self.send(context, attempt, jobs, question, actions);
    }

    fn send(
        &mut self,
        context: Context<'_>,
        mut attempt: Attempt,
        jobs: Vec<JobId>,
        question: Question,
        actions: &mut Actions,
    ) {
        let request = |call| question(call, jobs.clone());
        self.nodes.send(context, &mut attempt, request, TimerKey::LockTimeout, actions);
        self.asking = Some((attempt, jobs));
    }

    /// The machine did not help: asks the one that it named, else the next, until all have been asked.
    pub fn ask_next(
        &mut self,
        context: Context<'_>,
        named: Option<NodeId>,
        question: Question,
        actions: &mut Actions,
    ) -> Option<Answer> {
        let (mut attempt, jobs) = self.asking.take()?;
        actions.cancel_timer(TimerKey::LockTimeout);
        match attempt.next_node(context, named) {
            Next::Send => {
                self.send(context, attempt, jobs, question, actions);
                None
            }
            Next::AllTried => Some(None),
        }
    }

    /// Whether the answer to this call is awaited.
    pub fn awaits(&self, call: CallId) -> bool {
        self.asking.as_ref().is_some_and(|(attempt, _)| attempt.call == call)
    }

    /// The machine has answered.
    pub fn answered(&mut self, holders: Vec<Holder>, actions: &mut Actions) -> Option<Answer> {
        let (attempt, _) = self.asking.take()?;
        self.nodes.answered(&attempt);
        actions.cancel_timer(TimerKey::LockTimeout);
        Some(Some(holders))
    }
}
