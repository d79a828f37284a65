//! `cargo xtask test`: everything that must hold before a change is shared.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::build::{self, Content, Optimise};
use crate::command::Test;
use crate::failure::{Failure, OrFail, Outcome};
use crate::serve::DistServer;
use crate::toolchain::{self, Toolchain};
use crate::{browser, budget, cargo, node, progress, project};

const WARNINGS_ARE_ERRORS: [&str; 3] = ["--", "--deny", "warnings"];

/// Runs the checks and tests that were asked for.
pub(crate) fn run(test: &Test) -> Outcome<()> {
    match test {
        Test::All => {
            // What is missing is said before the long work, not after it.
            node::require()?;
            run_native()?;
            run_in_browser(None)
        }
        Test::Native => run_native(),
        Test::Browser { name } => run_in_browser(name.as_deref()),
    }
}

fn run_native() -> Outcome<()> {
    cargo_step(
        "Checking",
        "the format",
        &["fmt", "--all", "--check"],
        "Some files are not formatted: run `cargo fmt --all`.",
    )?;
    let clippy_advice = "Clippy has complaints: correct what it reports above and run the command again.";
    let mut clippy =
        vec!["clippy", "--workspace", "--exclude", "lease-lab-app", "--exclude", "lease-lab-chart", "--all-targets"];
    clippy.extend(WARNINGS_ARE_ERRORS);
    cargo_step("Checking", "all crates but the page with clippy", &clippy, clippy_advice)?;
    check_page(clippy_advice)?;

    let test_advice = "A native test failed: read its report above, and repeat it alone with `cargo test NAME`.";
    cargo_step("Testing", "the crates", &["test"], test_advice)?;
    // What the first screen loads has the story alone: nothing in it may ask for a part that only the labs have.
    let story = ["test", "--package", "lease-lab-scenarios", "--no-default-features", "--test", "properties"];
    let story = [&story[..], &["every_run"]].concat();
    cargo_step("Testing", "the story without the labs", &story, test_advice)?;
    // On its own, so that cargo does not build the tool's dependencies once more with other features.
    cargo_step("Testing", "the build tool", &["test", "--package", "lease-lab-xtask"], test_advice)
}

fn check_page(advice: &str) -> Outcome<()> {
    let toolchain = Toolchain::find_or_install()?;
    if !toolchain.has_clippy() {
        progress::note(format!(
            "clippy of the page is left out: its toolchain has no {}, and the compiler that stands in has no clippy",
            toolchain::TARGET
        ));
        return build::compile(toolchain, Content::Labs).map(|_| ());
    }
    // The profile of the build: both share the compiled macros and build scripts.
    let mut clippy = vec!["clippy", "--package", "lease-lab-app", "--profile", "wasm", "--target", toolchain::TARGET];
    clippy.extend(["--features", "labs"]);
    clippy.extend(WARNINGS_ARE_ERRORS);
    cargo_step("Checking", "the page with clippy", &clippy, advice)
}

fn cargo_step(verb: &str, what: &str, arguments: &[&str], advice: &str) -> Outcome<()> {
    progress::streaming(verb, what, || cargo::run(cargo::command().args(arguments), advice))
}

fn run_in_browser(name: Option<&str>) -> Outcome<()> {
    let files = browser_test_files()?;
    node::require()?;
    node::install_packages()?;
    let chromium = browser::find_or_install_chromium()?;
    let cli = progress::streaming("Compiling", "the command line", || {
        let mut command = cargo::command();
        command.args(["build", "--package", "lease-lab-cli", "--release"]);
        cargo::build_binary(
            &mut command,
            "lease-lab",
            "The command line did not compile: correct what cargo reports above and run the command again.",
        )
    })?;
    budget::check(&build::page(Optimise::Always)?)?;

    let server = DistServer::start_on_any_port(project::dist())?;
    progress::streaming("Testing", "the page in a browser", || {
        let mut node = Command::new("node");
        node.args(["--test", "--test-reporter=spec"]);
        if let Some(name) = name {
            node.arg(format!("--test-name-pattern={name}"));
        }
        let status = node
            .args(files)
            .current_dir(project::browser_tests())
            .env("LEASE_LAB_URL", &server.address)
            .env("LEASE_LAB_CLI", cli)
            .env("LEASE_LAB_DIST", project::dist())
            .env(browser::CHROMIUM_VARIABLE, chromium)
            .stdin(Stdio::null())
            .status()
            .or_fail(|| "Could not start Node".to_owned())?;
        if status.success() {
            Ok(())
        } else {
            Err(Failure::new(
                "A browser test failed: read its report above, and repeat it alone with `cargo xtask test --browser NAME`.",
            ))
        }
    })
}

/// All files of browser tests. None at all would pass as a success, so it is an error.
fn browser_test_files() -> Outcome<Vec<PathBuf>> {
    let folder = project::browser_tests();
    let entries = fs::read_dir(&folder).or_fail(|| format!("Could not read {}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.to_string_lossy().ends_with(".test.mjs"));
    files.sort();
    if files.is_empty() {
        return Err(Failure::new("There is no browser test: files named NAME.test.mjs belong into tests/browser."));
    }
    Ok(files)
}
