//! The client library of leases in a table: claim, renew and release by one conditional write each.
//!
//! What a claimant may claim is its [rule](ClaimRule)'s business; the table only compares.
//! The holder's stop time counts from before its write was sent, an observer's wait from after its read has returned:
//! both err on the safe side.

use litemap::LiteMap;

use super::{Answer, Grant, Outcome};
use crate::actor::{Actions, Context, TimerKey};
use crate::event::Kind;
use crate::labs_only::labs_only;
use crate::machine::{JobId, MachineId, WorkerId};
use crate::message::{CallId, Holder, LeaseId, Message, Token};
use crate::settings::ClaimRule;
use crate::table::{Change, Condition, Item, Rvn, TableReply, TableRequest, Term, Update};
use crate::time::{Mono, Span, Wall};

/// A worker's client.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LeaseItemClient {
    worker: WorkerId,
    incarnation: u32,
    calls: u32,
    writes: u32,
    claims: u32,
    watch: Watch,
    /// The claim that it holds, or is sending.
    claim: Option<Claim>,
    /// Earlier claims whose answer never came: one of them may have been applied.
    unanswered: Vec<Claim>,
    /// The epoch of the claim that it holds.
    epoch: Option<Token>,
    phase: Phase,
    renewal: Option<Renewal>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Claim {
    lease: LeaseId,
    rvn: Rvn,
    sent: Mono,
    stop: Mono,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Renewal {
    call: CallId,
    sent: Mono,
    stop_on_success: Mono,
    /// It found no answer and waits before it is sent again.
    backing_off: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Quiet,
    Reading(CallId),
    Claiming(CallId),
    Releasing { call: CallId, backing_off: bool },
}

impl LeaseItemClient {
    /// The client of one process of `worker`.
    pub(super) fn new(worker: WorkerId, incarnation: u32) -> LeaseItemClient {
        LeaseItemClient {
            worker,
            incarnation,
            calls: 0,
            writes: 0,
            claims: 0,
            watch: Watch::default(),
            claim: None,
            unanswered: Vec::new(),
            epoch: None,
            phase: Phase::Quiet,
            renewal: None,
        }
    }

    /// Forgets what it was about; the names of calls, writes and claims stay used up.
    pub(super) fn reset(&mut self) {
        let &mut LeaseItemClient { worker, incarnation, calls, writes, claims, .. } = self;
        *self = LeaseItemClient { calls, writes, claims, ..LeaseItemClient::new(worker, incarnation) };
    }

    /// What it is doing, in a few words.
    pub(super) fn activity(&self) -> &'static str {
        match self.phase {
            Phase::Quiet => "waits",
            Phase::Reading(_) => "reads the lease item",
            Phase::Claiming(_) => "claims the lease item",
            Phase::Releasing { .. } => "releases the lease item",
        }
    }

    /// The record version number that it saw last in the job's item, and since when by its monotonic clock.
    pub(super) fn seen(&self, job: JobId) -> Option<(Option<Rvn>, Mono)> {
        self.watch.seen.get(&job).copied()
    }

    /// Whether it holds a claim.
    pub(super) fn has_asked(&self) -> bool {
        self.epoch.is_some()
    }

    /// Tries once.
    /// A claimant that judges by the record version number must have seen it, so it reads first.
    pub(super) fn acquire(&mut self, context: Context<'_>, actions: &mut Actions) {
        self.epoch = None;
        let free = |context: Context<'_>| {
            Some(match context.plan.lease_items.rule {
                ClaimRule::Unchanged => return None,
                ClaimRule::Now => Term::UntilBefore(context.wall()),
                ClaimRule::NowMargin => Term::UntilBefore(context.wall() - context.plan.lease_items.claim_margin),
                ClaimRule::StorageNow => Term::UntilBeforeNow,
            })
        };
        match free(context) {
            Some(term) => self.send_claim(context, Condition::Any(vec![Term::NoHolder, term]), actions),
            None => {
                let call = self.send(context, TableRequest::Get, TimerKey::LockTimeout, actions);
                self.phase = Phase::Reading(call);
            }
        }
    }

    fn send_claim(&mut self, context: Context<'_>, condition: Condition, actions: &mut Actions) {
        self.claims += 1;
        let lease = LeaseId { worker: self.worker, incarnation: self.incarnation, number: self.claims };
        let settings = context.settings;
        let (sent, rvn) = (context.mono(), self.next_rvn());
        let stop = sent + settings.lease - settings.margin;
        let changes = vec![
            Change::Holder(self.worker),
            until(context),
            Change::Lease(settings.lease),
            Change::Rvn(rvn),
            Change::NextEpoch,
        ];
        let update = Update { condition, changes, lease, stop_on_holder: stop };
        let call = self.send(context, TableRequest::Update(Box::new(update)), TimerKey::LockTimeout, actions);
        self.claim = Some(Claim { lease, rvn, sent, stop });
        self.phase = Phase::Claiming(call);
    }

    /// Removes the holder and puts the time to zero; the item stays, because it carries the epoch.
    pub(super) fn release(&mut self, context: Context<'_>, actions: &mut Actions) {
        self.renewal = None;
        actions.cancel_timer(TimerKey::RenewalTimeout);
        let changes = vec![Change::Until(Wall::ZERO), Change::NoHolder];
        let Some((claim, update)) = self.update_of_mine(changes, Mono::ZERO) else { return };
        let update = Update { stop_on_holder: claim.stop, ..update };
        let call = self.send(context, TableRequest::Update(Box::new(update)), TimerKey::LockTimeout, actions);
        self.phase = Phase::Releasing { call, backing_off: false };
    }

    /// Writes a new time and a new record version number.
    pub(super) fn renew(&mut self, context: Context<'_>, actions: &mut Actions) {
        let settings = context.settings;
        let sent = context.mono();
        let stop_on_success = sent + settings.lease - settings.margin;
        let changes = vec![until(context), Change::Lease(settings.lease), Change::Rvn(self.next_rvn())];
        let Some((_, update)) = self.update_of_mine(changes, stop_on_success) else { return };
        let call = self.send(context, TableRequest::Update(Box::new(update)), TimerKey::RenewalTimeout, actions);
        self.renewal = Some(Renewal { call, sent, stop_on_success, backing_off: false });
    }

    /// Renew and release: only if the item is still this claim's.
    fn update_of_mine(&self, changes: Vec<Change>, stop_on_holder: Mono) -> Option<(Claim, Update)> {
        let (claim, epoch) = self.claim.zip(self.epoch)?;
        let condition = Condition::All(vec![Term::HolderIs(self.worker), Term::EpochIs(epoch)]);
        Some((claim, Update { condition, changes, lease: claim.lease, stop_on_holder }))
    }

    fn next_rvn(&mut self) -> Rvn {
        self.writes += 1;
        Rvn { worker: self.worker, incarnation: self.incarnation, number: self.writes }
    }

    fn send(&mut self, context: Context<'_>, request: TableRequest, timer: TimerKey, actions: &mut Actions) -> CallId {
        self.calls += 1;
        let call = CallId { incarnation: self.incarnation, number: self.calls };
        let job = context.plan.program(self.worker).job;
        actions.send(MachineId::Table, Message::TableRequest(call, job, request, labs_only()));
        actions.set_timer(timer, context.mono() + context.plan.latency.lock_timeout);
        call
    }

    pub(super) fn timer_fired(
        &mut self,
        context: Context<'_>,
        key: TimerKey,
        actions: &mut Actions,
    ) -> Option<Outcome> {
        if key == TimerKey::RenewalTimeout {
            let renewal = self.renewal.as_mut()?;
            if renewal.backing_off {
                return Some(Outcome::RetryRenewal);
            }
            renewal.backing_off = true;
            actions.set_timer(key, context.mono() + context.plan.latency.lock_backoff);
            return Some(Outcome::RenewalFailed { machine: MachineId::Table, timed_out: true, retry: false });
        }
        match &mut self.phase {
            Phase::Quiet => None,
            Phase::Reading(_) | Phase::Claiming(_) => {
                if let (Phase::Claiming(_), Some(claim)) = (self.phase, self.claim) {
                    self.unanswered.retain(|earlier| context.mono() < earlier.stop);
                    self.unanswered.push(claim);
                }
                actions.record(Kind::LockUnreachable { worker: self.worker });
                self.quiet(Outcome::NotAcquired)
            }
            // Whatever it held may be claimed by others now.
            Phase::Releasing { .. } if self.claim.is_none_or(|claim| context.mono() >= claim.stop) => {
                self.quiet(Outcome::Released)
            }
            Phase::Releasing { backing_off: true, .. } => {
                self.release(context, actions);
                None
            }
            Phase::Releasing { backing_off, .. } => {
                *backing_off = true;
                actions.set_timer(key, context.mono() + context.plan.latency.lock_backoff);
                None
            }
        }
    }

    fn quiet(&mut self, outcome: Outcome) -> Option<Outcome> {
        self.phase = Phase::Quiet;
        Some(outcome)
    }

    /// Takes a message of the table.
    pub(super) fn message(&mut self, context: Context<'_>, message: Message, actions: &mut Actions) -> Option<Outcome> {
        let Message::TableReply(call, reply, ..) = message else { return None };
        if let Some(renewal) = self.renewal.filter(|renewal| renewal.call == call) {
            self.renewal = None;
            actions.cancel_timer(TimerKey::RenewalTimeout);
            return Some(match reply {
                TableReply::Updated(_) => {
                    if let Some(claim) = &mut self.claim {
                        claim.stop = renewal.stop_on_success;
                    }
                    Outcome::Renewed { stop: renewal.stop_on_success, sent: renewal.sent }
                }
                _ => Outcome::Lost,
            });
        }
        match self.phase {
            Phase::Reading(awaited) if awaited == call => {
                actions.cancel_timer(TimerKey::LockTimeout);
                let TableReply::Item(item) = reply else { return self.quiet(Outcome::NotAcquired) };
                self.item_read(context, item, actions)
            }
            Phase::Claiming(awaited) if awaited == call => {
                actions.cancel_timer(TimerKey::LockTimeout);
                match reply {
                    TableReply::Updated(item) => self.acquired(item.epoch),
                    TableReply::ConditionFailed(Some(item)) => self.busy(context, &item, actions),
                    _ => self.quiet(Outcome::NotAcquired),
                }
            }
            Phase::Releasing { call: awaited, .. } if awaited == call => {
                actions.cancel_timer(TimerKey::LockTimeout);
                self.quiet(Outcome::Released)
            }
            _ => None,
        }
    }

    fn acquired(&mut self, epoch: Token) -> Option<Outcome> {
        self.unanswered.clear();
        let Claim { sent, stop, .. } = self.claim?;
        self.epoch = Some(epoch);
        self.quiet(Outcome::Acquired(Grant { token: epoch, stop, sent }))
    }

    /// Somebody holds it; perhaps this very worker, by a claim whose answer was lost.
    fn busy(&mut self, context: Context<'_>, item: &Item, actions: &mut Actions) -> Option<Outcome> {
        let of_item = |claim: &&Claim| item.rvn == Some(claim.rvn) && context.mono() < claim.stop;
        if let Some(claim) = self.unanswered.iter().find(of_item) {
            self.claim = Some(*claim);
            return self.acquired(item.epoch);
        }
        if let Some(holder) = item.holder {
            actions.record(Kind::LockBusy { worker: self.worker, holder: holder.worker, token: item.epoch });
        }
        self.quiet(Outcome::NotAcquired)
    }

    /// The rule of the record version number: claim what has not changed for its own lease, and only if it still has
    /// not changed.
    fn item_read(&mut self, context: Context<'_>, item: Option<Item>, actions: &mut Actions) -> Option<Outcome> {
        let condition = match item.as_ref().filter(|item| item.holder.is_some()) {
            None => Condition::Any(vec![Term::NoHolder]),
            Some(item) => {
                let job = context.plan.program(self.worker).job;
                let longer = context.plan.lease_items.waits_longer;
                let unchanged = self.watch.unchanged_for(job, item, context.mono());
                match item.rvn.filter(|_| unchanged >= item.lease + longer) {
                    Some(rvn) => Condition::All(vec![Term::RvnIs(rvn)]),
                    None => return self.busy(context, item, actions),
                }
            }
        };
        self.send_claim(context, condition, actions);
        None
    }
}

/// When the lease runs out, by the clock that the rule compares it with.
fn until(context: Context<'_>) -> Change {
    let lease = context.settings.lease;
    match context.plan.lease_items.rule {
        ClaimRule::StorageNow => Change::UntilNowPlus(lease),
        _ => Change::Until(context.wall() + lease),
    }
}

/// Since when, on an observer's own monotonic clock, items have not changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Watch {
    seen: LiteMap<JobId, (Option<Rvn>, Mono)>,
}

impl Watch {
    /// For how long the item has been as it was just read; zero the first time.
    fn unchanged_for(&mut self, job: JobId, item: &Item, now: Mono) -> Span {
        match self.seen.get(&job) {
            Some((rvn, since)) if *rvn == item.rvn => now - *since,
            _ => {
                self.seen.insert(job, (item.rvn, now));
                Span::ZERO
            }
        }
    }
}

/// Tells the sweeper who holds leases, without anybody's clock but its own: a claim counts as held until its record
/// version number has not changed for one lease.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LeaseItemProbe {
    incarnation: u32,
    calls: u32,
    watch: Watch,
    asking: Option<CallId>,
}

impl LeaseItemProbe {
    pub(super) fn new(incarnation: u32) -> LeaseItemProbe {
        LeaseItemProbe { incarnation, calls: 0, watch: Watch::default(), asking: None }
    }

    /// Forgets the question, but not what it has seen.
    pub(super) fn reset(&mut self) {
        self.asking = None;
    }

    pub(super) fn ask(&mut self, context: Context<'_>, jobs: Vec<JobId>, actions: &mut Actions) {
        self.calls += 1;
        let call = CallId { incarnation: self.incarnation, number: self.calls };
        self.asking = Some(call);
        let request = TableRequest::GetMany(jobs);
        actions.send(MachineId::Table, Message::TableRequest(call, JobId::FIRST, request, labs_only()));
        actions.set_timer(TimerKey::LockTimeout, context.mono() + context.plan.latency.lock_timeout);
    }

    pub(super) fn timed_out(&mut self) -> Option<Answer> {
        self.asking.take().map(|_| None)
    }

    pub(super) fn message(&mut self, context: Context<'_>, message: Message, actions: &mut Actions) -> Option<Answer> {
        let Message::TableReply(call, TableReply::Items(items), ..) = message else { return None };
        self.asking.take_if(|asked| *asked == call)?;
        actions.cancel_timer(TimerKey::LockTimeout);
        let mut holders = Vec::new();
        for (job, item) in items {
            let unchanged = self.watch.unchanged_for(job, &item, context.mono());
            match item.holder {
                Some(holder) if unchanged < item.lease => {
                    holders.push(Holder { job, worker: holder.worker, token: item.epoch });
                }
                _ => {}
            }
        }
        Some(Some(holders))
    }
}
