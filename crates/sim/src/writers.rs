//! Many writers that all check the same fence item, as one client.
//!
//! What they send within a hundredth of a second travels together.
//! A check that is throttled is sent again as the standard retry mode of the AWS SDKs does it: a few attempts in all,
//! and before the nth retry a random part of 2ⁿ⁻¹ seconds, at most 20 s (AWS SDKs and Tools Reference Guide, retry
//! behavior).
//! That mode also stops retrying when most of one client's calls fail; these are many clients with few calls each.

use litemap::LiteMap;

use crate::actor::{Actions, Context, Input, TimerKey};
use crate::event::Kind;
use crate::labs_only::labs_only;
use crate::machine::{JobId, MachineId};
use crate::message::{CallId, Message, StoreReply, StoreRequest};
use crate::rng::Rng;
use crate::settings::{ATTEMPTS_MAX, WRITERS_EVERY};
use crate::store::dynamodb::{Reply, Request};
use crate::time::{MICROS_PER_SECOND, Span};

/// The longest pause before a retry.
const BACKOFF_MAX: Span = Span::seconds(20);

/// Checks, by how often they were sent before.
type ByAttempt = [u32; ATTEMPTS_MAX];

/// All writers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Writers {
    ticks: u32,
    /// How many checks were sent for the first time.
    begun: u64,
    /// By the number of the call.
    unanswered: LiteMap<u32, ByAttempt>,
    /// By the tick at which they are sent again.
    waiting: LiteMap<u32, ByAttempt>,
}

impl Writers {
    /// Writers that have sent nothing yet.
    pub fn new() -> Writers {
        Writers::default()
    }

    /// Takes one input.
    pub fn handle(&mut self, context: Context<'_>, input: Input, actions: &mut Actions) {
        match input {
            Input::Start => {}
            Input::Timer { key: TimerKey::Poll, .. } => self.send(context, actions),
            Input::Message { message: Message::StoreReply(call, StoreReply::DynamoDb(reply, ..)), .. } => {
                if let Reply::Checked { accepted, .. } = *reply {
                    self.answered(context, call, accepted, actions);
                }
                return;
            }
            _ => return,
        }
        actions.set_timer(TimerKey::Poll, context.mono() + WRITERS_EVERY);
    }

    /// How many checks were throttled and wait for their next attempt.
    pub fn waiting(&self) -> u64 {
        self.waiting.values().flatten().map(|count| u64::from(*count)).sum()
    }

    /// As many as are due by now, so that any rate comes out exactly over time, and what is sent again.
    fn send(&mut self, context: Context<'_>, actions: &mut Actions) {
        self.ticks += 1;
        let passed = u64::from(self.ticks) * WRITERS_EVERY.as_micros().unsigned_abs();
        let due = passed * u64::from(context.plan.writers.per_second) / MICROS_PER_SECOND.unsigned_abs();
        let mut batch = self.waiting.remove(&self.ticks).unwrap_or_default();
        batch[0] = (due - self.begun) as u32;
        self.begun = due;
        let count = batch.iter().sum();
        if count > 0 {
            self.unanswered.insert(self.ticks, batch);
            let call = CallId { incarnation: 0, number: self.ticks };
            let checks = Request::Checks { count, retries: count - batch[0] };
            let request = StoreRequest::DynamoDb(Box::new(checks), labs_only());
            actions.send(MachineId::Store, Message::StoreRequest(call, JobId::FIRST, request));
        }
    }

    /// The item serves whichever come first, and those that came together came in any order.
    fn answered(&mut self, context: Context<'_>, call: CallId, accepted: u32, actions: &mut Actions) {
        let Some(batch) = self.unanswered.remove(&call.number) else { return };
        let mut rng = Rng::new(context.seed, u64::from(call.number));
        let mut left: u32 = batch.iter().sum();
        let mut to_serve = accepted;
        let mut given_up = 0;
        for (before, count) in batch.into_iter().enumerate() {
            for _ in 0..count {
                let served = rng.next_u64() % u64::from(left) < u64::from(to_serve);
                left -= 1;
                if served {
                    to_serve -= 1;
                } else if before + 1 < context.plan.writers.attempts.min(ATTEMPTS_MAX) {
                    let longest = Span::seconds(1 << before).min(BACKOFF_MAX);
                    let pause = rng.span_up_to(longest).as_micros() / WRITERS_EVERY.as_micros();
                    let again = self.waiting.entry(self.ticks + 1 + pause as u32).or_default();
                    again[before + 1] += 1;
                } else {
                    given_up += 1;
                }
            }
        }
        if given_up > 0 {
            actions.record(Kind::ChecksGivenUp { count: given_up, labs: labs_only() });
        }
    }
}
