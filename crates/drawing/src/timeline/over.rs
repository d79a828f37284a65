//! What lies over or behind the lanes: snapshots' flags, messages, the danger window, the ghost.

use lease_lab_scenarios::Run;
use lease_lab_sim::machine::{MachineId, WorkerId};
use lease_lab_sim::settings::Trace;
use lease_lab_sim::time::{Span, TrueTime};

use super::lanes::{Levels, Pen, View, fence_points};
use super::worker_class;
use crate::LABS;
use crate::labels::Area;
use crate::svg::Anchor;
use crate::views::lock::{Held, HeldEnded};
use crate::views::workers::Hold;
use crate::views::{Stretch, difference, lock, messages, store, up_to, workers};

/// A belief that outlives the truth for less than this is the time that the news takes.
const DANGER_MIN: Span = Span::millis(60);
/// From here on there is room for messages that change nothing, and for answers.
const ALL_MESSAGES_PIXELS_PER_SECOND: f64 = 90.0;

/// Crosses that are closer than this are one.
const APART: f64 = 8.0;
/// How far a lost message gets, in pixels.
const LOST_REACH: f64 = 30.0;

/// Flags of the named snapshots, up to `until`.
pub(super) fn flags(pen: &mut Pen<'_>, run: &Run, until: TrueTime) {
    let layout = pen.layout;
    // A flag stands where its beat is, and only if this run has it.
    for bookmark in run.scenario.bookmarks.iter().filter(|bookmark| run.beat(bookmark.beat).is_some()) {
        let at = run.bookmark_at(bookmark);
        let x = layout.x(at);
        let area = Area { left: x - 13.0, top: 5.0, right: x + 13.0, bottom: 23.0 };
        if at <= until && pen.sees(at) && pen.take(area) {
            pen.svg.line("flag-line", (x, 26.0), (x, layout.lanes_bottom));
            pen.svg.rect("flag", area.left, area.top, 26.0, 18.0, 9.0);
            pen.svg.text("flag-name", (x, 18.0), Anchor::Middle, bookmark.name);
        }
    }
}

/// The times in which a worker believes in a key that is gone.
pub(super) fn danger(pen: &mut Pen<'_>, view: &View<'_>) {
    let layout = pen.layout;
    for (worker, lane) in &view.workers {
        for hold in &lane.holds {
            let from = match key_of(view, *worker, hold) {
                Some(key) => match key.ended {
                    Some(HeldEnded::Expired | HeldEnded::Replaced | HeldEnded::Erased | HeldEnded::Lost) => {
                        key.during.to
                    }
                    _ => continue,
                },
                // Where the right to act is in the row alone, it is gone once another one has it.
                None if LABS && view.keys.is_empty() => match taken_over(view, *worker, hold) {
                    Some(at) => at,
                    None => continue,
                },
                None => continue,
            };
            let stretch = Stretch { from, to: hold.believed().to };
            if stretch.to - stretch.from < DANGER_MIN {
                continue;
            }
            let (Some((left, right)), Some(area)) = (pen.visible(stretch), layout.lane((*worker).into())) else {
                continue;
            };
            let holders = view.keys.iter().filter(|key| key.during.common(stretch).is_some()).map(|key| key.worker);
            let acting = view.workers.iter().filter(|(_, lane)| {
                LABS && view.keys.is_empty() && lane.holds.iter().any(|other| other.may_act.common(stretch).is_some())
            });
            let lanes = holders.chain(acting.map(|(worker, _)| *worker));
            let lanes = lanes.filter_map(|worker| layout.lane(worker.into()));
            let (top, bottom) = lanes
                .fold((area.top, area.bottom), |(top, bottom), other| (top.min(other.top), bottom.max(other.bottom)));
            pen.svg.rect("danger-field", left, top - 4.0, right - left, bottom - top + 8.0, 4.0);
        }
    }
}

/// When another worker got the right to act that `hold` still believes in.
fn taken_over(view: &View<'_>, worker: WorkerId, hold: &Hold) -> Option<TrueTime> {
    let others = view.workers.iter().filter(|(other, _)| **other != worker);
    let starts = others.flat_map(|(_, lane)| &lane.holds).filter(|other| other.job == hold.job);
    starts.map(|other| other.may_act.from).filter(|from| *from > hold.may_act.from).min()
}

/// The key that a hold is about, as it ended last: tokens may be alike, or there may be none.
fn key_of<'a>(view: &'a View<'_>, worker: WorkerId, hold: &Hold) -> Option<&'a Held> {
    let keys = || view.keys.iter().filter(|key| key.worker == worker);
    let held = keys().rfind(|key| key.token == hold.token && key.during.from <= hold.may_act.from)?;
    keys().rfind(|key| key.lease == held.lease)
}

/// Messages as slanted lines; a lost one ends in a cross.
pub(super) fn messages(pen: &mut Pen<'_>, view: &View<'_>) {
    let layout = pen.layout;
    let all = layout.pixels_per_second() >= ALL_MESSAGES_PIXELS_PER_SECOND;
    let window = Stretch { from: layout.from, to: layout.to };
    let levels = Levels::new(layout, &[&view.store]);
    // A message meets the store at the height of the mark that it leaves there, else at the fence.
    let height = |machine: MachineId, at: TrueTime| match (&levels, machine) {
        (Some(levels), MachineId::Store) => Some(levels.y(view.store.height_at(at))),
        _ => layout.lane(machine).map(|lane| lane.middle()),
    };
    // Lost ones that lie on each other are drawn once.
    let mut crosses: Vec<(f64, f64)> = Vec::new();
    for line in messages::lines(view.events) {
        let stretch = Stretch { from: line.sent, to: line.ended.max(line.sent + Span::micros(1)) };
        let seen = stretch.common(window).is_some();
        if !seen || !(all || line.matters()) {
            continue;
        }
        let (Some(from_y), Some(to_y)) = (height(line.from, line.sent), height(line.to, line.ended)) else { continue };
        let sender = if line.from.worker().is_some() { line.from } else { line.to };
        let class = worker_class(sender);
        let (from, to) = ((layout.x(line.sent), from_y), (layout.x(line.ended), to_y));
        // The ends lie within the visible time, or the line would leave the plot.
        let (from, to) = (inside(pen, from, to), inside(pen, to, from));
        if line.lost {
            // It ends close to its sender, or the cross would seem to be the fault of a lane in between.
            let reach = if line.from.worker().is_some() { LOST_REACH } else { LOST_REACH / 3.0 };
            let down = (to.1 - from.1).clamp(-reach, reach);
            let middle = (from.0 + (to.0 - from.0) * 0.5, from.1 + down);
            if crosses.iter().any(|(x, y)| (x - middle.0).abs() < APART && (y - middle.1).abs() < APART) {
                continue;
            }
            crosses.push(middle);
            pen.svg.line(&format!("message lost {class}"), from, middle);
            pen.svg.cross("cross small", middle, 3.5, &format!("lost: {}", line.what));
        } else {
            pen.svg.line(&format!("message {class}"), from, to);
        }
    }
}

/// Moves `point` along the line to `other` until it is in the plot.
fn inside(pen: &Pen<'_>, point: (f64, f64), other: (f64, f64)) -> (f64, f64) {
    let x = point.0.clamp(pen.layout.plot_left, pen.layout.plot_right);
    let run = other.0 - point.0;
    if x == point.0 || run == 0.0 {
        return point;
    }
    (x, point.1 + (other.1 - point.1) * (x - point.0) / run)
}

/// The same run with one thing different: thin strips in the lanes, a dashed fence, hollow writes.
pub(super) fn ghost(pen: &mut Pen<'_>, run: &Run, ghost: &Run, until: TrueTime) {
    let layout = pen.layout;
    let events = up_to(&ghost.events, until);
    for (worker, lane) in workers::lanes(events, until) {
        let Some(area) = layout.lane(worker.into()) else { continue };
        for hold in &lane.holds {
            if let Some((left, right)) = pen.visible(hold.may_act) {
                let class = format!("ghost-bar {}", worker_class(worker.into()));
                pen.svg.rect(&class, left, area.bottom - 5.0, (right - left).max(2.0), 3.0, 1.5);
            }
        }
    }
    if ghost.plan.trace == Trace::Outcomes {
        // The locks and rows of thousands of jobs are no bars and no fence.
        differs(pen, run, ghost, until);
        return;
    }
    for key in lock::keys(&ghost.plan, events, until) {
        if let Some((left, right)) = pen.visible(key.during) {
            let class = format!("ghost-bar {}", worker_class(key.worker.into()));
            pen.svg.rect(&class, left, layout.keys.1 - 5.0, (right - left).max(2.0), 3.0, 1.5);
        }
    }
    let (own, other) = (store::lane(up_to(&run.events, until)), store::lane(events));
    if let Some(levels) = Levels::new(layout, &[&own]) {
        let points = fence_points(pen, &levels, &other, until);
        pen.svg.polyline("ghost-fence", &points);
        for mark in other.marks.iter().filter(|mark| !own.marks.contains(mark)) {
            if !pen.sees(mark.at) {
                continue;
            }
            if let store::What::Written { worker, chunk, again, token, .. } = &mark.what {
                let y = levels.y(if *again { *token } else { mark.fence });
                let class = format!("ghost-write {}", worker_class((*worker).into()));
                let title = format!("in the other run, chunk {chunk} is recorded here");
                pen.svg.circle(&class, (layout.x(mark.at), y), if *again { 9.0 } else { 6.5 }, &title);
            }
        }
    }
    differs(pen, run, ghost, until);
}

/// Where the two runs begin to differ.
fn differs(pen: &mut Pen<'_>, run: &Run, ghost: &Run, until: TrueTime) {
    let layout = pen.layout;
    if let Some(at) = difference::first(run, ghost).filter(|at| *at <= until && pen.sees(*at)) {
        let x = layout.x(at);
        pen.svg.line("differs", (x, layout.lanes_top - 8.0), (x, layout.lanes_bottom));
        if let Some(store) = layout.lane(MachineId::Store) {
            let y = store.top - 6.0;
            let _ = pen.label("note danger-text", 11.0, (x + 4.0, y), Anchor::Start, "the other run differs from here")
                || pen.label("note danger-text", 11.0, (x - 4.0, y), Anchor::End, "the other run differs from here")
                || pen.label("note danger-text", 11.0, (x - 4.0, y), Anchor::End, "differs");
        }
    }
}
