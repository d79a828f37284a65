//! What follows when a key comes or goes: who holds the lock now, who is told, and who has to wait.

use super::{Node, Role, Watch, answer};
use crate::actor::{Actions, Context};
use crate::consensus::state::Deleted;
use crate::event::Kind;
use crate::labs_only::labs_only;
use crate::machine::{JobId, MachineId};
use crate::message::{CallId, KeyName, LeaseId, LockReply, Token};
use crate::time::{Deadline, Mono};

impl Node {
    fn deadline(&self, context: Context<'_>, lease: LeaseId) -> Mono {
        let deadlines = match &self.role {
            Role::Leader(leadership) => leadership.deadlines.get(lease),
            _ => None,
        };
        deadlines.unwrap_or(context.mono())
    }

    /// Records that a key was created: the lock itself, or a place in the queue for it.
    pub(super) fn key_created(
        &self,
        context: Context<'_>,
        index: u64,
        (lease, name, token): (LeaseId, KeyName, Token),
        stop_time: Option<Mono>,
        actions: &mut Actions,
    ) {
        let (job, worker, deadline) = (name.job, lease.worker, self.deadline(context, lease));
        if self.state.lock(job).is_some_and(|key| key.created == token) {
            self.lock_granted(context, index, job, (lease, token), stop_time, actions);
        } else {
            let candidates = self.state.candidates(job);
            let ahead = candidates.iter().filter(|other| other.token < token).count() as u64;
            actions.record_applied(
                index,
                Kind::CandidateQueued { job, worker, lease, token, ahead, deadline, labs: labs_only() },
            );
        }
    }

    fn lock_granted(
        &self,
        context: Context<'_>,
        index: u64,
        job: JobId,
        (lease, token): (LeaseId, Token),
        stop_time: Option<Mono>,
        actions: &mut Actions,
    ) {
        let (worker, revision) = (lease.worker, self.state.revision);
        let deadline = Deadline::Mono(self.deadline(context, lease));
        actions.record_applied(index, Kind::LeaseGranted { job, worker, lease, token, revision, deadline, stop_time });
    }

    /// Records how a key ended, tells those who watch it, and says whose lock it is now.
    pub(super) fn key_deleted(
        &mut self,
        context: Context<'_>,
        index: u64,
        deleted: Deleted,
        ended: Kind,
        actions: &mut Actions,
    ) {
        let Deleted { name, lease, token, held, next } = deleted;
        let (job, worker, revision) = (name.job, lease.worker, self.state.revision);
        let ended =
            if held { ended } else { Kind::CandidateLeft { job, worker, lease, token, revision, labs: labs_only() } };
        actions.record_applied(index, ended);
        if let Some(next) = next {
            // Only the candidate itself knows its stop time; it is the one of its latest keep-alive.
            self.lock_granted(context, index, job, next, None, actions);
        }
        let Role::Leader(leadership) = &mut self.role else { return };
        leadership.watches.retain(|watch| {
            let gone = watch.created == token;
            if gone {
                answer(actions, watch.client, watch.call, LockReply::KeyDeleted);
            }
            !gone
        });
    }

    /// A watch is set unless the key is gone already.
    pub(super) fn watch(&mut self, client: MachineId, call: CallId, job: JobId, created: Token, actions: &mut Actions) {
        let exists = self.state.has_key_created_at(job, created);
        let term = self.term;
        let Role::Leader(leadership) = &mut self.role else { return };
        if exists {
            // A client watches one key at a time.
            leadership.watches.retain(|watch| watch.client != client);
            leadership.watches.push(Watch { client, call, created });
        }
        answer(actions, client, call, if exists { LockReply::Watching { term } } else { LockReply::KeyDeleted });
    }

    /// After an expiry nobody gets the lock for a while: an earlier holder that does not know of it may still act.
    /// Only this leader remembers that, as in Consul.
    pub(super) fn begin_lock_delay(&mut self, context: Context<'_>, index: u64, name: KeyName, actions: &mut Actions) {
        let delay = context.plan.lock_rules.lock_delay;
        let Role::Leader(leadership) = &mut self.role else { return };
        if delay > crate::time::Span::ZERO && name.candidate.is_none() {
            let until = context.mono() + delay;
            leadership.delayed.insert(name, until);
            actions.record_applied(index, Kind::LockDelayBegan { job: name.job, until, labs: labs_only() });
        }
    }

    /// Whether the lock cannot be had yet although nobody holds it.
    pub(super) fn is_delayed(&self, context: Context<'_>, name: KeyName) -> bool {
        match &self.role {
            Role::Leader(leadership) => leadership.delayed.get(&name).is_some_and(|until| *until > context.mono()),
            _ => false,
        }
    }
}
