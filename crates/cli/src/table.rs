//! Tables for people.

use std::fmt::Write as _;

use lease_lab_scenarios::guarantees::{self, Outcome};
use lease_lab_scenarios::pages::pages;
use lease_lab_scenarios::scenario::Extra;
use lease_lab_scenarios::why::why;
use lease_lab_scenarios::{Run, recap};
use lease_lab_sim::invariants::Verdict;

/// One line for each scenario and each page without a run, in the order of the parts.
pub(crate) fn list() -> String {
    let line = |id: &str, part: u8, title: &str, page: &str| format!("{id:<20} part {part:<3} {title}{page}\n");
    let mut lines: Vec<(u8, String)> = lease_lab_scenarios::all()
        .map(|scenario| (scenario.part, line(scenario.id, scenario.part, scenario.title, "")))
        .chain(pages().iter().map(|page| (page.part, line(page.id, page.part, page.title, " (page)"))))
        .collect();
    lines.sort_by_key(|(part, _)| *part);
    lines.into_iter().map(|(_, line)| line).collect()
}

/// The table of beats.
fn beats(run: &Run) -> String {
    let mut text = String::from("\n  beat      t  where     what was planned\n");
    for row in recap::rows(run) {
        let t = row.t.map_or("never".into(), |t| t.told());
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {:>4} {t:>6}  {:<8}  {}", row.number, row.machine, row.title);
    }
    text
}

/// The comparison of systems: every cell with the run that shows it.
fn guarantees() -> String {
    let mut text = String::new();
    for row in guarantees::table() {
        let gap = row.gap.map_or("none".into(), |gap| format!("{} s", gap.told()));
        let cost = |cost: Option<guarantees::Cost>| match cost {
            Some(cost) => format!("{} messages, {} disk writes", cost.messages, cost.disk_writes),
            None => "none".into(),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "\n{}: nobody holds the lock for {gap} after a crash; an acquisition costs {}, a renewal {}",
            row.system,
            cost(row.acquire),
            cost(row.renewal)
        );
        for cell in row.cells {
            let outcome = match cell.outcome {
                Outcome::Held => format!("held in {} runs", cell.runs),
                Outcome::Broken => "BROKEN".into(),
                Outcome::NoEffect => "no effect".into(),
                Outcome::NotTried => "not tried".into(),
            };
            let two = if cell.two_at_once { " Two may act at once." } else { "" };
            let late = if cell.finished { "" } else { " Not every run finishes the job." };
            let _ = writeln!(text, "  {:<10}  {outcome:<14}  {}{two}{late}", cell.fault, cell.why);
            if !cell.interventions.is_empty() {
                let _ = writeln!(text, "{:<28}  --plain --do '{}'", "", cell.interventions);
            }
        }
    }
    text
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
    if run.scenario.extras.contains(&Extra::Beats) {
        text.push_str(&beats(run));
    }
    if run.scenario.extras.contains(&Extra::Guarantees) {
        text.push_str(&guarantees());
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
