//! The equal-terms comparison: its cells come from runs that can be opened, and each run is what its cell says.

use lease_lab_scenarios::guarantees::{Cell, FAULTS, Outcome, Row, find, systems, table};
use lease_lab_scenarios::run::Input;
use lease_lab_scenarios::{Run, report};
use lease_lab_sim::event::Kind;
use lease_lab_sim::intervention::parse_list;
use lease_lab_sim::invariants::Invariant;
use lease_lab_sim::time::Span;

fn run(scenario: &str, interventions: &str) -> Run {
    let list = parse_list(interventions).unwrap_or_else(|mistake| panic!("{mistake}"));
    let scenario = lease_lab_scenarios::find(scenario).expect("a cell names a scenario");
    let input = Input { interventions: Some(list), ..Input::default() };
    Run::new(scenario, input).unwrap_or_else(|mistake| panic!("{interventions}: {mistake}"))
}

fn broken(run: &Run, invariant: Invariant) -> bool {
    report::verdict_name(&run.verdict(invariant, run.horizon)) == "broken"
}

fn cell<'a>(rows: &'a [Row], system: &str, fault: &str) -> &'a Cell {
    let row = rows.iter().find(|row| row.system == system).unwrap_or_else(|| panic!("{system} is in the table"));
    row.cells.iter().find(|cell| cell.fault == fault).expect("every fault has a cell")
}

#[test]
fn every_cell_opens_a_run_that_shows_what_it_says() {
    let rows = table();
    assert_eq!(rows.len(), systems().count());
    for row in &rows {
        assert_eq!(row.cells.len(), FAULTS.len());
        for cell in &row.cells {
            let name = format!("{} {}", row.system, cell.fault);
            if cell.outcome == Outcome::NotTried {
                assert_eq!(cell.runs, 0, "{name}");
                continue;
            }
            assert!(cell.runs > 0 && !cell.why.is_empty(), "{name}");
            let run = run(cell.scenario, &cell.interventions);
            let harm = broken(&run, Invariant::ChargedOnce) || broken(&run, Invariant::NoStaleWrite);
            assert_eq!(harm, cell.outcome == Outcome::Broken, "{name}: {}", cell.interventions);
            assert_eq!(cell.t.is_some(), harm, "{name}");
        }
    }
}

#[test]
fn a_fault_without_effect_is_no_pass() {
    let rows = table();
    for row in &rows {
        let choices = find(row.system).expect("it is a system").choices;
        let calm = run("equal-terms", choices);
        for cell in row.cells.iter().filter(|cell| cell.outcome == Outcome::NoEffect) {
            let hit = run(cell.scenario, &cell.interventions);
            // What happened apart from the fault itself: told without the machines’ bookkeeping.
            let told = |run: &Run| -> Vec<String> {
                let done = run.events.iter().filter(|event| {
                    matches!(
                        event.kind,
                        Kind::LockAcquired { .. }
                            | Kind::LeaseRenewed { .. }
                            | Kind::LeaseExpired { .. }
                            | Kind::ChunkWritten { .. }
                            | Kind::WriteRefused { .. }
                            | Kind::GaveUp { .. }
                            | Kind::JobDone { .. }
                    )
                });
                done.map(|event| format!("{} {:?}", event.t, event.kind)).collect()
            };
            assert_eq!(told(&calm), told(&hit), "{} {}", row.system, cell.fault);
        }
    }
    assert_eq!(cell(&rows, "consensus-fence", "clock-step").outcome, Outcome::NoEffect, "nobody asks a wall clock");
}

#[test]
fn a_fence_is_what_a_pause_needs() {
    let rows = table();
    for (system, outcome) in [("consensus-fence", Outcome::Held), ("consensus", Outcome::Broken)] {
        assert_eq!(cell(&rows, system, "pause").outcome, outcome, "{system}");
    }
}

/// The holder dies 1 s after its renewal at 3.0: its lease ends at 13.0, and B, which tries every 0.5 s from 0.75 on,
/// comes next at 13.25.
#[test]
fn the_gap_after_a_crash_is_the_rest_of_the_lease_and_a_try() {
    let rows = table();
    let row = rows.iter().find(|row| row.system == "consensus-fence").expect("it is in the table");
    let gap = row.gap.expect("B takes over");
    assert!((gap - Span::millis(13_250 - 4_000)).as_micros().abs() <= 50_000, "{gap}");
}

/// Worked out from the protocol: read the key, grant a lease, create the key are three requests and answers; the last
/// two are entries, each sent to two followers and acknowledged by both, and each on three disks.
#[test]
fn an_acquisition_costs_two_entries_and_a_renewal_none() {
    let rows = table();
    let row = rows.iter().find(|row| row.system == "consensus-fence").expect("it is in the table");
    let acquire = row.acquire.as_ref().expect("A acquires");
    assert_eq!(acquire.disk_writes, 2 * 3);
    assert_eq!(acquire.messages, 3 * 2 + 2 * 2 * 2);
    let renewal = row.renewal.as_ref().expect("A renews");
    assert_eq!((renewal.messages, renewal.disk_writes), (2, 0));
}

/// One conditional write each, which the table stores before it answers.
#[test]
fn a_lease_in_an_item_costs_a_write_for_every_renewal() {
    let rows = table();
    let row = rows.iter().find(|row| row.system == "lease-item").expect("it is in the table");
    for cost in [&row.acquire, &row.renewal] {
        let cost = cost.as_ref().expect("A acquires and renews");
        assert_eq!((cost.messages, cost.disk_writes), (2, 1));
    }
}

#[test]
fn a_lease_in_an_item_is_judged_by_wall_clocks_and_forgets_by_a_restore() {
    let rows = table();
    let step = cell(&rows, "lease-item", "clock-step");
    assert_eq!(step.outcome, Outcome::Held, "the epoch is compared");
    assert!(step.two_at_once, "and yet two may act");
    assert_eq!(cell(&rows, "lease-item", "restore").outcome, Outcome::Broken, "the epoch is handed out twice");
}

#[test]
fn a_version_in_the_row_is_authority_and_fence_in_one() {
    let rows = table();
    for (fault, outcome) in [("pause", Outcome::Held), ("failover", Outcome::Held), ("partition", Outcome::Held)] {
        let cell = cell(&rows, "database-version", fault);
        assert_eq!(cell.outcome, outcome, "{fault}");
        assert!(cell.two_at_once, "{fault}: nobody stops anybody, and it does no harm");
    }
    let session = cell(&rows, "database-session", "pause");
    assert_eq!(session.outcome, Outcome::Broken, "a session lock has the same zombie");
    assert_eq!(cell(&rows, "database-session", "clock-step").outcome, Outcome::NoEffect);
}

/// Look at the row and set its version; or ask for the lock of the session, which is only in the server’s memory.
#[test]
fn a_database_is_asked_twice_for_a_row_and_once_for_a_session_lock() {
    let rows = table();
    let row = |id: &str| rows.iter().find(|row| row.system == id).expect("it is in the table");
    let cost = |cost: &Option<lease_lab_scenarios::guarantees::Cost>| {
        cost.as_ref().map(|cost| (cost.messages, cost.disk_writes))
    };
    assert_eq!(cost(&row("database-version").acquire), Some((4, 1)));
    assert_eq!(cost(&row("database-version").renewal), None, "a version needs no renewal");
    assert_eq!(cost(&row("database-session").acquire), Some((2, 0)));
    assert_eq!(cost(&row("database-session").renewal), Some((2, 0)));
}

#[test]
fn a_database_that_decides_keeps_the_rows_too() {
    let refused = |text: &str| {
        let list = parse_list(text).unwrap_or_else(|mistake| panic!("{mistake}"));
        let scenario = lease_lab_scenarios::find("equal-terms").expect("it is a scenario");
        Run::new(scenario, Input { interventions: Some(list), ..Input::default() })
            .err()
            .map(|mistake| mistake.to_string())
    };
    let mistake = refused("0 set database version; 0 store s3").expect("S3 cannot decide");
    assert!(mistake.contains("one SQL database is lock service and store in one"), "{mistake}");
    assert_eq!(refused("0 set database version; 0 store sql"), None);
}

/// What the labs about Redis and Redlock show one by one.
#[test]
fn caches_forget_and_a_fence_helps_only_with_a_number_that_does_not() {
    use Outcome::{Broken, Held};
    let rows = table();
    for (system, outcomes) in [
        ("redis", [Broken, Broken, Broken, Broken, Broken]),
        // INCR is forgotten together with the lock, unless it starts so low that the store refuses everybody.
        ("redis-fence", [Held, Held, Broken, Broken, Held]),
        ("redlock", [Broken, Broken, Held, Held, Broken]),
        ("redlock-fence", [Held, Held, Held, Held, Held]),
    ] {
        for (fault, outcome) in FAULTS.iter().zip(outcomes) {
            assert_eq!(cell(&rows, system, fault.id).outcome, outcome, "{system} {}", fault.id);
        }
    }
    for fault in ["clock-step", "restore"] {
        let cell = cell(&rows, "redlock-fence", fault);
        assert!(cell.two_at_once && cell.why.contains("refuses"), "{fault}: the fence is what holds: {}", cell.why);
    }
    assert!(!cell(&rows, "redis-fence", "restore").finished, "a counter that starts again stops the work");
}

/// Five requests and answers; a put into the log is one more, sent to two followers, and is on three disks.
#[test]
fn redlock_asks_five_masters() {
    let rows = table();
    let cost = |id: &str| {
        let row = rows.iter().find(|row| row.system == id).expect("it is in the table");
        [&row.acquire, &row.renewal].map(|cost| cost.as_ref().map(|cost| (cost.messages, cost.disk_writes)))
    };
    assert_eq!(cost("redlock"), [Some((5 * 2, 0)), Some((5 * 2, 0))]);
    assert_eq!(cost("redlock-fence"), [Some((5 * 2 + 2 + 2 * 2, 3)), Some((5 * 2, 0))]);
    // The primary passes each command on, and hears how far the replica is.
    assert_eq!(cost("redis"), [Some((2 + 2, 0)), Some((2 + 2, 0))]);
}

#[test]
fn a_restored_counter_has_to_jump() {
    let rows = table();
    let restored = cell(&rows, "consensus-fence", "restore");
    assert_eq!(restored.outcome, Outcome::Broken, "the same token is handed out twice");
    let jumped = run(restored.scenario, &format!("{} bump 1000000", restored.interventions));
    assert!(!broken(&jumped, Invariant::ChargedOnce) && !broken(&jumped, Invariant::NoStaleWrite));
    assert!(broken(&jumped, Invariant::OneActingHolder), "two act, and the fence refuses one of them");
}

#[test]
fn everything_that_is_tried_can_be_read() {
    let ids: std::collections::BTreeSet<&str> = systems().map(|system| system.id).collect();
    assert_eq!(ids.len(), systems().count());
    for (system, row) in systems().zip(table()) {
        for (tries, cell) in system.tries.into_iter().zip(row.cells) {
            for text in tries {
                parse_list(text).unwrap_or_else(|mistake| panic!("{}: {mistake}", system.id));
            }
            assert!(cell.runs == tries.len() || cell.runs == 0, "{} {}: some are refused", system.id, cell.fault);
        }
        for text in [system.name, system.rests_on] {
            assert!(!text.is_empty() && !text.contains('\''), "{}", system.id);
        }
    }
    for fault in &FAULTS {
        for text in [fault.name, fault.means] {
            assert!(!text.is_empty() && !text.contains('\''), "{}", fault.id);
        }
    }
}
