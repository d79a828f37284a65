//! The numbers that a run comes to: everything here is read off its trace.

use lease_lab_sim::time::{Span, TrueTime};
use serde::{Serialize, Serializer};

/// A number that a run comes to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Measure {
    /// A name for tests and links.
    pub id: &'static str,
    /// What is measured, in words.
    pub name: String,
    /// The number; nothing if this run does not come to it.
    pub value: Option<Value>,
    /// How it comes about, with the run's own numbers put in; may be empty.
    pub how: String,
}

/// A value with its unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Seconds of true time, or a length of it.
    Seconds(Span),
    /// A count.
    Count(u64),
    /// A word.
    Text(String),
}

impl Measure {
    /// A measure whose derivation needs no words.
    pub fn new(id: &'static str, name: impl Into<String>, value: Option<Value>, how: impl Into<String>) -> Measure {
        Measure { id, name: name.into(), value, how: how.into() }
    }

    /// An instant of the run.
    pub fn at(id: &'static str, name: &str, at: Option<TrueTime>, how: impl Into<String>) -> Measure {
        Measure::new(id, name, at.map(|at| Value::Seconds(at - TrueTime::ZERO)), how)
    }

    /// A length of time.
    pub fn lasts(id: &'static str, name: &str, span: Option<Span>, how: impl Into<String>) -> Measure {
        Measure::new(id, name, span.map(Value::Seconds), how)
    }

    /// A number of things.
    pub fn count(id: &'static str, name: &str, count: usize, how: impl Into<String>) -> Measure {
        Measure::new(id, name, Some(Value::Count(count as u64)), how)
    }
}

impl Value {
    /// The value as a reader sees it.
    pub fn told(&self) -> String {
        match self {
            Value::Seconds(span) => seconds(*span),
            Value::Count(count) => lease_lab_sim::time::grouped(*count),
            Value::Text(text) => text.clone(),
        }
    }
}

/// A length as long as it is worth: short ones in milliseconds, so that none is told as nothing.
fn seconds(span: Span) -> String {
    const MILLI: i64 = 1_000;
    let micros = span.as_micros();
    let size = micros.abs();
    let sign = if micros < 0 { "−" } else { "" };
    if (1..100 * MILLI).contains(&size) && size % MILLI == 0 {
        return format!("{sign}{} ms", size / MILLI);
    }
    if size < 1_000 * MILLI && size % (10 * MILLI) != 0 && size >= MILLI {
        return format!("{sign}0.{:03} s", size / MILLI);
    }
    let told = span.told();
    match told.split_once('.') {
        Some((whole, rest)) if whole.len() > 3 => {
            let whole: u64 = whole.trim_start_matches('−').parse().unwrap_or(0);
            format!("{sign}{}.{rest} s", lease_lab_sim::time::grouped(whole))
        }
        _ => format!("{told} s"),
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Seconds(span) => span.serialize(serializer),
            Value::Count(count) => serializer.serialize_u64(*count),
            Value::Text(text) => serializer.serialize_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_time_is_never_told_as_nothing() {
        for (micros, expected) in [
            (0, "0.0 s"),
            (2_000, "2 ms"),
            (14_000, "14 ms"),
            (50_000, "50 ms"),
            (-2_000, "−2 ms"),
            (102_000, "0.102 s"),
            (580_000, "0.58 s"),
            (500_000, "0.5 s"),
            (13_007_000, "13.01 s"),
            (7_644_810_000, "7,644.81 s"),
        ] {
            assert_eq!(Value::Seconds(Span::micros(micros)).told(), expected, "{micros}");
        }
    }
}
