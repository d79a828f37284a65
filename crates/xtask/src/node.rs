//! Node and the packages of npm: the optimiser of WebAssembly, and the browser tests' libraries.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

use crate::failure::{Failure, OrFail, Outcome};
use crate::{progress, project, system};

/// The oldest version that the browser tests' libraries support.
const MAJOR_VERSION_MIN: u32 = 20;

/// Fails with advice unless a new enough Node is on the search path.
pub(crate) fn require() -> Outcome<()> {
    match version() {
        Some(text) if is_supported(&text) => Ok(()),
        Some(text) => Err(Failure::new(format!(
            "Node {text} is too old: install Node {MAJOR_VERSION_MIN} or newer and run the command again."
        ))),
        None => Err(Failure::new(format!(
            "Node was not found on the search path: install Node {MAJOR_VERSION_MIN} or newer and run the command again."
        ))),
    }
}

/// Whether a new enough Node is on the search path.
pub(crate) fn is_available() -> bool {
    version().is_some_and(|text| is_supported(&text))
}

fn version() -> Option<String> {
    system::output(Command::new("node").arg("--version"))
}

/// Reads `v20.20.2`.
fn is_supported(version: &str) -> bool {
    let major = version.trim_start_matches('v').split('.').next();
    major.and_then(|text| text.parse().ok()).is_some_and(|major: u32| major >= MAJOR_VERSION_MIN)
}

/// Installs the packages of `tests/browser` unless they are there already.
pub(crate) fn install_packages() -> Outcome<()> {
    let folder = project::browser_tests();
    let installed = modified(&folder.join("node_modules").join(".package-lock.json"));
    let wanted = modified(&folder.join("package-lock.json"));
    // npm writes its own lock file last, so an interrupted installation is never taken for a finished one.
    if installed.is_some() && installed >= wanted {
        return Ok(());
    }
    progress::streaming("Installing", "the packages of tests/browser with npm", || {
        let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
        let status = Command::new(npm)
            .arg("ci")
            .current_dir(&folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status()
            .or_fail(|| "Could not start npm, which comes with Node".to_owned())?;
        if status.success() {
            Ok(())
        } else {
            Err(Failure::new(
                "`npm ci` failed in tests/browser: read what npm printed above, for instance whether its registry can be reached, and run the command again.",
            ))
        }
    })
}

fn modified(file: &Path) -> Option<SystemTime> {
    fs::metadata(file).ok()?.modified().ok()
}

/// The optimiser that npm has installed.
///
/// Never the one on the search path: some distributions ship versions that write valid but broken modules.
fn wasm_opt() -> PathBuf {
    project::browser_tests().join("node_modules").join("binaryen").join("bin").join("wasm-opt")
}

/// Optimises a module for size.
pub(crate) fn optimise(input: &Path, output: &Path) -> Outcome<()> {
    // What rustc and wasm-bindgen use. Stripped modules do not name their features, so they are named here.
    const FEATURES: [&str; 6] = [
        "--enable-bulk-memory",
        "--enable-multivalue",
        "--enable-mutable-globals",
        "--enable-nontrapping-float-to-int",
        "--enable-reference-types",
        "--enable-sign-ext",
    ];
    let result = Command::new("node")
        .arg(wasm_opt())
        .args(FEATURES)
        .args(["-Oz", "--strip-debug", "--strip-producers", "--strip-target-features"])
        .arg(input)
        .arg("-o")
        .arg(output)
        .stdin(Stdio::null())
        .output()
        .or_fail(|| "Could not start wasm-opt with Node".to_owned())?;
    if result.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&result.stderr);
    let first_line = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("it gave no reason");
    Err(Failure::new(format!(
        "wasm-opt could not optimise the page ({first_line}): delete tests/browser/node_modules and run the command again."
    )))
}

/// Shortens a JavaScript module: names within it, and whatever says the same in fewer letters.
pub(crate) fn shorten(input: &Path, output: &Path) -> Outcome<()> {
    let terser = project::browser_tests().join("node_modules").join("terser").join("bin").join("terser");
    let status = Command::new("node")
        .arg(terser)
        .args(["--module", "--compress", "--mangle", "--output"])
        .arg(output)
        .arg("--")
        .arg(input)
        .stdin(Stdio::null())
        .status()
        .or_fail(|| "Could not start terser with Node".to_owned())?;
    if status.success() {
        return Ok(());
    }
    Err(Failure::new(
        "terser could not shorten the page's JavaScript: delete tests/browser/node_modules and run the command again.",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_which_versions_are_new_enough() {
        assert!(is_supported("v20.0.0"));
        assert!(is_supported("v26.1.0"));
        assert!(!is_supported("v18.19.1"));
        assert!(!is_supported(""));
        assert!(!is_supported("unknown"));
    }
}
