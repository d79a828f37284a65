//! What no fence protects: what happens outside the store.

use lease_lab_sim::event::Kind;
use lease_lab_sim::settings::{Partner, Plan};
use lease_lab_sim::time::grouped;

use super::billing_story::{self, BEATS, BOOKMARKS};
use crate::Run;
use crate::knobs::{Choice, Knob, Takes};
use crate::measures::{Measure, Value};
use crate::scenario::{Extra, Scenario, Variant};

pub(super) static SCENARIO: Scenario = Scenario {
    id: "side-effects",
    part: 4,
    name: "What a fence does not protect",
    title: "The store refuses the zombie’s late write, and the partner outside carries out its late call",
    lede: "With each chunk, a worker also calls a partner who tells the customers: an e-mail service, a payment API, \
           somebody’s webhook. The partner knows no token and no fence. A wakes up late and does both.",
    notice: &[
        "The store refuses A’s late chunk. At the same moment the partner takes A’s late call: all customers of the \
         chunk hear the same thing a second time, and nobody can take that back.",
        "An idempotency key names the thing that is to be done, here the job and the chunk, and not the caller or the \
         attempt. The partner stores it together with what it has done, so it recognises the second call and drops it.",
        "A key helps only if both calls carry the same one. A key that is made up anew for each attempt, or that holds \
         the token, is a different key, and the effect happens twice.",
    ],
    plan,
    faults: "4 pause A 15",
    knobs: &[&IDEMPOTENCY_KEY],
    variants: &[
        Variant::adding("With an idempotency key", "0 set idempotency-key on"),
        Variant::instead("No pause", ""),
        Variant::instead("A call arrives twice", "0.9 duplicate A partner"),
        Variant::instead("A call arrives twice, with a key", "0.9 duplicate A partner; 0 set idempotency-key on"),
    ],
    measures,
    extras: &[Extra::Requests],
    window: (0, 21),
    beats: BEATS.split_at(14).0,
    bookmarks: BOOKMARKS.split_at(3).0,
    ..Scenario::BASE
};

static IDEMPOTENCY_KEY: Knob = Knob {
    key: "idempotency-key",
    name: "Idempotency key",
    takes: Takes::Choice(&[
        Choice {
            value: "off",
            means: "the partner does what it is asked",
            apply: |plan| plan.partner = Some(Partner { idempotency_key: false }),
        },
        Choice {
            value: "on",
            means: "calls for the same chunk carry the same key, and the partner stores it with the effect",
            apply: |plan| plan.partner = Some(Partner { idempotency_key: true }),
        },
    ]),
};

fn plan() -> Plan {
    Plan { partner: Some(Partner::default()), ..billing_story::plan() }
}

fn measures(run: &Run) -> Vec<Measure> {
    let count = |fits: fn(&Kind) -> bool| run.events.iter().filter(|event| fits(&event.kind)).count() as u64;
    let refused = count(|kind| matches!(kind, Kind::WriteRefused { .. }));
    let recognised = count(|kind| matches!(kind, Kind::EffectRecognised { .. }));
    let again: Vec<(u8, u32)> = run
        .events
        .iter()
        .filter_map(|event| match event.kind {
            Kind::EffectDone { chunk, customers, times: 2, .. } => Some((chunk, customers)),
            _ => None,
        })
        .collect();
    let twice: u64 = again.iter().map(|(_, customers)| u64::from(*customers)).sum();
    let told: Vec<String> =
        again.iter().map(|(chunk, customers)| format!("{} of chunk {chunk}", grouped((*customers).into()))).collect();
    let calls = count(|kind| matches!(kind, Kind::EffectDone { .. } | Kind::EffectRecognised { .. }));
    let done = calls - recognised;
    vec![
        Measure::new("refused", "Late writes that the store refuses", Some(Value::Count(refused)), ""),
        Measure::new(
            "done",
            "Calls that the partner carries out",
            Some(Value::Count(done)),
            format!("{calls} calls − {recognised} that it recognises"),
        ),
        Measure::new("told-twice", "Customers who are told twice", Some(Value::Count(twice)), told.join(", ")),
        Measure::new("recognised", "Calls that the partner recognises and drops", Some(Value::Count(recognised)), ""),
    ]
}
