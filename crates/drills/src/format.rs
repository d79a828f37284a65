//! The files of the drills: TOML, one file for each; see `docs/drills.md`.
//!
//! The build script reads them all with this; the command line reads one that somebody is writing.
//! Here only the shape is checked. Whether a drill is right is known once it is run: see `check`.

use std::fmt::Debug;

use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};

use crate::drill::{
    Also, Ask, Attack, Bounds, Choice, Drill, Item, Kind, Mistake, Near, Offer, Setup, Swap, Task, Variation,
};

/// How many outcomes, rules and parts there are to name.
const OUTCOMES: u8 = 11;
const RULES: u8 = 3;
const PARTS: u8 = 12;
const ID_LENGTH_MAX: usize = 40;
/// An hour: no run is longer.
const SECONDS_MAX: f64 = 3_600.0;
/// What a number and its tolerance can be.
const NUMBER_MAX: f64 = 1e12;

/// Reads the text of one file.
///
/// The drill is never freed: a program reads each file once.
///
/// # Errors
/// One sentence without the file’s name: the line if it is known, what is wrong, and what was expected.
pub fn read(id: &str, kind: Kind, text: &str) -> Result<Drill, String> {
    let file: File = toml::from_str(text).map_err(|error| {
        let line = error.span().map(|span| 1 + text[..span.start.min(text.len())].matches('\n').count());
        let place = line.map_or(String::new(), |line| format!("line {line}: "));
        format!("{place}{}", error.message().replace('\n', ", "))
    })?;
    check_id(id)?;
    file.check_keys(kind)?;
    file.drill(id, kind)
}

fn check_id(id: &str) -> Result<(), String> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if !id.is_empty() && id.len() <= ID_LENGTH_MAX && id.bytes().all(plain) {
        return Ok(());
    }
    Err(format!("the file’s name “{id}” is not an id; expected at most {ID_LENGTH_MAX} of a-z, 0-9 and -"))
}

/// Every key of every kind; which of them a kind takes is checked afterwards, for the sake of clear sentences.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct File {
    title: Option<String>,
    part: Option<u8>,
    outcomes: Option<Vec<u8>>,
    rules: Option<Vec<u8>>,
    situation: Option<Vec<String>>,
    why: Option<Vec<String>>,
    shows: Option<Vec<String>>,
    lab: Option<String>,
    r#do: Option<String>,
    seed: Option<u64>,
    also: Option<Vec<AlsoTable>>,
    variation: Option<VariationTable>,
    // predict
    hide: Option<f64>,
    choose: Option<ChooseTable>,
    order: Option<OrderTable>,
    number: Option<NumberTable>,
    mark: Option<MarkTable>,
    // break-it and fix-it
    task: Option<String>,
    goal: Option<Vec<String>>,
    par: Option<u8>,
    limit: Option<u8>,
    allow: Option<Vec<String>>,
    solution: Option<String>,
    hints: Option<Vec<String>>,
    mistake: Option<Vec<MistakeTable>>,
    otherwise: Option<String>,
    bounds: Option<BoundsTable>,
    change: Option<Vec<OfferTable>>,
    attack: Option<Vec<AttackTable>>,
    works: Option<Vec<String>>,
    // explain
    question: Option<String>,
    answer: Option<Vec<String>>,
    check: Option<Vec<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AlsoTable {
    name: String,
    text: String,
    lab: Option<String>,
    r#do: Option<String>,
    seed: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct VariationTable {
    text: String,
    lab: Option<String>,
    r#do: Option<String>,
    seed: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ChooseTable {
    question: String,
    option: Vec<OptionTable>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OptionTable {
    text: String,
    when: Vec<String>,
    feedback: String,
    #[serde(default)]
    misconception: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OrderTable {
    question: String,
    item: Vec<ItemTable>,
    mistake: Vec<SwapTable>,
    otherwise: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ItemTable {
    text: String,
    event: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SwapTable {
    before: usize,
    after: usize,
    feedback: String,
    misconception: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NumberTable {
    question: String,
    #[serde(default)]
    unit: String,
    value: Expression,
    tolerance: f64,
    min: f64,
    max: f64,
    mistake: Vec<NearTable>,
    otherwise: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MarkTable {
    question: String,
    value: Expression,
    tolerance: f64,
    mistake: Vec<NearTable>,
    otherwise: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NearTable {
    value: Expression,
    tolerance: f64,
    feedback: String,
    misconception: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MistakeTable {
    when: Vec<String>,
    feedback: String,
    #[serde(default)]
    misconception: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct BoundsTable {
    verbs: Option<Vec<String>>,
    step: Option<f64>,
    from: Option<f64>,
    to: Option<f64>,
    lengths: Option<Vec<f64>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OfferTable {
    text: String,
    r#do: String,
    feedback: String,
    #[serde(default)]
    misconception: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AttackTable {
    name: String,
    r#do: String,
}

/// A value to be read off a run, or simply a number.
#[derive(Debug)]
struct Expression(String);

impl<'de> Deserialize<'de> for Expression {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Expression, D::Error> {
        struct Reader;

        impl Visitor<'_> for Reader {
            type Value = Expression;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a number, or a text such as \"time gave-up worker=B\"")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Expression, E> {
                Ok(Expression(text.to_owned()))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Expression, E> {
                Ok(Expression(number.to_string()))
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Expression, E> {
                Ok(Expression(number.to_string()))
            }
        }

        deserializer.deserialize_any(Reader)
    }
}

impl File {
    /// The keys that are there, with the kinds that take them.
    fn keys(&self) -> [(&'static str, bool, &'static [Kind]); 30] {
        use Kind::{BreakIt, Explain, FixIt, Predict};
        [
            ("situation", self.situation.is_some(), &[Predict, BreakIt, FixIt]),
            ("why", self.why.is_some(), &[Predict, BreakIt, FixIt]),
            ("shows", self.shows.is_some(), &[Predict, BreakIt, FixIt]),
            ("do", self.r#do.is_some(), &[Predict, BreakIt, FixIt]),
            ("seed", self.seed.is_some(), &[Predict, BreakIt, FixIt]),
            ("also", self.also.is_some(), &[Predict]),
            ("variation", self.variation.is_some(), &[Predict, BreakIt, FixIt]),
            ("hide", self.hide.is_some(), &[Predict]),
            ("choose", self.choose.is_some(), &[Predict]),
            ("order", self.order.is_some(), &[Predict]),
            ("number", self.number.is_some(), &[Predict]),
            ("mark", self.mark.is_some(), &[Predict]),
            ("task", self.task.is_some(), &[BreakIt, FixIt]),
            ("goal", self.goal.is_some(), &[BreakIt, FixIt]),
            ("par", self.par.is_some(), &[BreakIt, FixIt]),
            ("limit", self.limit.is_some(), &[BreakIt]),
            ("allow", self.allow.is_some(), &[BreakIt]),
            ("solution", self.solution.is_some(), &[BreakIt]),
            ("hints", self.hints.is_some(), &[BreakIt]),
            ("mistake", self.mistake.is_some(), &[BreakIt]),
            ("otherwise", self.otherwise.is_some(), &[BreakIt]),
            ("bounds", self.bounds.is_some(), &[BreakIt]),
            ("change", self.change.is_some(), &[FixIt]),
            ("attack", self.attack.is_some(), &[FixIt]),
            ("works", self.works.is_some(), &[FixIt]),
            ("question", self.question.is_some(), &[Explain]),
            ("answer", self.answer.is_some(), &[Explain]),
            ("check", self.check.is_some(), &[Explain]),
            ("title", self.title.is_some(), &Kind::ALL),
            ("lab", self.lab.is_some(), &Kind::ALL),
        ]
    }

    fn check_keys(&self, kind: Kind) -> Result<(), String> {
        for (key, there, kinds) in self.keys() {
            if there && !kinds.contains(&kind) {
                let folders: Vec<&str> = kinds.iter().map(|kind| kind.folder()).collect();
                return Err(format!(
                    "`{key}` is no key of {} drill; expected it in {} only",
                    a(kind),
                    folders.join(" and ")
                ));
            }
        }
        Ok(())
    }

    fn drill(self, id: &str, kind: Kind) -> Result<Drill, String> {
        let numbers = |key: &str, list: &[u8], max: u8| match list.iter().find(|number| !(1..=max).contains(*number)) {
            Some(number) => Err(format!("`{key}` names {number}; expected numbers from 1 to {max}")),
            None => Ok(leaked(list.to_vec())),
        };
        let explain = kind == Kind::Explain;
        let part = self.part.ok_or_else(|| lacks(kind, "part", "a number from 1 to 12"))?;
        if !(1..=PARTS).contains(&part) {
            return Err(format!("`part` is {part}; expected a number from 1 to {PARTS}"));
        }
        let outcomes = self.outcomes.as_deref().unwrap_or_default();
        if outcomes.is_empty() {
            return Err(lacks(kind, "outcomes", "a list of numbers such as [4]"));
        }
        let lab = text("lab", required(kind, "lab", self.lab)?)?;
        let seed = self.seed.unwrap_or(0);
        let setup = |its_lab: Option<String>, interventions: Option<String>, its_seed: Option<u64>| Setup {
            lab: its_lab.map_or(lab, leak),
            interventions: interventions.map(leak),
            seed: its_seed.unwrap_or(seed),
        };
        let mut also: Vec<Also> = Vec::new();
        for table in self.also.unwrap_or_default() {
            let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
            if table.name.is_empty() || !table.name.bytes().all(plain) {
                return Err(format!("`also` has the name “{}”; expected a word of a-z, 0-9 and -", table.name));
            }
            if also.iter().any(|earlier| earlier.name == table.name) {
                return Err(format!("two runs of `also` are called “{}”; expected different names", table.name));
            }
            also.push(Also {
                name: leak(table.name),
                text: text("also.text", table.text)?,
                setup: setup(table.lab, table.r#do, table.seed),
            });
        }
        let variation = match self.variation {
            Some(table) => Some(Variation {
                text: text("variation.text", table.text)?,
                setup: setup(table.lab, table.r#do, table.seed),
            }),
            None if explain => None,
            None => return Err(lacks(kind, "variation", "a table with text, and lab or do")),
        };
        let setup = setup(None, self.r#do, None);
        let paragraphs = |key: &str, list: Option<Vec<String>>| match list {
            None if explain => Ok(leaked(Vec::new())),
            list => texts(key, required(kind, key, list)?),
        };
        Ok(Drill {
            id: leak(id.to_owned()),
            title: text("title", required(kind, "title", self.title)?)?,
            part,
            outcomes: numbers("outcomes", outcomes, OUTCOMES)?,
            rules: numbers("rules", &self.rules.unwrap_or_default(), RULES)?,
            situation: paragraphs("situation", self.situation)?,
            why: paragraphs("why", self.why)?,
            shows: paragraphs("shows", self.shows)?,
            setup,
            also: leaked(also),
            variation,
            task: match kind {
                Kind::Predict => Task::Predict {
                    hide_micros: seconds("hide", required(kind, "hide", self.hide)?)?,
                    ask: match (self.choose, self.order, self.number, self.mark) {
                        (Some(choose), None, None, None) => choose.ask()?,
                        (None, Some(order), None, None) => order.ask()?,
                        (None, None, Some(number), None) => number.ask()?,
                        (None, None, None, Some(mark)) => mark.ask()?,
                        _ => {
                            return Err("a predict drill asks one thing; expected exactly one of the tables \
                                         [choose], [order], [number] and [mark]"
                                .into());
                        }
                    },
                },
                Kind::BreakIt => {
                    let par = at_least_one("par", required(kind, "par", self.par)?)?;
                    let limit = required(kind, "limit", self.limit)?;
                    if limit < par {
                        return Err(format!("`limit` is {limit} and `par` is {par}; expected par ≤ limit"));
                    }
                    Task::BreakIt {
                        task: text("task", required(kind, "task", self.task)?)?,
                        goal: texts("goal", required(kind, "goal", self.goal)?)?,
                        limit,
                        par,
                        allow: leaked(self.allow.unwrap_or_default().into_iter().map(leak).collect()),
                        solution: text("solution", required(kind, "solution", self.solution)?)?,
                        hints: texts("hints", required(kind, "hints", self.hints)?)?,
                        mistakes: leaked(
                            required(kind, "mistake", self.mistake)?
                                .into_iter()
                                .map(MistakeTable::mistake)
                                .collect::<Result<_, _>>()?,
                        ),
                        otherwise: text("otherwise", required(kind, "otherwise", self.otherwise)?)?,
                        bounds: self.bounds.unwrap_or_default().bounds()?,
                    }
                }
                Kind::FixIt => Task::FixIt {
                    task: text("task", required(kind, "task", self.task)?)?,
                    changes: leaked(
                        some("change", required(kind, "change", self.change)?)?
                            .into_iter()
                            .map(OfferTable::offer)
                            .collect::<Result<_, _>>()?,
                    ),
                    attacks: leaked(
                        some("attack", required(kind, "attack", self.attack)?)?
                            .into_iter()
                            .map(|table| {
                                Ok(Attack { name: text("attack.name", table.name)?, interventions: leak(table.r#do) })
                            })
                            .collect::<Result<_, String>>()?,
                    ),
                    goal: texts("goal", required(kind, "goal", self.goal)?)?,
                    works: texts("works", required(kind, "works", self.works)?)?,
                    par: at_least_one("par", required(kind, "par", self.par)?)?,
                },
                Kind::Explain => Task::Explain {
                    question: text("question", required(kind, "question", self.question)?)?,
                    answer: texts("answer", required(kind, "answer", self.answer)?)?,
                    check: texts("check", required(kind, "check", self.check)?)?,
                },
            },
        })
    }
}

impl ChooseTable {
    fn ask(self) -> Result<Ask, String> {
        if self.option.len() < 2 {
            return Err("[choose] has fewer than two options; expected two or more [[choose.option]]".into());
        }
        let choice = |table: OptionTable| {
            Ok(Choice {
                text: text("choose.option.text", table.text)?,
                when: texts("choose.option.when", table.when)?,
                feedback: text("choose.option.feedback", table.feedback)?,
                misconception: leak(table.misconception),
            })
        };
        Ok(Ask::Choose {
            question: text("choose.question", self.question)?,
            options: leaked(self.option.into_iter().map(choice).collect::<Result<_, String>>()?),
        })
    }
}

impl OrderTable {
    fn ask(self) -> Result<Ask, String> {
        let count = self.item.len();
        if count < 3 {
            return Err(format!("[order] has {count} items; expected three or more [[order.item]]"));
        }
        let item = |table: ItemTable| {
            Ok(Item { text: text("order.item.text", table.text)?, event: text("order.item.event", table.event)? })
        };
        let swap = |table: SwapTable| {
            let place = |key: &str, number: usize| match number.checked_sub(1) {
                Some(place) if place < count => Ok(place),
                _ => Err(format!("`order.mistake.{key}` is {number}; expected the number of an item, 1 to {count}")),
            };
            Ok(Swap {
                before: place("before", table.before)?,
                after: place("after", table.after)?,
                feedback: text("order.mistake.feedback", table.feedback)?,
                misconception: text("order.mistake.misconception", table.misconception)?,
            })
        };
        Ok(Ask::Order {
            question: text("order.question", self.question)?,
            items: leaked(self.item.into_iter().map(item).collect::<Result<_, String>>()?),
            mistakes: leaked(
                some("order.mistake", self.mistake)?.into_iter().map(swap).collect::<Result<_, String>>()?,
            ),
            otherwise: text("order.otherwise", self.otherwise)?,
        })
    }
}

impl NumberTable {
    fn ask(self) -> Result<Ask, String> {
        let (min_micros, max_micros) = (number("number.min", self.min)?, number("number.max", self.max)?);
        if min_micros >= max_micros {
            return Err(format!("`number.min` is {} and `number.max` is {}; expected min < max", self.min, self.max));
        }
        Ok(Ask::Number {
            question: text("number.question", self.question)?,
            unit: leak(self.unit),
            value: text("number.value", self.value.0)?,
            tolerance_micros: tolerance("number.tolerance", self.tolerance)?,
            min_micros,
            max_micros,
            mistakes: near("number", self.mistake)?,
            otherwise: text("number.otherwise", self.otherwise)?,
        })
    }
}

impl MarkTable {
    fn ask(self) -> Result<Ask, String> {
        Ok(Ask::Mark {
            question: text("mark.question", self.question)?,
            value: text("mark.value", self.value.0)?,
            tolerance_micros: tolerance("mark.tolerance", self.tolerance)?,
            mistakes: near("mark", self.mistake)?,
            otherwise: text("mark.otherwise", self.otherwise)?,
        })
    }
}

fn near(table: &str, mistakes: Vec<NearTable>) -> Result<&'static [Near], String> {
    let read = |mistake: NearTable| {
        Ok(Near {
            value: text(&format!("{table}.mistake.value"), mistake.value.0)?,
            tolerance_micros: tolerance(&format!("{table}.mistake.tolerance"), mistake.tolerance)?,
            feedback: text(&format!("{table}.mistake.feedback"), mistake.feedback)?,
            misconception: text(&format!("{table}.mistake.misconception"), mistake.misconception)?,
        })
    };
    let list = some(&format!("{table}.mistake"), mistakes)?;
    Ok(leaked(list.into_iter().map(read).collect::<Result<_, String>>()?))
}

impl MistakeTable {
    fn mistake(self) -> Result<Mistake, String> {
        Ok(Mistake {
            when: texts("mistake.when", self.when)?,
            feedback: text("mistake.feedback", self.feedback)?,
            misconception: leak(self.misconception),
        })
    }
}

impl OfferTable {
    fn offer(self) -> Result<Offer, String> {
        Ok(Offer {
            text: text("change.text", self.text)?,
            interventions: text("change.do", self.r#do)?,
            feedback: text("change.feedback", self.feedback)?,
            misconception: leak(self.misconception),
        })
    }
}

impl BoundsTable {
    fn bounds(self) -> Result<Bounds, String> {
        let step_micros = seconds("bounds.step", self.step.unwrap_or(1.0))?;
        if step_micros < 10_000 {
            return Err("`bounds.step` is below 0.01 s; expected a step that a search can go through".into());
        }
        let lengths = self.lengths.unwrap_or_else(|| vec![2.0, 8.0, 20.0]);
        Ok(Bounds {
            verbs: leaked(self.verbs.unwrap_or_default().into_iter().map(leak).collect()),
            step_micros,
            from_micros: seconds("bounds.from", self.from.unwrap_or(0.0))?,
            to_micros: seconds("bounds.to", self.to.unwrap_or(60.0))?,
            lengths_micros: leaked(
                lengths.into_iter().map(|length| seconds("bounds.lengths", length)).collect::<Result<_, _>>()?,
            ),
        })
    }
}

fn lacks(kind: Kind, key: &str, expected: &str) -> String {
    format!("{} drill lacks `{key}`; expected {expected}", a(kind))
}

fn a(kind: Kind) -> String {
    format!("{} {}", if kind == Kind::Explain { "an" } else { "a" }, kind.folder())
}

fn required<T>(kind: Kind, key: &str, value: Option<T>) -> Result<T, String> {
    value.ok_or_else(|| lacks(kind, key, "it, as in the other files of its folder"))
}

fn some<T>(key: &str, list: Vec<T>) -> Result<Vec<T>, String> {
    if list.is_empty() { Err(format!("`{key}` is empty; expected at least one")) } else { Ok(list) }
}

fn at_least_one(key: &str, number: u8) -> Result<u8, String> {
    if number == 0 { Err(format!("`{key}` is 0; expected 1 or more")) } else { Ok(number) }
}

fn text(key: &str, value: String) -> Result<&'static str, String> {
    if value.trim().is_empty() { Err(format!("`{key}` is empty; expected text")) } else { Ok(leak(value)) }
}

fn texts(key: &str, list: Vec<String>) -> Result<&'static [&'static str], String> {
    Ok(leaked(some(key, list)?.into_iter().map(|value| text(key, value)).collect::<Result<_, _>>()?))
}

fn micros(key: &str, value: f64, min: f64, max: f64) -> Result<i64, String> {
    if (min..=max).contains(&value) {
        Ok((value * 1e6).round() as i64)
    } else {
        Err(format!("`{key}` is {value}; expected {min} to {max}"))
    }
}

fn seconds(key: &str, value: f64) -> Result<i64, String> {
    micros(key, value, 0.0, SECONDS_MAX)
}

fn number(key: &str, value: f64) -> Result<i64, String> {
    micros(key, value, -NUMBER_MAX, NUMBER_MAX)
}

fn tolerance(key: &str, value: f64) -> Result<i64, String> {
    micros(key, value, 0.0, NUMBER_MAX)
}

fn leak(value: String) -> &'static str {
    Box::leak(value.into_boxed_str())
}

fn leaked<T: Debug>(list: Vec<T>) -> &'static [T] {
    Box::leak(list.into_boxed_slice())
}
