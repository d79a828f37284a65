//! Reading the command line.

use std::ffi::OsString;
use std::path::PathBuf;

use lease_lab_scenarios::pages;
use lease_lab_scenarios::run::Input;
use lease_lab_scenarios::scenario::{Bookmark, Scenario};
use lease_lab_sim::intervention::{Change, Intervention, parse_list};
use lease_lab_sim::time::TrueTime;
use lexopt::{Arg, Parser, ValueExt as _};

/// What `lease-lab help` prints.
pub(crate) const HELP: &str = "\
lease-lab runs scenarios about leases, fencing tokens and distributed locks.

  lease-lab list                     every scenario and every page: id, part, title
  lease-lab run ID                   its trace
      --do 'INTERVENTION'            add interventions, such as '0 fence off'; may be repeated
      --plain                        leave out the scenario's own interventions
      --until SECONDS                end earlier or later than the scenario does
      --seed NUMBER                  another course of chance
      --format table|json|shiviz
  lease-lab snapshot ID NAME|SECONDS the whole world at an instant, as JSON; takes --do, --plain, --until, --seed
  lease-lab drills                   every drill: id, kind, part, title
  lease-lab drills check [FILE.toml] runs all drills, or the one in the file, and says what is right and what is wrong
  lease-lab bench [--format json]    how long a run and a look at an instant take
";

/// The longest run: an hour of true time.
const UNTIL_SECONDS_MAX: i64 = 3_600;

/// What to do.
pub(crate) enum Command {
    /// Print the help.
    Help,
    /// List the scenarios.
    List,
    /// Run a scenario.
    Run { scenario: &'static Scenario, input: Input, format: Format },
    /// Look at an instant of a run.
    Snapshot { scenario: &'static Scenario, input: Input, at: At },
    /// Measure.
    Bench { json: bool },
    /// List the drills.
    Drills,
    /// Check one drill’s file, or all drills.
    CheckDrills { file: Option<PathBuf> },
}

/// How a run is printed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// For people.
    Table,
    /// The trace format.
    Json,
    /// A ShiViz log.
    Shiviz,
}

/// An instant.
pub(crate) enum At {
    /// A named snapshot.
    Name(&'static Bookmark),
    /// A true time.
    Time(TrueTime),
}

#[derive(Default)]
struct Options {
    plain: bool,
    dos: Vec<Intervention>,
    until: Option<TrueTime>,
    seed: u64,
    format: Option<Format>,
}

/// Reads the arguments after the program's name.
pub(crate) fn read(arguments: impl Iterator<Item = OsString>) -> Result<Command, String> {
    let mut parser = Parser::from_args(arguments);
    let mut words: Vec<String> = Vec::new();
    let mut options = Options::default();
    while let Some(argument) =
        parser.next().map_err(|error| format!("the command line: {error}; see lease-lab help"))?
    {
        match argument {
            Arg::Value(word) => {
                words.push(word.string().map_err(|_| "an argument is not valid text; expected plain text")?)
            }
            Arg::Long("help") | Arg::Short('h') => return Ok(Command::Help),
            Arg::Long("plain") => options.plain = true,
            Arg::Long("do") => {
                let list = parse_list(&value(&mut parser, "--do")?).map_err(|mistake| mistake.to_string())?;
                options.dos.extend(list);
            }
            Arg::Long("until") => options.until = Some(seconds("--until", &value(&mut parser, "--until")?)?),
            Arg::Long("seed") => {
                let text = value(&mut parser, "--seed")?;
                options.seed = text
                    .parse()
                    .map_err(|_| format!("--seed “{text}” is not a whole number; expected 0 to {}", u64::MAX))?;
            }
            Arg::Long("format") => {
                options.format = Some(match value(&mut parser, "--format")?.as_str() {
                    "table" => Format::Table,
                    "json" => Format::Json,
                    "shiviz" => Format::Shiviz,
                    other => return Err(format!("--format “{other}” is unknown; expected table, json or shiviz")),
                });
            }
            Arg::Long(other) => {
                return Err(format!(
                    "the option --{other} is unknown; expected --do, --plain, --until, --seed or --format"
                ));
            }
            Arg::Short(other) => return Err(format!("the option -{other} is unknown; see lease-lab help")),
        }
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        [] | ["help"] => Ok(Command::Help),
        ["list"] => Ok(Command::List),
        ["bench"] => Ok(Command::Bench { json: options.format == Some(Format::Json) }),
        ["drills"] => Ok(Command::Drills),
        ["drills", "check"] => Ok(Command::CheckDrills { file: None }),
        ["drills", "check", file] => Ok(Command::CheckDrills { file: Some(file.into()) }),
        ["drills", other] => Err(format!("drills “{other}” is unknown; expected drills, or drills check [FILE.toml]")),
        ["run", id] => {
            let scenario = find(id)?;
            let format = options.format.unwrap_or(Format::Table);
            Ok(Command::Run { scenario, input: input(scenario, options), format })
        }
        ["snapshot", id, at] => {
            let scenario = find(id)?;
            if !matches!(options.format, None | Some(Format::Json)) {
                return Err("snapshot prints JSON only; expected --format json or none".into());
            }
            let at = match scenario.bookmarks.iter().find(|bookmark| bookmark.name == at) {
                Some(bookmark) => At::Name(bookmark),
                None if at.starts_with(|first: char| first.is_ascii_digit()) => At::Time(seconds("the instant", at)?),
                None => {
                    let names: Vec<&str> = scenario.bookmarks.iter().map(|bookmark| bookmark.name).collect();
                    return Err(format!("{id} has no snapshot “{at}”; expected {} or seconds", names.join(", ")));
                }
            };
            Ok(Command::Snapshot { scenario, input: input(scenario, options), at })
        }
        ["run"] => Err("run lacks the id of a scenario; see lease-lab list".into()),
        ["snapshot"] | ["snapshot", _] => {
            Err("snapshot lacks an id or an instant; expected snapshot ID NAME|SECONDS".into())
        }
        [command @ ("run" | "snapshot" | "list" | "bench" | "drills" | "help"), ..] => {
            Err(format!("{command} has an argument too many; see lease-lab help"))
        }
        [other, ..] => {
            Err(format!("there is no command “{other}”; expected list, run, snapshot, bench, drills or help"))
        }
    }
}

fn value(parser: &mut Parser, option: &str) -> Result<String, String> {
    parser
        .value()
        .map_err(|_| format!("{option} lacks its value; see lease-lab help"))?
        .string()
        .map_err(|_| format!("the value of {option} is not valid text; expected plain text"))
}

fn find(id: &str) -> Result<&'static Scenario, String> {
    if pages::find(id).is_some() {
        return Err(format!("“{id}” is a page to read and has no run; expected the id of a scenario"));
    }
    lease_lab_scenarios::find(id)
        .ok_or_else(|| format!("there is no scenario “{id}”; expected an id that lease-lab list shows"))
}

fn input(scenario: &Scenario, options: Options) -> Input {
    let mut interventions = if options.plain { Vec::new() } else { scenario.own_interventions() };
    interventions.extend(options.dos);
    Input { interventions: Some(interventions), seed: options.seed, until: options.until }
}

/// Reads seconds with the grammar's own numbers.
fn seconds(what: &str, text: &str) -> Result<TrueTime, String> {
    let expected = format!("true seconds from 0 to {UNTIL_SECONDS_MAX}, such as 19.05");
    let read = lease_lab_sim::intervention::parse_one(&format!("{text} heal"));
    match read {
        Ok(intervention)
            if intervention.change == Change::Heal && intervention.at.as_micros() <= UNTIL_SECONDS_MAX * 1_000_000 =>
        {
            Ok(intervention.at)
        }
        _ => Err(format!("{what} “{text}” is not a time; expected {expected}")),
    }
}
