//! A table whose items are leases: each request is one atomic conditional write.
//!
//! The table is the one authority, and it judges nothing: it compares what a request tells it to compare.
//! Nobody expires a lease here.
//! The holder's claim stays in the item until somebody else replaces it, and by whose clock that is allowed is the
//! claimant's [rule](crate::settings::ClaimRule).
//!
//! Where things are: `update` is what a request may ask for, and this file is the table itself.

mod update;

use std::collections::VecDeque;

use litemap::LiteMap;

use crate::actor::{Actions, Context, Input, TimerKey};
use crate::event::Kind;
use crate::labs_only::labs_only;
use crate::machine::{JobId, MachineId};
use crate::message::{CallId, LeaseId, Message, Token};
use crate::settings::ClaimRule;
use crate::time::{Deadline, Mono, Span, Wall};
pub use update::{Change, Condition, Rvn, Term, Update};

/// How often the process that deletes expired items looks at the table.
const TTL_SCAN: Span = Span::millis(100);

/// What a client asks of the table, about the item of one job.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TableRequest {
    /// Return the item, as it is after every write so far.
    Get,
    /// The same for the items of these jobs, in order.
    GetMany(Vec<JobId>),
    /// Change the item if it is as the condition wants it.
    Update(Box<Update>),
}

/// What the table answers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TableReply {
    /// The item, if there is one.
    Item(Option<Item>),
    /// The items that there are, in the order of the jobs.
    Items(Vec<(JobId, Item)>),
    /// The condition held; the item as it is now.
    Updated(Item),
    /// The condition did not hold; the item as it was and is.
    ConditionFailed(Option<Item>),
}

/// A lease item.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Item {
    /// Who holds it, and since when in the trace's terms; nobody, once it has been released.
    pub holder: Option<LeaseId>,
    /// Until when, as the last write says: on the holder's wall clock, or on the table's under
    /// [`ClaimRule::StorageNow`]; zero once it has been released.
    pub lease_until: Wall,
    /// The length of the lease.
    pub lease: Span,
    /// The record version number: another one after each write of a holder.
    pub rvn: Option<Rvn>,
    /// Grows with every claim, and is the fencing token.
    pub epoch: Token,
}

/// The table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Table {
    items: LiteMap<JobId, Item>,
    /// What point-in-time recovery can bring back: each item as it was last with each epoch.
    history: LiteMap<(JobId, Token), Item>,
    /// Answers to writes that are not on enough disks yet, oldest first.
    answers: VecDeque<Answer>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Answer {
    due: Mono,
    to: MachineId,
    call: CallId,
    reply: TableReply,
}

impl Table {
    /// An empty table.
    pub fn new() -> Table {
        Table::default()
    }

    /// The item of a job.
    pub fn item(&self, job: JobId) -> Option<&Item> {
        self.items.get(&job)
    }

    /// Takes one input.
    pub fn handle(&mut self, context: Context<'_>, input: Input, actions: &mut Actions) {
        match input {
            Input::Start => {
                self.answers.clear();
                set_ttl_timer(context, actions);
            }
            Input::Timer { key: TimerKey::Disk, .. } => self.answer(context, actions),
            Input::Timer { key: TimerKey::Poll, .. } => {
                self.delete_expired(context, actions);
                set_ttl_timer(context, actions);
            }
            Input::Message { from, message: Message::TableRequest(call, job, request, ..) } => {
                self.serve(context, from, call, job, request, actions);
            }
            _ => {}
        }
    }

    fn serve(
        &mut self,
        context: Context<'_>,
        from: MachineId,
        call: CallId,
        job: JobId,
        request: TableRequest,
        actions: &mut Actions,
    ) {
        let reply = match request {
            TableRequest::Get => TableReply::Item(self.item(job).cloned()),
            TableRequest::GetMany(jobs) => {
                let items = jobs.into_iter().filter_map(|job| Some((job, self.item(job)?.clone())));
                TableReply::Items(items.collect())
            }
            TableRequest::Update(update) => self.update(context, job, &update, actions),
        };
        if matches!(reply, TableReply::Updated(_)) {
            let due = context.mono() + context.plan.lease_items.write;
            self.answers.push_back(Answer { due, to: from, call, reply });
            self.answer(context, actions);
        } else {
            actions.send(from, Message::TableReply(call, reply, labs_only()));
        }
    }

    /// Answers every write that is on enough disks, and comes back for the next.
    fn answer(&mut self, context: Context<'_>, actions: &mut Actions) {
        while self.answers.front().is_some_and(|answer| answer.due <= context.mono()) {
            let Some(Answer { to, call, reply, .. }) = self.answers.pop_front() else { return };
            actions.send(to, Message::TableReply(call, reply, labs_only()));
        }
        if let Some(next) = self.answers.front() {
            actions.set_timer(TimerKey::Disk, next.due);
        }
    }

    fn update(&mut self, context: Context<'_>, job: JobId, update: &Update, actions: &mut Actions) -> TableReply {
        let now = context.wall();
        let before = self.item(job).cloned();
        let passed = update.condition.holds(before.as_ref(), now);
        actions.record(Kind::ConditionChecked {
            job,
            worker: update.lease.worker,
            condition: update.condition.text(context.plan.lease_items.rule == ClaimRule::StorageNow),
            passed,
            labs: labs_only(),
        });
        if !passed {
            if update.renews() {
                actions.record(Kind::RenewalRefused { worker: update.lease.worker, lease: update.lease });
            }
            return TableReply::ConditionFailed(before);
        }
        let after = update.applied_to(before.as_ref(), now);
        record(job, before.as_ref(), &after, update, actions);
        self.put(job, after.clone());
        TableReply::Updated(after)
    }

    fn put(&mut self, job: JobId, item: Item) {
        self.history.insert((job, item.epoch), item.clone());
        self.items.insert(job, item);
    }

    /// Deletes what has been expired for long enough.
    /// A released item stays: DynamoDB leaves out times that lie more than five years back, and zero is one.
    fn delete_expired(&mut self, context: Context<'_>, actions: &mut Actions) {
        let Some(after) = context.plan.lease_items.ttl else { return };
        let now = context.wall();
        let expired = |item: &Item| item.lease_until != Wall::ZERO && item.lease_until + after <= now;
        let jobs: Vec<JobId> = self.items.iter().filter(|(_, item)| expired(item)).map(|(job, _)| *job).collect();
        for job in jobs {
            let Some(item) = self.items.remove(&job) else { continue };
            let Item { holder, lease_until, epoch, .. } = item;
            actions.record(Kind::ItemDeleted { job, lease: holder, epoch, lease_until, labs: labs_only() });
        }
    }

    /// Brings the items of `jobs` back to what each was last with an epoch of at most `epoch`, and then adds `bump` to it.
    ///
    /// An item that was not there has the epoch 0, to which the bump is added like to any other: whoever claims it first
    /// would else begin at 1 again.
    /// Returns what that did to the items.
    pub fn restore(&mut self, jobs: impl Iterator<Item = JobId>, epoch: Token, bump: u64) -> Vec<Kind> {
        let mut kinds = Vec::new();
        for job in jobs {
            let was = self.item(job);
            if was.is_none() && bump == 0 && !self.history.keys().any(|(of, _)| *of == job) {
                continue;
            }
            let then = self.history.iter().rfind(|((of, _), item)| *of == job && item.epoch <= epoch);
            let then = then.map(|(_, item)| item.clone()).or_else(|| (bump > 0).then(Item::default));
            let item = then.map(|item| Item { epoch: item.epoch.saturating_add(bump), ..item });
            kinds.push(Kind::ItemRestored {
                job,
                replaced: was.and_then(|item| item.holder),
                was: was.map_or(0, |item| item.epoch),
                lease: item.as_ref().and_then(|item| item.holder),
                epoch: item.as_ref().map_or(0, |item| item.epoch),
                labs: labs_only(),
            });
            match item {
                Some(item) => self.put(job, item),
                None => _ = self.items.remove(&job),
            }
        }
        kinds
    }

    /// The highest epoch that any item has had.
    pub fn highest_epoch(&self) -> Token {
        self.history.keys().map(|(_, epoch)| *epoch).max().unwrap_or(0)
    }

    /// Every item, in the order of the jobs.
    pub fn items(&self) -> impl Iterator<Item = (JobId, &Item)> + '_ {
        self.items.iter().map(|(job, item)| (*job, item))
    }
}

fn set_ttl_timer(context: Context<'_>, actions: &mut Actions) {
    if context.plan.lease_items.ttl.is_some() {
        actions.set_timer(TimerKey::Poll, context.mono() + TTL_SCAN);
    }
}

/// What a write means, told by what it did.
fn record(job: JobId, before: Option<&Item>, after: &Item, update: &Update, actions: &mut Actions) {
    let Update { lease, stop_on_holder, .. } = update;
    let (worker, lease, token) = (lease.worker, *lease, after.epoch);
    let deadline = Deadline::Wall(after.lease_until);
    if update.claims() {
        if let Some((before, old)) = before.and_then(|before| Some((before, before.holder?))) {
            actions.record(Kind::ClaimReplaced {
                job,
                worker: old.worker,
                lease: old,
                token: before.epoch,
                lease_until: before.lease_until,
                by: worker,
                labs: labs_only(),
            });
        }
        actions.record(Kind::LeaseGranted {
            job,
            worker,
            lease,
            token,
            revision: 0,
            deadline,
            stop_time: Some(*stop_on_holder),
        });
    } else if after.holder.is_none() {
        let token = Some(token);
        actions.record(Kind::LockReleased { worker, lease, token, released_by: worker, revision: 0 });
    } else {
        let (token, stop_time) = (Some(token), *stop_on_holder);
        actions.record(Kind::LeaseRenewed { job, worker, lease, token, deadline, stop_time });
    }
}
