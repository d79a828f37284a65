//! Runs cargo, and finds what it has built.

use std::env;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::failure::{Failure, OrFail, Outcome};
use crate::project;

/// Cargo, in the root of the repository. Its progress and its errors go to the terminal.
pub(crate) fn command() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(project::root()).stdin(Stdio::null());
    command
}

/// Runs cargo; `advice` is the sentence for the case that it fails, after what cargo itself has printed.
pub(crate) fn run(command: &mut Command, advice: &str) -> Outcome<()> {
    let status = command.status().or_fail(|| "Could not start cargo".to_owned())?;
    if status.success() { Ok(()) } else { Err(Failure::new(advice)) }
}

/// Builds one binary and returns its path, wherever the target directory is.
pub(crate) fn build_binary(command: &mut Command, binary: &str, advice: &str) -> Outcome<PathBuf> {
    let mut child = command
        .arg("--message-format=json-render-diagnostics")
        .stdout(Stdio::piped())
        .spawn()
        .or_fail(|| "Could not start cargo".to_owned())?;
    let mut built = None;
    if let Some(messages) = child.stdout.take() {
        for line in BufReader::new(messages).lines().map_while(Result::ok) {
            built = binary_in_message(&line, binary).or(built);
        }
    }
    let status = child.wait().or_fail(|| "Could not wait for cargo".to_owned())?;
    built.filter(|_| status.success()).ok_or_else(|| Failure::new(advice))
}

/// The file that a message of cargo announces for this binary: the `.wasm` file, or the native executable.
fn binary_in_message(line: &str, binary: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(line).ok()?;
    let is_binary = message["reason"] == "compiler-artifact"
        && message["target"]["name"] == binary
        && message["target"]["kind"][0] == "bin";
    if !is_binary {
        return None;
    }
    let files = message["filenames"].as_array()?.iter().filter_map(Value::as_str);
    let wasm = files.into_iter().find(|file| file.ends_with(".wasm"));
    wasm.or(message["executable"].as_str()).map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Option<&str>) {
        assert_eq!(binary_in_message(line, "app"), expected.map(PathBuf::from));
    }

    #[test]
    fn finds_the_binary_among_the_messages_of_cargo() {
        check(
            r#"{"reason":"compiler-artifact","target":{"name":"app","kind":["bin"]},"filenames":["/t/app.js","/t/app.wasm"],"executable":null}"#,
            Some("/t/app.wasm"),
        );
        check(
            r#"{"reason":"compiler-artifact","target":{"name":"app","kind":["bin"]},"filenames":["/t/app"],"executable":"/t/app"}"#,
            Some("/t/app"),
        );
        check(
            r#"{"reason":"compiler-artifact","target":{"name":"other","kind":["bin"]},"filenames":["/t/other"],"executable":"/t/other"}"#,
            None,
        );
        check(
            r#"{"reason":"compiler-artifact","target":{"name":"app","kind":["lib"]},"filenames":["/t/libapp.rlib"],"executable":null}"#,
            None,
        );
        check(r#"{"reason":"build-finished","success":true}"#, None);
        check("not JSON", None);
    }
}
