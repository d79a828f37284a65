//! What Raft promises (Ongaro and Ousterhout, 2014, figure 3), checked on all nodes at once, from outside.

#![allow(dead_code, reason = "each test file uses its own part of it")]

use std::collections::BTreeMap;

use lease_lab_sim::consensus::Node;
use lease_lab_sim::consensus::log::{Command, Entry};
use lease_lab_sim::consensus::state::LockState;
use lease_lab_sim::machine::NodeId;

/// What has been seen so far.
///
/// It must look after every single step: then the first node that knows an entry to be committed is its leader.
#[derive(Debug, Default)]
pub(crate) struct RaftRules {
    /// Who led in which term.
    leaders: BTreeMap<u32, NodeId>,
    committed: Vec<Committed>,
    looked_at: BTreeMap<NodeId, Looks>,
}

#[derive(Debug)]
struct Committed {
    entry: Entry,
    /// The term of the leader that committed it.
    in_term: u32,
    /// The state of the lock service after it.
    state: LockState,
}

/// Tells cheaply whether a node has changed: a log never changes without its length or its last term changing too.
#[derive(Debug, PartialEq, Eq)]
struct Looks {
    role: &'static str,
    term: u32,
    length: usize,
    last_term: u32,
    durable: u64,
    commit: u64,
}

impl RaftRules {
    /// Looks at all nodes after a step.
    pub(crate) fn check(&mut self, nodes: &[(NodeId, &Node)]) -> Result<(), String> {
        let mut changed = false;
        for (id, node) in nodes {
            let looks = Looks {
                role: node.role_name(),
                term: node.term(),
                length: node.entries().len(),
                last_term: node.entries().last().map_or(0, |entry| entry.term),
                durable: node.durable_length(),
                commit: node.commit_index(),
            };
            if self.looked_at.get(id) != Some(&looks) {
                self.looked_at.insert(*id, looks);
                changed = true;
            }
        }
        if !changed {
            return Ok(());
        }
        self.election_safety(nodes)?;
        log_matching(nodes)?;
        self.state_machine_safety(nodes)?;
        self.leader_completeness(nodes)?;
        self.durability(nodes)
    }

    /// Whether a command is in the committed part of the log.
    pub(crate) fn is_committed(&self, wanted: impl Fn(&Command) -> bool) -> bool {
        self.committed.iter().any(|committed| wanted(&committed.entry.command))
    }

    /// The state after everything that is committed.
    pub(crate) fn latest_state(&self) -> LockState {
        self.committed.last().map(|last| last.state.clone()).unwrap_or_default()
    }

    /// In how many terms somebody led.
    pub(crate) fn terms_led(&self) -> usize {
        self.leaders.len()
    }

    /// How many entries have been committed.
    pub(crate) fn committed(&self) -> usize {
        self.committed.len()
    }

    /// At most one leader in a term.
    fn election_safety(&mut self, nodes: &[(NodeId, &Node)]) -> Result<(), String> {
        for (id, node) in nodes.iter().filter(|(_, node)| node.role_name() == "leader") {
            let first = *self.leaders.entry(node.term()).or_insert(*id);
            if first != *id {
                return Err(format!("{first} and {id} both lead in term {}", node.term()));
            }
        }
        Ok(())
    }

    /// Nodes that have applied an entry have applied the same one, and have come to the same state.
    fn state_machine_safety(&mut self, nodes: &[(NodeId, &Node)]) -> Result<(), String> {
        for (id, node) in nodes {
            let Some(known) = node.entries().get(..node.commit_index() as usize) else {
                return Err(format!("{id} knows more to be committed than it has"));
            };
            for (place, entry) in known.iter().enumerate() {
                match self.committed.get(place) {
                    Some(committed) if committed.entry == *entry => {}
                    Some(committed) => {
                        let index = place + 1;
                        return Err(format!("{id} commits {entry:?} at {index}, where {committed:?} is committed"));
                    }
                    None => {
                        let mut state = self.committed.last().map(|last| last.state.clone()).unwrap_or_default();
                        state.apply(&entry.command);
                        self.committed.push(Committed { entry: entry.clone(), in_term: node.term(), state });
                    }
                }
            }
            let expected = match known.len().checked_sub(1) {
                Some(last) => &self.committed[last].state,
                None => &LockState::default(),
            };
            if node.lock_state() != expected {
                return Err(format!("{id} has applied {} entries and come to another state", known.len()));
            }
        }
        Ok(())
    }

    /// What a leader committed is in the log of every later leader.
    fn leader_completeness(&self, nodes: &[(NodeId, &Node)]) -> Result<(), String> {
        for (id, node) in nodes.iter().filter(|(_, node)| node.role_name() == "leader") {
            for (place, committed) in self.committed.iter().enumerate() {
                if committed.in_term <= node.term() && node.entries().get(place) != Some(&committed.entry) {
                    return Err(format!("{id} leads in term {} without entry {}", node.term(), place + 1));
                }
            }
        }
        Ok(())
    }

    /// What is committed is, and stays, on the disks of a majority: so a minority never commits.
    fn durability(&self, nodes: &[(NodeId, &Node)]) -> Result<(), String> {
        for (place, committed) in self.committed.iter().enumerate() {
            let on_disk = nodes.iter().filter(|(_, node)| {
                (place as u64) < node.durable_length() && node.entries().get(place) == Some(&committed.entry)
            });
            let count = on_disk.count();
            if count * 2 <= nodes.len() {
                return Err(format!("entry {} is committed but on {count} of {} disks", place + 1, nodes.len()));
            }
        }
        Ok(())
    }
}

/// Two logs that have the same term at an index are the same up to there.
fn log_matching(nodes: &[(NodeId, &Node)]) -> Result<(), String> {
    for (place, (one_id, one)) in nodes.iter().enumerate() {
        for (other_id, other) in &nodes[place + 1..] {
            let pairs = one.entries().iter().zip(other.entries());
            let agree = pairs.enumerate().filter(|(_, (a, b))| a.term == b.term).map(|(place, _)| place).next_back();
            if let Some(last) = agree
                && one.entries()[..=last] != other.entries()[..=last]
            {
                return Err(format!("{one_id} and {other_id} agree at {} but not before", last + 1));
            }
        }
    }
    Ok(())
}
