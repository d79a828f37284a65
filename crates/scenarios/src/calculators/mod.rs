//! Small sums that a reader can play with: each result shows its formula with the numbers put in.
//!
//! Integers only: a value is a whole number of millionths, whatever its unit.
//! Where things are: one file for each calculator.

mod fence_dynamodb;
mod hot_fence;
mod how_much;
mod margin;
mod takeover;

use lease_lab_sim::time::grouped;

/// The value 1 of any unit.
pub const ONE: i64 = 1_000_000;

/// A calculator.
#[derive(Debug)]
pub struct Calculator {
    /// The name in links.
    pub id: &'static str,
    /// What it works out.
    pub title: &'static str,
    /// What a reader must know first.
    pub intro: &'static str,
    /// What can be chosen.
    pub inputs: &'static [Input],
    /// Works the results out of one value for each input, each within its range.
    work_out: fn(&[i64]) -> Vec<Output>,
}

/// A number that can be chosen, in millionths of its unit.
#[derive(Debug)]
pub struct Input {
    /// The name in links.
    pub key: &'static str,
    /// What it is.
    pub label: &'static str,
    /// Its unit; empty for a count.
    pub unit: &'static str,
    /// The least.
    pub min: i64,
    /// The most.
    pub max: i64,
    /// The distance between two values.
    pub step: i64,
    /// The value at first.
    pub default: i64,
}

/// A result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// A name for tests and links.
    pub id: &'static str,
    /// What was worked out.
    pub label: &'static str,
    /// The result with its unit.
    pub value: String,
    /// The formula with the numbers put in.
    pub formula: String,
    /// What is wrong with it, in a sentence.
    pub warning: Option<String>,
    /// How much of a limit is used, in thousandths, for results that have one; more than 1000 is too much.
    pub used: Option<i64>,
}

/// Every calculator, in the order of the parts.
pub fn all() -> [&'static Calculator; 5] {
    [
        &margin::CALCULATOR,
        &fence_dynamodb::CALCULATOR,
        &hot_fence::CALCULATOR,
        &takeover::CALCULATOR,
        &how_much::CALCULATOR,
    ]
}

/// The calculator with this id.
pub fn find(id: &str) -> Option<&'static Calculator> {
    all().into_iter().find(|calculator| calculator.id == id)
}

impl Calculator {
    /// The values at first.
    pub fn defaults(&self) -> Vec<i64> {
        self.inputs.iter().map(|input| input.default).collect()
    }

    /// The results for `values`, one for each input, in millionths.
    /// A missing one is the default; one outside its range or between two steps becomes the nearest that is allowed.
    pub fn outputs(&self, values: &[i64]) -> Vec<Output> {
        let allowed: Vec<i64> = self
            .inputs
            .iter()
            .zip(0..)
            .map(|(input, place): (_, usize)| input.nearest(values.get(place).copied().unwrap_or(input.default)))
            .collect();
        (self.work_out)(&allowed)
    }
}

impl Input {
    const fn seconds(key: &'static str, label: &'static str, range: (i64, i64), step: i64, default: i64) -> Input {
        Input { key, label, unit: "s", min: range.0, max: range.1, step, default }
    }

    const fn count(key: &'static str, label: &'static str, range: (i64, i64), default: i64) -> Input {
        Input { key, label, unit: "", min: range.0 * ONE, max: range.1 * ONE, step: ONE, default: default * ONE }
    }

    /// The allowed value that is nearest to `value`.
    pub fn nearest(&self, value: i64) -> i64 {
        let above = i128::from(value.clamp(self.min, self.max)) - i128::from(self.min);
        let steps = (above + i128::from(self.step) / 2) / i128::from(self.step);
        let nearest = i128::from(self.min) + steps * i128::from(self.step);
        // The largest value need not be a whole number of steps away from the smallest.
        nearest.min(i128::from(self.max)) as i64
    }
}

impl Output {
    fn new(id: &'static str, label: &'static str, value: String, formula: String) -> Output {
        Output { id, label, value, formula, warning: None, used: None }
    }

    fn warned(self, warning: Option<String>) -> Output {
        Output { warning, ..self }
    }

    fn of_limit(self, used: i128, limit: i128) -> Output {
        // No range of inputs comes near the largest integer.
        Output { used: Some((used * 1000 / limit.max(1)) as i64), ..self }
    }
}

/// A value as a reader sees it: grouped, rounded to hundredths, without needless zeros.
fn told(value: i128) -> String {
    let hundredths = (value + 5_000).div_euclid(10_000);
    let sign = if hundredths < 0 { "−" } else { "" };
    let (whole, rest) = (hundredths.unsigned_abs() / 100, hundredths.unsigned_abs() % 100);
    let whole = grouped(whole as u64);
    match rest {
        0 => format!("{sign}{whole}"),
        rest if rest % 10 == 0 => format!("{sign}{whole}.{}", rest / 10),
        rest => format!("{sign}{whole}.{rest:02}"),
    }
}

/// A value in seconds.
fn seconds(value: i128) -> String {
    format!("{} s", told(value))
}

/// A sum or difference written after another number: a negative one in brackets.
fn operand(value: i128) -> String {
    if value < 0 { format!("({})", told(value)) } else { told(value) }
}

/// The product of two values.
fn times(a: i128, b: i128) -> i128 {
    a * b / i128::from(ONE)
}

/// The quotient of two values; 0 if there is none.
fn over(a: i128, b: i128) -> i128 {
    if b == 0 { 0 } else { a * i128::from(ONE) / b }
}

/// The least whole number that is not below the quotient of two values; 0 if there is none.
fn whole_over(a: i128, b: i128) -> i128 {
    if b == 0 { 0 } else { -((-a).div_euclid(b)) }
}

/// As many values as the calculator has inputs; a calculator that asks for others has a bug that its test finds.
fn wide<const N: usize>(values: &[i64]) -> [i128; N] {
    debug_assert_eq!(values.len(), N);
    std::array::from_fn(|place| values.get(place).copied().map_or(0, i128::from))
}
