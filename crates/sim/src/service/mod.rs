//! The clients' side of the lock services: one client library for each kind of service, behind one face.
//!
//! A worker asks its [`LockClient`] to acquire, renew and release, hands it the messages and timers that are not its
//! own, and gets back what came of it as an [`Outcome`].
//! When to renew, and whether there is still time to, is the worker's business; how, is the client's.
//!
//! Where things are: one file for each kind of service; `nodes` is how the consensus service's nodes are asked in turn.

mod consensus;
mod database;
mod lease_item;
pub mod nodes;
mod redis;
mod redlock;

use consensus::{ConsensusClient, ConsensusProbe};
use database::{DatabaseClient, DatabaseProbe};
use lease_item::{LeaseItemClient, LeaseItemProbe};
use redis::{RedisClient, RedisProbe};
use redlock::{RedlockClient, RedlockProbe};

use crate::actor::{Actions, Context, TimerKey};
use crate::labs_only::LabsOnly;
use crate::machine::{JobId, MachineId, WorkerId};
use crate::message::{CallId, Holder, LeaseId, Message, Token};
use crate::settings::{Plan, ServiceKind};
use crate::table::Rvn;
use crate::time::Mono;

/// A worker's client library for the lock service of the run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LockClient {
    /// A replicated log.
    Consensus(ConsensusClient),
    /// An item in a table.
    LeaseItem(LabsOnly<LeaseItemClient>),
    /// The database that holds the rows.
    Database(LabsOnly<DatabaseClient>),
    /// One Redis primary with an asynchronous replica.
    Redis(LabsOnly<RedisClient>),
    /// Redlock on five masters.
    Redlock(LabsOnly<RedlockClient>),
}

/// What a worker got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grant {
    /// The fencing token, or [`NO_TOKEN`](crate::message::NO_TOKEN).
    pub token: Token,
    /// When the worker must stop acting, on its own monotonic clock.
    pub stop: Mono,
    /// When the request was sent that this counts from.
    pub sent: Mono,
}

/// What came of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Somebody else holds the lock, or nobody answered: this attempt is over.
    NotAcquired,
    /// The same, and the client knows with which token somebody else holds it.
    Busy(Token),
    /// The worker holds the lock.
    Acquired(Grant),
    /// A renewal worked.
    Renewed {
        /// The new stop time.
        stop: Mono,
        /// When the renewal was sent.
        sent: Mono,
    },
    /// A renewal has found no answer at one machine.
    RenewalFailed {
        /// Which machine.
        machine: MachineId,
        /// It did not answer; otherwise it said no.
        timed_out: bool,
        /// The next machine should be asked at once; otherwise the client waits and asks for a retry later.
        retry: bool,
    },
    /// The pause after a failed renewal is over: it should be sent again.
    RetryRenewal,
    /// The service does not know the lease any more.
    Lost,
    /// The release is done, or has no use any more.
    Released,
}

impl LockClient {
    /// The client of one process of `worker`; `incarnation` counts its processes from 0.
    pub fn new(plan: &Plan, worker: WorkerId, incarnation: u32) -> LockClient {
        match plan.service {
            ServiceKind::Consensus => LockClient::Consensus(ConsensusClient::new(plan, worker, incarnation)),
            ServiceKind::Redis => LockClient::Redis(LabsOnly::new(|| RedisClient::new(plan, worker, incarnation))),
            ServiceKind::Redlock => {
                LockClient::Redlock(LabsOnly::new(|| RedlockClient::new(plan, worker, incarnation)))
            }
            ServiceKind::LeaseItem => {
                LockClient::LeaseItem(LabsOnly::new(|| LeaseItemClient::new(worker, incarnation)))
            }
            ServiceKind::Database => {
                LockClient::Database(LabsOnly::new(|| DatabaseClient::new(plan, worker, incarnation)))
            }
        }
    }

    /// Forgets what it was about, so that the same process can begin anew.
    pub fn reset(&mut self) {
        match self {
            LockClient::Consensus(client) => client.reset(),
            LockClient::LeaseItem(client) => client.reset(),
            LockClient::Database(client) => client.reset(),
            LockClient::Redis(client) => client.reset(),
            LockClient::Redlock(client) => client.reset(),
        }
    }

    /// Names the job whose lock it asks for from now on, if it serves many.
    pub fn set_job(&mut self, job: JobId) {
        if let LockClient::Consensus(client) = self {
            client.set_job(job);
        }
    }

    /// What it is doing, in a few words.
    pub fn activity(&self) -> &'static str {
        match self {
            LockClient::Consensus(client) => client.activity(),
            LockClient::LeaseItem(client) => client.activity(),
            LockClient::Database(client) => client.activity(),
            LockClient::Redis(client) => client.activity(),
            LockClient::Redlock(client) => client.activity(),
        }
    }

    /// Whether it has asked for something that should be given back.
    pub fn has_asked(&self) -> bool {
        match self {
            LockClient::Consensus(client) => client.has_asked(),
            LockClient::LeaseItem(client) => client.has_asked(),
            LockClient::Database(_) => false,
            LockClient::Redis(client) => client.has_asked(),
            LockClient::Redlock(client) => client.has_asked(),
        }
    }

    /// Tries once to get the lock.
    pub fn acquire(&mut self, context: Context<'_>, actions: &mut Actions) {
        match self {
            LockClient::Consensus(client) => client.acquire(context, actions),
            LockClient::LeaseItem(client) => client.acquire(context, actions),
            LockClient::Database(client) => client.acquire(context, actions),
            LockClient::Redis(client) => client.acquire(context, actions),
            LockClient::Redlock(client) => client.acquire(context, actions),
        }
    }

    /// Begins to renew.
    pub fn renew(&mut self, context: Context<'_>, actions: &mut Actions) {
        match self {
            LockClient::Consensus(client) => client.renew(context, actions),
            LockClient::LeaseItem(client) => client.renew(context, actions),
            LockClient::Database(client) => client.renew(context, actions),
            LockClient::Redis(client) => client.renew(context, actions),
            LockClient::Redlock(client) => client.renew(context, actions),
        }
    }

    /// Whether it was this client that asked the store, and not the store's own.
    pub fn awaits_of_store(&self, call: CallId) -> bool {
        matches!(self, LockClient::Database(_)) && database::is_own(call)
    }

    /// The lease that another process could keep alive in this client's place, if the service has such leases.
    pub fn lease(&self) -> Option<LeaseId> {
        match self {
            LockClient::Consensus(client) => client.lease(),
            _ => None,
        }
    }

    /// Which version of a lease item a claimant has seen, and since when by its monotonic clock.
    pub fn seen(&self, job: JobId) -> Option<(Option<Rvn>, Mono)> {
        match self {
            LockClient::LeaseItem(client) => client.seen(job),
            _ => None,
        }
    }

    /// Keeps a lease alive from now on that another process has obtained.
    pub fn adopt(&mut self, lease: LeaseId) {
        if let LockClient::Consensus(client) = self {
            client.adopt(lease);
        }
    }

    /// Keeps the place in the queue of an election; nothing for who does not wait in one.
    pub fn renew_as_candidate(&mut self, context: Context<'_>, actions: &mut Actions) {
        if let LockClient::Consensus(client) = self {
            client.renew_as_candidate(context, actions);
        }
    }

    /// Sends a renewal again.
    pub fn retry_renewal(&mut self, context: Context<'_>, actions: &mut Actions) {
        match self {
            LockClient::Consensus(client) => client.retry_renewal(context, actions),
            LockClient::LeaseItem(client) => client.renew(context, actions),
            LockClient::Database(client) => client.renew(context, actions),
            LockClient::Redis(client) => client.retry_renewal(context, actions),
            LockClient::Redlock(client) => client.renew(context, actions),
        }
    }

    /// Ends the lease.
    pub fn release(&mut self, context: Context<'_>, actions: &mut Actions) {
        match self {
            LockClient::Consensus(client) => client.release(context, actions),
            LockClient::LeaseItem(client) => client.release(context, actions),
            LockClient::Database(client) => client.release(context, actions),
            LockClient::Redis(client) => client.release(context, actions),
            LockClient::Redlock(client) => client.release(context, actions),
        }
    }

    /// Takes a message that came from the lock service.
    pub fn message(
        &mut self,
        context: Context<'_>,
        from: MachineId,
        message: Message,
        actions: &mut Actions,
    ) -> Option<Outcome> {
        match self {
            LockClient::Consensus(client) => client.message(context, message, actions),
            LockClient::LeaseItem(client) => client.message(context, message, actions),
            LockClient::Database(client) => client.message(context, message, actions),
            LockClient::Redis(client) => client.message(context, message, actions),
            LockClient::Redlock(client) => client.message(context, from, message, actions),
        }
    }

    /// Takes the timers `LockTimeout` and `RenewalTimeout`.
    pub fn timer_fired(&mut self, context: Context<'_>, key: TimerKey, actions: &mut Actions) -> Option<Outcome> {
        match self {
            LockClient::Consensus(client) => client.timer_fired(context, key, actions),
            LockClient::LeaseItem(client) => client.timer_fired(context, key, actions),
            LockClient::Database(client) => client.timer_fired(context, key, actions),
            LockClient::Redis(client) => client.timer_fired(context, key, actions),
            LockClient::Redlock(client) => client.timer_fired(context, key, actions),
        }
    }
}

/// How the sweeper asks the lock service of the run who holds which lock.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Probe {
    /// A replicated log.
    Consensus(ConsensusProbe),
    /// An item in a table.
    LeaseItem(LabsOnly<LeaseItemProbe>),
    /// The database that holds the rows.
    Database(LabsOnly<DatabaseProbe>),
    /// One Redis primary with an asynchronous replica.
    Redis(LabsOnly<RedisProbe>),
    /// Redlock on five masters.
    Redlock(LabsOnly<RedlockProbe>),
}

/// The locks that are held, in the order of the jobs; nothing if the service could not be asked.
pub type Answer = Option<Vec<Holder>>;

impl Probe {
    /// The probe of one process of the sweeper.
    pub fn new(plan: &Plan, incarnation: u32) -> Probe {
        match plan.service {
            ServiceKind::Consensus => Probe::Consensus(ConsensusProbe::new(plan, incarnation)),
            ServiceKind::Redis => Probe::Redis(LabsOnly::new(|| RedisProbe::new(plan, incarnation))),
            ServiceKind::Redlock => Probe::Redlock(LabsOnly::new(|| RedlockProbe::new(incarnation))),
            ServiceKind::LeaseItem => Probe::LeaseItem(LabsOnly::new(|| LeaseItemProbe::new(incarnation))),
            ServiceKind::Database => Probe::Database(LabsOnly::new(|| DatabaseProbe::new(incarnation))),
        }
    }

    /// Forgets what it was about.
    pub fn reset(&mut self) {
        match self {
            Probe::Consensus(probe) => probe.reset(),
            Probe::LeaseItem(probe) => probe.reset(),
            Probe::Database(probe) => probe.reset(),
            Probe::Redis(probe) => probe.reset(),
            Probe::Redlock(probe) => probe.reset(),
        }
    }

    /// Asks who holds the locks of `jobs`.
    pub fn ask(&mut self, context: Context<'_>, jobs: Vec<JobId>, actions: &mut Actions) {
        match self {
            Probe::Consensus(probe) => probe.ask(context, jobs, actions),
            Probe::LeaseItem(probe) => probe.ask(context, jobs, actions),
            Probe::Database(probe) => probe.ask(context, jobs, actions),
            Probe::Redis(probe) => probe.ask(context, jobs, actions),
            Probe::Redlock(probe) => probe.ask(context, jobs, actions),
        }
    }

    /// Takes a message that came from the lock service.
    pub fn message(
        &mut self,
        context: Context<'_>,
        from: MachineId,
        message: Message,
        actions: &mut Actions,
    ) -> Option<Answer> {
        match self {
            Probe::Consensus(probe) => probe.message(context, message, actions),
            Probe::LeaseItem(probe) => probe.message(context, message, actions),
            Probe::Database(probe) => probe.message(message, actions),
            Probe::Redis(probe) => probe.message(context, message, actions),
            Probe::Redlock(probe) => probe.message(context, from, message, actions),
        }
    }

    /// Takes the timer `LockTimeout`.
    pub fn timed_out(&mut self, context: Context<'_>, actions: &mut Actions) -> Option<Answer> {
        match self {
            Probe::Consensus(probe) => probe.timed_out(context, actions),
            Probe::LeaseItem(probe) => probe.timed_out(),
            Probe::Database(probe) => probe.timed_out(),
            Probe::Redis(probe) => probe.timed_out(context, actions),
            Probe::Redlock(probe) => probe.timed_out(context, actions),
        }
    }
}
