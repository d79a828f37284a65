//! The same story, and the same promises, on every kind of store.

mod common;

use common::*;
use lease_lab_scenarios::Run;
use lease_lab_scenarios::snapshot::{OwnCard, RowCard, Snapshot};
use lease_lab_sim::event::{Kind, RefusedBecause};
use lease_lab_sim::intervention::{Change, Intervention, StoreKind};
use lease_lab_sim::invariants::Invariant;
use lease_lab_sim::machine::WorkerId;
use lease_lab_sim::time::TrueTime;
use proptest::prelude::*;

const STORES: [StoreKind; 3] = [StoreKind::Sql, StoreKind::DynamoDb, StoreKind::S3];

fn on(store: StoreKind, mut case: Case) -> Case {
    case.interventions.insert(0, Intervention { at: TrueTime::ZERO, change: Change::Store(store) });
    case
}

fn row(run: &Run) -> RowCard {
    Snapshot::take(run.end(), run.horizon, None).store.expect("there is a row")
}

/// Why A's late chunk is refused, and when.
fn late_write(run: &Run) -> (f64, RefusedBecause) {
    let mut refusals = run.events.iter().filter_map(|event| match event.kind {
        Kind::WriteRefused { worker: WorkerId::A, because, .. } => Some((event.t.as_seconds(), because)),
        _ => None,
    });
    let first = refusals.next().expect("A is refused");
    assert_eq!(refusals.next(), None, "once");
    first
}

#[test]
fn the_24_beats_come_out_on_every_store() {
    for store in STORES {
        for seed in 0..20 {
            let run = on(store, Case::new("", true, seed)).run();
            let numbers: Vec<u8> = run.beats_in_order().map(|(number, _)| number).collect();
            assert_eq!(numbers, (1..=24).collect::<Vec<u8>>(), "{store}, seed {seed}");
            for invariant in Invariant::ALL {
                let expected = if invariant == Invariant::ActsInTime { "broken" } else { "holds" };
                assert_eq!(verdict(&run, invariant), expected, "{store}: {invariant}");
            }
            let row = row(&run);
            assert_eq!((row.fence, row.invoices_charged, row.charged_twice), (15, 50_000, 0), "{store}");
            let expected = match store {
                StoreKind::S3 => RefusedBecause::ETagChanged,
                _ => RefusedBecause::TokenBelowFence,
            };
            let (t, because) = late_write(&run);
            assert!(near(t, 19.05) && because == expected, "{store}: {because:?} at {t}");
        }
    }
}

/// What happens without a fence differs: an invoice on condition of its absence needs none to be charged once.
#[test]
fn without_a_fence_each_store_shows_what_else_it_has() {
    for (store, twice) in [(StoreKind::Sql, 5_000), (StoreKind::DynamoDb, 0), (StoreKind::S3, 5_000)] {
        let run = on(store, Case::new("0 fence off", true, 0)).run();
        assert_eq!(row(&run).charged_twice, twice, "{store}");
        assert_eq!(verdict(&run, Invariant::ChargedOnce), if twice > 0 { "broken" } else { "holds" }, "{store}");
    }
    for store in STORES {
        let run = on(store, Case::new("0 fence off; 0 idempotent on", true, 0)).run();
        assert_eq!(row(&run).charged_twice, 0, "{store}");
    }
}

proptest! {
    #![proptest_config(cases_count(300))]

    #[test]
    fn the_fence_holds_on_every_store(case in faulty_cases()) {
        for store in STORES {
            let run = on(store, case.clone()).run();
            prop_assert_eq!(verdict(&run, Invariant::ChargedOnce), "holds", "{}", store);
            prop_assert_eq!(verdict(&run, Invariant::NoStaleWrite), "holds", "{}", store);
        }
    }

    /// A second copy of a write finds what the first has left: a changed ETag, or invoices that are there.
    #[test]
    fn doubled_messages_charge_nobody_twice_where_writes_are_conditional(case in late_or_twice_cases()) {
        for store in [StoreKind::DynamoDb, StoreKind::S3] {
            let run = on(store, case.clone()).run();
            prop_assert_eq!(verdict(&run, Invariant::ChargedOnce), "holds", "{}", store);
            prop_assert_eq!(verdict(&run, Invariant::NoStaleWrite), "holds", "{}", store);
        }
    }
}

#[test]
fn a_stray_object_changes_nothing() {
    let run = on(StoreKind::S3, Case::new("", true, 0)).run();
    let Some(OwnCard::S3 { stray, named, .. }) = row(&run).own else { panic!("S3 shows its objects") };
    assert_eq!(stray, ["chunk-02/token-7"]);
    assert_eq!(named.len(), 10);
}
