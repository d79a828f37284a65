//! What a Redis server has brought to its disk: its append-only file.
//!
//! The servers are busy with the keys of others, so that with `everysec` a sync is due every second.

use std::collections::VecDeque;

use super::data::Data;
use crate::actor::{Actions, Context, TimerKey};
use crate::machine::MachineId;
use crate::message::Message;
use crate::settings::Fsync;
use crate::time::{Mono, Span};

/// The disk, and the answers that wait for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Disk {
    /// What a crash leaves.
    pub(super) saved: Data,
    /// Something has changed since the last sync began.
    dirty: bool,
    /// The timer of a periodic sync runs.
    scheduled: bool,
    /// Syncs that answers wait for, in order.
    syncs: VecDeque<Sync>,
    /// The answers to what is being served.
    answers: Vec<Answer>,
}

type Answer = (MachineId, Message);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Sync {
    done: Mono,
    data: Data,
    answers: Vec<Answer>,
}

impl Disk {
    /// One that holds `saved`.
    pub(super) fn new(saved: Data) -> Disk {
        Disk { saved, ..Disk::default() }
    }

    /// Notes that the data have changed.
    pub(super) fn changed(&mut self) {
        self.dirty = true;
    }

    /// Takes an answer.
    pub(super) fn answer(&mut self, to: MachineId, message: Message) {
        self.answers.push((to, message));
    }

    /// After an input: writes what has changed, and sends the answers, or lets them wait for the sync.
    pub(super) fn flush(&mut self, context: Context<'_>, data: &Data, actions: &mut Actions) {
        let every = match context.plan.redis.fsync {
            Fsync::Always => return self.sync_before_answers(context, data, actions),
            Fsync::EverySecond => Span::seconds(1),
            Fsync::No => Span::seconds(30),
        };
        for (to, message) in self.answers.drain(..) {
            actions.send(to, message);
        }
        if self.dirty && !std::mem::replace(&mut self.scheduled, true) {
            let turns = context.mono().as_micros().div_euclid(every.as_micros()) + 1;
            actions.set_timer(TimerKey::Disk, Mono::ZERO + every * turns);
        }
    }

    fn sync_before_answers(&mut self, context: Context<'_>, data: &Data, actions: &mut Actions) {
        let answers = std::mem::take(&mut self.answers);
        let dirty = std::mem::take(&mut self.dirty);
        match self.syncs.back_mut() {
            // One thread serves everybody: an answer waits for the sync that is under way.
            Some(last) if !dirty => last.answers.extend(answers),
            None if !dirty => {
                for (to, message) in answers {
                    actions.send(to, message);
                }
            }
            last => {
                let begins = last.map_or(context.mono(), |sync| sync.done.max(context.mono()));
                let done = begins + context.plan.redis.fsync_takes;
                self.syncs.push_back(Sync { done, data: data.clone(), answers });
                self.wait_for_sync(actions);
            }
        }
    }

    /// The timer of a sync is due.
    pub(super) fn synced(&mut self, context: Context<'_>, data: &Data, actions: &mut Actions) {
        if std::mem::take(&mut self.scheduled) {
            self.saved = data.clone();
            self.dirty = false;
        }
        while self.syncs.front().is_some_and(|sync| sync.done <= context.mono()) {
            let Some(sync) = self.syncs.pop_front() else { break };
            self.saved = sync.data;
            for (to, message) in sync.answers {
                actions.send(to, message);
            }
        }
        self.wait_for_sync(actions);
    }

    fn wait_for_sync(&self, actions: &mut Actions) {
        if let Some(sync) = self.syncs.front() {
            actions.set_timer(TimerKey::Disk, sync.done);
        }
    }

    /// The process dies: what is not on the disk is gone, answers included.
    pub(super) fn crash(&mut self) -> Data {
        let saved = std::mem::take(&mut self.saved);
        *self = Disk::new(saved.clone());
        saved
    }
}
