//! The requests that the store was sent in a run, and what it answered, in the form in which they travel: JSON, SQL,
//! HTTP.
//!
//! Every text is printed from the very value that the store evaluated.
//! The trace holds only a label of each message, so the run is simulated once more, and the messages are looked at on
//! their way.
//!
//! Where things are: one file for each kind of store.

mod contest;
mod dynamodb;
mod partner;
mod row;
mod s3;
mod session;
mod sql;
mod table;

use std::collections::BTreeMap;

use lease_lab_sim::event::Kind;
use lease_lab_sim::labs_only::labs_only;
use lease_lab_sim::machine::{JobId, MachineId};
use lease_lab_sim::message::{CallId, Message, PartnerCall, StoreRequest};
use lease_lab_sim::settings::{ClaimRule, Plan};
use lease_lab_sim::simulation::Simulation;
use lease_lab_sim::store::sessions::SessionRequest;
use lease_lab_sim::table::TableRequest;
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

/// A request in its receiver's own types.
enum Asked {
    Store(CallId, JobId, StoreRequest),
    Partner(PartnerCall),
    Table(CallId, JobId, TableRequest, ClaimRule),
    Session(CallId, JobId, SessionRequest),
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

/// All exchanges of a run with its store, with the table of leases and with the partner outside if there are such, in
/// the order in which the requests arrived.
pub fn exchanges(run: &Run) -> Vec<Exchange> {
    let mut simulation = Simulation::new(run.plan.clone(), run.interventions.clone(), run.seed);
    let mut requests: BTreeMap<u64, Message> = BTreeMap::new();
    let mut all: Vec<Open> = Vec::new();
    let mut events = Vec::new();
    while simulation.next_time().is_some_and(|next| next <= run.horizon) {
        events.clear();
        simulation.step(&mut events);
        for event in &events {
            match event.kind {
                Kind::MessageReceived { from, id, .. } if is_asked(event.machine) => {
                    if let Some(asked) = requests.get(&id).and_then(|message| Asked::of(&run.plan, message)) {
                        all.push(asked.received(&run.plan, event.t, from, event.machine));
                    }
                }
                Kind::MessageSent { to, id, .. } if is_asked(to) => {
                    if let Some(message) = on_its_way(&simulation, id) {
                        requests.insert(id, message);
                    }
                }
                Kind::MessageSent { to, id, .. } if is_asked(event.machine) => {
                    if let Some(message) = on_its_way(&simulation, id) {
                        answered(&mut all, event.t, to, &message);
                    }
                }
                _ => {}
            }
        }
    }
    all.into_iter().map(|open| open.exchange).collect()
}

fn is_asked(machine: MachineId) -> bool {
    matches!(machine, MachineId::Store | MachineId::Partner | MachineId::Table)
}

/// A message that was sent in the last step; one that was lost at once is nowhere any more.
fn on_its_way(simulation: &Simulation, id: u64) -> Option<Message> {
    let in_flight = simulation.world().in_flight();
    in_flight.into_iter().find(|envelope| envelope.id == id).map(|envelope| envelope.message.clone())
}

fn answered(all: &mut [Open], t: TrueTime, to: MachineId, message: &Message) {
    for open in all.iter_mut().filter(|open| open.exchange.from == to && open.exchange.answered.is_none()) {
        if let Some(Answer { text, refused }) = open.asked.answered(message) {
            open.exchange.answered = Some(t);
            open.exchange.answer = text;
            open.exchange.refused = refused;
            return;
        }
    }
}

impl Asked {
    fn of(plan: &Plan, message: &Message) -> Option<Asked> {
        match message {
            Message::TableRequest(call, job, request, ..) => {
                Some(Asked::Table(*call, *job, request.clone(), plan.lease_items.rule))
            }
            Message::StoreRequest(call, job, request) => Some(Asked::Store(*call, *job, request.clone())),
            Message::SessionRequest(call, job, request, ..) => Some(Asked::Session(*call, *job, request.clone())),
            Message::PartnerCall(call, ..) => Some(Asked::Partner(*call)),
            _ => None,
        }
    }

    fn received(self, plan: &Plan, t: TrueTime, from: MachineId, to: MachineId) -> Open {
        let (what, request) = match &self {
            Asked::Partner(call) => (Message::PartnerCall(*call, labs_only()).to_string(), partner::request(*call)),
            Asked::Session(call, job, request) => {
                let what = Message::SessionRequest(*call, *job, request.clone(), labs_only()).to_string();
                (what, session::request(*job, request))
            }
            Asked::Table(call, job, request, rule) => {
                let what = Message::TableRequest(*call, *job, request.clone(), labs_only()).to_string();
                (what, table::request(*rule, *job, request))
            }
            Asked::Store(call, job, request) => {
                let what = Message::StoreRequest(*call, *job, request.clone()).to_string();
                let text = match request {
                    StoreRequest::Sql(request, ..) => sql::request(plan, *job, request),
                    StoreRequest::DynamoDb(request, ..) => dynamodb::request(plan, *job, request),
                    StoreRequest::S3(request, ..) => s3::request(*job, request),
                    StoreRequest::Contest(request, ..) => contest::request(*job, from, *request),
                    request => row::request(*job, request),
                };
                (what, text)
            }
        };
        let exchange = Exchange { t, from, to, what, request, answered: None, answer: String::new(), refused: false };
        Open { exchange, asked: self }
    }

    /// What `message` says, if it is the answer.
    fn answered(&self, message: &Message) -> Option<Answer> {
        match (self, message) {
            (Asked::Store(asked, job, request), Message::StoreReply(call, reply)) if asked == call => {
                Some(match request {
                    StoreRequest::Sql(request, ..) => sql::answer(request, reply),
                    StoreRequest::DynamoDb(request, ..) => dynamodb::answer(*job, request, reply),
                    StoreRequest::S3(..) => s3::answer(reply),
                    StoreRequest::Contest(request, ..) => contest::answer(*request, reply),
                    _ => row::answer(reply),
                })
            }
            (Asked::Session(asked, _, request), Message::SessionReply(call, reply, ..)) if asked == call => {
                Some(session::answer(request, reply))
            }
            (Asked::Table(asked, _, _, rule), Message::TableReply(call, reply, ..)) if asked == call => {
                Some(table::answer(*rule, reply))
            }
            (Asked::Partner(call), Message::PartnerReply(reply, ..))
                if (call.job, call.chunk) == (reply.job, reply.chunk) =>
            {
                Some(partner::answer(*reply))
            }
            _ => None,
        }
    }
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
