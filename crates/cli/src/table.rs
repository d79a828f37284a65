//! Tables for people.

use std::fmt::Write as _;

use lease_lab_scenarios::Run;
use lease_lab_scenarios::why::why;
use lease_lab_sim::invariants::Verdict;

/// One line for each scenario.
pub(crate) fn list() -> String {
    lease_lab_scenarios::all()
        .map(|scenario| format!("{:<20} part {:<3} {}\n", scenario.id, scenario.part, scenario.title))
        .collect()
}

/// The trace without its routine, then the verdicts.
pub(crate) fn run(run: &Run) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}: {}", run.scenario.id, run.scenario.title);
    let interventions: Vec<String> = run.interventions.iter().map(ToString::to_string).collect();
    let _ = writeln!(
        text,
        "interventions: {}",
        if interventions.is_empty() { "none".into() } else { interventions.join("; ") }
    );
    let _ = writeln!(text, "\n  beat      t  machine  what and why");
    for (event, beat) in run.events.iter().zip(&run.beats) {
        if event.is_background() {
            continue;
        }
        let beat = beat.map_or(String::new(), |number| number.to_string());
        let _ = writeln!(
            text,
            "  {beat:>4} {:>6}  {:<8} {}",
            event.t.told(),
            event.machine.to_string(),
            why(event, &run.plan)
        );
    }
    let _ = writeln!(text, "\nat {} s:", run.horizon.told());
    for (invariant, verdict) in run.verdicts(run.horizon) {
        let line = match verdict {
            Verdict::Holds => "holds".into(),
            Verdict::Broken(violation) => format!("BROKEN at {}: {}", violation.t.told(), violation.why),
            Verdict::Pending => "pending".into(),
            Verdict::NotApplicable => "not applicable".into(),
        };
        let _ = writeln!(text, "  {:<20} {line}", invariant.id());
    }
    for measure in run.measures() {
        let value = measure.value.map_or("none in this run".into(), |value| value.told());
        let how = if measure.how.is_empty() { String::new() } else { format!("  ({})", measure.how) };
        let _ = writeln!(text, "  {}: {value}{how}", measure.name);
    }
    let _ = writeln!(text, "\ntrace hash {}", run.hash());
    text
}
