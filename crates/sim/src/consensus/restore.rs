//! A snapshot is restored into a fresh cluster: a new history begins.

use litemap::LiteMap;

use super::disk::Durable;
use super::{Follower, Leadership, Node, Role};
use crate::consensus::log::{Command, Entry};
use crate::consensus::state::LockState;
use crate::machine::MachineId;
use crate::machine::NodeId;
use crate::message::{CallId, LockReply, Message};
use crate::settings::Plan;
use crate::time::Mono;

impl Node {
    /// The state at `revision`, as far as the log of this node goes back and is known to be committed.
    pub fn state_at(&self, revision: u64) -> Option<LockState> {
        let committed = self.log.iter().take(self.commit as usize).map(|entry| &entry.command);
        LockState::at_revision(committed, revision)
    }

    /// The node has this state from now on, and a log that begins with it; in memory it has nothing else.
    ///
    /// The term is above all earlier ones, so that whatever was on its way is too old to matter.
    pub fn restore(&mut self, plan: &Plan, state: &LockState, term: u32, leader: Option<NodeId>, now: Mono) {
        self.crash();
        self.term = term;
        self.voted_for = leader;
        self.log = vec![Entry { term, command: Command::Restore(Box::new(state.clone())) }];
        self.durable = Durable { term, voted_for: leader, log_length: 1 };
        self.commit = 1;
        self.applied = 1;
        self.state = state.clone();
        if leader == Some(self.id) {
            let mut followers = LiteMap::new();
            for peer in self.peers(plan) {
                followers.insert(peer, Follower { matched: 1, next: 2, heard: now });
            }
            self.role = Role::Leader(Box::new(Leadership::new(1, followers)));
        }
        self.leader = leader;
    }

    /// What a watcher hears that comes back with a revision of the old history: the new one begins after it.
    /// Without a jump of the revision nothing tells the two histories apart, and it hears nothing.
    pub fn tell_watchers(&self) -> Vec<(MachineId, Message)> {
        let watches = match &self.role {
            Role::Leader(leadership) => &leadership.watches[..],
            _ => &[],
        };
        let told = |call: CallId| Message::LockReply(call, LockReply::HistoryGone);
        watches.iter().map(|watch| (watch.client, told(watch.call))).collect()
    }
}
