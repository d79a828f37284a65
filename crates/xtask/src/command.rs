//! The command line: what a person may type after `cargo xtask`.

use std::ffi::OsString;

use lexopt::prelude::*;

/// Printed by `cargo xtask` without arguments.
pub(crate) const HELP: &str = "\
Builds, serves and tests Lease Lab.

  cargo xtask serve [--port N] [--no-open]   build the page, serve it on this computer, open the browser
  cargo xtask build                          build the page into dist/, optimised, for any static web server
  cargo xtask single-file                    the same, and say where the page in one file is, for use without a network
  cargo xtask test                           check the format, run clippy, all native tests and all browser tests
  cargo xtask test --native                  only what needs no browser
  cargo xtask test --browser [NAME]          only the browser tests; with NAME, only those whose name matches it

`serve` needs Rust alone; `build` and `test` need Node 20 or newer as well.
";

/// One well-formed command line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// Print [`HELP`].
    Help,
    /// Build the page and serve it until interrupted.
    Serve {
        /// The port asked for; `None` lets the tool choose.
        port: Option<u16>,
        /// Whether to show the page in the browser of the desktop.
        open: bool,
    },
    /// Build the optimised page.
    Build,
    /// Build, and name the page in one file.
    SingleFile,
    /// Run checks and tests.
    Test(Test),
}

/// Which checks and tests to run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Test {
    /// Everything.
    All,
    /// What needs no browser.
    Native,
    /// The browser tests, all or those whose name matches.
    Browser {
        /// A pattern for the test runner of Node.
        name: Option<String>,
    },
}

/// Reads a command line; the error is the sentence to print.
pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Command, String> {
    let mut parser = lexopt::Parser::from_args(arguments);
    let command = match parser.next().map_err(wrong)? {
        None | Some(Short('h') | Long("help")) => Ok(Command::Help),
        Some(Value(name)) => match name.to_str() {
            Some("help") => Ok(Command::Help),
            Some("serve") => parse_serve(&mut parser),
            Some("build") => parse_no_options(&mut parser).map(|()| Command::Build),
            Some("single-file") => parse_no_options(&mut parser).map(|()| Command::SingleFile),
            Some("test") => parse_test(&mut parser).map(Command::Test),
            _ => {
                return Err(format!(
                    "Unknown command {name:?}: use `serve`, `build`, `single-file` or `test`, or run `cargo xtask` to read what they do."
                ));
            }
        },
        Some(argument) => Err(argument.unexpected()),
    };
    command.map_err(wrong)
}

fn parse_serve(parser: &mut lexopt::Parser) -> Result<Command, lexopt::Error> {
    let mut port = None;
    let mut open = true;
    while let Some(argument) = parser.next()? {
        match argument {
            Long("port") => port = Some(parser.value()?.parse_with(parse_port)?),
            Long("no-open") => open = false,
            _ => return Err(argument.unexpected()),
        }
    }
    Ok(Command::Serve { port, open })
}

fn parse_port(text: &str) -> Result<u16, &'static str> {
    text.parse().map_err(|_| "a port is a number from 1 to 65535, and 0 lets the system choose")
}

fn parse_test(parser: &mut lexopt::Parser) -> Result<Test, lexopt::Error> {
    let mut native = false;
    let mut browser = false;
    let mut name = None;
    while let Some(argument) = parser.next()? {
        match argument {
            Long("native") => native = true,
            Long("browser") => browser = true,
            Value(value) if browser && name.is_none() => name = Some(value.string()?),
            _ => return Err(argument.unexpected()),
        }
    }
    match (native, browser) {
        (true, true) => Err("--native and --browser exclude each other; leave both out to run all tests".into()),
        (true, false) => Ok(Test::Native),
        (false, true) => Ok(Test::Browser { name }),
        (false, false) => Ok(Test::All),
    }
}

fn parse_no_options(parser: &mut lexopt::Parser) -> Result<(), lexopt::Error> {
    match parser.next()? {
        None => Ok(()),
        Some(argument) => Err(argument.unexpected()),
    }
}

fn wrong(error: lexopt::Error) -> String {
    format!("Wrong command line: {error}; run `cargo xtask` to read what is possible.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Command, String> {
        parse(line.split_whitespace().map(OsString::from))
    }

    #[track_caller]
    fn check(line: &str, expected: Command) {
        assert_eq!(parsed(line), Ok(expected));
    }

    #[track_caller]
    fn check_wrong(line: &str, expected: &str) {
        let sentence = parsed(line).expect_err("a wrong command line was accepted");
        assert!(sentence.contains(expected), "{sentence}");
        assert_eq!(sentence.lines().count(), 1, "{sentence}");
    }

    #[test]
    fn reads_every_command() {
        check("", Command::Help);
        check("--help", Command::Help);
        check("build", Command::Build);
        check("serve", Command::Serve { port: None, open: true });
        check("serve --no-open --port 9000", Command::Serve { port: Some(9000), open: false });
        check("serve --port=9000", Command::Serve { port: Some(9000), open: true });
        check("test", Command::Test(Test::All));
        check("test --native", Command::Test(Test::Native));
        check("test --browser", Command::Test(Test::Browser { name: None }));
        let name = Some("zombie".to_owned());
        check("test --browser zombie", Command::Test(Test::Browser { name }));
    }

    #[test]
    fn says_what_is_wrong_in_one_sentence() {
        check_wrong("sevre", "Unknown command \"sevre\"");
        check_wrong("serve --port", "missing argument for option '--port'");
        check_wrong("serve --port 70000", "cannot parse argument \"70000\": a port is a number from 1 to 65535");
        check_wrong("serve here", "unexpected argument \"here\"");
        check_wrong("build --fast", "invalid option '--fast'");
        check_wrong("test zombie", "unexpected argument \"zombie\"");
        check_wrong("test --native --browser", "exclude each other");
    }
}
