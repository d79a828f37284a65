//! One fence item for everybody: the most that it can take.

use lease_lab_sim::event::Kind;
use lease_lab_sim::settings::{ATTEMPTS_MAX, Cluster, Plan, Settings, StoreKind, Trace, Writers};
use lease_lab_sim::time::{Span, TrueTime, grouped};

use crate::Run;
use crate::knobs::{Knob, Takes};
use crate::measures::{Measure, Value};
use crate::scenario::{Extra, Scenario, Variant};

pub(super) static SCENARIO: Scenario = Scenario {
    id: "hot-fence",
    part: 5,
    name: "The hot fence item",
    title: "Every raise and every check touches one item, and one item is in one partition",
    lede: "Many writers, each with data of its own, check the same fence item in every transaction. A partition of \
           DynamoDB takes at most 1,000 write units a second, and a transactional write costs two units for each item, \
           a check included. What is throttled is sent again as the SDKs’ standard mode does it: after a random part \
           of 1 s, then of 2 s, and after three attempts the write has failed.",
    notice: &[
        "As long as the load is within what the item can serve, nothing is throttled. Above it the item serves no \
         more than that, and the rest comes back: compare what the writers begin with what reaches the item.",
        "Retries help against a short burst. Against a load that lasts they only put off the failure: what the item \
         cannot serve waits, and is given up in the end, however often it was sent.",
        "The writers’ own items spread over as many partitions as the table needs; the fence item does not. A way out \
         is to protect less with one fence: one fence item for each job, or for each part of a job, instead \
         of one for all.",
    ],
    plan,
    knobs: &[&LOAD, &ATTEMPTS],
    variants: &[
        Variant::adding("100 checks a second", "0 set load 100"),
        Variant::adding("500 checks a second", "0 set load 500"),
        Variant::adding("501 checks a second", "0 set load 501"),
        Variant::adding("1,000 checks a second", "0 set load 1000"),
        Variant::adding("5,000 checks a second", "0 set load 5000"),
        Variant::adding("No retries", "0 set attempts 1"),
        Variant::adding("Ten attempts", "0 set attempts 10"),
    ],
    measures,
    extras: &[Extra::Calculator("hot-fence")],
    ..Scenario::BASE
};

static LOAD: Knob = Knob {
    key: "load",
    name: "Checked writes a second",
    takes: Takes::Count { from: 1, to: 5_000, apply: |plan, load| plan.writers.per_second = load },
};

static ATTEMPTS: Knob = Knob {
    key: "attempts",
    name: "Attempts of one write",
    takes: Takes::Count {
        from: 1,
        to: ATTEMPTS_MAX as u32,
        apply: |plan, attempts| plan.writers.attempts = attempts as usize,
    },
};

/// Nothing but the writers and their table: nobody takes locks here.
fn plan() -> Plan {
    Plan {
        settings: Settings { sweeper: false, ..Settings::default() },
        store: StoreKind::DynamoDb,
        cluster: Cluster { election_timeouts: Vec::new(), ..Cluster::default() },
        writers: Writers { per_second: 600, ..Writers::default() },
        horizon: TrueTime::from_millis(10_000),
        trace: Trace::Outcomes,
        ..Plan::default()
    }
}

/// What happens in the seconds that are measured.
#[derive(Default)]
struct Seen {
    served: u64,
    throttled: u64,
    retries: u64,
    given_up: u64,
}

/// How many seconds are measured.
const MEASURED: i64 = 4;

/// Counted once the first retries have run their course.
fn seen(run: &Run) -> Seen {
    // A batch is sent at full hundredths and arrives a moment later.
    let from = TrueTime::from_millis(5_005);
    let window = from..from + Span::seconds(MEASURED);
    let mut seen = Seen::default();
    for event in run.events.iter().filter(|event| window.contains(&event.t)) {
        match event.kind {
            Kind::ChecksServed { accepted, throttled, retries, .. } => {
                seen.served += u64::from(accepted);
                seen.throttled += u64::from(throttled);
                seen.retries += u64::from(retries);
            }
            Kind::ChecksGivenUp { count, .. } => seen.given_up += u64::from(count),
            _ => {}
        }
    }
    seen
}

fn measures(run: &Run) -> Vec<Measure> {
    let Seen { served, throttled, retries, given_up } = seen(run);
    let Writers { units_per_second, units_per_check, .. } = run.plan.writers;
    let most = u64::from(units_per_second / units_per_check);
    let offered = served + throttled;
    let a_second = |id, name, count: u64, how: &str| {
        let seconds = MEASURED.unsigned_abs();
        let a_second = (count + seconds / 2) / seconds;
        Measure::new(id, name, Some(Value::Count(a_second)), format!("{how}{} ÷ {seconds}", grouped(count)))
    };
    vec![
        a_second("begun", "Checked writes that the writers begin in a second", offered - retries, ""),
        a_second(
            "offered",
            "Checks that reach the item in a second",
            offered,
            &format!("({} + {} retries) ÷ {MEASURED} = ", grouped(offered - retries), grouped(retries)),
        ),
        a_second("served", "Of these, served", served, ""),
        a_second(
            "throttled",
            "Of these, throttled",
            throttled,
            &format!("({} − {}) ÷ {MEASURED} = ", grouped(offered), grouped(served)),
        ),
        a_second("given-up", "Writes that fail for good in a second", given_up, ""),
        Measure::new(
            "waiting",
            "Writes that wait for their next attempt when the run ends",
            run.end().writers().map(|writers| Value::Count(writers.waiting())),
            "",
        ),
        Measure::new(
            "most",
            "The most that one item can serve in a second",
            Some(Value::Count(most)),
            format!("{} ÷ {units_per_check}", grouped(units_per_second.into())),
        ),
    ]
}
