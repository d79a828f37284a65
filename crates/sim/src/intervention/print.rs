//! Printing, canonically: numbers as short as they can be, one space between words.

use std::fmt;

use super::{Change, Intervention, ServiceKind, StoreKind, Target};
use crate::clock::RATE_ONE;
use crate::settings::{FenceMode, RaiseOrder};
use crate::time::Span;

impl fmt::Display for Intervention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.at, self.change)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Machine(machine) => machine.fmt(f),
            Target::Leader => f.write_str("leader"),
        }
    }
}

impl fmt::Display for ServiceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ServiceKind::Consensus => "consensus",
            ServiceKind::Redis => "redis",
            ServiceKind::Redlock => "redlock",
            ServiceKind::LeaseItem => "lease-item",
            ServiceKind::Database => "the database itself",
        })
    }
}

impl fmt::Display for StoreKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StoreKind::Row => "row",
            StoreKind::Sql => "sql",
            StoreKind::DynamoDb => "dynamodb",
            StoreKind::S3 => "s3",
        })
    }
}

impl fmt::Display for FenceMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FenceMode::On => "on",
            FenceMode::Off => "off",
            FenceMode::RejectEqual => "reject-equal",
            FenceMode::TwoStep => "two-step",
        })
    }
}

impl fmt::Display for RaiseOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RaiseOrder::First => "first",
            RaiseOrder::Late => "late",
        })
    }
}

fn on_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Pause { target, lasts, vm } => {
                write!(f, "pause {target}")?;
                if let Some(span) = lasts {
                    write!(f, " {span}")?;
                }
                if *vm { f.write_str(" vm") } else { Ok(()) }
            }
            Change::Resume(target) => write!(f, "resume {target}"),
            Change::Crash(target) => write!(f, "crash {target}"),
            Change::Restart { target, empty } => {
                write!(f, "restart {target}{}", if *empty { " empty" } else { "" })
            }
            Change::StepWall(target, by) => write!(f, "step-wall {target} {by}"),
            Change::Offset(target, offset) => write!(f, "offset {target} {offset}"),
            Change::Rate(target, ppm) => {
                // A rate has the same six decimals as a span of seconds.
                debug_assert_eq!(RATE_ONE, crate::time::MICROS_PER_SECOND);
                write!(f, "rate {target} {}", Span::micros(*ppm))
            }
            Change::Partition(groups) => {
                f.write_str("partition ")?;
                for (place, group) in groups.iter().enumerate() {
                    if place > 0 {
                        f.write_str(" | ")?;
                    }
                    for (place, target) in group.iter().enumerate() {
                        write!(f, "{}{target}", if place > 0 { "," } else { "" })?;
                    }
                }
                Ok(())
            }
            Change::Heal => f.write_str("heal"),
            Change::Isolate(target) => write!(f, "isolate {target}"),
            Change::Outage(None) => f.write_str("outage"),
            Change::Outage(Some(span)) => write!(f, "outage {span}"),
            Change::Delay { from, to, by } => write!(f, "delay {from} {to} {by}"),
            Change::Drop { from, to } => write!(f, "drop {from} {to}"),
            Change::Duplicate { from, to } => write!(f, "duplicate {from} {to}"),
            Change::Fence(mode) => write!(f, "fence {mode}"),
            Change::Idempotent(on) => write!(f, "idempotent {}", on_off(*on)),
            Change::Raise(order) => write!(f, "raise {order}"),
            Change::Lease(span) => write!(f, "lease {span}"),
            Change::Renew(span) => write!(f, "renew {span}"),
            Change::Margin(span) => write!(f, "margin {span}"),
            Change::Sweeper(on) => write!(f, "sweeper {}", on_off(*on)),
            Change::Service(kind) => write!(f, "service {kind}"),
            Change::Store(kind) => write!(f, "store {kind}"),
            Change::Acquire(worker) => write!(f, "acquire {worker}"),
            Change::Release(worker) => write!(f, "release {worker}"),
            Change::Restore { revision, bump } => {
                write!(f, "restore {revision}")?;
                match bump {
                    Some(bump) => write!(f, " bump {bump}"),
                    None => Ok(()),
                }
            }
            Change::Set { key, value } => write!(f, "set {key} {value}"),
        }
    }
}
