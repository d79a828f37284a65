//! Reading a link, value by value.

#[cfg(feature = "labs")]
use lease_lab_scenarios::pages;
use lease_lab_sim::intervention::{Change, Mistake, parse_one, shorten};
use lease_lab_sim::time::TrueTime;

#[cfg(feature = "labs")]
use crate::Drills;
use crate::choice::{Controls, Ghost, Lang, Theme};
use crate::escape;
use crate::list::{self, Beside, all_on};
use crate::{LENGTH_MAX, Link, VERSION, story};

pub(crate) fn read(query: &str) -> Link {
    let mut link = Link::to(story());
    if query.len() > LENGTH_MAX {
        link.notices.push(format!(
            "This link is {} characters long; expected at most {LENGTH_MAX}, so the story is shown as it is.",
            query.len()
        ));
        return link;
    }
    let mut reader = Reader { query: query.strip_prefix('?').unwrap_or(query), notices: Vec::new() };
    reader.version();
    reader.surroundings(&mut link);
    if !reader.without_a_run(&mut link) {
        reader.lab(&mut link);
    }
    link.notices = reader.notices;
    link
}

struct Reader<'a> {
    query: &'a str,
    notices: Vec<String>,
}

impl Reader<'_> {
    /// The first value of this name, as in a browser’s `URLSearchParams`.
    fn get(&self, name: &str) -> Option<String> {
        let mut pairs = self.query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        pairs.find(|(other, _)| escape::read(other) == name).map(|(_, value)| escape::read(value))
    }

    /// Says what is wrong with a value, and what is done instead.
    fn bad(&mut self, name: &str, value: &str, expected: &str, instead: &str) {
        let value = shorten(value);
        self.notices.push(format!("The link’s {name} “{value}” cannot be used; expected {expected}; {instead}."));
    }

    /// The place of a value among `words`.
    fn choice(&mut self, name: &str, words: &[&str], instead: &str) -> Option<usize> {
        let value = self.get(name)?;
        let place = words.iter().position(|word| **word == value);
        if place.is_none() {
            let mut expected = String::new();
            for (place, word) in words.iter().enumerate() {
                expected.push_str(match place {
                    0 => "",
                    _ if place + 1 == words.len() => " or ",
                    _ => ", ",
                });
                expected.push_str(word);
            }
            self.bad(name, &value, &expected, instead);
        }
        place
    }

    /// A later version is read as far as it is the same.
    fn version(&mut self) {
        let Some(text) = self.get("v") else { return };
        match text.parse() {
            Ok(VERSION) => {}
            Ok(later) if later > VERSION => self.notices.push(format!(
                "The link is of version {later} and this page reads version {VERSION}; what it knows of it is shown."
            )),
            _ => self.bad("v", &text, "1", "it is read as version 1"),
        }
    }

    /// What is read whatever is shown.
    fn surroundings(&mut self, link: &mut Link) {
        let place = self.choice("theme", &Theme::IDS, "auto is shown");
        link.theme = place.and_then(|place| Theme::ALL.get(place)).copied();
        if self.get("lang").is_some() {
            let place = self.choice("lang", &Lang::IDS, "the page is in English").unwrap_or_default();
            link.frame.lang = Lang::ALL.get(place).copied();
        }
        link.frame.embed = self.choice("embed", &["0", "1"], "the whole page is shown") == Some(1);
        let place = self.choice("controls", &Controls::IDS, "all are shown").unwrap_or_default();
        link.frame.controls = Controls::ALL.get(place).copied().unwrap_or_default();
    }

    #[cfg(not(feature = "labs"))]
    fn without_a_run(&mut self, _: &mut Link) -> bool {
        false
    }

    /// Drills and labs that are only read.
    #[cfg(feature = "labs")]
    fn without_a_run(&mut self, link: &mut Link) -> bool {
        match self.get("drill") {
            Some(id) => link.drills = Some(self.drills(&id)),
            None => link.page = self.get("lab").as_deref().and_then(pages::find),
        }
        link.drills.is_some() || link.page.is_some()
    }

    #[cfg(feature = "labs")]
    fn drills(&mut self, id: &str) -> Drills {
        if id.is_empty() {
            return Drills::Overview;
        }
        let Some(drill) = lease_lab_drills::find(id) else {
            self.notices.push(format!(
                "The link asks for a drill “{}” that does not exist; expected one of those below.",
                shorten(id)
            ));
            return Drills::Overview;
        };
        let mut then = Vec::new();
        let mut unknown = None;
        let text = self.get("then").unwrap_or_default();
        for id in text.split(',').filter(|id| !id.is_empty()) {
            match lease_lab_drills::find(id) {
                Some(drill) => then.push(drill),
                None => unknown = unknown.or(Some(id)),
            }
        }
        if let Some(id) = unknown {
            self.bad("then", id, "ids of drills, separated by commas", "it is left out of the session");
        }
        Drills::One(drill, then)
    }

    fn lab(&mut self, link: &mut Link) {
        if let Some(id) = self.get("lab") {
            match lease_lab_scenarios::find(&id) {
                Some(found) => {
                    link.scenario = found;
                    link.list = all_on(found.own_interventions());
                }
                None => self.notices.push(format!(
                    "The link asks for a lab “{}” that does not exist; the story “{}” is shown.",
                    shorten(&id),
                    link.scenario.id
                )),
            }
        }
        if let Some(text) = self.get("seed") {
            match text.parse() {
                Ok(seed) => link.seed = seed,
                Err(_) => self.bad("seed", &text, "a whole number from 0 on", "0 is used"),
            }
        }
        let horizon = self.list(link);
        self.times(link, horizon);
        let place = self.choice("ghost", &Ghost::IDS, "none is shown").unwrap_or_default();
        link.ghost = Ghost::ALL.get(place).copied().unwrap_or_default();
        if let Some(text) = self.get("with") {
            let beside = Beside::read(&text);
            match beside.list(&link.list).and_then(|list| list::horizon(link.scenario, &list)) {
                Ok(_) => link.with = Some(beside),
                Err(mistake) => {
                    self.notices.push(format!("The run to compare with cannot be used: {mistake}."));
                }
            }
        }
        if let Some(text) = self.get("hash") {
            if text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                link.hash = Some(text);
            } else {
                self.bad("hash", &text, "16 hexadecimal digits", "nothing is compared");
            }
        }
    }

    /// The list; returns when its run ends.
    fn list(&mut self, link: &mut Link) -> TrueTime {
        if let Some(text) = self.get("do") {
            let off = self.get("off").unwrap_or_default();
            let read = list::read(&text, &off).and_then(|list| Ok((list::horizon(link.scenario, &list)?, list)));
            match read {
                Ok((horizon, list)) => {
                    link.list = list;
                    return horizon;
                }
                Err(mistake) => self.own_list_instead(&mistake),
            }
        }
        // A test runs the own faults of every scenario.
        list::horizon(link.scenario, &link.list).unwrap_or_default()
    }

    fn own_list_instead(&mut self, mistake: &Mistake) {
        self.notices.push(format!("The link’s interventions cannot be used, so the story’s own are shown: {mistake}."));
    }

    fn times(&mut self, link: &mut Link, horizon: TrueTime) {
        if let Some(text) = self.get("t") {
            link.cursor = seconds(&text).filter(|at| *at <= horizon);
            if link.cursor.is_none() {
                let expected = format!("seconds from 0 to {horizon}");
                self.bad("t", &text, &expected, "the instant at which the story opens is shown");
            }
        }
        if let Some(text) = self.get("view") {
            let window = text.split_once('-').and_then(|(from, to)| Some((seconds(from)?, seconds(to)?)));
            link.window = window.filter(|(from, to)| from < to && *to <= horizon);
            if link.window.is_none() {
                self.bad("view", &text, "two times such as 12-22", "the whole story is shown");
            }
        }
    }
}

/// Reads a time with the grammar’s own numbers.
fn seconds(text: &str) -> Option<TrueTime> {
    let read = parse_one(&format!("{} heal", text.trim())).ok()?;
    (read.change == Change::Heal).then_some(read.at)
}
