//! Reads the drills’ files and prints them as Rust.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

#[path = "src/drill.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with the library, which uses the rest")]
mod drill;
#[path = "src/format.rs"]
#[allow(unreachable_pub, reason = "shared with the library")]
mod format;

/// `drill.rs` names these in its documentation.
use drill::{Drill, Kind};

fn main() -> ExitCode {
    match generate() {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            eprintln!("{sentence}");
            ExitCode::FAILURE
        }
    }
}

fn generate() -> Result<(), String> {
    let mut drills: Vec<Drill> = Vec::new();
    println!("cargo::rerun-if-changed=content");
    for kind in Kind::ALL {
        let folder = Path::new("content").join(kind.folder());
        for path in files(&folder)? {
            let place = path.display();
            let text = fs::read_to_string(&path).map_err(|error| format!("{place} cannot be read: {error}"))?;
            let id = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            let drill = format::read(id, kind, &text).map_err(|wrong| format!("{place}: {wrong}"))?;
            if let Some(other) = drills.iter().find(|other| other.id == drill.id) {
                let other = other.kind().folder();
                return Err(format!("{place}: there is a drill “{id}” in {other} too; expected different names"));
            }
            drills.push(drill);
        }
    }
    drills.sort_by_key(|drill| (drill.part, drill.kind(), drill.id));
    let count = drills.len();
    let source = as_rust(&format!("{drills:#?}"));
    let source = format!("pub(super) static ALL: [Drill; {count}] = {};\n", source.trim_start_matches('&'));
    let out = std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set; expected Cargo to run this")?;
    fs::write(Path::new(&out).join("drills.rs"), source)
        .map_err(|error| format!("drills.rs cannot be written: {error}"))
}

fn files(folder: &Path) -> Result<Vec<std::path::PathBuf>, String> {
    let place = folder.display();
    let entries = fs::read_dir(folder).map_err(|error| format!("{place} cannot be read: {error}"))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| format!("{place} cannot be read: {error}"))?.path();
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("toml") => files.push(path),
            // What editors leave behind.
            _ if path.to_string_lossy().ends_with('~') || path.file_name().is_some_and(is_hidden) => {}
            _ => return Err(format!("{} is no drill; expected files that end with .toml", path.display())),
        }
    }
    files.sort();
    Ok(files)
}

/// What `Debug` prints of plain data is Rust, but for the `&` before a slice.
fn as_rust(debug: &str) -> String {
    let mut source = String::with_capacity(debug.len());
    let (mut in_text, mut escaped) = (false, false);
    for letter in debug.chars() {
        match letter {
            '[' if !in_text => source.push('&'),
            '"' if !escaped => in_text = !in_text,
            _ => {}
        }
        escaped = in_text && letter == '\\' && !escaped;
        source.push(letter);
    }
    source
}

fn is_hidden(name: &std::ffi::OsStr) -> bool {
    name.to_string_lossy().starts_with('.')
}
