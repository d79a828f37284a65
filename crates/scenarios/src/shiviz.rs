//! The trace as a log for ShiViz: one event on two lines, with vector clocks that follow the messages.
//!
//! ShiViz reads it with the expression in [`PARSER`].

use std::collections::BTreeMap;
use std::fmt::Write as _;

use lease_lab_sim::event::Kind;
use lease_lab_sim::machine::MachineId;

use crate::run::Run;
use crate::why::why;

/// The expression to enter in ShiViz as "log parsing regular expression".
pub const PARSER: &str = r"(?<host>\S*) (?<clock>{.*})\n(?<event>.*)";

type VectorClock = BTreeMap<String, u64>;

/// The run as a ShiViz log; heartbeats and what happens to no machine are left out.
pub fn log(run: &Run) -> String {
    let mut clocks: BTreeMap<MachineId, VectorClock> = BTreeMap::new();
    let mut sent: BTreeMap<u64, VectorClock> = BTreeMap::new();
    let mut text = String::new();
    for event in &run.events {
        let machine = event.machine;
        if matches!(event.kind, Kind::Heartbeat { .. }) || machine == MachineId::Operator {
            continue;
        }
        let clock = clocks.entry(machine).or_default();
        if let Kind::MessageReceived { id, .. } = &event.kind {
            // The sender's clock at the send is part of what the receiver knows from now on.
            for (host, count) in sent.get(id).into_iter().flatten() {
                let known = clock.entry(host.clone()).or_default();
                *known = (*known).max(*count);
            }
        }
        *clock.entry(machine.to_string()).or_default() += 1;
        if let Kind::MessageSent { id, .. } = &event.kind {
            sent.insert(*id, clock.clone());
        }
        let clock_text: Vec<String> = clock.iter().map(|(host, count)| format!("\"{host}\":{count}")).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{machine} {{{}}}\n{} s: {}", clock_text.join(", "), event.t, why(event, &run.plan));
    }
    text
}
