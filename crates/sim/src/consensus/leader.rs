//! What only a leader does: it answers clients and times the leases.

use super::{Node, Role, Waiting, answer};
use crate::actor::{Actions, Context, TimerKey};
use crate::consensus::log::Command;
use crate::consensus::state::Applied;
use crate::event::Kind;
use crate::machine::{JobId, MachineId};
use crate::message::{CallId, LeaseId, LockReply, LockRequest};
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
        let (command, stop_on_holder) = match request {
            LockRequest::ReadKey { job } => {
                let key = self.state.lock(job).map(|key| (key.holder(), key.created));
                answer(actions, client, call, LockReply::Key(key));
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
            LockRequest::CreateKey { lease, key, stop_on_holder } => {
                (Command::CreateKey { lease, key }, stop_on_holder)
            }
            LockRequest::Revoke { lease } => {
                let by = client.worker().unwrap_or(lease.worker);
                (Command::Revoke { lease, by }, Mono::ZERO)
            }
            LockRequest::TenantPut { number } => (Command::TenantPut { number }, Mono::ZERO),
        };
        let index = self.propose(context, command, actions);
        if let Role::Leader(leadership) = &mut self.role {
            leadership.waiting.push_back((index, Waiting { client, call, stop_on_holder }));
        }
    }

    /// A renewal moves the deadline in memory and touches no log, unless it asks for a longer lease: that must survive
    /// the leader, or the next one would restart the lease at less than its holder counts on.
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
        match self.state.leases.get(&lease) {
            Some(record) if alive && ttl <= record.ttl => {
                self.renew(context, lease, ttl, stop_on_holder, actions);
                answer(actions, client, call, LockReply::KeptAlive);
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

    fn renew(&mut self, context: Context<'_>, lease: LeaseId, ttl: Span, stop_time: Mono, actions: &mut Actions) {
        let Role::Leader(leadership) = &mut self.role else { return };
        // A renewal that was held up on its way must not take back what a later one has promised.
        let deadline = leadership.deadlines.get(lease).unwrap_or(Mono::ZERO).max(context.mono() + ttl);
        leadership.deadlines.set(lease, deadline);
        let bound = self.state.bound_to(lease);
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

        let reply = match (command, applied) {
            (Command::GrantLease { lease, ttl }, Applied::LeaseExists) => {
                // A repeated grant leaves the deadline alone; the holder counts from its first send as well.
                if leadership.deadlines.get(*lease).is_none() {
                    leadership.deadlines.set(*lease, context.mono() + *ttl);
                }
                Some(LockReply::LeaseGranted)
            }
            // The deadline may have passed while the entry was on its way to the disks.
            (Command::ExtendTtl { lease, .. }, Applied::LeaseExists) if leadership.deadlines.is_expiring(*lease) => {
                actions.record(Kind::RenewalRefused { worker: lease.worker, lease: *lease });
                Some(LockReply::LeaseNotFound)
            }
            // Nobody waits when a new leader applies what an earlier one was asked for: it has given the lease its
            // full length already.
            (Command::ExtendTtl { lease, ttl }, Applied::LeaseExists) if waiting.is_some() => {
                self.renew(context, *lease, *ttl, stop_time, actions);
                Some(LockReply::KeptAlive)
            }
            (Command::CreateKey { lease, key }, Applied::Created { token, new }) => {
                if new {
                    let deadline = leadership.deadlines.get(*lease).unwrap_or(context.mono());
                    let (job, worker, deadline) = (key.job, lease.worker, Deadline::Mono(deadline));
                    // When the leader died between entry and application, nobody here knows what the holder asked.
                    let stop_time = waiting.as_ref().map(|waiting| waiting.stop_on_holder);
                    let granted =
                        Kind::LeaseGranted { job, worker, lease: *lease, token, revision, deadline, stop_time };
                    actions.record_applied(index, granted);
                }
                Some(LockReply::Created(token))
            }
            (_, Applied::Held(holder, token)) => Some(LockReply::Held(holder, token)),
            (Command::Revoke { lease, by }, Applied::LeaseEnded { token, .. }) => {
                leadership.deadlines.remove(*lease);
                if token.is_some() {
                    let (worker, released_by) = (lease.worker, *by);
                    let released = Kind::LockReleased { worker, lease: *lease, token, released_by, revision };
                    actions.record_applied(index, released);
                }
                Some(LockReply::Revoked)
            }
            (Command::Expire { lease }, Applied::LeaseEnded { job, token }) => {
                leadership.deadlines.remove(*lease);
                let worker = lease.worker;
                let expired = match token {
                    Some(token) => Kind::LeaseExpired { job, worker, lease: *lease, token, revision },
                    None => Kind::UnusedLeaseExpired { worker, lease: *lease },
                };
                actions.record_applied(index, expired);
                None
            }
            (Command::Expire { lease }, _) => {
                leadership.deadlines.remove(*lease);
                None
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
}
