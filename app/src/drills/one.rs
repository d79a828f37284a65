//! One drill: situation, commitment, run, comparison, why, variation, always in this order.

use lease_lab_drills::drill::Task;
use lease_lab_drills::grade::{Answer, Graded, grade};
use lease_lab_drills::progress::{Attempt, Due};
use lease_lab_drills::{Drill, Kind};
use lease_lab_links::{Link, active, first_window};
use lease_lab_scenarios::parts;
use lease_lab_sim::intervention::Intervention;
use lease_lab_sim::time::{Span, TrueTime};
use leptos::prelude::*;

use super::{Drills, address, forms, outcome};
use crate::state::{Drilled, Lab, Shared};
use crate::{components, dom, playback};

/// How long a run is played after the commitment.
const PLAYED: Span = Span::millis(5_000);
/// After the last event that shows why, so much more is played.
const AFTERMATH: Span = Span::millis(500);
/// What a reader plays with, unless something else is chosen.
const USUAL_SPEED: f64 = 4.0;

/// How far a drill has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The learner has not committed to an answer.
    Asked,
    /// The learner has written an answer and compares it with the model; only for explain.
    Comparing,
    /// The run is played.
    Running,
    /// What happened stands beside what was predicted.
    Told,
}

/// The state of a drill's page; small handles.
#[derive(Clone, Copy)]
pub(super) struct One {
    pub(super) drills: Drills,
    pub(super) drill: &'static Drill,
    /// Its lab; explain has none.
    pub(super) lab: Option<Lab>,
    pub(super) stage: RwSignal<Stage>,
    pub(super) graded: RwSignal<Option<Shared<Graded>>>,
    /// Why an answer could not be taken.
    pub(super) mistake: RwSignal<String>,
    /// What was answered before the page was opened is shown again.
    pub(super) recalled: RwSignal<bool>,
    /// What the learner has written; only for explain, and kept nowhere.
    pub(super) written: RwSignal<String>,
    /// Until when the run is played.
    plays_until: RwSignal<TrueTime>,
}

/// The page of a drill.
pub(super) fn show(
    drills: Drills,
    drill: &'static Drill,
    then: Vec<&'static Drill>,
    keys: RwSignal<bool>,
) -> impl IntoView {
    let one = One {
        drills,
        drill,
        lab: lab(drills, drill),
        stage: RwSignal::new(Stage::Asked),
        graded: RwSignal::new(None),
        mistake: RwSignal::new(String::new()),
        recalled: RwSignal::new(false),
        written: RwSignal::new(String::new()),
        plays_until: RwSignal::new(TrueTime::ZERO),
    };
    one.recall();
    one.watch_the_run();
    let total = parts::ALL.len();
    let more = match then.len() {
        0 => String::new(),
        1 => " · 1 more in this session".to_owned(),
        count => format!(" · {count} more in this session"),
    };
    let place = format!("Part {} of {total} · {}{more}", drill.part, drill.kind().name());
    let is_break = drill.kind() == Kind::BreakIt;
    view! {
        <p class="crumbs">
            <a href="?drill">"All drills"</a>
            <span class="soft">{place}</span>
        </p>
        <h1>{drill.title}"."</h1>
        {drill.situation.iter().map(|text| view! { <p class="situation">{*text}</p> }).collect_view()}
        <div class="drill" class:alone=one.lab.is_none()>
            {one.lab.map(|lab| view! { <div class="drill-lab">{components::drill_lab(lab, keys, is_break)}</div> })}
            <section class="card task" aria-labelledby="task-title">
                <h2 id="task-title">{drill.question()}</h2>
                {move || match one.stage.get() {
                    Stage::Asked | Stage::Comparing => forms::show(one).into_any(),
                    Stage::Running => running(one).into_any(),
                    Stage::Told => outcome::show(one, then.clone()).into_any(),
                }}
            </section>
        </div>
        {one.lab.map(components::drill_cards)}
    }
}

fn running(one: One) -> impl IntoView {
    view! {
        <p role="status">"Your answer is kept. The simulator runs, and you can watch it."</p>
        <button type="button" class="act" on:click=dom::on_mouse(move |_| one.skip())>"Go to the result"</button>
    }
}

/// The lab in which the drill takes place, at the instant at which it begins.
fn lab(drills: Drills, drill: &'static Drill) -> Option<Lab> {
    let (Ok(scenario), Ok(given)) = (drill.setup.scenario(), drill.setup.interventions()) else { return None };
    if drill.kind() == Kind::Explain {
        return None;
    }
    let hide = match drill.task {
        Task::Predict { hide_micros, .. } => Some(TrueTime::from_micros(hide_micros)),
        _ => None,
    };
    let horizon = (scenario.plan)().horizon;
    let window = first_window(scenario, horizon);
    let shows_all = hide.is_some_and(|hide| hide > window.1 || hide < window.0);
    let link = Link {
        list: Vec::new(),
        seed: drill.setup.seed,
        cursor: hide.or(Some(window.1)),
        window: if shows_all { Some((TrueTime::ZERO, horizon)) } else { None },
        ..Link::to(scenario)
    };
    let drilled = Drilled::new(given);
    drilled.veil.set(hide);
    drilled.planned.set(true);
    Some(Lab::with(link, drills.theme, Some(drilled)))
}

impl One {
    pub(super) fn drilled(&self) -> Option<Drilled> {
        self.lab.and_then(|lab| lab.drill)
    }

    /// Shows what was answered last, unless the drill is new or comes back today.
    fn recall(self) {
        let today = dom::today();
        let progress = self.drills.kept.progress.read_untracked();
        let is_due = match progress.due(self.drill.id) {
            Due::New => true,
            Due::On(day) => day <= today,
            Due::Finished => false,
        };
        let last = progress.attempts(self.drill.id).last();
        let answer = last.filter(|_| !is_due).and_then(|attempt| Answer::read(&attempt.answer));
        let Some(graded) = answer.as_ref().and_then(|answer| grade(self.drill, answer).ok()) else { return };
        if let (Some(lab), Some(Answer::Interventions(added))) = (self.lab, &answer) {
            let list = lease_lab_links::all_on(added.clone());
            lab.history.update(|history| history.push(list));
        }
        self.recalled.set(true);
        self.uncover(answer.as_ref());
        self.graded.set(Some(Shared::new(graded)));
        if let Some(lab) = self.lab {
            lab.seek(self.last_shown().min(lab.horizon()));
        }
        self.stage.set(Stage::Told);
    }

    /// What the learner has planned; for break it.
    pub(super) fn planned(&self) -> Vec<Intervention> {
        self.lab.map_or_else(Vec::new, |lab| active(lab.history.read().list()))
    }

    /// The learner commits to an answer: it is graded, kept, and the run is shown.
    pub(super) fn commit(self, answer: &Answer) {
        if self.stage.get_untracked() == Stage::Told || self.stage.get_untracked() == Stage::Running {
            return;
        }
        let graded = match grade(self.drill, answer) {
            Ok(graded) => graded,
            Err(sentence) => {
                self.mistake.set(sentence);
                return;
            }
        };
        self.mistake.set(String::new());
        let attempt =
            Attempt { day: dom::today(), right: graded.right, score: graded.score, answer: answer.to_string() };
        let (right, score) = (attempt.right, attempt.score);
        self.drills.kept.record(self.drill.id, attempt);
        super::parent::tell(self.drills, self.drill, right, score);
        self.graded.set(Some(Shared::new(graded)));
        self.uncover(Some(answer));
        self.play();
    }

    /// Takes away what hid the run.
    fn uncover(self, answer: Option<&Answer>) {
        let Some(drilled) = self.drilled() else { return };
        drilled.veil.set(None);
        drilled.planned.set(false);
        drilled.marking.set(false);
        match answer {
            Some(Answer::Mark(at)) => drilled.mark.set(Some(*at)),
            Some(Answer::Changes(chosen)) => self.give(self.changed(chosen, None)),
            _ => {}
        }
    }

    /// The given interventions with the chosen changes and an attack; for fix it.
    pub(super) fn changed(&self, chosen: &[usize], attack: Option<usize>) -> Vec<Intervention> {
        let mut list = self.drill.setup.interventions().unwrap_or_default();
        if let Task::FixIt { changes, attacks, .. } = self.drill.task {
            let texts = changes.iter().enumerate().filter(|(place, _)| chosen.contains(place));
            let texts = texts.map(|(_, change)| change.interventions);
            for text in texts.chain(attack.and_then(|place| attacks.get(place)).map(|attack| attack.interventions)) {
                // A test reads those of every drill.
                list.extend(lease_lab_sim::intervention::parse_list(text).unwrap_or_default());
            }
        }
        list
    }

    /// Shows another run.
    pub(super) fn give(&self, list: Vec<Intervention>) {
        if let Some(drilled) = self.drilled() {
            drilled.given.set(list);
        }
    }

    /// The last instant that shows why.
    fn last_shown(&self) -> TrueTime {
        let graded = self.graded.get_untracked();
        let times = graded.iter().flat_map(|graded| {
            let own = graded.shows.iter().filter(|(run, _)| *run == 0);
            own.filter_map(|(run, place)| Some(graded.runs.get(*run)?.run.events.get(*place)?.t)).collect::<Vec<_>>()
        });
        times.max().map_or(TrueTime::ZERO, |at| at + AFTERMATH)
    }

    fn play(self) {
        let Some(lab) = self.lab else {
            self.tell();
            return;
        };
        let from = match self.drill.kind() {
            Kind::Predict => lab.cursor.get_untracked(),
            _ => TrueTime::ZERO,
        };
        let until = match self.drill.kind() {
            Kind::Predict if self.last_shown() > from => self.last_shown().min(lab.horizon()),
            _ => lab.horizon(),
        };
        self.plays_until.set(until);
        if dom::wants_no_motion() {
            lab.seek(until);
            self.tell();
            return;
        }
        lab.seek(from);
        lab.speed.set((until - from).as_micros() as f64 / PLAYED.as_micros() as f64);
        self.stage.set(Stage::Running);
        if !lab.playing.get_untracked() {
            playback::toggle(lab);
        }
    }

    /// The comparison follows the run, whether it was watched to its end or stopped.
    fn watch_the_run(self) {
        let Some(lab) = self.lab else { return };
        dom::effect(move || {
            let (playing, at) = (lab.playing.get(), lab.cursor.get());
            if self.stage.get() == Stage::Running && (!playing || at >= self.plays_until.get_untracked()) {
                self.skip();
            }
        });
    }

    fn skip(self) {
        if let Some(lab) = self.lab {
            lab.playing.set(false);
            lab.speed.set(USUAL_SPEED);
            lab.seek(self.plays_until.get_untracked());
        }
        self.tell();
    }

    fn tell(self) {
        self.stage.set(Stage::Told);
        dom::focus_soon("#result-title");
    }

    /// Asks once more; what was answered before stays in the progress.
    pub(super) fn again(self) {
        self.recalled.set(false);
        self.graded.set(None);
        if let (Some(lab), Some(drilled)) = (self.lab, self.drilled()) {
            lab.playing.set(false);
            self.give(self.drill.setup.interventions().unwrap_or_default());
            drilled.planned.set(true);
            drilled.mark.set(None);
            if let Task::Predict { hide_micros, .. } = self.drill.task {
                drilled.veil.set(Some(TrueTime::from_micros(hide_micros)));
                lab.seek(TrueTime::from_micros(hide_micros));
            }
        }
        self.stage.set(Stage::Asked);
        dom::focus_soon("#drill");
    }
}

/// A link to a drill, with those that come after it in a session.
pub(super) fn link_to(next: &[&'static Drill]) -> Option<(String, &'static str)> {
    let (first, rest) = next.split_first()?;
    Some((address(first, rest), first.title))
}
