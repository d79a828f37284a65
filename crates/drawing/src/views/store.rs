//! The store's lane: the fence, accepted and refused writes, and what the sweeper did.

use lease_lab_sim::event::{Event, Kind, RefusedBecause};
use lease_lab_sim::machine::WorkerId;
use lease_lab_sim::message::Token;
use lease_lab_sim::time::TrueTime;

const GETS_THE_JOB: &str = "gets the job";

/// The store's lane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreLane {
    /// The fence from each of these instants on.
    pub fence: Vec<(TrueTime, Token)>,
    /// Tokens that were put into the row without being compared.
    pub not_compared: Vec<Token>,
    /// What reached the store, in order.
    pub marks: Vec<Mark>,
}

/// Something that happened to the row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// When.
    pub at: TrueTime,
    /// The height at which it is drawn: the fence right after it.
    pub fence: Token,
    /// What.
    pub what: What,
}

/// See [`Mark`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// The fence was raised.
    Raised(WorkerId),
    /// A chunk was recorded; `again`: its customers were charged before.
    Written {
        /// By whom.
        worker: WorkerId,
        /// Which.
        chunk: u8,
        /// With which token.
        token: Token,
        /// It was recorded before, and its customers are charged again.
        again: bool,
        /// How often its customers have been charged now.
        times: u32,
    },
    /// A write was refused.
    Refused {
        /// Whose.
        worker: WorkerId,
        /// What was refused: "chunk 2", "raise", "DONE".
        what: String,
        /// Its token.
        token: Token,
        /// The fence.
        fence: Token,
        /// Why.
        because: RefusedBecause,
    },
    /// Something that is not a chunk by itself: part of one, or the right to do the job.
    Part {
        /// Whose.
        worker: WorkerId,
        /// What, in words.
        what: String,
    },
    /// DONE.
    Done(WorkerId),
    /// The sweeper saw an orphan for the first time.
    OrphanSeen,
    /// The sweeper put the row back.
    Requeued,
}

impl What {
    /// Whether a part is worth a label.
    pub fn is_told(&self) -> bool {
        matches!(self, What::Part { what, .. } if what.ends_with(GETS_THE_JOB))
    }

    /// Whether it rewrites the row.
    pub fn rewrites(&self) -> bool {
        matches!(self, What::Raised(_) | What::Written { .. } | What::Done(_) | What::Requeued)
    }

    /// What was refused and why, whoever sent it.
    pub fn refused_as(&self) -> Option<(&str, Token, RefusedBecause)> {
        match self {
            What::Refused { what, token, because, .. } => Some((what, *token, *because)),
            _ => None,
        }
    }

    /// Why a write was refused, as short as a mark on a drawing must say it.
    pub fn refusal(&self) -> Option<String> {
        let What::Refused { worker, what, token, fence, because } = self else { return None };
        let why = match because {
            RefusedBecause::TokenBelowFence => format!("{token} < {fence}"),
            RefusedBecause::TokenEqualsFence => format!("{token} = {fence}"),
            RefusedBecause::JobDone => "job is DONE".into(),
            RefusedBecause::RowChanged => "row changed".into(),
            RefusedBecause::SessionEnded => "session ended".into(),
            RefusedBecause::AlreadyRecorded => "recorded before".into(),
            RefusedBecause::ETagChanged => "412".into(),
            RefusedBecause::WriteInProgress => "409".into(),
        };
        Some(format!("{worker}’s {what} refused: {why}"))
    }
}

impl Mark {
    /// The token at whose height the mark stands: a stale write hits the fence below its line.
    pub fn height(&self) -> Token {
        match &self.what {
            What::Refused { token, because: RefusedBecause::TokenBelowFence | RefusedBecause::ETagChanged, .. } => {
                *token
            }
            What::Written { token, again: true, .. } => *token,
            _ => self.fence,
        }
    }
}

impl StoreLane {
    /// The token at whose height a message that arrives or is sent at `at` meets the lane.
    pub fn height_at(&self, at: TrueTime) -> Token {
        let swept = |mark: &&Mark| matches!(mark.what, What::OrphanSeen | What::Requeued);
        let mark = self.marks.iter().find(|mark| mark.at == at && !swept(mark));
        let fence = self.fence.iter().take_while(|(since, _)| *since <= at).last();
        mark.map(Mark::height).or(fence.map(|(_, token)| *token)).unwrap_or(0)
    }
}

/// The lane.
pub fn lane(events: &[Event]) -> StoreLane {
    let mut lane = StoreLane { fence: vec![(TrueTime::ZERO, 0)], not_compared: Vec::new(), marks: Vec::new() };
    let mut fence: Token = 0;
    for event in events {
        let what = match &event.kind {
            Kind::FenceRaised { worker, token, compared, .. } => {
                if !compared {
                    lane.not_compared.push(*token);
                }
                fence = fence.max(*token);
                What::Raised(*worker)
            }
            Kind::ChunkWritten { worker, token, chunk, charged, times_charged, fence: after, .. } => {
                fence = *after;
                let again = *charged > 0 && *times_charged > 1;
                What::Written { worker: *worker, chunk: *chunk, token: *token, again, times: *times_charged }
            }
            Kind::WriteRefused { worker, token, fence, chunk, because } => What::Refused {
                worker: *worker,
                what: format!("chunk {chunk}"),
                token: *token,
                fence: *fence,
                because: *because,
            },
            Kind::RaiseRefused { worker, token, fence, because } => {
                What::Refused { worker: *worker, what: "raise".into(), token: *token, fence: *fence, because: *because }
            }
            Kind::DoneRefused { worker, token, fence, because } => {
                What::Refused { worker: *worker, what: "DONE".into(), token: *token, fence: *fence, because: *because }
            }
            Kind::JobDone { worker, token, .. } => {
                fence = fence.max(*token);
                What::Done(*worker)
            }
            Kind::InvoicesRecorded { worker, chunk, charged, .. } => What::Part {
                worker: *worker,
                what: format!("{charged} invoices of {worker}’s chunk {chunk} recorded"),
            },
            Kind::ObjectStored { worker, chunk, .. } => {
                What::Part { worker: *worker, what: format!("{worker}’s object for chunk {chunk} uploaded") }
            }
            Kind::ContestWon { worker, .. } => What::Part { worker: *worker, what: format!("{worker} {GETS_THE_JOB}") },
            Kind::WorkRefused { worker, .. } => What::Refused {
                worker: *worker,
                what: "record".into(),
                token: 0,
                fence: 0,
                because: RefusedBecause::RowChanged,
            },
            Kind::OrphanSeen { .. } => What::OrphanSeen,
            Kind::RowRequeued { .. } => What::Requeued,
            _ => continue,
        };
        if lane.fence.last().is_some_and(|(_, last)| *last != fence) {
            lane.fence.push((event.t, fence));
        }
        lane.marks.push(Mark { at: event.t, fence, what });
    }
    lane
}
