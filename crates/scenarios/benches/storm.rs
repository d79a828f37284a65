//! How long a run of ten thousand holders over 120 s takes, and a look into it.
//!
//! `cargo bench -p lease-lab-scenarios --bench storm`, or with `-- --quick` for a first impression.

#![allow(missing_docs, reason = "Criterion's macro makes an undocumented function")]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use lease_lab_scenarios::run::Input;
use lease_lab_scenarios::{Run, Scenario};
use lease_lab_sim::intervention::parse_list;
use lease_lab_sim::time::TrueTime;

const HOLDERS: u16 = 10_000;
const ENDS: TrueTime = TrueTime::from_millis(120_000);

fn run(storm: &'static Scenario) -> Run {
    let mut interventions = storm.own_interventions();
    interventions.extend(parse_list(&format!("0 set holders {HOLDERS}")).expect("the list can be read"));
    let run = Run::new(storm, Input { interventions: Some(interventions), ..Input::default() });
    run.expect("the list makes sense")
}

fn benches(criterion: &mut Criterion) {
    let storm = lease_lab_scenarios::find("storm").expect("the storm is a scenario");
    let once = run(storm);
    assert_eq!((once.plan.jobs, once.horizon), (HOLDERS, ENDS), "what is measured is what its name says");
    let mut group = criterion.benchmark_group("storm");
    // A run takes about a second.
    group.sample_size(10);
    group.bench_function("simulate 10,000 holders for 120 s", |bencher| bencher.iter(|| run(black_box(storm))));
    let mut at = 0;
    group.bench_function("world at an instant", |bencher| {
        bencher.iter(|| {
            at = (at + 7_777_777) % ENDS.as_micros();
            once.world_at(black_box(TrueTime::from_micros(at)))
        });
    });
    group.finish();
}

criterion_group!(storm, benches);
criterion_main!(storm);
