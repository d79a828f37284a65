//! A new holder that reads first and raises later works from a row that is stale.

use lease_lab_sim::event::Kind;
use lease_lab_sim::machine::WorkerId;

use crate::Run;
use crate::measures::{Measure, Value};
use crate::scenario::{Scenario, Variant};
use crate::trace;

pub(super) static SCENARIO: Scenario = Scenario {
    id: "raise-first",
    part: 4,
    name: "Raise before you read",
    title: "The new holder reads first and raises later, and the zombie’s write lands between",
    lede: "B takes over and reads the row: chunk 1 is done. It will raise the fence just before its first write. In \
           between, A wakes up and writes chunk 2, and no fence stands against it yet.",
    notice: &[
        "A’s write is not even a stale one: no higher token has written. It is the order of B’s steps that makes it \
         harmful.",
        "B’s raise returns the row with chunk 2 in it, but B has built its chunk from what it had read before. A raise \
         that comes first returns a row that no lower token can change any more.",
    ],
    plan: super::billing_story::plan,
    faults: "0 raise late; 4 pause A 9.7",
    variants: &[
        Variant::instead("B raises first", "4 pause A 9.7"),
        Variant::instead("B raises late, A sleeps longer", "0 raise late; 4 pause A 15"),
        Variant::adding("The store recognises a chunk that it has", "0 idempotent on"),
    ],
    measures,
    window: (13, 15),
    ..Scenario::BASE
};

fn measures(run: &Run) -> Vec<Measure> {
    let at =
        |event: Option<&lease_lab_sim::event::Event>| event.map(|event| Value::Seconds(trace::since_start(event.t)));
    let read = trace::first(run, |kind| matches!(kind, Kind::RowReturned { worker: WorkerId::B, .. }));
    let raised = trace::first(run, |kind| matches!(kind, Kind::FenceRaised { worker: WorkerId::B, .. }));
    let late = trace::late_write(run, WorkerId::A);
    vec![
        Measure::new("read", "When B has the row", at(read), ""),
        Measure::new("raised", "When B’s raise reaches the store", at(raised), ""),
        Measure::new(
            "late-write",
            "When A’s late write reaches the store",
            late.map(|write| Value::Seconds(trace::since_start(write.t))),
            late.map_or(String::new(), |write| {
                let verdict = if write.accepted { "accepted" } else { "refused" };
                format!("{verdict}: token {}, fence {}", write.token, write.fence)
            }),
        ),
        Measure::new("charged-twice", "Customers charged twice", Some(Value::Count(trace::charged_twice(run))), ""),
    ]
}
