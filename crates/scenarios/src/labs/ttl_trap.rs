//! The item that carries the epoch is deleted or restored, and the epoch forgets.

use lease_lab_sim::event::Kind;
use lease_lab_sim::machine::WorkerId;
use lease_lab_sim::message::Token;
use lease_lab_sim::settings::{Plan, Program, ServiceKind, Settings};
use lease_lab_sim::time::{Span, TrueTime};

use super::claim_rules::CLAIM_RULE;
use crate::Run;
use crate::knobs::{Knob, Takes};
use crate::measures::{Measure, Value};
use crate::scenario::{Extra, Scenario, Variant};
use crate::trace;

pub(super) static SCENARIO: Scenario = Scenario {
    id: "ttl-trap",
    part: 5,
    name: "TTL is not a deadline",
    title: "A clean-up deletes the lease item, and its epoch starts again at 1",
    lede: "A table’s time to live (TTL) deletes items some time after they have expired: in DynamoDB typically within a \
           few days, here after two seconds so that it can be seen. Until then the item can be read and updated as \
           ever. Here TTL is on the item that carries the epoch.",
    notice: &[
        "TTL takes the epoch with the item. B’s claim creates a new one, whose epoch begins anew: a token that the \
         store has already seen. When A wakes up, the fence cannot tell the two apart.",
        "A point-in-time restore does the same in another way: it brings back an old epoch, and the next claim repeats \
         a token. Add a large number to the epoch before anybody uses the restored table, and it is above all that \
         any store has seen.",
        "So TTL belongs on no item that carries an epoch, and TTL is no deadline: nobody may wait for it. A global \
         table with multi-Region strong consistency has no TTL at all.",
    ],
    plan,
    faults: "4 pause A 15",
    knobs: &[&TTL, &CLAIM_RULE],
    variants: &[
        Variant::adding("No TTL", "0 set ttl 0"),
        Variant::instead(
            "No TTL, but a restore brings epoch 1 back",
            "0 set ttl 0; 4 pause A 15; 20.55 pause B 15; 25 restore 1",
        ),
        Variant::instead(
            "The restored epoch jumps by 1,000,000 before use",
            "0 set ttl 0; 4 pause A 15; 20.55 pause B 15; 25 restore 1 bump 1000000",
        ),
    ],
    measures,
    extras: &[Extra::Requests],
    window: (0, 32),
    ..Scenario::BASE
};

static TTL: Knob = Knob {
    key: "ttl",
    name: "How long after lease_until TTL deletes the item; 0: no TTL",
    takes: Takes::Seconds {
        from: Span::ZERO,
        to: Span::seconds(600),
        apply: |plan, after| plan.lease_items.ttl = (after > Span::ZERO).then_some(after),
    },
};

/// A and B as in the story; C waits for the lock from 24.0 on.
fn plan() -> Plan {
    let ms = Span::millis;
    let mut plan = Plan {
        settings: Settings { sweeper: false, ..Settings::default() },
        service: ServiceKind::LeaseItem,
        programs: super::billing_story::plan().programs.into_iter().take(1).collect(),
        ..Plan::default()
    };
    plan.programs.push(Program {
        starts: Some(TrueTime::from_millis(10_500)),
        work: vec![(2, ms(200))],
        ..Program::idle(WorkerId::B)
    });
    plan.programs.push(Program { starts: Some(TrueTime::from_millis(24_000)), ..Program::idle(WorkerId::C) });
    plan.lease_items.ttl = Some(Span::seconds(2));
    plan
}

fn measures(run: &Run) -> Vec<Measure> {
    let epochs: Vec<String> = trace::tokens(run).iter().map(u64::to_string).collect();
    let lost = trace::first(run, |kind| matches!(kind, Kind::ItemDeleted { .. } | Kind::ItemRestored { .. }));
    let repeated = repeated(run);
    vec![
        Measure::new(
            "epochs",
            "The epochs of the claims, in order",
            Some(Value::Text(epochs.join(", "))),
            lost.map_or(String::new(), |event| match event.kind {
                Kind::ItemDeleted { .. } => format!("the item is deleted at {}", event.t.told()),
                _ => format!("the table is restored at {}", event.t.told()),
            }),
        ),
        Measure::new(
            "repeated",
            "The token that is granted although the store has already seen it or a higher one",
            repeated.map(|(token, ..)| Value::Count(token)),
            repeated.map_or(String::new(), |(token, seen, worker)| {
                format!("{worker} gets {token} when the store has seen {seen}")
            }),
        ),
        Measure::new("charged-twice", "Customers charged twice", Some(Value::Count(trace::charged_twice(run))), ""),
    ]
}

/// The first grant whose token is not above all that the store had accepted: the token, what was seen, for whom.
fn repeated(run: &Run) -> Option<(Token, Token, WorkerId)> {
    let mut seen = 0;
    for event in &run.events {
        match event.kind {
            Kind::FenceRaised { token, .. } | Kind::ChunkWritten { token, .. } => seen = seen.max(token),
            Kind::LeaseGranted { token, worker, .. } if token <= seen => return Some((token, seen, worker)),
            _ => {}
        }
    }
    None
}
