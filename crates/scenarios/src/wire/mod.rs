//! The requests that the store was sent in a run, and what it answered, in the form in which they travel: JSON, SQL,
//! HTTP.
//!
//! Every text is printed from the very value that the store evaluated.
//! The trace holds only a label of each message, so the run is simulated once more, and the messages are looked at on
//! their way.
//!
//! Where things are: one file for each kind of store.

mod dynamodb;
mod row;
mod s3;
mod sql;

use std::collections::BTreeMap;

use lease_lab_sim::event::Kind;
use lease_lab_sim::machine::{JobId, MachineId};
use lease_lab_sim::message::{CallId, Message, StoreReply, StoreRequest};
use lease_lab_sim::settings::Plan;
use lease_lab_sim::simulation::Simulation;
use lease_lab_sim::time::TrueTime;
use serde::Serialize;

use crate::run::Run;

/// A request that reached the store, and its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Exchange {
    /// When the request arrived.
    pub t: TrueTime,
    /// Who sent it.
    pub from: MachineId,
    /// To which machine.
    pub to: MachineId,
    /// What it asks, in a few words.
    pub what: String,
    /// The request.
    pub request: String,
    /// When the answer was sent; nothing if there was none by the end of the run.
    pub answered: Option<TrueTime>,
    /// The answer; empty if there was none.
    pub answer: String,
    /// The answer is an error, or says that nothing was changed.
    pub refused: bool,
}

/// An exchange whose answer may still be to come.
struct Open {
    exchange: Exchange,
    asked: Asked,
}

/// A request in the store's own types.
struct Asked {
    call: CallId,
    job: JobId,
    request: StoreRequest,
}

/// An answer as text, and whether it says no.
struct Answer {
    text: String,
    refused: bool,
}

impl Answer {
    fn yes(text: impl Into<String>) -> Answer {
        Answer { text: text.into(), refused: false }
    }

    fn no(text: impl Into<String>) -> Answer {
        Answer { text: text.into(), refused: true }
    }
}

/// All exchanges of a run with its store, in the order in which the requests arrived.
pub fn exchanges(run: &Run) -> Vec<Exchange> {
    let mut simulation = Simulation::new(run.plan.clone(), run.interventions.clone(), run.seed);
    let mut messages: BTreeMap<u64, Message> = BTreeMap::new();
    let mut all: Vec<Open> = Vec::new();
    let mut events = Vec::new();
    while simulation.next_time().is_some_and(|next| next <= run.horizon) {
        events.clear();
        simulation.step(&mut events);
        for event in &events {
            match &event.kind {
                Kind::MessageReceived { from, id, .. } if event.machine == MachineId::Store => {
                    if let Some(Message::StoreRequest(call, job, request)) = messages.get(id) {
                        let asked = Asked { call: *call, job: *job, request: request.clone() };
                        all.push(asked.received(&run.plan, event.t, *from));
                    }
                }
                Kind::MessageSent { to, id, .. } if *to == MachineId::Store => {
                    let in_flight = simulation.world().in_flight();
                    if let Some(envelope) = in_flight.into_iter().find(|envelope| envelope.id == *id) {
                        messages.insert(*id, envelope.message.clone());
                    }
                }
                Kind::MessageSent { to, id, .. } if event.machine == MachineId::Store => {
                    let in_flight = simulation.world().in_flight();
                    let sent = in_flight.into_iter().find(|envelope| envelope.id == *id);
                    if let Some(Message::StoreReply(call, reply)) = sent.map(|envelope| &envelope.message) {
                        answer(&mut all, event.t, *to, *call, reply);
                    }
                }
                _ => {}
            }
        }
    }
    all.into_iter().map(|open| open.exchange).collect()
}

impl Asked {
    fn received(self, plan: &Plan, t: TrueTime, from: MachineId) -> Open {
        let what = Message::StoreRequest(self.call, self.job, self.request.clone()).to_string();
        let request = match &self.request {
            StoreRequest::Sql(request) => sql::request(plan, self.job, request),
            StoreRequest::DynamoDb(request) => dynamodb::request(plan, self.job, request),
            StoreRequest::S3(request) => s3::request(self.job, request),
            request => row::request(self.job, request),
        };
        let to = MachineId::Store;
        let exchange = Exchange { t, from, to, what, request, answered: None, answer: String::new(), refused: false };
        Open { exchange, asked: self }
    }

    fn answered(&self, reply: &StoreReply) -> Answer {
        match &self.request {
            StoreRequest::Sql(request) => sql::answer(request, reply),
            StoreRequest::DynamoDb(request) => dynamodb::answer(self.job, request, reply),
            StoreRequest::S3(_) => s3::answer(reply),
            _ => row::answer(reply),
        }
    }
}

fn answer(all: &mut [Open], t: TrueTime, to: MachineId, call: CallId, reply: &StoreReply) {
    let waits =
        |open: &&mut Open| open.exchange.from == to && open.asked.call == call && open.exchange.answered.is_none();
    let Some(open) = all.iter_mut().find(waits) else { return };
    let Answer { text, refused } = open.asked.answered(reply);
    open.exchange.answered = Some(t);
    open.exchange.answer = text;
    open.exchange.refused = refused;
}

/// What a job is called in requests.
fn job_name(job: JobId) -> String {
    match job {
        JobId::FIRST => "billing:2026-09-28".into(),
        JobId(number) => format!("billing:2026-09-28:{number}"),
    }
}

/// The number of an invoice within the job; `within_chunk` counts from 1.
fn invoice(plan: &Plan, chunk: u8, within_chunk: u32) -> u32 {
    (u32::from(chunk) - 1) * plan.invoices_per_chunk + within_chunk
}
