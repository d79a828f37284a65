//! A worker's lane: what it believes, what it may do, when it is frozen or dead.

use lease_lab_sim::event::{Event, Kind};
use lease_lab_sim::machine::{JobId, WorkerId};
use lease_lab_sim::message::Token;
use lease_lab_sim::time::{Mono, Span, TrueTime};
use litemap::LiteMap;

use super::Stretch;
use super::clocks::{self, ClockTrack};
use crate::LABS;

/// One worker's lane.
#[derive(Clone, Debug, Default)]
pub struct WorkerLane {
    /// The times at which it takes itself for the holder.
    pub holds: Vec<Hold>,
    /// The times at which it is frozen; `true`: with its clocks.
    pub frozen: Vec<(Stretch, bool)>,
    /// When its process died.
    pub crashes: Vec<TrueTime>,
    /// When a new process started.
    pub restarts: Vec<TrueTime>,
    /// Stop-time checks and whether they passed.
    pub checks: Vec<(TrueTime, bool)>,
    /// The times at which it waits in an election, and the key whose end it is told about.
    pub watches: Vec<(Stretch, Token)>,
}

/// From acquiring to letting go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// Whose lock it is.
    pub job: JobId,
    /// Its token.
    pub token: Token,
    /// It may act: from acquiring until its clock reaches its stop time, or until it lets go or dies.
    pub may_act: Stretch,
    /// Its last stop time.
    pub stop: Mono,
    /// The stop times that it learned, and from when on it knew each; the first when it acquired.
    pub stops: Vec<(TrueTime, Mono)>,
    /// Its clock is so wrong that its stop time is another instant of true time.
    pub by_own_clock: bool,
    /// It is past its stop time and has not noticed.
    pub believes: Option<Stretch>,
    /// It would have had the right, had it not died or let go.
    pub would_have: Option<Stretch>,
    /// How it ended, if it has.
    pub ended: Option<(TrueTime, Ended)>,
}

/// How a worker stopped taking itself for the holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It died.
    Died,
    /// It let go.
    GaveUp,
    /// It released the lock.
    Released,
}

impl WorkerLane {
    /// Whether anything of it lies in `stretch`: a hold, a pause, or a death or a new start.
    pub fn has_a_part_in(&self, stretch: Stretch) -> bool {
        let holds = self.holds.iter().flat_map(|hold| [Some(hold.believed()), hold.would_have]).flatten();
        let frozen = self.frozen.iter().map(|(frozen, _)| *frozen);
        let instants = self.crashes.iter().chain(&self.restarts);
        holds.chain(frozen).any(|part| part.common(stretch).is_some())
            || instants.into_iter().any(|at| (stretch.from..=stretch.to).contains(at))
    }
}

impl Hold {
    /// From acquiring until it died or let go.
    pub fn believed(&self) -> Stretch {
        Stretch { from: self.may_act.from, to: self.believes.map_or(self.may_act.to, |stretch| stretch.to) }
    }
}

struct Open {
    job: JobId,
    token: Token,
    from: TrueTime,
    stops: Vec<(TrueTime, Mono)>,
}

impl Open {
    fn stop(&self) -> Mono {
        // There is always the one of the acquisition.
        self.stops.last().map_or(Mono::ZERO, |(_, stop)| *stop)
    }
}

/// The lanes of all workers that the trace mentions, up to `until`.
pub fn lanes(events: &[Event], until: TrueTime) -> LiteMap<WorkerId, WorkerLane> {
    let clocks = clocks::tracks(events);
    let mut lanes: LiteMap<WorkerId, WorkerLane> = LiteMap::new();
    // A worker can hold several locks, each of another job.
    let mut open: Vec<(WorkerId, Open)> = Vec::new();
    let mut frozen: LiteMap<WorkerId, (TrueTime, bool)> = LiteMap::new();
    let mut watching: LiteMap<WorkerId, (TrueTime, Token)> = LiteMap::new();
    for event in events {
        // What the store or a node says about a worker is not the worker's own doing.
        // And of thousands of workers only the first four have lanes.
        let Some(worker) = event.machine.worker().filter(|worker| *worker <= WorkerId::D) else { continue };
        let lane = lanes.entry(worker).or_default();
        let clock = clocks.get(&event.machine).cloned().unwrap_or_default();
        let t = event.t;
        let mut close = |lane: &mut WorkerLane, ended: Ended| {
            open.retain(|(holder, open)| {
                if *holder == worker {
                    lane.holds.push(hold(open, &clock, t, Some(ended)));
                }
                *holder != worker
            });
        };
        if LABS
            && ends_a_wait(&event.kind)
            && let Some((from, token)) = watching.remove(&worker)
        {
            lane.watches.push((Stretch { from, to: t }, token));
        }
        match &event.kind {
            Kind::CandidateWaits { watches, .. } => _ = watching.insert(worker, (t, *watches)),
            Kind::LockAcquired { job, token, stop_time, .. } => {
                open.retain(|(holder, open)| *holder != worker || open.job != *job);
                open.push((worker, Open { job: *job, token: *token, from: t, stops: vec![(t, *stop_time)] }));
            }
            Kind::RenewalConfirmed { job, stop_time, .. } => {
                let of_this = |(holder, open): &&mut (WorkerId, Open)| *holder == worker && open.job == *job;
                if let Some((_, open)) = open.iter_mut().find(of_this) {
                    open.stops.push((t, *stop_time));
                }
            }
            Kind::GaveUp { .. } => close(lane, Ended::GaveUp),
            Kind::ReleaseSent { .. } => close(lane, Ended::Released),
            Kind::Paused { vm, .. } => {
                frozen.insert(worker, (t, *vm));
            }
            Kind::Resumed { .. } => {
                if let Some((from, vm)) = frozen.remove(&worker) {
                    lane.frozen.push((Stretch { from, to: t }, vm));
                }
            }
            Kind::Crashed { .. } => {
                close(lane, Ended::Died);
                if let Some((from, vm)) = frozen.remove(&worker) {
                    lane.frozen.push((Stretch { from, to: t }, vm));
                }
                lane.crashes.push(t);
            }
            Kind::Restarted { .. } => lane.restarts.push(t),
            Kind::StopTimeChecked { passed, .. } => lane.checks.push((t, *passed)),
            _ => {}
        }
    }
    for (worker, open) in open {
        let clock = clocks.get(&worker.into()).cloned().unwrap_or_default();
        lanes.entry(worker).or_default().holds.push(hold(&open, &clock, until, None));
    }
    for (worker, (from, token)) in watching {
        lanes.entry(worker).or_default().watches.push((Stretch { from, to: until }, token));
    }
    for (worker, (from, vm)) in frozen {
        lanes.entry(worker).or_default().frozen.push((Stretch { from, to: until }, vm));
    }
    lanes
}

/// Whether a candidate does not wait any longer, or waits for something else.
fn ends_a_wait(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::CandidateWaits { .. }
            | Kind::CandidateWoken { .. }
            | Kind::WatchLost { .. }
            | Kind::LockAcquired { .. }
            | Kind::LockUnreachable { .. }
            | Kind::GaveUp { .. }
            | Kind::ReleaseSent { .. }
            | Kind::Crashed { .. }
    )
}

/// The time during which a worker finds again and again that another one holds the lock that it wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Who waits.
    pub worker: WorkerId,
    /// Whose lock it wants.
    pub job: JobId,
    /// Who holds it.
    pub holder: WorkerId,
    /// From finding it taken for the first time until it has it, dies or lets go.
    pub during: Stretch,
}

/// Who waits for whom, up to `until`.
pub fn waits(events: &[Event], until: TrueTime) -> Vec<Wait> {
    let mut waits: Vec<Wait> = Vec::new();
    let mut open: Vec<Wait> = Vec::new();
    for event in events {
        match &event.kind {
            Kind::LockBusy { worker, holder, token } => {
                // The token tells which lock it was.
                let granted = events.iter().find_map(|event| match &event.kind {
                    Kind::LeaseGranted { job, token: of, .. } if of == token => Some(*job),
                    _ => None,
                });
                let job = granted.unwrap_or(JobId::FIRST);
                let known = |wait: &Wait| (wait.worker, wait.job, wait.holder) == (*worker, job, *holder);
                if !open.iter().any(known) {
                    // It waits for whoever holds it now, no longer for the one before.
                    if let Some(place) = open.iter().position(|wait| (wait.worker, wait.job) == (*worker, job)) {
                        let mut before = open.remove(place);
                        before.during.to = event.t;
                        waits.push(before);
                    }
                    let during = Stretch { from: event.t, to: until };
                    open.push(Wait { worker: *worker, job, holder: *holder, during });
                }
            }
            Kind::LockAcquired { worker, .. }
            | Kind::Crashed { worker: Some(worker) }
            | Kind::GaveUp { worker, .. }
            | Kind::WorkerDone { worker } => {
                let (ended, still): (Vec<Wait>, Vec<Wait>) = open.into_iter().partition(|wait| wait.worker == *worker);
                waits.extend(ended.into_iter().map(|mut wait| {
                    wait.during.to = event.t;
                    wait
                }));
                open = still;
            }
            _ => {}
        }
    }
    waits.extend(open);
    waits
}

/// A clock that is less wrong than this is not worth a word.
const CLOCK_ERROR_SHOWN: Span = Span::millis(50);
/// How far ahead of a death or a release the drawing looks for the stop time.
const FAR: TrueTime = TrueTime::from_millis(3_600_000);

fn hold(open: &Open, clock: &ClockTrack, to: TrueTime, ended: Option<Ended>) -> Hold {
    let stop = open.stop();
    let stops = clock.when_mono(stop, open.from, FAR).unwrap_or(FAR);
    let acted_until = stops.min(to);
    Hold {
        job: open.job,
        token: open.token,
        may_act: Stretch { from: open.from, to: acted_until },
        stop,
        stops: open.stops.clone(),
        by_own_clock: (stops - TrueTime::from_micros(stop.as_micros())).as_micros().abs()
            > CLOCK_ERROR_SHOWN.as_micros(),
        believes: (stops < to).then_some(Stretch { from: stops, to }),
        would_have: match ended {
            Some(Ended::Died) if stops > to => Some(Stretch { from: to, to: stops }),
            _ => None,
        },
        ended: ended.map(|ended| (to, ended)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lease_lab_scenarios::Run;
    use lease_lab_scenarios::run::Input;

    #[test]
    fn a_waiting_cycle_is_two_waits_without_an_end() {
        let scenario = lease_lab_scenarios::find("how-much").expect("it is a lab");
        let run = Run::new(scenario, Input::default()).expect("it makes sense");
        let waits = waits(&run.events, run.horizon);
        let told: Vec<_> = waits.iter().map(|wait| (wait.worker, wait.job.0, wait.holder)).collect();
        assert_eq!(told, [(WorkerId::A, 1, WorkerId::B), (WorkerId::B, 0, WorkerId::A)]);
        assert!(waits.iter().all(|wait| wait.during.to == run.horizon));
    }
}
