//! Observers of the event stream: what must never happen, and whether it did.
//!
//! They are no part of any actor, and no actor can see them.

use std::fmt;

use litemap::LiteMap;

use serde::Serialize;

use crate::event::{Event, Kind};
use crate::machine::{JobId, MachineId, WorkerId};
use crate::message::{LeaseId, NO_TOKEN, Token};
use crate::ordered_map::OrderedMap;
use crate::store::RowState;
use crate::time::{TrueTime, grouped};
use crate::world::World;

/// The invariants, in the order in which they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Invariant {
    /// No invoice is charged more than once.
    ChargedOnce,
    /// Never two workers that both may act.
    OneActingHolder,
    /// No write is accepted whose token is lower than that of an earlier accepted write.
    NoStaleWrite,
    /// Every grant's token is above all earlier ones.
    TokensGrow,
    /// Every release deletes only the grant that its sender obtained.
    OnlyOwnerReleases,
    /// Raises, chunks and DONE are sent before the sender's own stop time, by its own monotonic clock.
    ActsInTime,
    /// DONE at the horizon, with every chunk recorded.
    JobFinishes,
}

impl Invariant {
    /// All of them.
    pub const ALL: [Invariant; 7] = [
        Invariant::ChargedOnce,
        Invariant::OneActingHolder,
        Invariant::NoStaleWrite,
        Invariant::TokensGrow,
        Invariant::OnlyOwnerReleases,
        Invariant::ActsInTime,
        Invariant::JobFinishes,
    ];

    /// The name in the trace format.
    pub fn id(self) -> &'static str {
        match self {
            Invariant::ChargedOnce => "charged-once",
            Invariant::OneActingHolder => "one-acting-holder",
            Invariant::NoStaleWrite => "no-stale-write",
            Invariant::TokensGrow => "tokens-grow",
            Invariant::OnlyOwnerReleases => "only-owner-releases",
            Invariant::ActsInTime => "acts-in-time",
            Invariant::JobFinishes => "job-finishes",
        }
    }
}

impl fmt::Display for Invariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

/// The first time that an invariant was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// When.
    pub t: TrueTime,
    /// How.
    pub why: String,
}

/// Whether an invariant holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It has held so far.
    Holds,
    /// It was broken.
    Broken(Violation),
    /// It is not decided yet.
    Pending,
    /// There is nothing to check.
    NotApplicable,
}

/// Watches a run.
#[derive(Clone, Debug, Default)]
pub struct Observers {
    violations: LiteMap<Invariant, Violation>,
    /// When every job was DONE with every chunk recorded.
    finished: Option<TrueTime>,
    jobs_finished: u16,
    /// By the number of the job.
    jobs: Vec<Watched>,
    highest_granted: Token,
    grants: OrderedMap<LeaseId, WorkerId>,
    /// How often anybody has acquired a lock.
    acquired: u64,
    /// When the request that the store serves, or served last, was sent, for each sender.
    served: LiteMap<WorkerId, TrueTime>,
}

/// What is known of one job.
#[derive(Clone, Debug, Default)]
struct Watched {
    /// The highest grant that the store has accepted a write of.
    highest_written: u64,
    /// Who has ever held its lock.
    holders: Vec<WorkerId>,
    /// It was DONE with every chunk recorded.
    finished: bool,
    /// Who acquired its lock when, with the run-wide number of that grant, which no actor sees.
    numbers: Vec<(WorkerId, TrueTime, u64)>,
}

impl Watched {
    /// The number of the grant under which `worker` sent something at `sent`.
    fn number_at(&self, worker: WorkerId, sent: Option<TrueTime>) -> u64 {
        let earlier = |(holder, since, _): &&(WorkerId, TrueTime, u64)| {
            *holder == worker && sent.is_none_or(|sent| *since <= sent)
        };
        self.numbers.iter().rfind(earlier).map_or(0, |(_, _, number)| *number)
    }
}

impl Observers {
    /// Looks at one event, and at the world right after it.
    pub fn observe(&mut self, event: &Event, world: &World) {
        match &event.kind {
            Kind::ChunkWritten { job, worker, token, chunk, charged, times_charged, .. } => {
                if *charged > 0 && *times_charged > 1 {
                    let why = format!(
                        "{worker} records chunk {chunk} again{}: {} customers are charged twice",
                        with_token(*token),
                        grouped(u64::from(*charged))
                    );
                    self.broken(Invariant::ChargedOnce, event.t, why);
                }
                self.written(*job, *worker, *token, &format!("chunk {chunk}"), event.t);
            }
            Kind::InvoicesRecorded { job, worker, token, chunk, again, .. } => {
                if *again > 0 {
                    let why = format!(
                        "{worker} puts {} invoices of chunk {chunk} that are there already: their customers are \
                         charged twice",
                        grouped(u64::from(*again))
                    );
                    self.broken(Invariant::ChargedOnce, event.t, why);
                }
                self.written(*job, *worker, *token, &format!("part of chunk {chunk}"), event.t);
            }
            Kind::FenceRaised { job, worker, token, .. } => self.written(*job, *worker, *token, "raise", event.t),
            Kind::JobDone { job, worker, token, chunks_recorded } => {
                self.written(*job, *worker, *token, "DONE", event.t);
                if *chunks_recorded == world.plan().chunks {
                    self.job_finished(*job, event.t, world);
                }
            }
            Kind::LeaseGranted { worker, lease, token, .. } => {
                self.grants.insert(*lease, *worker);
                if *token <= self.highest_granted && *token != NO_TOKEN {
                    let why = format!("{worker} gets token {token} after {} was granted", self.highest_granted);
                    self.broken(Invariant::TokensGrow, event.t, why);
                }
                self.highest_granted = self.highest_granted.max(*token);
            }
            Kind::LockReleased { lease, released_by, .. } if self.grants.get(lease) != Some(released_by) => {
                let why = format!("{released_by} frees lease {lease}, which it did not obtain");
                self.broken(Invariant::OnlyOwnerReleases, event.t, why);
            }
            Kind::RaiseSent { worker, mono, stop_time, .. }
            | Kind::WriteSent { worker, mono, stop_time, .. }
            | Kind::DoneSent { worker, mono, stop_time, .. }
                if mono >= stop_time =>
            {
                let why = format!(
                    "{worker} sends at {} by its own clock; its stop time is {}",
                    mono.told(),
                    stop_time.told()
                );
                self.broken(Invariant::ActsInTime, event.t, why);
            }
            Kind::MessageReceived { from: MachineId::Worker(worker), sent, .. }
                if event.machine == MachineId::Store =>
            {
                self.served.insert(*worker, *sent);
            }
            // Only these can let a worker act that could not before.
            Kind::LockAcquired { job, worker, .. } => {
                self.acquired += 1;
                let number = self.acquired;
                let watched = self.of(*job);
                watched.numbers.push((*worker, event.t, number));
                if !watched.holders.contains(worker) {
                    watched.holders.push(*worker);
                }
                self.check_one_acting_holder(*job, event.t, world);
            }
            Kind::RenewalConfirmed { job, .. } => self.check_one_acting_holder(*job, event.t, world),
            Kind::Resumed { worker: Some(worker), .. } => {
                let job = world.worker(*worker).map_or(JobId::FIRST, |worker| worker.job());
                self.check_one_acting_holder(job, event.t, world);
            }
            _ => {}
        }
    }

    fn of(&mut self, job: JobId) -> &mut Watched {
        let place = usize::from(job.0);
        if self.jobs.len() <= place {
            self.jobs.resize_with(place + 1, Watched::default);
        }
        &mut self.jobs[place]
    }

    fn job_finished(&mut self, job: JobId, t: TrueTime, world: &World) {
        let watched = self.of(job);
        if !std::mem::replace(&mut watched.finished, true) {
            self.jobs_finished += 1;
        }
        if self.jobs_finished == world.plan().jobs {
            self.finished.get_or_insert(t);
        }
    }

    fn written(&mut self, job: JobId, worker: WorkerId, token: Token, what: &str, t: TrueTime) {
        let served = self.served.get(&worker).copied();
        let watched = self.of(job);
        let highest = watched.highest_written;
        let number = if token == NO_TOKEN { watched.number_at(worker, served) } else { token };
        if number >= highest {
            watched.highest_written = number;
            return;
        }
        let why = if token == NO_TOKEN {
            format!("the store accepts {worker}’s {what} of grant {number} after a write of grant {highest}")
        } else {
            format!("the store accepts {worker}’s {what} with token {token} after a write with token {highest}")
        };
        self.broken(Invariant::NoStaleWrite, t, why);
    }

    fn check_one_acting_holder(&mut self, job: JobId, t: TrueTime, world: &World) {
        // It takes two.
        let Some(watched) = self.jobs.get(usize::from(job.0)).filter(|watched| watched.holders.len() > 1) else {
            return;
        };
        let acting: Vec<WorkerId> =
            watched.holders.iter().copied().filter(|worker| world.may_act(*worker, job, t)).collect();
        if let [first, second, ..] = acting[..] {
            let (first, second) = (first.min(second), first.max(second));
            let why = format!("{first} and {second} may both act, each by its own clock");
            self.broken(Invariant::OneActingHolder, t, why);
        }
    }

    fn broken(&mut self, invariant: Invariant, t: TrueTime, why: String) {
        self.violations.entry(invariant).or_insert(Violation { t, why });
    }

    /// The verdict at `at` of a run that ends at `horizon`, whose world there is `end`.
    pub fn verdict(&self, invariant: Invariant, at: TrueTime, horizon: TrueTime, end: &World) -> Verdict {
        // The models have no job, and only one of them has locks.
        if let Some(model) = &end.plan().model
            && !(model.uses_lock_service() && matches!(invariant, Invariant::TokensGrow | Invariant::OnlyOwnerReleases))
        {
            return Verdict::NotApplicable;
        }
        if invariant == Invariant::JobFinishes {
            return match self.finished {
                Some(finished) if finished <= at => Verdict::Holds,
                _ if at < horizon => Verdict::Pending,
                _ => Verdict::Broken(Violation { t: horizon, why: unfinished(end, self.jobs_finished) }),
            };
        }
        match self.violations.get(&invariant) {
            _ if invariant == Invariant::TokensGrow && !end.plan().hands_out_tokens() => Verdict::NotApplicable,
            Some(violation) if violation.t <= at => Verdict::Broken(violation.clone()),
            _ => Verdict::Holds,
        }
    }
}

/// " with token 7", or nothing for a holder that has none.
fn with_token(token: Token) -> String {
    if token == NO_TOKEN { String::new() } else { format!(" with token {token}") }
}

fn unfinished(end: &World, finished: u16) -> String {
    let jobs = end.plan().jobs;
    if jobs > 1 {
        return format!("{} of {} jobs are DONE", grouped(finished.into()), grouped(jobs.into()));
    }
    match end.store().and_then(|store| store.row()) {
        Some(row) if row.state == RowState::Done => {
            format!("the row is DONE with {} of {} chunks recorded", row.chunks_recorded(), end.plan().chunks)
        }
        Some(row) => {
            format!("the row is {} with {} of {} chunks recorded", row.state, row.chunks_recorded(), end.plan().chunks)
        }
        None => "there is no row".into(),
    }
}
