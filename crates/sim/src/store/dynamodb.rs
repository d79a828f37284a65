//! A DynamoDB table: one item for each job, with the fence in it, one for each chunk that is recorded, and one for each
//! invoice.
//!
//! Conditions are evaluated together with the write, one item at a time, or over several items in a transaction of at
//! most 100 actions, no two of them on one item (Amazon DynamoDB Developer Guide, TransactWriteItems).
//! A condition knows no current time: `claimed_since` is the clock of whoever claims.
//!
//! Simplified: the index shows a change at once, and transactions that travel together are taken one after another
//! instead of some of them meeting a `TransactionConflict` that the client would have to retry.

use litemap::LiteMap;

use super::ranges::Ranges;
use super::update::{self, Purpose, Test, Update};
use super::{Row, claims};
use crate::actor::{Actions, Context, Input};
use crate::event::{Kind, RefusedBecause};
use crate::labs_only::labs_only;
use crate::machine::{JobId, MachineId};
use crate::message::{Message, StoreReply, StoreRequest, Token};
use crate::settings::Plan;

/// The most actions of one transaction.
pub const ACTIONS_MAX: u32 = 100;

/// What a table is asked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Request {
    /// Query, consistent: the job's item and those of its chunks.
    QueryJob,
    /// GetItem of the fence alone.
    GetFence,
    /// Query: which invoices of this chunk are there?
    QueryInvoices {
        /// The chunk.
        chunk: u8,
    },
    /// Scan of the sparse index.
    ScanIndex,
    /// UpdateItem of the job's item; a raise returns the old values, and every failure the item.
    UpdateItem(Update),
    /// TransactWriteItems, once for each of `puts`: they travel together, and each is atomic by itself.
    Transact(Transact),
    /// TransactWriteItems of so many other writers, each a check of the fence item and one put.
    Checks {
        /// How many.
        count: u32,
        /// How many of them were throttled before; the table does not look at it.
        retries: u32,
    },
}

/// Transactions that put invoices of one chunk.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Transact {
    /// The holder's token.
    pub token: Token,
    /// The chunk.
    pub chunk: u8,
    /// What each of them checks of the job's item: its first action.
    pub tests: Vec<Test>,
    /// They mark the chunk as recorded, in an item of its own: the second action.
    pub marks: bool,
    /// The invoices that each of them puts, counted from 1 within the chunk.
    pub puts: Vec<Ranges>,
    /// Each put is conditional on the invoice's absence, and the mark on its own.
    pub if_absent: bool,
}

/// What a table answers, besides rows and claims.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reply {
    /// ConditionalCheckFailedException, with the item as it is.
    ConditionFailed(Box<Row>),
    /// The invoices that are there.
    Invoices(Ranges),
    /// Some of the transactions were cancelled.
    Cancelled {
        /// How many went through.
        succeeded: u32,
        /// How many did not.
        cancelled: u32,
        /// The first that did not.
        first: Cancelled,
    },
    /// So many of the checks went through; the others were throttled.
    Checked {
        /// Accepted.
        accepted: u32,
        /// ThrottlingException.
        throttled: u32,
    },
}

/// TransactionCanceledException: for each action, in order, whether its condition failed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cancelled {
    /// How many actions the transaction has.
    pub actions: u32,
    /// The positions of those whose condition failed, counted from 0; the others’ reason is `None`.
    pub failed: Ranges,
}

/// The table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DynamoStore {
    items: Vec<Row>,
    invoices: LiteMap<(JobId, u8), Invoices>,
    bucket: Bucket,
}

/// The invoices of a chunk.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Invoices {
    /// Those that are there.
    pub there: Ranges,
    /// Those that were put once more and so charged again.
    pub again: Ranges,
    /// How many were charged in all.
    pub charged: u64,
}

/// Write units of the partition that holds the fence item, in millionths.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Bucket {
    micro_units: i64,
    filled_at: crate::time::Mono,
}

impl DynamoStore {
    pub(super) fn new(plan: &Plan) -> DynamoStore {
        let mut store =
            DynamoStore { items: super::rows_at_start(plan), invoices: LiteMap::new(), bucket: Bucket::default() };
        for (number, item) in store.items.iter().enumerate() {
            for chunk in item.chunks.keys() {
                let there = Ranges::of(1, plan.invoices_per_chunk + 1);
                let charged = u64::from(there.len());
                store
                    .invoices
                    .insert((JobId(number as u16), *chunk), Invoices { there, charged, ..Invoices::default() });
            }
        }
        store
    }

    pub(super) fn row(&self, job: JobId) -> Option<&Row> {
        self.items.get(usize::from(job.0))
    }

    /// The invoices of a job, by chunk.
    pub fn invoices(&self, job: JobId) -> impl Iterator<Item = (u8, &Invoices)> {
        self.invoices.iter().filter(move |((of, _), _)| *of == job).map(|((_, chunk), invoices)| (*chunk, invoices))
    }

    pub(super) fn handle(&mut self, context: Context<'_>, input: Input, actions: &mut Actions) {
        let Input::Message { from, message: Message::StoreRequest(call, job, StoreRequest::DynamoDb(request, ..)) } =
            input
        else {
            return;
        };
        if let Some(reply) = self.serve(context, from, job, *request, actions) {
            actions.send(from, Message::StoreReply(call, reply));
        }
    }

    fn serve(
        &mut self,
        context: Context<'_>,
        from: MachineId,
        job: JobId,
        request: Request,
        actions: &mut Actions,
    ) -> Option<StoreReply> {
        if let Request::ScanIndex = request {
            return Some(StoreReply::Claims(claims(self.items.iter())));
        }
        let item = self.items.get_mut(usize::from(job.0))?;
        Some(match request {
            Request::QueryJob => {
                if let Some(worker) = from.worker() {
                    actions.record(Kind::RowLookedAt { worker, state: item.state });
                }
                StoreReply::Row(Box::new(item.clone()))
            }
            Request::GetFence => StoreReply::Fence(item.fence),
            Request::QueryInvoices { chunk } => {
                let there = self.invoices.get(&(job, chunk)).map(|invoices| invoices.there.clone());
                StoreReply::DynamoDb(Box::new(Reply::Invoices(there.unwrap_or_default())), labs_only())
            }
            Request::UpdateItem(update) => {
                let before = Box::new(item.clone());
                if let Some(because) = update::refuses(&update.tests, item) {
                    // A raise of a finished job is answered with its item, and is no refusal.
                    if !(because == RefusedBecause::JobDone && matches!(update.purpose, Purpose::Raise(_))) {
                        update.purpose.refused(from.worker(), item.fence, because, actions);
                    }
                    return Some(StoreReply::DynamoDb(Box::new(Reply::ConditionFailed(before)), labs_only()));
                }
                update::apply(&update.sets, item, context.wall());
                let compared = update::compares(&update.tests);
                update.purpose.accepted(context, job, from.worker(), (&before, item), compared, actions);
                match update.purpose {
                    Purpose::Raise(_) => StoreReply::Row(before),
                    _ => StoreReply::Accepted,
                }
            }
            Request::Transact(transact) => self.transact(from, job, &transact, actions)?,
            Request::Checks { count, retries } => {
                let accepted = self.bucket.take(context, count);
                let throttled = count - accepted;
                actions.record(Kind::ChecksServed { accepted, throttled, retries, labs: labs_only() });
                StoreReply::DynamoDb(Box::new(Reply::Checked { accepted, throttled }), labs_only())
            }
            Request::ScanIndex => return None,
        })
    }

    /// One transaction after another; each is atomic.
    fn transact(
        &mut self,
        from: MachineId,
        job: JobId,
        transact: &Transact,
        actions: &mut Actions,
    ) -> Option<StoreReply> {
        let Transact { token, chunk, .. } = *transact;
        let item = self.items.get_mut(usize::from(job.0))?;
        let invoices = self.invoices.entry((job, chunk)).or_default();
        let mut first: Option<(Cancelled, RefusedBecause)> = None;
        let (mut succeeded, mut charged, mut again) = (0_u32, 0_u32, 0_u32);
        for puts in &transact.puts {
            match transact.failures(item, puts, &invoices.there) {
                Some(failure) => first = first.or(Some(failure)),
                None => {
                    succeeded += 1;
                    charged += puts.len();
                    let twice = puts.common(&invoices.there);
                    again += twice.len();
                    invoices.again.add(&twice);
                    invoices.there.add(puts);
                    invoices.charged += u64::from(puts.len());
                    if transact.marks {
                        item.chunks.entry(chunk).or_default().push(token);
                    }
                }
            }
        }
        let fence = item.fence;
        let times_charged = item.chunks.get(&chunk).map_or(0, |tokens| tokens.len() as u32);
        if let (Some(worker), true) = (from.worker(), succeeded > 0) {
            actions.record(if transact.marks {
                Kind::ChunkWritten { job, worker, token, fence, chunk, charged, times_charged }
            } else {
                Kind::InvoicesRecorded {
                    job,
                    worker,
                    token,
                    fence,
                    chunk,
                    transactions: succeeded,
                    charged,
                    again,
                    labs: labs_only(),
                }
            });
        }
        let cancelled = transact.puts.len() as u32 - succeeded;
        Some(match first {
            None => StoreReply::Accepted,
            Some((first, because)) => {
                Purpose::Chunk(token, chunk).refused(from.worker(), fence, because, actions);
                StoreReply::DynamoDb(Box::new(Reply::Cancelled { succeeded, cancelled, first }), labs_only())
            }
        })
    }
}

impl Transact {
    /// Which conditions of one transaction fail, and why the first does.
    fn failures(&self, item: &Row, puts: &Ranges, there: &Ranges) -> Option<(Cancelled, RefusedBecause)> {
        let mut because = update::refuses(&self.tests, item);
        // The check of the job’s item comes first, then the mark, then the puts.
        let mut failed = Ranges::of(0, u32::from(because.is_some()));
        let before_puts = 1 + u32::from(self.marks);
        if self.if_absent && self.marks && item.chunks.contains_key(&self.chunk) {
            because = because.or(Some(RefusedBecause::AlreadyRecorded));
            failed.add(&Ranges::of(1, 2));
        }
        let taken = if self.if_absent { puts.common(there) } else { Ranges::default() };
        if !taken.is_empty() {
            because = because.or(Some(RefusedBecause::AlreadyRecorded));
            for (number, place) in puts.numbers().zip(before_puts..) {
                if taken.holds(number) {
                    failed.add(&Ranges::of(place, place + 1));
                }
            }
        }
        because.map(|because| (Cancelled { actions: before_puts + puts.len(), failed }, because))
    }
}

impl Bucket {
    /// Takes the write units of as many of `count` transactional checks as there are units for.
    ///
    /// The partition gains a write unit every millisecond or so, and what it does not use within a hundredth of a
    /// second is gone: a simplification of the bursts that a real table allows for a while.
    fn take(&mut self, context: Context<'_>, count: u32) -> u32 {
        let writers = &context.plan.writers;
        let per_second = i64::from(writers.units_per_second);
        let gained = (context.mono() - self.filled_at).as_micros().saturating_mul(per_second);
        self.filled_at = context.mono();
        let most = per_second * crate::settings::WRITERS_EVERY.as_micros();
        self.micro_units = self.micro_units.saturating_add(gained).min(most);
        let price = i64::from(writers.units_per_check) * crate::time::MICROS_PER_SECOND;
        let accepted = (self.micro_units / price).min(i64::from(count)).max(0);
        self.micro_units -= accepted * price;
        accepted as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transact(tests: &[Test], puts: Vec<Ranges>, marks: bool) -> Transact {
        Transact { token: 7, chunk: 2, tests: tests.to_vec(), marks, puts, if_absent: true }
    }

    /// Reasons stand in the order of the actions: the check of the fence first, then the puts.
    #[test]
    fn cancellation_reasons_stand_in_the_order_of_the_actions() {
        let behind = Row { fence: 12, ..Row::default() };
        let level = Row { fence: 7, ..Row::default() };
        let puts = Ranges::of(1, 5);
        let check = transact(&[Test::NotDone, Test::FenceAtMost(7)], vec![puts.clone()], false);
        for (item, there, expected) in [
            (&level, Ranges::default(), None),
            (&behind, Ranges::default(), Some((vec![0], RefusedBecause::TokenBelowFence))),
            (&level, Ranges::of(2, 4), Some((vec![2, 3], RefusedBecause::AlreadyRecorded))),
            (&behind, Ranges::of(4, 9), Some((vec![0, 4], RefusedBecause::TokenBelowFence))),
        ] {
            let failure = check.failures(item, &puts, &there);
            let found = failure.map(|(cancelled, because)| {
                assert_eq!(cancelled.actions, 5);
                (cancelled.failed.numbers().collect::<Vec<u32>>(), because)
            });
            assert_eq!(found, expected, "{item:?}, {there:?}");
        }
    }

    #[test]
    fn a_chunk_is_marked_once() {
        let mut marked = Row { fence: 7, ..Row::default() };
        marked.chunks.insert(2, vec![7]);
        let last = transact(&[Test::NotDone, Test::FenceAtMost(7)], vec![Ranges::of(1, 3)], true);
        let failure = last.failures(&marked, &Ranges::of(1, 3), &Ranges::of(2, 3));
        let (cancelled, because) = failure.expect("it is marked already");
        assert_eq!((cancelled.actions, because), (4, RefusedBecause::AlreadyRecorded));
        assert_eq!(cancelled.failed.numbers().collect::<Vec<u32>>(), [1, 3]);
    }

    #[test]
    fn a_put_without_a_condition_never_fails() {
        let mut plain = transact(&[], vec![Ranges::of(1, 5)], false);
        plain.if_absent = false;
        assert_eq!(plain.failures(&Row::default(), &Ranges::of(1, 5), &Ranges::of(1, 5)), None);
    }
}
