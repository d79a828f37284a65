//! The disk: what is on it for certain, and what waits for it.

use super::{Node, send};
use crate::actor::{Actions, Context, Input, TimerKey};
use crate::event::Kind;
use crate::labs_only::labs_only;
use crate::machine::NodeId;
use crate::message::{Message, PeerMessage};
use crate::time::Mono;

/// What the disk holds for certain.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Durable {
    pub(super) term: u32,
    pub(super) voted_for: Option<NodeId>,
    pub(super) log_length: u64,
}

/// A write that is on its way to the disk, and what to do once it is there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct DiskJob {
    pub(super) done: Mono,
    pub(super) durable: Durable,
    /// Each with the term in which it was asked for: in a later one it means nothing.
    then: Vec<(u32, Then)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Then {
    CountOwnVote,
    SendVote { to: NodeId },
    CountOwnEntries,
    Acknowledge { to: NodeId, matched: u64, sent_on_leader: Mono },
    Nothing,
}

impl Node {
    /// Brings term, vote and log to the disk; `then` happens when they are there.
    /// Writes are synced one after another, in order; those that wait for one that is under way are synced together.
    pub(super) fn persist(&mut self, context: Context<'_>, then: Then, actions: &mut Actions) {
        let durable = Durable { term: self.term, voted_for: self.voted_for, log_length: self.log.len() as u64 };
        if self.disk_jobs.len() > 1
            && let Some(waiting) = self.disk_jobs.back_mut()
        {
            waiting.durable = durable;
            waiting.then.push((self.term, then));
            return;
        }
        let cluster = &context.plan.cluster;
        let begins = self.disk_jobs.back().map_or(context.mono(), |job| job.done.max(context.mono()));
        let done = begins + cluster.fsync + self.rng.span_up_to(self.fsync_jitter);
        if self.disk_jobs.is_empty() {
            actions.set_timer(TimerKey::Disk, done);
        }
        self.disk_jobs.push_back(DiskJob { done, durable, then: vec![(self.term, then)] });
    }

    pub(super) fn disk_done(&mut self, context: Context<'_>, actions: &mut Actions) {
        let Some(job) = self.disk_jobs.pop_front() else { return };
        if let Some(next) = self.disk_jobs.front() {
            actions.set_timer(TimerKey::Disk, next.done);
        }
        if context.plan.cluster.traces_entries && job.durable.log_length > self.durable.log_length {
            actions.record(Kind::EntryOnDisk { index: job.durable.log_length, labs: labs_only() });
        }
        self.durable = job.durable;
        for (term, then) in job.then {
            self.is_on_disk(context, term, then, actions);
        }
        self.catch_up(context, actions);
        self.send_out(context, actions);
    }

    fn is_on_disk(&mut self, context: Context<'_>, term: u32, then: Then, actions: &mut Actions) {
        match then {
            Then::CountOwnVote if term == self.term => self.own_vote_durable(context, actions),
            Then::SendVote { to } if term == self.term => {
                send(actions, to, PeerMessage::Vote { term, granted: true, pre: false });
            }
            Then::CountOwnEntries if term == self.term => self.advance_commit(context, actions),
            Then::Acknowledge { to, matched, sent_on_leader } if term == self.term => {
                let reply = PeerMessage::AppendReply { term, matched, ok: true, sent_on_leader, heartbeat: false };
                send(actions, to, reply);
            }
            _ => {}
        }
    }

    /// Whether the protocol stands still until the disk is done.
    ///
    /// etcd runs its protocol in one loop that syncs before it goes on (`server/etcdserver/raft.go`): meanwhile no tick,
    /// no heartbeat and no message of a peer is handled.
    /// Clients are not the loop's business: keep-alives and reads are answered, and proposals wait for the next sync.
    fn is_syncing(&self, context: Context<'_>) -> bool {
        context.plan.cluster.waits_for_disk && !self.disk_jobs.is_empty()
    }

    /// Whether `input` has to wait for the disk; it is kept until then.
    pub(super) fn has_to_wait(&mut self, context: Context<'_>, input: &Input) -> bool {
        let of_the_loop = matches!(
            input,
            Input::Message { message: Message::Peer(_), .. }
                | Input::Timer { key: TimerKey::Election | TimerKey::Heartbeat, .. }
        );
        let waits = of_the_loop && self.is_syncing(context);
        if waits {
            self.waiting_for_disk.push(input.clone());
        }
        waits
    }

    /// Handles what had to wait: messages before timers, each in order, until the next sync begins.
    fn catch_up(&mut self, context: Context<'_>, actions: &mut Actions) {
        while !self.waiting_for_disk.is_empty() && !self.is_syncing(context) {
            let message = self.waiting_for_disk.iter().position(|input| matches!(input, Input::Message { .. }));
            let input = self.waiting_for_disk.remove(message.unwrap_or(0));
            // A leader that was heard meanwhile has restarted this timer.
            let timeout = context.plan.cluster.election_timeout(self.id);
            let heard = self.heard_leader.is_some_and(|heard| context.mono() - heard < timeout);
            if !(heard && matches!(input, Input::Timer { key: TimerKey::Election, .. })) {
                self.handle_now(context, input, actions);
            }
        }
    }
}
