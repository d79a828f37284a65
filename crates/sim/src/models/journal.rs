//! A journal on three nodes: an entry counts when two of them have it, and a spare engine fences the old one with a
//! higher epoch before it replays.
//!
//! It is the fence of a store with one row, on three machines at once: any two majorities have a node in common, so
//! once a majority has promised epoch e + 1, no entry of epoch e can reach a majority any more.

use std::fmt;

use crate::actor::{Actions, Context, Input, TimerKey};
use crate::event::Kind;
use crate::labs_only::labs_only;
use crate::machine::{MachineId, NodeId, WorkerId};
use crate::message::{CallId, Message};
use crate::settings::FenceMode;
use crate::time::Span;

/// The nodes of the journal.
pub const NODES: u8 = 3;
/// What an entry needs to count, and a fence to hold.
const MAJORITY: usize = NODES as usize / 2 + 1;

/// When the spare engine fences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fences {
    /// Before it reads anything.
    #[default]
    BeforeReplay,
    /// After it has read and replayed.
    AfterReplay,
}

/// The rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rules {
    /// When the spare engine fences.
    pub fences: Fences,
    /// The time between two entries.
    pub every: Span,
    /// How long the replay takes.
    pub replay: Span,
}

/// An entry: who made it, and its number among those of that engine and epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct JournalEntry {
    /// The epoch in which it was made.
    pub epoch: u32,
    /// Which one of that epoch, counted from 1.
    pub number: u32,
}

impl fmt::Display for JournalEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.epoch, self.number)
    }
}

/// What engines and nodes say to each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum JournalMessage {
    /// Promise to refuse everything below this epoch, and return the entries.
    Fence(u32),
    /// Return the entries.
    Read,
    /// Store these entries after the first `after`, and drop whatever else stands there.
    Write {
        /// The writer's epoch.
        epoch: u32,
        /// How many entries come before.
        after: u32,
        /// The entries.
        entries: Vec<JournalEntry>,
    },
    /// The entries, and the epoch that is promised.
    Entries(u32, Vec<JournalEntry>),
    /// So many entries are on the disk as the writer has them.
    Written(u32),
    /// This node has only so many entries.
    Behind(u32),
    /// A higher epoch is promised.
    Refused(u32),
}

impl fmt::Display for JournalMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JournalMessage::Fence(epoch) => write!(f, "fence off everything below epoch {epoch}"),
            JournalMessage::Read => f.write_str("what is in the journal?"),
            JournalMessage::Write { epoch, after, entries } => {
                write!(f, "epoch {epoch}: {} entries after {after}", entries.len())
            }
            JournalMessage::Entries(epoch, entries) => write!(f, "epoch {epoch} promised, {} entries", entries.len()),
            JournalMessage::Written(count) => write!(f, "{count} entries on disk"),
            JournalMessage::Behind(count) => write!(f, "only {count} entries here"),
            JournalMessage::Refused(epoch) => write!(f, "refused, epoch {epoch} is promised"),
        }
    }
}

/// One node; all that it has is on its disk.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct JournalNode {
    promised: u32,
    entries: Vec<JournalEntry>,
}

impl JournalNode {
    pub(super) fn handle(&mut self, context: Context<'_>, input: Input, actions: &mut Actions) {
        let Input::Message { from, message: Message::Journal(call, request, ..) } = input else { return };
        let Some(worker) = from.worker() else { return };
        let compares = context.settings.fence != FenceMode::Off;
        let reply = match request {
            // No two engines have one epoch, so an equal one comes from the engine that asked before.
            JournalMessage::Fence(epoch) if epoch >= self.promised => {
                self.promised = epoch;
                actions.record(Kind::JournalFenced {
                    worker,
                    epoch,
                    entries: self.entries.len() as u32,
                    labs: labs_only(),
                });
                JournalMessage::Entries(epoch, self.entries.clone())
            }
            JournalMessage::Read => JournalMessage::Entries(self.promised, self.entries.clone()),
            JournalMessage::Write { epoch, after, entries } if epoch >= self.promised || !compares => {
                self.promised = self.promised.max(epoch);
                self.write(worker, epoch, after, &entries, actions)
            }
            JournalMessage::Fence(epoch) | JournalMessage::Write { epoch, .. } => {
                actions.record(Kind::JournalRefused { worker, epoch, promised: self.promised, labs: labs_only() });
                JournalMessage::Refused(self.promised)
            }
            _ => return,
        };
        actions.send(from, Message::Journal(call, reply, labs_only()));
    }

    fn write(
        &mut self,
        worker: WorkerId,
        epoch: u32,
        after: u32,
        entries: &[JournalEntry],
        actions: &mut Actions,
    ) -> JournalMessage {
        let after = after as usize;
        if after > self.entries.len() {
            return JournalMessage::Behind(self.entries.len() as u32);
        }
        // A message that was overtaken by a later one must not cut off what that one brought.
        let known = self.entries[after..].iter().zip(entries).take_while(|(here, new)| here == new).count();
        if known < entries.len() {
            self.entries.truncate(after + known);
            self.entries.extend(&entries[known..]);
            actions.record(Kind::JournalWritten {
                worker,
                epoch,
                entries: self.entries.len() as u32,
                labs: labs_only(),
            });
        }
        JournalMessage::Written((after + entries.len()) as u32)
    }
}

/// An engine: it writes the journal, or waits to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Engine {
    worker: WorkerId,
    incarnation: u32,
    calls: u32,
    epoch: u32,
    phase: Phase,
    entries: Vec<JournalEntry>,
    made: u32,
    counted: u32,
    /// For each node, how many entries its disk has as the engine has them, and whether it has refused this epoch.
    nodes: [(u32, bool); NODES as usize],
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Idle,
    /// It waits for a majority's entries.
    Collecting(Vec<(NodeId, u32, Vec<JournalEntry>)>),
    Replaying,
    /// It has replayed and waits for a majority's promises.
    FencingLate(Vec<NodeId>),
    Writing,
    Halted,
}

impl Engine {
    pub(super) fn new(worker: WorkerId, incarnation: u32) -> Engine {
        Engine {
            worker,
            incarnation,
            calls: 0,
            epoch: 0,
            phase: Phase::Idle,
            entries: Vec::new(),
            made: 0,
            counted: 0,
            nodes: [(0, false); NODES as usize],
        }
    }

    pub(super) fn handle(&mut self, context: Context<'_>, rules: Rules, input: Input, actions: &mut Actions) {
        match input {
            Input::Start => {
                if self.incarnation == 0 {
                    actions.record(Kind::Started);
                }
                // Each engine and each of its processes has an epoch of its own; a spare's is above the first one's.
                self.epoch = 1 + u32::from(self.worker.0) + u32::from(WorkerId::ALL.len() as u8) * self.incarnation;
                self.collect(context, rules, actions);
            }
            Input::Timer { key: TimerKey::LockTimeout, .. } => match &self.phase {
                Phase::Collecting(_) => self.collect(context, rules, actions),
                Phase::FencingLate(_) => self.fence_late(context, actions),
                _ => {}
            },
            Input::Timer { key: TimerKey::Work, .. } => match &self.phase {
                Phase::Replaying => self.replayed(context, rules, actions),
                Phase::Writing => self.make_entry(context, rules, actions),
                _ => {}
            },
            Input::Message { from: MachineId::Node(node), message: Message::Journal(_, reply, ..) } => {
                self.answered(context, rules, node, reply, actions);
            }
            _ => {}
        }
    }

    fn ask(&mut self, node: NodeId, request: JournalMessage, actions: &mut Actions) {
        self.calls += 1;
        let call = CallId { incarnation: self.incarnation, number: self.calls };
        actions.send(node, Message::Journal(call, request, labs_only()));
    }

    fn ask_all(&mut self, context: Context<'_>, request: &JournalMessage, actions: &mut Actions) {
        for number in 1..=NODES {
            self.ask(NodeId(number), request.clone(), actions);
        }
        actions.set_timer(TimerKey::LockTimeout, context.mono() + Span::millis(500));
    }

    /// Reads what a majority has; a careful engine fences with the same request.
    fn collect(&mut self, context: Context<'_>, rules: Rules, actions: &mut Actions) {
        self.phase = Phase::Collecting(Vec::new());
        // The first engine of all has nobody to fence off but still claims its epoch.
        let careful = rules.fences == Fences::BeforeReplay || self.worker == WorkerId::A;
        let request = if careful { JournalMessage::Fence(self.epoch) } else { JournalMessage::Read };
        self.ask_all(context, &request, actions);
    }

    fn fence_late(&mut self, context: Context<'_>, actions: &mut Actions) {
        self.phase = Phase::FencingLate(Vec::new());
        self.ask_all(context, &JournalMessage::Fence(self.epoch), actions);
    }

    fn answered(
        &mut self,
        context: Context<'_>,
        rules: Rules,
        node: NodeId,
        reply: JournalMessage,
        actions: &mut Actions,
    ) {
        match (&mut self.phase, reply) {
            (Phase::Collecting(answers), JournalMessage::Entries(promised, entries)) => {
                if answers.iter().all(|(known, ..)| *known != node) {
                    answers.push((node, promised, entries));
                }
                if answers.len() >= MAJORITY {
                    self.replay(context, rules, actions);
                }
            }
            (Phase::FencingLate(promises), JournalMessage::Entries(..)) => {
                if !promises.contains(&node) {
                    promises.push(node);
                }
                if promises.len() >= MAJORITY {
                    self.begin_writing(context, rules, actions);
                }
            }
            (Phase::Writing, JournalMessage::Written(count)) => {
                let of = &mut self.nodes[usize::from(node.0) - 1];
                of.0 = of.0.max(count);
                self.count(actions);
            }
            (Phase::Writing, JournalMessage::Behind(count)) => {
                self.nodes[usize::from(node.0) - 1].0 = count;
                self.write_to(node, actions);
            }
            (Phase::Halted | Phase::Idle, _) => {}
            (_, JournalMessage::Refused(promised)) if promised > self.epoch => self.refused(node, promised, actions),
            _ => {}
        }
    }

    /// Of the answers, the entries of the newest writer, and of those the longest: whatever counted is among them.
    fn replay(&mut self, context: Context<'_>, rules: Rules, actions: &mut Actions) {
        let Phase::Collecting(answers) = std::mem::replace(&mut self.phase, Phase::Replaying) else { return };
        let newest = |entries: &[JournalEntry]| (entries.last().map_or(0, |entry| entry.epoch), entries.len());
        let best = answers.into_iter().max_by_key(|(_, _, entries)| newest(entries));
        self.entries = best.map_or(Vec::new(), |(_, _, entries)| entries);
        actions.cancel_timer(TimerKey::LockTimeout);
        let takes = if self.entries.is_empty() { Span::ZERO } else { rules.replay };
        actions.set_timer(TimerKey::Work, context.mono() + takes);
    }

    fn replayed(&mut self, context: Context<'_>, rules: Rules, actions: &mut Actions) {
        let (worker, epoch, entries) = (self.worker, self.epoch, self.entries.len() as u32);
        actions.record(Kind::EngineReplayed { worker, epoch, entries, labs: labs_only() });
        if rules.fences == Fences::AfterReplay && self.worker != WorkerId::A {
            self.fence_late(context, actions);
        } else {
            self.begin_writing(context, rules, actions);
        }
    }

    fn begin_writing(&mut self, context: Context<'_>, rules: Rules, actions: &mut Actions) {
        self.phase = Phase::Writing;
        actions.cancel_timer(TimerKey::LockTimeout);
        // What it has taken over counts once a majority has it from this engine.
        self.counted = self.entries.len() as u32;
        self.make_entry(context, rules, actions);
    }

    fn make_entry(&mut self, context: Context<'_>, rules: Rules, actions: &mut Actions) {
        self.made += 1;
        self.entries.push(JournalEntry { epoch: self.epoch, number: self.made });
        for number in 1..=NODES {
            self.write_to(NodeId(number), actions);
        }
        actions.set_timer(TimerKey::Work, context.mono() + rules.every);
    }

    fn write_to(&mut self, node: NodeId, actions: &mut Actions) {
        let after = self.nodes[usize::from(node.0) - 1].0;
        let entries = self.entries.get(after as usize..).unwrap_or_default().to_vec();
        self.ask(node, JournalMessage::Write { epoch: self.epoch, after, entries }, actions);
    }

    fn count(&mut self, actions: &mut Actions) {
        while let Some(entry) = self.entries.get(self.counted as usize) {
            let have = self.nodes.iter().filter(|(count, _)| *count > self.counted).count();
            if have < MAJORITY {
                return;
            }
            self.counted += 1;
            let (worker, epoch) = (self.worker, self.epoch);
            actions.record(Kind::EntryCounted {
                worker,
                epoch,
                place: self.counted,
                entry: entry.to_string(),
                labs: labs_only(),
            });
        }
    }

    /// When so many nodes refuse that no majority is left, its epoch is over.
    fn refused(&mut self, node: NodeId, promised: u32, actions: &mut Actions) {
        self.nodes[usize::from(node.0) - 1].1 = true;
        let refused = self.nodes.iter().filter(|(_, refused)| *refused).count();
        if refused > NODES as usize - MAJORITY {
            self.phase = Phase::Halted;
            for key in [TimerKey::Work, TimerKey::LockTimeout] {
                actions.cancel_timer(key);
            }
            actions.record(Kind::EngineHalted { worker: self.worker, epoch: self.epoch, promised, labs: labs_only() });
        }
    }
}
