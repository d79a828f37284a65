//! Session locks of an SQL database: a lock that lasts as long as a client's connection.
//!
//! The server ends a session from which it has heard nothing for too long, by its own monotonic clock, and frees the
//! lock.
//! The client is told when it speaks next; it has no time of its own after which it must stop.
//! So a session lock is a lease on a connection, and only the grantor knows its length.
//!
//! In a real system, the operating system closes the connections of a process that dies, and the server notices at
//! once; and it answers for a process that is merely frozen, unless the server asks for statements, as it does here
//! (PostgreSQL: `idle_session_timeout`).
//! Here a process that dies is noticed by its silence, as if its whole machine had died.

use litemap::LiteMap;

use crate::actor::{Actions, Context, TimerKey};
use crate::event::Kind;
use crate::labs_only::labs_only;
use crate::machine::{JobId, MachineId, WorkerId};
use crate::message::{CallId, Holder, LeaseId, Message, NO_TOKEN};
use crate::time::{Deadline, Mono, Span};

/// What a client asks in a session of its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SessionRequest {
    /// Open a session that ends after this much silence, and take the job's lock in it if it is free.
    TryLock(LeaseId, Span),
    /// Any statement: the server hears from the session.
    KeepAlive(LeaseId, Span),
    /// Close the session.
    Close(LeaseId),
    /// Who holds the locks of these jobs?
    Holders(Vec<JobId>),
}

/// What the server answers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SessionReply {
    /// The session holds the lock.
    Locked,
    /// Somebody else's session holds it.
    Busy(WorkerId),
    /// The session is alive.
    Alive,
    /// There is no such session any more.
    Ended,
    /// The locks that are held.
    Holders(Vec<Holder>),
}

/// The sessions that hold a lock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sessions {
    locks: LiteMap<JobId, Session>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Session {
    lease: LeaseId,
    /// When the server ends it unless it hears from it.
    deadline: Mono,
}

impl Sessions {
    /// Who holds a job's lock, and until when unless the server hears from it.
    pub fn holder(&self, job: JobId) -> Option<(WorkerId, Mono)> {
        self.locks.get(&job).map(|session| (session.lease.worker, session.deadline))
    }

    /// Whether a session of this worker holds a job's lock.
    pub(super) fn is_held_by(&self, job: JobId, worker: WorkerId) -> bool {
        self.holder(job).is_some_and(|(holder, _)| holder == worker)
    }

    /// The server's process dies, and every session with it.
    pub(super) fn crash(&mut self) {
        self.locks = LiteMap::new();
    }

    pub(super) fn serve(
        &mut self,
        context: Context<'_>,
        from: MachineId,
        call: CallId,
        job: JobId,
        request: SessionRequest,
        actions: &mut Actions,
    ) {
        let held = self.locks.get(&job).copied();
        let reply = match request {
            SessionRequest::TryLock(lease, silence) => match held {
                Some(session) if session.lease != lease => SessionReply::Busy(session.lease.worker),
                _ => {
                    let deadline = context.mono() + silence;
                    // The same session may ask again, if the answer was lost.
                    if self.locks.insert(job, Session { lease, deadline }).is_none() {
                        actions.record(Kind::LeaseGranted {
                            job,
                            worker: lease.worker,
                            lease,
                            token: NO_TOKEN,
                            revision: 0,
                            deadline: Deadline::Mono(deadline),
                            stop_time: None,
                        });
                    }
                    SessionReply::Locked
                }
            },
            SessionRequest::KeepAlive(lease, silence) => match self.locks.get_mut(&job) {
                Some(session) if session.lease == lease => {
                    session.deadline = context.mono() + silence;
                    actions.record(Kind::LeaseRenewed {
                        job,
                        worker: lease.worker,
                        lease,
                        token: None,
                        deadline: Deadline::Mono(session.deadline),
                        stop_time: Mono::NEVER,
                    });
                    SessionReply::Alive
                }
                _ => {
                    actions.record(Kind::RenewalRefused { worker: lease.worker, lease });
                    SessionReply::Ended
                }
            },
            SessionRequest::Close(lease) => {
                if held.is_some_and(|session| session.lease == lease) {
                    self.locks.remove(&job);
                    let worker = lease.worker;
                    let released = Kind::LockReleased { worker, lease, token: None, released_by: worker, revision: 0 };
                    actions.record(released);
                }
                SessionReply::Ended
            }
            SessionRequest::Holders(jobs) => {
                let held = jobs.into_iter().filter_map(|job| {
                    let (worker, _) = self.holder(job)?;
                    Some(Holder { job, worker, token: NO_TOKEN })
                });
                SessionReply::Holders(held.collect())
            }
        };
        self.set_timer(actions);
        actions.send(from, Message::SessionReply(call, reply, labs_only()));
    }

    fn set_timer(&self, actions: &mut Actions) {
        match self.locks.values().map(|session| session.deadline).min() {
            Some(deadline) => actions.set_timer(TimerKey::LeaseExpiry, deadline),
            None => actions.cancel_timer(TimerKey::LeaseExpiry),
        }
    }

    /// Ends the sessions from which the server has heard nothing for too long.
    pub(super) fn expire(&mut self, context: Context<'_>, actions: &mut Actions) {
        let ended = self.locks.iter().filter(|(_, session)| session.deadline <= context.mono());
        let ended: Vec<(JobId, LeaseId)> = ended.map(|(job, session)| (*job, session.lease)).collect();
        for (job, lease) in ended {
            self.locks.remove(&job);
            let (worker, token) = (lease.worker, NO_TOKEN);
            actions.record(Kind::LeaseExpired { job, worker, lease, token, revision: 0 });
        }
        self.set_timer(actions);
    }
}
