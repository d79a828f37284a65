//! The network: latency, partitions, and faults that hit the next message on a path.

use crate::machine::MachineId;
use crate::settings::Latency;
use crate::time::Span;

/// What is wrong with the network at present.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Network {
    groups: Vec<Vec<MachineId>>,
    isolated: Vec<MachineId>,
    /// The lock service is cut off from all its clients.
    outage: bool,
    /// How often that has happened: a timed end belongs to one outage.
    outages: u32,
    faults: Vec<PathFault>,
}

/// A fault that waits for the next message on a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct PathFault {
    from: MachineId,
    to: MachineId,
    fault: Fault,
}

/// What happens to one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// It takes so much longer.
    Delay(Span),
    /// It is lost.
    Drop,
    /// It arrives twice.
    Duplicate,
}

/// The faults that hit one message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hit {
    /// How much longer it takes.
    pub delay: Option<Span>,
    /// Whether it is lost.
    pub drop: bool,
    /// Whether it arrives twice.
    pub duplicate: bool,
}

impl Network {
    /// One way between two machines.
    pub fn latency(latency: &Latency, a: MachineId, b: MachineId) -> Span {
        if a.host() == b.host() {
            return Span::ZERO;
        }
        match (a, b) {
            (MachineId::Store | MachineId::Partner, MachineId::Worker(_))
            | (MachineId::Worker(_), MachineId::Store | MachineId::Partner) => latency.worker_store,
            _ => latency.wire,
        }
    }

    /// Whether messages between the two are lost.
    pub fn is_cut(&self, a: MachineId, b: MachineId) -> bool {
        let (a, b) = (a.host(), b.host());
        if a == b {
            return false;
        }
        if self.isolated.contains(&a) || self.isolated.contains(&b) {
            return true;
        }
        if self.outage && a.is_lock_service() != b.is_lock_service() {
            return true;
        }
        if self.groups.is_empty() {
            return false;
        }
        let group_of = |machine| self.groups.iter().position(|group| group.contains(&machine));
        match (group_of(a), group_of(b)) {
            (Some(a), Some(b)) => a != b,
            // A machine that the partition does not name reaches everyone.
            _ => false,
        }
    }

    /// Replaces the partition.
    pub fn partition(&mut self, groups: Vec<Vec<MachineId>>) {
        self.groups = groups;
    }

    /// Cuts one machine off from everyone.
    pub fn isolate(&mut self, machine: MachineId) {
        if !self.is_isolated(machine) {
            self.isolated.push(machine);
        }
    }

    /// Cuts the lock service off from its clients; returns the number of this outage, or nothing if there is one.
    pub fn begin_outage(&mut self) -> Option<u32> {
        if std::mem::replace(&mut self.outage, true) {
            return None;
        }
        self.outages += 1;
        Some(self.outages)
    }

    /// Ends this outage; returns whether it went on.
    pub fn end_outage(&mut self, number: u32) -> bool {
        number == self.outages && std::mem::take(&mut self.outage)
    }

    /// Ends partition, isolation and outage; returns whether there was any.
    pub fn heal(&mut self) -> bool {
        let was_cut = !self.groups.is_empty() || !self.isolated.is_empty() || self.outage;
        self.outage = false;
        self.groups.clear();
        self.isolated.clear();
        was_cut
    }

    /// Whether `machine` is cut off from everyone.
    pub fn is_isolated(&self, machine: MachineId) -> bool {
        self.isolated.contains(&machine)
    }

    /// Lets `fault` wait for the next message from `from` to `to`.
    pub fn expect(&mut self, from: MachineId, to: MachineId, fault: Fault) {
        self.faults.push(PathFault { from, to, fault });
    }

    /// The faults that hit a message sent now: at most one of each sort, so that two drops lose two messages.
    pub fn hit(&mut self, from: MachineId, to: MachineId) -> Hit {
        let mut hit = Hit::default();
        if self.faults.is_empty() {
            return hit;
        }
        self.faults.retain(|waiting| {
            if waiting.from != from || waiting.to != to {
                return true;
            }
            match waiting.fault {
                Fault::Delay(span) if hit.delay.is_none() => hit.delay = Some(span),
                Fault::Drop if !hit.drop => hit.drop = true,
                Fault::Duplicate if !hit.duplicate => hit.duplicate = true,
                _ => return true,
            }
            false
        });
        hit
    }
}
