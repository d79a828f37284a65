//! Names of the machines.

use std::fmt;

use serde::{Serialize, Serializer};

/// A worker: A, B, C, D.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkerId(pub u16);

impl WorkerId {
    /// The first worker of the story.
    pub const A: WorkerId = WorkerId(0);
    /// The standby.
    pub const B: WorkerId = WorkerId(1);
    /// The worker that looks for queued jobs.
    pub const C: WorkerId = WorkerId(2);
    /// The worker of side traces.
    pub const D: WorkerId = WorkerId(3);
    /// All four.
    pub const ALL: [WorkerId; 4] = [WorkerId::A, WorkerId::B, WorkerId::C, WorkerId::D];
}

/// A job, with a lock and a row of its own; the story has one, with number 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(pub u16);

impl JobId {
    /// The job of a run that has only one.
    pub const FIRST: JobId = JobId(0);

    /// Whether it is the first: traces of runs with a single job do not name it.
    pub fn is_first(&self) -> bool {
        *self == JobId::FIRST
    }
}

impl Serialize for JobId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u16(self.0)
    }
}

/// A node of the lock service, counted from 1: n1, n2, …
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u8);

/// Any machine that the grammar of interventions knows, and the machine of the other tenants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MachineId {
    /// A worker.
    Worker(WorkerId),
    /// The process beside a worker, on the same machine, that keeps its lease alive.
    Sidecar(WorkerId),
    /// A node of the consensus lock service.
    Node(NodeId),
    /// A Redis master of Redlock, counted from 1: r1, r2, …
    Master(u8),
    /// The primary of a replicated Redis.
    Primary,
    /// Its replica.
    Replica,
    /// The table whose items are leases.
    Table,
    /// A partner outside, who knows no fence.
    Partner,
    /// Many writers that check one fence item.
    Writers,
    /// Whoever hands out blocks of capacity or of numbers.
    Allocator,
    /// The store that holds the job's row.
    Store,
    /// The sweeper.
    Sweeper,
    /// The clients of other jobs that share the lock service.
    Tenants,
    /// Whoever intervenes: no machine, but events that concern no single one happen to it.
    Operator,
}

/// The most nodes that a consensus lock service can have.
pub const NODES_MAX: u8 = 7;
/// The number of Redlock masters.
pub const MASTERS_MAX: u8 = 5;

impl MachineId {
    /// The machine with this name in the grammar of interventions.
    pub fn parse(name: &str) -> Option<MachineId> {
        Some(match name {
            "A" => MachineId::Worker(WorkerId::A),
            "B" => MachineId::Worker(WorkerId::B),
            "C" => MachineId::Worker(WorkerId::C),
            "D" => MachineId::Worker(WorkerId::D),
            "primary" => MachineId::Primary,
            "replica" => MachineId::Replica,
            "table" => MachineId::Table,
            "partner" => MachineId::Partner,
            "allocator" => MachineId::Allocator,
            "store" => MachineId::Store,
            "sweeper" => MachineId::Sweeper,
            "sidecar-A" => MachineId::Sidecar(WorkerId::A),
            "sidecar-B" => MachineId::Sidecar(WorkerId::B),
            "sidecar-C" => MachineId::Sidecar(WorkerId::C),
            "sidecar-D" => MachineId::Sidecar(WorkerId::D),
            _ => {
                let (kind, number) = name.split_at_checked(1)?;
                if number.len() != 1 {
                    return None;
                }
                let number: u8 = number.parse().ok()?;
                match kind {
                    "n" if (1..=NODES_MAX).contains(&number) => MachineId::Node(NodeId(number)),
                    "r" if (1..=MASTERS_MAX).contains(&number) => MachineId::Master(number),
                    _ => return None,
                }
            }
        })
    }

    /// The worker, if this machine is one.
    pub fn worker(self) -> Option<WorkerId> {
        match self {
            MachineId::Worker(worker) => Some(worker),
            _ => None,
        }
    }

    /// The machine whose hardware, clocks and network this process uses: a sidecar has none of its own.
    pub fn host(self) -> MachineId {
        match self {
            MachineId::Sidecar(worker) => MachineId::Worker(worker),
            other => other,
        }
    }

    /// Whether it is part of a lock service.
    pub fn is_lock_service(self) -> bool {
        matches!(
            self,
            MachineId::Node(_)
                | MachineId::Master(_)
                | MachineId::Primary
                | MachineId::Replica
                | MachineId::Table
                | MachineId::Allocator
        )
    }

    /// The lock node, if this machine is one.
    pub fn node(self) -> Option<NodeId> {
        match self {
            MachineId::Node(node) => Some(node),
            _ => None,
        }
    }
}

impl From<WorkerId> for MachineId {
    fn from(worker: WorkerId) -> MachineId {
        MachineId::Worker(worker)
    }
}

impl From<NodeId> for MachineId {
    fn from(node: NodeId) -> MachineId {
        MachineId::Node(node)
    }
}

impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match u8::try_from(self.0) {
            Ok(number) if number < 26 => write!(f, "{}", char::from(b'A' + number)),
            _ => write!(f, "w{}", self.0 + 1),
        }
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n{}", self.0)
    }
}

impl fmt::Display for MachineId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MachineId::Worker(worker) => worker.fmt(f),
            MachineId::Sidecar(worker) => write!(f, "sidecar-{worker}"),
            MachineId::Node(node) => node.fmt(f),
            MachineId::Master(number) => write!(f, "r{number}"),
            MachineId::Primary => f.write_str("primary"),
            MachineId::Replica => f.write_str("replica"),
            MachineId::Table => f.write_str("table"),
            MachineId::Partner => f.write_str("partner"),
            MachineId::Allocator => f.write_str("allocator"),
            MachineId::Writers => f.write_str("writers"),
            MachineId::Store => f.write_str("store"),
            MachineId::Sweeper => f.write_str("sweeper"),
            MachineId::Tenants => f.write_str("tenants"),
            MachineId::Operator => f.write_str("operator"),
        }
    }
}

macro_rules! serialize_as_text {
    ($($name:ty),*) => {$(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
    )*};
}
serialize_as_text!(WorkerId, NodeId, MachineId);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_printed_alike() {
        for name in ["A", "D", "sidecar-C", "n1", "n7", "r5", "primary", "replica", "store", "sweeper"] {
            assert_eq!(MachineId::parse(name).map(|machine| machine.to_string()).as_deref(), Some(name));
        }
        for name in ["", "a", "E", "n0", "n8", "n10", "r6", "tenants", "leader", "é", "né"] {
            assert_eq!(MachineId::parse(name), None, "{name}");
        }
    }
}
