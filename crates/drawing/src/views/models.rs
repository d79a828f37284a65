//! What the lanes show in the small models: who has which block, who writes in which epoch, what a journal's nodes did.

use lease_lab_sim::event::{Event, Kind};
use lease_lab_sim::machine::{MachineId, WorkerId};
use lease_lab_sim::time::{Span, TrueTime};
use litemap::LiteMap;

use super::Stretch;
use super::counts::Steps;

/// The lanes of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelView {
    /// What workers have, and for how long.
    pub bars: Vec<Bar>,
    /// What happened at an instant.
    pub marks: Vec<Mark>,
    /// A number over time: units granted, numbers handed out, entries that count; and what it is.
    pub total: Option<(Steps, &'static str)>,
}

/// Something that a worker has for some time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bar {
    /// Whose.
    pub worker: WorkerId,
    /// When.
    pub during: Stretch,
    /// What.
    pub text: String,
    /// It does not act then: it reads, or it waits.
    pub waits: bool,
}

/// Something that happened on a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Where.
    pub machine: MachineId,
    /// When.
    pub at: TrueTime,
    /// What, in a few words.
    pub text: String,
    /// It was a refusal.
    pub refused: bool,
}

/// The lanes of a model's run, up to `until`.
pub fn view(events: &[Event], until: TrueTime) -> ModelView {
    let mut view = ModelView::default();
    let mut open: LiteMap<WorkerId, (TrueTime, String)> = LiteMap::new();
    // An engine reads the whole journal, from its first fence on, before it writes.
    let mut reads: LiteMap<WorkerId, TrueTime> = LiteMap::new();
    // Units that a client works with, and since when they are not its own any more.
    let mut in_use: LiteMap<WorkerId, u32> = LiteMap::new();
    let mut stale: LiteMap<WorkerId, TrueTime> = LiteMap::new();
    let mut done: Vec<WorkerId> = Vec::new();
    for event in events {
        let at = event.t;
        match &event.kind {
            Kind::QuotaGranted { worker, units, in_all, .. } => {
                view.begins(&mut open, *worker, at, format!("{units} units"));
                view.step(at, *in_all, "units granted");
            }
            Kind::UnitsUsed { worker, units, .. } => {
                in_use.insert(*worker, *units);
            }
            Kind::UnitsFree { worker, .. } => {
                in_use.remove(worker);
                view.stale(&mut stale, *worker, at);
            }
            Kind::QuotaExpired { worker, in_all, .. } => {
                if in_use.contains_key(worker) {
                    stale.insert(*worker, at);
                }
                view.ends(&mut open, *worker, at);
                view.step(at, *in_all, "units granted");
            }
            Kind::IdsReserved { worker, first, last, .. } => {
                view.begins(&mut open, *worker, at, format!("{first}–{last}"));
                view.step(at, *last as u32, "numbers handed out");
            }
            Kind::EngineReplayed { worker, epoch, .. } => {
                view.reads(&mut reads, *worker, at);
                view.begins(&mut open, *worker, at, format!("epoch {epoch}"));
            }
            Kind::EntryCounted { place, .. } => view.step(at, *place, "entries count"),
            Kind::EngineHalted { worker, .. } => {
                view.ends(&mut open, *worker, at);
                view.mark(event, "halts".into(), true);
            }
            Kind::Crashed { worker: Some(worker) } => {
                in_use.remove(worker);
                view.ends(&mut open, *worker, at);
            }
            Kind::JournalFenced { worker, epoch, .. } => {
                reads.entry(*worker).or_insert(at);
                view.mark(event, format!("fenced below {epoch}"), false);
            }
            Kind::JournalRefused { worker, epoch, promised, .. } => {
                view.mark(event, format!("{worker} refused: {epoch} < {promised}"), true);
            }
            // Where no lock service says whose turn it is, whoever got the job works on it.
            Kind::ContestWon { worker, .. } => view.begins(&mut open, *worker, at, "has the job".into()),
            Kind::ContestLost { worker, .. } if !done.contains(worker) => {
                done.push(*worker);
                let mark = Mark { machine: (*worker).into(), at, text: "does not get it".into(), refused: false };
                view.marks.push(mark);
            }
            Kind::RaiseSent { worker, .. } => view.begins(&mut open, *worker, at, "works on the job".into()),
            Kind::WorkerDone { worker } | Kind::GaveUp { worker, .. } | Kind::SessionEnded { worker, .. } => {
                view.ends(&mut open, *worker, at);
            }
            _ => {}
        }
    }
    let fenced: Vec<WorkerId> = reads.keys().copied().collect();
    for worker in fenced {
        view.reads(&mut reads, worker, until);
    }
    let using: Vec<WorkerId> = stale.keys().copied().collect();
    for worker in using {
        view.stale(&mut stale, worker, until);
    }
    let still: Vec<WorkerId> = open.keys().copied().collect();
    for worker in still {
        view.ends(&mut open, worker, until);
    }
    view
}

impl ModelView {
    /// The same thing again goes on; another one takes its place.
    fn begins(
        &mut self,
        open: &mut LiteMap<WorkerId, (TrueTime, String)>,
        worker: WorkerId,
        at: TrueTime,
        text: String,
    ) {
        if open.get(&worker).is_some_and(|(_, before)| *before == text) {
            return;
        }
        self.ends(open, worker, at);
        open.insert(worker, (at, text));
    }

    fn ends(&mut self, open: &mut LiteMap<WorkerId, (TrueTime, String)>, worker: WorkerId, at: TrueTime) {
        if let Some((from, text)) = open.remove(&worker) {
            self.bars.push(Bar { worker, during: Stretch { from, to: at }, text, waits: false });
        }
    }

    /// A client goes on with units that the allocator has given to others.
    fn stale(&mut self, stale: &mut LiteMap<WorkerId, TrueTime>, worker: WorkerId, at: TrueTime) {
        if let Some(from) = stale.remove(&worker) {
            let text = "not its own now".into();
            self.bars.push(Bar { worker, during: Stretch { from, to: at }, text, waits: true });
        }
    }

    /// A short reading is not worth a bar.
    fn reads(&mut self, reads: &mut LiteMap<WorkerId, TrueTime>, worker: WorkerId, at: TrueTime) {
        const SHORT: Span = Span::millis(100);
        if let Some(from) = reads.remove(&worker).filter(|from| at - *from > SHORT) {
            let during = Stretch { from, to: at };
            self.bars.push(Bar { worker, during, text: "reads the journal".into(), waits: true });
        }
    }

    fn step(&mut self, at: TrueTime, value: u32, what: &'static str) {
        let (steps, _) = self.total.get_or_insert((vec![(TrueTime::ZERO, 0)], what));
        if steps.last().is_none_or(|(_, last)| *last != value) {
            steps.push((at, value));
        }
    }

    fn mark(&mut self, event: &Event, text: String, refused: bool) {
        self.marks.push(Mark { machine: event.machine, at: event.t, text, refused });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lease_lab_scenarios::Run;
    use lease_lab_scenarios::run::Input;
    use lease_lab_sim::intervention::parse_list;

    fn view_of(id: &str, list: &str) -> ModelView {
        let scenario = lease_lab_scenarios::find(id).expect("it is a lab");
        let mut interventions = scenario.own_interventions();
        interventions.extend(parse_list(list).expect("the list can be read"));
        let input = Input { interventions: Some(interventions), ..Input::default() };
        let run = Run::new(scenario, input).expect("it makes sense");
        view(&run.events, run.horizon)
    }

    #[test]
    fn a_quota_ends_at_its_deadline_and_goes_to_others() {
        let view = view_of("not-this-lease", "");
        let of = |worker| view.bars.iter().filter(move |bar| bar.worker == worker);
        let ends: Vec<&str> = of(WorkerId::C).map(|bar| bar.text.as_str()).collect();
        assert_eq!(ends[..2], ["20 units", "40 units"], "C gets what A leaves");
        let beyond: Vec<&Bar> = of(WorkerId::A).filter(|bar| bar.waits).collect();
        assert_eq!(beyond.len(), 1, "A is frozen with work in its hands");
        assert_eq!(beyond[0].during.from, of(WorkerId::A).map(|bar| bar.during.to).min().unwrap_or_default());
        let most = view.total.iter().flat_map(|(steps, _)| steps).map(|(_, units)| *units).max();
        assert_eq!(most, Some(100));
    }

    #[test]
    fn every_node_that_can_be_reached_is_fenced_and_refuses_the_old_engine() {
        let view = view_of("fences-elsewhere", "5 crash n3");
        let count = |text: &str| view.marks.iter().filter(|mark| mark.text.contains(text)).count();
        assert_eq!((count("fenced below 2"), count("A refused: 1 < 2"), count("halts")), (2, 2, 1));
        let epochs: Vec<&str> = view.bars.iter().map(|bar| bar.text.as_str()).collect();
        assert_eq!(epochs, ["epoch 1", "reads the journal", "epoch 2"]);
        assert!(view.bars[0].during.to <= view.bars[2].during.from, "the old one halts before the new one writes");
        assert_eq!(view.bars[1].during.to, view.bars[2].during.from, "it reads before it writes");
    }
}
