//! One fence item for everybody: the most that it can take.

use lease_lab_sim::event::Kind;
use lease_lab_sim::settings::{Cluster, Plan, Settings, StoreKind, Trace, Writers};
use lease_lab_sim::time::{TrueTime, grouped};

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
           a check included.",
    notice: &[
        "The writers’ own items spread over as many partitions as the table needs. The fence item does not: whatever \
         the table is allowed to take, this one item is the limit.",
        "Below 500 checks a second everything is served. Above it, exactly 500 are served, and the rest is throttled \
         and has to be sent again, which makes the load worse.",
        "A way out is to protect less with one fence: one fence item for each job, or for each part of a job, instead \
         of one for all.",
    ],
    plan,
    knobs: &[&LOAD],
    variants: &[
        Variant::adding("100 checks a second", "0 set load 100"),
        Variant::adding("500 checks a second", "0 set load 500"),
        Variant::adding("501 checks a second", "0 set load 501"),
        Variant::adding("1,000 checks a second", "0 set load 1000"),
        Variant::adding("5,000 checks a second", "0 set load 5000"),
    ],
    measures,
    extras: &[Extra::Plot, Extra::Calculator("hot-fence")],
    ..Scenario::BASE
};

static LOAD: Knob = Knob {
    key: "load",
    name: "Checked writes a second",
    takes: Takes::Count { from: 1, to: 5_000, apply: |plan, load| plan.writers.per_second = load },
};

/// Nothing but the writers and their table: nobody takes locks here.
fn plan() -> Plan {
    Plan {
        settings: Settings { sweeper: false, ..Settings::default() },
        store: StoreKind::DynamoDb,
        cluster: Cluster { election_timeouts: Vec::new(), ..Cluster::default() },
        writers: Writers { per_second: 600, ..Writers::default() },
        horizon: TrueTime::from_millis(5_000),
        trace: Trace::Outcomes,
        ..Plan::default()
    }
}

/// What the item served and what it throttled within one second, once the run has got going.
fn in_one_second(run: &Run) -> (u64, u64) {
    // A batch is sent at full hundredths and arrives a moment later.
    let second = TrueTime::from_millis(1_005)..TrueTime::from_millis(2_005);
    run.events.iter().filter(|event| second.contains(&event.t)).fold((0, 0), |(served, refused), event| {
        match event.kind {
            Kind::ChecksServed { accepted, throttled, .. } => {
                (served + u64::from(accepted), refused + u64::from(throttled))
            }
            _ => (served, refused),
        }
    })
}

fn measures(run: &Run) -> Vec<Measure> {
    let (served, throttled) = in_one_second(run);
    let Writers { units_per_second, units_per_check, .. } = run.plan.writers;
    let most = u64::from(units_per_second / units_per_check);
    vec![
        Measure::new("offered", "Checks that reach the item in a second", Some(Value::Count(served + throttled)), ""),
        Measure::new(
            "served",
            "Of these, served",
            Some(Value::Count(served)),
            format!(
                "{} × {units_per_check} = {} write units",
                grouped(served),
                grouped(served * u64::from(units_per_check))
            ),
        ),
        Measure::new(
            "throttled",
            "Of these, throttled",
            Some(Value::Count(throttled)),
            format!("{} − {}", grouped(served + throttled), grouped(served)),
        ),
        Measure::new(
            "most",
            "The most that one item can serve in a second",
            Some(Value::Count(most)),
            format!("{} ÷ {units_per_check}", grouped(units_per_second.into())),
        ),
    ]
}
