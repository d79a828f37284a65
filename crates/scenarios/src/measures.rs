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
            Value::Seconds(span) => format!("{} s", span.told()),
            Value::Count(count) => lease_lab_sim::time::grouped(*count),
            Value::Text(text) => text.clone(),
        }
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
