//! Figures: how long a whole run takes, and a look at an instant.

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

use lease_lab_scenarios::run::Input;
use lease_lab_scenarios::snapshot::Snapshot;
use lease_lab_scenarios::{Run, report};
use lease_lab_sim::time::TrueTime;

const ROUNDS: u32 = 300;

struct Figure {
    name: String,
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
            let at = TrueTime::from_micros(horizon * i64::from(round) / i64::from(ROUNDS));
            black_box(Snapshot::take(&run.world_at(at), at, None));
        }));
        figures.push(measure(format!("{}: print as JSON", scenario.id), |_| {
            black_box(report::json(&run));
        }));
    }
    if json { as_json(&figures) } else { as_table(&figures) }
}

fn measure(name: String, mut round: impl FnMut(u32)) -> Figure {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|number| {
            let start = Instant::now();
            round(number);
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    Figure { name, median: times[times.len() / 2], p95: times[times.len() * 95 / 100] }
}

fn as_table(figures: &[Figure]) -> String {
    let mut text = format!("{:<40} {:>12} {:>12}\n", "", "median ms", "p95 ms");
    for figure in figures {
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:<40} {:>12.3} {:>12.3}", figure.name, ms(figure.median), ms(figure.p95));
    }
    text
}

fn as_json(figures: &[Figure]) -> String {
    let list: Vec<serde_json::Value> = figures
        .iter()
        .map(|figure| {
            serde_json::json!({
                "name": figure.name,
                "rounds": ROUNDS,
                "median_ms": figure.median.as_secs_f64() * 1e3,
                "p95_ms": figure.p95.as_secs_f64() * 1e3,
            })
        })
        .collect();
    serde_json::Value::from(list).to_string() + "\n"
}
