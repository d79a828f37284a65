//! Redis servers: which keys each has when, and what of that is the lock.

use lease_lab_sim::event::{Event, Kind};
use lease_lab_sim::machine::MachineId;
use lease_lab_sim::message::{LeaseId, NO_TOKEN, Token};
use lease_lab_sim::settings::{Plan, ServiceKind};
use lease_lab_sim::time::{Span, TrueTime};

use super::Stretch;
use super::lock::{Held, HeldEnded};

/// One server's lane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerLane {
    /// The keys that it had.
    pub keys: Vec<Held>,
    /// The times at which it was the primary.
    pub primary: Vec<Stretch>,
    /// When its wall clock was stepped, and by how much.
    pub steps: Vec<(TrueTime, Span)>,
}

impl ServerLane {
    fn open(&mut self, lease: LeaseId, from: TrueTime, until: TrueTime) {
        let during = Stretch { from, to: until };
        self.keys.push(Held {
            job: lease_lab_sim::machine::JobId::FIRST,
            lease,
            worker: lease.worker,
            token: NO_TOKEN,
            during,
            ended: None,
            lease_until: None,
        });
    }

    fn close(&mut self, at: TrueTime, ended: HeldEnded, which: impl Fn(LeaseId) -> bool) {
        for key in self.keys.iter_mut().filter(|key| key.ended.is_none() && which(key.lease)) {
            key.during.to = at;
            key.ended = Some(ended);
        }
    }

    fn has(&self, lease: LeaseId) -> bool {
        self.keys.iter().any(|key| key.lease == lease && key.ended.is_none())
    }
}

/// The lane of `server`, up to `until`.
pub fn server(events: &[Event], server: MachineId, until: TrueTime) -> ServerLane {
    let mut lane = ServerLane::default();
    let mut is_primary = server == MachineId::Primary;
    let mut leads_since = is_primary.then_some(TrueTime::ZERO);
    for event in events.iter().filter(|event| event.machine == server) {
        let t = event.t;
        let mut led_until = None;
        match &event.kind {
            Kind::KeySet { lease, .. } | Kind::LeaseGranted { lease, .. } => lane.open(*lease, t, until),
            Kind::KeyExpired { lease, .. } | Kind::LeaseExpired { lease, .. } => {
                lane.close(t, HeldEnded::Expired, |open| open == *lease);
            }
            Kind::KeyDeleted { lease, .. } | Kind::LockReleased { lease, .. } => {
                lane.close(t, HeldEnded::Released, |open| open == *lease);
            }
            Kind::DataLoaded { leases, .. } | Kind::FullyCopied { leases, .. } => {
                lane.close(t, HeldEnded::Lost, |open| !leases.contains(&open));
                for lease in leases {
                    if !lane.has(*lease) {
                        lane.open(*lease, t, until);
                    }
                }
            }
            Kind::Crashed { .. } => {
                lane.close(t, HeldEnded::Lost, |_| true);
                led_until = Some(t);
            }
            Kind::Restarted { .. } if is_primary => leads_since = Some(t),
            Kind::Promoted { .. } => {
                is_primary = true;
                leads_since = Some(t);
            }
            Kind::Demoted { .. } => {
                is_primary = false;
                led_until = Some(t);
            }
            Kind::WallStepped { by, .. } => lane.steps.push((t, *by)),
            _ => {}
        }
        if let (Some(from), Some(to)) = (leads_since, led_until) {
            lane.primary.push(Stretch { from, to });
            leads_since = None;
        }
    }
    if let Some(from) = leads_since {
        lane.primary.push(Stretch { from, to: until });
    }
    lane
}

/// The times during which somebody had the lock, up to `until`; nothing if `plan` has no Redis servers.
///
/// With a primary and a replica that is a key on the server that is the primary: the one that was promoted last.
/// With Redlock it is a key on a majority of the masters.
pub fn locks(plan: &Plan, events: &[Event], until: TrueTime) -> Option<Vec<Held>> {
    let mut keys = match plan.service {
        _ if !cfg!(feature = "labs") => return None,
        ServiceKind::Redis => on_the_primary(events, until),
        ServiceKind::Redlock => on_a_majority(plan, events, until),
        _ => return None,
    };
    let mut tokens: Vec<(LeaseId, Token)> = Vec::new();
    for event in events {
        match &event.kind {
            Kind::LeaseGranted { lease, token, .. } | Kind::TokenIssued { lease, token, .. } => {
                tokens.push((*lease, *token));
            }
            _ => {}
        }
    }
    for key in &mut keys {
        let known = tokens.iter().find(|(lease, _)| *lease == key.lease);
        key.token = known.map_or(NO_TOKEN, |(_, token)| *token);
    }
    keys.sort_by_key(|key| key.during.from);
    Some(keys)
}

fn on_the_primary(events: &[Event], until: TrueTime) -> Vec<Held> {
    let mut promotions = events.iter().filter(|event| matches!(event.kind, Kind::Promoted { .. })).peekable();
    let mut keys = Vec::new();
    let (mut machine, mut from) = (MachineId::Primary, TrueTime::ZERO);
    loop {
        let next = promotions.next();
        let reign = Stretch { from, to: next.map_or(until, |event| event.t) };
        for key in server(events, machine, until).keys {
            let Some(during) = key.during.common(reign) else { continue };
            let ended = if during.to < key.during.to { Some(HeldEnded::Lost) } else { key.ended };
            keys.push(Held { during, ended, ..key });
        }
        match next {
            Some(event) => (machine, from) = (event.machine, event.t),
            None => return keys,
        }
    }
}

fn on_a_majority(plan: &Plan, events: &[Event], until: TrueTime) -> Vec<Held> {
    let mut changes: Vec<(TrueTime, LeaseId, Option<HeldEnded>)> = Vec::new();
    for machine in plan.redis_servers() {
        for key in server(events, machine, until).keys {
            changes.push((key.during.from, key.lease, None));
            if let Some(ended) = key.ended {
                changes.push((key.during.to, key.lease, Some(ended)));
            }
        }
    }
    changes.sort_by_key(|(at, ..)| *at);
    let mut counts: Vec<(LeaseId, usize)> = Vec::new();
    let mut lane = ServerLane::default();
    for (at, lease, ended) in changes {
        let place = counts.iter().position(|(known, _)| *known == lease).unwrap_or_else(|| {
            counts.push((lease, 0));
            counts.len() - 1
        });
        let count = &mut counts[place].1;
        let had = *count >= plan.redlock.majority();
        *count = if ended.is_none() { *count + 1 } else { count.saturating_sub(1) };
        let has = *count >= plan.redlock.majority();
        match (had, has, ended) {
            (false, true, _) => lane.open(lease, at, until),
            (true, false, Some(ended)) => lane.close(at, ended, |open| open == lease),
            _ => {}
        }
    }
    lane.keys
}
