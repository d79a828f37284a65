//! Many writers that all check the same fence item, as one client.
//!
//! What they send within a hundredth of a second travels together.

use crate::actor::{Actions, Context, Input, TimerKey};
use crate::labs_only::labs_only;
use crate::machine::{JobId, MachineId};
use crate::message::{CallId, Message, StoreRequest};
use crate::settings::WRITERS_EVERY;
use crate::store::dynamodb::Request;
use crate::time::MICROS_PER_SECOND;

/// All writers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Writers {
    ticks: u32,
    sent: u64,
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
            _ => return,
        }
        actions.set_timer(TimerKey::Poll, context.mono() + WRITERS_EVERY);
    }

    /// As many as are due by now, so that any rate comes out exactly over time.
    fn send(&mut self, context: Context<'_>, actions: &mut Actions) {
        self.ticks += 1;
        let passed = u64::from(self.ticks) * WRITERS_EVERY.as_micros().unsigned_abs();
        let due = passed * u64::from(context.plan.writers.per_second) / MICROS_PER_SECOND.unsigned_abs();
        let count = (due - self.sent) as u32;
        self.sent = due;
        if count > 0 {
            let call = CallId { incarnation: 0, number: self.ticks };
            let request = StoreRequest::DynamoDb(Box::new(Request::Checks { count }), labs_only());
            actions.send(MachineId::Store, Message::StoreRequest(call, JobId::FIRST, request));
        }
    }
}
