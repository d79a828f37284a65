//! The settings that only some scenarios have: `0 set KEY VALUE`.
//!
//! They are chosen before a run begins and change its plan.

use lease_lab_sim::settings::Plan;
use lease_lab_sim::time::Span;

/// A setting of some scenarios.
#[derive(Debug)]
pub struct Knob {
    /// The key in the grammar.
    pub key: &'static str,
    /// What it is called.
    pub name: &'static str,
    /// Which values it takes.
    pub takes: Takes,
}

/// The values of a knob, and what they do.
#[derive(Debug)]
pub enum Takes {
    /// One of these words.
    Choice(&'static [Choice]),
    /// Seconds, decimals allowed.
    Seconds {
        /// The least.
        from: Span,
        /// The most.
        to: Span,
        /// What it does.
        apply: fn(&mut Plan, Span),
    },
    /// A whole number.
    Count {
        /// The least.
        from: u32,
        /// The most.
        to: u32,
        /// What it does.
        apply: fn(&mut Plan, u32),
    },
}

/// One of a knob's words.
#[derive(Debug)]
pub struct Choice {
    /// The word.
    pub value: &'static str,
    /// What it means, in a few words.
    pub means: &'static str,
    /// What it does.
    pub apply: fn(&mut Plan),
}

impl Knob {
    /// Changes `plan`.
    ///
    /// # Errors
    /// When it does not take `value`: says what was expected.
    pub fn apply(&self, plan: &mut Plan, value: &str) -> Result<(), String> {
        match &self.takes {
            Takes::Choice(choices) => match choices.iter().find(|choice| choice.value == value) {
                Some(choice) => (choice.apply)(plan),
                None => return Err(self.expected()),
            },
            Takes::Seconds { from, to, apply } => {
                let span = read_seconds(value).filter(|span| (*from..=*to).contains(span));
                apply(plan, span.ok_or_else(|| self.expected())?);
            }
            Takes::Count { from, to, apply } => {
                let digits = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
                let count = value.parse().ok().filter(|count| digits && (*from..=*to).contains(count));
                apply(plan, count.ok_or_else(|| self.expected())?);
            }
        }
        Ok(())
    }

    /// The values that it takes, in words.
    pub fn expected(&self) -> String {
        match &self.takes {
            Takes::Choice(choices) => {
                let words: Vec<&str> = choices.iter().map(|choice| choice.value).collect();
                words.join(" or ")
            }
            Takes::Seconds { from, to, .. } => format!("{from} to {to} seconds"),
            Takes::Count { from, to, .. } => format!("a whole number from {from} to {to}"),
        }
    }
}

/// Reads seconds as the grammar does.
fn read_seconds(text: &str) -> Option<Span> {
    let read = lease_lab_sim::intervention::parse_one(&format!("{text} heal")).ok()?;
    Some(Span::micros(read.at.as_micros()))
}
