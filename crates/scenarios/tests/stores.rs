//! The same story, and the same promises, on every kind of store.

mod common;

use common::*;
use lease_lab_scenarios::Run;
use lease_lab_scenarios::measures::Value;
use lease_lab_scenarios::run::Input;
use lease_lab_scenarios::snapshot::{OwnCard, RowCard, Snapshot};
use lease_lab_scenarios::wire::{self, Exchange};
use lease_lab_sim::event::{Event, GaveUpBecause, Kind, RefusedBecause};
use lease_lab_sim::intervention::{Change, Intervention, StoreKind, parse_list};
use lease_lab_sim::invariants::Invariant;
use lease_lab_sim::machine::{JobId, MachineId, WorkerId};
use lease_lab_sim::time::{Span, TrueTime};
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

fn lab(id: &str, text: Option<&str>) -> Run {
    let scenario = lease_lab_scenarios::find(id).unwrap_or_else(|| panic!("{id} is a scenario"));
    let mut interventions = scenario.own_interventions();
    match text {
        Some(text) if text.starts_with("plain ") => interventions = parse(&text[6..]),
        Some(text) => interventions.extend(parse(text)),
        None => {}
    }
    Run::new(scenario, Input { interventions: Some(interventions), ..Input::default() })
        .unwrap_or_else(|mistake| panic!("{mistake}"))
}

fn parse(text: &str) -> Vec<Intervention> {
    parse_list(text).unwrap_or_else(|mistake| panic!("{mistake}"))
}

fn measured(run: &Run, id: &str) -> Value {
    let measures = run.measures();
    let measure = measures.into_iter().find(|measure| measure.id == id).unwrap_or_else(|| panic!("{id} is measured"));
    measure.value.unwrap_or_else(|| panic!("{id} comes to something"))
}

fn text(value: &str) -> Value {
    Value::Text(value.into())
}

/// Each accepted rewriting of the manifest makes the next version, from E0 on.
#[test]
fn a_sends_the_etag_of_its_own_last_rewriting() {
    let run = lab("fence-s3", None);
    let rewritten_by = |worker: WorkerId| {
        run.events
            .iter()
            .filter(|event| event.t < seconds(19.05) && event.kind.worker() == Some(worker))
            .filter(|event| matches!(event.kind, Kind::FenceRaised { .. } | Kind::ChunkWritten { .. }))
            .count()
    };
    let (by_a, by_b) = (rewritten_by(WorkerId::A), rewritten_by(WorkerId::B));
    assert_eq!((by_a, by_b), (2, 2), "each has raised and recorded one chunk");
    assert_eq!(measured(&run, "sent-etag"), Value::Text(format!("E{by_a}")));
    assert_eq!(measured(&run, "current-etag"), Value::Text(format!("E{}", by_a + by_b)));
    assert_eq!(measured(&run, "answer"), text("412 Precondition Failed"));
    assert_eq!(measured(&run, "charged-by-stray"), Value::Count(0));
    assert_eq!(measured(&run, "stray"), Value::Count(1));

    let unfenced = lab("fence-s3", Some("0 fence off"));
    assert_eq!(measured(&unfenced, "sent-etag"), text("none"));
    assert_eq!(measured(&unfenced, "answer"), text("200 OK"));
    assert_eq!(measured(&unfenced, "charged-twice"), Value::Count(5_000));
    // Two holders name a chunk each, and only the last manifest counts.
    let late = lab("fence-s3", Some("plain 4 pause A 9.7; 0 raise late"));
    assert_eq!(measured(&late, "charged-twice"), Value::Count(5_000), "the new holder did not see A’s chunk");
}

/// The first PUT goes on; the other's sender reads the manifest and finds what became of it.
#[test]
fn a_put_that_meets_another_in_progress_gets_409() {
    let seconds_of = |text: f64| Value::Seconds(Span::micros((text * 1e6).round() as i64));
    let (delay, takes) = (0.05_f64, 0.02);
    // B asks for the manifest at 13.55, and its PUT leaves as soon as it has it.
    let b_arrives = 13.55 + 3.0 * delay;
    // A’s PUT leaves when A wakes up.
    for (pause, first) in [("plain 4 pause A 9.66", WorkerId::B), ("plain 4 pause A 9.64", WorkerId::A)] {
        let run = lab("fence-s3", Some(pause));
        let a_arrives = if first == WorkerId::B { 13.66 } else { 13.64 } + delay;
        assert!((a_arrives - b_arrives).abs() < takes, "{pause}: they overlap");
        assert_eq!(measured(&run, "conflicts"), Value::Count(1), "{pause}");
        assert_eq!(measured(&run, "charged-twice"), Value::Count(0), "{pause}");
        let (answer, retried) = match first {
            WorkerId::B => ("409 ConditionalRequestConflict", 0.0),
            // The answer, the manifest, and the PUT again.
            _ => ("200 OK", 4.0 * delay),
        };
        assert_eq!(measured(&run, "answer"), text(answer), "{pause}");
        assert_eq!(measured(&run, "raised"), seconds_of(b_arrives + retried + takes), "{pause}");
        let fence_above = |event: &Event| {
            matches!(event.kind, Kind::GaveUp { worker: WorkerId::A, because: GaveUpBecause::FenceAbove, .. })
        };
        let superseded = run.events.iter().any(fence_above);
        assert_eq!(superseded, first == WorkerId::B, "{pause}: A finds B’s token, and ends");
    }
    let alone = lab("fence-s3", None);
    assert_eq!(measured(&alone, "conflicts"), Value::Count(0));
    let exchange = exchange(&lab("fence-s3", Some("plain 4 pause A 9.66")), WorkerId::A, "chunk 2", 13.75);
    assert_holds(&exchange.answer, &["HTTP/1.1 409 Conflict", "ConditionalRequestConflict"]);
}

/// One of a transaction's 100 actions is on the fence item.
#[test]
fn the_transactions_of_a_chunk_and_of_the_run() {
    let (invoices, chunks) = (5_000_u64, 10);
    // The puts and the mark, beside the check.
    let of_a_chunk = (invoices + 1).div_ceil(100 - 1);
    let run = lab("fence-dynamodb", None);
    assert_eq!(measured(&run, "chunk-transactions"), Value::Count(of_a_chunk));
    assert_eq!(measured(&run, "run-transactions"), Value::Count(of_a_chunk * chunks));
    assert_eq!(measured(&run, "late-cancelled"), Value::Count(of_a_chunk - 1), "the marking one never goes");
    let how = |run: &Run| {
        run.measures().into_iter().find(|measure| measure.id == "late-cancelled").expect("it is measured").how
    };
    assert_eq!(how(&run), "the first: ConditionalCheckFailed, 99 times None");
    let written_by_then = lab("fence-dynamodb", Some("0 set b-work 0.2"));
    assert_eq!(how(&written_by_then), "the first: 100 times ConditionalCheckFailed", "the invoices are there, too");

    for interrupted in ["plain 1.02 crash A", "plain 0.99 drop store A", "plain 1.02 pause A 15"] {
        let run = lab("fence-dynamodb", Some(interrupted));
        assert_eq!(measured(&run, "charged"), Value::Count(invoices * chunks), "{interrupted}");
        assert_eq!(measured(&run, "charged-twice"), Value::Count(0), "{interrupted}");
        let put: u32 = run
            .events
            .iter()
            .map(|event| match event.kind {
                Kind::InvoicesRecorded { charged, .. } | Kind::ChunkWritten { charged, .. } => charged,
                _ => 0,
            })
            .sum();
        assert_eq!(u64::from(put), invoices * chunks, "{interrupted}: only the missing ones are put");
    }
}

#[test]
fn a_raise_waits_for_the_row_lock() {
    let arrives = 13.6;
    for (how, takes, wakes) in [(None, 0.02, 13.54), (Some("plain 4.25 pause A 9.29; 0 set inserts 0.3"), 0.3, 13.54)] {
        let run = lab("fence-sql", how);
        let commits = wakes + 0.05 + takes;
        assert_eq!(measured(&run, "raised"), Value::Seconds(Span::micros((commits * 1e6_f64).round() as i64)));
        let waited = Span::micros(((commits - arrives) * 1e6).round() as i64);
        assert_eq!(measured(&run, "waited"), Value::Seconds(waited));
        let chunks = run.events.iter().find_map(|event| match event.kind {
            Kind::RowReturned { worker: WorkerId::B, chunks_done, .. } => Some(chunks_done),
            _ => None,
        });
        assert_eq!(chunks, Some(2), "it looks at the row again, and finds A’s chunk in it");
    }
    let strict = lab("fence-sql", Some("0 set isolation repeatable-read"));
    assert_eq!(measured(&strict, "serialization-failures"), Value::Count(1));
    assert_eq!(measured(&strict, "raised"), Value::Seconds(Span::millis(13_610 + 2 * 50)), "a round trip later");
    let late = lab("fence-sql", Some("plain 4 pause A 15"));
    assert_eq!(measured(&late, "rolled-back"), Value::Count(1));
    assert_eq!(measured(&late, "charged-twice"), Value::Count(0));
    // What was not committed when the database died is gone.
    let died = lab("fence-sql", Some("13.6 crash store; 13.9 restart store"));
    assert_eq!(row(&died).chunks[&2], [12]);
}

/// The exchange in which `worker` sends chunk `chunk` for the last time before `until`.
fn exchange(run: &Run, from: WorkerId, what: &str, until: f64) -> Exchange {
    let all = wire::exchanges(run);
    let found = all
        .into_iter()
        .rfind(|exchange| exchange.from == from.into() && exchange.what.contains(what) && exchange.t <= seconds(until));
    found.unwrap_or_else(|| panic!("{from} sends “{what}”"))
}

#[track_caller]
fn assert_holds(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "“{part}” is missing in\n{text}");
    }
}

#[test]
fn requests_are_shown_as_they_travel() {
    let run = lab("fence-s3", None);
    let late = exchange(&run, WorkerId::A, "chunk 2", 19.05);
    assert_holds(
        &late.request,
        &["PUT /billing-2026-09-28/manifest.json HTTP/1.1", "If-Match: \"E2\"", "\"token\": 7"],
    );
    assert_holds(&late.answer, &["HTTP/1.1 412 Precondition Failed"]);
    assert!(late.refused && late.answered == Some(seconds(19.05)));
    let upload = exchange(&run, WorkerId::A, "upload chunk 2", 5.0);
    assert_holds(&upload.request, &["/chunk-02/token-7 ", "If-None-Match: *"]);

    let run = lab("fence-dynamodb", None);
    let raise = exchange(&run, WorkerId::B, "raise", 14.0);
    assert_holds(
        &raise.request,
        &[
            "UpdateItem",
            "fence <= :t",
            "\":t\": {\"N\": \"12\"}",
            "\"ReturnValues\": \"ALL_OLD\"",
            "claimed_since = :now",
        ],
    );
    assert_holds(&raise.answer, &["\"fence\": {\"N\": \"7\"}", "\"state\": {\"S\": \"RUNNING\"}"]);
    let chunks = exchange(&run, WorkerId::B, "get the items", 14.0);
    assert_holds(&chunks.answer, &["{\"item\": {\"S\": \"chunk#01\"}, \"recorded_by\": {\"N\": \"7\"}}"]);
    let last = exchange(&run, WorkerId::B, "last transaction of chunk 2", 21.0);
    assert_holds(&last.request, &["ConditionCheck", "chunk#02", "attribute_not_exists(recorded_by)", "… 48 more puts"]);
    let late = exchange(&run, WorkerId::A, "chunk 2", 19.05);
    assert_holds(
        &late.request,
        &["TransactWriteItems", "ConditionCheck", "invoice#05001", "… 97 more puts", "49 more"],
    );
    assert_holds(&late.answer, &["TransactionCanceledException", "[ConditionalCheckFailed, None, … 98 more None]"]);

    let run = lab("fence-sql", Some("plain 4 pause A 15"));
    let late = exchange(&run, WorkerId::A, "chunk 2", 19.05);
    assert_holds(
        &late.request,
        &["BEGIN;", "SET fence = 7", "AND fence <= 7;", "generate_series(5001, 10000)", "COMMIT;"],
    );
    assert_eq!(late.answer, "BEGIN\nUPDATE 0\nROLLBACK");
    let raise = exchange(&run, WorkerId::B, "raise", 14.0);
    assert_holds(&raise.request, &["SET fence = 12", "claimed_since = now()", "RETURNING old.*"]);
    assert_holds(&raise.answer, &["UPDATE 1", "RUNNING | 7 | 7 |", "1 | 7"]);
    let strict = lab("fence-sql", Some("0 set isolation repeatable-read"));
    let failed = exchange(&strict, WorkerId::B, "raise", 13.65);
    assert_holds(&failed.answer, &["40001"]);
    assert_eq!(failed.answered, Some(seconds(13.61)), "as soon as the other has committed");

    let plain = exchange(&story_with(""), WorkerId::A, "chunk 2", 19.05);
    assert_eq!(plain.request, "write_chunk(\"billing:2026-09-28\", chunk 2, token 7)");
    assert_eq!(plain.answer, "refused: fence 12");
}

/// Every request of a worker that the trace says arrived is shown, and every answer that was sent.
#[test]
fn no_request_is_left_out() {
    for store in STORES {
        let run = on(store, Case::new("3 duplicate A store; 14.02 drop store B", true, 0)).run();
        let exchanges = wire::exchanges(&run);
        let received = run
            .events
            .iter()
            .filter(|event| event.machine == MachineId::Store && matches!(event.kind, Kind::MessageReceived { .. }));
        assert_eq!(exchanges.len(), received.count(), "{store}");
        assert!(exchanges.iter().all(|exchange| !exchange.request.is_empty()), "{store}");
    }
}

/// The partner compares nothing; a key recognises what was done, whoever asks again.
#[test]
fn a_partner_outside_knows_no_fence() {
    let run = lab("side-effects", None);
    assert_eq!(measured(&run, "refused"), Value::Count(1));
    assert_eq!(measured(&run, "told-twice"), Value::Count(5_000));
    let (store, partner) = (late_write(&run).0, exchange_with_partner(&run, 19.06));
    assert!(near(store, 19.05) && near(partner.t.as_seconds(), 19.05), "both arrive together");
    assert!(!partner.request.contains("Idempotency-Key"));

    let keyed = lab("side-effects", Some("0 set idempotency-key on"));
    assert_eq!(measured(&keyed, "told-twice"), Value::Count(0));
    assert_eq!(measured(&keyed, "recognised"), Value::Count(1));
    let late = exchange_with_partner(&keyed, 19.06);
    assert_holds(&late.request, &["Idempotency-Key: billing:2026-09-28/chunk-02"]);
    assert_holds(&late.answer, &["Idempotent-Replayed: true"]);
    let done: Vec<(u8, u32)> = keyed.end().partner().expect("there is a partner").done(JobId::FIRST).collect();
    assert_eq!(done, (1..=10).map(|chunk| (chunk, 1)).collect::<Vec<_>>());
}

/// The last call that reaches the partner before `until`.
fn exchange_with_partner(run: &Run, until: f64) -> Exchange {
    let all = wire::exchanges(run);
    let found = all.into_iter().rfind(|exchange| exchange.to == MachineId::Partner && exchange.t <= seconds(until));
    found.expect("somebody calls")
}

#[test]
fn the_same_chunk_three_ways() {
    let (invoices, workers) = (5_000, 3);
    let in_vain = invoices * (workers - 1);
    for (how, charged, refused, vain) in [
        ("none", invoices * workers, 0, in_vain),
        ("idempotent", invoices, workers - 1, in_vain),
        ("lock", invoices, 0, 0),
    ] {
        // Whatever the store: the way to coordinate decides.
        for store in ["dynamodb", "row", "sql"] {
            let run = lab("three-ways", Some(&format!("0 set coordination {how}; 0 store {store}")));
            assert_eq!(measured(&run, "charged"), Value::Count(charged), "{how} on {store}");
            assert_eq!(measured(&run, "in-vain"), Value::Count(vain), "{how} on {store}");
            let expected = if charged > invoices { "broken" } else { "holds" };
            assert_eq!(verdict(&run, Invariant::ChargedOnce), expected, "{how} on {store}");
            if store == "dynamodb" {
                assert_eq!(measured(&run, "refused"), Value::Count(refused), "{how}");
            }
        }
    }
}

#[test]
fn one_item_serves_no_more_than_its_partition() {
    let (units, price) = (1_000, 2);
    let most = units / price;
    for load in [1, 100, 499, 500, 501, 600, 1_000, 5_000] {
        let run = lab("hot-fence", Some(&format!("0 set attempts 1; 0 set load {load}")));
        assert_eq!(measured(&run, "offered"), Value::Count(load), "{load}");
        assert_eq!(measured(&run, "served"), Value::Count(load.min(most)), "{load}");
        assert_eq!(measured(&run, "throttled"), Value::Count(load.saturating_sub(most)), "{load}");
        assert_eq!(measured(&run, "given-up"), Value::Count(load.saturating_sub(most)), "{load}");
    }
}

/// What does not come through is sent again, so more reaches the item than the writers begin.
#[test]
fn retries_add_to_the_load_and_do_not_lower_what_fails() {
    let most = 500.0_f64;
    for (load, attempts) in
        [(1, 3), (500, 3), (550, 3), (600, 1), (600, 2), (600, 3), (1_000, 3), (5_000, 2), (5_000, 3)]
    {
        let run = lab("hot-fence", Some(&format!("0 set load {load}; 0 set attempts {attempts}")));
        let begun = f64::from(load);
        // Each attempt fails with the same chance q, and a write fails if all its attempts do: in the long run
        // begun × q^attempts is what exceeds the most that can be served, and begun × (1 + q + q² + …) arrives.
        let fails = ((begun - most).max(0.0) / begun).powf(1.0 / f64::from(attempts));
        let arrives: f64 = (0..attempts).map(|before| begun * fails.powi(before)).sum();
        for (id, expected) in
            [("begun", begun), ("offered", arrives), ("served", begun.min(most)), ("given-up", (begun - most).max(0.0))]
        {
            let Value::Count(count) = measured(&run, id) else { panic!("{id} is a count") };
            // Chance moves a sum of many by a few of its square root.
            let near = (count as f64 - expected).abs() <= 0.5 + 2.0 * expected.sqrt();
            assert!(near, "{load}, {attempts}: {id} is {count}, expected {expected:.0}");
        }
        assert_eq!(measured(&run, "served"), Value::Count(u64::from(load.min(500_u32))), "{load}: that is exact");
        let Value::Count(waiting) = measured(&run, "waiting") else { panic!("waiting is a count") };
        // The first pause takes half a second on average, the second a whole one.
        let expected: f64 =
            (1..attempts).map(|retry| begun * fails.powi(retry) * 0.5 * f64::from(1 << (retry - 1))).sum();
        let near = (waiting as f64 - expected).abs() <= 0.5 + 4.0 * expected.sqrt();
        assert!(near, "{load}, {attempts}: {waiting} wait, expected {expected:.0}");
    }
    // What is tried for longer than the run lasts has not failed yet; it waits.
    let run = lab("hot-fence", Some("0 set load 600; 0 set attempts 10"));
    let Value::Count(waiting) = measured(&run, "waiting") else { panic!("waiting is a count") };
    assert!(waiting > 500, "in ten seconds a thousand come that cannot be served: {waiting} wait");
}

const WAYS: [&str; 4] = ["unique-key", "version", "skip-locked", "partition"];

#[test]
fn each_way_finds_one_winner() {
    for way in WAYS {
        let run = lab("no-lock", Some(&format!("0 set way {way}")));
        assert_eq!(measured(&run, "winners"), Value::Count(1), "{way}");
        assert_eq!(measured(&run, "lost"), Value::Count(4 - 1), "{way}");
        assert_eq!(measured(&run, "recorded"), Value::Count(1), "{way}");
    }
}

/// What differs is what becomes of the job when its winner dies.
#[test]
fn only_what_ends_by_itself_frees_the_job() {
    for (way, freed) in [("unique-key", false), ("version", false), ("skip-locked", true), ("partition", true)] {
        let run = lab("no-lock", Some(&format!("0 set way {way}; 2 crash A")));
        assert_eq!(measured(&run, "recorded"), Value::Count(u64::from(freed)), "{way}");
        assert_eq!(measured(&run, "winners"), Value::Count(1 + u64::from(freed)), "{way}");
    }
    // A session ends with its process, which a pause does not end; a generation ends with the session timeout.
    let paused = lab("no-lock", Some("0 set way skip-locked; 2 pause A 8"));
    assert_eq!((measured(&paused, "winners"), measured(&paused, "refused")), (Value::Count(1), Value::Count(0)));
    let paused = lab("no-lock", Some("0 set way partition; 2 pause A 8"));
    assert_eq!((measured(&paused, "winners"), measured(&paused, "refused")), (Value::Count(2), Value::Count(1)));
    let late = wire::exchanges(&paused).into_iter().rfind(|exchange| exchange.from == WorkerId::A.into());
    let late = late.expect("A wakes up and records");
    assert_holds(&late.request, &["OffsetCommit", "generation: 1"]);
    assert_eq!(late.answer, "ILLEGAL_GENERATION");
}

proptest! {
    #![proptest_config(cases_count(200))]

    #[test]
    fn work_is_recorded_once_however_the_winner_was_found(case in late_or_twice_cases()) {
        for way in WAYS {
            let mut interventions = parse(&format!("0 set way {way}"));
            interventions.extend(case.interventions.clone());
            let input = Input { interventions: Some(interventions), seed: case.seed, ..Input::default() };
            let scenario = lease_lab_scenarios::find("no-lock").expect("it is a scenario");
            let run = Run::new(scenario, input).expect("it can be run");
            let recorded = run.events.iter().filter(|event| matches!(event.kind, Kind::ChunkWritten { .. })).count();
            prop_assert!(recorded <= 1, "{}: {} times", way, recorded);
        }
    }
}

/// The shortest known ways to break a promise on each store: without any one of the interventions, it holds.
#[test]
fn shortest_known_ways_to_break_a_promise() {
    let (once, stale) = (Invariant::ChargedOnce, Invariant::NoStaleWrite);
    for (store, way, promise) in [
        (StoreKind::Sql, "0 fence off; 4 pause A 15", once),
        (StoreKind::Sql, "0 fence two-step; 4 pause A 15", once),
        (StoreKind::Sql, "0 raise late; 4 pause A 9.7", once),
        (StoreKind::Sql, "0.9 duplicate A store", once),
        // Between B’s raise and B’s puts.
        (StoreKind::DynamoDb, "0 fence off; 4 pause A 9.7", stale),
        (StoreKind::DynamoDb, "0 fence two-step; 4 pause A 9.7", stale),
        (StoreKind::S3, "0 fence off; 4 pause A 15", once),
        (StoreKind::S3, "0 fence two-step; 4 pause A 15", once),
        (StoreKind::S3, "0 raise late; 4 pause A 9.7", once),
    ] {
        let run = |interventions: &[Intervention]| {
            let case = Case { interventions: interventions.to_vec(), seed: 0 };
            verdict(&on(store, case).run(), promise)
        };
        let all = parse(way);
        assert_eq!(run(&all), "broken", "{store}: {way}");
        for left_out in 0..all.len() {
            let mut fewer = all.clone();
            let without = fewer.remove(left_out);
            assert_eq!(run(&fewer), "holds", "{store}: {way}, without {without}");
        }
    }
}
