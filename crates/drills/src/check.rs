//! What must be true of a drill before a learner sees it: found out by running it.
//!
//! The tests and `lease-lab drills check` both use this, so an author sees what the tests see.

use lease_lab_scenarios::pages;
use lease_lab_sim::intervention::parse_list;
use lease_lab_sim::machine::MachineId;
use lease_lab_sim::time::TrueTime;

use crate::drill::{Ask, Choice, Drill, Item, Near, Setup, Swap, Task};
use crate::grade::{self, Answer, grade};
use crate::query::{Condition, Named, Names, Pattern, Value, read_number, told};
use crate::search;

/// What the kinds of events and their fields are called.
const TRACE: &str = include_str!("../../../docs/trace.md");
/// More changes have too many subsets to try.
const CHANGES_MAX: usize = 6;

/// What was found out about a drill.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// What the right answer is and what it rests on, a line each.
    pub facts: Vec<String>,
    /// What is wrong, a sentence each.
    pub problems: Vec<String>,
}

impl Report {
    fn demand(&mut self, holds: bool, problem: impl FnOnce() -> String) {
        if !holds {
            self.problems.push(problem());
        }
    }

    /// Keeps what went wrong as a problem.
    fn keep<T>(&mut self, result: Result<T, String>) -> Option<T> {
        result.map_err(|problem| self.problems.push(problem)).ok()
    }
}

/// Runs everything that must be known of a drill.
pub fn check(drill: &Drill) -> Report {
    let mut report = Report::default();
    texts(drill, &mut report);
    words(drill, &mut report);
    match drill.task {
        Task::Predict { hide_micros, ask } => predict(drill, TrueTime::from_micros(hide_micros), ask, &mut report),
        Task::BreakIt { .. } => break_it(drill, &mut report),
        Task::FixIt { .. } => fix_it(drill, &mut report),
        Task::Explain { answer, check, .. } => {
            let known = lease_lab_scenarios::find(drill.setup.lab).is_some() || pages::find(drill.setup.lab).is_some();
            report.demand(known, || format!("there is no lab or page “{}” to open", drill.setup.lab));
            let (sentences, points) = (answer.len(), check.len());
            report.demand((3..=6).contains(&sentences), || {
                format!("`answer` has {sentences} sentences; expected 3 to 6, each an entry of its own")
            });
            report.demand((3..=5).contains(&points), || format!("`check` has {points} points; expected 3 to 5"));
            report.facts.push(format!("{sentences} sentences, {points} points"));
        }
    }
    if let Some(variation) = drill.variation {
        differs(drill, &variation.setup, &mut report);
    }
    report
}

/// A variation shows something else than the drill.
fn differs(drill: &Drill, variation: &Setup, report: &mut Report) {
    let runs = variation.run_with(&[]).and_then(|varied| Ok((varied, drill.setup.run_with(&[])?)));
    if let Some((varied, own)) = report.keep(runs) {
        let same = varied.hash() == own.hash();
        report.demand(!same, || "the variation runs exactly what the drill runs; expected a difference".into());
    }
}

/// The texts that a learner reads: whole sentences, and the others.
fn texts(drill: &Drill, report: &mut Report) {
    let mut sentences: Vec<&str> = Vec::new();
    let mut others: Vec<&str> = vec![drill.title];
    sentences.extend(drill.situation.iter().chain(drill.why));
    sentences.extend(drill.also.iter().map(|also| also.text));
    sentences.extend(drill.variation.map(|variation| variation.text));
    sentences.push(drill.question());
    match drill.task {
        Task::Predict { ask: Ask::Choose { options, .. }, .. } => {
            for option in options {
                sentences.push(option.feedback);
                others.extend([option.text, option.misconception]);
            }
        }
        Task::Predict { ask: Ask::Order { items, mistakes, otherwise, .. }, .. } => {
            sentences.push(otherwise);
            others.extend(items.iter().map(|item| item.text));
            for swap in mistakes {
                sentences.push(swap.feedback);
                others.push(swap.misconception);
            }
        }
        Task::Predict {
            ask: Ask::Number { mistakes, otherwise, .. } | Ask::Mark { mistakes, otherwise, .. }, ..
        } => {
            sentences.push(otherwise);
            for near in mistakes {
                sentences.push(near.feedback);
                others.push(near.misconception);
            }
        }
        Task::BreakIt { hints, mistakes, otherwise, .. } => {
            sentences.push(otherwise);
            sentences.extend(hints);
            for mistake in mistakes {
                sentences.push(mistake.feedback);
                others.push(mistake.misconception);
            }
        }
        Task::FixIt { changes, attacks, .. } => {
            others.extend(attacks.iter().map(|attack| attack.name));
            for change in changes {
                sentences.push(change.feedback);
                others.extend([change.text, change.misconception]);
            }
        }
        Task::Explain { answer, check, .. } => {
            sentences.extend(answer);
            sentences.extend(check);
        }
    }
    for text in sentences.iter().copied().chain(others) {
        report.demand(!text.contains(['\'', '"']), || format!("“{text}” has a straight quote; expected ’ or “ and ”"));
    }
    for text in sentences {
        let ends = text.trim_end_matches(['”', ')']).ends_with(['.', '?', '!']);
        report.demand(ends, || format!("“{text}” ends in the middle; expected . or ? or ! at its end"));
    }
}

/// A misspelt kind or field never happens, and a condition that says so would hold: so the words must be known.
fn words(drill: &Drill, report: &mut Report) {
    let mut conditions: Vec<&str> = Vec::new();
    let mut values: Vec<&str> = Vec::new();
    let mut pattern_texts: Vec<&str> = drill.shows.to_vec();
    match drill.task {
        Task::Predict { ask: Ask::Choose { options, .. }, .. } => {
            conditions.extend(options.iter().flat_map(|option| option.when));
        }
        Task::Predict { ask: Ask::Order { items, .. }, .. } => {
            pattern_texts.extend(items.iter().map(|item| item.event));
        }
        Task::Predict { ask: Ask::Number { value, mistakes, .. } | Ask::Mark { value, mistakes, .. }, .. } => {
            values.push(value);
            values.extend(mistakes.iter().map(|near| near.value));
        }
        Task::BreakIt { goal, mistakes, .. } => {
            conditions.extend(goal);
            conditions.extend(mistakes.iter().flat_map(|mistake| mistake.when));
        }
        Task::FixIt { goal, works, .. } => conditions.extend(goal.iter().chain(works)),
        Task::Explain { .. } => {}
    }
    for text in pattern_texts {
        if let Some(pattern) = report.keep(Pattern::parse(text)) {
            known(&pattern, report);
        }
    }
    for text in values {
        if let Some(value) = report.keep(Value::parse(text)) {
            names(drill, &value.names(), report);
        }
    }
    for text in conditions {
        if let Some(condition) = report.keep(Condition::parse(text)) {
            names(drill, &condition.names(), report);
        }
    }
}

fn is_in_the_docs(word: &str) -> bool {
    TRACE.contains(&format!("`{word}`"))
}

/// A machine, a lease of a worker such as, a number, or a word of the trace format.
fn is_known_word(word: &str) -> bool {
    let is_lease = || word.split_once('-').is_some_and(|(worker, _)| MachineId::parse(worker).is_some());
    read_number(word).is_some() || MachineId::parse(word).is_some() || is_lease() || is_in_the_docs(word)
}

fn names(drill: &Drill, names: &Names<'_>, report: &mut Report) {
    for run in &names.runs {
        let there = drill.also.iter().any(|also| also.name == *run);
        report.demand(there, || format!("there is no run “{run}”; expected the name of an [[also]]"));
    }
    for pattern in &names.patterns {
        known(pattern, report);
    }
    for (pattern, field) in &names.fields {
        known_field(pattern, field, report);
    }
    for id in &names.measures {
        let labs = std::iter::once(&drill.setup).chain(drill.also.iter().map(|also| &also.setup));
        let there = labs
            .filter_map(|setup| setup.run_with(&[]).ok())
            .any(|run| run.measures().iter().any(|measure| measure.id == *id));
        report.demand(there, || format!("{} has no measure “{id}”; expected one of its measures", drill.setup.lab));
    }
    for pointer in &names.pointers {
        for word in pointer.split('/').skip(1) {
            report.demand(is_known_word(word), || {
                format!("“{word}” in {pointer} is no word of a snapshot; expected one that docs/trace.md names")
            });
        }
    }
}

/// The row of the trace format’s documentation that tells of this kind.
fn row(kind: &str) -> Option<&'static str> {
    let quoted = format!("`{kind}`");
    let tells =
        |line: &&str| line.starts_with("| `") && line.split('|').nth(1).is_some_and(|cell| cell.contains(&quoted));
    TRACE.lines().find(tells)
}

fn known(pattern: &Pattern, report: &mut Report) {
    report.demand(row(&pattern.kind).is_some(), || {
        format!("there is no event “{}”; expected a kind of docs/trace.md", pattern.kind)
    });
    for (field, value) in &pattern.fields {
        known_field(pattern, field, report);
        let is_word = is_known_word(value) || ["true", "false", "null"].contains(&value.as_str());
        report.demand(is_word, || format!("“{field}={value}” has a value that no event of docs/trace.md has"));
    }
}

fn known_field(pattern: &Pattern, field: &str, report: &mut Report) {
    let first = field.split('.').next().unwrap_or_default();
    let everywhere = ["worker", "machine", "job", "t"].contains(&first);
    let there = everywhere || row(&pattern.kind).is_none_or(|row| row.contains(&format!("`{first}`")));
    report
        .demand(there, || format!("a {} has no field “{field}”; expected one that docs/trace.md names", pattern.kind));
}

fn predict(drill: &Drill, hide: TrueTime, ask: Ask, report: &mut Report) {
    let Some(runs) = report.keep(grade::runs(drill)) else { return };
    let horizon = runs.first().map_or(TrueTime::ZERO, |named| named.run.horizon);
    report
        .demand(hide < horizon, || format!("`hide` is {hide} and the run ends at {horizon}; expected it to be before"));
    match ask {
        Ask::Choose { options, .. } => choose(options, hide, &runs, report),
        Ask::Order { items, mistakes, .. } => order(drill, items, mistakes, hide, &runs, report),
        Ask::Number { unit, value, tolerance_micros, min_micros, max_micros, mistakes, .. } => {
            let Some(truth) = near(value, unit, tolerance_micros, mistakes, hide, &runs, report) else { return };
            report.demand((min_micros..=max_micros).contains(&truth), || {
                format!("the right number is {}; expected it between `min` and `max`", told(truth, unit))
            });
            settle(drill, &Answer::Number(truth), report);
        }
        Ask::Mark { value, tolerance_micros, mistakes, .. } => {
            let Some(truth) = near(value, "s", tolerance_micros, mistakes, hide, &runs, report) else { return };
            let truth = TrueTime::from_micros(truth);
            report.demand(truth > hide && truth <= horizon, || {
                format!("the instant to mark is {truth}; expected it after `hide` and before the end at {horizon}")
            });
            settle(drill, &Answer::Mark(truth), report);
        }
    }
    for text in drill.shows {
        let there = Pattern::parse(text).is_ok_and(|pattern| pattern.find(&runs[0].run).is_some());
        report.demand(there, || format!("`shows` names “{text}”, which the run does not have"));
    }
}

/// Grades the right answer as the page does.
fn settle(drill: &Drill, answer: &Answer, report: &mut Report) {
    let graded = grade(drill, answer);
    if let Some(graded) = report.keep(graded) {
        report.demand(graded.right, || format!("the right answer “{answer}” is graded as wrong"));
        report.facts.push(format!("right: {answer}; the run says: {}", graded.truth));
    }
}

fn choose(options: &'static [Choice], hide: TrueTime, runs: &[Named], report: &mut Report) {
    let Some(right) = report.keep(grade::right_options(options, runs)) else { return };
    report.demand(right.len() == 1, || {
        let places: Vec<String> = right.iter().map(|place| (place + 1).to_string()).collect();
        format!("the options that hold in the run are {}; expected exactly one", list_or_none(&places))
    });
    for (place, option) in options.iter().enumerate() {
        let number = place + 1;
        let is_right = right.contains(&place);
        report.facts.push(format!("option {number}, {}: {}", if is_right { "right" } else { "wrong" }, option.text));
        report.demand(is_right || !option.misconception.is_empty(), || {
            format!("option {number} is wrong in the run and names no `misconception`")
        });
        for text in option.when {
            let Some(condition) = report.keep(Condition::parse(text)) else { continue };
            let outcome = condition.of(runs);
            let rests = match outcome.rests_on {
                TrueTime::MAX => "another run".to_owned(),
                at => format!("{at} s"),
            };
            let holds = if outcome.holds { "holds" } else { "does not hold" };
            let how = if outcome.how.is_empty() { String::new() } else { format!(" ({})", outcome.how) };
            report.facts.push(format!("  “{text}” {holds}{how}, known at {rests}"));
            // A wrong option that is seen to be wrong before the commitment gives itself away.
            report.demand(outcome.rests_on > hide || (!is_right && outcome.holds), || {
                format!(
                    "option {number}: whether “{text}” {holds} is known at {rests}, which is not after `hide`, {hide} s"
                )
            });
        }
    }
}

fn list_or_none(list: &[String]) -> String {
    if list.is_empty() { "none".into() } else { list.join(" and ") }
}

fn order(
    drill: &Drill,
    items: &'static [Item],
    mistakes: &'static [Swap],
    hide: TrueTime,
    runs: &[Named],
    report: &mut Report,
) {
    let Some(truth) = report.keep(grade::right_order(items, runs)) else { return };
    for (item, at) in &truth {
        report.facts.push(format!("{at} s: {}", items[*item].text));
        report
            .demand(*at > hide, || format!("item {} happens at {at} s, which is not after `hide`, {hide} s", item + 1));
    }
    for pair in truth.windows(2) {
        let ((earlier, from), (later, to)) = (pair[0], pair[1]);
        report.demand(from < to, || {
            format!(
                "items {} and {} happen at the same instant, {to} s; expected different ones",
                earlier + 1,
                later + 1
            )
        });
    }
    let place = |wanted: usize| truth.iter().position(|(item, _)| *item == wanted);
    for (number, swap) in mistakes.iter().enumerate() {
        report.demand(place(swap.before) > place(swap.after), || {
            format!(
                "order.mistake {}: item {} does come before item {}; expected a wrong order",
                number + 1,
                swap.before + 1,
                swap.after + 1
            )
        });
    }
    let offered: Vec<usize> = (0..items.len()).collect();
    let right: Vec<usize> = truth.iter().map(|(item, _)| *item).collect();
    report.demand(offered != right, || "the items are offered in their right order; expected another".into());
    settle(drill, &Answer::Order(right), report);
}

fn near(
    value: &str,
    unit: &str,
    tolerance: i64,
    mistakes: &'static [Near],
    hide: TrueTime,
    runs: &[Named],
    report: &mut Report,
) -> Option<i64> {
    let (truth, rests_on) = report.keep(grade::number(value, runs))?;
    report
        .demand(rests_on > hide, || format!("“{value}” is known at {rests_on} s, which is not after `hide`, {hide} s"));
    report.facts.push(format!("“{value}” = {}, ± {}", told(truth, unit), told(tolerance, unit)));
    for mistake in mistakes {
        let Some((wrong, _)) = report.keep(grade::number(mistake.value, runs)) else { continue };
        report.facts.push(format!("  mistaken for {}: {}", told(wrong, unit), mistake.misconception));
        report.demand(wrong.abs_diff(truth) > tolerance.unsigned_abs(), || {
            let wrong = told(wrong, unit);
            format!("the mistake “{}” comes to {wrong}, which is right within the tolerance", mistake.value)
        });
    }
    Some(truth)
}

fn break_it(drill: &Drill, report: &mut Report) {
    let Task::BreakIt { par, solution, .. } = drill.task else { return };
    let solution = parse_list(solution).map_err(|mistake| format!("`solution`: {mistake}"));
    let Some(solution) = report.keep(solution) else { return };
    report.demand(solution.len() == usize::from(par), || {
        format!("`solution` has {} interventions and `par` is {par}; expected the same", solution.len())
    });
    if let Some(given) = report.keep(grade(drill, &Answer::Interventions(Vec::new()))) {
        report.facts.push(format!("nothing added: {}", given.feedback));
    }
    let answer = Answer::Interventions(solution);
    if let Some(graded) = report.keep(grade(drill, &answer)) {
        report.demand(graded.right, || format!("the solution does not win: {}", graded.feedback));
        for check in &graded.checks {
            let holds = if check.holds { "holds" } else { "does not hold" };
            report.facts.push(format!("solution: “{}” {holds}; {}", check.condition, check.how));
        }
        for text in drill.shows {
            let there = Pattern::parse(text).is_ok_and(|pattern| pattern.find(&graded.runs[0].run).is_some());
            report.demand(there, || format!("`shows` names “{text}”, which the solution’s run does not have"));
        }
    }
    if let Some(searched) = report.keep(search::shorter_than_par(drill)) {
        report.facts.push(format!("{} shorter lists were run", searched.runs));
        if let Some(shorter) = searched.shorter {
            let text: Vec<String> = shorter.iter().map(ToString::to_string).collect();
            report.problems.push(format!(
                "`par` is {par}, and {} reaches the goal; expected nothing shorter",
                if text.is_empty() {
                    "the given setting alone".to_owned()
                } else {
                    format!("“{}”", text.join("; "))
                }
            ));
        }
    }
}

fn fix_it(drill: &Drill, report: &mut Report) {
    let Task::FixIt { changes, par, .. } = drill.task else { return };
    if changes.len() > CHANGES_MAX {
        report.problems.push(format!("{} changes are offered; expected at most {CHANGES_MAX}", changes.len()));
        return;
    }
    let mut fewest = None;
    for bits in 0..1_u32 << changes.len() {
        let chosen: Vec<usize> = (0..changes.len()).filter(|place| bits & (1 << place) != 0).collect();
        let Some(graded) = report.keep(grade(drill, &Answer::Changes(chosen.clone()))) else { continue };
        let failed: Vec<String> = graded
            .checks
            .iter()
            .filter(|check| !check.holds)
            .map(|check| {
                let name = graded.runs.get(check.run).map_or("", |named| named.name);
                format!("{} under “{}”", check.condition, if name.is_empty() { "no attack" } else { name })
            })
            .collect();
        let outcome = if graded.right { "holds".to_owned() } else { format!("fails: {}", failed.join(", ")) };
        report.facts.push(format!("{}: {outcome}", Answer::Changes(chosen.clone())));
        if graded.right && fewest.is_none_or(|fewest| chosen.len() <= fewest) {
            fewest = Some(chosen.len());
            if chosen.len() == usize::from(par) {
                let missing = drill.shows.len() - graded.shows.len();
                report.demand(missing == 0, || {
                    format!("`shows` names {missing} events that no run with {} has", Answer::Changes(chosen))
                });
            }
        }
    }
    match fewest {
        None => report.problems.push("no choice of changes withstands every attack; expected one that does".into()),
        Some(fewest) => report.demand(fewest == usize::from(par), || {
            format!("`par` is {par}, and {fewest} changes suffice; expected the fewest")
        }),
    }
}
