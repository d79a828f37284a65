//! `lease-lab drills`: the list of drills, and what an author needs to know of one.

use std::fmt::Write as _;
use std::path::Path;

use lease_lab_drills::{Kind, all, check, format};

/// Every drill.
pub(crate) fn list() -> String {
    let mut text = String::new();
    for drill in all() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:<28} {:<9} part {:<3} {}", drill.id, drill.kind().folder(), drill.part, drill.title);
    }
    text
}

/// Checks the drill in a file, which need not be among those that were built in.
pub(crate) fn check_file(file: &Path) -> Result<String, String> {
    let place = file.display();
    let text = std::fs::read_to_string(file).map_err(|error| format!("{place} cannot be read: {error}"))?;
    let folder = file.canonicalize().ok().and_then(|path| path.parent()?.file_name()?.to_str().map(str::to_owned));
    let kind = Kind::ALL.into_iter().find(|kind| Some(kind.folder()) == folder.as_deref()).ok_or_else(|| {
        let folders = Kind::ALL.map(Kind::folder).join(", ");
        format!("{place} is in no folder of drills; expected one that is called {folders}")
    })?;
    let id = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let drill = format::read(id, kind, &text).map_err(|wrong| format!("{place}: {wrong}"))?;
    let report = check::check(&drill);
    if report.problems.is_empty() {
        return Ok(report.facts.join("\n") + "\n");
    }
    // What was found out helps to see why it is wrong.
    for line in report.facts.iter().chain(&report.problems) {
        eprintln!("{line}");
    }
    Err(format!("{place}: {}", count(report.problems.len())))
}

/// Checks all drills that were built in.
pub(crate) fn check_all() -> Result<String, String> {
    let mut wrong = 0;
    for drill in all() {
        for problem in check::check(drill).problems {
            eprintln!("{}: {problem}", drill.id);
            wrong += 1;
        }
    }
    if wrong == 0 { Ok(format!("{} drills are as they should be\n", all().len())) } else { Err(count(wrong)) }
}

fn count(problems: usize) -> String {
    if problems == 1 { "1 problem, told above".into() } else { format!("{problems} problems, told above") }
}
