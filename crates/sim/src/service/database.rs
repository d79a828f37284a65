//! The client libraries of a database that holds the rows and the lock: a session lock, or a version in the row.

use super::{Answer, Grant, Outcome};
use crate::actor::{Actions, Context, TimerKey};
use crate::event::Kind;
use crate::labs_only::labs_only;
use crate::machine::{JobId, MachineId, WorkerId};
use crate::message::{CallId, LeaseId, Message, NO_TOKEN, StoreReply, StoreRequest, Token};
use crate::settings::{DatabaseLock, Isolation, Plan};
use crate::store::sessions::{SessionReply, SessionRequest};
use crate::store::sql::{Request, Transaction};
use crate::store::update::{Purpose, Set, Test, Update};
use crate::store::{Row, RowState};
use crate::time::{Mono, Span};

/// Numbers of calls to the database begin here, so that none is taken for one of the store's client library.
const CALLS_FROM: u32 = 1 << 31;

/// Whether this client, and not the store's, has asked the store.
pub(super) fn is_own(call: CallId) -> bool {
    call.number >= CALLS_FROM
}

/// What both clients do alike.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Calls {
    worker: WorkerId,
    incarnation: u32,
    made: u32,
}

impl Calls {
    fn next(&mut self) -> CallId {
        self.made += 1;
        CallId { incarnation: self.incarnation, number: CALLS_FROM + self.made }
    }

    fn job(&self, context: Context<'_>) -> JobId {
        context.plan.program(self.worker).job
    }
}

/// A worker's client.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DatabaseClient {
    kind: Kinds,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Kinds {
    Session(SessionClient),
    Version(VersionClient),
}

impl DatabaseClient {
    pub(super) fn new(plan: &Plan, worker: WorkerId, incarnation: u32) -> DatabaseClient {
        let kind = match plan.database_lock {
            DatabaseLock::Version => Kinds::Version(VersionClient::new(worker, incarnation)),
            DatabaseLock::Session | DatabaseLock::SameSession => {
                Kinds::Session(SessionClient::new(worker, incarnation))
            }
        };
        DatabaseClient { kind }
    }

    pub(super) fn reset(&mut self) {
        match &mut self.kind {
            Kinds::Session(client) => client.reset(),
            Kinds::Version(client) => client.asked = None,
        }
    }

    pub(super) fn activity(&self) -> &'static str {
        match &self.kind {
            Kinds::Session(client) => client.activity(),
            Kinds::Version(client) => client.activity(),
        }
    }

    pub(super) fn acquire(&mut self, context: Context<'_>, actions: &mut Actions) {
        match &mut self.kind {
            Kinds::Session(client) => client.acquire(context, actions),
            Kinds::Version(client) => client.read(context, actions),
        }
    }

    pub(super) fn renew(&mut self, context: Context<'_>, actions: &mut Actions) {
        // A version in a row lasts until somebody else takes the row: there is nothing to renew.
        if let Kinds::Session(client) = &mut self.kind {
            client.renew(context, actions);
        }
    }

    pub(super) fn release(&mut self, context: Context<'_>, actions: &mut Actions) {
        match &mut self.kind {
            Kinds::Session(client) => client.release(context, actions),
            Kinds::Version(client) => client.release(context, actions),
        }
    }

    pub(super) fn message(&mut self, context: Context<'_>, message: Message, actions: &mut Actions) -> Option<Outcome> {
        match &mut self.kind {
            Kinds::Session(client) => client.message(message, actions),
            Kinds::Version(client) => client.message(context, message, actions),
        }
    }

    pub(super) fn timer_fired(
        &mut self,
        context: Context<'_>,
        key: TimerKey,
        actions: &mut Actions,
    ) -> Option<Outcome> {
        match &mut self.kind {
            Kinds::Session(client) => client.timer_fired(context, key, actions),
            Kinds::Version(client) => client.timer_fired(actions),
        }
    }
}

/// A worker's client of session locks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct SessionClient {
    calls: Calls,
    sessions_opened: u32,
    session: Option<LeaseId>,
    /// The call whose answer is awaited, and when it was sent: to lock, or to close.
    asked: Option<(CallId, Mono)>,
    releasing: bool,
    renewal: Option<Renewal>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Renewal {
    call: CallId,
    sent: Mono,
    backing_off: bool,
}

impl SessionClient {
    fn new(worker: WorkerId, incarnation: u32) -> SessionClient {
        SessionClient {
            calls: Calls { worker, incarnation, made: 0 },
            sessions_opened: 0,
            session: None,
            asked: None,
            releasing: false,
            renewal: None,
        }
    }

    fn reset(&mut self) {
        self.session = None;
        self.asked = None;
        self.releasing = false;
        self.renewal = None;
    }

    fn activity(&self) -> &'static str {
        match (self.asked, self.releasing) {
            (None, _) => "waits",
            (_, false) => "asks for the session lock",
            (_, true) => "closes its session",
        }
    }

    fn send(
        &mut self,
        context: Context<'_>,
        request: SessionRequest,
        timer: TimerKey,
        actions: &mut Actions,
    ) -> CallId {
        let call = self.calls.next();
        actions.send(MachineId::Store, Message::SessionRequest(call, self.calls.job(context), request, labs_only()));
        actions.set_timer(timer, context.mono() + context.plan.latency.store_timeout);
        call
    }

    fn acquire(&mut self, context: Context<'_>, actions: &mut Actions) {
        // A session whose answer was lost may hold the lock: the same one asks again.
        let session = self.session.unwrap_or_else(|| {
            self.sessions_opened += 1;
            let Calls { worker, incarnation, .. } = self.calls;
            LeaseId { worker, incarnation, number: self.sessions_opened }
        });
        self.session = Some(session);
        self.releasing = false;
        let request = SessionRequest::TryLock(session, context.settings.lease);
        self.asked = Some((self.send(context, request, TimerKey::LockTimeout, actions), context.mono()));
    }

    fn renew(&mut self, context: Context<'_>, actions: &mut Actions) {
        let Some(session) = self.session else { return };
        let request = SessionRequest::KeepAlive(session, context.settings.lease);
        let call = self.send(context, request, TimerKey::RenewalTimeout, actions);
        self.renewal = Some(Renewal { call, sent: context.mono(), backing_off: false });
    }

    fn release(&mut self, context: Context<'_>, actions: &mut Actions) {
        let Some(session) = self.session else { return };
        self.renewal = None;
        self.releasing = true;
        let call = self.send(context, SessionRequest::Close(session), TimerKey::LockTimeout, actions);
        self.asked = Some((call, context.mono()));
    }

    fn timer_fired(&mut self, context: Context<'_>, key: TimerKey, actions: &mut Actions) -> Option<Outcome> {
        if key == TimerKey::RenewalTimeout {
            let renewal = self.renewal.as_mut()?;
            if renewal.backing_off {
                return Some(Outcome::RetryRenewal);
            }
            renewal.backing_off = true;
            actions.set_timer(key, context.mono() + context.plan.latency.lock_backoff);
            return Some(Outcome::RenewalFailed { machine: MachineId::Store, timed_out: true, retry: false });
        }
        self.asked.take()?;
        if self.releasing {
            // A connection that cannot be closed in order is dropped; the server will notice the silence.
            return Some(Outcome::Released);
        }
        actions.record(Kind::LockUnreachable { worker: self.calls.worker });
        Some(Outcome::NotAcquired)
    }

    fn message(&mut self, message: Message, actions: &mut Actions) -> Option<Outcome> {
        let Message::SessionReply(call, reply, ..) = message else { return None };
        if let Some(renewal) = self.renewal.filter(|renewal| renewal.call == call) {
            self.renewal = None;
            actions.cancel_timer(TimerKey::RenewalTimeout);
            return Some(match reply {
                SessionReply::Alive => Outcome::Renewed { stop: Mono::NEVER, sent: renewal.sent },
                _ => Outcome::Lost,
            });
        }
        let (_, sent) = self.asked.take_if(|(asked, _)| *asked == call)?;
        actions.cancel_timer(TimerKey::LockTimeout);
        Some(match reply {
            SessionReply::Locked => Outcome::Acquired(Grant { token: NO_TOKEN, stop: Mono::NEVER, sent }),
            SessionReply::Busy(holder) => {
                actions.record(Kind::LockBusy { worker: self.calls.worker, holder, token: NO_TOKEN });
                Outcome::NotAcquired
            }
            _ if self.releasing => Outcome::Released,
            _ => Outcome::NotAcquired,
        })
    }
}

/// A worker's client of a version in the row: whoever changes it owns the row, and whoever has another one is refused.
///
/// It takes a row that is queued, or that has not changed for one lease on its own monotonic clock.
/// That wait only saves work: the compare-and-set is right at any time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct VersionClient {
    calls: Calls,
    asked: Option<Asked>,
    /// What the row was, and since when it has been so.
    seen: Option<(Seen, Mono)>,
}

/// What shows that somebody works on a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Seen {
    version: Token,
    state: RowState,
    chunks: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Asked {
    Row(CallId),
    Take {
        call: CallId,
        sent: Mono,
        version: Token,
    },
    /// There is nothing to give back.
    Nothing,
}

impl VersionClient {
    fn new(worker: WorkerId, incarnation: u32) -> VersionClient {
        VersionClient { calls: Calls { worker, incarnation, made: 0 }, asked: None, seen: None }
    }

    fn activity(&self) -> &'static str {
        match self.asked {
            None | Some(Asked::Nothing) => "waits",
            Some(Asked::Row(_)) => "reads the row",
            Some(Asked::Take { .. }) => "takes the row",
        }
    }

    fn send(&mut self, context: Context<'_>, request: Request, actions: &mut Actions) -> CallId {
        let call = self.calls.next();
        let request = StoreRequest::Sql(Box::new(request), labs_only());
        actions.send(MachineId::Store, Message::StoreRequest(call, self.calls.job(context), request));
        actions.set_timer(TimerKey::LockTimeout, context.mono() + context.plan.latency.store_timeout);
        call
    }

    fn read(&mut self, context: Context<'_>, actions: &mut Actions) {
        let call = self.send(context, Request::SelectRow, actions);
        self.asked = Some(Asked::Row(call));
    }

    fn release(&mut self, context: Context<'_>, actions: &mut Actions) {
        self.asked = Some(Asked::Nothing);
        actions.set_timer(TimerKey::LockTimeout, context.mono());
    }

    fn timer_fired(&mut self, actions: &mut Actions) -> Option<Outcome> {
        match self.asked.take()? {
            Asked::Nothing => Some(Outcome::Released),
            _ => {
                actions.record(Kind::LockUnreachable { worker: self.calls.worker });
                Some(Outcome::NotAcquired)
            }
        }
    }

    fn message(&mut self, context: Context<'_>, message: Message, actions: &mut Actions) -> Option<Outcome> {
        let Message::StoreReply(answered, reply) = message else { return None };
        match (self.asked?, reply) {
            (Asked::Row(call), StoreReply::Row(row)) if call == answered => {
                actions.cancel_timer(TimerKey::LockTimeout);
                self.asked = None;
                self.row_read(context, &row, actions)
            }
            (Asked::Take { call, sent, version }, reply) if call == answered => {
                actions.cancel_timer(TimerKey::LockTimeout);
                self.asked = None;
                Some(match reply {
                    StoreReply::Row(_) => Outcome::Acquired(Grant { token: version, stop: Mono::NEVER, sent }),
                    _ => Outcome::NotAcquired,
                })
            }
            _ => None,
        }
    }

    fn row_read(&mut self, context: Context<'_>, row: &Row, actions: &mut Actions) -> Option<Outcome> {
        let now = context.mono();
        let seen = Seen { version: row.fence, state: row.state, chunks: row.chunks_recorded() };
        let unchanged = match self.seen {
            Some((same, since)) if same == seen => now - since,
            _ => {
                self.seen = Some((seen, now));
                Span::ZERO
            }
        };
        let works = row.state == RowState::Running && unchanged < context.settings.lease;
        if works || row.state == RowState::Done {
            return Some(Outcome::NotAcquired);
        }
        let version = row.fence + 1;
        let update = Update {
            purpose: Purpose::Raise(version),
            tests: vec![Test::NotDone, Test::FenceIs(row.fence)],
            sets: vec![Set::Fence(version), Set::State(RowState::Running), Set::Owner(version), Set::ClaimedNow],
        };
        let transaction = Transaction { isolation: Isolation::ReadCommitted, update, inserts: None };
        let call = self.send(context, Request::Transaction(transaction), actions);
        self.asked = Some(Asked::Take { call, sent: now, version });
        None
    }
}

/// Tells the sweeper who holds session locks.
/// A version in a row says nothing about who is alive, so there the sweeper learns nothing and leaves the rows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DatabaseProbe {
    calls: Calls,
    asked: Option<CallId>,
}

impl DatabaseProbe {
    pub(super) fn new(incarnation: u32) -> DatabaseProbe {
        // The sweeper works for no job in particular.
        DatabaseProbe { calls: Calls { worker: WorkerId::A, incarnation, made: 0 }, asked: None }
    }

    pub(super) fn reset(&mut self) {
        self.asked = None;
    }

    pub(super) fn ask(&mut self, context: Context<'_>, jobs: Vec<JobId>, actions: &mut Actions) {
        let call = self.calls.next();
        self.asked = Some(call);
        let mut answer_by = context.mono();
        if context.plan.database_lock != DatabaseLock::Version {
            let request = SessionRequest::Holders(jobs);
            actions.send(MachineId::Store, Message::SessionRequest(call, JobId::FIRST, request, labs_only()));
            answer_by += context.plan.latency.store_timeout;
        }
        actions.set_timer(TimerKey::LockTimeout, answer_by);
    }

    pub(super) fn timed_out(&mut self) -> Option<Answer> {
        self.asked.take().map(|_| None)
    }

    pub(super) fn message(&mut self, message: Message, actions: &mut Actions) -> Option<Answer> {
        let Message::SessionReply(call, SessionReply::Holders(holders), ..) = message else { return None };
        self.asked.take_if(|asked| *asked == call)?;
        actions.cancel_timer(TimerKey::LockTimeout);
        Some(Some(holders))
    }
}
