//! The lock service's lanes: who truly holds the key, and which node leads.

use lease_lab_sim::event::{Event, Kind};
use lease_lab_sim::machine::{JobId, MachineId, WorkerId};
use lease_lab_sim::message::{LeaseId, Token};
use lease_lab_sim::settings::{Plan, Renewer};
use lease_lab_sim::time::{Deadline, TrueTime, Wall};
use litemap::LiteMap;

use super::{Stretch, redis};
use crate::LABS;

/// The time during which a key existed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Whose lock it is.
    pub job: JobId,
    /// The lease that it was bound to.
    pub lease: LeaseId,
    /// Who held it.
    pub worker: WorkerId,
    /// With which token.
    pub token: Token,
    /// When.
    pub during: Stretch,
    /// How it ended, if it has.
    pub ended: Option<HeldEnded>,
    /// What a lease item says of its end, on the wall clock of whoever wrote it.
    pub lease_until: Option<Wall>,
}

/// How a key ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldEnded {
    /// Its lease expired.
    Expired,
    /// Its holder released it.
    Released,
    /// Another claimant overwrote it: on a table, nobody expires a lease.
    Replaced,
    /// Its item was deleted, or everything was restored from an earlier time.
    Erased,
    /// The server that had it forgot it, died, or was replaced.
    Lost,
}

/// The keys, in order of time, up to `until`.
pub fn keys(plan: &Plan, events: &[Event], until: TrueTime) -> Vec<Held> {
    if LABS && let Some(keys) = redis::locks(plan, events, until) {
        return keys;
    }
    let mut keys: Vec<Held> = Vec::new();
    // The revision at which each of them was deleted.
    let mut deleted: Vec<u64> = Vec::new();
    for event in events {
        let ended = match &event.kind {
            Kind::LeaseGranted { job, worker, token, lease, deadline, .. } => {
                let lease_until = lease_until(event, *deadline);
                keys.push(Held { job: *job, ..held(*lease, *worker, *token, event.t, until, lease_until) });
                deleted.push(0);
                continue;
            }
            Kind::HistoryRestored { revision, .. } if LABS => {
                restore(&mut keys, &mut deleted, *revision, event.t, until);
                continue;
            }
            Kind::LeaseRenewed { lease, deadline, .. } => {
                if let Some(key) = keys.iter_mut().rev().find(|key| key.lease == *lease && key.ended.is_none()) {
                    key.lease_until = lease_until(event, *deadline);
                }
                continue;
            }
            Kind::LeaseExpired { lease, revision, .. } => (Some(*lease), HeldEnded::Expired, *revision),
            Kind::LockReleased { lease, revision, .. } => (Some(*lease), HeldEnded::Released, *revision),
            Kind::ClaimReplaced { lease, .. } => (Some(*lease), HeldEnded::Replaced, 0),
            Kind::ItemDeleted { lease, .. } | Kind::ItemRestored { replaced: lease, .. } => {
                (*lease, HeldEnded::Erased, 0)
            }
            _ => continue,
        };
        if let Some(place) = keys.iter().rposition(|key| Some(key.lease) == ended.0 && key.ended.is_none()) {
            keys[place].during.to = event.t;
            keys[place].ended = Some(ended.1);
            deleted[place] = ended.2;
        }
        // What a restore brings back is in the item again.
        if let Kind::ItemRestored { lease: Some(lease), epoch, .. } = &event.kind {
            keys.push(held(*lease, lease.worker, *epoch, event.t, until, None));
            deleted.push(0);
        }
    }
    keys
}

/// A lock service goes back to `revision` at `at`: keys created later never were, keys deleted later are there again.
fn restore(keys: &mut Vec<Held>, deleted: &mut Vec<u64>, revision: u64, at: TrueTime, until: TrueTime) {
    let mut again = Vec::new();
    for (key, deleted) in keys.iter_mut().zip(deleted.iter()) {
        match key.ended {
            None if key.token > revision => {
                key.during.to = at;
                key.ended = Some(HeldEnded::Erased);
            }
            Some(_) if key.token <= revision && *deleted > revision => {
                again.push(Held { job: key.job, ..held(key.lease, key.worker, key.token, at, until, None) });
            }
            _ => {}
        }
    }
    deleted.resize(deleted.len() + again.len(), 0);
    keys.append(&mut again);
}

fn held(
    lease: LeaseId,
    worker: WorkerId,
    token: Token,
    from: TrueTime,
    to: TrueTime,
    lease_until: Option<Wall>,
) -> Held {
    Held { job: JobId::FIRST, lease, worker, token, during: Stretch { from, to }, ended: None, lease_until }
}

/// What a lease item says; other services let a lease expire, and the trace tells when.
fn lease_until(event: &Event, deadline: Deadline) -> Option<Wall> {
    match deadline {
        Deadline::Wall(wall) if LABS && event.machine == MachineId::Table => Some(wall),
        _ => None,
    }
}

/// The lane of one of the lock service's machines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeLane {
    /// The times at which it led, and in which term.
    pub led: Vec<(Stretch, u32)>,
    /// The times at which it was up.
    pub up: Vec<Stretch>,
    /// The times at which it was frozen.
    pub frozen: Vec<Stretch>,
    /// When it crashed.
    pub crashes: Vec<TrueTime>,
    /// When it dropped entries that never had a majority.
    pub discards: Vec<TrueTime>,
}

/// The lanes of `machines`, up to `until`.
pub fn machines(
    events: &[Event],
    machines: impl IntoIterator<Item = MachineId>,
    until: TrueTime,
) -> LiteMap<MachineId, NodeLane> {
    let mut lanes = LiteMap::new();
    for machine in machines {
        lanes.insert(machine, machine_lane(events, machine, until));
    }
    lanes
}

/// The lanes of the sidecars, with the times at which each sends a renewal, up to `until`.
pub fn sidecars(plan: &Plan, events: &[Event], until: TrueTime) -> Vec<(WorkerId, NodeLane, Vec<TrueTime>)> {
    if plan.lock_rules.renewer != Renewer::Sidecar {
        return Vec::new();
    }
    let lane = |worker: WorkerId| {
        let sidecar = MachineId::Sidecar(worker);
        let renews = |event: &&Event| {
            event.machine == sidecar && matches!(event.kind, Kind::MessageSent { to, .. } if to.is_lock_service())
        };
        let renewals = events.iter().filter(renews).map(|event| event.t).collect();
        (worker, machine_lane(events, sidecar, until), renewals)
    };
    WorkerId::ALL.into_iter().map(lane).collect()
}

fn machine_lane(events: &[Event], machine: MachineId, until: TrueTime) -> NodeLane {
    let mut lane = NodeLane::default();
    let mut up_since = Some(TrueTime::ZERO);
    let mut leads: Option<(TrueTime, u32)> = None;
    let mut frozen: Option<TrueTime> = None;
    for event in events.iter().filter(|event| event.machine == machine || event.machine == MachineId::Operator) {
        let t = event.t;
        match &event.kind {
            // Who leads goes on in the new history, in its term.
            Kind::HistoryRestored { term, .. } if LABS => {
                if let Some((from, before)) = leads.take() {
                    lane.led.push((Stretch { from, to: t }, before));
                    leads = frozen.is_none().then_some((t, *term));
                }
            }
            // The leader of the start was elected before the trace begins: it shows by its heartbeats.
            Kind::Heartbeat { term } if leads.is_none() => leads = Some((t, *term)),
            Kind::LeaderElected { term, .. } => leads = Some((t, *term)),
            Kind::SteppedDown { .. } => {
                if let Some((from, term)) = leads.take() {
                    lane.led.push((Stretch { from, to: t }, term));
                }
            }
            Kind::Crashed { .. } => {
                if let Some((from, term)) = leads.take() {
                    lane.led.push((Stretch { from, to: t }, term));
                }
                if let Some(from) = up_since.take() {
                    lane.up.push(Stretch { from, to: t });
                }
                if let Some(from) = frozen.take() {
                    lane.frozen.push(Stretch { from, to: t });
                }
                lane.crashes.push(t);
            }
            Kind::Restarted { .. } => up_since = Some(t),
            Kind::Paused { .. } => frozen = Some(t),
            Kind::Resumed { .. } => {
                if let Some(from) = frozen.take() {
                    lane.frozen.push(Stretch { from, to: t });
                }
            }
            Kind::EntriesDiscarded { .. } => lane.discards.push(t),
            _ => {}
        }
    }
    if let Some((from, term)) = leads {
        lane.led.push((Stretch { from, to: until }, term));
    }
    if let Some(from) = up_since {
        lane.up.push(Stretch { from, to: until });
    }
    if let Some(from) = frozen {
        lane.frozen.push(Stretch { from, to: until });
    }
    lane
}
