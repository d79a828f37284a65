//! Figures: how long a whole run takes, and a look at an instant.

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

use lease_lab_scenarios::run::Input;
use lease_lab_scenarios::snapshot::Snapshot;
use lease_lab_scenarios::{Run, report};
use lease_lab_sim::intervention::parse_list;
use lease_lab_sim::time::TrueTime;

const ROUNDS_MAX: u32 = 300;
/// A figure that takes long is measured less often.
const ROUNDS_MIN: u32 = 7;
const TIME_FOR_A_FIGURE: Duration = Duration::from_secs(2);
/// The simulation of so many holders should take less than a second.
const MANY: &str = "0 set holders 10000";

struct Figure {
    name: String,
    rounds: usize,
    median: Duration,
    p95: Duration,
}

/// Measures every scenario; each figure is the median and the 95th percentile of many rounds.
pub(crate) fn run(json: bool) -> String {
    let mut figures = Vec::new();
    for scenario in lease_lab_scenarios::all() {
        let simulate = || Run::new(scenario, Input::default());
        let Ok(run) = simulate() else { continue };
        figures.push(measure(format!("{}: simulate", scenario.id), |_| {
            black_box(simulate().is_ok());
        }));
        let horizon = run.horizon.as_micros();
        figures.push(measure(format!("{}: look at an instant", scenario.id), |round| {
            let at = TrueTime::from_micros(horizon * i64::from(round) / i64::from(ROUNDS_MAX));
            black_box(Snapshot::take(&run.world_at(at), at, None));
        }));
        figures.push(measure(format!("{}: print as JSON", scenario.id), |_| {
            black_box(report::json(&run));
        }));
    }
    if let (Some(storm), Ok(many)) = (lease_lab_scenarios::find("storm"), parse_list(MANY)) {
        let mut interventions = storm.own_interventions();
        interventions.extend(many);
        let input = Input { interventions: Some(interventions), ..Input::default() };
        figures.push(measure("storm: simulate 10,000 holders for 120 s".into(), |_| {
            black_box(Run::new(storm, input.clone()).is_ok());
        }));
    }
    if json { as_json(&figures) } else { as_table(&figures) }
}

fn measure(name: String, mut round: impl FnMut(u32)) -> Figure {
    let mut times: Vec<Duration> = Vec::new();
    let begin = Instant::now();
    for number in 0..ROUNDS_MAX {
        let start = Instant::now();
        round(number);
        times.push(start.elapsed());
        if number + 1 >= ROUNDS_MIN && begin.elapsed() > TIME_FOR_A_FIGURE {
            break;
        }
    }
    times.sort_unstable();
    Figure { name, rounds: times.len(), median: times[times.len() / 2], p95: times[times.len() * 95 / 100] }
}

fn as_table(figures: &[Figure]) -> String {
    let mut text = format!("{:<44} {:>12} {:>12}\n", "", "median ms", "p95 ms");
    for figure in figures {
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:<44} {:>12.3} {:>12.3}", figure.name, ms(figure.median), ms(figure.p95));
    }
    text
}

fn as_json(figures: &[Figure]) -> String {
    let list: Vec<serde_json::Value> = figures
        .iter()
        .map(|figure| {
            serde_json::json!({
                "name": figure.name,
                "rounds": figure.rounds,
                "median_ms": figure.median.as_secs_f64() * 1e3,
                "p95_ms": figure.p95.as_secs_f64() * 1e3,
            })
        })
        .collect();
    serde_json::Value::from(list).to_string() + "\n"
}
