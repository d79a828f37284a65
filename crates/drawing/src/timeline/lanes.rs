//! The lanes: workers, the lock service, the store.

use lease_lab_scenarios::Run;
use lease_lab_sim::event::{Event, Kind};
use lease_lab_sim::machine::{MachineId, WorkerId};
use lease_lab_sim::message::{NO_TOKEN, Token};
use lease_lab_sim::settings::{StoreKind, Trace};
use lease_lab_sim::time::{Mono, Span, TrueTime, grouped};
use litemap::LiteMap;

use super::{LaneArea, Layout, Pill, worker_class};
use crate::LABS;
use crate::labels::{Area, Labels, text_area, text_width};
use crate::svg::{Anchor, Svg};
use crate::views::counts::{Checks, Steps, Totals};
use crate::views::faults::{Fault, Place};
use crate::views::lock::{Held, HeldEnded, NodeLane};
use crate::views::models::ModelView;
use crate::views::redis::ServerLane;
use crate::views::store::{StoreLane, What};
use crate::views::workers::{Ended, Hold, Wait, WorkerLane};
use crate::views::{Stretch, counts, faults, lock, models, redis, store, up_to, workers};

const NOTE: f64 = 11.0;
const NAME: f64 = 13.0;
/// Half the height of a bar.
const BAR: f64 = 10.0;

/// Everything that the lanes show.
pub(super) struct View<'a> {
    pub(super) events: &'a [Event],
    pub(super) workers: LiteMap<WorkerId, WorkerLane>,
    sidecars: Vec<(WorkerId, NodeLane, Vec<TrueTime>)>,
    pub(super) keys: Vec<Held>,
    machines: LiteMap<MachineId, NodeLane>,
    servers: Vec<(MachineId, ServerLane)>,
    pub(super) store: StoreLane,
    /// The store is a bucket, whose manifest has versions.
    versions: bool,
    /// Checks of one fence item by many writers.
    checks: Option<Checks>,
    /// In a run of many jobs numbers take the place of single keys and of one row's fence.
    totals: Option<Totals>,
    model: Option<ModelView>,
    /// Who waits for a lock that another one holds, where each worker wants several.
    waits: Vec<Wait>,
    faults: Vec<Fault>,
    pub(super) until: TrueTime,
}

impl<'a> View<'a> {
    pub(super) fn new(run: &'a Run, until: TrueTime) -> View<'a> {
        let events = up_to(&run.events, until);
        // The story as it is looks the same wherever it is drawn.
        let is_own = !run.scenario.terms.is_empty() && *run.interventions == run.scenario.own_interventions();
        let shows_faults = LABS && !is_own;
        let many = LABS && run.plan.trace == Trace::Outcomes;
        let of_one = if many { &[] } else { events };
        let checked = LABS && run.plan.writers.per_second > 0;
        View {
            events,
            versions: LABS && run.plan.store == StoreKind::S3,
            checks: checked.then(|| counts::checks(events)),
            workers: workers::lanes(events, until),
            sidecars: if LABS { lock::sidecars(&run.plan, events, until) } else { Vec::new() },
            keys: lock::keys(&run.plan, of_one, until),
            model: (LABS && (run.plan.model.is_some() || !run.plan.has_locks())).then(|| models::view(events, until)),
            // The story has its own words for that.
            waits: if LABS && run.scenario.terms.is_empty() { workers::waits(of_one, until) } else { Vec::new() },
            totals: (many && !checked).then(|| counts::totals(events, run.plan.jobs)),
            machines: lock::machines(events, run.plan.service_machines(), until),
            servers: run
                .plan
                .redis_servers()
                .filter(|_| LABS)
                .map(|id| (id, redis::server(events, id, until)))
                .collect(),
            store: store::lane(of_one),
            faults: if shows_faults { faults::faults(run, events, until) } else { Vec::new() },
            until,
        }
    }
}

/// What the drawing functions share: the layout, what is drawn, and where labels stand.
pub(super) struct Pen<'a> {
    pub(super) layout: &'a Layout,
    pub(super) svg: Svg,
    labels: Labels,
    pills: Vec<Pill>,
}

impl<'a> Pen<'a> {
    pub(super) fn new(layout: &'a Layout) -> Pen<'a> {
        let bounds = Area { left: 0.0, top: 0.0, right: layout.width, bottom: layout.height };
        Pen { layout, svg: Svg::default(), labels: Labels::new(bounds), pills: Vec::new() }
    }

    pub(super) fn finish(self) -> (String, Vec<Area>, Vec<Pill>) {
        (self.svg.finish(), self.labels.taken().to_vec(), self.pills)
    }

    /// The visible part of a stretch in pixels, if any of it is visible.
    pub(super) fn visible(&self, stretch: Stretch) -> Option<(f64, f64)> {
        let window = Stretch { from: self.layout.from, to: self.layout.to };
        let seen = stretch.common(window)?;
        Some((self.layout.x(seen.from), self.layout.x(seen.to)))
    }

    pub(super) fn sees(&self, at: TrueTime) -> bool {
        (self.layout.from..=self.layout.to).contains(&at)
    }

    /// Takes an area if it is free; returns whether it was.
    pub(super) fn take(&mut self, area: Area) -> bool {
        self.labels.take(area)
    }

    /// Writes a label if there is room for it; returns whether there was.
    pub(super) fn label(&mut self, class: &str, size: f64, at: (f64, f64), anchor: Anchor, text: &str) -> bool {
        // Bold letters are wider.
        let bold = ["strong", "name", "fence-label", "in-"].iter().any(|part| class.contains(part));
        let area = text_area(text, if bold { size * 1.15 } else { size }, at, anchor);
        // What is said of an instant does not reach into the names of the lanes.
        let of_time = class.starts_with("note") && at.0 >= self.layout.plot_left;
        let free =
            !(self.layout.of_labs() && of_time && area.left < self.layout.plot_left - 2.0) && self.labels.take(area);
        if free {
            self.svg.text(class, at, anchor, text);
        }
        free
    }

    /// Writes the first of the texts that fits inside a bar; returns whether one did.
    fn label_in_bar(&mut self, class: &str, (left, right): (f64, f64), baseline: f64, texts: &[String]) -> bool {
        texts.iter().any(|text| {
            text_width(text, NOTE) + 12.0 <= right - left
                && self.label(class, NOTE, (left + 8.0, baseline), Anchor::Start, text)
        })
    }

    /// The first of the texts for which there is room, in a filled pill: beside a mark, else above or below it.
    pub(super) fn pill(&mut self, at: TrueTime, y: f64, texts: &[&str]) -> bool {
        const HALF: f64 = 12.0;
        let x = self.layout.x(at);
        let edges = (self.layout.plot_left, self.layout.plot_right);
        for (place, text) in texts.iter().enumerate() {
            let width = text_width(text, NOTE) + 20.0;
            let middle = (x - width / 2.0).min(edges.1 - width).max(edges.0);
            let beside = [(x + HALF, y), (x - HALF - width, y)];
            let apart = [(middle, y - 26.0), (middle, y + 26.0)];
            // The shortest text stands wherever there is room.
            let last = place + 1 == texts.len();
            for (left, y) in beside.into_iter().chain(apart.into_iter().filter(|_| self.layout.of_labs() || last)) {
                let area = Area { left, top: y - HALF, right: left + width, bottom: y + HALF };
                if area.bottom < self.layout.lanes_bottom && self.labels.take(area) {
                    let pill = Pill { at, area, text: (*text).to_owned() };
                    pill.draw(&mut self.svg);
                    self.pills.push(pill);
                    return true;
                }
            }
        }
        false
    }
}

/// Lane grounds, names and the axis.
pub(super) fn background(pen: &mut Pen<'_>) {
    let layout = pen.layout;
    let (left, right) = (layout.plot_left, layout.plot_right);
    let width = right - left;
    for (worker, lane) in layout.workers() {
        pen.svg.rect("lane", left, lane.top, width, lane.bottom - lane.top, 6.0);
        let (name, y) = if layout.compact {
            (worker.to_string(), lane.middle() + 4.0)
        } else {
            (format!("Worker {worker}"), lane.middle() - 3.0)
        };
        pen.label(&format!("name {}", worker_class(worker.into())), NAME, (0.0, y), Anchor::Start, &name);
    }
    if layout.workers_more > 0
        && let Some((_, last)) = layout.workers().last()
    {
        let more = grouped(layout.workers_more as u64);
        let (text, y) = if layout.compact {
            (format!("+{more}"), last.bottom + 11.0)
        } else {
            (format!("and {more} more"), last.bottom + 15.0)
        };
        pen.label("note", NOTE, (0.0, y), Anchor::Start, &text);
    }
    let nodes: Vec<_> = layout.service().collect();
    let nodes_bottom = nodes.last().map_or(layout.keys.1, |lane| lane.bottom);
    if layout.keys.0 < layout.keys.1 {
        pen.svg.rect("lane", left, layout.keys.0, width, nodes_bottom - layout.keys.0 + 4.0, 6.0);
        let keys_middle = (layout.keys.0 + layout.keys.1) / 2.0;
        let (short, full) = layout.service_name;
        let (name, y) = if layout.compact { (short, keys_middle + 4.0) } else { (full, keys_middle - 3.0) };
        pen.label("name", NAME, (0.0, y), Anchor::Start, name);
    }
    let sidecars = layout.lanes.iter().filter(|lane| matches!(lane.machine, MachineId::Sidecar(_)));
    for lane in sidecars.filter(|_| LABS) {
        pen.label("node-name", NOTE, (left - 8.0, lane.middle() + 4.0), Anchor::End, "sidecar");
    }
    // The lane of the only machine has its name already.
    for lane in nodes.into_iter().filter(|lane| !LABS || lane.machine != MachineId::Allocator) {
        pen.label("node-name", NOTE, (left - 8.0, lane.middle() + 4.0), Anchor::End, &lane.machine.to_string());
    }
    if let Some(lane) = layout.lane(MachineId::Store) {
        pen.svg.rect("lane", left, lane.top, width, lane.bottom - lane.top, 6.0);
        let y = if layout.compact { lane.middle() + 4.0 } else { lane.middle() - 3.0 };
        pen.label("name", NAME, (0.0, y), Anchor::Start, layout.store_name);
    }
    if let Some(lane) = layout.lane(MachineId::Partner) {
        pen.svg.rect("lane", left, lane.top, width, lane.bottom - lane.top, 6.0);
        let y = if layout.compact { lane.middle() + 4.0 } else { lane.middle() - 3.0 };
        let name = if layout.compact { "Part." } else { "Partner" };
        pen.label("name", NAME, (0.0, y), Anchor::Start, name);
    }
    axis(pen);
}

fn axis(pen: &mut Pen<'_>) {
    const STEPS_MICROS: [i64; 14] = [
        1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000, 2_000_000, 5_000_000,
        10_000_000, 20_000_000,
    ];
    let layout = pen.layout;
    let room = if layout.compact { 40.0 } else { 60.0 };
    let per_micro = layout.pixels_per_second() / 1e6;
    let step = STEPS_MICROS.into_iter().find(|step| *step as f64 * per_micro >= room).unwrap_or(60_000_000);
    let baseline = layout.lanes_bottom + 18.0;
    // The unit stands at the end of the axis; the last number gives way to it.
    pen.label("tick", NOTE, (layout.plot_right + 2.0, baseline), Anchor::Middle, "s");
    let first = (layout.from.as_micros() + step - 1).div_euclid(step) * step;
    let mut micros = first;
    while micros <= layout.to.as_micros() {
        let at = TrueTime::from_micros(micros);
        let x = layout.x(at);
        pen.svg.line("grid", (x, layout.lanes_top), (x, layout.lanes_bottom));
        pen.label("tick", NOTE, (x, baseline), Anchor::Middle, &at.to_string());
        micros += step;
    }
}

pub(super) fn workers(pen: &mut Pen<'_>, view: &View<'_>) {
    let layout = pen.layout;
    for (worker, area) in layout.workers() {
        let Some(lane) = view.workers.get(&worker) else { continue };
        let class = worker_class(worker.into());
        let (top, middle) = (area.middle() - BAR, area.middle());
        for (stretch, token) in &lane.watches {
            draw_wait(pen, *stretch, *token, middle);
        }
        for hold in &lane.holds {
            draw_hold(pen, class, hold, middle);
        }
        for (stretch, vm) in &lane.frozen {
            let Some((left, right)) = pen.visible(*stretch) else { continue };
            pen.svg.rect("frozen", left, top - 5.0, right - left, BAR * 2.0 + 10.0, 4.0);
            let what = if *vm { "clocks and all frozen" } else { "frozen" };
            // A pause that is still going on has no end that could be told.
            let text = if stretch.to >= view.until {
                format!("{what} from {}", stretch.from.told())
            } else {
                format!("{what} {} – {}", stretch.from.told(), stretch.to.told())
            };
            let center = (left + right) / 2.0;
            let _ = pen.label("note", NOTE, (center, area.top - 3.0), Anchor::Middle, &text)
                || pen.label("note", NOTE, (left, area.top - 3.0), Anchor::Start, &text)
                || pen.label("note", NOTE, (center, area.top - 3.0), Anchor::Middle, what);
        }
        for (at, passed) in &lane.checks {
            if pen.sees(*at) && (layout.pixels_per_second() > 60.0 || !passed) {
                let x = layout.x(*at);
                let class = if *passed { "check" } else { "check failed" };
                pen.svg.line(class, (x, top - 4.0), (x, top + BAR * 2.0 + 4.0));
                if layout.of_labs() && !passed {
                    let text = format!("check fails, {}", at.told());
                    let _ = pen.label("note", NOTE, (x + 4.0, area.top - 3.0), Anchor::Start, &text)
                        || pen.label("note", NOTE, (x - 4.0, area.top - 3.0), Anchor::End, &text);
                }
            }
        }
        // Their outline keeps the ticks of checks out of the letters.
        for hold in &lane.holds {
            label_hold(pen, class, hold, middle);
        }
        for at in &lane.crashes {
            if pen.sees(*at) {
                let x = layout.x(*at);
                pen.svg.cross("cross", (x, middle), 6.0, &format!("{worker} dies at {}", at.told()));
                let text = format!("{worker} dies, {}", at.told());
                let _ = pen.label("note", NOTE, (x, area.top - 3.0), Anchor::Start, &text)
                    || pen.label("note", NOTE, (x, area.top - 3.0), Anchor::End, &text);
            }
        }
        // A release in time is the end of the bar; one that comes too late is what goes wrong.
        for hold in lane.holds.iter().filter(|hold| layout.of_labs() && hold.believes.is_some()) {
            let Some((at, Ended::Released)) = hold.ended.filter(|(at, _)| pen.sees(*at)) else { continue };
            let x = layout.x(at);
            pen.svg.line("check failed", (x, top - 4.0), (x, top + BAR * 2.0 + 4.0));
            let text = format!("{worker} releases, {}", at.told());
            let _ = pen.label("note", NOTE, (x + 4.0, area.top - 3.0), Anchor::Start, &text)
                || pen.label("note", NOTE, (x + 6.0, middle + 4.0), Anchor::Start, &text);
        }
        for at in &lane.restarts {
            if pen.sees(*at) {
                pen.label("note", NOTE, (layout.x(*at), area.top - 3.0), Anchor::Start, "restarts");
            }
        }
    }
}

/// A candidate waits for the end of another's key.
fn draw_wait(pen: &mut Pen<'_>, stretch: Stretch, token: Token, middle: f64) {
    let Some((left, right)) = pen.visible(stretch) else { return };
    pen.svg.line("follows", (left, middle), (right, middle));
    for text in [format!("watches key {token}"), token.to_string()] {
        let fits = text_width(&text, NOTE) + 8.0 < right - left;
        if fits && pen.label("note", NOTE, (left + 4.0, middle - 5.0), Anchor::Start, &text) {
            return;
        }
    }
}

/// What keeps a worker's lease alive beside it: its life, and each renewal that it sends.
pub(super) fn sidecars(pen: &mut Pen<'_>, view: &View<'_>) {
    for (worker, lane, renewals) in &view.sidecars {
        let Some(area) = pen.layout.lane(MachineId::Sidecar(*worker)) else { continue };
        draw_life(pen, lane, area, area.middle());
        let y = area.middle();
        let mut told = false;
        for at in renewals {
            if pen.sees(*at) {
                let x = pen.layout.x(*at);
                pen.svg.line("check", (x, y - 5.0), (x, y + 5.0));
                told = told || pen.label("note", NOTE, (x + 5.0, y - 3.0), Anchor::Start, "renews");
            }
        }
    }
}

fn draw_hold(pen: &mut Pen<'_>, class: &str, hold: &Hold, middle: f64) {
    let (top, height) = pen.layout.bar(middle, hold.job);
    if let Some((left, right)) = pen.visible(hold.may_act) {
        // Even a short hold is seen.
        pen.svg.rect(&format!("may-act {class}"), left, top, (right - left).max(2.0), height, 5.0);
    }
    for stretch in [hold.believes, hold.would_have].into_iter().flatten() {
        if let Some((left, right)) = pen.visible(stretch) {
            pen.svg.rect(&format!("believes {class}"), left, top, right - left, height, 5.0);
        }
    }
}

fn label_hold(pen: &mut Pen<'_>, class: &str, hold: &Hold, middle: f64) {
    /// Ticks that are closer than this say nothing.
    const CLOSE: f64 = 16.0;
    let (top, height) = pen.layout.bar(middle, hold.job);
    let baseline = top + height / 2.0 + 4.0;
    let in_bar = format!("in-bar {class}");
    if let Some(bar) = pen.visible(hold.may_act) {
        // What it knew at the end of what is seen of the bar, and since when.
        let known = hold.stops.iter().take_while(|(since, _)| *since <= pen.layout.to);
        let stops: Vec<(TrueTime, Mono)> = known.copied().collect();
        let (since, stop) = stops.last().copied().unwrap_or((hold.may_act.from, hold.stop));
        let short = if hold.token == NO_TOKEN { stop.told() } else { format!("token {}", hold.token) };
        let told = stop.told();
        let by_own = if hold.by_own_clock { " by its own clock" } else { "" };
        if LABS && pen.layout.slots > 1 {
            // Which of several locks it is says more than until when.
            let lock = hold.job.0 + 1;
            let texts = [format!("holds lock {lock}, may act until {told}"), format!("lock {lock}")];
            pen.label_in_bar(&in_bar, bar, baseline, &texts);
        } else if stop == Mono::NEVER {
            let texts = ["believes until it is told".to_owned(), "until told".to_owned(), "holds".to_owned()];
            pen.label_in_bar(&in_bar, bar, baseline, &texts);
        } else if since <= hold.may_act.from.max(pen.layout.from) {
            let until = if hold.by_own_clock { format!("its own {told}") } else { format!("until {told}") };
            let texts = [format!("may act until {told}{by_own}"), until, short];
            pen.label_in_bar(&in_bar, bar, baseline, &texts);
        } else {
            // After a renewal another stop time is true: each stands where it holds, if there is room.
            let renewed = (pen.layout.x(since), bar.1);
            let texts = [format!("may act until {told}{by_own}"), format!("may act until {told}")];
            if !pen.label_in_bar(&in_bar, renewed, baseline, &texts) {
                let texts = [
                    format!("renewed, at last until {told}{by_own}"),
                    texts[1].clone(),
                    format!("until {told}"),
                    short,
                ];
                pen.label_in_bar(&in_bar, bar, baseline, &texts);
            } else if pen.layout.of_labs() {
                for pair in stops.windows(2) {
                    let during = Stretch { from: pair[0].0, to: pair[1].0 };
                    if let Some(before) = pen.visible(during) {
                        pen.label_in_bar(&in_bar, before, baseline, &[format!("until {}", pair[0].1.told())]);
                    }
                }
            }
        }
        let close = stops.windows(2).any(|pair| pen.layout.x(pair[1].0) - pen.layout.x(pair[0].0) < CLOSE);
        let ticks =
            pen.layout.of_labs() && pen.layout.slots == 1 && hold.stop != Mono::NEVER && (!close || stops.len() == 2);
        for (at, _) in stops.iter().skip(1).filter(|_| ticks) {
            if pen.sees(*at) {
                let x = pen.layout.x(*at);
                pen.svg.line("renewal", (x, top + height - 5.0), (x, top + height));
            }
        }
    }
    if let Some(bar) = hold.believes.and_then(|stretch| pen.visible(stretch)) {
        let texts = ["still believes".to_owned()];
        pen.label_in_bar(&format!("in-outline {class}"), bar, baseline, &texts);
    }
}

/// Numbers over time: how many locks are held, how many rows are RUNNING.
pub(super) fn totals(pen: &mut Pen<'_>, view: &View<'_>) {
    let layout = pen.layout;
    if let (Some(checks), Some(area)) = (&view.checks, layout.lane(MachineId::Store)) {
        // One scale for both, so that their heights can be compared.
        let most = |steps: &Steps| steps.iter().map(|(_, count)| *count).max().unwrap_or(0);
        let (served, throttled) = (most(&checks.served), most(&checks.throttled));
        let room = area.bottom - area.top - 44.0;
        let share = room * f64::from(throttled) / f64::from((served + throttled).max(1));
        let middle = area.bottom - 6.0 - share.max(2.0);
        draw_steps(pen, &checks.served, (area.top + 16.0, middle - 18.0), view.until, "checks served a second");
        draw_steps(pen, &checks.throttled, (middle, area.bottom - 6.0), view.until, "throttled a second");
    }
    let Some(totals) = &view.totals else { return };
    let (top, bottom) = layout.keys;
    draw_steps(pen, &totals.locks, (top + 12.0, bottom - 4.0), view.until, "locks held");
    if let Some(area) = layout.lane(MachineId::Store) {
        draw_steps(pen, &totals.running, (area.top + 16.0, area.bottom - 10.0), view.until, "rows RUNNING");
    }
}

/// What the partner outside did.
pub(super) fn partner(pen: &mut Pen<'_>, view: &View<'_>) {
    let layout = pen.layout;
    let Some(area) = layout.lane(MachineId::Partner) else { return };
    for event in view.events {
        if !pen.sees(event.t) {
            continue;
        }
        let place = (layout.x(event.t), area.middle());
        let at = event.t.told();
        match &event.kind {
            Kind::EffectDone { worker, chunk, times: 1, .. } => {
                let class = format!("write {}", worker_class((*worker).into()));
                pen.svg.circle(&class, place, 5.0, &format!("the customers of chunk {chunk} are told at {at}"));
            }
            Kind::EffectDone { worker, chunk, .. } => {
                let class = format!("write again {}", worker_class((*worker).into()));
                pen.svg.circle(&class, place, 6.5, &format!("the customers of chunk {chunk} are told again at {at}"));
                let text = format!("{worker}’s chunk {chunk}: told twice");
                pen.pill(event.t, place.1, &[&text, "told twice"]);
            }
            Kind::EffectRecognised { chunk, .. } => {
                pen.svg.diamond("swept", place, 4.5, &format!("the call for chunk {chunk} is recognised at {at}"));
                let _ = pen.label("note", NOTE, (place.0 + 10.0, place.1 + 4.0), Anchor::Start, "recognised, dropped")
                    || pen.label("note", NOTE, (place.0 - 10.0, place.1 + 4.0), Anchor::End, "recognised, dropped");
            }
            _ => {}
        }
    }
}

/// What is done to the machines: a thin line as long as it lasts, or a tick, with a text.
pub(super) fn faults(pen: &mut Pen<'_>, view: &View<'_>) {
    const CLOSE: f64 = 190.0;
    let layout = pen.layout;
    for fault in &view.faults {
        let (top, bottom, above) = match fault.place {
            Place::Keys if layout.keys.0 < layout.keys.1 => (layout.keys.0, layout.keys.1, true),
            Place::Keys => continue,
            Place::Machine(machine) => match layout.lane(machine) {
                Some(area) => (area.top, area.bottom, machine.worker().is_some()),
                None => continue,
            },
        };
        let instant = fault.during.from == fault.during.to;
        let (left, right) = if instant && pen.sees(fault.during.from) {
            let x = layout.x(fault.during.from);
            pen.svg.line("fault-tick", (x, top + 3.0), (x, bottom - 3.0));
            (x, x)
        } else if let Some((left, right)) = pen.visible(fault.during) {
            if fault.calm {
                pen.svg.rect("gap-field", left, (top + bottom) / 2.0 - BAR, right - left, BAR * 2.0, 3.0);
            } else {
                pen.svg.rect("fault", left, bottom - 4.0, (right - left).max(2.0), 3.0, 1.5);
            }
            (left, right)
        } else {
            continue;
        };
        let y = match fault.place {
            _ if above => top - 3.0,
            Place::Machine(machine) if machine.is_lock_service() => (top + bottom) / 2.0 - 3.0,
            _ => bottom - 6.0,
        };
        // A tick that another one follows closely has its text before it.
        let follows = |other: &Fault| {
            let x = layout.x(other.during.from);
            other.place == fault.place && left < x && x < left + CLOSE
        };
        let before = instant && view.faults.iter().any(follows);
        let told = |pen: &mut Pen<'_>, text: &str| {
            before && pen.label("note fault-text", NOTE, (left - 4.0, y), Anchor::End, text)
                || pen.label("note fault-text", NOTE, (left + 4.0, y), Anchor::Start, text)
                || pen.label("note fault-text", NOTE, (left - 4.0, y), Anchor::End, text)
                || pen.label("note fault-text", NOTE, ((left + right) / 2.0, y), Anchor::Middle, text)
                || pen.label("note fault-text", NOTE, (right + 6.0, y), Anchor::Start, text)
        };
        let _ = fault.texts.iter().any(|text| told(pen, text));
    }
}

/// No label lies across a tick in the lane of the keys.
pub(super) fn keep_ticks_free(pen: &mut Pen<'_>, view: &View<'_>) {
    let (top, bottom) = pen.layout.keys;
    for fault in &view.faults {
        if fault.place == Place::Keys && fault.during.from == fault.during.to {
            let x = pen.layout.x(fault.during.from);
            pen.labels.reserve(Area { left: x - 2.0, top: top + 3.0, right: x + 2.0, bottom: bottom - 3.0 });
        }
    }
}

/// Who waits for a lock: an outline beside those that a worker holds, else a thin line.
pub(super) fn waits(pen: &mut Pen<'_>, view: &View<'_>) {
    let layout = pen.layout;
    for wait in &view.waits {
        let Some(area) = layout.lane(wait.worker.into()) else { continue };
        let Some((left, right)) = pen.visible(wait.during) else { continue };
        let class = worker_class(wait.worker.into());
        if layout.slots == 1 {
            let y = area.middle();
            pen.svg.line("follows", (left, y), (right, y));
            let text = format!("waits for {}", wait.holder);
            if text_width(&text, NOTE) < right - left {
                pen.label("note", NOTE, (left + 4.0, y - 5.0), Anchor::Start, &text);
            }
            continue;
        }
        let (top, height) = layout.bar(area.middle(), wait.job);
        pen.svg.rect(&format!("believes {class}"), left, top, right - left, height, 5.0);
        let lock = wait.job.0 + 1;
        let texts =
            [format!("waits for lock {lock}, which {} holds", wait.holder), format!("waits for {}", wait.holder)];
        pen.label_in_bar(&format!("in-outline {class}"), (left, right), top + height / 2.0 + 4.0, &texts);
    }
}

/// What there is to see in the small models.
pub(super) fn model(pen: &mut Pen<'_>, view: &View<'_>) {
    let layout = pen.layout;
    let Some(model) = &view.model else { return };
    if let Some((steps, what)) = &model.total {
        let (top, bottom) = layout.keys;
        draw_steps(pen, steps, (top + 14.0, bottom - 4.0), view.until, what);
    }
    for bar in &model.bars {
        let Some(area) = layout.lane(bar.worker.into()) else { continue };
        let Some((left, right)) = pen.visible(bar.during) else { continue };
        let class = worker_class(bar.worker.into());
        let top = area.middle() - BAR;
        let (shape, inside) = if bar.waits { ("believes", "in-outline") } else { ("may-act", "in-bar") };
        pen.svg.rect(&format!("{shape} {class}"), left, top, (right - left).max(2.0), BAR * 2.0, 5.0);
        let texts = [bar.text.clone()];
        pen.label_in_bar(&format!("{inside} {class}"), (left, right), area.middle() + 4.0, &texts);
    }
    // Refusals come first: they are what a reader looks for.
    let (refused, others): (Vec<_>, Vec<_>) = model.marks.iter().partition(|mark| mark.refused);
    for mark in refused.into_iter().chain(others) {
        let Some(area) = layout.lane(mark.machine).filter(|_| pen.sees(mark.at)) else { continue };
        let place = (layout.x(mark.at), area.middle());
        let title = format!("{} at {}", mark.text, mark.at.told());
        if mark.refused {
            pen.svg.cross("cross", place, 5.0, &title);
        } else {
            pen.svg.diamond("done", place, 5.0, &title);
        }
        // A node’s own line runs through the middle of its lane.
        let y = if mark.machine.is_lock_service() { place.1 - 3.0 } else { place.1 + 4.0 };
        let _ = pen.label("note", NOTE, (place.0 + 9.0, y), Anchor::Start, &mark.text)
            || pen.label("note", NOTE, (place.0 - 9.0, y), Anchor::End, &mark.text);
    }
}

/// A step line that reaches the upper edge where most there are, with the highest number and any long time of none.
fn draw_steps(pen: &mut Pen<'_>, steps: &Steps, (top, bottom): (f64, f64), until: TrueTime, what: &str) {
    const FEW: usize = 12;
    let most = steps.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1);
    let y = |count: u32| bottom - (bottom - top) * f64::from(count) / f64::from(most);
    let mut points: Vec<(f64, f64)> = Vec::new();
    let mut told = false;
    for (place, (at, count)) in steps.iter().enumerate() {
        let ends = steps.get(place + 1).map_or(until, |(next, _)| *next);
        let Some((left, right)) = pen.visible(Stretch { from: *at, to: ends }) else { continue };
        // Many steps can fall on one pixel: the last of them is drawn.
        let from = match points.len().checked_sub(2).and_then(|place| points.get(place)) {
            Some((x, _)) if left - x < 1.0 => *x,
            _ => left,
        };
        if from < left {
            points.truncate(points.len() - 2);
        }
        points.push((from, y(*count)));
        points.push((right, y(*count)));
        // Of few levels each tells its number.
        if LABS && steps.len() <= FEW && *count != most && *count > 0 {
            let text = grouped((*count).into());
            if text_width(&text, NOTE) + 12.0 < right - left {
                pen.label("note", NOTE, (left + 4.0, y(*count) - 3.0), Anchor::Start, &text);
            }
        }
        if *count == most && !told {
            let text = format!("{} {what}", grouped(most.into()));
            told = pen.label("fence-label", NOTE, (left + 4.0, top - 3.0), Anchor::Start, &text)
                || pen.label("fence-label", NOTE, (right, top - 3.0), Anchor::End, &text);
        }
        let none = format!("no {what}");
        if *count == 0 && place > 0 && text_width(&none, NOTE) + 12.0 < right - left {
            pen.label("note", NOTE, ((left + right) / 2.0, bottom - 4.0), Anchor::Middle, &none);
        }
    }
    if let (Some(first), Some(last)) = (points.first().copied(), points.last().copied()) {
        // Where the highest number is out of sight, the last one that is seen is told.
        let at = pen.layout.time_at(last.0);
        let seen = steps.iter().take_while(|(since, _)| *since <= at).last().map_or(0, |(_, count)| *count);
        if LABS && !told && seen > 0 {
            let text = format!("{} {what}", grouped(seen.into()));
            pen.label("fence-label", NOTE, (last.0 - 4.0, last.1 - 4.0), Anchor::End, &text);
        }
        let mut ground = points.clone();
        ground.push((last.0, bottom));
        ground.push((first.0, bottom));
        pen.svg.polygon("fence-ground", &ground);
        pen.svg.polyline("fence", &points);
    }
}

pub(super) fn lock_service(pen: &mut Pen<'_>, view: &View<'_>) {
    let layout = pen.layout;
    let middle = (layout.keys.0 + layout.keys.1) / 2.0 + 3.0;
    for key in &view.keys {
        let Some((left, right)) = pen.visible(key.during) else { continue };
        let class = worker_class(key.worker.into());
        let (top, height) = layout.bar(middle, key.job);
        pen.svg.rect(&format!("held {class}"), left, top, (right - left).max(2.0), height, 5.0);
        let texts = match key.token {
            token if LABS && layout.slots > 1 => {
                [format!("lock {}: {}, key · {token}", key.job.0 + 1, key.worker), token.to_string()]
            }
            NO_TOKEN => [format!("{}’s key", key.worker), key.worker.to_string()],
            token => [format!("key · {token}"), token.to_string()],
        };
        pen.label_in_bar("in-outline", (left, right), top + height / 2.0 + 4.0, &texts);
    }
    for key in &view.keys {
        let end = key.during.to;
        if !pen.sees(end) {
            continue;
        }
        let text = match key.ended {
            Some(HeldEnded::Expired) => format!("expires {}", end.told()),
            Some(HeldEnded::Released) => format!("released {}", end.told()),
            Some(HeldEnded::Replaced) => format!("replaced {}", end.told()),
            Some(HeldEnded::Erased) => format!("erased {}", end.told()),
            Some(HeldEnded::Lost) => format!("lost {}", end.told()),
            None => continue,
        };
        let x = layout.x(end);
        let _ = pen.label("note", NOTE, (x, layout.keys.0 - 4.0), Anchor::End, &text)
            || pen.label("note", NOTE, (x, layout.keys.0 - 4.0), Anchor::Start, &text);
    }
    // A lease item says until when; nothing happens then, so it is a mark on the bar and no end of it.
    for key in &view.keys {
        let Some(wall) = key.lease_until else { continue };
        let at = TrueTime::from_micros(wall.as_micros());
        if pen.sees(at) && at < key.during.to && at > key.during.from {
            let x = layout.x(at);
            pen.svg.line("check", (x, middle - BAR - 3.0), (x, middle + BAR + 3.0));
            let text = format!("lease_until {}", wall.told());
            let _ = pen.label("note", NOTE, (x + 5.0, middle + 4.0), Anchor::Start, &text)
                || pen.label("note", NOTE, (x - 3.0, layout.keys.0 - 4.0), Anchor::End, &text);
        }
    }
    for gap in gaps(view) {
        if let Some((left, right)) = pen.visible(gap) {
            let text = "nobody holds it";
            if text_width(text, NOTE) + 16.0 < right - left {
                let _ = pen.label("note", NOTE, ((left + right) / 2.0, middle + 4.0), Anchor::Middle, text)
                    || pen.label("note", NOTE, (left + 8.0, middle + 4.0), Anchor::Start, text);
            }
        }
    }
    for area in layout.service() {
        let node = area.machine;
        let Some(lane) = view.machines.get(&node) else { continue };
        let y = match node {
            // The keys of a server lie in the middle of its lane.
            _ if LABS && view.servers.iter().any(|(server, _)| *server == node) => area.bottom - 3.0,
            _ => area.middle(),
        };
        draw_life(pen, lane, *area, y);
        for (stretch, term) in &lane.led {
            if let Some((left, right)) = pen.visible(*stretch) {
                let text = format!("leader, term {term}");
                if text_width(&text, NOTE) + 8.0 < right - left {
                    pen.label("note", NOTE, (left + 6.0, y - 5.0), Anchor::Start, &text);
                }
            }
        }
        for at in &lane.discards {
            if pen.sees(*at) {
                let x = layout.x(*at);
                pen.svg.diamond("discard", (x, y), 4.0, "drops entries that no majority ever had");
                if layout.of_labs() {
                    pen.label("note", NOTE, (x + 8.0, y - 3.0), Anchor::Start, "drops entries");
                }
            }
        }
    }
}

/// When a machine is up, leads, is frozen and dies.
fn draw_life(pen: &mut Pen<'_>, lane: &NodeLane, area: LaneArea, y: f64) {
    let machine = area.machine;
    for stretch in &lane.up {
        if let Some((left, right)) = pen.visible(*stretch) {
            pen.svg.line("follows", (left, y), (right, y));
        }
    }
    for (stretch, _) in &lane.led {
        if let Some((left, right)) = pen.visible(*stretch) {
            pen.svg.line("leads", (left, y), (right, y));
        }
    }
    for stretch in &lane.frozen {
        if let Some((left, right)) = pen.visible(*stretch) {
            pen.svg.rect("frozen", left, area.top + 3.0, right - left, area.bottom - area.top - 6.0, 3.0);
        }
    }
    for at in &lane.crashes {
        if pen.sees(*at) {
            let x = pen.layout.x(*at);
            pen.svg.cross("cross", (x, y), 5.0, &format!("{machine} dies at {}", at.told()));
            let text = format!("{machine} dies, {}", at.told());
            let _ = pen.label("note", NOTE, (x - 8.0, y - 5.0), Anchor::End, &text)
                || pen.label("note", NOTE, (x + 8.0, y - 5.0), Anchor::Start, &text);
        }
    }
}

/// The keys of each Redis server, who is the primary, and whose wall clock was stepped.
pub(super) fn redis_servers(pen: &mut Pen<'_>, view: &View<'_>) {
    const KEY: f64 = 6.0;
    for (machine, lane) in &view.servers {
        let Some(area) = pen.layout.lane(*machine) else { continue };
        let y = area.middle();
        for stretch in &lane.primary {
            if let Some((left, right)) = pen.visible(*stretch) {
                pen.svg.line("leads", (left, area.bottom - 3.0), (right, area.bottom - 3.0));
            }
        }
        for key in &lane.keys {
            let Some((left, right)) = pen.visible(key.during) else { continue };
            let class = worker_class(key.worker.into());
            pen.svg.rect(&format!("held {class}"), left, y - KEY, (right - left).max(2.0), KEY * 2.0, 3.0);
            pen.label_in_bar("in-outline", (left, right), y + 4.0, &[key.worker.to_string()]);
        }
        for (at, by) in &lane.steps {
            if pen.sees(*at) {
                let x = pen.layout.x(*at);
                pen.svg.line("check", (x, area.top + 2.0), (x, area.bottom - 2.0));
                let sign = if *by < Span::ZERO { "" } else { "+" };
                let text = format!("wall {sign}{} s", by.told());
                let _ = pen.label("note", NOTE, (x + 5.0, y + 4.0), Anchor::Start, &text)
                    || pen.label("note", NOTE, (x - 5.0, y + 4.0), Anchor::End, &text);
            }
        }
        if let Some(promoted) = lane.primary.iter().find(|stretch| stretch.from > TrueTime::ZERO)
            && pen.sees(promoted.from)
        {
            let text = format!("primary from {}", promoted.from.told());
            let _ = pen.label("note", NOTE, (pen.layout.x(promoted.from) - 4.0, y + 4.0), Anchor::End, &text)
                || pen.label("note", NOTE, (pen.layout.x(promoted.from) + 4.0, y + 4.0), Anchor::Start, &text);
        }
    }
}

/// The times at which nobody holds the key, after somebody held it.
fn gaps(view: &View<'_>) -> Vec<Stretch> {
    let ends = view.keys.iter().filter(|key| key.ended.is_some()).map(|key| key.during.to);
    ends.map(|from| {
        let to = view.keys.iter().map(|key| key.during.from).find(|start| *start >= from).unwrap_or(view.until);
        Stretch { from, to }
    })
    .collect()
}

/// Heights of the fence: one level for each token that it has had.
pub(super) struct Levels {
    tokens: Vec<Token>,
    base: f64,
    step: f64,
}

impl Levels {
    pub(super) fn new(layout: &Layout, lanes: &[&StoreLane]) -> Option<Levels> {
        let area = layout.lane(MachineId::Store)?;
        // A lane's tokens only rise, but two lanes may have different ones.
        let mut tokens: Vec<Token> = Vec::new();
        for (_, token) in lanes.iter().flat_map(|lane| &lane.fence) {
            if let Err(place) = tokens.binary_search(token) {
                tokens.insert(place, *token);
            }
        }
        let base = area.bottom - 14.0;
        let steps = tokens.len().saturating_sub(1).max(3) as f64;
        Some(Levels { tokens, base, step: ((area.bottom - area.top - 48.0) / steps).min(22.0) })
    }

    pub(super) fn y(&self, token: Token) -> f64 {
        let level = self.tokens.partition_point(|known| *known < token);
        self.base - level as f64 * self.step
    }
}

/// The points of the fence's step line within the visible time.
pub(super) fn fence_points(pen: &Pen<'_>, levels: &Levels, lane: &StoreLane, until: TrueTime) -> Vec<(f64, f64)> {
    let layout = pen.layout;
    let clamp = |at: TrueTime| layout.x(at.max(layout.from).min(layout.to));
    let mut points = Vec::new();
    for (place, (at, token)) in lane.fence.iter().enumerate() {
        let ends = lane.fence.get(place + 1).map_or(until, |(next, _)| *next);
        if ends < layout.from || *at > layout.to {
            continue;
        }
        points.push((clamp(*at), levels.y(*token)));
        points.push((clamp(ends), levels.y(*token)));
    }
    points
}

pub(super) fn store(pen: &mut Pen<'_>, view: &View<'_>) {
    let layout = pen.layout;
    let Some(area) = layout.lane(MachineId::Store) else { return };
    if view.totals.is_some() || view.checks.is_some() {
        return;
    }
    let Some(levels) = Levels::new(layout, &[&view.store]) else { return };
    let points = fence_points(pen, &levels, &view.store, view.until);
    if let (Some(first), Some(last)) = (points.first(), points.last()) {
        let mut ground = points.clone();
        ground.push((last.0, levels.base));
        ground.push((first.0, levels.base));
        pen.svg.polygon("fence-ground", &ground);
        pen.svg.polyline("fence", &points);
    }
    // No label covers a mark.
    for mark in &view.store.marks {
        let swept = matches!(mark.what, What::OrphanSeen | What::Requeued);
        let (x, y) = (layout.x(mark.at), if swept { area.bottom - 8.0 } else { levels.y(mark.height()) });
        pen.labels.reserve(Area { left: x - 5.0, top: y - 5.0, right: x + 5.0, bottom: y + 5.0 });
    }
    // Refusals come first: they are what a reader looks for.
    for mark in &view.store.marks {
        let What::Refused { worker, .. } = &mark.what else { continue };
        if !pen.sees(mark.at) {
            continue;
        }
        let y = levels.y(mark.height());
        let text = mark.what.refusal().unwrap_or_default();
        let class = format!("cross refused {}", worker_class((*worker).into()));
        pen.svg.cross(&class, (layout.x(mark.at), y), 7.0, &text);
        // Of several that are refused together and alike, one is told.
        let alike = |other: &&store::Mark| other.at == mark.at && other.what.refused_as() == mark.what.refused_as();
        if !layout.of_labs() || view.store.marks.iter().find(alike).is_some_and(|first| first.what == mark.what) {
            pen.pill(mark.at, y, &[&text, "refused"]);
        }
    }
    for mark in &view.store.marks {
        if !pen.sees(mark.at) {
            continue;
        }
        let x = layout.x(mark.at);
        let y = levels.y(mark.fence);
        let at = mark.at.told();
        match &mark.what {
            What::Written { worker, chunk, again, times, .. } => {
                let class = worker_class((*worker).into());
                if *again {
                    let place = (x, levels.y(mark.height()));
                    pen.svg.circle(&format!("write again {class}"), place, 6.5, &format!("chunk {chunk} again, {at}"));
                    let how_often =
                        if *times == 2 { "charged twice".to_owned() } else { format!("charged {times} times") };
                    let text = format!("{worker}’s chunk {chunk}: {how_often}");
                    // Of several at one instant the last one says it all.
                    let later = |other: &store::Mark| match &other.what {
                        What::Written { chunk: of, times: more, .. } => {
                            other.at == mark.at && of == chunk && more > times
                        }
                        _ => false,
                    };
                    if !view.store.marks.iter().any(later) {
                        pen.pill(mark.at, place.1, &[&text, &how_often]);
                    }
                } else {
                    let title = format!("{worker}’s chunk {chunk} recorded at {at}");
                    pen.svg.circle(&format!("write {class}"), (x, y), 5.0, &title);
                }
            }
            What::Done(_) => {
                pen.svg.diamond("done", (x, y), 6.0, &format!("DONE at {at}"));
                let _ = pen.label("note strong", NOTE, (x + 10.0, y - 8.0), Anchor::Start, "DONE")
                    || pen.label("note strong", NOTE, (x - 10.0, y - 8.0), Anchor::End, "DONE")
                    || pen.label("note strong", NOTE, (x + 6.0, y - 10.0), Anchor::End, "DONE");
            }
            What::OrphanSeen | What::Requeued => {
                let requeued = mark.what == What::Requeued;
                let (class, text) = if requeued { ("swept again", "re-queued") } else { ("swept", "orphan seen") };
                let place = (x, area.bottom - 8.0);
                pen.svg.diamond(class, place, 4.5, &format!("the sweeper: {text} at {at}"));
                let _ = pen.label("note", NOTE, (x + 10.0, place.1 + 3.0), Anchor::Start, text)
                    || pen.label("note", NOTE, (x - 10.0, place.1 + 3.0), Anchor::End, text);
            }
            What::Part { worker, what } => {
                let class = format!("write {}", worker_class((*worker).into()));
                pen.svg.circle(&class, (x, y), 2.5, &format!("{what} at {at}"));
                if mark.what.is_told() {
                    pen.label("note", NOTE, (x + 6.0, y - 8.0), Anchor::Start, what);
                }
            }
            What::Raised(_) | What::Refused { .. } => {}
        }
    }
    if view.versions {
        let rewritings = view.store.marks.iter().filter(|mark| mark.what.rewrites());
        for (mark, version) in rewritings.zip(1..) {
            if pen.sees(mark.at) {
                let place = (layout.x(mark.at), levels.y(mark.fence) + 17.0);
                pen.label("note", NOTE, place, Anchor::Middle, &format!("E{version}"));
            }
        }
    }
    for (place, (at, token)) in view.store.fence.iter().enumerate().skip(1) {
        let ends = view.store.fence.get(place + 1).map_or(view.until, |(next, _)| *next);
        if let Some((left, _)) = pen.visible(Stretch { from: *at, to: ends }) {
            let at = (left + 6.0, levels.y(*token) - 9.0);
            if view.store.not_compared.contains(token) {
                let _ = pen.label("fence-label", 12.0, at, Anchor::Start, &format!("token {token}, fence off"))
                    || pen.label("fence-label", 12.0, at, Anchor::Start, &format!("token {token}"));
            } else {
                pen.label("fence-label", 12.0, at, Anchor::Start, &format!("fence {token}"));
            }
        }
    }
}
