//! The address is the state: reading the part after the `?`, with a sentence for each value that cannot be used, and
//! writing it.
//!
//! [`Link::read`] takes any text and gives a [`Link`]; [`Link::write`] gives the text back, always in the same form.
//! Parameters and limits are documented in `docs/links.md`.
//! Nothing here knows a browser, and nothing is simulated.

mod choice;
mod escape;
mod list;
mod read;

use lease_lab_scenarios::Scenario;
use lease_lab_sim::time::TrueTime;

pub use choice::{Controls, Ghost, Lang, Theme};
pub use lease_lab_sim::intervention::shorten;
pub use list::{Beside, Entry, List, active, all_on, with_rule};

/// The version of the parameters that is read and written; a link that names none is of version 1.
pub const VERSION: u64 = 1;
/// A longer link is refused, in bytes (a browser’s addresses are ASCII): no sensible list of interventions needs it.
pub const LENGTH_MAX: usize = 16_384;

/// What a link says.
#[derive(Clone, Debug)]
pub struct Link {
    /// The lab; the story if the link asks for none.
    pub scenario: &'static Scenario,
    /// A lab without a run, if the link asks for one: then only `frame` and `theme` are read besides.
    #[cfg(feature = "labs")]
    pub page: Option<&'static lease_lab_scenarios::pages::Page>,
    /// The drills, if the link asks for them: then only `frame` and `theme` are read besides.
    #[cfg(feature = "labs")]
    pub drills: Option<Drills>,
    /// The interventions, the scenario’s own if the link has none.
    pub list: List,
    /// Chance begins here.
    pub seed: u64,
    /// The instant of the cursor.
    pub cursor: Option<TrueTime>,
    /// The visible time.
    pub window: Option<(TrueTime, TrueTime)>,
    /// What is drawn behind.
    pub ghost: Ghost,
    /// What is different in the run that stands beside this one.
    pub with: Option<Beside>,
    /// Colours, if the link says which.
    pub theme: Option<Theme>,
    /// How the page stands where it stands.
    pub frame: Frame,
    /// The hash of the trace that the link’s author saw.
    pub hash: Option<String>,
    /// One sentence for each value that could not be used.
    pub notices: Vec<String>,
}

/// How the page stands where it stands: its language, and what is left out of it in another page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// The language, if the link says which.
    pub lang: Option<Lang>,
    /// The lab alone, within another page.
    pub embed: bool,
    /// What its reader can do.
    pub controls: Controls,
}

/// Which of the drills’ pages.
#[cfg(feature = "labs")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Drills {
    /// The list of all drills.
    Overview,
    /// One drill, and those that come after it in a session.
    One(&'static lease_lab_drills::Drill, Vec<&'static lease_lab_drills::Drill>),
}

/// The story that is shown when a link says nothing else.
fn story() -> &'static Scenario {
    lease_lab_scenarios::find("billing-story").unwrap_or(&Scenario::BASE)
}

/// The time that a lab shows at first.
pub fn first_window(scenario: &Scenario, horizon: TrueTime) -> (TrueTime, TrueTime) {
    let at = |seconds: u16| TrueTime::from_millis(i64::from(seconds) * 1_000);
    match scenario.window {
        (0, 0) => (TrueTime::ZERO, horizon),
        (from, to) => (at(from), at(to).min(horizon)),
    }
}

impl Link {
    /// A scenario as it is, with nothing else said.
    pub fn to(scenario: &'static Scenario) -> Link {
        Link {
            scenario,
            #[cfg(feature = "labs")]
            page: None,
            #[cfg(feature = "labs")]
            drills: None,
            list: all_on(scenario.own_interventions()),
            seed: 0,
            cursor: None,
            window: None,
            ghost: Ghost::None,
            with: None,
            theme: None,
            frame: Frame::default(),
            hash: None,
            notices: Vec::new(),
        }
    }

    /// Reads the part of an address from `?` on; what is bad falls back to what the scenario has.
    pub fn read(query: &str) -> Link {
        read::read(query)
    }

    /// Writes the part of an address from `?` on, which reads as the same link; what a link need not say is left out.
    pub fn write(&self) -> String {
        let mut query = Query(String::new());
        self.write_lab(&mut query);
        if let Some(theme) = self.theme {
            query.push("theme", theme.id());
        }
        let Frame { lang, embed, controls } = self.frame;
        if let Some(lang) = lang {
            query.push("lang", lang.id());
        }
        if embed {
            query.push("embed", "1");
        }
        if controls != Controls::Full {
            query.push("controls", controls.id());
        }
        query.0
    }

    fn write_lab(&self, query: &mut Query) {
        #[cfg(feature = "labs")]
        match (&self.drills, self.page) {
            (Some(Drills::Overview), _) => return query.push("drill", ""),
            (Some(Drills::One(drill, then)), _) => {
                query.push("drill", drill.id);
                if !then.is_empty() {
                    query.push("then", &then.iter().map(|drill| drill.id).collect::<Vec<_>>().join(","));
                }
                return;
            }
            (None, Some(page)) => return query.push("lab", page.id),
            (None, None) => {}
        }
        query.push("lab", self.scenario.id);
        if self.list != all_on(self.scenario.own_interventions()) {
            query.push("do", &list::write(&self.list, true));
            let off = list::write(&self.list, false);
            if !off.is_empty() {
                query.push("off", &off);
            }
        }
        if self.seed != 0 {
            query.push("seed", &self.seed.to_string());
        }
        if let Some(cursor) = self.cursor {
            query.push("t", &cursor.to_string());
        }
        if let Some((from, to)) = self.window {
            query.push("view", &format!("{from}-{to}"));
        }
        if self.ghost != Ghost::None {
            query.push("ghost", self.ghost.id());
        }
        if let Some(beside) = &self.with {
            query.push("with", &beside.write());
        }
        if let Some(hash) = &self.hash {
            query.push("hash", hash);
        }
    }
}

struct Query(String);

impl Query {
    fn push(&mut self, name: &str, value: &str) {
        self.0.push(if self.0.is_empty() { '?' } else { '&' });
        self.0.push_str(name);
        self.0.push('=');
        escape::write(value, &mut self.0);
    }
}
