//! The side that decides: one job, and who may do it.

use litemap::LiteMap;

use super::{Reply, Request, Right, Way};
use crate::actor::{Actions, Context, Input};
use crate::event::Kind;
use crate::labs_only::labs_only;
use crate::machine::{JobId, WorkerId};
use crate::message::{Message, NO_TOKEN, StoreReply, StoreRequest};
use crate::settings::Plan;
use crate::store::{Row, RowState};
use crate::time::Mono;

/// The database, or the broker.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Judge {
    way: Way,
    row: Row,
    version: u32,
    /// Who has the job: the owner of the claim, of the row's version, of the row lock, or of the partition.
    winner: Option<WorkerId>,
    /// The members of the group, and when each reported last.
    members: LiteMap<WorkerId, Mono>,
    generation: u32,
}

impl Judge {
    /// A job that waits.
    pub fn new(plan: &Plan) -> Judge {
        Judge {
            way: plan.contest.as_ref().map_or_else(Way::default, |contest| contest.way),
            row: Row::default(),
            version: 1,
            winner: None,
            members: LiteMap::new(),
            generation: 0,
        }
    }

    /// The job, for snapshots and observers.
    pub fn row(&self) -> &Row {
        &self.row
    }

    /// Who has the job, as the judge sees it.
    pub fn winner(&self) -> Option<WorkerId> {
        self.winner
    }

    /// Sessions do not survive the process; what was committed does.
    pub fn crash(&mut self) {
        self.members = LiteMap::new();
        if self.way == Way::SkipLocked {
            self.winner = None;
        }
    }

    /// Takes one input.
    pub fn handle(&mut self, context: Context<'_>, input: Input, actions: &mut Actions) {
        let Input::Message { from, message } = input else { return };
        let Some(worker) = from.worker() else { return };
        match message {
            Message::StoreRequest(call, _, StoreRequest::Contest(request, ..)) => {
                let reply = self.serve(context, worker, request, actions);
                actions.send(from, Message::StoreReply(call, StoreReply::Contest(reply, labs_only())));
            }
            Message::ConnectionClosed if self.way == Way::SkipLocked && self.winner == Some(worker) => {
                self.winner = None;
                actions.record(Kind::SessionEnded { worker, labs: labs_only() });
            }
            _ => {}
        }
    }

    fn serve(&mut self, context: Context<'_>, worker: WorkerId, request: Request, actions: &mut Actions) -> Reply {
        if request == Request::Report {
            self.reported(context, worker);
        }
        if let Request::Record(right) = request {
            return self.record(context, worker, right, actions);
        }
        if self.row.state == RowState::Done {
            return Reply::NothingToDo;
        }
        let reply = match request {
            Request::SelectVersion if self.row.state == RowState::Queued => return Reply::Version(self.version),
            Request::SelectVersion => Reply::Lost(self.winner),
            Request::TakeVersion(seen) if seen != self.version => Reply::Lost(None),
            Request::TakeVersion(_) => {
                self.version += 1;
                self.takes(worker, Right::Version(self.version))
            }
            Request::InsertClaim | Request::SelectSkipLocked if self.winner.is_some() => Reply::Lost(None),
            Request::InsertClaim => self.takes(worker, Right::Key),
            Request::SelectSkipLocked => self.takes(worker, Right::Session),
            Request::Report if self.winner == Some(worker) => return Reply::Won(Right::Generation(self.generation)),
            Request::Report if self.winner.is_some() => Reply::Lost(None),
            Request::Report => {
                self.generation += 1;
                self.takes(worker, Right::Generation(self.generation))
            }
            Request::Record(_) => Reply::Refused,
        };
        actions.record(match reply {
            Reply::Won(_) => Kind::ContestWon { worker, labs: labs_only() },
            _ => Kind::ContestLost { worker, labs: labs_only() },
        });
        reply
    }

    fn takes(&mut self, worker: WorkerId, right: Right) -> Reply {
        self.winner = Some(worker);
        // A row that is only locked says nothing: what is not committed, nobody sees.
        if self.way != Way::SkipLocked {
            self.row.state = RowState::Running;
        }
        Reply::Won(right)
    }

    /// Members that have not reported for too long are taken for dead, and the partition is free again.
    fn reported(&mut self, context: Context<'_>, worker: WorkerId) {
        let now = context.mono();
        let timeout = context.plan.contest.as_ref().map(|contest| contest.session_timeout);
        self.members.retain(|_, last| timeout.is_none_or(|timeout| now - *last < timeout));
        self.members.insert(worker, now);
        if self.winner.is_some_and(|winner| !self.members.contains_key(&winner)) {
            self.winner = None;
        }
    }

    /// The condition under which work is recorded is evaluated in the same step.
    fn record(&mut self, context: Context<'_>, worker: WorkerId, right: Right, actions: &mut Actions) -> Reply {
        let holds = match right {
            Right::Key | Right::Session => self.winner == Some(worker),
            Right::Version(version) => self.version == version,
            Right::Generation(generation) => self.generation == generation && self.winner == Some(worker),
        };
        if !holds || self.row.state == RowState::Done {
            actions.record(Kind::WorkRefused { worker, labs: labs_only() });
            return Reply::Refused;
        }
        self.version += 1;
        self.row.state = RowState::Done;
        self.row.chunks.entry(1).or_default().push(NO_TOKEN);
        let charged = context.plan.invoices_per_chunk;
        let (job, token) = (JobId::FIRST, NO_TOKEN);
        actions.record(Kind::ChunkWritten { job, worker, token, fence: 0, chunk: 1, charged, times_charged: 1 });
        actions.record(Kind::JobDone { job, worker, token, chunks_recorded: self.row.chunks_recorded() });
        Reply::Recorded
    }
}
