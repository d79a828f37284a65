//! What only a leader does: it answers clients and times the leases.

use super::{Node, Role, Waiting, answer};
use crate::actor::{Actions, Context, TimerKey};
use crate::consensus::log::Command;
use crate::consensus::state::{Applied, Deleted};
use crate::event::Kind;
use crate::labs_only::labs_only;
use crate::machine::{JobId, MachineId};
use crate::message::{CallId, KeyName, LeaseId, LockReply, LockRequest, Token};
use crate::time::{Deadline, Mono, Span};

impl Node {
    pub(super) fn handle_client(
        &mut self,
        context: Context<'_>,
        client: MachineId,
        call: CallId,
        request: LockRequest,
        actions: &mut Actions,
    ) {
        let leads = !self.steps_down_when_unheard(context, actions);
        let ready = match &self.role {
            // Before its first commit a new leader has not applied everything that is committed.
            Role::Leader(leadership) => self.applied >= leadership.noop_index,
            _ => false,
        };
        if !leads || !ready {
            let other = self.leader.filter(|leader| *leader != self.id);
            answer(actions, client, call, LockReply::NotLeader(other));
            return;
        }
        let ttl = match request {
            LockRequest::KeepAlive { ttl, .. } => ttl,
            _ => Span::ZERO,
        };
        let (command, stop_on_holder) = match request {
            LockRequest::ReadKey { job } => {
                let key = self.state.lock(job).map(|key| (key.holder(), key.created));
                let delayed = key.is_none() && self.is_delayed(context, KeyName::lock(job));
                answer(actions, client, call, if delayed { LockReply::Delayed } else { LockReply::Key(key) });
                return;
            }
            LockRequest::ReadCandidates { job } => {
                answer(actions, client, call, LockReply::Candidates(self.state.candidates(job)));
                return;
            }
            LockRequest::Watch { job, created } => {
                self.watch(client, call, job, created, actions);
                return;
            }
            LockRequest::ReadKeys { jobs } => {
                let holders = jobs.iter().filter_map(|job| self.state.holder(*job)).collect();
                answer(actions, client, call, LockReply::Keys(holders));
                return;
            }
            LockRequest::KeepAlive { lease, ttl, stop_on_holder } => {
                match self.keep_alive(context, client, call, lease, ttl, stop_on_holder, actions) {
                    Some(command) => (command, stop_on_holder),
                    None => return,
                }
            }
            LockRequest::GrantLease { lease, ttl } => (Command::GrantLease { lease, ttl }, Mono::ZERO),
            LockRequest::CreateKey { key, .. } if self.is_delayed(context, key) => {
                answer(actions, client, call, LockReply::Delayed);
                return;
            }
            LockRequest::CreateKey { lease, key, stop_on_holder } => {
                (Command::CreateKey { lease, key }, stop_on_holder)
            }
            LockRequest::Revoke { lease } => {
                let by = client.worker().unwrap_or(lease.worker);
                (Command::Revoke { lease, by }, Mono::ZERO)
            }
            LockRequest::DeleteKey { key } => match client.worker() {
                Some(by) => (Command::DeleteKey { key, by }, Mono::ZERO),
                None => return,
            },
            LockRequest::TenantPut { number } => (Command::TenantPut { number }, Mono::ZERO),
            LockRequest::IssueToken { lease } => (Command::IssueToken { lease }, Mono::ZERO),
        };
        let index = self.propose(context, command, actions);
        if let Role::Leader(leadership) = &mut self.role {
            leadership.waiting.push_back((index, Waiting { client, call, stop_on_holder, ttl }));
        }
    }

    /// A renewal moves the deadline in memory and touches no log, with two exceptions, because the next leader would
    /// restart the lease at less than its holder counts on: it asks for a longer lease than the log knows, or the log
    /// has a checkpoint of what was left before the renewal.
    #[allow(clippy::too_many_arguments, reason = "the fields of one message")]
    fn keep_alive(
        &mut self,
        context: Context<'_>,
        client: MachineId,
        call: CallId,
        lease: LeaseId,
        ttl: Span,
        stop_on_holder: Mono,
        actions: &mut Actions,
    ) -> Option<Command> {
        let Role::Leader(leadership) = &self.role else { return None };
        let now = context.mono();
        // A lease that has run out is not revived, even while its deletion is still on its way.
        let alive = leadership.deadlines.runs(lease, now);
        // etcd looks at the applied state only, so a checkpoint that is on its way outlives the renewal there.
        let on_its_way = |command: &Command| matches!(command, Command::Checkpoint { lease: id, remaining: Some(_) } if *id == lease);
        let checkpointed = context.plan.lock_rules.checkpoint.is_some()
            && (self.state.leases.get(&lease).is_some_and(|record| record.remaining.is_some())
                || self.log[self.applied as usize..].iter().any(|entry| on_its_way(&entry.command)));
        match self.state.leases.get(&lease) {
            Some(record) if alive && checkpointed && ttl <= record.ttl => {
                Some(Command::Checkpoint { lease, remaining: None })
            }
            Some(record) if alive && ttl <= record.ttl => {
                let bound = self.state.bound_by(record);
                self.renew(context, lease, ttl, bound, stop_on_holder, actions);
                answer(actions, client, call, LockReply::KeptAlive { term: self.term });
                None
            }
            Some(_) if alive => Some(Command::ExtendTtl { lease, ttl }),
            _ => {
                actions.record(Kind::RenewalRefused { worker: lease.worker, lease });
                answer(actions, client, call, LockReply::LeaseNotFound);
                None
            }
        }
    }

    fn renew(
        &mut self,
        context: Context<'_>,
        lease: LeaseId,
        ttl: Span,
        bound: Option<(JobId, Token)>,
        stop_time: Mono,
        actions: &mut Actions,
    ) {
        let Role::Leader(leadership) = &mut self.role else { return };
        let deadline = leadership.deadlines.renew(lease, context.mono() + ttl);
        let (job, token) = (bound.map_or(JobId::FIRST, |(job, _)| job), bound.map(|(_, token)| token));
        let (worker, deadline) = (lease.worker, Deadline::Mono(deadline));
        actions.record(Kind::LeaseRenewed { job, worker, lease, token, deadline, stop_time });
        self.set_expiry_timer(actions);
    }

    pub(super) fn set_expiry_timer(&mut self, actions: &mut Actions) {
        let Role::Leader(leadership) = &mut self.role else { return };
        match leadership.deadlines.earliest() {
            Some(deadline) => actions.set_timer(TimerKey::LeaseExpiry, deadline),
            None => actions.cancel_timer(TimerKey::LeaseExpiry),
        }
    }

    /// Every lease gets its full length, or what its checkpoint says, as in a fresh cluster.
    pub(super) fn restart_leases(&mut self, context: Context<'_>, actions: &mut Actions) {
        let Role::Leader(leadership) = &mut self.role else { return };
        for (lease, record) in self.state.leases.iter() {
            leadership.deadlines.set(*lease, context.mono() + record.remaining.unwrap_or(record.ttl));
        }
        if leadership.deadlines.earliest().is_some() {
            self.set_expiry_timer(actions);
            self.schedule_checkpoints(context, actions);
        }
    }

    pub(super) fn schedule_checkpoints(&mut self, context: Context<'_>, actions: &mut Actions) {
        let leases: Vec<LeaseId> = self.state.leases.keys().copied().collect();
        for lease in leases {
            self.schedule_checkpoint(context, lease, actions);
        }
    }

    /// The next checkpoint of a lease is due one interval from now, unless the lease is shorter than that.
    fn schedule_checkpoint(&mut self, context: Context<'_>, lease: LeaseId, actions: &mut Actions) {
        let Some(every) = context.plan.lock_rules.checkpoint else { return };
        let Role::Leader(leadership) = &mut self.role else { return };
        match self.state.leases.get(&lease) {
            Some(record) if record.remaining.unwrap_or(record.ttl) > every => {
                leadership.checkpoints.insert(lease, context.mono() + every);
            }
            _ => {
                leadership.checkpoints.remove(&lease);
            }
        }
        if let Some(next) = leadership.checkpoints.values().min() {
            actions.set_timer(TimerKey::Checkpoint, *next);
        }
    }

    /// Puts what is left of each lease whose checkpoint is due into the log, rounded up to whole seconds as in etcd.
    pub(super) fn checkpoint_leases(&mut self, context: Context<'_>, actions: &mut Actions) {
        if self.steps_down_when_unheard(context, actions) {
            return;
        }
        let Role::Leader(leadership) = &mut self.role else { return };
        let now = context.mono();
        let due: Vec<LeaseId> =
            leadership.checkpoints.iter().filter(|(_, at)| **at <= now).map(|(lease, _)| *lease).collect();
        let mut proposals = Vec::new();
        let mut again = Vec::new();
        for lease in due {
            leadership.checkpoints.remove(&lease);
            let left = leadership.deadlines.get(lease).map_or(Span::ZERO, |deadline| deadline - now);
            let ttl = self.state.leases.get(&lease).map_or(Span::ZERO, |record| record.ttl);
            let second = Span::seconds(1).as_micros();
            let seconds = (left.as_micros() + second - 1).div_euclid(second);
            match Span::seconds(seconds) {
                Span::ZERO => {}
                remaining if left > Span::ZERO && remaining < ttl => {
                    proposals.push(Command::Checkpoint { lease, remaining: Some(remaining) });
                }
                _ => again.push(lease),
            }
        }
        for command in proposals {
            self.propose(context, command, actions);
        }
        for lease in again {
            self.schedule_checkpoint(context, lease, actions);
        }
    }

    /// Puts the expiry of every lease whose deadline has passed into the log.
    pub(super) fn expire_leases(&mut self, context: Context<'_>, actions: &mut Actions) {
        if self.steps_down_when_unheard(context, actions) {
            return;
        }
        let Role::Leader(leadership) = &mut self.role else { return };
        for lease in leadership.deadlines.take_due(context.mono()) {
            self.propose(context, Command::Expire { lease }, actions);
        }
        self.set_expiry_timer(actions);
    }

    /// Times leases, records events and answers whoever waited for this entry.
    pub(super) fn applied_as_leader(
        &mut self,
        context: Context<'_>,
        index: u64,
        command: &Command,
        applied: Applied,
        actions: &mut Actions,
    ) {
        let revision = self.state.revision;
        let Role::Leader(leadership) = &mut self.role else { return };
        let mut waiting = None;
        while leadership.waiting.front().is_some_and(|(waited_for, _)| *waited_for <= index) {
            waiting = leadership.waiting.pop_front().filter(|(waited_for, _)| *waited_for == index);
        }
        let waiting = waiting.map(|(_, waiting)| waiting);
        let stop_time = waiting.as_ref().map_or(Mono::ZERO, |waiting| waiting.stop_on_holder);
        if let Command::Revoke { lease, .. } | Command::Expire { lease } = command {
            leadership.deadlines.remove(*lease);
            leadership.checkpoints.remove(lease);
        }

        let reply = match (command, applied) {
            (Command::GrantLease { lease, ttl }, Applied::LeaseExists) => {
                // A repeated grant leaves the deadline alone; the holder counts from its first send as well.
                if leadership.deadlines.get(*lease).is_none() {
                    leadership.deadlines.set(*lease, context.mono() + *ttl);
                }
                if !leadership.checkpoints.contains_key(lease) {
                    self.schedule_checkpoint(context, *lease, actions);
                }
                Some(LockReply::LeaseGranted)
            }
            // The deadline may have passed while the entry was on its way to the disks.
            (
                Command::ExtendTtl { lease, .. } | Command::Checkpoint { lease, remaining: None },
                Applied::LeaseExists,
            ) if leadership.deadlines.is_expiring(*lease) => {
                actions.record(Kind::RenewalRefused { worker: lease.worker, lease: *lease });
                Some(LockReply::LeaseNotFound)
            }
            (Command::Checkpoint { lease, remaining: Some(_) }, Applied::LeaseExists) => {
                self.checkpointed(context, index, *lease, actions);
                None
            }
            // Nobody waits when a new leader applies what an earlier one was asked for: it has given the lease its
            // full length already.
            (Command::ExtendTtl { lease, .. } | Command::Checkpoint { lease, .. }, Applied::LeaseExists) => {
                if context.plan.lock_rules.checkpoint.is_some() {
                    self.checkpointed(context, index, *lease, actions);
                }
                let ttl = waiting.as_ref().map(|waiting| waiting.ttl);
                let bound = self.state.bound_to(*lease);
                ttl.map(|ttl| {
                    self.renew(context, *lease, ttl, bound, stop_time, actions);
                    LockReply::KeptAlive { term: self.term }
                })
            }
            (Command::CreateKey { lease, key }, Applied::Created { token, new }) => {
                if new {
                    // When the leader died between entry and application, nobody here knows what the holder asked.
                    let stop_time = waiting.as_ref().map(|waiting| waiting.stop_on_holder);
                    self.key_created(context, index, (*lease, *key, token), stop_time, actions);
                }
                Some(LockReply::Created(token))
            }
            (_, Applied::Held(holder, token)) => Some(LockReply::Held(holder, token)),
            (Command::Revoke { lease, by }, Applied::LeaseEnded(deleted)) => {
                if let Some(deleted) = deleted {
                    let (worker, released_by, token) = (lease.worker, *by, Some(deleted.token));
                    let released = Kind::LockReleased { worker, lease: *lease, token, released_by, revision };
                    self.key_deleted(context, index, deleted, released, actions);
                }
                Some(LockReply::Revoked)
            }
            (Command::DeleteKey { by, .. }, applied) => {
                if let Applied::KeyDeleted(deleted) = applied {
                    let Deleted { lease, token, .. } = deleted;
                    let (worker, released_by, token) = (lease.worker, *by, Some(token));
                    let released = Kind::LockReleased { worker, lease, token, released_by, revision };
                    self.key_deleted(context, index, deleted, released, actions);
                }
                Some(LockReply::Revoked)
            }
            (Command::Expire { lease }, Applied::LeaseEnded(deleted)) => {
                let worker = lease.worker;
                match deleted {
                    Some(deleted) => {
                        let (job, token) = (deleted.name.job, deleted.token);
                        let expired = Kind::LeaseExpired { job, worker, lease: *lease, token, revision };
                        self.key_deleted(context, index, deleted, expired, actions);
                        self.begin_lock_delay(context, index, deleted.name, actions);
                    }
                    None => {
                        actions.record_applied(index, Kind::UnusedLeaseExpired { worker, lease: *lease });
                    }
                }
                None
            }
            (Command::IssueToken { lease }, Applied::Issued) => {
                actions.record_applied(
                    index,
                    Kind::TokenIssued { worker: lease.worker, lease: *lease, token: revision, labs: labs_only() },
                );
                Some(LockReply::TokenIssued(revision))
            }
            (_, Applied::Put { new }) => {
                if new {
                    actions.record_applied(index, Kind::TenantCommitted { revision });
                }
                Some(LockReply::PutDone)
            }
            (_, Applied::LeaseNotFound) => Some(LockReply::LeaseNotFound),
            _ => None,
        };
        if let (Some(waiting), Some(reply)) = (waiting, reply) {
            answer(actions, waiting.client, waiting.call, reply);
        }
        self.set_expiry_timer(actions);
    }

    fn checkpointed(&mut self, context: Context<'_>, index: u64, lease: LeaseId, actions: &mut Actions) {
        let remaining = self.state.leases.get(&lease).and_then(|record| record.remaining);
        actions.record_applied(
            index,
            Kind::LeaseCheckpointed { worker: lease.worker, lease, remaining, labs: labs_only() },
        );
        self.schedule_checkpoint(context, lease, actions);
    }
}
