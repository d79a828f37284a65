//! Asynchronous replication, and the failover monitor that runs beside whichever server is the replica.
//!
//! The primary answers first and ships its commands later, so a crash within the lag loses commands that were answered.
//! The monitor pings the primary; one that leaves a ping unanswered for long enough is given up, and the replica is
//! promoted, with whatever it has.
//! An old primary that comes back is made a replica and takes a full copy: what only it had is gone.

use std::collections::VecDeque;

use super::data::Effect;
use super::protocol::{History, RedisReply, Replication};
use super::{Role, Server};
use crate::actor::{Actions, Context, TimerKey};
use crate::event::Kind;
use crate::labs_only::labs_only;
use crate::machine::MachineId;
use crate::message::{CallId, LeaseId, Message};
use crate::time::{Deadline, Mono};

/// What a server keeps for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Replicating {
    /// How often a replica has been promoted; its configuration, which a crash leaves.
    epoch: u32,
    /// Which run of its own this is.
    run: u32,
    /// How many commands it has executed or copied in this history.
    offset: u64,
    /// A replica: whose commands it has.
    follows: Option<History>,
    /// A primary: what the replica has not acknowledged, with the time at which it is shipped.
    backlog: VecDeque<(Mono, Effect)>,
    /// A primary: how far it has shipped.
    shipped: u64,
    /// A promoted primary: the other server follows it.
    followed: bool,
    /// A primary: clients that wait for the replica.
    waits: Vec<Waiting>,
    /// A replica: since when the primary has left a ping unanswered.
    unanswered_since: Option<Mono>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Waiting {
    client: MachineId,
    call: CallId,
    offset: u64,
    until: Mono,
}

impl Replicating {
    /// Memory goes, configuration stays.
    pub(super) fn crash(&mut self) {
        *self = Replicating { epoch: self.epoch, run: self.run + 1, ..Replicating::default() };
    }

    pub(super) fn epoch(&self) -> u32 {
        self.epoch
    }

    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// The offset before the backlog's first command.
    fn acknowledged(&self) -> u64 {
        self.offset - self.backlog.len() as u64
    }
}

impl Server {
    fn history(&self) -> History {
        History { of: self.me, run: self.replicating.run }
    }

    /// The other server of the pair.
    fn peer(&self) -> MachineId {
        if self.me == MachineId::Primary { MachineId::Replica } else { MachineId::Primary }
    }

    fn tell_peer(&self, message: Replication, actions: &mut Actions) {
        actions.send(self.peer(), Message::Replication(message, labs_only()));
    }

    pub(super) fn start_replicating(&mut self, context: Context<'_>, actions: &mut Actions) {
        match self.role {
            Role::Master => return,
            // At the very beginning both have the same.
            Role::Replica if !self.died => {
                self.replicating.follows = Some(History { of: self.peer(), run: 0 });
            }
            _ => {}
        }
        self.look_after_peer(context, actions);
    }

    /// A primary passes a change on.
    pub(super) fn replicate(&mut self, context: Context<'_>, effect: Effect, actions: &mut Actions) {
        let due = context.mono() + context.plan.redis.lag;
        self.replicating.offset += 1;
        self.replicating.backlog.push_back((due, effect));
        self.set_shipping_timer(actions);
    }

    fn set_shipping_timer(&self, actions: &mut Actions) {
        let replicating = &self.replicating;
        let waiting = (replicating.shipped.saturating_sub(replicating.acknowledged())) as usize;
        if let Some((due, _)) = replicating.backlog.get(waiting) {
            actions.set_timer(TimerKey::Replication, *due);
        }
    }

    /// Ships the commands whose time has come.
    pub(super) fn ship(&mut self, context: Context<'_>, actions: &mut Actions) {
        let replicating = &mut self.replicating;
        let after = replicating.shipped.max(replicating.acknowledged());
        let skip = (after - replicating.acknowledged()) as usize;
        let due = replicating.backlog.iter().skip(skip).take_while(|(due, _)| *due <= context.mono());
        let effects: Vec<Effect> = due.map(|(_, effect)| *effect).collect();
        replicating.shipped = after + effects.len() as u64;
        if !effects.is_empty() {
            self.tell_peer(Replication::Commands { history: self.history(), after, effects }, actions);
        }
        self.set_shipping_timer(actions);
    }

    /// The monitor's turn.
    pub(super) fn look_after_peer(&mut self, context: Context<'_>, actions: &mut Actions) {
        let redis = &context.plan.redis;
        match self.role {
            Role::Replica => {
                let since = *self.replicating.unanswered_since.get_or_insert(context.mono());
                if context.mono() - since >= redis.promotion_after {
                    self.promote(context, actions);
                } else {
                    self.acknowledge(true, actions);
                }
            }
            Role::Primary if self.replicating.epoch > 0 && !self.replicating.followed => {
                self.tell_peer(Replication::Demote { epoch: self.replicating.epoch }, actions);
            }
            _ => return,
        }
        let every = redis.ping_every;
        let turns = context.mono().as_micros().div_euclid(every.as_micros()) + 1;
        actions.set_timer(TimerKey::Heartbeat, Mono::ZERO + every * turns);
    }

    fn acknowledge(&self, ping: bool, actions: &mut Actions) {
        let Replicating { follows: history, offset, .. } = self.replicating;
        self.tell_peer(Replication::Acknowledge { history, offset, ping }, actions);
    }

    fn promote(&mut self, context: Context<'_>, actions: &mut Actions) {
        let Replicating { epoch, run, offset, .. } = self.replicating;
        self.replicating =
            Replicating { epoch: epoch + 1, run: run + 1, offset, shipped: offset, ..Replicating::default() };
        self.role = Role::Primary;
        actions.record(Kind::Promoted {
            epoch: epoch + 1,
            leases: self.data.values(),
            counter: self.data.counter,
            labs: labs_only(),
        });
        // From now on it expires keys itself.
        self.expire(context, actions);
    }

    pub(super) fn replication_message(&mut self, context: Context<'_>, message: Replication, actions: &mut Actions) {
        match (message, self.role) {
            (Replication::Commands { history, after, effects }, Role::Replica) => {
                self.replicating.unanswered_since = None;
                let offset = self.replicating.offset;
                let known = offset.saturating_sub(after) as usize;
                if self.replicating.follows != Some(history) || after > offset || effects.len() <= known {
                    return;
                }
                for effect in effects.into_iter().skip(known) {
                    self.copy(context, effect, actions);
                }
                self.acknowledge(false, actions);
            }
            (Replication::Full { history, offset, data }, Role::Replica) => {
                let replicating = &mut self.replicating;
                replicating.unanswered_since = None;
                if replicating.follows == Some(history) && replicating.offset >= offset {
                    return;
                }
                replicating.follows = Some(history);
                replicating.offset = offset;
                let lost: Vec<LeaseId> =
                    self.data.values().into_iter().filter(|value| !data.values().contains(value)).collect();
                self.data = data;
                self.disk.changed();
                let (leases, counter) = (self.data.values(), self.data.counter);
                actions.record(Kind::FullyCopied { leases, counter, lost });
                self.acknowledge(false, actions);
            }
            (Replication::Acknowledge { history, offset, ping }, Role::Primary) => {
                self.acknowledged(context, history, offset, ping, actions);
            }
            (Replication::Demote { epoch }, Role::Primary) if epoch > self.replicating.epoch => {
                let run = self.replicating.run + 1;
                self.replicating = Replicating { epoch, run, ..Replicating::default() };
                self.role = Role::Replica;
                actions.cancel_timer(TimerKey::Replication);
                actions.cancel_timer(TimerKey::Wait);
                actions.record(Kind::Demoted { epoch, labs: labs_only() });
                self.look_after_peer(context, actions);
            }
            (Replication::Demote { epoch }, Role::Replica) => {
                self.replicating.unanswered_since = None;
                self.replicating.epoch = self.replicating.epoch.max(epoch);
                self.acknowledge(true, actions);
            }
            _ => {}
        }
    }

    /// A replica copies a command.
    fn copy(&mut self, context: Context<'_>, effect: Effect, actions: &mut Actions) {
        let before = match effect {
            Effect::Expire(key, _) | Effect::Delete(key) => self.data.keys.get(&key).copied(),
            _ => None,
        };
        self.change(context, effect, actions);
        self.replicating.offset += 1;
        match (effect, before) {
            (Effect::Set(key, entry), _) => {
                let (worker, deadline) = (entry.holder(), Deadline::Wall(entry.expires));
                actions.record(Kind::KeySet { job: key.job, worker, lease: entry.value, deadline, labs: labs_only() });
            }
            (Effect::Expire(_, expires), Some(entry)) => {
                let (worker, deadline) = (entry.holder(), Deadline::Wall(expires));
                actions.record(Kind::KeyExtended { worker, lease: entry.value, deadline, labs: labs_only() });
            }
            (Effect::Delete(_), Some(entry)) => {
                let worker = entry.holder();
                actions.record(Kind::KeyDeleted { worker, lease: entry.value, deleted_by: worker, labs: labs_only() });
            }
            _ => {}
        }
    }

    /// The replica has told how far it is.
    fn acknowledged(
        &mut self,
        context: Context<'_>,
        history: Option<History>,
        offset: u64,
        ping: bool,
        actions: &mut Actions,
    ) {
        let own = self.history();
        let replicating = &mut self.replicating;
        let has_place = history == Some(own) && offset <= replicating.offset;
        if !has_place || offset < replicating.acknowledged() {
            if !has_place {
                let (offset, data) = (replicating.offset, self.data.clone());
                replicating.backlog.clear();
                replicating.shipped = offset;
                self.tell_peer(Replication::Full { history: own, offset, data }, actions);
            }
            return;
        }
        replicating.followed = true;
        let news = (offset - replicating.acknowledged()) as usize;
        replicating.backlog.drain(..news);
        replicating.shipped = replicating.shipped.max(offset);
        if ping {
            // What was shipped and may have been lost is shipped again.
            let count = (replicating.shipped - offset) as usize;
            let effects = replicating.backlog.iter().take(count).map(|(_, effect)| *effect).collect();
            self.tell_peer(Replication::Commands { history: own, after: offset, effects }, actions);
        }
        self.answer_waits(context, actions);
    }

    /// WAIT: for the replica to acknowledge what this server has done so far.
    pub(super) fn wait(
        &mut self,
        context: Context<'_>,
        client: MachineId,
        call: CallId,
        replicas: u8,
        until: Mono,
        actions: &mut Actions,
    ) {
        // Without anybody to wait for the answer is there at once.
        let until = if replicas == 0 { context.mono() } else { until };
        self.replicating.waits.push(Waiting { client, call, offset: self.replicating.offset, until });
        self.answer_waits(context, actions);
    }

    pub(super) fn answer_waits(&mut self, context: Context<'_>, actions: &mut Actions) {
        let replicating = &mut self.replicating;
        let acknowledged = replicating.acknowledged();
        replicating.waits.retain(|wait| {
            let has_it = wait.offset <= acknowledged;
            if !has_it && context.mono() < wait.until {
                return true;
            }
            let reply = RedisReply::Acknowledged(u8::from(has_it));
            actions.send(wait.client, Message::RedisReply(wait.call, reply, labs_only()));
            false
        });
        if let Some(until) = replicating.waits.iter().map(|wait| wait.until).min() {
            actions.set_timer(TimerKey::Wait, until);
        }
    }
}
