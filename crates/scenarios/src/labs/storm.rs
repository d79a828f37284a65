//! The lock service cannot be reached for half a minute: thousands of leases expire while their holders are healthy.

use std::collections::BTreeMap;

use lease_lab_sim::event::Kind;
use lease_lab_sim::machine::{JobId, WorkerId};
use lease_lab_sim::settings::{Finds, Plan, Program, Sweeping, Trace};
use lease_lab_sim::time::{Span, TrueTime, grouped};

use crate::Run;
use crate::knobs::{Choice, Knob, Takes};
use crate::measures::{Measure, Value};
use crate::scenario::{Extra, Scenario, Variant};

pub(super) static SCENARIO: Scenario = Scenario {
    id: "storm",
    part: 6,
    name: "A sweeper that does not storm",
    title: "A thousand leases expire at once, and every holder is healthy",
    lede: "The lock service cannot be reached for 30 s. No holder can renew, so all leases expire, although almost all \
           holders are alive and will come back for their locks by themselves. What does a sweeper do that sees a \
           thousand orphans?",
    notice: &[
        "The naive sweeper re-queues every row in the moment in which the service answers again. Now everybody finds \
         queued jobs and claims at once, just when the service has recovered, and takes other people’s half-done work.",
        "Each rule works alone: a cap and jitter spread the re-queues, the pause and the hold-off leave time for the \
         holders to come back. A and B really died; under each rule somebody takes over their jobs in the end, only \
         later.",
        "No rule is needed for safety. Every re-queue is conditional, and every new holder raises the fence: a storm \
         costs work and load, never data.",
    ],
    plan,
    faults: "12 outage 30; 20 crash A; 20 crash B",
    knobs: &[&HOLDERS, &CAP, &JITTER, &PAUSE_SHARE, &HOLD_OFF, &super::sweeper::SIGHTINGS, &super::sweeper::EVERY],
    variants: &[
        Variant::adding("At most 50 re-queues in a sweep", "0 set cap 50"),
        Variant::adding("Re-queues spread over 20 s", "0 set jitter 20"),
        Variant::adding("A pause if more than 5 % seem orphaned", "0 set pause-share 5"),
        Variant::adding("Hold off for one lease", "0 set hold-off on"),
        Variant::adding("No sweeper at all", "0 sweeper off"),
    ],
    any_service_and_store: false,
    measures,
    extras: &[Extra::Plot],
    ..Scenario::BASE
};

/// Holders in the run as it is.
const HOLDERS_DEFAULT: u16 = 1_000;
/// One worker without a job of its own for so many with one.
const HOLDERS_PER_SPARE: u16 = 100;
/// All start within this time, one after another.
const START_WITHIN: Span = Span::seconds(6);

pub(super) static HOLDERS: Knob = Knob {
    key: "holders",
    name: "Holders, each with a job of its own",
    takes: Takes::Count { from: 100, to: 10_000, apply: |plan, count| set_holders(plan, count as u16) },
};
static CAP: Knob = Knob {
    key: "cap",
    name: "The most re-queues of one sweep",
    takes: Takes::Count { from: 1, to: 10_000, apply: |plan, cap| plan.sweeping.cap = Some(cap) },
};
static JITTER: Knob = Knob {
    key: "jitter",
    name: "Each re-queue waits for a random part of this time",
    takes: Takes::Seconds { from: Span::ZERO, to: Span::seconds(60), apply: |plan, span| plan.sweeping.jitter = span },
};
static PAUSE_SHARE: Knob = Knob {
    key: "pause-share",
    name: "Re-queue nothing if more than so many per cent of all claims seem orphaned",
    takes: Takes::Count { from: 1, to: 100, apply: |plan, share| plan.sweeping.pause_share = Some(share as u8) },
};
static HOLD_OFF: Knob = Knob {
    key: "hold-off",
    name: "Judge nobody for one lease after the service has come back",
    takes: Takes::Choice(&[
        Choice { value: "off", means: "judge at once", apply: |plan| plan.sweeping.hold_off = false },
        Choice { value: "on", means: "wait for one lease", apply: |plan| plan.sweeping.hold_off = true },
    ]),
};

fn plan() -> Plan {
    let mut plan = Plan {
        chunks: 3,
        sweeping: Sweeping { every: Span::seconds(1), sightings: 1, together: true, ..Sweeping::default() },
        horizon: TrueTime::from_millis(120_000),
        trace: Trace::Outcomes,
        ..Plan::default()
    };
    // So many clients do not ask a service that does not answer twice a second.
    plan.latency.lock_backoff = Span::seconds(2);
    set_holders(&mut plan, HOLDERS_DEFAULT);
    plan
}

fn set_holders(plan: &mut Plan, holders: u16) {
    let spares = (holders / HOLDERS_PER_SPARE).max(2);
    let every = Span::seconds(2);
    let holder = |number: u16| Program {
        job: JobId(number),
        starts: Some(TrueTime::ZERO + START_WITHIN * i64::from(number) / i64::from(holders)),
        finds: Finds::Fleet { every, returns: Span::seconds(10) },
        work_default: Span::seconds(16),
        ..Program::idle(WorkerId(number))
    };
    let spare = |number: u16| Program {
        job: JobId(number - holders),
        finds: Finds::Fleet { every, returns: Span::ZERO },
        ..holder(number)
    };
    plan.jobs = holders;
    plan.programs = (0..holders).map(holder).chain((holders..holders + spares).map(spare)).collect();
}

/// When the lock service could be reached again.
fn back_at(run: &Run) -> Option<TrueTime> {
    let back = run.events.iter().find(|event| matches!(event.kind, Kind::OutageEnded | Kind::Healed));
    back.map(|event| event.t)
}

/// The most events of one kind in one second, from `from` on, and when that second begins.
fn peak(run: &Run, from: TrueTime, counts: impl Fn(&Kind) -> bool) -> (u64, TrueTime) {
    let second = Span::seconds(1).as_micros();
    let (mut most, mut of) = ((0, from), (0, TrueTime::ZERO));
    for event in run.events.iter().filter(|event| event.t >= from && counts(&event.kind)) {
        let begins = TrueTime::from_micros(event.t.as_micros() / second * second);
        of = if of.1 == begins { (of.0 + 1, begins) } else { (1, begins) };
        if of.0 > most.0 {
            most = of;
        }
    }
    most
}

fn peak_measure(id: &'static str, name: &str, (count, begins): (u64, TrueTime)) -> Measure {
    let how = if count == 0 { String::new() } else { format!("in the second from {} on", begins.told()) };
    Measure::new(id, name, Some(Value::Count(count)), how)
}

/// What became of the jobs after the service was back.
struct Recovery {
    /// When the last job whose lease had expired was taken again.
    all_running: Option<TrueTime>,
    /// Jobs that went to another worker although their holder was alive.
    moved: u64,
}

fn recovery(run: &Run) -> Recovery {
    // Job: who took it last, and whether it waits to be taken again.
    let mut jobs: BTreeMap<JobId, (WorkerId, bool)> = BTreeMap::new();
    let (mut waiting, mut all_running, mut moved) = (0_u64, None, 0);
    let mut dead = Vec::new();
    for event in &run.events {
        match &event.kind {
            Kind::Crashed { worker: Some(worker) } => dead.push(*worker),
            Kind::LeaseExpired { job, .. } => {
                if let Some((_, expired)) = jobs.get_mut(job) {
                    waiting += u64::from(!std::mem::replace(expired, true));
                }
            }
            Kind::FenceRaised { job, worker, .. } => {
                let before = jobs.insert(*job, (*worker, false));
                let Some((holder, true)) = before else { continue };
                waiting -= 1;
                all_running = Some(event.t);
                moved += u64::from(holder != *worker && !dead.contains(&holder));
            }
            _ => {}
        }
    }
    Recovery { all_running: all_running.filter(|_| waiting == 0), moved }
}

fn measures(run: &Run) -> Vec<Measure> {
    let back = back_at(run);
    let from = back.unwrap_or(TrueTime::ZERO);
    let count = |counts: &dyn Fn(&Kind) -> bool| {
        run.events.iter().filter(|event| event.t >= from && counts(&event.kind)).count() as u64
    };
    let is_requeue = |kind: &Kind| matches!(kind, Kind::RowRequeued { .. });
    let is_claim = |kind: &Kind| matches!(kind, Kind::LeaseGranted { .. });
    let Recovery { all_running, moved } = recovery(run);
    let dropped: Vec<Span> = run
        .events
        .iter()
        .filter_map(|event| match event.kind {
            Kind::WorkDropped { spent, .. } => Some(spent),
            _ => None,
        })
        .collect();
    let lost = dropped.iter().fold(Span::ZERO, |sum, spent| sum + *spent);
    let in_vain = count(&|kind| matches!(kind, Kind::LockBusy { .. }));
    vec![
        peak_measure(
            "expiries-peak",
            "The most leases that expire in one second",
            peak(run, TrueTime::ZERO, |kind| matches!(kind, Kind::LeaseExpired { .. })),
        ),
        peak_measure("requeues-peak", "The most re-queues in one second", peak(run, TrueTime::ZERO, is_requeue)),
        Measure::new("requeues", "Re-queues in all", Some(Value::Count(count(&is_requeue))), ""),
        peak_measure("claims-peak", "The most claims in one second after the outage", peak(run, from, is_claim)),
        Measure::new("claims-in-vain", "Attempts that find the lock taken", Some(Value::Count(in_vain)), ""),
        Measure::new("moved", "Jobs taken from a healthy holder", Some(Value::Count(moved)), ""),
        Measure::new(
            "work-lost",
            "Work thrown away, all workers together",
            Some(Value::Seconds(lost)),
            format!("half-done chunks of {} workers", grouped(dropped.len() as u64)),
        ),
        Measure::new(
            "all-running",
            "From the end of the outage until every job is running again",
            all_running.zip(back).map(|(running, back)| Value::Seconds(running - back)),
            all_running
                .zip(back)
                .map_or(String::new(), |(running, back)| format!("{} − {}", running.told(), back.told())),
        ),
    ]
}
