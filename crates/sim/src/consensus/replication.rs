//! The log: sending entries, storing them, committing them by majority, discarding what a new leader does not have.

use super::{Node, Role, Then, nth_largest, send, silence};
use crate::actor::{Actions, Context, TimerKey};
use crate::consensus::log::{Command, Entry};
use crate::event::Kind;
use crate::labs_only::labs_only;
use crate::machine::NodeId;
use crate::message::PeerMessage;
use crate::time::Mono;

/// The content of an append request.
pub(super) struct Append {
    pub(super) term: u32,
    pub(super) prev_index: u64,
    pub(super) prev_term: u32,
    pub(super) entries: Vec<Entry>,
    pub(super) commit: u64,
    pub(super) sent_on_leader: Mono,
}

impl Node {
    /// Appends `command` to the leader's own log and sends it out; returns its index.
    pub(super) fn propose(&mut self, context: Context<'_>, command: Command, actions: &mut Actions) -> u64 {
        if context.plan.cluster.traces_entries {
            actions.record(Kind::EntryLogged {
                index: self.last_index() + 1,
                command: command.to_string(),
                labs: labs_only(),
            });
        }
        self.log.push(Entry { term: self.term, command });
        self.send_out(context, actions);
        self.last_index()
    }

    /// Brings what is new in the leader's log to its own disk and to the followers, unless the disk is busy: then it
    /// goes with the next write, together with everything else that has come until then.
    pub(super) fn send_out(&mut self, context: Context<'_>, actions: &mut Actions) {
        let last = self.last_index();
        let Role::Leader(leadership) = &mut self.role else { return };
        if leadership.sent_out < last && self.disk_jobs.is_empty() {
            leadership.sent_out = last;
            self.persist(context, Then::CountOwnEntries, actions);
            self.send_entries(context, actions);
        }
    }

    pub(super) fn heartbeat(&mut self, context: Context<'_>, actions: &mut Actions) {
        if !self.steps_down_when_unheard(context, actions) {
            actions.record(Kind::Heartbeat { term: self.term });
            actions.set_timer(TimerKey::Heartbeat, context.mono() + context.plan.cluster.heartbeat);
            self.send_entries(context, actions);
        }
    }

    /// A leader that has not heard from a majority within the shortest election timeout may have a successor: it
    /// steps down, and whoever waits for it times out.
    /// Returns whether the node is not, or no longer, a leader.
    pub(super) fn steps_down_when_unheard(&mut self, context: Context<'_>, actions: &mut Actions) -> bool {
        let Role::Leader(leadership) = &self.role else { return true };
        let unheard = silence(leadership, context.mono(), self.majority(context.plan));
        if unheard < context.plan.cluster.election_timeout_min() {
            return false;
        }
        self.become_follower(context, self.term, None, actions);
        true
    }

    fn send_entries(&mut self, context: Context<'_>, actions: &mut Actions) {
        let Role::Leader(leadership) = &self.role else { return };
        for (peer, follower) in &leadership.followers {
            let prev_index = follower.next - 1;
            send(
                actions,
                *peer,
                PeerMessage::Append {
                    term: self.term,
                    prev_index,
                    prev_term: self.term_at(prev_index).unwrap_or(0),
                    entries: self.log[prev_index as usize..].to_vec(),
                    commit: self.commit,
                    sent_on_leader: context.mono(),
                },
            );
        }
    }

    pub(super) fn append_requested(
        &mut self,
        context: Context<'_>,
        from: NodeId,
        append: Append,
        actions: &mut Actions,
    ) {
        let heartbeat = append.entries.is_empty();
        let sent_on_leader = append.sent_on_leader;
        let reply = |term, matched, ok| PeerMessage::AppendReply { term, matched, ok, sent_on_leader, heartbeat };
        if append.term < self.term {
            send(actions, from, reply(self.term, 0, false));
            return;
        }
        if append.term > self.term || !matches!(self.role, Role::Follower) {
            self.become_follower(context, append.term, Some(from), actions);
        } else {
            self.leader = Some(from);
            self.restart_election_timer(context, actions);
        }
        self.heard_leader = Some(context.mono());

        if self.term_at(append.prev_index) != Some(append.prev_term) {
            let try_next = self.last_index().min(append.prev_index.saturating_sub(1));
            send(actions, from, reply(self.term, try_next, false));
            return;
        }
        let matched = append.prev_index + append.entries.len() as u64;
        let stored = self.store_entries(append.prev_index, append.entries, actions);
        if stored || matched > self.durable.log_length {
            self.persist(context, Then::Acknowledge { to: from, matched, sent_on_leader }, actions);
        } else {
            send(actions, from, reply(self.term, matched, true));
        }
        let commit = append.commit.min(matched);
        if commit > self.commit {
            self.commit = commit;
            self.apply_committed(context, actions);
        }
    }

    /// Puts the leader's entries into the log; returns whether any was new.
    fn store_entries(&mut self, prev_index: u64, entries: Vec<Entry>, actions: &mut Actions) -> bool {
        let mut stored = false;
        for (index, entry) in (prev_index + 1..).zip(entries) {
            match self.term_at(index) {
                Some(term) if term == entry.term => continue,
                Some(_) => self.discard_from(index, actions),
                None => {}
            }
            self.log.push(entry);
            stored = true;
        }
        stored
    }

    /// Drops entries that the leader of a newer term does not have: they were never committed.
    fn discard_from(&mut self, index: u64, actions: &mut Actions) {
        debug_assert!(index > self.commit, "a committed entry is never discarded");
        let count = self.last_index() + 1 - index;
        actions.record(Kind::EntriesDiscarded { from_index: index, count });
        self.log.truncate(index as usize - 1);
        self.durable.log_length = self.durable.log_length.min(index - 1);
        for job in &mut self.disk_jobs {
            job.durable.log_length = job.durable.log_length.min(index - 1);
        }
    }

    #[allow(clippy::too_many_arguments, reason = "the fields of one message")]
    pub(super) fn append_answered(
        &mut self,
        context: Context<'_>,
        from: NodeId,
        term: u32,
        matched: u64,
        ok: bool,
        sent_on_leader: Mono,
        actions: &mut Actions,
    ) {
        if term > self.term {
            self.become_follower(context, term, None, actions);
            return;
        }
        let own_term = self.term;
        let Role::Leader(leadership) = &mut self.role else { return };
        let Some(follower) = leadership.followers.get_mut(&from) else { return };
        if term < own_term {
            return;
        }
        follower.heard = follower.heard.max(sent_on_leader);
        if ok {
            if context.plan.cluster.traces_entries && matched > follower.matched {
                actions.record(Kind::EntryAcknowledged { node: from, index: matched, labs: labs_only() });
            }
            follower.matched = follower.matched.max(matched);
            follower.next = follower.next.max(follower.matched + 1);
            self.advance_commit(context, actions);
        } else {
            follower.next = (matched + 1).clamp(follower.matched + 1, follower.next);
        }
    }

    /// Commits what a majority has on disk, if it is of this term (Raft, 5.4.2).
    pub(super) fn advance_commit(&mut self, context: Context<'_>, actions: &mut Actions) {
        let majority = self.majority(context.plan);
        let Role::Leader(leadership) = &self.role else { return };
        let matched = leadership.followers.values().map(|follower| follower.matched);
        let on_disk = matched.chain([self.durable.log_length]);
        let committed = nth_largest(on_disk, majority).unwrap_or(0);
        if committed > self.commit && self.term_at(committed) == Some(self.term) {
            self.commit = committed;
            if context.plan.cluster.traces_entries {
                actions.record(Kind::EntryCommitted { index: committed, labs: labs_only() });
            }
            self.apply_committed(context, actions);
        }
    }

    fn apply_committed(&mut self, context: Context<'_>, actions: &mut Actions) {
        while self.applied < self.commit {
            self.applied += 1;
            let command = self.log[self.applied as usize - 1].command.clone();
            let applied = self.state.apply(&command);
            if context.plan.cluster.traces_entries {
                actions.record(Kind::EntryApplied { index: self.applied, labs: labs_only() });
            }
            if matches!(self.role, Role::Leader(_)) {
                self.applied_as_leader(context, self.applied, &command, applied, actions);
            }
        }
    }
}
