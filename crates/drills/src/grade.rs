//! Grading: the simulator runs, and the run decides.

use std::fmt;

use lease_lab_scenarios::run::Input;
use lease_lab_scenarios::{Run, Scenario};
use lease_lab_sim::intervention::{Change, Intervention, parse_list};
use lease_lab_sim::settings::FenceMode;
use lease_lab_sim::time::{Span, TrueTime};

use crate::drill::{Ask, Attack, Choice, Drill, Item, Mistake, Near, Offer, Setup, Swap, Task};
use crate::query::{Condition, Found, Named, Pattern, Scalar, Value, read_number, told};

/// What a learner answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Choose: which option, from 0.
    Option(usize),
    /// Order: the items, from 0, in the order in which the learner put them.
    Order(Vec<usize>),
    /// Number: in millionths.
    Number(i64),
    /// Mark: the instant.
    Mark(TrueTime),
    /// Break it: the interventions that the learner added to the given ones.
    Interventions(Vec<Intervention>),
    /// Fix it: which changes, from 0.
    Changes(Vec<usize>),
    /// Explain: for each point whether the learner’s answer has it.
    SelfCheck(Vec<bool>),
}

/// What became of an answer.
#[derive(Debug)]
pub struct Graded {
    /// Whether it is right.
    pub right: bool,
    /// From 0 to 100; right is 60 or more.
    pub score: u8,
    /// What the learner said, in words.
    pub predicted: String,
    /// What the run did, in words.
    pub truth: String,
    /// What to say to this answer; empty for a right number, instant or order.
    pub feedback: String,
    /// The misconception behind it.
    pub misconception: Option<&'static str>,
    /// What was to hold, and whether it did; for break-it and fix-it.
    pub checks: Vec<Checked>,
    /// The events that show why: the run’s place in `runs`, the event’s in its `events`.
    pub shows: Vec<(usize, usize)>,
    /// What was run: the drill’s own run and those of `also`, or the learner’s; for fix-it one without an attack, then
    /// one for each attack. Empty for explain.
    pub runs: Vec<Named>,
}

/// What was to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// In which of the runs.
    pub run: usize,
    /// The condition, in the query language.
    pub condition: &'static str,
    /// Whether it holds.
    pub holds: bool,
    /// How that came about, in the words or numbers of the run; may be empty.
    pub how: String,
}

impl Setup {
    /// The scenario.
    ///
    /// # Errors
    /// When there is none with this id.
    pub fn scenario(&self) -> Result<&'static Scenario, String> {
        lease_lab_scenarios::find(self.lab)
            .ok_or_else(|| format!("there is no scenario “{}”; expected an id that lease-lab list shows", self.lab))
    }

    /// The complete list of interventions.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn interventions(&self) -> Result<Vec<Intervention>, String> {
        match self.interventions {
            Some(text) => interventions(text),
            None => Ok(self.scenario()?.own_interventions()),
        }
    }

    /// Runs it, with more interventions.
    ///
    /// # Errors
    /// When they make no sense for the scenario.
    pub fn run_with(&self, more: &[Intervention]) -> Result<Run, String> {
        let mut list = self.interventions()?;
        list.extend_from_slice(more);
        let input = Input { interventions: Some(list), seed: self.seed, until: None };
        Run::new(self.scenario()?, input).map_err(|mistake| mistake.to_string())
    }
}

fn interventions(text: &str) -> Result<Vec<Intervention>, String> {
    parse_list(text).map_err(|mistake| mistake.to_string())
}

/// The drill’s own run, and those of `also`.
///
/// # Errors
/// When one of them cannot be run; a test runs them all.
pub fn runs(drill: &Drill) -> Result<Vec<Named>, String> {
    let mut runs = vec![Named { name: "", run: drill.setup.run_with(&[])? }];
    for also in drill.also {
        runs.push(Named { name: also.name, run: also.setup.run_with(&[])? });
    }
    Ok(runs)
}

/// Runs the drill and says what becomes of the answer.
///
/// # Errors
/// When the answer does not belong to a drill of this kind, or its interventions make no sense: one sentence.
pub fn grade(drill: &Drill, answer: &Answer) -> Result<Graded, String> {
    let mut graded = match (drill.task, answer) {
        (Task::Predict { ask, .. }, _) => predict(runs(drill)?, ask, answer)?,
        (Task::BreakIt { .. }, Answer::Interventions(added)) => break_it(drill, added)?,
        (Task::FixIt { .. }, Answer::Changes(chosen)) => fix_it(drill, chosen)?,
        (Task::Explain { answer: model, check, .. }, Answer::SelfCheck(ticked)) => explain(model, check, ticked)?,
        _ => return Err(other_kind()),
    };
    graded.shows = shown(drill, &graded.runs)?;
    Ok(graded)
}

/// The events that a drill’s why speaks of: for a drill with attacks, in the first attack that has them.
fn shown(drill: &Drill, runs: &[Named]) -> Result<Vec<(usize, usize)>, String> {
    let places: Vec<usize> = match drill.task {
        Task::FixIt { .. } => (1..runs.len()).chain([0]).collect(),
        Task::Explain { .. } => Vec::new(),
        _ => vec![0],
    };
    let mut shows = Vec::new();
    for text in drill.shows {
        let pattern = Pattern::parse(text)?;
        shows.extend(places.iter().find_map(|place| Some((*place, pattern.find(&runs.get(*place)?.run)?))));
    }
    Ok(shows)
}

fn other_kind() -> String {
    "the answer belongs to another kind of drill; expected one of this kind".into()
}

fn no_such(what: &str, place: usize, count: usize) -> String {
    format!("there is no {what} {}; expected 1 to {count}", place + 1)
}

/// Everything right, or nothing.
fn all_or_nothing(right: bool) -> u8 {
    if right { 100 } else { 0 }
}

fn said(misconception: &'static str) -> Option<&'static str> {
    Some(misconception).filter(|text| !text.is_empty())
}

fn predict(runs: Vec<Named>, ask: Ask, answer: &Answer) -> Result<Graded, String> {
    let mut graded = match (ask, answer) {
        (Ask::Choose { options, .. }, Answer::Option(chosen)) => choose(&runs, options, *chosen)?,
        (Ask::Order { items, mistakes, otherwise, .. }, Answer::Order(order)) => {
            put_in_order(&runs, items, mistakes, otherwise, order)?
        }
        (Ask::Number { unit, value, tolerance_micros, mistakes, otherwise, .. }, Answer::Number(number)) => {
            near(&runs, value, unit, tolerance_micros, mistakes, otherwise, *number)?
        }
        (Ask::Mark { value, tolerance_micros, mistakes, otherwise, .. }, Answer::Mark(at)) => {
            near(&runs, value, "s", tolerance_micros, mistakes, otherwise, at.as_micros())?
        }
        _ => return Err(other_kind()),
    };
    graded.runs = runs;
    Ok(graded)
}

/// Whether all conditions hold in the runs.
///
/// # Errors
/// When one of them cannot be read.
pub fn all_hold(conditions: &[&str], runs: &[Named]) -> Result<bool, String> {
    for text in conditions {
        if !Condition::parse(text)?.of(runs).holds {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Which options are right in the runs, from 0.
///
/// # Errors
/// When a condition cannot be read.
pub fn right_options(options: &[Choice], runs: &[Named]) -> Result<Vec<usize>, String> {
    let mut right = Vec::new();
    for (place, option) in options.iter().enumerate() {
        if all_hold(option.when, runs)? {
            right.push(place);
        }
    }
    Ok(right)
}

fn choose(runs: &[Named], options: &'static [Choice], chosen: usize) -> Result<Graded, String> {
    let option = options.get(chosen).ok_or_else(|| no_such("option", chosen, options.len()))?;
    let right = right_options(options, runs)?;
    let is_right = right.contains(&chosen);
    let truth: Vec<&str> = right.iter().map(|place| options[*place].text).collect();
    Ok(Graded {
        feedback: option.feedback.into(),
        misconception: if is_right { None } else { said(option.misconception) },
        ..Graded::new(is_right, all_or_nothing(is_right), option.text, truth.join(" "))
    })
}

/// The items, from 0, in the order in which the run has them, with their times.
///
/// # Errors
/// When a pattern cannot be read or the run lacks an event.
pub fn right_order(items: &[Item], runs: &[Named]) -> Result<Vec<(usize, TrueTime)>, String> {
    let run = &runs.first().ok_or("there is no run")?.run;
    let mut places: Vec<(usize, usize)> = Vec::new();
    for (item, Item { event, .. }) in items.iter().enumerate() {
        let place = Pattern::parse(event)?.find(run);
        places.push((place.ok_or_else(|| format!("the run has no event “{event}”"))?, item));
    }
    places.sort_unstable();
    Ok(places.into_iter().map(|(place, item)| (item, run.events[place].t)).collect())
}

fn put_in_order(
    runs: &[Named],
    items: &'static [Item],
    mistakes: &'static [Swap],
    otherwise: &'static str,
    order: &[usize],
) -> Result<Graded, String> {
    if order.len() != items.len() || (0..items.len()).any(|item| !order.contains(&item)) {
        return Err(format!("the order must have each of the items 1 to {} once", items.len()));
    }
    let truth = right_order(items, runs)?;
    let place_of = |wanted: usize| order.iter().position(|item| *item == wanted);
    let mut pairs = 0;
    let mut kept = 0;
    for (place, (earlier, _)) in truth.iter().enumerate() {
        for (later, _) in &truth[place + 1..] {
            pairs += 1;
            kept += usize::from(place_of(*earlier) < place_of(*later));
        }
    }
    let right = kept == pairs;
    let mistake = mistakes.iter().find(|swap| place_of(swap.before) < place_of(swap.after)).filter(|_| !right);
    let words =
        |order: &mut dyn Iterator<Item = usize>| order.map(|item| items[item].text).collect::<Vec<&str>>().join(" → ");
    let score = if right { 100 } else { (kept * 59 / pairs.max(1)) as u8 };
    Ok(Graded {
        feedback: if right { "" } else { mistake.map_or(otherwise, |swap| swap.feedback) }.into(),
        misconception: mistake.and_then(|swap| said(swap.misconception)),
        ..Graded::new(right, score, words(&mut order.iter().copied()), words(&mut truth.iter().map(|(item, _)| *item)))
    })
}

/// What a value comes to, which must be a number: in millionths.
///
/// # Errors
/// When the value cannot be read, the run does not have it, or it is a word.
pub fn number(text: &str, runs: &[Named]) -> Result<(i64, TrueTime), String> {
    let Found { value, rests_on } = Value::parse(text)?.of(runs)?;
    match value {
        Scalar::Number(micros) => match i64::try_from(micros) {
            Ok(micros) => Ok((micros, rests_on)),
            Err(_) => Err(format!("“{text}” is too large a number")),
        },
        Scalar::Word(word) => Err(format!("“{text}” comes to the word “{word}”; expected a number")),
    }
}

fn near(
    runs: &[Named],
    value: &str,
    unit: &str,
    tolerance: i64,
    mistakes: &'static [Near],
    otherwise: &'static str,
    answered: i64,
) -> Result<Graded, String> {
    let (truth, _) = number(value, runs)?;
    let is_near = |value: i64, tolerance: i64| answered.abs_diff(value) <= tolerance.unsigned_abs();
    let right = is_near(truth, tolerance);
    let mut mistake = None;
    for near in mistakes.iter().filter(|_| !right) {
        // A run may lack what a mistake is about.
        if mistake.is_none() && number(near.value, runs).is_ok_and(|(value, _)| is_near(value, near.tolerance_micros)) {
            mistake = Some(near);
        }
    }
    Ok(Graded {
        feedback: if right { "" } else { mistake.map_or(otherwise, |near| near.feedback) }.into(),
        misconception: mistake.and_then(|near| said(near.misconception)),
        ..Graded::new(right, all_or_nothing(right), told(answered, unit), told(truth, unit))
    })
}

/// Checks conditions in one of the runs.
fn checked(runs: &[Named], run: usize, conditions: &'static [&'static str]) -> Result<Vec<Checked>, String> {
    let mut all = Vec::new();
    for condition in conditions {
        let outcome = Condition::parse(condition)?.of(&runs[run..]);
        all.push(Checked { run, condition, holds: outcome.holds, how: outcome.how });
    }
    Ok(all)
}

/// Fewer is better; each one more than `par` costs a tenth.
fn score_for(count: usize, par: u8) -> u8 {
    let more = count.saturating_sub(par.into()).min(4);
    100 - 10 * more as u8
}

fn listed(interventions: &[Intervention]) -> String {
    interventions.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn counted(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

/// Whether a change counts: some do only where a drill lists them, because they give the game away.
pub fn counts(change: &Change, allow: &[&str]) -> bool {
    if !matches!(change, Change::Fence(FenceMode::Off) | Change::Set { .. } | Change::Restore { .. }) {
        return true;
    }
    let text = change.to_string();
    allow.iter().any(|allowed| text.strip_prefix(allowed).is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')))
}

fn break_it(drill: &Drill, added: &[Intervention]) -> Result<Graded, String> {
    let Task::BreakIt { goal, limit, par, allow, mistakes, otherwise, .. } = drill.task else {
        return Err(other_kind());
    };
    let runs = vec![Named { name: "", run: drill.setup.run_with(added)? }];
    let checks = checked(&runs, 0, goal)?;
    let reached = checks.iter().all(|check| check.holds);
    let useless = added.iter().find(|intervention| !counts(&intervention.change, allow));
    let right = reached && useless.is_none() && added.len() <= limit.into();
    let (feedback, misconception) = match (reached, useless) {
        (_, Some(useless)) => (format!("“{useless}” does not count here. Find a way without it."), None),
        (true, None) if added.len() > limit.into() => {
            (format!("It works, but with {}; at most {limit} count.", counted(added.len(), "intervention")), None)
        }
        (true, None) if added.len() > par.into() => {
            (format!("It works. The shortest known way has {}.", counted(par.into(), "intervention")), None)
        }
        (true, None) => ("It works, and no shorter way is known.".into(), None),
        (false, None) => match first_that_holds(mistakes, &runs)? {
            Some(mistake) => (mistake.feedback.into(), said(mistake.misconception)),
            None => (otherwise.into(), None),
        },
    };
    let score = if right { score_for(added.len(), par) } else { 0 };
    let truth = if reached { "The goal is reached." } else { "The goal is not reached." };
    let predicted = if added.is_empty() { "nothing added".into() } else { listed(added) };
    Ok(Graded { feedback, misconception, checks, runs, ..Graded::new(right, score, predicted, truth) })
}

fn first_that_holds(mistakes: &'static [Mistake], runs: &[Named]) -> Result<Option<&'static Mistake>, String> {
    for mistake in mistakes {
        if all_hold(mistake.when, runs)? {
            return Ok(Some(mistake));
        }
    }
    Ok(None)
}

fn fix_it(drill: &Drill, chosen: &[usize]) -> Result<Graded, String> {
    let Task::FixIt { changes, attacks, goal, works, par, .. } = drill.task else {
        return Err(other_kind());
    };
    let mut taken: Vec<&'static Offer> = Vec::new();
    // In the order in which they are offered, whatever was pressed first; and none twice.
    for (place, change) in changes.iter().enumerate() {
        if chosen.contains(&place) {
            taken.push(change);
        }
    }
    if let Some(place) = chosen.iter().find(|place| **place >= changes.len()) {
        return Err(no_such("change", *place, changes.len()));
    }
    let mut added = Vec::new();
    for change in &taken {
        added.extend(interventions(change.interventions)?);
    }
    let mut runs = vec![Named { name: "", run: drill.setup.run_with(&added)? }];
    let mut checks = checked(&runs, 0, works)?;
    for Attack { name, interventions: attack } in attacks {
        let mut all = added.clone();
        all.extend(interventions(attack)?);
        runs.push(Named { name, run: drill.setup.run_with(&all)? });
        checks.extend(checked(&runs, runs.len() - 1, goal)?);
    }
    let held = checks.iter().filter(|check| check.holds).count();
    let right = held == checks.len();
    let score = if right { score_for(taken.len(), par) } else { (held * 59 / checks.len().max(1)) as u8 };
    let feedback = match right {
        true if taken.len() > par.into() => format!("It holds. {} would do.", capital(counted(par.into(), "change"))),
        true => "It holds, and nothing less does.".into(),
        false if taken.is_empty() => "Nothing is changed yet.".into(),
        false => taken.iter().map(|change| change.feedback).collect::<Vec<_>>().join(" "),
    };
    let misconception = taken.iter().filter(|_| !right).find_map(|change| said(change.misconception));
    let predicted = match taken.is_empty() {
        true => "no change".into(),
        false => taken.iter().map(|change| change.text).collect::<Vec<_>>().join(" + "),
    };
    let withstood = (1..runs.len()).filter(|run| checks.iter().all(|check| check.run != *run || check.holds)).count();
    let truth = format!("{withstood} of {} withstood", counted(attacks.len(), "attack"));
    Ok(Graded { feedback, misconception, checks, runs, ..Graded::new(right, score, predicted, truth) })
}

fn capital(text: String) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

fn explain(model: &[&str], check: &[&str], ticked: &[bool]) -> Result<Graded, String> {
    if ticked.len() != check.len() {
        return Err(format!("{} points were answered; expected {}", ticked.len(), check.len()));
    }
    let count = ticked.iter().filter(|ticked| **ticked).count();
    let right = count == check.len();
    let score = if right { 100 } else { (count * 59 / check.len().max(1)) as u8 };
    Ok(Graded::new(right, score, format!("{count} of {} points", check.len()), model.join(" ")))
}

impl Graded {
    fn new(right: bool, score: u8, predicted: impl Into<String>, truth: impl Into<String>) -> Graded {
        Graded {
            right,
            score,
            predicted: predicted.into(),
            truth: truth.into(),
            feedback: String::new(),
            misconception: None,
            checks: Vec::new(),
            shows: Vec::new(),
            runs: Vec::new(),
        }
    }
}

/// How an answer is kept: `option 2`, `order 3 1 2`, `number 18.5`, `mark 19.05`, `do 4 pause A 8; 21 crash B`,
/// `changes 1 3`, `check yes no yes`; counted from 1.
impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = |f: &mut fmt::Formatter<'_>, places: &[usize]| {
            places.iter().try_for_each(|place| write!(f, " {}", place.saturating_add(1)))
        };
        match self {
            Answer::Option(place) => write!(f, "option {}", place.saturating_add(1)),
            Answer::Order(order) => f.write_str("order").and_then(|()| places(f, order)),
            Answer::Number(micros) => write!(f, "number {}", Span::micros(*micros)),
            Answer::Mark(at) => write!(f, "mark {at}"),
            Answer::Interventions(added) => write!(f, "do {}", listed(added)),
            Answer::Changes(chosen) => f.write_str("changes").and_then(|()| places(f, chosen)),
            Answer::SelfCheck(ticked) => f
                .write_str("check")
                .and_then(|()| ticked.iter().try_for_each(|ticked| f.write_str(if *ticked { " yes" } else { " no" }))),
        }
    }
}

impl Answer {
    /// Reads what was kept; `None` if it is nothing of the kind.
    pub fn read(text: &str) -> Option<Answer> {
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        let place = |word: &str| word.parse::<usize>().ok()?.checked_sub(1);
        let places = || rest.split_ascii_whitespace().map(place).collect::<Option<Vec<usize>>>();
        Some(match word {
            "option" => Answer::Option(place(rest)?),
            "order" => Answer::Order(places()?),
            "number" => Answer::Number(read_number(rest)?),
            "mark" => Answer::Mark(TrueTime::from_micros(read_number(rest)?)),
            "do" => Answer::Interventions(parse_list(rest).ok()?),
            "changes" => Answer::Changes(places()?),
            "check" => Answer::SelfCheck(
                rest.split_ascii_whitespace()
                    .map(|word| match word {
                        "yes" => Some(true),
                        "no" => Some(false),
                        _ => None,
                    })
                    .collect::<Option<_>>()?,
            ),
            _ => return None,
        })
    }
}
