//! Every drill is run: what the files say is true of the runs. And there are enough of them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use lease_lab_drills::drill::{Ask, Task};
use lease_lab_drills::{Drill, Kind, OUTCOMES, RULES, all, check, find, of_kind, of_part};

#[test]
fn every_drill_is_true_of_its_runs() {
    let drills: Vec<&'static Drill> = all().collect();
    let next = AtomicUsize::new(0);
    let mut problems: Vec<String> = Vec::new();
    thread::scope(|scope| {
        let work = || {
            let mut problems = Vec::new();
            while let Some(drill) = drills.get(next.fetch_add(1, Ordering::Relaxed)) {
                let found = check::check(drill).problems;
                problems.extend(found.into_iter().map(|problem| format!("{}: {problem}", drill.id)));
            }
            problems
        };
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            problems.extend(worker.join().expect("no check panics"));
        }
    });
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn drills_are_found_by_their_ids_and_in_the_order_of_the_course() {
    for drill in all() {
        assert_eq!(find(drill.id), Some(drill), "ids are different");
    }
    assert!(all().is_sorted_by_key(|drill| (drill.part, drill.kind(), drill.id)));
    assert_eq!(find("no-such-drill"), None);
    assert_eq!((1..=12).map(|part| of_part(part).count()).sum::<usize>(), all().len());
}

fn ask(drill: &Drill) -> Option<Ask> {
    match drill.task {
        Task::Predict { ask, .. } => Some(ask),
        _ => None,
    }
}

#[test]
fn there_are_enough_of_every_kind() {
    for (kind, least) in [(Kind::Predict, 24), (Kind::BreakIt, 8), (Kind::FixIt, 4), (Kind::Explain, 15)] {
        let count = of_kind(kind).count();
        assert!(count >= least, "{count} {} drills; expected at least {least}", kind.folder());
    }
    let sorts = [
        ("choose", all().filter(|drill| matches!(ask(drill), Some(Ask::Choose { .. }))).count()),
        ("order", all().filter(|drill| matches!(ask(drill), Some(Ask::Order { .. }))).count()),
        ("number", all().filter(|drill| matches!(ask(drill), Some(Ask::Number { .. }))).count()),
        ("mark", all().filter(|drill| matches!(ask(drill), Some(Ask::Mark { .. }))).count()),
    ];
    for (sort, count) in sorts {
        assert!(count >= 3, "{count} drills ask to {sort}; expected several");
    }
}

#[test]
fn every_part_rule_and_outcome_has_its_drills() {
    for part in 2..=10 {
        assert!(of_kind(Kind::Predict).any(|drill| drill.part == part), "nothing to predict in part {part}");
    }
    for rule in 1..=RULES.len() as u8 {
        assert!(of_kind(Kind::Predict).any(|drill| drill.rules.contains(&rule)), "nothing to predict of rule {rule}");
    }
    for outcome in 1..=OUTCOMES.len() as u8 {
        let proves = |drill: &&Drill| drill.outcomes.contains(&outcome);
        assert!(all().any(|drill| proves(&drill)), "nothing proves outcome {outcome}");
        // What AWS offers can be explained and not simulated.
        let simulated = all().filter(|drill| drill.kind() != Kind::Explain).any(|drill| proves(&drill));
        assert!(simulated || outcome == OUTCOMES.len() as u8, "no run proves outcome {outcome}");
    }
}
