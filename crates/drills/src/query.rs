//! The query language: patterns of events, values that are read off a run, and conditions.
//!
//! Everything that a drill says about a run is written in it, and evaluated on the run itself; see `docs/drills.md`.
//! Numbers are exact millionths.

use lease_lab_scenarios::Run;
use lease_lab_scenarios::measures::Value as MeasureValue;
use lease_lab_scenarios::report;
use lease_lab_scenarios::snapshot::Snapshot;
use lease_lab_sim::event::Event;
use lease_lab_sim::invariants::{Invariant, Verdict};
use lease_lab_sim::machine::MachineId;
use lease_lab_sim::time::{Span, TrueTime, grouped};
use serde_json::Value as Json;

const MICROS: i128 = 1_000_000;
const OPERATORS: [&str; 8] = ["+", "-", "=", "!=", "<", "<=", ">", ">="];
const VALUE: &str = "a number, time, field, count, measure, world or a word in quotes";

/// A run with the name that conditions know it by.
#[derive(Debug)]
pub struct Named {
    /// Empty for the drill’s own run.
    pub name: &'static str,
    /// The run.
    pub run: Run,
}

/// Which event is meant: `KIND [field=value]… [on MACHINE] [#N] [after S] [before S]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Its kind.
    pub kind: String,
    /// Fields of its JSON, with the values that they must have.
    pub fields: Vec<(String, String)>,
    /// Where it happens.
    pub machine: Option<MachineId>,
    /// The how-manieth that fits, from 1.
    pub nth: usize,
    /// It happens later than this.
    pub after: Option<TrueTime>,
    /// It happens earlier than this.
    pub before: Option<TrueTime>,
}

/// Something that can be read off a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// Terms to be added up; `true`: to be taken away.
    terms: Vec<(bool, Term)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Term {
    run: Option<String>,
    what: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum What {
    Number(i128),
    Word(String),
    Time(Pattern),
    Field(String, Pattern),
    Count(Pattern),
    Measure(String),
    World(TrueTime, String),
}

/// Something that holds in a run or does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    run: Option<String>,
    test: Test,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Test {
    Happens(Pattern),
    Never(Pattern),
    Broken(Invariant),
    Holds(Invariant),
    Compare(Value, Operator, Value),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Equal,
    Unequal,
    Less,
    AtMost,
    More,
    AtLeast,
}

/// The names that a query uses: a misspelt one finds nothing in any run, so whoever writes queries wants them checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names<'a> {
    /// Of runs.
    pub runs: Vec<&'a str>,
    /// The patterns in it, with the names of kinds and fields.
    pub patterns: Vec<&'a Pattern>,
    /// Fields that are read.
    pub fields: Vec<(&'a Pattern, &'a str)>,
    /// Of measures.
    pub measures: Vec<&'a str>,
    /// Places in a snapshot.
    pub pointers: Vec<&'a str>,
}

/// What a value comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// In millionths; seconds are then microseconds.
    Number(i128),
    /// A word.
    Word(String),
}

/// What a value comes to, and what that rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The value.
    pub value: Scalar,
    /// The latest instant of the drill’s own run that one must know to say so; `MAX` if it needs another run.
    pub rests_on: TrueTime,
}

/// Whether a condition holds, and what that rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Whether it holds.
    pub holds: bool,
    /// The latest instant of the drill’s own run that one must know to say so; `MAX` if it needs another run.
    pub rests_on: TrueTime,
    /// How it came about, in the words or numbers of the run; may be empty.
    pub how: String,
}

impl Scalar {
    /// The value with its unit, as a reader sees it.
    pub fn told(&self, unit: &str) -> String {
        match self {
            Scalar::Word(word) => word.clone(),
            Scalar::Number(micros) => told(i64::try_from(*micros).unwrap_or(i64::MAX), unit),
        }
    }

    fn short(&self) -> String {
        match self {
            Scalar::Word(word) => format!("“{word}”"),
            Scalar::Number(micros) => Span::micros(i64::try_from(*micros).unwrap_or(i64::MAX)).to_string(),
        }
    }
}

/// A number of millionths with its unit, as a reader sees it: `18.5 s`, `5,000 invoices`.
pub fn told(micros: i64, unit: &str) -> String {
    let number = match u64::try_from(micros) {
        _ if unit == "s" => Span::micros(micros).told(),
        Ok(positive) if positive % 1_000_000 == 0 => grouped(positive / 1_000_000),
        _ => Span::micros(micros).to_string().replace('-', "−"),
    };
    if unit.is_empty() { number } else { format!("{number} {unit}") }
}

/// Reads digits with an optional sign, an optional point and at most six decimals, as millionths.
pub fn read_number(word: &str) -> Option<i64> {
    let digits = word.strip_prefix(['-', '−']).unwrap_or(word);
    let (whole, decimals) = digits.split_once('.').unwrap_or((digits, "0"));
    let all_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !all_digits(whole) || !all_digits(decimals) || decimals.len() > 6 || whole.len() > 12 {
        return None;
    }
    let value: i64 = format!("{whole}{decimals:0<6}").parse().ok()?;
    Some(if digits.len() == word.len() { value } else { -value })
}

struct Words<'a> {
    words: Vec<&'a str>,
    at: usize,
}

impl<'a> Words<'a> {
    fn of(text: &'a str) -> Words<'a> {
        Words { words: text.split_whitespace().collect(), at: 0 }
    }

    fn peek(&self) -> Option<&'a str> {
        self.words.get(self.at).copied()
    }

    fn next(&mut self, expected: &str) -> Result<&'a str, String> {
        let word = self.peek().ok_or_else(|| format!("it ends too early; expected {expected}"))?;
        self.at += 1;
        Ok(word)
    }

    fn instant(&mut self) -> Result<TrueTime, String> {
        let expected = "true seconds, such as 19.05";
        let word = self.next(expected)?;
        let micros = read_number(word).filter(|micros| *micros >= 0);
        micros.map(TrueTime::from_micros).ok_or_else(|| format!("“{word}” is not an instant; expected {expected}"))
    }

    /// The name of a run, as in `wall: happens …`.
    fn run(&mut self) -> Option<String> {
        let name = self.peek()?.strip_suffix(':').filter(|name| !name.is_empty())?;
        self.at += 1;
        Some(name.to_owned())
    }

    fn end<T>(&self, read: T) -> Result<T, String> {
        match self.peek() {
            None => Ok(read),
            Some(word) => Err(format!("“{word}” is one word too many; expected nothing after what stands before it")),
        }
    }
}

/// Puts the text in front of what is wrong with it.
fn quoted<T>(text: &str, read: Result<T, String>) -> Result<T, String> {
    read.map_err(|wrong| format!("“{text}”: {wrong}"))
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// One sentence: the text, what is wrong, and what was expected.
    pub fn parse(text: &str) -> Result<Pattern, String> {
        let mut words = Words::of(text);
        quoted(text, Pattern::read(&mut words).and_then(|pattern| words.end(pattern)))
    }

    fn read(words: &mut Words<'_>) -> Result<Pattern, String> {
        let kind = words.next("the kind of an event, such as write-refused")?;
        if OPERATORS.contains(&kind) || kind.contains('=') {
            return Err(format!("“{kind}” is no kind of event; expected one of docs/trace.md, such as write-refused"));
        }
        let mut pattern =
            Pattern { kind: kind.to_owned(), fields: Vec::new(), machine: None, nth: 1, after: None, before: None };
        while let Some(word) = words.peek().filter(|word| !OPERATORS.contains(word)) {
            words.at += 1;
            match word {
                "on" => {
                    let name = words.next("a machine")?;
                    let machine = MachineId::parse(name);
                    pattern.machine = Some(
                        machine.ok_or_else(|| format!("there is no machine “{name}”; expected one such as A or n1"))?,
                    );
                }
                "after" => pattern.after = Some(words.instant()?),
                "before" => pattern.before = Some(words.instant()?),
                _ => match (word.strip_prefix('#'), word.split_once('=')) {
                    (Some(number), _) => {
                        pattern.nth = number.parse().ok().filter(|nth| *nth > 0).ok_or_else(|| {
                            format!("“{word}” counts nothing; expected # and a number from 1, such as #2")
                        })?;
                    }
                    (None, Some((field, value))) if !field.is_empty() && !value.is_empty() => {
                        pattern.fields.push((field.to_owned(), value.to_owned()));
                    }
                    _ => {
                        return Err(format!(
                            "“{word}” means nothing in a pattern; expected field=value, on MACHINE, #N, after S or \
                             before S"
                        ));
                    }
                },
            }
        }
        Ok(pattern)
    }

    fn fits(&self, event: &Event) -> bool {
        event.kind.name() == self.kind
            && self.machine.is_none_or(|machine| machine == event.machine)
            && self.after.is_none_or(|after| event.t > after)
            && self.before.is_none_or(|before| event.t < before)
            && (self.fields.is_empty() || {
                let json = event_json(event);
                self.fields.iter().all(|(field, value)| field_is(&json, field, value))
            })
    }

    fn all<'a>(&'a self, run: &'a Run) -> impl Iterator<Item = usize> + 'a {
        run.events.iter().enumerate().filter(|(_, event)| self.fits(event)).map(|(place, _)| place)
    }

    /// The place in `run.events` of the event that is meant.
    pub fn find(&self, run: &Run) -> Option<usize> {
        self.all(run).nth(self.nth - 1)
    }

    /// How many events fit.
    pub fn count(&self, run: &Run) -> usize {
        self.all(run).count()
    }

    /// Until when one must know a run to say that there is none.
    fn known_at(&self, run: &Run) -> TrueTime {
        self.before.map_or(run.horizon, |before| before.min(run.horizon))
    }

    fn event<'a>(&self, run: &'a Run) -> Result<&'a Event, String> {
        self.find(run)
            .and_then(|place| run.events.get(place))
            .ok_or_else(|| format!("the run has no such {}", self.kind))
    }
}

fn event_json(event: &Event) -> Json {
    // What the report prints is JSON.
    serde_json::from_str(&report::event_json(event)).unwrap_or_default()
}

/// A field, or with dots a field of a field or of a list.
fn field<'a>(json: &'a Json, path: &str) -> Option<&'a Json> {
    path.split('.').try_fold(json, |inner, name| match inner {
        Json::Array(list) => list.get(name.parse::<usize>().ok()?),
        _ => inner.get(name),
    })
}

fn field_is(json: &Json, path: &str, expected: &str) -> bool {
    match field(json, path).and_then(scalar) {
        Some(Scalar::Word(word)) => word == expected,
        Some(Scalar::Number(micros)) => read_number(expected).is_some_and(|number| i128::from(number) == micros),
        None => false,
    }
}

/// Fractions in the JSON of a run are seconds with at most six decimals, so rounding gives back the exact number.
fn scalar(json: &Json) -> Option<Scalar> {
    Some(match json {
        Json::Null => Scalar::Word("null".into()),
        Json::Bool(yes) => Scalar::Word(yes.to_string()),
        Json::String(word) => Scalar::Word(word.clone()),
        Json::Number(number) => Scalar::Number(match (number.as_i64(), number.as_u64()) {
            (Some(whole), _) => i128::from(whole) * MICROS,
            (None, Some(whole)) => i128::from(whole) * MICROS,
            (None, None) => (number.as_f64()? * 1e6).round() as i128,
        }),
        Json::Array(_) | Json::Object(_) => return None,
    })
}

impl Value {
    /// Reads a value.
    ///
    /// # Errors
    /// One sentence: the text, what is wrong, and what was expected.
    pub fn parse(text: &str) -> Result<Value, String> {
        let mut words = Words::of(text);
        quoted(text, Value::read(&mut words).and_then(|value| words.end(value)))
    }

    fn read(words: &mut Words<'_>) -> Result<Value, String> {
        let mut terms = vec![(false, Term::read(words)?)];
        while let Some(sign @ ("+" | "-")) = words.peek() {
            words.at += 1;
            terms.push((sign == "-", Term::read(words)?));
        }
        Ok(Value { terms })
    }

    /// What it comes to.
    ///
    /// # Errors
    /// When the run does not have it: one sentence.
    pub fn of(&self, runs: &[Named]) -> Result<Found, String> {
        self.of_run(runs, None)
    }

    fn of_run(&self, runs: &[Named], run: Option<&str>) -> Result<Found, String> {
        let mut sum: i128 = 0;
        let mut latest = TrueTime::ZERO;
        for (minus, term) in &self.terms {
            let found = term.of(runs, run)?;
            latest = latest.max(found.rests_on);
            match found.value {
                Scalar::Number(micros) if *minus => sum = sum.saturating_sub(micros),
                Scalar::Number(micros) => sum = sum.saturating_add(micros),
                Scalar::Word(_) if self.terms.len() == 1 => return Ok(found),
                Scalar::Word(word) => return Err(format!("“{word}” is a word, and words cannot be added up")),
            }
        }
        Ok(Found { value: Scalar::Number(sum), rests_on: latest })
    }

    /// The names in it.
    pub fn names(&self) -> Names<'_> {
        let mut names = Names::default();
        names.add(self);
        names
    }
}

impl<'a> Names<'a> {
    fn add(&mut self, value: &'a Value) {
        for (_, term) in &value.terms {
            self.runs.extend(term.run.as_deref());
            match &term.what {
                What::Time(pattern) | What::Count(pattern) => self.patterns.push(pattern),
                What::Field(field, pattern) => {
                    self.patterns.push(pattern);
                    self.fields.push((pattern, field));
                }
                What::Measure(id) => self.measures.push(id),
                What::World(_, pointer) => self.pointers.push(pointer),
                What::Number(_) | What::Word(_) => {}
            }
        }
    }
}

impl Term {
    fn read(words: &mut Words<'_>) -> Result<Term, String> {
        let run = words.run();
        let word = words.next(VALUE)?;
        let what = match word {
            "time" => What::Time(Pattern::read(words)?),
            "count" => What::Count(Pattern::read(words)?),
            "measure" => What::Measure(words.next("the id of a measure")?.to_owned()),
            "field" => {
                let field = words.next("the name of a field")?.to_owned();
                match words.next("the word “of”")? {
                    "of" => What::Field(field, Pattern::read(words)?),
                    other => return Err(format!("“{other}” stands after the field; expected “of” and a pattern")),
                }
            }
            "world" => {
                let at = words.instant()?;
                let pointer = words.next("a place in the snapshot, such as /store/fence")?;
                if !pointer.starts_with('/') {
                    return Err(format!("“{pointer}” is no place in a snapshot; expected one such as /store/fence"));
                }
                What::World(at, pointer.to_owned())
            }
            _ => match (word.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')), read_number(word)) {
                (Some(inner), _) => What::Word(inner.to_owned()),
                (None, Some(micros)) => What::Number(micros.into()),
                (None, None) => return Err(format!("“{word}” is no value; expected {VALUE}")),
            },
        };
        Ok(Term { run, what })
    }

    fn of(&self, runs: &[Named], default: Option<&str>) -> Result<Found, String> {
        let (run, own) = choose(runs, self.run.as_deref().or(default))?;
        let (value, rests_on) = match &self.what {
            What::Number(micros) => return Ok(Found { value: Scalar::Number(*micros), rests_on: TrueTime::ZERO }),
            What::Word(word) => return Ok(Found { value: Scalar::Word(word.clone()), rests_on: TrueTime::ZERO }),
            What::Time(pattern) => {
                let event = pattern.event(run)?;
                (Scalar::Number(event.t.as_micros().into()), event.t)
            }
            What::Field(name, pattern) => {
                let event = pattern.event(run)?;
                let value = field(&event_json(event), name).and_then(scalar);
                (value.ok_or_else(|| format!("the {} of this run has no field {name}", pattern.kind))?, event.t)
            }
            What::Count(pattern) => (Scalar::Number(pattern.count(run) as i128 * MICROS), pattern.known_at(run)),
            What::Measure(id) => {
                let measures = run.measures();
                let measure = measures.iter().find(|measure| measure.id == id);
                let measure = measure.ok_or_else(|| {
                    let ids: Vec<&str> = measures.iter().map(|measure| measure.id).collect();
                    format!("{} has no measure “{id}”; expected {}", run.scenario.id, ids.join(" or "))
                })?;
                let value = match &measure.value {
                    Some(MeasureValue::Seconds(span)) => Scalar::Number(span.as_micros().into()),
                    Some(MeasureValue::Count(count)) => Scalar::Number(i128::from(*count) * MICROS),
                    Some(MeasureValue::Text(text)) => Scalar::Word(text.clone()),
                    None => return Err(format!("the measure {id} comes to nothing in this run")),
                };
                (value, run.horizon)
            }
            What::World(at, pointer) => {
                let text = report::snapshot_json(&Snapshot::take(&run.world_at(*at), *at, None));
                let json: Json = serde_json::from_str(&text).unwrap_or_default();
                let value = json.pointer(pointer).and_then(scalar);
                (value.ok_or_else(|| format!("the snapshot at {at} has no single value at {pointer}"))?, *at)
            }
        };
        Ok(Found { value, rests_on: if own { rests_on } else { TrueTime::MAX } })
    }
}

/// The run with this name, or the first, and whether it is the first.
fn choose<'a>(runs: &'a [Named], name: Option<&str>) -> Result<(&'a Run, bool), String> {
    let found = match name {
        None => runs.first().map(|first| (first, true)),
        Some(name) => runs.iter().find(|named| named.name == name).map(|named| (named, false)),
    };
    let found = found.map(|(named, own)| (&named.run, own));
    found.ok_or_else(|| format!("there is no run “{}”; expected the name of an [[also]]", name.unwrap_or_default()))
}

impl Condition {
    /// Reads a condition.
    ///
    /// # Errors
    /// One sentence: the text, what is wrong, and what was expected.
    pub fn parse(text: &str) -> Result<Condition, String> {
        let mut words = Words::of(text);
        quoted(text, Condition::read(&mut words).and_then(|condition| words.end(condition)))
    }

    fn read(words: &mut Words<'_>) -> Result<Condition, String> {
        let run = words.run();
        let test = match words.peek() {
            Some("happens") => {
                words.at += 1;
                Test::Happens(Pattern::read(words)?)
            }
            Some("never") => {
                words.at += 1;
                let pattern = Pattern::read(words)?;
                if pattern.nth > 1 {
                    return Err("never takes no #N; expected count PATTERN < N".into());
                }
                Test::Never(pattern)
            }
            Some("broken") => {
                words.at += 1;
                Test::Broken(invariant(words)?)
            }
            Some("holds") => {
                words.at += 1;
                Test::Holds(invariant(words)?)
            }
            _ => {
                let left = Value::read(words).map_err(|wrong| {
                    format!("{wrong}; a condition begins with happens, never, broken, holds or a value")
                })?;
                let word = words.next("= or != or < or <= or > or >=")?;
                let operator = match word {
                    "=" => Operator::Equal,
                    "!=" => Operator::Unequal,
                    "<" => Operator::Less,
                    "<=" => Operator::AtMost,
                    ">" => Operator::More,
                    ">=" => Operator::AtLeast,
                    _ => return Err(format!("“{word}” compares nothing; expected = or != or < or <= or > or >=")),
                };
                Test::Compare(left, operator, Value::read(words)?)
            }
        };
        Ok(Condition { run, test })
    }

    /// Whether it holds. A comparison with something that the run does not have does not hold.
    pub fn of(&self, runs: &[Named]) -> Outcome {
        let name = self.run.as_deref();
        let (run, own) = match choose(runs, name) {
            Ok(chosen) => chosen,
            Err(how) => return Outcome { holds: false, rests_on: TrueTime::MAX, how },
        };
        let mut outcome = match &self.test {
            Test::Happens(pattern) | Test::Never(pattern) => {
                let place = pattern.find(run);
                let event = place.and_then(|place| run.events.get(place));
                let happens = matches!(self.test, Test::Happens(_));
                Outcome {
                    holds: event.is_some() == happens,
                    rests_on: event.map_or(pattern.known_at(run), |event| event.t),
                    how: event.map_or(String::new(), |event| format!("at {} s", event.t.told())),
                }
            }
            Test::Broken(invariant) | Test::Holds(invariant) => {
                let verdict = run.verdict(*invariant, run.horizon);
                let wants_broken = matches!(self.test, Test::Broken(_));
                match verdict {
                    Verdict::Broken(violation) => {
                        Outcome { holds: wants_broken, rests_on: violation.t, how: violation.why }
                    }
                    verdict => Outcome {
                        holds: !wants_broken && verdict == Verdict::Holds,
                        rests_on: run.horizon,
                        how: String::new(),
                    },
                }
            }
            Test::Compare(left, operator, right) => {
                match (left.of_run(runs, name), right.of_run(runs, name)) {
                    (Ok(left), Ok(right)) => {
                        let holds = operator.holds(&left.value, &right.value);
                        // With a word beside a number, neither is more.
                        let how = format!("{} and {}", left.value.short(), right.value.short());
                        return Outcome { holds, rests_on: left.rests_on.max(right.rests_on), how };
                    }
                    (Err(how), _) | (_, Err(how)) => Outcome { holds: false, rests_on: run.horizon, how },
                }
            }
        };
        if !own {
            outcome.rests_on = TrueTime::MAX;
        }
        outcome
    }

    /// The names in it.
    pub fn names(&self) -> Names<'_> {
        let mut names = Names::default();
        names.runs.extend(self.run.as_deref());
        match &self.test {
            Test::Happens(pattern) | Test::Never(pattern) => names.patterns.push(pattern),
            Test::Broken(_) | Test::Holds(_) => {}
            Test::Compare(left, _, right) => {
                names.add(left);
                names.add(right);
            }
        }
        names
    }

    /// The invariant that must be broken in the drill’s own run.
    pub fn broken(&self) -> Option<Invariant> {
        match self.test {
            Test::Broken(invariant) if self.run.is_none() => Some(invariant),
            _ => None,
        }
    }
}

impl Operator {
    fn holds(self, left: &Scalar, right: &Scalar) -> bool {
        match (self, left, right) {
            (Operator::Equal, _, _) => left == right,
            (Operator::Unequal, _, _) => left != right,
            (_, Scalar::Number(left), Scalar::Number(right)) => match self {
                Operator::Less => left < right,
                Operator::AtMost => left <= right,
                Operator::More => left > right,
                _ => left >= right,
            },
            // A word is neither more nor less than anything.
            _ => false,
        }
    }
}

fn invariant(words: &mut Words<'_>) -> Result<Invariant, String> {
    let ids = Invariant::ALL.map(Invariant::id).join(" or ");
    let word = words.next(&ids)?;
    let found = Invariant::ALL.into_iter().find(|invariant| invariant.id() == word);
    found.ok_or_else(|| format!("“{word}” is no invariant; expected {ids}"))
}
