//! Votes, and what happens when a lock node becomes leader.

use litemap::LiteMap;

use super::{Follower, Leadership, Node, Role, Then, send};
use crate::actor::{Actions, Context, TimerKey};
use crate::consensus::deadlines::Deadlines;
use crate::consensus::log::{Command, Entry};
use crate::event::{Kind, RestartedLease};
use crate::machine::NodeId;
use crate::message::PeerMessage;
use crate::time::Span;

/// Two candidates that split the votes wait for different times before they try again.
const RETRY_JITTER_MAX: Span = Span::millis(500);

impl Node {
    pub(super) fn election_timed_out(&mut self, context: Context<'_>, actions: &mut Actions) {
        if matches!(self.role, Role::Leader(_)) {
            return;
        }
        let retries = !matches!(self.role, Role::Follower);
        self.role = Role::PreCandidate { votes: vec![self.id] };
        self.leader = None;
        let jitter = if retries { self.rng.span_up_to(RETRY_JITTER_MAX) } else { Span::ZERO };
        let timeout = context.plan.cluster.election_timeout(self.id) + jitter;
        actions.set_timer(TimerKey::Election, context.mono() + timeout);
        self.ask_for_votes(context, true, actions);
        self.count_pre_votes(context, actions);
    }

    fn ask_for_votes(&mut self, context: Context<'_>, pre: bool, actions: &mut Actions) {
        let term = self.term + u32::from(pre);
        let last_index = self.last_index();
        let last_term = self.term_at(last_index).unwrap_or(0);
        for peer in self.peers(context.plan) {
            send(actions, peer, PeerMessage::RequestVote { term, last_index, last_term, pre });
        }
    }

    pub(super) fn vote_requested(
        &mut self,
        context: Context<'_>,
        from: NodeId,
        term: u32,
        candidate_last: (u32, u64),
        pre: bool,
        actions: &mut Actions,
    ) {
        // A node that hears its leader helps nobody to depose it; so a node that was cut off does not disturb the
        // others when it comes back.
        let leader_lives = matches!(self.role, Role::Leader(_))
            || self
                .heard_leader
                .is_some_and(|heard| context.mono() - heard < context.plan.cluster.election_timeout_min());
        let own_last = (self.term_at(self.last_index()).unwrap_or(0), self.last_index());
        let up_to_date = candidate_last >= own_last;

        if pre {
            let granted = term > self.term && up_to_date && !leader_lives;
            let term = if granted { term } else { self.term };
            send(actions, from, PeerMessage::Vote { term, granted, pre });
            return;
        }
        if term > self.term && !leader_lives {
            self.become_follower(context, term, None, actions);
        }
        let free = self.voted_for.is_none_or(|voted| voted == from);
        if term == self.term && free && up_to_date && matches!(self.role, Role::Follower) {
            self.voted_for = Some(from);
            self.restart_election_timer(context, actions);
            // The vote must survive a crash before anybody may count it.
            self.persist(context, Then::SendVote { to: from }, actions);
        } else {
            send(actions, from, PeerMessage::Vote { term: self.term, granted: false, pre });
        }
    }

    pub(super) fn vote_arrived(
        &mut self,
        context: Context<'_>,
        from: NodeId,
        term: u32,
        granted: bool,
        pre: bool,
        actions: &mut Actions,
    ) {
        if !granted {
            if term > self.term {
                self.become_follower(context, term, None, actions);
            }
            return;
        }
        match &mut self.role {
            Role::PreCandidate { votes } if pre && term == self.term + 1 => {
                count(votes, from);
                self.count_pre_votes(context, actions);
            }
            Role::Candidate { votes } if !pre && term == self.term => {
                count(votes, from);
                self.count_votes(context, actions);
            }
            _ => {}
        }
    }

    fn count_pre_votes(&mut self, context: Context<'_>, actions: &mut Actions) {
        let Role::PreCandidate { votes } = &self.role else { return };
        if votes.len() < self.majority(context.plan) {
            return;
        }
        self.term += 1;
        self.voted_for = Some(self.id);
        self.role = Role::Candidate { votes: Vec::new() };
        actions.record(Kind::ElectionStarted { term: self.term });
        self.persist(context, Then::CountOwnVote, actions);
        self.ask_for_votes(context, false, actions);
    }

    pub(super) fn own_vote_durable(&mut self, context: Context<'_>, actions: &mut Actions) {
        if let Role::Candidate { votes } = &mut self.role {
            count(votes, self.id);
            self.count_votes(context, actions);
        }
    }

    fn count_votes(&mut self, context: Context<'_>, actions: &mut Actions) {
        let Role::Candidate { votes } = &self.role else { return };
        if votes.len() >= self.majority(context.plan) {
            self.become_leader(context, actions);
        }
    }

    /// A new leader has the grants and tokens from the log, but nobody's deadlines: it restarts every lease at full
    /// length, which can only be later than the old leader's deadline, or at what a checkpoint says was left of it,
    /// which is no earlier either.
    fn become_leader(&mut self, context: Context<'_>, actions: &mut Actions) {
        let now = context.mono();
        // Entries that are not applied yet count as well: this leader's first commit commits them too.
        let mut whole_log = self.state.clone();
        for entry in &self.log[self.applied as usize..] {
            whole_log.apply(&entry.command);
        }
        let mut deadlines = Deadlines::default();
        let mut leases = Vec::new();
        for (lease, record) in whole_log.leases.iter() {
            let deadline = now + record.remaining.unwrap_or(record.ttl);
            deadlines.set(*lease, deadline);
            leases.push(RestartedLease {
                worker: lease.worker,
                lease: *lease,
                token: whole_log.bound_to(*lease).map(|(_, token)| token),
                deadline,
                checkpoint: record.remaining,
            });
        }
        let deadline = deadlines.earliest();
        actions.record(Kind::LeaderElected { node: self.id, term: self.term, deadline, leases });

        let last = self.last_index();
        let mut followers = LiteMap::new();
        for peer in self.peers(context.plan) {
            followers.insert(peer, Follower { matched: 0, next: last + 1, heard: now });
        }
        // Its first entry is the no-op.
        self.role = Role::Leader(Box::new(Leadership { deadlines, ..Leadership::new(last + 1, followers) }));
        self.leader = Some(self.id);
        actions.cancel_timer(TimerKey::Election);
        self.log.push(Entry { term: self.term, command: Command::Noop });
        self.persist(context, Then::CountOwnEntries, actions);
        self.set_expiry_timer(actions);
        self.schedule_checkpoints(context, actions);
        self.heartbeat(context, actions);
    }
}

/// Counts a vote; one that arrives twice is one.
fn count(votes: &mut Vec<NodeId>, from: NodeId) {
    if !votes.contains(&from) {
        votes.push(from);
    }
}
