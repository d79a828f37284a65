//! `lease-lab`: runs scenarios on the command line.
//!
//! Exit status 0: it ran, whatever the invariants say.
//! Exit status 2: wrong input, with one sentence on standard error and nothing on standard output.

mod args;
mod bench;
mod drills;
mod table;

use std::io::Write as _;
use std::process::ExitCode;

use args::{Command, Format};
use lease_lab_scenarios::snapshot::Snapshot;
use lease_lab_scenarios::{Run, report, shiviz};

fn main() -> ExitCode {
    match args::read(std::env::args_os().skip(1)).and_then(carry_out) {
        Ok(text) => {
            // A reader that has seen enough, such as `head`, closes the pipe: that is not an error.
            let _ = std::io::stdout().lock().write_all(text.as_bytes());
            ExitCode::SUCCESS
        }
        Err(sentence) => {
            // What was typed is quoted, and may contain line breaks: one sentence is one line.
            eprintln!("{}", sentence.replace(char::is_control, " "));
            ExitCode::from(2)
        }
    }
}

fn carry_out(command: Command) -> Result<String, String> {
    match command {
        Command::Help => Ok(args::HELP.to_owned()),
        Command::List => Ok(table::list()),
        Command::Bench { json } => Ok(bench::run(json)),
        Command::Drills => Ok(drills::list()),
        Command::CheckDrills { file: Some(file) } => drills::check_file(&file),
        Command::CheckDrills { file: None } => drills::check_all(),
        Command::Run { scenario, input, format } => {
            let run = Run::new(scenario, input).map_err(|mistake| mistake.to_string())?;
            Ok(match format {
                Format::Table => table::run(&run),
                Format::Json => report::json(&run) + "\n",
                Format::Shiviz => shiviz::log(&run),
            })
        }
        Command::Snapshot { scenario, input, at } => {
            let run = Run::new(scenario, input).map_err(|mistake| mistake.to_string())?;
            let (at, name) = match at {
                args::At::Name(bookmark) => (run.bookmark_at(bookmark), Some(bookmark.name)),
                args::At::Time(time) => (time, None),
            };
            Ok(report::snapshot_json(&Snapshot::take(&run.world_at(at), at, name)) + "\n")
        }
    }
}
