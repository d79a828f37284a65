//! Reading, with one clear sentence for whatever cannot be read.

use std::fmt;

use super::{Change, Intervention, ServiceKind, StoreKind, Target};
use crate::machine::{MachineId, WorkerId};
use crate::settings::{FenceMode, RaiseOrder};
use crate::time::{Span, TrueTime};

/// The most interventions in one list.
pub const INTERVENTIONS_MAX: usize = 200;
/// The most digits before the decimal point: more than thirty years in seconds.
const WHOLE_DIGITS_MAX: usize = 9;
const DECIMALS_MAX: usize = 6;
/// How slow and how fast a clock can be made to run.
const RATE_PPM: std::ops::RangeInclusive<i64> = 100_000..=10_000_000;
const MACHINES: &str = "A to D, sidecar-A to sidecar-D, n1 to n7, r1 to r5, primary, replica, table, store, sweeper, \
                        partner, allocator or leader";
const VERBS: &str = "pause, resume, crash, restart, step-wall, offset, rate, partition, heal, isolate, outage, delay, drop, \
                     duplicate, fence, idempotent, raise, lease, renew, margin, sweeper, service, store, acquire, \
                     release, restore or set";

/// Why an intervention cannot be read or makes no sense: what, where, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Which part of the list, counted from 1; 0 when its place says nothing.
    pub part: usize,
    /// The part's text; empty when it is the list as a whole.
    pub text: String,
    /// What is wrong.
    pub what: String,
    /// What was expected.
    pub expected: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mistake { part, text, what, expected } = self;
        match (part, text.is_empty()) {
            (0, true) => write!(f, "the list of interventions {what}; expected {expected}"),
            (0, false) => write!(f, "intervention “{}”: {what}; expected {expected}", shorten(text)),
            _ => write!(f, "intervention {part}, “{}”: {what}; expected {expected}", shorten(text)),
        }
    }
}

impl std::error::Error for Mistake {}

impl Mistake {
    /// More interventions than a run takes.
    pub fn too_many() -> Mistake {
        Mistake {
            part: 0,
            text: String::new(),
            what: format!("has more than {INTERVENTIONS_MAX} entries"),
            expected: format!("at most {INTERVENTIONS_MAX}"),
        }
    }

    /// An intervention that can be read but makes no sense in this run.
    pub fn senseless(intervention: &Intervention, what: impl Into<String>, expected: impl Into<String>) -> Mistake {
        Mistake { part: 0, text: intervention.to_string(), what: what.into(), expected: expected.into() }
    }
}

/// What went wrong in one part, before it is known which one.
type Wrong = (String, String);

fn wrong(what: impl Into<String>, expected: impl Into<String>) -> Wrong {
    (what.into(), expected.into())
}

/// Input is quoted in messages, but not at any length and not with line breaks.
pub fn shorten(text: &str) -> String {
    const LENGTH_MAX: usize = 60;
    let mut short: String = text.chars().take(LENGTH_MAX).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(LENGTH_MAX).is_some() {
        short.push('…');
    }
    short
}

/// Reads interventions separated by `;`. Empty parts are ignored.
pub fn parse_list(text: &str) -> Result<Vec<Intervention>, Mistake> {
    let mut interventions = Vec::new();
    for (place, part) in text.split(';').enumerate() {
        if part.trim().is_empty() {
            continue;
        }
        if interventions.len() == INTERVENTIONS_MAX {
            return Err(Mistake::too_many());
        }
        interventions.push(parse_one(part).map_err(|mistake| Mistake { part: place + 1, ..mistake })?);
    }
    Ok(interventions)
}

/// Reads one intervention.
pub fn parse_one(text: &str) -> Result<Intervention, Mistake> {
    let text = text.trim();
    read(text).map_err(|(what, expected)| Mistake { part: 1, text: text.to_owned(), what, expected })
}

fn read(text: &str) -> Result<Intervention, Wrong> {
    let mut words = Words { rest: text.split_ascii_whitespace() };
    let first = words.next("a time in seconds")?;
    let at = read_number(first, Sign::No)
        .map_err(|what| wrong(format!("the time {what}"), "true seconds from 0 on, such as 4.0"))?;
    let verb = words.next("a verb after the time")?;
    let change = read_change(verb, &mut words)?;
    match words.rest.next() {
        Some(word) => {
            Err(wrong(format!("“{}” is one word too many", shorten(word)), format!("nothing after “{change}”")))
        }
        None => Ok(Intervention { at: TrueTime::from_micros(at), change }),
    }
}

struct Words<'a> {
    rest: std::str::SplitAsciiWhitespace<'a>,
}

impl<'a> Words<'a> {
    fn next(&mut self, expected: &str) -> Result<&'a str, Wrong> {
        self.rest.next().ok_or_else(|| wrong("it ends too early", expected))
    }

    fn target(&mut self) -> Result<Target, Wrong> {
        read_target(self.next(&format!("a machine: {MACHINES}"))?)
    }

    fn worker(&mut self) -> Result<WorkerId, Wrong> {
        let name = self.next("a worker: A, B, C or D")?;
        MachineId::parse(name)
            .and_then(MachineId::worker)
            .ok_or_else(|| wrong(format!("there is no worker “{}”", shorten(name)), "A, B, C or D"))
    }

    fn span(&mut self, sign: Sign, expected: &str) -> Result<Span, Wrong> {
        let word = self.next(expected)?;
        read_number(word, sign).map(Span::micros).map_err(|what| wrong(what, expected))
    }

    fn positive_span(&mut self, expected: &str) -> Result<Span, Wrong> {
        let span = self.span(Sign::No, expected)?;
        if span == Span::ZERO { Err(wrong("0 s is no length of time", expected)) } else { Ok(span) }
    }

    fn path(&mut self) -> Result<(Target, Target), Wrong> {
        let (from, to) = (self.target()?, self.target()?);
        if from == to {
            return Err(wrong(format!("{from} sends no messages to itself"), "two different machines"));
        }
        Ok((from, to))
    }

    fn choice<T: Copy>(&mut self, choices: &[(&str, T)]) -> Result<T, Wrong> {
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        let expected = names.join(" or ");
        let word = self.next(&expected)?;
        choices
            .iter()
            .find(|(name, _)| *name == word)
            .map(|(_, value)| *value)
            .ok_or_else(|| wrong(format!("“{}” is not a value of it", shorten(word)), expected))
    }

    /// A word that can be quoted anywhere, in a list and in a sentence.
    fn plain(&mut self, expected: &str) -> Result<String, Wrong> {
        const LENGTH_MAX: usize = 40;
        let word = self.next(expected)?;
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        if word.len() <= LENGTH_MAX && word.bytes().all(plain) {
            Ok(word.to_owned())
        } else {
            Err(wrong(
                format!("“{}” is not a word of at most {LENGTH_MAX} letters, digits, -, _ and .", shorten(word)),
                expected,
            ))
        }
    }

    fn count(&mut self, expected: &str) -> Result<u64, Wrong> {
        let word = self.next(expected)?;
        let digits = !word.is_empty() && word.len() <= 15 && word.bytes().all(|byte| byte.is_ascii_digit());
        match word.parse() {
            Ok(number) if digits => Ok(number),
            _ => Err(wrong(format!("“{}” is not a whole number of at most 15 digits", shorten(word)), expected)),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    No,
    Allowed,
}

/// Reads digits with an optional `.` and at most six decimals, as millionths.
fn read_number(word: &str, sign: Sign) -> Result<i64, String> {
    let quoted = shorten(word);
    let (negative, digits) = match word.as_bytes().first() {
        Some(b'-') => (true, &word[1..]),
        Some(b'+') => (false, &word[1..]),
        _ => (false, word),
    };
    if sign == Sign::No && digits.len() != word.len() {
        return Err(format!("“{quoted}” has a sign, which only step-wall and offset can have"));
    }
    let (whole, decimals) = digits.split_once('.').unwrap_or((digits, "0"));
    let all_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !all_digits(whole) || !all_digits(decimals) {
        return Err(format!("“{quoted}” is not a number"));
    }
    if decimals.len() > DECIMALS_MAX {
        return Err(format!("“{quoted}” has more than {DECIMALS_MAX} decimals"));
    }
    if whole.len() > WHOLE_DIGITS_MAX {
        return Err(format!("“{quoted}” is too large"));
    }
    let value: i64 =
        format!("{whole}{decimals:0<DECIMALS_MAX$}").parse().map_err(|_| format!("“{quoted}” is not a number"))?;
    Ok(if negative { -value } else { value })
}

fn read_target(name: &str) -> Result<Target, Wrong> {
    if name == "leader" {
        return Ok(Target::Leader);
    }
    MachineId::parse(name)
        .map(Target::Machine)
        .ok_or_else(|| wrong(format!("there is no machine “{}”", shorten(name)), MACHINES))
}

const ON_OFF: [(&str, bool); 2] = [("on", true), ("off", false)];

fn read_change(verb: &str, words: &mut Words<'_>) -> Result<Change, Wrong> {
    Ok(match verb {
        "pause" => {
            let target = words.target()?;
            let expected = "nothing, a length above 0 s, and vm for a virtual machine";
            let mut lasts = None;
            let mut vm = false;
            for word in words.rest.by_ref() {
                if word == "vm" && !vm {
                    vm = true;
                } else if lasts.is_none() && !vm {
                    match read_number(word, Sign::No) {
                        Ok(0) => return Err(wrong("a pause of 0 s is none", expected)),
                        Ok(micros) => lasts = Some(Span::micros(micros)),
                        Err(what) => return Err(wrong(what, expected)),
                    }
                } else {
                    return Err(wrong(format!("“{}” is one word too many", shorten(word)), expected));
                }
            }
            Change::Pause { target, lasts, vm }
        }
        "resume" => Change::Resume(words.target()?),
        "crash" => Change::Crash(words.target()?),
        "restart" => {
            let target = words.target()?;
            let empty = match words.rest.next() {
                None => false,
                Some("empty") => true,
                Some(word) => return Err(wrong(format!("“{}” means nothing here", shorten(word)), "nothing or empty")),
            };
            let keeps = match target {
                Target::Machine(MachineId::Node(_)) => Some("its log"),
                Target::Machine(MachineId::Store) => Some("its row"),
                // Which machine leads, and what it keeps, depends on the lock service.
                _ => None,
            };
            if let (true, Some(what)) = (empty, keeps) {
                return Err(wrong(
                    format!("{target} keeps {what} on disk and cannot restart empty"),
                    "restart without empty, or a Redis server such as r3",
                ));
            }
            Change::Restart { target, empty }
        }
        "step-wall" => Change::StepWall(words.target()?, words.span(Sign::Allowed, "seconds with a sign, such as -3")?),
        "offset" => Change::Offset(words.target()?, words.span(Sign::Allowed, "seconds with a sign, such as 3 or -3")?),
        "rate" => {
            let target = words.target()?;
            let expected = "a factor from 0.1 to 10, such as 1.02";
            let ppm = words.span(Sign::No, expected)?.as_micros();
            if !RATE_PPM.contains(&ppm) {
                return Err(wrong(
                    format!("a clock cannot run at {} times true time here", Span::micros(ppm)),
                    expected,
                ));
            }
            Change::Rate(target, ppm)
        }
        "partition" => read_partition(words)?,
        "heal" => Change::Heal,
        "isolate" => Change::Isolate(words.target()?),
        "outage" => {
            let expected = "nothing, or a length above 0 s";
            Change::Outage(match words.rest.next().map(|word| read_number(word, Sign::No)) {
                None => None,
                Some(Ok(0)) => return Err(wrong("an outage of 0 s is none", expected)),
                Some(Ok(micros)) => Some(Span::micros(micros)),
                Some(Err(what)) => return Err(wrong(what, expected)),
            })
        }
        "delay" => {
            let (from, to) = words.path()?;
            Change::Delay { from, to, by: words.positive_span("by how many seconds, above 0")? }
        }
        "drop" => {
            let (from, to) = words.path()?;
            Change::Drop { from, to }
        }
        "duplicate" => {
            let (from, to) = words.path()?;
            Change::Duplicate { from, to }
        }
        "fence" => Change::Fence(words.choice(&[
            ("on", FenceMode::On),
            ("off", FenceMode::Off),
            ("reject-equal", FenceMode::RejectEqual),
            ("two-step", FenceMode::TwoStep),
        ])?),
        "idempotent" => Change::Idempotent(words.choice(&ON_OFF)?),
        "raise" => Change::Raise(words.choice(&[("first", RaiseOrder::First), ("late", RaiseOrder::Late)])?),
        "lease" => Change::Lease(words.positive_span("the lease length in seconds, above 0")?),
        "renew" => Change::Renew(words.positive_span("the renewal interval in seconds, above 0")?),
        "margin" => Change::Margin(words.span(Sign::No, "the margin in seconds, from 0 on")?),
        "sweeper" => Change::Sweeper(words.choice(&ON_OFF)?),
        "service" => Change::Service(words.choice(&[
            ("consensus", ServiceKind::Consensus),
            ("redis", ServiceKind::Redis),
            ("redlock", ServiceKind::Redlock),
            ("lease-item", ServiceKind::LeaseItem),
        ])?),
        "store" => Change::Store(words.choice(&[
            ("row", StoreKind::Row),
            ("sql", StoreKind::Sql),
            ("dynamodb", StoreKind::DynamoDb),
            ("s3", StoreKind::S3),
        ])?),
        "acquire" => Change::Acquire(words.worker()?),
        "release" => Change::Release(words.worker()?),
        "restore" => {
            let revision = words.count("the snapshot's revision")?;
            let bump = match words.rest.next() {
                None => None,
                Some("bump") => Some(words.count("how far the revision jumps")?),
                Some(word) => {
                    return Err(wrong(
                        format!("“{}” means nothing here", shorten(word)),
                        "nothing, or bump and a number",
                    ));
                }
            };
            Change::Restore { revision, bump }
        }
        "set" => {
            let key = words.plain("a key and a value")?;
            let value = words.plain(&format!("a value for {key}"))?;
            Change::Set { key, value }
        }
        _ => return Err(wrong(format!("there is no verb “{}”", shorten(verb)), VERBS)),
    })
}

fn read_partition(words: &mut Words<'_>) -> Result<Change, Wrong> {
    let expected = "groups of machines such as n1,n2 | n3,n4,n5";
    let text = words.rest.by_ref().collect::<Vec<_>>().join(" ");
    let mut groups = Vec::new();
    let mut seen = Vec::new();
    for group in text.split('|') {
        let mut members = Vec::new();
        for name in group.split(',') {
            let name = name.trim();
            if name.is_empty() {
                return Err(wrong("a group of the partition lacks a machine", expected));
            }
            let target = read_target(name)?;
            if seen.contains(&target) {
                return Err(wrong(format!("{target} cannot be in the partition twice"), "each machine at most once"));
            }
            seen.push(target);
            members.push(target);
        }
        groups.push(members);
    }
    if groups.len() < 2 {
        return Err(wrong("a partition has at least two sides", expected));
    }
    Ok(Change::Partition(groups))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_printed_canonically() {
        for (text, printed) in [
            ("4.0 pause A 15", "4 pause A 15"),
            ("4 pause A 15 vm", "4 pause A 15 vm"),
            ("4 pause leader vm", "4 pause leader vm"),
            ("  004.50   pause  A ", "4.5 pause A"),
            ("19 resume A", "19 resume A"),
            ("47 crash leader", "47 crash leader"),
            ("30 restart n1", "30 restart n1"),
            ("30 restart r3 empty", "30 restart r3 empty"),
            ("30 restart leader empty", "30 restart leader empty"),
            ("16 step-wall B -3", "16 step-wall B -3"),
            ("16 step-wall B +0.25", "16 step-wall B 0.25"),
            ("0 offset D 3", "0 offset D 3"),
            ("0 rate B 1.020", "0 rate B 1.02"),
            ("10 partition n1,n2 | n3, n4,n5", "10 partition n1,n2 | n3,n4,n5"),
            ("10 partition A|store|leader", "10 partition A | store | leader"),
            ("30 heal", "30 heal"),
            ("12 isolate A", "12 isolate A"),
            ("5 delay A store 20", "5 delay A store 20"),
            ("5 drop A n1", "5 drop A n1"),
            ("5 duplicate A store", "5 duplicate A store"),
            ("0 fence two-step", "0 fence two-step"),
            ("0 idempotent on", "0 idempotent on"),
            ("0 raise late", "0 raise late"),
            ("0 margin 0", "0 margin 0"),
            ("0 lease 20", "0 lease 20"),
            ("0 renew 0.5", "0 renew 0.5"),
            ("0 sweeper off", "0 sweeper off"),
            ("0 service lease-item", "0 service lease-item"),
            ("0 store s3", "0 store s3"),
            ("40.2 acquire D", "40.2 acquire D"),
            ("44 release C", "44 release C"),
            ("45 restore 14 bump 1000000", "45 restore 14 bump 1000000"),
            ("0 set lag 0.1", "0 set lag 0.1"),
            ("12 outage", "12 outage"),
            ("12 outage 30.0", "12 outage 30"),
            ("0.000001 heal", "0.000001 heal"),
        ] {
            let read = parse_one(text).unwrap_or_else(|mistake| panic!("{text}: {mistake}"));
            assert_eq!(read.to_string(), printed);
            assert_eq!(parse_one(printed).as_ref(), Ok(&read), "{printed} reads as what was printed");
        }
    }

    #[test]
    fn empty_parts_are_ignored() {
        assert_eq!(parse_list(" ; 1 heal;;2 heal ;").map(|list| list.len()), Ok(2));
        assert_eq!(parse_list(""), Ok(Vec::new()));
    }

    #[test]
    fn what_cannot_be_read_gets_a_sentence() {
        for (text, what) in [
            ("x", "the time “x” is not a number"),
            ("-1 pause A", "the time “-1” has a sign, which only step-wall and offset can have"),
            ("1e3 heal", "the time “1e3” is not a number"),
            (".5 heal", "the time “.5” is not a number"),
            ("5. heal", "the time “5.” is not a number"),
            ("1.0000001 heal", "the time “1.0000001” has more than 6 decimals"),
            ("1234567890 heal", "the time “1234567890” is too large"),
            ("NaN heal", "the time “NaN” is not a number"),
            ("٣ heal", "the time “٣” is not a number"),
            ("4", "it ends too early"),
            ("4 jump A", "there is no verb “jump”"),
            ("4 pause", "it ends too early"),
            ("4 pause Z 15", "there is no machine “Z”"),
            ("4 pause a 15", "there is no machine “a”"),
            ("4 pause A 0", "a pause of 0 s is none"),
            ("4 pause A -1", "“-1” has a sign, which only step-wall and offset can have"),
            ("4 pause A 15 vm 3", "“3” is one word too many"),
            ("4 heal now", "“now” is one word too many"),
            ("12 outage 0", "an outage of 0 s is none"),
            ("12 outage 30 vm", "“vm” is one word too many"),
            ("4 restart n1 empty", "n1 keeps its log on disk and cannot restart empty"),
            ("4 restart store empty", "store keeps its row on disk and cannot restart empty"),
            ("0 rate B 0", "a clock cannot run at 0 times true time here"),
            ("0 fence maybe", "“maybe” is not a value of it"),
            ("0 lease 0", "0 s is no length of time"),
            ("5 delay A store 0", "0 s is no length of time"),
            ("5 drop A A", "A sends no messages to itself"),
            ("10 partition n1", "a partition has at least two sides"),
            ("10 partition n1,n2 | n2,n3", "n2 cannot be in the partition twice"),
            ("10 partition n1 |", "a group of the partition lacks a machine"),
            ("40 acquire n1", "there is no worker “n1”"),
            ("0 set lag\u{7}", "“lag ” is not a word of at most 40 letters, digits, -, _ and ."),
            ("0 set lag 1,5", "“1,5” is not a word of at most 40 letters, digits, -, _ and ."),
            ("45 restore x", "“x” is not a whole number of at most 15 digits"),
        ] {
            let mistake = parse_one(text).expect_err(text);
            assert_eq!(mistake.what, what, "{text}");
            assert!(!mistake.expected.is_empty(), "{text}");
        }
    }

    #[test]
    fn a_mistake_says_where() {
        let mistake = parse_list("1 heal; ; 4 pause Z").expect_err("Z is nobody");
        assert_eq!(
            mistake.to_string(),
            format!("intervention 3, “4 pause Z”: there is no machine “Z”; expected {MACHINES}")
        );
    }

    #[test]
    fn ten_thousand_are_too_many() {
        let mistake = parse_list(&"1 heal;".repeat(10_000)).expect_err("too many");
        assert_eq!(mistake.to_string(), "the list of interventions has more than 200 entries; expected at most 200");
    }
}
