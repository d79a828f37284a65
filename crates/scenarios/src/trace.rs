//! Questions that several labs ask of a trace.

use lease_lab_sim::event::{Event, Kind};
use lease_lab_sim::machine::WorkerId;
use lease_lab_sim::message::Token;
use lease_lab_sim::time::{Deadline, Mono, Span, TrueTime};

use crate::Run;
use crate::clocks::{self, ClockTrack};

/// The first event that fits.
pub fn first(run: &Run, fits: impl Fn(&Kind) -> bool) -> Option<&Event> {
    run.events.iter().find(|event| fits(&event.kind))
}

/// The last event that fits.
pub fn last(run: &Run, fits: impl Fn(&Kind) -> bool) -> Option<&Event> {
    run.events.iter().rfind(|event| fits(&event.kind))
}

/// When `worker`’s lease expired first.
pub fn expired_at(run: &Run, worker: WorkerId) -> Option<TrueTime> {
    first(run, |kind| matches!(kind, Kind::LeaseExpired { worker: who, .. } if *who == worker)).map(|event| event.t)
}

/// The last deadline that the lock service gave to `worker`.
pub fn last_deadline(run: &Run, worker: WorkerId) -> Option<Deadline> {
    run.events.iter().rev().find_map(|event| match &event.kind {
        Kind::LeaseGranted { worker: who, deadline, .. } | Kind::LeaseRenewed { worker: who, deadline, .. }
            if *who == worker =>
        {
            Some(*deadline)
        }
        _ => None,
    })
}

/// The stop time that `worker` learned last, and when it got the lock that it belongs to.
pub fn last_stop(run: &Run, worker: WorkerId) -> Option<(TrueTime, Mono)> {
    let mut acquired = None;
    let mut stop = None;
    for event in &run.events {
        match &event.kind {
            Kind::LockAcquired { worker: who, stop_time, .. } if *who == worker => {
                acquired = Some(event.t);
                stop = Some(*stop_time);
            }
            Kind::RenewalConfirmed { worker: who, stop_time, .. } if *who == worker => stop = Some(*stop_time),
            _ => {}
        }
    }
    acquired.zip(stop)
}

/// How the clocks of `worker` ran.
pub fn clocks_of(run: &Run, worker: WorkerId) -> ClockTrack {
    clocks::tracks(&run.events).remove(&worker.into()).unwrap_or_default()
}

/// A chunk write at the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// When it arrived.
    pub t: TrueTime,
    /// Who sent it.
    pub worker: WorkerId,
    /// With which token.
    pub token: Token,
    /// Which chunk.
    pub chunk: u8,
    /// The fence after it.
    pub fence: Token,
    /// Whether the store accepted it.
    pub accepted: bool,
}

/// The chunk writes that reached the store, in order.
pub fn writes(run: &Run) -> impl DoubleEndedIterator<Item = Write> + '_ {
    run.events.iter().filter_map(|event| {
        let t = event.t;
        match event.kind {
            Kind::ChunkWritten { worker, token, chunk, fence, .. } => {
                Some(Write { t, worker, token, chunk, fence, accepted: true })
            }
            Kind::WriteRefused { worker, token, chunk, fence, .. } => {
                Some(Write { t, worker, token, chunk, fence, accepted: false })
            }
            _ => None,
        }
    })
}

/// The first write of `worker` that reached the store after its lease had expired.
pub fn late_write(run: &Run, worker: WorkerId) -> Option<Write> {
    let expired = expired_at(run, worker)?;
    writes(run).find(|write| write.worker == worker && write.t > expired)
}

/// Invoices that were charged more than once.
pub fn charged_twice(run: &Run) -> u64 {
    let mut invoices = 0;
    for event in &run.events {
        if let Kind::ChunkWritten { charged, times_charged: 2, .. } = event.kind {
            invoices += u64::from(charged);
        }
    }
    invoices
}

/// When `worker` let go, finished or died.
pub fn let_go_at(run: &Run, worker: WorkerId) -> Option<TrueTime> {
    let let_go = run.events.iter().find(|event| {
        event.machine == worker.into()
            && matches!(event.kind, Kind::GaveUp { .. } | Kind::WorkerDone { .. } | Kind::Crashed { .. })
    });
    let_go.map(|event| event.t)
}

/// A time in the trace as a length from its beginning, for measures.
pub fn since_start(t: TrueTime) -> Span {
    t - TrueTime::ZERO
}

/// When `worker` was first granted the lock.
pub fn granted_at(run: &Run, worker: WorkerId) -> Option<TrueTime> {
    first(run, |kind| matches!(kind, Kind::LeaseGranted { worker: who, .. } if *who == worker)).map(|event| event.t)
}

/// When the right to act that `worker` had last is over: the true time of its stop time by its own clock.
pub fn right_ends_at(run: &Run, worker: WorkerId) -> Option<TrueTime> {
    let (acquired, stop) = last_stop(run, worker)?;
    clocks_of(run, worker).when_mono(stop, acquired, TrueTime::from_millis(3_600_000))
}

/// The last time before `until` at which the lock service applied a grant or a renewal of `worker`.
pub fn last_applied(run: &Run, worker: WorkerId, until: TrueTime) -> Option<&Event> {
    let of_worker = |kind: &Kind| matches!(kind, Kind::LeaseGranted { worker: who, .. } | Kind::LeaseRenewed { worker: who, .. } if *who == worker);
    run.events.iter().rfind(|event| event.t < until && of_worker(&event.kind))
}

/// Every token that was granted, in order.
pub fn tokens(run: &Run) -> Vec<Token> {
    let granted = run.events.iter().filter_map(|event| match event.kind {
        Kind::LeaseGranted { token, .. } => Some(token),
        _ => None,
    });
    granted.collect()
}

/// When `worker` could act under its first lock: from learning that it had it until it let go, died, or its own clock
/// reached its stop time.
pub fn may_act(run: &Run, worker: WorkerId) -> Option<(TrueTime, TrueTime)> {
    let from = acquired(run, worker)?.t;
    let mut stop = Mono::ZERO;
    for event in &run.events {
        match event.kind {
            Kind::LockAcquired { worker: who, stop_time, .. }
            | Kind::RenewalConfirmed { worker: who, stop_time, .. }
                if who == worker =>
            {
                stop = stop_time;
            }
            Kind::GaveUp { worker: who, .. } | Kind::ReleaseSent { worker: who, .. } if who == worker => {
                return Some((from, event.t.min(stops_at(run, worker, stop, from))));
            }
            Kind::Crashed { worker: Some(who) } if who == worker => {
                return Some((from, event.t.min(stops_at(run, worker, stop, from))));
            }
            _ => {}
        }
    }
    Some((from, stops_at(run, worker, stop, from)))
}

fn stops_at(run: &Run, worker: WorkerId, stop: Mono, from: TrueTime) -> TrueTime {
    clocks_of(run, worker).when_mono(stop, from, run.horizon).unwrap_or(run.horizon)
}

/// When both workers could act, if they could at once.
pub fn both_act(run: &Run, one: WorkerId, other: WorkerId) -> Option<(TrueTime, TrueTime)> {
    let (one, other) = (may_act(run, one)?, may_act(run, other)?);
    let (from, to) = (one.0.max(other.0), one.1.min(other.1));
    (from < to).then_some((from, to))
}

/// The event with which `worker` learned for the first time that it had the lock.
pub fn acquired(run: &Run, worker: WorkerId) -> Option<&Event> {
    first(run, |kind| matches!(kind, Kind::LockAcquired { worker: who, .. } if *who == worker))
}

/// The token that `worker` got with its first lock.
pub fn token_of(run: &Run, worker: WorkerId) -> Option<Token> {
    match acquired(run, worker)?.kind {
        Kind::LockAcquired { token, .. } => Some(token),
        _ => None,
    }
}
