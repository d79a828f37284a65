//! The page's state: the list of interventions, the cursor, and how they are looked at.
//! Everything else is derived from it.

use std::sync::Arc;

#[cfg(feature = "labs")]
use lease_lab_drawing::views::difference;
#[cfg(feature = "labs")]
use lease_lab_links::with_rule;
use lease_lab_links::{Beside, Frame, Ghost, Link, Theme, active, all_on, first_window};
use lease_lab_scenarios::run::Input;
use lease_lab_scenarios::snapshot::Snapshot;
use lease_lab_scenarios::{Run, Scenario};
use lease_lab_sim::event::Kind;
use lease_lab_sim::intervention::{Intervention, Mistake};
use lease_lab_sim::machine::WorkerId;
use lease_lab_sim::time::{Span, TrueTime};
use leptos::prelude::*;

use crate::history::History;

/// What is compared by identity: two are the same only if they are one.
#[derive(Debug)]
pub(crate) struct Shared<T>(pub(crate) Arc<T>);

/// A run, simulated once.
pub(crate) type SharedRun = Shared<Run>;

impl<T> Shared<T> {
    pub(crate) fn new(inner: T) -> Shared<T> {
        Shared(Arc::new(inner))
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Shared(self.0.clone())
    }
}

impl<T> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<T> std::ops::Deref for Shared<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}

/// What the first screen asks: a worker sends a chunk after its stop time; what will the store do?
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) at: TrueTime,
    pub(crate) worker: WorkerId,
    pub(crate) chunk: u8,
    pub(crate) token: u64,
    /// What the store did, by the trace.
    pub(crate) answer: Option<Answer>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Records,
    Refuses,
    AsksLockService,
}

impl Answer {
    const ALL: [Answer; 3] = [Answer::Records, Answer::Refuses, Answer::AsksLockService];

    /// Its number in a note to another module.
    #[cfg(not(feature = "labs"))]
    pub(crate) fn id(self) -> usize {
        Answer::ALL.iter().position(|answer| *answer == self).unwrap_or_default()
    }

    #[cfg(feature = "labs")]
    pub(crate) fn with_id(id: usize) -> Option<Answer> {
        Answer::ALL.get(id).copied()
    }
}

impl Question {
    fn of(run: &Run) -> Option<Question> {
        let late = run
            .events
            .iter()
            .position(|event| matches!(&event.kind, Kind::WriteSent { mono, stop_time, .. } if mono >= stop_time))?;
        let Kind::WriteSent { worker, chunk, token, .. } = run.events[late].kind else { return None };
        let answer = run.events[late..].iter().find_map(|event| match &event.kind {
            Kind::ChunkWritten { worker: by, chunk: number, token: with, .. }
                if (*by, *number, *with) == (worker, chunk, token) =>
            {
                Some(Answer::Records)
            }
            Kind::WriteRefused { worker: by, chunk: number, token: with, .. }
                if (*by, *number, *with) == (worker, chunk, token) =>
            {
                Some(Answer::Refuses)
            }
            _ => None,
        });
        Some(Question { at: run.events[late].t, worker, chunk, token, answer })
    }
}

/// What a drill does to a lab; small handles.
#[cfg(feature = "labs")]
#[derive(Clone, Copy)]
pub(crate) struct Drilled {
    /// The interventions that the drill gives, which stand before those of the list.
    pub(crate) given: RwSignal<Vec<Intervention>>,
    /// The list is only planned: what is shown runs without it.
    pub(crate) planned: RwSignal<bool>,
    /// Nothing later than this is shown.
    pub(crate) veil: RwSignal<Option<TrueTime>>,
    /// A pointer on the timeline marks an instant, instead of moving the cursor.
    pub(crate) marking: RwSignal<bool>,
    /// The instant that is marked.
    pub(crate) mark: RwSignal<Option<TrueTime>>,
}

#[cfg(feature = "labs")]
impl Drilled {
    pub(crate) fn new(given: Vec<Intervention>) -> Drilled {
        Drilled {
            given: RwSignal::new(given),
            planned: RwSignal::new(false),
            veil: RwSignal::new(None),
            marking: RwSignal::new(false),
            mark: RwSignal::new(None),
        }
    }
}

/// The state and what is derived from it; small handles, so it is passed by value.
#[derive(Clone, Copy)]
pub(crate) struct Lab {
    pub(crate) scenario: &'static Scenario,
    pub(crate) seed: u64,
    pub(crate) history: RwSignal<History>,
    pub(crate) cursor: RwSignal<TrueTime>,
    /// The visible time.
    pub(crate) window: RwSignal<(TrueTime, TrueTime)>,
    pub(crate) ghost: RwSignal<Ghost>,
    /// What is different in the run that stands beside this one.
    pub(crate) with: RwSignal<Option<Beside>>,
    pub(crate) theme: RwSignal<Theme>,
    /// How the page stands where it stands, as its address says.
    pub(crate) frame: Frame,
    pub(crate) playing: RwSignal<bool>,
    /// Seconds of true time for a second of play.
    pub(crate) speed: RwSignal<f64>,
    /// What the reader answered.
    pub(crate) answered: RwSignal<Option<Answer>>,
    /// What comes after the question may be seen.
    pub(crate) revealed: RwSignal<bool>,
    /// The instant that the present one is compared with.
    pub(crate) pinned: RwSignal<Option<TrueTime>>,
    pub(crate) notices: RwSignal<Vec<String>>,
    /// What a screen reader is told after a step.
    pub(crate) announcement: RwSignal<String>,
    /// Another module has taken this one's place.
    pub(crate) left: StoredValue<bool>,
    /// The machine that the panel of interventions shows.
    pub(crate) chosen: RwSignal<Option<lease_lab_sim::machine::MachineId>>,

    pub(crate) run: Memo<SharedRun>,
    #[cfg(feature = "labs")]
    pub(crate) ghost_run: Memo<Option<SharedRun>>,
    #[cfg(feature = "labs")]
    pub(crate) drill: Option<Drilled>,
    /// The run beside this one.
    #[cfg(feature = "labs")]
    pub(crate) other_run: Memo<Option<SharedRun>>,
    pub(crate) question: Memo<Option<Question>>,
    /// Nothing later than this is shown.
    pub(crate) until: Memo<TrueTime>,
    pub(crate) snapshot: Memo<Shared<Snapshot>>,
}

pub(crate) fn simulate(scenario: &'static Scenario, list: Vec<Intervention>, seed: u64) -> Result<SharedRun, Mistake> {
    Run::new(scenario, Input { interventions: Some(list), seed, until: None }).map(Shared::new)
}

impl Lab {
    pub(crate) fn new(link: Link, theme: RwSignal<Theme>) -> Lab {
        Lab::with(
            link,
            theme,
            #[cfg(feature = "labs")]
            None,
        )
    }

    /// A lab, perhaps within a drill.
    pub(crate) fn with(link: Link, theme: RwSignal<Theme>, #[cfg(feature = "labs")] drill: Option<Drilled>) -> Lab {
        let Link { scenario, list, seed, frame, .. } = link;
        let history = RwSignal::new(History::new(list));
        let run = Memo::new(move |previous: Option<&SharedRun>| {
            // Every list that gets into the history has been run once, so the second case does not arise; if it did,
            // the page would go on with what it has.
            let list = active(history.read().list());
            #[cfg(feature = "labs")]
            let list = match drill {
                Some(drill) => whole(drill, list),
                None => list,
            };
            simulate(scenario, list, seed).ok().or_else(|| previous.cloned()).unwrap_or_else(|| own_run(scenario))
        });
        let asks = !scenario.terms.is_empty();
        #[cfg(feature = "labs")]
        let asks = asks && drill.is_none();
        let question = Memo::new(move |_| Question::of(&run.read()).filter(|_| asks));
        let horizon = run.read_untracked().horizon;
        let window = link.window.unwrap_or(first_window(scenario, horizon));
        let asked_at = question.get_untracked().map(|question| question.at);
        // A lab that asks nothing shows all it has, or the instant at which there is most to see.
        let opens_at = match scenario.opens {
            _ if asks => TrueTime::ZERO,
            0 => window.1,
            millis => TrueTime::from_millis(i64::from(millis)),
        };
        let cursor = RwSignal::new(link.cursor.or(asked_at).unwrap_or(opens_at));
        // Who changes the story, or draws another behind it, has seen what comes next.
        let changed =
            *history.read_untracked().list() != all_on(scenario.own_interventions()) || link.ghost != Ghost::None;
        let revealed = RwSignal::new(match (link.cursor, asked_at) {
            (Some(cursor), Some(asked)) => cursor > asked || changed,
            (None, Some(_)) => changed,
            (_, None) => true,
        });
        let ghost = RwSignal::new(link.ghost);
        #[cfg(feature = "labs")]
        let ghost_run = Memo::new(move |_| {
            let change = ghost.get().change()?;
            let list = with_rule(history.read().list(), TrueTime::ZERO, &change);
            simulate(scenario, active(&list), seed).ok()
        });
        let with = RwSignal::new(link.with);
        #[cfg(feature = "labs")]
        let other_run = Memo::new(move |_| {
            let list = with.read().as_ref()?.list(history.read().list()).ok()?;
            simulate(scenario, active(&list), seed).ok()
        });
        #[cfg(feature = "labs")]
        let veil = move || drill.and_then(|drill| drill.veil.get());
        #[cfg(not(feature = "labs"))]
        let veil = || None;
        let until = Memo::new(move |_| match question.read().as_ref() {
            Some(question) if !revealed.get() => question.at,
            _ => veil().unwrap_or(run.read().horizon),
        });
        let snapshot = Memo::new(move |_| {
            let at = cursor.get();
            Shared::new(Snapshot::take(&run.read().world_at(at), at, None))
        });
        let mut notices = link.notices;
        if link.hash.is_some_and(|hash| hash != run.read_untracked().hash()) {
            notices.push(
                "This link was made with another version of the simulator, which told another story; \
                 what you see is what this version comes to."
                    .into(),
            );
        }
        Lab {
            scenario,
            seed,
            history,
            cursor,
            window: RwSignal::new(window),
            ghost,
            with,
            theme,
            frame,
            playing: RwSignal::new(false),
            speed: RwSignal::new(4.0),
            answered: RwSignal::new(None),
            revealed,
            pinned: RwSignal::new(None),
            notices: RwSignal::new(notices),
            announcement: RwSignal::new(String::new()),
            left: StoredValue::new(false),
            chosen: RwSignal::new(None),
            run,
            #[cfg(feature = "labs")]
            ghost_run,
            #[cfg(feature = "labs")]
            drill,
            #[cfg(feature = "labs")]
            other_run,
            question,
            until,
            snapshot,
        }
    }

    pub(crate) fn horizon(&self) -> TrueTime {
        self.run.read_untracked().horizon
    }

    /// Whether nothing is kept back.
    pub(crate) fn is_all_shown(&self) -> bool {
        self.until.get() >= self.run.read().horizon
    }

    /// How far the cursor can go.
    pub(crate) fn end(&self) -> TrueTime {
        #[cfg(feature = "labs")]
        if self.drill.is_some() {
            return self.until.get_untracked();
        }
        self.horizon()
    }

    /// The list that the scenario has if nothing is changed.
    #[cfg(feature = "labs")]
    pub(crate) fn own_list(&self) -> lease_lab_links::List {
        if self.drill.is_some() {
            return Vec::new();
        }
        all_on(self.scenario.own_interventions())
    }

    /// Moves the cursor; past the question, everything may be seen.
    pub(crate) fn seek(&self, at: TrueTime) {
        let at = at.max(TrueTime::ZERO).min(self.end());
        if self.question.read_untracked().as_ref().is_some_and(|question| at > question.at) {
            self.reveal();
        }
        if self.cursor.get_untracked() != at {
            self.cursor.set(at);
        }
        self.follow(at);
    }

    pub(crate) fn reveal(&self) {
        if !self.revealed.get_untracked() {
            self.revealed.set(true);
        }
    }

    /// Keeps the cursor within the visible time.
    fn follow(&self, at: TrueTime) {
        let (from, to) = self.window.get_untracked();
        if at < from || at > to {
            let half = (to - from).as_micros() / 2;
            self.show(at - Span::micros(half), at + Span::micros((to - from).as_micros() - half));
        }
    }

    /// Shows a stretch of time, moved into the run if it sticks out.
    pub(crate) fn show(&self, from: TrueTime, to: TrueTime) {
        const SHORTEST: Span = Span::millis(20);
        let horizon = self.horizon();
        let length = (to - from).max(SHORTEST).min(horizon - TrueTime::ZERO);
        let from = from.max(TrueTime::ZERO).min(horizon - length);
        self.window.set((from, from + length));
    }

    /// Shows a stretch `factor` times as long, with the cursor where it is on the screen.
    pub(crate) fn zoom(&self, factor: f64) {
        let (from, to) = self.window.get_untracked();
        let length = (to - from).as_micros() as f64;
        let cursor = self.cursor.get_untracked().max(from).min(to);
        let part = (cursor - from).as_micros() as f64 / length;
        let new_length = length * factor;
        let from = cursor - Span::micros((new_length * part) as i64);
        self.show(from, from + Span::micros(new_length as i64));
    }

    /// The instants that a step can go to: of events that are no mere routine.
    fn instants(&self) -> Vec<TrueTime> {
        let run = self.run.read_untracked();
        let mut instants: Vec<TrueTime> =
            run.events.iter().filter(|event| !event.is_background()).map(|event| event.t).collect();
        instants.dedup();
        instants
    }

    pub(crate) fn step_event(&self, forward: bool) {
        let cursor = self.cursor.get_untracked();
        let instants = self.instants();
        let target = next_in(&instants, cursor, forward);
        self.step_to(target.unwrap_or(if forward { self.end() } else { TrueTime::ZERO }));
    }

    pub(crate) fn step_beat(&self, forward: bool) {
        let cursor = self.cursor.get_untracked();
        let beats: Vec<TrueTime> = self.run.read_untracked().beats_in_order().map(|(_, at)| at).collect();
        let target = next_in(&beats, cursor, forward);
        self.step_to(target.unwrap_or(if forward { self.end() } else { TrueTime::ZERO }));
    }

    /// Seeks and tells a screen reader what happened there.
    pub(crate) fn step_to(&self, at: TrueTime) {
        self.playing.set(false);
        self.seek(at);
        let text = self.describe(self.cursor.get_untracked());
        self.announcement.set(text);
    }

    /// Which of the scenario's beats a number is, from 1: some labs tell only a part of the story.
    pub(crate) fn place_of(&self, number: u8) -> usize {
        self.scenario.beats.iter().position(|beat| beat.number == number).map_or(0, |place| place + 1)
    }

    /// "13.0 s, beat 7 of 24: A’s lease expires".
    pub(crate) fn describe(&self, at: TrueTime) -> String {
        let run = self.run.read_untracked();
        let last = run
            .events
            .iter()
            .zip(&run.beats)
            .take_while(|(event, _)| event.t <= at)
            .filter(|(event, _)| !event.is_background())
            .last();
        let count = self.scenario.beats.len();
        match last {
            Some((_, Some(number))) => {
                let beat = self.scenario.beats.iter().find(|beat| beat.number == *number);
                let place = self.place_of(*number);
                format!("{} s, beat {place} of {count}: {}", at.told(), beat.map_or("", |beat| beat.title))
            }
            Some((event, None)) => {
                format!("{} s: {}", at.told(), lease_lab_scenarios::why::why(event, &run.plan))
            }
            None => format!("{} s, before the start", at.told()),
        }
    }

    /// When an intervention at the cursor is made: right after what the page shows.
    ///
    /// Interventions come before every event of their instant, so where something has just happened it must be a
    /// little later.
    pub(crate) fn act_at(&self) -> TrueTime {
        const LATER: i64 = 1_000;
        let at = self.cursor.get();
        let run = self.run.read();
        let place = run.events.partition_point(|event| event.t < at);
        let happens = run.events.get(place).is_some_and(|event| event.t == at) && at > TrueTime::ZERO;
        if happens { TrueTime::from_micros((at.as_micros() / LATER + 1) * LATER) } else { at }
    }

    #[cfg(feature = "labs")]
    /// How the ghost ends and where it begins to differ.
    pub(crate) fn ghost_outcome(&self) -> Option<(difference::Outcome, Option<TrueTime>)> {
        let ghost = self.ghost_run.get()?;
        Some((difference::outcome(&ghost), difference::first(&self.run.read(), &ghost)))
    }
}

/// What a drill runs: what it gives, and the learner's list unless that is only planned.
#[cfg(feature = "labs")]
pub(crate) fn whole(drill: Drilled, list: Vec<Intervention>) -> Vec<Intervention> {
    let mut whole = drill.given.get();
    if !drill.planned.get() {
        whole.extend(list);
    }
    whole
}

fn own_run(scenario: &'static Scenario) -> SharedRun {
    let own = scenario.own_interventions();
    match simulate(scenario, own, 0) {
        Ok(run) => run,
        Err(mistake) => unreachable!("a scenario's own interventions make sense: {mistake}"),
    }
}

fn next_in(instants: &[TrueTime], cursor: TrueTime, forward: bool) -> Option<TrueTime> {
    if forward {
        instants.iter().find(|at| **at > cursor).copied()
    } else {
        instants.iter().rev().find(|at| **at < cursor).copied()
    }
}
