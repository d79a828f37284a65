//! Where the lanes are, and how true time maps to pixels.

use lease_lab_scenarios::Run;
use lease_lab_sim::event::{Event, Kind};
use lease_lab_sim::machine::{JobId, MachineId, NodeId, WorkerId};
use lease_lab_sim::models::Model;
use lease_lab_sim::settings::Renewer;
use lease_lab_sim::settings::ServiceKind;
use lease_lab_sim::time::TrueTime;

use super::Options;
use crate::LABS;
use crate::views::{Stretch, workers};

/// Below this width names are short and lanes are close together.
const COMPACT_BELOW: f64 = 640.0;

/// More locks than these are not told apart on a bar.
const SLOTS_MAX: u16 = 3;

/// Geometry of a timeline in CSS pixels.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// Width of the whole drawing.
    pub width: f64,
    /// Height of the whole drawing.
    pub height: f64,
    /// Left edge of the part in which time runs.
    pub plot_left: f64,
    /// Its right edge.
    pub plot_right: f64,
    /// Where the lanes begin.
    pub lanes_top: f64,
    /// Where they end and the axis begins.
    pub lanes_bottom: f64,
    /// True time at the left edge.
    pub from: TrueTime,
    /// True time at the right edge.
    pub to: TrueTime,
    /// Short names.
    pub compact: bool,
    /// Every lane, from top to bottom.
    pub lanes: Vec<LaneArea>,
    /// The lane of the lock service's keys.
    pub keys: (f64, f64),
    /// What the lock service's lanes are called, in short and in full.
    pub service_name: (&'static str, &'static str),
    /// What the store's lane is called.
    pub store_name: &'static str,
    /// How many locks a worker's bar is split into.
    pub slots: u16,
    /// Whether this is no run of the story.
    is_of_labs: bool,
    /// How many workers have no lane.
    pub workers_more: usize,
}

/// One lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaneArea {
    /// Whose.
    pub machine: MachineId,
    /// Its upper edge.
    pub top: f64,
    /// Its lower edge.
    pub bottom: f64,
}

impl LaneArea {
    /// Its middle.
    pub fn middle(&self) -> f64 {
        (self.top + self.bottom) / 2.0
    }
}

impl Layout {
    pub(super) fn new(run: &Run, ghost: Option<&Run>, options: Options) -> Layout {
        let compact = options.width < COMPACT_BELOW;
        let (label_width, right, worker_height, gap) =
            if compact { (44.0, 8.0, 36.0, 12.0) } else { (112.0, 16.0, 44.0, 20.0) };
        let (keys_height, node_height, store_height) = if compact { (40.0, 18.0, 100.0) } else { (44.0, 20.0, 112.0) };
        // Room for the flags, the cursor's label and the notes over the first lane.
        let lanes_top = if LABS && run.scenario.bookmarks.is_empty() { 40.0 } else { 60.0 };
        let mut lanes = Vec::new();
        let mut y = lanes_top;
        for worker in workers_shown(run, ghost, options) {
            lanes.push(LaneArea { machine: worker.into(), top: y, bottom: y + worker_height });
            y += worker_height;
            if LABS && has_sidecar(run, worker) {
                lanes.push(LaneArea { machine: MachineId::Sidecar(worker), top: y, bottom: y + node_height });
                y += node_height;
            }
            y += gap;
        }
        let has_locks = has_keys(run, ghost);
        let keys = (y, if has_locks { y + keys_height } else { y });
        if has_locks {
            y += keys_height;
            for machine in run.plan.service_machines() {
                lanes.push(LaneArea { machine, top: y, bottom: y + node_height });
                y += node_height;
            }
            y += gap;
        }
        if run.plan.model.is_none() {
            lanes.push(LaneArea { machine: MachineId::Store, top: y, bottom: y + store_height });
            y += store_height;
        } else {
            y -= gap;
        }
        if run.plan.partner.is_some() {
            y += gap;
            lanes.push(LaneArea { machine: MachineId::Partner, top: y, bottom: y + worker_height });
            y += worker_height;
        }
        let lanes_bottom = y;
        Layout {
            width: options.width,
            height: lanes_bottom + 26.0,
            plot_left: label_width,
            plot_right: options.width - right,
            lanes_top,
            lanes_bottom,
            from: options.from,
            to: options.to,
            compact,
            lanes,
            keys,
            service_name: match run.plan.model {
                Some(Model::Rent(_)) => ("Alloc", "Allocator"),
                Some(Model::Journal(_)) => ("Journ", "Journal"),
                _ => ("Lock", "Lock service"),
            },
            store_name: match (LABS && run.plan.writers.per_second > 0, compact) {
                (true, false) => "Fence item",
                (true, true) => "Item",
                _ => "Store",
            },
            slots: if (2..=SLOTS_MAX).contains(&run.plan.jobs) { run.plan.jobs } else { 1 },
            is_of_labs: run.scenario.terms.is_empty(),
            workers_more: run.plan.programs.iter().filter(|program| program.worker > WorkerId::D).count(),
        }
    }

    /// The upper edge and the height of the bar of `job`'s lock, where the bars of all lie around `middle`.
    pub fn bar(&self, middle: f64, job: JobId) -> (f64, f64) {
        const GAP: f64 = 2.0;
        let height = match self.slots {
            1 => return (middle - 10.0, 20.0),
            2 => 15.0,
            _ => 11.0,
        };
        let all = f64::from(self.slots) * (height + GAP) - GAP;
        (middle - all / 2.0 + f64::from(job.0.min(self.slots - 1)) * (height + GAP), height)
    }

    /// Pixels for a second.
    pub fn pixels_per_second(&self) -> f64 {
        let seconds = (self.to - self.from).as_micros() as f64 / 1e6;
        (self.plot_right - self.plot_left) / seconds.max(1e-6)
    }

    /// Whether what only the labs show is drawn as well: the story looks the same wherever it is drawn.
    pub(super) fn of_labs(&self) -> bool {
        LABS && self.is_of_labs
    }

    /// The place of an instant; outside the visible time it lies outside the plot.
    pub fn x(&self, at: TrueTime) -> f64 {
        self.plot_left + (at - self.from).as_micros() as f64 / 1e6 * self.pixels_per_second()
    }

    /// The instant at a place, within the visible time.
    pub fn time_at(&self, x: f64) -> TrueTime {
        let inside = x.clamp(self.plot_left, self.plot_right) - self.plot_left;
        let micros = inside / self.pixels_per_second() * 1e6;
        TrueTime::from_micros(self.from.as_micros() + micros.round() as i64)
    }

    /// The machine whose lane is at this height.
    pub fn machine_at(&self, y: f64) -> Option<MachineId> {
        self.lanes.iter().find(|lane| (lane.top..lane.bottom).contains(&y)).map(|lane| lane.machine)
    }

    /// A machine's lane.
    pub fn lane(&self, machine: MachineId) -> Option<LaneArea> {
        self.lanes.iter().find(|lane| lane.machine == machine).copied()
    }

    /// The lanes of the lock service's machines.
    pub fn service(&self) -> impl Iterator<Item = &LaneArea> + '_ {
        self.lanes.iter().filter(|lane| lane.machine.is_lock_service())
    }

    /// The lanes of the lock service's nodes.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, LaneArea)> + '_ {
        self.lanes.iter().filter_map(|lane| lane.machine.node().map(|node| (node, *lane)))
    }

    /// The lanes of the workers.
    pub fn workers(&self) -> impl Iterator<Item = (WorkerId, LaneArea)> + '_ {
        self.lanes.iter().filter_map(|lane| lane.machine.worker().map(|worker| (worker, *lane)))
    }
}

/// Whether a worker has a sidecar that does anything.
fn has_sidecar(run: &Run, worker: WorkerId) -> bool {
    let sidecar = MachineId::Sidecar(worker);
    run.plan.lock_rules.renewer == Renewer::Sidecar
        && run.events.iter().any(|event| event.machine == sidecar && !matches!(event.kind, Kind::NoEffect { .. }))
}

/// A, B and C, and D if it has anything to do; where there are more, they are only counted.
///
/// In a lab, who has nothing to do in the time that the lab is about, nor in what is shown, needs no lane.
fn workers_shown(run: &Run, ghost: Option<&Run>, options: Options) -> Vec<WorkerId> {
    let runs = || std::iter::once(run).chain(ghost);
    if LABS && run.scenario.window != (0, 0) {
        let at = |seconds: u16| TrueTime::from_millis(i64::from(seconds) * 1_000);
        let (from, to) = run.scenario.window;
        let seen = Stretch { from: at(from).min(options.from), to: at(to).max(options.to) };
        let lanes: Vec<_> = runs().map(|run| workers::lanes(&run.events, run.horizon)).collect();
        let has_a_part = |worker: WorkerId| {
            let in_lane = lanes.iter().filter_map(|lanes| lanes.get(&worker)).any(|lane| lane.has_a_part_in(seen));
            in_lane
                || runs().any(|run| {
                    let acts = |event: &Event| event.machine == worker.into() && !is_nothing_to_see(&event.kind);
                    run.events.iter().any(|event| (seen.from..=seen.to).contains(&event.t) && acts(event))
                })
        };
        let shown: Vec<WorkerId> = WorkerId::ALL.into_iter().filter(|worker| has_a_part(*worker)).collect();
        if !shown.is_empty() {
            return shown;
        }
    }
    let does_something = |worker: WorkerId| {
        run.plan.programs.iter().any(|program| program.worker == worker)
            || runs()
                .any(|run| run.events.iter().any(|event| event.machine == worker.into() && !is_nothing(&event.kind)))
    };
    WorkerId::ALL.into_iter().filter(|worker| does_something(*worker)).collect()
}

/// Whether there is a lock service, or a database that holds a lock beside its rows.
fn has_keys(run: &Run, ghost: Option<&Run>) -> bool {
    let grants = |run: &Run| run.events.iter().any(|event| matches!(event.kind, Kind::LeaseGranted { .. }));
    let in_rows = LABS && run.plan.service == ServiceKind::Database;
    run.plan.has_locks() && (!in_rows || std::iter::once(run).chain(ghost).any(grants))
}

/// What leaves nothing in a worker's lane: what it looks for in vain, and single messages.
fn is_nothing_to_see(kind: &Kind) -> bool {
    let in_vain = matches!(kind, Kind::Started | Kind::NoQueuedJob { .. } | Kind::MessageSent { .. });
    in_vain || is_nothing(kind)
}

/// What happens to a worker without its doing.
fn is_nothing(kind: &Kind) -> bool {
    matches!(kind, Kind::MessageReceived { .. } | Kind::NoEffect { .. })
}
