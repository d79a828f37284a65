//! What the tool says while it works: one line per step, on standard error, aligned like cargo's own lines.

use std::fmt::Display;
use std::io::Write;
use std::time::Instant;

use crate::failure::Outcome;

/// Runs a step that prints nothing itself: `  Optimising the page (4.1 s)`.
pub(crate) fn step<T>(verb: &str, what: impl Display, work: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
    eprint!("{verb:>12} {what}");
    // The start of the line must be seen while the step runs; without a terminal there is nobody to see it.
    let _ = std::io::stderr().flush();
    let started = Instant::now();
    let result = work();
    match result {
        Ok(_) => eprintln!(" ({:.1} s)", started.elapsed().as_secs_f64()),
        Err(_) => eprintln!(),
    }
    result
}

/// Runs a step that shows its own progress, such as cargo's: a line before, and one with the time after.
pub(crate) fn streaming<T>(verb: &str, what: impl Display, work: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
    eprintln!("{verb:>12} {what}");
    let started = Instant::now();
    let result = work()?;
    eprintln!("{:>12} {what} ({:.1} s)", "Done", started.elapsed().as_secs_f64());
    Ok(result)
}

/// Says something that a person should know but need not act upon.
pub(crate) fn note(what: impl Display) {
    eprintln!("{:>12} {what}", "Note");
}
