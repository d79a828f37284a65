//! The URL is the state: reading it with a notice for whatever is bad, and writing it.

use lease_lab_scenarios::run::Input;
use lease_lab_scenarios::{Run, Scenario};
use lease_lab_sim::intervention::{Change, Mistake, parse_list, parse_one, sort_by_time};
use lease_lab_sim::time::TrueTime;
use web_sys::UrlSearchParams;

use crate::history::{Entry, List, active, all_on};
use crate::state::{Ghost, Theme, with_rule};

/// A link longer than this is refused: no sensible list of interventions needs it.
const LENGTH_MAX: usize = 16_384;

/// What a link says.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) scenario: &'static Scenario,
    /// A lab without a run, if the link asks for one.
    #[cfg(feature = "labs")]
    pub(crate) page: Option<&'static lease_lab_scenarios::pages::Page>,
    pub(crate) list: List,
    pub(crate) seed: u64,
    pub(crate) cursor: Option<TrueTime>,
    pub(crate) window: Option<(TrueTime, TrueTime)>,
    pub(crate) ghost: Ghost,
    /// What is different in the run that stands beside this one.
    pub(crate) with: Option<Beside>,
    pub(crate) theme: Option<Theme>,
    /// The hash of the trace that the link's author saw.
    pub(crate) hash: Option<String>,
    /// One sentence for each value that could not be used.
    pub(crate) notices: Vec<String>,
}

/// A run to compare with: interventions in the grammar that are added, or that stand instead of all others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Beside {
    pub(crate) text: String,
    pub(crate) alone: bool,
}

impl Beside {
    /// In a link, a `=` in front stands for “instead of all others”.
    fn read(text: &str) -> Beside {
        match text.strip_prefix('=') {
            Some(text) => Beside { text: text.trim().to_owned(), alone: true },
            None => Beside { text: text.trim().to_owned(), alone: false },
        }
    }

    fn write(&self) -> String {
        format!("{}{}", if self.alone { "=" } else { "" }, self.text)
    }

    /// The whole list of that run, beside `list`.
    pub(crate) fn list(&self, list: &List) -> Result<List, Mistake> {
        let added = parse_list(&self.text)?;
        let mut whole = if self.alone { List::new() } else { list.clone() };
        for intervention in added {
            whole = with_rule(&whole, intervention.at, &intervention.change);
        }
        Ok(whole)
    }
}

/// The story that is shown when a link says nothing else.
fn story() -> &'static Scenario {
    lease_lab_scenarios::find("billing-story").unwrap_or(&Scenario::BASE)
}

/// Reads the part of a URL after `?`; bad values fall back to what the scenario has.
pub(crate) fn read(query: &str) -> Link {
    let scenario = story();
    let mut link = Link {
        scenario,
        #[cfg(feature = "labs")]
        page: None,
        list: all_on(scenario.own_interventions()),
        seed: 0,
        cursor: None,
        window: None,
        ghost: Ghost::None,
        with: None,
        theme: None,
        hash: None,
        notices: Vec::new(),
    };
    if query.len() > LENGTH_MAX {
        link.notices.push(format!(
            "This link is {} characters long; expected at most {LENGTH_MAX}, so the story is shown as it is.",
            query.len()
        ));
        return link;
    }
    let Ok(parameters) = UrlSearchParams::new_with_str(query) else { return link };
    let mut notices = Vec::new();
    let wanted = parameters.get("lab");
    #[cfg(feature = "labs")]
    {
        link.page = wanted.as_deref().and_then(lease_lab_scenarios::pages::find);
        if link.page.is_some() {
            return link;
        }
    }
    if let Some(id) = wanted {
        match lease_lab_scenarios::find(&id) {
            Some(found) => {
                link.scenario = found;
                link.list = all_on(found.own_interventions());
            }
            None => notices.push(format!(
                "The link asks for a lab “{}” that does not exist; the story “{}” is shown.",
                shorten(&id),
                scenario.id
            )),
        }
    }
    if let Some(text) = parameters.get("seed") {
        match text.parse() {
            Ok(seed) => link.seed = seed,
            Err(_) => notices.push(bad("seed", &text, "a whole number from 0 on", "0")),
        }
    }
    if let Some(text) = parameters.get("do") {
        let off = parameters.get("off").unwrap_or_default();
        match read_list(link.scenario, &text, &off, link.seed) {
            Ok(list) => link.list = list,
            Err(mistake) => notices
                .push(format!("The link’s interventions cannot be used, so the story’s own are shown: {mistake}.")),
        }
    }
    let plan = (link.scenario.plan)();
    if let Some(text) = parameters.get("t") {
        match seconds(&text).filter(|at| *at <= plan.horizon) {
            Some(at) => link.cursor = Some(at),
            None => {
                let expected = format!("seconds from 0 to {}", plan.horizon);
                notices.push(bad("t", &text, &expected, "the instant at which the story opens"));
            }
        }
    }
    if let Some(text) = parameters.get("view") {
        let window = text.split_once('-').and_then(|(from, to)| Some((seconds(from)?, seconds(to)?)));
        match window.filter(|(from, to)| from < to && *to <= plan.horizon) {
            Some(window) => link.window = Some(window),
            None => notices.push(bad("view", &text, "two times such as 12-22", "the whole story")),
        }
    }
    if let Some(text) = parameters.get("ghost") {
        match Ghost::ALL.into_iter().find(|ghost| ghost.id() == text) {
            Some(ghost) => link.ghost = ghost,
            None => {
                let expected: Vec<&str> = Ghost::ALL.iter().map(|ghost| ghost.id()).collect();
                notices.push(bad("ghost", &text, &expected.join(", "), "none"));
            }
        }
    }
    if let Some(text) = parameters.get("with") {
        let beside = Beside::read(&text);
        let run = beside.list(&link.list).and_then(|list| {
            let input = Input { interventions: Some(active(&list)), seed: link.seed, until: None };
            Run::new(link.scenario, input)
        });
        match run {
            Ok(_) => link.with = Some(beside),
            Err(mistake) => notices.push(format!("The run to compare with cannot be used: {mistake}.")),
        }
    }
    if let Some(text) = parameters.get("theme") {
        match Theme::ALL.into_iter().find(|theme| theme.id() == text) {
            Some(theme) => link.theme = Some(theme),
            None => notices.push(bad("theme", &text, "auto, light or dark", "auto")),
        }
    }
    link.hash = parameters.get("hash");
    link.notices = notices;
    link
}

fn bad(name: &str, value: &str, expected: &str, instead: &str) -> String {
    format!("The link’s {name} “{}” cannot be used; expected {expected}; {instead} is shown.", shorten(value))
}

pub(crate) fn shorten(text: &str) -> String {
    let mut short: String = text.chars().take(60).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// Reads what is on, and puts what is off where it stood: `3:21 crash B` is the third of the whole list.
fn read_list(scenario: &'static Scenario, on: &str, off: &str, seed: u64) -> Result<List, Mistake> {
    let mut list: List = parse_list(on)?.into_iter().map(|intervention| Entry { intervention, on: true }).collect();
    sort_by_time(&mut list, |entry| entry.intervention.at);
    for part in off.split(';').filter(|part| !part.trim().is_empty()) {
        let (place, text) = match part.split_once(':') {
            Some((place, text)) => (place.trim().parse().unwrap_or(usize::MAX), text),
            None => (usize::MAX, part),
        };
        let entry = Entry { intervention: parse_one(text)?, on: false };
        let place = place.saturating_sub(1).min(list.len());
        list.insert(place, entry);
    }
    sort_by_time(&mut list, |entry| entry.intervention.at);
    // Only a run can tell whether the list makes sense.
    Run::new(scenario, Input { interventions: Some(active(&list)), seed, until: None })?;
    Ok(list)
}

/// Reads a time with the grammar's own numbers.
pub(crate) fn seconds(text: &str) -> Option<TrueTime> {
    let read = parse_one(&format!("{} heal", text.trim())).ok()?;
    (read.change == Change::Heal).then_some(read.at)
}

/// The time that a lab shows at first.
pub(crate) fn first_window(scenario: &Scenario, horizon: TrueTime) -> (TrueTime, TrueTime) {
    let at = |seconds: u16| TrueTime::from_millis(i64::from(seconds) * 1_000);
    match scenario.window {
        (0, 0) => (TrueTime::ZERO, horizon),
        (from, to) => (at(from), at(to).min(horizon)),
    }
}

/// What a link is written from.
pub(crate) struct Parts<'a> {
    pub(crate) scenario: &'static Scenario,
    pub(crate) list: &'a List,
    pub(crate) seed: u64,
    pub(crate) cursor: TrueTime,
    pub(crate) window: (TrueTime, TrueTime),
    pub(crate) ghost: Ghost,
    pub(crate) with: Option<Beside>,
    pub(crate) theme: Theme,
    pub(crate) hash: Option<&'a str>,
}

/// Writes the part of a URL from `?` on; what is as the scenario has it is left out.
pub(crate) fn write(parts: &Parts<'_>) -> String {
    let plan = (parts.scenario.plan)();
    let mut pairs = vec![("lab", parts.scenario.id.to_owned())];
    let texts = |on: bool| {
        let entries = parts.list.iter().enumerate().filter(move |(_, entry)| entry.on == on);
        let text = move |(place, entry): (usize, &Entry)| match on {
            true => entry.intervention.to_string(),
            false => format!("{}:{}", place + 1, entry.intervention),
        };
        entries.map(text).collect::<Vec<_>>().join("; ")
    };
    if *parts.list != all_on(parts.scenario.own_interventions()) {
        pairs.push(("do", texts(true)));
        if parts.list.iter().any(|entry| !entry.on) {
            pairs.push(("off", texts(false)));
        }
    }
    if parts.seed != 0 {
        pairs.push(("seed", parts.seed.to_string()));
    }
    pairs.push(("t", parts.cursor.to_string()));
    if parts.window != first_window(parts.scenario, plan.horizon) {
        pairs.push(("view", format!("{}-{}", parts.window.0, parts.window.1)));
    }
    if parts.ghost != Ghost::None {
        pairs.push(("ghost", parts.ghost.id().to_owned()));
    }
    if let Some(beside) = &parts.with {
        pairs.push(("with", beside.write()));
    }
    if parts.theme != Theme::Auto {
        pairs.push(("theme", parts.theme.id().to_owned()));
    }
    if let Some(hash) = parts.hash {
        pairs.push(("hash", hash.to_owned()));
    }
    let query: Vec<String> = pairs
        .iter()
        .map(|(name, value)| format!("{name}={}", String::from(js_sys::encode_uri_component(value))))
        .collect();
    format!("?{}", query.join("&"))
}
