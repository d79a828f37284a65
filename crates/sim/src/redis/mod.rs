//! A Redis server: the primary or the replica of a replicated pair, or one of Redlock's independent masters.
//!
//! A key's expiry is an absolute time on the server's own wall clock.
//! It is noticed by an alarm on that clock and again at every access, so that a clock that is set forward frees keys at
//! once, and one that is set back keeps them.
//! A replica keeps a key until the primary's `DEL` arrives, and expires keys itself only once it is promoted.
//!
//! Where things are: `data` is what a server keeps, `disk` what of it a crash leaves, `replication` what a primary and
//! its replica do for each other, the failover monitor included, `protocol` what is said.
//!
//! Source: the documentation of Redis 7 (commands, replication, persistence, Sentinel).

pub mod data;
mod disk;
pub mod protocol;
mod replication;

use crate::actor::{Actions, Context, Input, TimerKey};
use crate::event::Kind;
use crate::labs_only::labs_only;
use crate::machine::MachineId;
use crate::message::{CallId, KeyName, LeaseId, Message, NO_TOKEN};
use crate::time::{Deadline, Wall};
use data::{Data, Effect, Entry};
use disk::Disk;
use protocol::{Found, RedisReply, RedisRequest};
use replication::Replicating;

/// What a server is to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// One of Redlock's masters, which know nothing of each other.
    Master,
    /// The primary of a replicated pair.
    Primary,
    /// Its replica.
    Replica,
}

/// A server's process and its disk.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Server {
    me: MachineId,
    role: Role,
    data: Data,
    disk: Disk,
    replicating: Replicating,
    /// The expiry that the alarm is set to.
    alarm: Option<Wall>,
    /// Its process has died at least once: the next start is a restart.
    died: bool,
}

impl Server {
    /// A server that has been up for a while; `counter` is what its counter stands at.
    pub fn new(me: MachineId, counter: u64) -> Server {
        let data = Data { counter, ..Data::default() };
        let role = match me {
            MachineId::Primary => Role::Primary,
            MachineId::Replica => Role::Replica,
            _ => Role::Master,
        };
        Server {
            me,
            role,
            disk: Disk::new(data.clone()),
            data,
            replicating: Replicating::default(),
            alarm: None,
            died: false,
        }
    }

    /// The process dies: what was not on the disk is gone.
    pub(crate) fn crash(&mut self) {
        self.data = self.disk.crash();
        self.replicating.crash();
        self.alarm = None;
        self.died = true;
    }

    /// What was on the disk is gone, too.
    pub(crate) fn lose_disk(&mut self) {
        self.data = Data::default();
        self.disk.saved = Data::default();
    }

    /// Takes one input.
    pub(crate) fn handle(&mut self, context: Context<'_>, input: Input, actions: &mut Actions) {
        if let Input::Start = input {
            if self.died {
                actions.record(Kind::DataLoaded {
                    leases: self.data.values(),
                    counter: self.data.counter,
                    labs: labs_only(),
                });
            }
            self.start_replicating(context, actions);
        }
        self.expire(context, actions);
        match input {
            Input::Message { from, message: Message::Redis(call, request, ..) } => {
                self.serve(context, from, call, request, actions);
            }
            Input::Message { message: Message::Replication(message, ..), .. } => {
                self.replication_message(context, message, actions);
            }
            Input::Timer { key: TimerKey::Disk, .. } => self.disk.synced(context, &self.data, actions),
            Input::Timer { key: TimerKey::LeaseExpiry, .. } => self.alarm = None,
            Input::Timer { key: TimerKey::Heartbeat, .. } => self.look_after_peer(context, actions),
            Input::Timer { key: TimerKey::Replication, .. } => self.ship(context, actions),
            Input::Timer { key: TimerKey::Wait, .. } => self.answer_waits(context, actions),
            _ => {}
        }
        self.disk.flush(context, &self.data, actions);
        self.set_alarm(actions);
    }

    /// Deletes what has expired by its wall clock; a replica leaves that to its primary.
    fn expire(&mut self, context: Context<'_>, actions: &mut Actions) {
        if self.role == Role::Replica {
            return;
        }
        while let Some((key, entry)) = self.data.expired(context.wall()) {
            self.change(context, Effect::Delete(key), actions);
            let Entry { value: lease, token, .. } = entry;
            let worker = lease.worker;
            actions.record(match self.role {
                Role::Master => Kind::KeyExpired { worker, lease, labs: labs_only() },
                _ => Kind::LeaseExpired { job: key.job, worker, lease, token, revision: 0 },
            });
        }
    }

    fn set_alarm(&mut self, actions: &mut Actions) {
        let first = if self.role == Role::Replica { None } else { self.data.first_expiry() };
        if first == self.alarm {
            return;
        }
        self.alarm = first;
        match first {
            Some(at) => actions.set_alarm(TimerKey::LeaseExpiry, at),
            None => actions.cancel_timer(TimerKey::LeaseExpiry),
        }
    }

    /// Changes the data, and passes the change on to the replica and to the disk.
    fn change(&mut self, context: Context<'_>, effect: Effect, actions: &mut Actions) {
        self.data.apply(effect);
        if self.role == Role::Primary {
            self.replicate(context, effect, actions);
        }
        self.disk.changed();
    }

    fn serve(
        &mut self,
        context: Context<'_>,
        from: MachineId,
        call: CallId,
        request: RedisRequest,
        actions: &mut Actions,
    ) {
        if self.role == Role::Replica {
            actions.send(from, Message::RedisReply(call, RedisReply::ReadOnly, labs_only()));
            return;
        }
        if let RedisRequest::Wait { replicas, timeout } = request {
            self.wait(context, from, call, replicas, context.mono() + timeout, actions);
            return;
        }
        let reply = self.execute(context, from, request, actions);
        self.disk.answer(from, Message::RedisReply(call, reply, labs_only()));
    }

    /// Carries out one command, as one atomic step.
    fn execute(
        &mut self,
        context: Context<'_>,
        from: MachineId,
        request: RedisRequest,
        actions: &mut Actions,
    ) -> RedisReply {
        match request {
            RedisRequest::SetIfAbsent { key, value, ttl, numbered, stop_on_holder } => {
                if let Some(entry) = self.data.keys.get(&key) {
                    let holder = entry.holder();
                    if self.role == Role::Master {
                        actions.record(Kind::KeyRefused { worker: value.worker, holder, labs: labs_only() });
                    }
                    return RedisReply::Held(holder);
                }
                let token = if numbered { self.data.counter + 1 } else { NO_TOKEN };
                let entry = Entry { value, token, expires: context.wall() + ttl };
                self.change(context, Effect::Set(key, entry), actions);
                if numbered {
                    self.change(context, Effect::Increment, actions);
                }
                let (job, worker, deadline) = (key.job, value.worker, Deadline::Wall(entry.expires));
                actions.record(match self.role {
                    Role::Master => Kind::KeySet { job, worker, lease: value, deadline, labs: labs_only() },
                    _ => Kind::LeaseGranted {
                        job,
                        worker,
                        lease: value,
                        token,
                        revision: 0,
                        deadline,
                        stop_time: Some(stop_on_holder),
                    },
                });
                RedisReply::Set(token)
            }
            RedisRequest::Extend { key, value, ttl, stop_on_holder } => {
                let worker = value.worker;
                let Some(entry) = self.mine(key, value) else {
                    actions.record(Kind::RenewalRefused { worker, lease: value });
                    return RedisReply::NotMine;
                };
                let expires = entry.expires.max(context.wall() + ttl);
                self.change(context, Effect::Expire(key, expires), actions);
                let (job, deadline) = (key.job, Deadline::Wall(expires));
                actions.record(match self.role {
                    Role::Master => Kind::KeyExtended { worker, lease: value, deadline, labs: labs_only() },
                    _ => Kind::LeaseRenewed {
                        job,
                        worker,
                        lease: value,
                        token: (entry.token != NO_TOKEN).then_some(entry.token),
                        deadline,
                        stop_time: stop_on_holder,
                    },
                });
                RedisReply::Extended
            }
            RedisRequest::DeleteIfMine { key, value } => match self.mine(key, value) {
                Some(entry) => self.delete(context, from, key, entry, actions),
                None => RedisReply::NotMine,
            },
            RedisRequest::Delete { key } => match self.data.keys.get(&key).copied() {
                Some(entry) => self.delete(context, from, key, entry, actions),
                None => RedisReply::NotMine,
            },
            RedisRequest::Get { jobs } => {
                let found = jobs.into_iter().filter_map(|job| {
                    let entry = self.data.lock(job)?;
                    Some(Found { job, value: entry.value })
                });
                RedisReply::Values(found.collect())
            }
            RedisRequest::Increment => {
                self.change(context, Effect::Increment, actions);
                actions.record(Kind::TenantCommitted { revision: self.data.counter });
                RedisReply::Counter(self.data.counter)
            }
            RedisRequest::Wait { .. } => RedisReply::Acknowledged(0),
        }
    }

    /// The key, if it has this value.
    fn mine(&self, key: KeyName, value: LeaseId) -> Option<Entry> {
        self.data.keys.get(&key).copied().filter(|entry| entry.value == value)
    }

    fn delete(
        &mut self,
        context: Context<'_>,
        from: MachineId,
        key: KeyName,
        entry: Entry,
        actions: &mut Actions,
    ) -> RedisReply {
        self.change(context, Effect::Delete(key), actions);
        let Entry { value: lease, token, .. } = entry;
        let worker = lease.worker;
        let by = from.worker().unwrap_or(worker);
        actions.record(match self.role {
            Role::Master => Kind::KeyDeleted { worker, lease, deleted_by: by, labs: labs_only() },
            _ => Kind::LockReleased {
                worker,
                lease,
                token: (token != NO_TOKEN).then_some(token),
                released_by: by,
                revision: 0,
            },
        });
        RedisReply::Deleted
    }
}

/// A server as snapshots and drawings see it.
impl Server {
    /// Its role.
    pub fn role(&self) -> Role {
        self.role
    }

    /// How often a replica has been promoted, as far as it knows.
    pub fn epoch(&self) -> u32 {
        self.replicating.epoch()
    }

    /// How many commands it has executed or copied in the present run.
    pub fn offset(&self) -> u64 {
        self.replicating.offset()
    }

    /// What it keeps.
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// What of it a crash would leave.
    pub fn saved(&self) -> &Data {
        &self.disk.saved
    }
}
