//! Asking the nodes of the consensus lock service: one after another until one answers.
//!
//! Every client of it does that: workers, the sweeper, other tenants.

use crate::actor::{Actions, Context, TimerKey};
use crate::machine::NodeId;
use crate::message::{CallId, LockRequest, Message};
use crate::time::Mono;

/// What a client keeps between requests.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NodeClient {
    incarnation: u32,
    calls: u32,
    /// The node that answered last; the first to be asked next time.
    preferred: NodeId,
}

/// A request that is on its way, possibly to its second or third node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Attempt {
    /// The present call.
    pub call: CallId,
    /// Which node is asked.
    pub node: NodeId,
    /// When the present call was sent.
    pub sent: Mono,
    /// How many nodes have been asked since the last pause.
    tried: u8,
    /// All nodes have been asked in vain; the request waits before it asks again.
    pub backing_off: bool,
}

/// What comes after a node that did not help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Ask the node that the attempt names now.
    Send,
    /// Every node has been asked.
    AllTried,
}

impl NodeClient {
    /// A client that asks n1 first.
    pub fn new(incarnation: u32) -> NodeClient {
        NodeClient { incarnation, calls: 0, preferred: NodeId(1) }
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
        Attempt { call, node: self.preferred, sent: context.mono(), tried: 0, backing_off: false }
    }

    /// Sends `request` to the attempt's node and waits for an answer until the time-out.
    pub fn send(
        &mut self,
        context: Context<'_>,
        attempt: &mut Attempt,
        request: LockRequest,
        timer: TimerKey,
        actions: &mut Actions,
    ) {
        attempt.call = self.next_call();
        attempt.sent = context.mono();
        attempt.tried += 1;
        attempt.backing_off = false;
        actions.send(attempt.node, Message::LockRequest(attempt.call, request));
        actions.set_timer(timer, context.mono() + context.plan.latency.lock_timeout);
    }

    /// Remembers that the attempt's node answered.
    pub fn answered(&mut self, attempt: &Attempt) {
        self.preferred = attempt.node;
    }
}

impl Attempt {
    /// Moves on to the next node: the one that the last one named, else the next in line.
    pub fn next_node(&mut self, context: Context<'_>, named: Option<NodeId>) -> Next {
        let count = context.plan.cluster.nodes().len() as u8;
        if self.tried >= count {
            return Next::AllTried;
        }
        self.node = named.unwrap_or(NodeId(self.node.0 % count + 1));
        Next::Send
    }

    /// Rests before all nodes are asked again.
    pub fn back_off(&mut self, context: Context<'_>, timer: TimerKey, actions: &mut Actions) {
        self.tried = 0;
        self.backing_off = true;
        let count = context.plan.cluster.nodes().len() as u8;
        self.node = NodeId(self.node.0 % count + 1);
        actions.set_timer(timer, context.mono() + context.plan.latency.lock_backoff);
    }
}
