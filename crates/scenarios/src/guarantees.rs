//! An equal-terms comparison: several systems under the same kinds of fault, every cell from runs.
//!
//! What is written down here is what is tried, never what comes of it.
//! A system whose lock service or store cannot be run is left out.

use lease_lab_sim::event::{Event, Kind};
use lease_lab_sim::intervention::{Intervention, parse_list};
use lease_lab_sim::invariants::{Invariant, Verdict};
use lease_lab_sim::machine::{MachineId, WorkerId};
use lease_lab_sim::settings::ServiceKind;
use lease_lab_sim::time::{Span, TrueTime};
use serde::Serialize;

use crate::accept::accept;
use crate::run::Input;
use crate::{Run, Scenario, trace};

/// The lab that every run of the comparison belongs to.
pub const SCENARIO: &str = "equal-terms";

/// A lock service with a store, and with or without a fence.
#[derive(Debug)]
pub struct System {
    /// The name in links.
    pub id: &'static str,
    /// What it is called.
    pub name: &'static str,
    /// What decides who holds the lock, and what refuses a late write.
    pub rests_on: &'static str,
    /// The choices that make the system, in the grammar of interventions.
    pub choices: &'static str,
    /// What is tried for each of [`FAULTS`], in their order: lists of interventions.
    pub tries: [&'static [&'static str]; 5],
}

/// A kind of fault.
#[derive(Debug)]
pub struct Fault {
    /// The name in links.
    pub id: &'static str,
    /// What it is called.
    pub name: &'static str,
    /// What happens.
    pub means: &'static str,
}

/// The kinds of fault, in the order of the columns.
pub static FAULTS: [Fault; 5] = [
    Fault {
        id: "pause",
        name: "Pause",
        means: "The holder freezes with a write in its hands, alone or with its clocks.",
    },
    Fault { id: "clock-step", name: "Clock step", means: "A wall clock is set by 20 s, on either side." },
    Fault {
        id: "failover",
        name: "Failover",
        means: "The machine that granted the lock dies, and whatever stands in for it takes over.",
    },
    Fault { id: "partition", name: "Partition", means: "The holder, or a part of the lock service, is cut off." },
    Fault { id: "restore", name: "Restore", means: "The authority is set back to an earlier state." },
];

const PAUSES: &[&str] = &["4 pause A 15", "4 pause A 15 vm", "4 pause A 9.7"];
const CONSENSUS: [&[&str]; 5] = [
    PAUSES,
    &["2 step-wall A -20", "2 step-wall B 20", "2 step-wall leader 20"],
    &["0.1 crash leader", "3.1 crash leader", "12.9 crash leader"],
    &["2 partition A | n1,n2,n3", "2 partition A,n1 | B,n2,n3", "2 partition n1 | n2,n3", "2 isolate A"],
    // After a renewal, so that the old holder has three seconds in which it learns nothing.
    &["2 restore 6", "3.3 restore 6"],
];
const LEASE_ITEM: [&[&str]; 5] = [
    PAUSES,
    &["2 step-wall A -20", "2 step-wall B 20", "2 step-wall table 20"],
    &["2 crash table; 4 restart table", "3.1 crash table; 14 restart table"],
    &["2 partition A | table", "2 isolate A"],
    &["2 restore 0", "3.3 restore 0", "4 crash A; 20 acquire D; 20.1 restore 1"],
];

const REDIS: [&[&str]; 5] = [
    PAUSES,
    &["2 step-wall A -20", "2 step-wall B 20", "2 step-wall primary 20", "3.3 step-wall primary 20"],
    // Within the lag of the replica, and long after it.
    &["0.05 crash primary", "3.05 crash primary"],
    &["2 partition A | primary,replica", "2 partition A,primary | B,replica", "0.05 partition A,primary | B,replica"],
    // A primary that comes back without its data, before anybody has been promoted.
    &["2 crash primary; 2.1 restart primary empty", "3.3 crash primary; 3.4 restart primary empty"],
];
const REDLOCK: [&[&str]; 5] = [
    PAUSES,
    &[
        "2 step-wall A -20",
        "2 step-wall r1 20",
        "2 step-wall r1 20; 2 step-wall r2 20; 2 step-wall r3 20",
        "3.3 step-wall r1 20; 3.3 step-wall r2 20; 3.3 step-wall r3 20",
    ],
    &["2 crash r1; 2 crash r2", "2 crash r1; 2 crash r2; 2 crash r3; 8 restart r3"],
    &["2 partition A | r1,r2,r3,r4,r5", "2 partition A,r1,r2 | B,r3,r4,r5", "2 partition r1,r2 | r3,r4,r5"],
    &[
        "2 crash r1; 2 crash r2; 2 crash r3; 2.1 restart r1 empty; 2.1 restart r2 empty; 2.1 restart r3 empty",
        "3.3 crash r1; 3.3 crash r2; 3.3 crash r3; 3.4 restart r1 empty; 3.4 restart r2 empty; 3.4 restart r3 empty",
    ],
];

const DATABASE: [&[&str]; 5] = [
    PAUSES,
    &["2 step-wall A -20", "2 step-wall B 20", "2 step-wall store 20"],
    &["2 crash store; 2.1 restart store", "3.3 crash store; 3.4 restart store", "2 crash store; 14 restart store"],
    &["2 partition A | store", "2 isolate A", "3.95 partition A | store; 30 heal"],
    // Its data would be set back with it: there is nothing left to compare with.
    &[],
];

/// Every system, whether it can be run or not.
static SYSTEMS: [System; 9] = [
    System {
        id: "consensus-fence",
        name: "Consensus lock and fence",
        rests_on: "A replicated log decides; the store compares its revision.",
        choices: "0 service consensus; 0 store row; 0 fence on",
        tries: CONSENSUS,
    },
    System {
        id: "consensus",
        name: "Consensus lock alone",
        rests_on: "A replicated log decides; the store compares nothing.",
        choices: "0 service consensus; 0 store row; 0 fence off",
        tries: CONSENSUS,
    },
    System {
        id: "lease-item",
        name: "Lease item with an epoch",
        rests_on: "Conditional writes to one item decide, by the claimant’s clock; the store compares the item’s epoch.",
        choices: "0 service lease-item; 0 store row; 0 fence on",
        tries: LEASE_ITEM,
    },
    System {
        id: "database-version",
        name: "One SQL database, a version in the row",
        rests_on: "The condition on the version decides and refuses in one step; there is no lock service.",
        choices: "0 set database version; 0 sweeper off",
        tries: DATABASE,
    },
    System {
        id: "database-session",
        name: "One SQL database, a session lock",
        rests_on: "The server’s lock on a session decides; writes on other connections have nothing to show.",
        choices: "0 set database session; 0 sweeper off",
        tries: DATABASE,
    },
    System {
        id: "redis-fence",
        name: "One Redis and a fence",
        rests_on: "A primary with an asynchronous replica decides; the store compares a number from INCR.",
        choices: "0 service redis; 0 store row; 0 fence on",
        tries: REDIS,
    },
    System {
        id: "redis",
        name: "One Redis alone",
        rests_on: "A primary with an asynchronous replica decides; the store compares nothing.",
        choices: "0 service redis; 0 store row; 0 fence off",
        tries: REDIS,
    },
    System {
        id: "redlock-fence",
        name: "Redlock and a fence",
        rests_on: "A majority of five independent masters decides; the store compares a number from a replicated log.",
        choices: "0 service redlock; 0 set token consensus; 0 store row; 0 fence on",
        tries: REDLOCK,
    },
    System {
        id: "redlock",
        name: "Redlock alone",
        rests_on: "A majority of five independent masters decides; there is no number to compare.",
        choices: "0 service redlock; 0 store row; 0 fence off",
        tries: REDLOCK,
    },
];

/// What came of what was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// In no run was a customer charged twice or a stale write accepted, and the fault did something.
    Held,
    /// In one run it was.
    Broken,
    /// Nothing that the machines did was any different: that is no pass.
    NoEffect,
    /// This version has no such fault for this system.
    NotTried,
}

/// What one kind of fault does to one system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cell {
    /// The fault, by its id.
    pub fault: &'static str,
    /// What came of it.
    pub outcome: Outcome,
    /// The scenario of the run that shows it.
    pub scenario: &'static str,
    /// The complete list of interventions of that run.
    pub interventions: String,
    /// When it broke.
    pub t: Option<TrueTime>,
    /// What the run shows, in a sentence.
    pub why: String,
    /// Two workers may have acted at the same time, each in good faith.
    pub two_at_once: bool,
    /// The job was finished in every run.
    pub finished: bool,
    /// How many runs were tried.
    pub runs: usize,
}

/// What a request costs, counted in a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cost {
    /// Messages between the worker and the lock service, and within the lock service.
    pub messages: usize,
    /// Entries and items that it brought to the disks of the lock service; a Redis that syncs once a second has none of
    /// its own.
    pub disk_writes: u64,
}

/// One system’s line of the table.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The system, by its id.
    pub system: &'static str,
    /// One for each fault.
    pub cells: Vec<Cell>,
    /// How long nobody holds the lock after its holder has died.
    pub gap: Option<Span>,
    /// The run that shows the gap.
    pub gap_interventions: String,
    /// What an acquisition costs.
    pub acquire: Option<Cost>,
    /// What a renewal costs.
    pub renewal: Option<Cost>,
    /// The run in which the costs were counted.
    pub cost_interventions: String,
}

/// When the comparison’s holder dies.
const CRASH: &str = "4 crash A";
/// Costs are counted while nobody else asks for the lock.
const ALONE: &str = "0 crash B; 0 sweeper off";

/// The systems that this version can run.
pub fn systems() -> impl Iterator<Item = &'static System> {
    SYSTEMS.iter().filter(|system| accept(scenario(), read(system.choices)).is_ok())
}

/// The system with this id, if it can be run.
pub fn find(id: &str) -> Option<&'static System> {
    systems().find(|system| system.id == id)
}

/// The table: each line takes about twenty runs.
pub fn table() -> Vec<Row> {
    systems().map(row).collect()
}

/// One system’s line.
pub fn row(system: &'static System) -> Row {
    let calm = run(system, "");
    let cells = FAULTS.iter().zip(system.tries).map(|(fault, tries)| cell(system, fault, tries, calm.as_ref()));
    let gap = run(system, CRASH).and_then(|run| gap_after_crash(&run));
    let alone = run(system, ALONE);
    let cost = |window: fn(&Run) -> Option<(TrueTime, TrueTime)>| {
        let run = alone.as_ref()?;
        let (from, to) = window(run)?;
        Some(cost(run, from, to))
    };
    Row {
        system: system.id,
        cells: cells.collect(),
        gap,
        gap_interventions: list_of(system, CRASH),
        acquire: cost(acquiring),
        renewal: cost(renewing),
        cost_interventions: list_of(system, ALONE),
    }
}

fn scenario() -> &'static Scenario {
    &crate::labs::EQUAL_TERMS
}

fn read(text: &str) -> Vec<Intervention> {
    let read = parse_list(text);
    // A test reads all of them.
    debug_assert!(read.is_ok(), "{text}: {read:?}");
    read.unwrap_or_default()
}

/// The complete list of a run, as links have it.
fn list_of(system: &System, added: &str) -> String {
    if added.is_empty() { system.choices.into() } else { format!("{}; {added}", system.choices) }
}

fn run(system: &System, added: &str) -> Option<Run> {
    let interventions = Some(read(&list_of(system, added)));
    Run::new(scenario(), Input { interventions, ..Input::default() }).ok()
}

/// The first try that breaks something, else the first in which the store had to refuse, else the first that has an
/// effect, else the first.
fn cell(system: &System, fault: &Fault, tries: &[&'static str], calm: Option<&Run>) -> Cell {
    let mut cell = Cell {
        fault: fault.id,
        outcome: Outcome::NotTried,
        scenario: SCENARIO,
        interventions: String::new(),
        t: None,
        why: "This version knows no such fault for this system.".into(),
        two_at_once: false,
        finished: true,
        runs: 0,
    };
    let mut best = 0;
    for added in tries {
        let Some((run, calm)) = run(system, added).zip(calm) else { continue };
        cell.runs += 1;
        let at_the_end = |invariant| run.verdict(invariant, run.horizon);
        cell.two_at_once |= matches!(at_the_end(Invariant::OneActingHolder), Verdict::Broken(_));
        cell.finished &= at_the_end(Invariant::JobFinishes) == Verdict::Holds;
        let broken =
            [Invariant::ChargedOnce, Invariant::NoStaleWrite].into_iter().find_map(|invariant| {
                match at_the_end(invariant) {
                    Verdict::Broken(violation) => Some(violation),
                    _ => None,
                }
            });
        let (outcome, t, why) = match broken {
            Some(violation) => (Outcome::Broken, Some(violation.t), format!("{}.", violation.why)),
            None if same_but_for_the_fault(&calm.events, &run.events) => {
                (Outcome::NoEffect, None, "No machine does anything differently.".into())
            }
            None => (Outcome::Held, None, held(&run)),
        };
        let rank = rank(outcome, trace::writes(&run).any(|write| !write.accepted));
        if rank > best {
            best = rank;
            cell = Cell { outcome, t, why, interventions: list_of(system, added), ..cell };
        }
    }
    cell
}

/// How much a run says.
fn rank(outcome: Outcome, refused: bool) -> u8 {
    match outcome {
        Outcome::NotTried => 0,
        Outcome::NoEffect => 1,
        Outcome::Held if !refused => 2,
        Outcome::Held => 3,
        Outcome::Broken => 4,
    }
}

/// What a run shows in which nothing broke.
fn held(run: &Run) -> String {
    match trace::writes(run).find(|write| !write.accepted) {
        Some(write) => format!(
            "The store refuses {}’s chunk {} at {} s: token {}, fence {}.",
            write.worker,
            write.chunk,
            write.t.told(),
            write.token,
            write.fence
        ),
        None => "No late write reaches the store.".into(),
    }
}

/// Whether two traces are the same apart from the records of interventions.
fn same_but_for_the_fault(calm: &[Event], other: &[Event]) -> bool {
    let done = |events: &'_ [Event]| -> Vec<Event> {
        events.iter().filter(|event| !is_a_change(&event.kind)).cloned().collect()
    };
    done(calm) == done(other)
}

fn is_a_change(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::Paused { .. }
            | Kind::Resumed { .. }
            | Kind::Crashed { .. }
            | Kind::Restarted { .. }
            | Kind::WallStepped { .. }
            | Kind::OffsetSet { .. }
            | Kind::RateSet { .. }
            | Kind::Partitioned { .. }
            | Kind::Isolated
            | Kind::Healed
            | Kind::SettingChanged { .. }
            | Kind::NoEffect { .. }
    )
}

/// From the holder’s death to the next worker’s acquisition.
fn gap_after_crash(run: &Run) -> Option<Span> {
    let died = run.events.iter().find(|event| matches!(event.kind, Kind::Crashed { .. }))?.t;
    let next = run.events.iter().find(|event| event.t > died && matches!(event.kind, Kind::LockAcquired { .. }))?;
    Some(next.t - died)
}

/// From the first request until well after the answer: the slowest machine has heard of it, too.
const AFTERWARDS: Span = Span::millis(150);

fn acquiring(run: &Run) -> Option<(TrueTime, TrueTime)> {
    let acquired = trace::first(run, |kind| matches!(kind, Kind::LockAcquired { worker: WorkerId::A, .. }))?;
    Some((TrueTime::ZERO, acquired.t + AFTERWARDS))
}

fn renewing(run: &Run) -> Option<(TrueTime, TrueTime)> {
    let renewed = trace::first(run, |kind| matches!(kind, Kind::RenewalConfirmed { worker: WorkerId::A, .. }))?;
    Some((renewed.t - AFTERWARDS, renewed.t + AFTERWARDS))
}

fn cost(run: &Run, from: TrueTime, to: TrueTime) -> Cost {
    // Where the database says whose turn it is, asking it for the lock is asking the store.
    let by_the_store = run.plan.service == ServiceKind::Database;
    let decides = |end: MachineId| end.is_lock_service() || (by_the_store && end == MachineId::Store);
    let of_the_lock = |event: &&Event| match event.kind {
        Kind::MessageSent { to, .. } => {
            let ends = [event.machine, to];
            ends.into_iter().any(decides) && ends.into_iter().all(|end| decides(end) || end == WorkerId::A.into())
        }
        _ => false,
    };
    let within = || run.events.iter().filter(|event| event.t >= from && event.t <= to);
    let stored = within().filter(|event| match event.machine {
        // A table answers when the item is stored, in however many copies: one write.
        MachineId::Table => {
            matches!(event.kind, Kind::LeaseGranted { .. } | Kind::LeaseRenewed { .. } | Kind::LockReleased { .. })
        }
        MachineId::Store => by_the_store && matches!(event.kind, Kind::FenceRaised { .. }),
        _ => false,
    });
    Cost {
        messages: within().filter(of_the_lock).count(),
        disk_writes: on_disk(run, to) - on_disk(run, from) + stored.count() as u64,
    }
}

/// Entries that the nodes of the replicated log have on their disks.
fn on_disk(run: &Run, at: TrueTime) -> u64 {
    run.world_at(at).nodes().map(|(_, node)| node.durable_length()).sum()
}
