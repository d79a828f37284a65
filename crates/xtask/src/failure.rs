//! One way to fail: a sentence that says what went wrong, where, and what to do.

use std::fmt;

/// The sentence to print before the tool ends with status 1.
#[derive(Debug)]
pub(crate) struct Failure(String);

/// What every step of the tool returns.
pub(crate) type Outcome<T> = Result<T, Failure>;

impl Failure {
    /// A failure with this sentence.
    pub(crate) fn new(sentence: impl Into<String>) -> Self {
        Self(sentence.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Turns the error of a library into a sentence for a person.
pub(crate) trait OrFail<T> {
    /// Puts `what` in front of the error: "Could not write dist/index.html: No space left on device."
    fn or_fail(self, what: impl FnOnce() -> String) -> Outcome<T>;
}

impl<T, E: fmt::Display> OrFail<T> for Result<T, E> {
    fn or_fail(self, what: impl FnOnce() -> String) -> Outcome<T> {
        // The alternate form prints the whole chain of causes in one line.
        self.map_err(|error| Failure(format!("{}: {error:#}.", what())))
    }
}
