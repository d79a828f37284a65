//! A request's way down through the layers and back: every hop with its times, out of the trace.

use lease_lab_sim::event::{Event, Kind};
use lease_lab_sim::machine::{MachineId, WorkerId};
use lease_lab_sim::time::TrueTime;

use super::Stretch;

/// One request of a worker, from the first message to the answer that it waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// What it is.
    pub name: &'static str,
    /// From the first message to the last answer.
    pub during: Stretch,
    /// Its hops, in order of their beginning.
    pub hops: Vec<Hop>,
}

/// One step on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hop {
    /// Which layer.
    pub layer: Layer,
    /// Where it ends, or happens.
    pub machine: MachineId,
    /// From when to when; an instant if both are the same.
    pub during: Stretch,
    /// What goes on, in a few words.
    pub what: String,
    /// The answer has been sent before it is over: nobody waited for it.
    pub not_waited_for: bool,
}

/// A layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// A message on the wire.
    Network,
    /// An entry on its way to a disk.
    Disk,
    /// A majority has it.
    Commit,
    /// The state changes.
    Apply,
    /// The store takes the write.
    Store,
    /// The client library has its answer.
    Client,
}

impl Layer {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Layer::Network => "network",
            Layer::Disk => "disk",
            Layer::Commit => "commit",
            Layer::Apply => "apply",
            Layer::Store => "store",
            Layer::Client => "client",
        }
    }
}

/// The first acquisition, the first keep-alive and the first fenced write of `worker`, as far as they are in the trace.
pub fn requests(events: &[Event], worker: WorkerId) -> Vec<Request> {
    let me = MachineId::Worker(worker);
    let sent = |matches: &dyn Fn(MachineId, &str) -> bool| {
        events.iter().find(|event| {
            event.machine == me && matches!(&event.kind, Kind::MessageSent { to, what, .. } if matches(*to, what))
        })
    };
    let after = |from: TrueTime, wanted: &dyn Fn(&Kind) -> bool| {
        events.iter().find(|event| event.machine == me && event.t >= from && wanted(&event.kind)).map(|event| event.t)
    };
    let mut requests = Vec::new();
    let mut add = |name, from: Option<TrueTime>, to: Option<TrueTime>, store: bool| {
        if let (Some(from), Some(to)) = (from, to) {
            let during = Stretch { from, to };
            requests.push(Request { name, during, hops: hops(events, me, during, store) });
        }
    };
    let asked = sent(&|to, _| to.is_lock_service()).map(|event| event.t);
    let acquired = asked.and_then(|from| after(from, &|kind| matches!(kind, Kind::LockAcquired { .. })));
    add("Acquire", asked, acquired, false);
    let kept = sent(&|_, what| what == "keep alive").map(|event| event.t);
    let confirmed = kept.and_then(|from| after(from, &|kind| matches!(kind, Kind::RenewalConfirmed { .. })));
    add("Keep alive", kept, confirmed, false);
    let wrote = sent(&|to, what| to == MachineId::Store && what.starts_with("chunk ")).map(|event| event.t);
    let answered = wrote
        .and_then(|from| after(from, &|kind| matches!(kind, Kind::MessageReceived { from: MachineId::Store, .. })));
    add("Fenced write", wrote, answered, true);
    requests
}

fn hops(events: &[Event], me: MachineId, during: Stretch, store: bool) -> Vec<Hop> {
    let belongs = |machine: MachineId| {
        machine == me || if store { machine == MachineId::Store } else { machine.is_lock_service() }
    };
    // What a client waits for is over when the last answer to it is sent.
    let answered = events.iter().rev().find_map(|event| match &event.kind {
        Kind::MessageReceived { sent, .. } if event.machine == me && event.t == during.to => Some(*sent),
        _ => None,
    });
    // A leader commits with the first answers that make a majority. Two followers may answer at the same instant, so the
    // order of the events decides whose disk was waited for.
    let committed = |index: u64| {
        events.iter().position(|event| matches!(event.kind, Kind::EntryCommitted { index: to, .. } if to >= index))
    };
    let heard_late = |follower: MachineId, index: u64| {
        let heard = events.iter().position(|event| {
            matches!(event.kind, Kind::EntryAcknowledged { node, index: to, .. } if MachineId::Node(node) == follower && to >= index)
        });
        committed(index).is_some_and(|committed| heard.is_none_or(|heard| heard > committed))
    };
    let mut hops: Vec<Hop> = Vec::new();
    let mut logged: Vec<(MachineId, u64, TrueTime)> = Vec::new();
    for event in events.iter().filter(|event| event.t >= during.from && belongs(event.machine)) {
        let machine = event.machine;
        let late = match &event.kind {
            Kind::EntryOnDisk { index, .. } => {
                // The leader’s own disk is no follower’s.
                let of_leader = events.iter().any(|event| {
                    event.machine == machine
                        && matches!(event.kind, Kind::EntryLogged { index: own, .. } if own == *index)
                });
                !of_leader && heard_late(machine, *index)
            }
            Kind::MessageReceived { from, what, .. } => {
                let index = what.strip_prefix("on disk up to ").and_then(|index| index.parse().ok());
                index.is_some_and(|index| heard_late(*from, index))
            }
            _ => false,
        };
        let mut hop = |layer, from: TrueTime, what: String| {
            let not_waited_for = late || answered.is_some_and(|answered| event.t > answered && machine != me);
            hops.push(Hop { layer, machine, during: Stretch { from, to: event.t }, what, not_waited_for });
        };
        match &event.kind {
            Kind::MessageReceived { from, what, sent, .. }
                if *sent >= during.from && *sent <= during.to && belongs(*from) =>
            {
                // The log's messages carry the entry to the disks of the followers.
                if let Some(index) = what.strip_prefix("append ").and_then(|text| text.split('–').next()?.parse().ok())
                {
                    logged.push((machine, index, event.t));
                }
                hop(Layer::Network, *sent, format!("{from} to {machine}: {what}"));
            }
            Kind::EntryLogged { index, .. } if event.t <= during.to => logged.push((machine, *index, event.t)),
            Kind::EntryOnDisk { index, .. } => {
                if let Some((_, _, from)) = logged.iter().find(|(of, entry, _)| *of == machine && entry == index) {
                    hop(Layer::Disk, *from, format!("entry {index} reaches {machine}’s disk"));
                }
            }
            Kind::EntryCommitted { index, .. } if event.t <= during.to => {
                hop(Layer::Commit, event.t, format!("a majority has entry {index}"));
            }
            Kind::EntryApplied { index, .. } if event.t <= during.to => {
                hop(Layer::Apply, event.t, format!("{machine} applies entry {index}"));
            }
            Kind::LeaseRenewed { .. } if event.t <= during.to => {
                hop(Layer::Apply, event.t, format!("{machine} moves the deadline in its memory"));
            }
            Kind::ChunkWritten { .. } | Kind::WriteRefused { .. } if event.t <= during.to => {
                hop(Layer::Store, event.t, "compares the token with the fence and writes, in one step".into());
            }
            Kind::LockAcquired { .. } | Kind::RenewalConfirmed { .. } if event.t == during.to => {
                hop(Layer::Client, event.t, "the client library has its answer".into());
            }
            _ => {}
        }
    }
    let mut ordered: Vec<Hop> = Vec::new();
    for hop in hops {
        let place = ordered.partition_point(|other| other.during.from <= hop.during.from);
        ordered.insert(place, hop);
    }
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;
    use lease_lab_scenarios::Run;
    use lease_lab_scenarios::run::Input;
    use lease_lab_sim::time::Span;

    fn of_the_lab() -> Vec<Request> {
        let scenario = lease_lab_scenarios::find("layers").expect("layers is a lab");
        let run = Run::new(scenario, Input::default()).expect("it makes sense");
        requests(&run.events, WorkerId::A)
    }

    #[test]
    fn three_requests_are_found() {
        let names: Vec<&str> = of_the_lab().iter().map(|request| request.name).collect();
        assert_eq!(names, ["Acquire", "Keep alive", "Fenced write"]);
    }

    #[test]
    fn an_acquisition_is_two_entries_on_two_disks_and_the_third_is_not_waited_for() {
        let acquire = &of_the_lab()[0];
        let disks: Vec<&Hop> = acquire.hops.iter().filter(|hop| hop.layer == Layer::Disk).collect();
        assert_eq!(disks.len(), 6, "{disks:?}");
        assert!(disks.iter().all(|hop| hop.during.to - hop.during.from == Span::millis(3)), "{disks:?}");
        let third: Vec<&&Hop> = disks.iter().filter(|hop| hop.not_waited_for).collect();
        assert_eq!(third.len(), 2, "one of three for each entry: {disks:?}");
        assert!(third.iter().all(|hop| hop.machine == third[0].machine), "{third:?}");
        assert_eq!(acquire.hops.iter().filter(|hop| hop.layer == Layer::Commit).count(), 2);
    }

    #[test]
    fn a_keep_alive_touches_no_disk() {
        let keep_alive = &of_the_lab()[1];
        assert!(keep_alive.hops.iter().all(|hop| hop.layer != Layer::Disk), "{keep_alive:?}");
        assert!(keep_alive.hops.iter().any(|hop| hop.what.contains("memory")));
    }

    #[test]
    fn hops_stand_in_order_and_within_the_request() {
        for request in of_the_lab() {
            assert!(request.hops.is_sorted_by_key(|hop| hop.during.from));
            for hop in request.hops.iter().filter(|hop| !hop.not_waited_for && hop.layer != Layer::Disk) {
                assert!(hop.during.from >= request.during.from && hop.during.to <= request.during.to, "{hop:?}");
            }
        }
    }
}
