//! How long it takes to run the story, to look back in it, and to print it.
//!
//! `cargo bench -p lease-lab-scenarios`, or with `-- --quick` for a first impression.

#![allow(missing_docs, reason = "Criterion's macro makes an undocumented function")]

use std::hint::black_box;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use lease_lab_scenarios::run::Input;
use lease_lab_scenarios::snapshot::Snapshot;
use lease_lab_scenarios::{Run, Scenario, report, shiviz};
use lease_lab_sim::intervention::parse_list;
use lease_lab_sim::time::TrueTime;

/// Many interventions, several of them at one instant.
const EVENTFUL: &str = "0 fence off; 2 rate B 1.02; 5 crash n3; 9 restart n3; 11 isolate store; 12 heal; 13 acquire D; \
                        22 partition n1 | n2,n3; 26 heal; 33 crash leader; 38 restart n1; 41 duplicate C store; \
                        44 pause leader 5 vm; 50 crash C; 50 restart C";

fn run(scenario: &'static Scenario, added: &str) -> Run {
    let mut interventions = scenario.own_interventions();
    interventions.extend(parse_list(added).expect("the list can be read"));
    Run::new(scenario, Input { interventions: Some(interventions), ..Input::default() }).expect("the list makes sense")
}

fn benches(criterion: &mut Criterion) {
    let scenario = lease_lab_scenarios::find("billing-story").expect("the story is a scenario");
    let story = run(scenario, "");

    criterion.bench_function("simulate the story", |bencher| {
        bencher.iter(|| run(black_box(scenario), ""));
    });
    criterion.bench_function("simulate an eventful run", |bencher| {
        bencher.iter(|| run(black_box(scenario), EVENTFUL));
    });

    // What dragging the cursor costs: a step apart, so that each look starts from another place.
    let mut at = 0;
    criterion.bench_function("world at an instant", |bencher| {
        bencher.iter(|| {
            at = (at + 7_777_777) % 60_000_000;
            story.world_at(black_box(TrueTime::from_micros(at)))
        });
    });
    let end = TrueTime::from_millis(60_000);
    criterion.bench_function("snapshot", |bencher| {
        bencher.iter_batched(|| story.world_at(end), |world| Snapshot::take(&world, end, None), BatchSize::SmallInput);
    });

    criterion.bench_function("json", |bencher| bencher.iter(|| report::json(black_box(&story))));
    criterion.bench_function("hash", |bencher| bencher.iter(|| black_box(&story).hash()));
    criterion.bench_function("shiviz", |bencher| bencher.iter(|| shiviz::log(black_box(&story))));
}

criterion_group!(story, benches);
criterion_main!(story);
