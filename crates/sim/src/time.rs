//! Integer time, one type per clock domain.
//!
//! True time, a machine's monotonic clock and its wall clock are three different things, and mixing them up is the
//! mistake that this project is about.
//! So each has a type of its own, and only [`MachineClock`](crate::clock::MachineClock) converts between them.
//! All values are microseconds.

use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

use serde::{Serialize, Serializer};

/// Microseconds in a second.
pub const MICROS_PER_SECOND: i64 = 1_000_000;

/// No run lasts so long.
const FOREVER_MICROS: i64 = 1_000_000 * MICROS_PER_SECOND;

/// A length of time in microseconds, on whichever clock it is added to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(i64);

impl Span {
    /// No time at all.
    pub const ZERO: Span = Span(0);
    /// Longer than any run.
    pub const FOREVER: Span = Span(FOREVER_MICROS);

    /// A span of so many microseconds.
    pub const fn micros(micros: i64) -> Span {
        Span(micros)
    }

    /// A span of so many milliseconds.
    pub const fn millis(millis: i64) -> Span {
        Span(millis * 1_000)
    }

    /// A span of so many whole seconds.
    pub const fn seconds(seconds: i64) -> Span {
        Span(seconds * MICROS_PER_SECOND)
    }

    /// The span in microseconds.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// Seconds as sentences tell them: to a hundredth, but with at least one decimal.
    pub fn told(self) -> String {
        tell_seconds(self.0)
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0 + other.0)
    }
}

impl Sub for Span {
    type Output = Span;
    fn sub(self, other: Span) -> Span {
        Span(self.0 - other.0)
    }
}

impl Neg for Span {
    type Output = Span;
    fn neg(self) -> Span {
        Span(-self.0)
    }
}

impl Mul<i64> for Span {
    type Output = Span;
    fn mul(self, factor: i64) -> Span {
        Span(self.0 * factor)
    }
}

impl Div<i64> for Span {
    type Output = Span;
    fn div(self, divisor: i64) -> Span {
        Span(self.0 / divisor)
    }
}

impl fmt::Display for Span {
    /// Seconds with as few decimals as needed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_seconds(f, self.0)
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_seconds(self.0, serializer)
    }
}

macro_rules! instant {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(i64);

        impl $name {
            /// The zero of this clock.
            pub const ZERO: $name = $name(0);
            /// Later than anything.
            pub const MAX: $name = $name(i64::MAX);
            /// The stop time or deadline of what has no limit.
            pub const NEVER: $name = $name(FOREVER_MICROS);

            /// Whether it is the stop time or deadline of what has no limit.
            pub fn is_never(self) -> bool {
                self >= Self::NEVER
            }

            /// The instant so many microseconds after zero.
            pub const fn from_micros(micros: i64) -> $name {
                $name(micros)
            }

            /// The instant so many milliseconds after zero.
            pub const fn from_millis(millis: i64) -> $name {
                $name(millis * 1_000)
            }

            /// Microseconds since zero.
            pub const fn as_micros(self) -> i64 {
                self.0
            }

            /// Seconds as sentences tell them: to a hundredth, but with at least one decimal.
            pub fn told(self) -> String {
                tell_seconds(self.0)
            }

            /// Seconds since zero, for drawing and printing only.
            pub fn as_seconds(self) -> f64 {
                self.0 as f64 / MICROS_PER_SECOND as f64
            }
        }

        impl Add<Span> for $name {
            type Output = $name;
            fn add(self, span: Span) -> $name {
                $name(self.0 + span.0)
            }
        }

        impl AddAssign<Span> for $name {
            fn add_assign(&mut self, span: Span) {
                self.0 += span.0;
            }
        }

        impl Sub<Span> for $name {
            type Output = $name;
            fn sub(self, span: Span) -> $name {
                $name(self.0 - span.0)
            }
        }

        impl Sub for $name {
            type Output = Span;
            fn sub(self, other: $name) -> Span {
                Span(self.0 - other.0)
            }
        }

        impl fmt::Display for $name {
            /// Seconds with as few decimals as needed.
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_seconds(f, self.0)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if self.is_never() {
                    return serializer.serialize_none();
                }
                serialize_seconds(self.0, serializer)
            }
        }
    };
}

instant! {
    /// The simulator's own time, which no machine can read.
    TrueTime
}
instant! {
    /// A reading of one machine's monotonic clock: never set, runs at the machine's own rate.
    Mono
}
instant! {
    /// A reading of one machine's wall clock: can be set, so it steps and has an offset.
    Wall
}

/// Writes microseconds as decimal seconds without trailing zeros, exactly.
fn write_seconds(f: &mut fmt::Formatter<'_>, micros: i64) -> fmt::Result {
    let sign = if micros < 0 { "-" } else { "" };
    let whole = micros.unsigned_abs() / MICROS_PER_SECOND as u64;
    let fraction = micros.unsigned_abs() % MICROS_PER_SECOND as u64;
    if fraction == 0 {
        return write!(f, "{sign}{whole}");
    }
    let digits = format!("{fraction:06}");
    write!(f, "{sign}{whole}.{}", digits.trim_end_matches('0'))
}

/// See [`Span::told`].
fn tell_seconds(micros: i64) -> String {
    let hundredths = (micros + 5_000).div_euclid(10_000);
    let sign = if hundredths < 0 { "−" } else { "" };
    let (whole, rest) = (hundredths.abs() / 100, hundredths.abs() % 100);
    if rest % 10 == 0 { format!("{sign}{whole}.{}", rest / 10) } else { format!("{sign}{whole}.{rest:02}") }
}

/// A count as sentences tell it, with a comma at every third digit.
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// One correctly rounded division: the shortest decimal that JSON prints for it is the exact value again.
fn serialize_seconds<S: Serializer>(micros: i64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(micros as f64 / MICROS_PER_SECOND as f64)
}

/// When a lock service lets a lease expire: a reading of whichever clock judges it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Deadline {
    /// On the authority's monotonic clock.
    Mono(Mono),
    /// On the authority's wall clock.
    Wall(Wall),
}

impl Deadline {
    /// Whether there is none.
    pub fn is_never(self) -> bool {
        match self {
            Deadline::Mono(reading) => reading.is_never(),
            Deadline::Wall(reading) => reading.is_never(),
        }
    }

    /// The reading as sentences tell it.
    pub fn told(self) -> String {
        match self {
            Deadline::Mono(reading) => reading.told(),
            Deadline::Wall(reading) => reading.told(),
        }
    }
}

impl Serialize for Deadline {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Deadline::Mono(reading) => reading.serialize(serializer),
            Deadline::Wall(reading) => reading.serialize(serializer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_printed_exactly_and_short() {
        for (micros, expected) in [
            (0, "0"),
            (19_050_000, "19.05"),
            (-3_000_000, "-3"),
            (1, "0.000001"),
            (-500_000, "-0.5"),
            (47_000_000, "47"),
        ] {
            assert_eq!(Span::micros(micros).to_string(), expected);
        }
    }

    #[test]
    fn times_are_told_to_a_hundredth() {
        for (micros, expected) in
            [(0, "0.0"), (13_003_000, "13.0"), (19_050_000, "19.05"), (49_242_000, "49.24"), (-3_000_000, "−3.0")]
        {
            assert_eq!(Span::micros(micros).told(), expected);
        }
    }
}
