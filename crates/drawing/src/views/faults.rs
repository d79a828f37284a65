//! What is done to the machines, and what the lock service only remembers: spans and instants beside the bars.

use lease_lab_scenarios::Run;
use lease_lab_scenarios::scenario::Extra;
use lease_lab_sim::event::{Event, Kind};
use lease_lab_sim::machine::MachineId;
use lease_lab_sim::time::{Deadline, Mono, TrueTime};

use super::{Stretch, clocks};

/// Something that lasts for a while, or happens at an instant if both ends are the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where: a machine's lane, or that of the keys.
    pub place: Place,
    /// When.
    pub during: Stretch,
    /// What, in a few words; the longer text first. Empty where a lane above says it.
    pub texts: Vec<String>,
    /// Nothing goes wrong then: a time that is left.
    pub calm: bool,
}

/// Where a fault is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a machine's lane.
    Machine(MachineId),
    /// In the lane of the keys.
    Keys,
}

/// Everything of that kind in a run, up to `until`.
pub fn faults(run: &Run, events: &[Event], until: TrueTime) -> Vec<Fault> {
    let mut faults = network(run, events, until);
    for (place, event) in events.iter().enumerate() {
        let at = event.t;
        match &event.kind {
            Kind::LockDelayBegan { until: ends, .. } => {
                let clock = clocks::tracks(events).remove(&event.machine).unwrap_or_default();
                let to = clock.when_mono(*ends, at, run.horizon).unwrap_or(run.horizon);
                let text = format!("nobody may have it: lock-delay until {}", to.told());
                let short = format!("lock-delay until {}", to.told());
                faults.push(span(Place::Keys, at, to.min(until), [text, short, "lock-delay".into()]));
            }
            // The lab that works out the margin shows it: from the last stop time to the expiry.
            Kind::LeaseExpired { worker, .. } if run.scenario.extras.contains(&Extra::Calculator("margin")) => {
                let stop = events[..place].iter().rev().find_map(|event| match &event.kind {
                    Kind::RenewalConfirmed { worker: of, stop_time, .. }
                    | Kind::LockAcquired { worker: of, stop_time, .. }
                        if of == worker =>
                    {
                        Some((event.t, *stop_time))
                    }
                    _ => None,
                });
                let clock = clocks::tracks(events).remove(&MachineId::Worker(*worker)).unwrap_or_default();
                let stops = stop.and_then(|(from, stop)| clock.when_mono(stop, from, run.horizon));
                if let Some(stops) = stops.filter(|stops| *stops < at) {
                    let text = format!("margin, {} s", (at - stops).told());
                    let place = Place::Machine(MachineId::Worker(*worker));
                    faults.push(Fault { calm: true, ..span(place, stops, at, [text, "margin".into()]) });
                }
            }
            Kind::HistoryRestored { revision, .. } => {
                let text = format!("restored to revision {revision}, {}", at.told());
                faults.push(span(Place::Keys, at, at, [text, "restored".into()]));
            }
            Kind::CandidateWoken { .. } if woken_before(events, place) == 0 => {
                let together = events[place..].iter().take_while(|event| event.t == at);
                let count = together.filter(|event| matches!(event.kind, Kind::CandidateWoken { .. })).count();
                if count > 1 {
                    let text = format!("{count} candidates wake up, {}", at.told());
                    faults.push(span(Place::Keys, at, at, [text, format!("{count} wake up")]));
                }
            }
            Kind::RowLockAwaited { from, holder, .. } => {
                let ends = events[place..].iter().find(|event| match &event.kind {
                    Kind::FenceRaised { worker, .. }
                    | Kind::ChunkWritten { worker, .. }
                    | Kind::JobDone { worker, .. }
                    | Kind::WriteRefused { worker, .. }
                    | Kind::RaiseRefused { worker, .. } => MachineId::from(*worker) == *from,
                    Kind::RowRequeued { .. } | Kind::RequeueRefused { .. } => *from == MachineId::Sweeper,
                    _ => false,
                });
                let to = ends.map_or(until, |event| event.t);
                let millis = (to - at).as_micros() / 1_000;
                let text = format!("{from} waits {millis} ms for {holder}’s row lock");
                faults.push(span(Place::Machine(MachineId::Store), at, to, [text, format!("waits {millis} ms")]));
            }
            // Only labs that look into logs and memories tell what is in a leader's memory alone.
            Kind::LeaderElected { leases, .. } if run.scenario.extras.contains(&Extra::Nodes) => {
                for lease in leases {
                    let of_lease = |event: &Event| match &event.kind {
                        Kind::LeaseGranted { lease: of, deadline: Deadline::Mono(deadline), .. }
                        | Kind::LeaseRenewed { lease: of, deadline: Deadline::Mono(deadline), .. }
                            if *of == lease.lease =>
                        {
                            Some(*deadline)
                        }
                        _ => None,
                    };
                    let before = events[..place].iter().rev().find_map(of_lease);
                    let mut mark = |deadline: Mono, whose: &str, short: &str| {
                        let at = TrueTime::from_micros(deadline.as_micros());
                        let told = at.told();
                        let texts = [format!("{whose} leader’s deadline {told}"), format!("{short} {told}"), told];
                        faults.push(span(Place::Keys, at, at, texts));
                    };
                    if let Some(before) = before.filter(|before| *before != lease.deadline) {
                        mark(before, "old", "was");
                    }
                    mark(lease.deadline, "new", "now");
                }
            }
            _ => {}
        }
    }
    faults
}

fn span<const N: usize>(place: Place, from: TrueTime, to: TrueTime, texts: [String; N]) -> Fault {
    Fault { place, during: Stretch { from, to }, texts: texts.into(), calm: false }
}

/// How many candidates were woken at the same instant before the event at `place`.
fn woken_before(events: &[Event], place: usize) -> usize {
    let together = events[..place].iter().rev().take_while(|event| event.t == events[place].t);
    together.filter(|event| matches!(event.kind, Kind::CandidateWoken { .. })).count()
}

/// Who is cut off, and when the whole lock service cannot be reached.
fn network(run: &Run, events: &[Event], until: TrueTime) -> Vec<Fault> {
    let service = run.plan.service_machines();
    let mut faults: Vec<Fault> = Vec::new();
    // The faults that last, and whether a heal ends them.
    let mut open: Vec<(usize, bool)> = Vec::new();
    for event in events {
        let at = event.t;
        let (machines, what, heals) = match &event.kind {
            Kind::OutageBegan => (service.clone(), "cannot be reached", false),
            Kind::Isolated => (vec![event.machine], "cut off from all", true),
            Kind::Partitioned { groups } => (cut_off(groups, &service), "cut off", true),
            Kind::OutageEnded | Kind::Healed => {
                let healed = event.kind == Kind::Healed;
                open.retain(|(place, heals)| {
                    if *heals == healed {
                        faults[*place].during.to = at;
                    }
                    *heals != healed
                });
                continue;
            }
            _ => continue,
        };
        for (count, machine) in machines.into_iter().enumerate() {
            open.push((faults.len(), heals));
            // Below one another they need one text.
            let told = count == 0 || machine.worker().is_some();
            let texts = if told { vec![what.to_owned()] } else { Vec::new() };
            let during = Stretch { from: at, to: until };
            faults.push(Fault { place: Place::Machine(machine), during, texts, calm: false });
        }
    }
    for fault in &mut faults {
        let (from, to) = (fault.during.from.told(), fault.during.to.told());
        let times = if fault.during.to >= until { format!("from {from}") } else { format!("{from} – {to}") };
        if let [what] = &fault.texts[..] {
            fault.texts = vec![format!("{what} {times}"), what.clone()];
        }
    }
    faults
}

/// The machines that are not on the side of most of the lock service.
fn cut_off(groups: &[Vec<MachineId>], service: &[MachineId]) -> Vec<MachineId> {
    let of_service = |group: &Vec<MachineId>| group.iter().filter(|machine| service.contains(machine)).count();
    let most = groups.iter().map(of_service).max().unwrap_or(0);
    let large = groups.iter().position(|group| of_service(group) == most);
    let others = groups.iter().enumerate().filter(|(place, _)| Some(*place) != large);
    others.flat_map(|(_, group)| group.iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lease_lab_scenarios::run::Input;
    use lease_lab_sim::machine::{NodeId, WorkerId};

    fn of(id: &str) -> Vec<Fault> {
        let scenario = lease_lab_scenarios::find(id).expect("it is a lab");
        let run = Run::new(scenario, Input::default()).expect("it makes sense");
        faults(&run, &run.events, run.horizon)
    }

    #[test]
    fn each_lab_shows_its_fault_where_it_is() {
        let node = |number| Place::Machine(MachineId::Node(NodeId(number)));
        let worker = |worker| Place::Machine(MachineId::Worker(worker));
        for (id, place, text) in [
            ("storm", node(1), "cannot be reached 12.0 – 42.0"),
            ("minority", node(1), "cut off 10.0 – 30.0"),
            ("minority", worker(WorkerId::A), "cut off 10.0 – 30.0"),
            ("handover", worker(WorkerId::A), "cut off from 9.02"),
            ("restore", Place::Keys, "restored to revision 14, 45.0"),
            ("failover", Place::Keys, "old leader’s deadline 56.2"),
            ("failover", Place::Keys, "new leader’s deadline 59.1"),
            ("election-systems", Place::Keys, "lock-delay until 28.01"),
            ("herd", Place::Keys, "19 candidates wake up, 13.01"),
            ("margin", worker(WorkerId::A), "margin, 2.01 s"),
            ("fence-sql", Place::Machine(MachineId::Store), "B waits 10 ms for A’s row lock"),
        ] {
            let faults = of(id);
            let told = faults.iter().any(|fault| fault.place == place && fault.texts.iter().any(|told| told == text));
            assert!(told, "{id}: “{text}” is not among {faults:?}");
        }
    }

    #[test]
    fn a_run_without_faults_has_none() {
        assert_eq!(of("hot-fence"), []);
    }
}
