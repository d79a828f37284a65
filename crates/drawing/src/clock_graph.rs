//! The clock graph: what a machine's clocks show against true time, its stop time, and where they cross.
//!
//! It comes out as data: `lease-lab-graph` draws it, on a canvas on the page, as SVG in tests.

use crate::LABS;
use crate::views::clocks::{self, ClockTrack};
use crate::views::{up_to, workers};
use lease_lab_graph::{Dot, Graph, Line, Rgb};
use lease_lab_scenarios::Run;
use lease_lab_sim::event::Kind;
use lease_lab_sim::machine::{MachineId, WorkerId};
use lease_lab_sim::time::{Mono, Span, TrueTime, Wall};

/// Points of a line: true time and a clock's reading, in seconds.
type Points = Vec<(f64, f64)>;

/// A worker's clocks over a run.
#[derive(Clone, Debug)]
pub struct Clocks {
    /// Whose.
    pub worker: WorkerId,
    track: ClockTrack,
    /// Its stop time: from each of these instants on, as a reading; nothing while it holds nothing.
    stops: Vec<(TrueTime, Option<Mono>)>,
    until: TrueTime,
}

/// An instant at which a clock reaches the stop time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// The token that the stop time belongs to.
    pub token: u64,
    /// The stop time.
    pub stop: Mono,
    /// When the monotonic clock reaches it.
    pub mono_at: Option<TrueTime>,
    /// When the wall clock reaches the same reading.
    pub wall_at: Option<TrueTime>,
}

/// Colours and sizes, in pixels of the backend.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Text and axes.
    pub ink: Rgb,
    /// Grid.
    pub line: Rgb,
    /// The worker's own colour.
    pub worker: Rgb,
    /// The wall clock.
    pub wall: Rgb,
    /// The stop time.
    pub stop: Rgb,
    /// Pixels of the backend for one CSS pixel.
    pub scale: f64,
}

impl Clocks {
    /// The clocks of `worker` up to `until`.
    pub fn new(run: &Run, worker: WorkerId, until: TrueTime) -> Clocks {
        let events = up_to(&run.events, until);
        let machine = MachineId::Worker(worker);
        let track = clocks::tracks(events).remove(&machine).unwrap_or_default();
        let mut stops = vec![(TrueTime::ZERO, None)];
        for event in events.iter().filter(|event| event.machine == machine) {
            match &event.kind {
                Kind::LockAcquired { stop_time, .. } | Kind::RenewalConfirmed { stop_time, .. } => {
                    stops.push((event.t, Some(*stop_time)));
                }
                Kind::GaveUp { .. } | Kind::ReleaseSent { .. } | Kind::Crashed { .. } => stops.push((event.t, None)),
                _ => {}
            }
        }
        Clocks { worker, track, stops, until }
    }

    /// Where the clocks cross the last stop time of each hold: the graph's content as a table.
    pub fn crossings(&self, run: &Run) -> Vec<Crossing> {
        let lanes = workers::lanes(up_to(&run.events, self.until), self.until);
        let holds = lanes.get(&self.worker).map(|lane| lane.holds.as_slice()).unwrap_or_default();
        holds
            .iter()
            .map(|hold| {
                let from = hold.may_act.from;
                Crossing {
                    token: hold.token,
                    stop: hold.stop,
                    mono_at: self.track.when_mono(hold.stop, from, run.horizon),
                    wall_at: self.track.when_wall(Wall::from_micros(hold.stop.as_micros()), from, run.horizon),
                }
            })
            .collect()
    }

    /// Points of both clocks: every change and its ends, so that steps are vertical.
    fn points(&self, to: TrueTime) -> (Points, Points) {
        let mut times = vec![TrueTime::ZERO];
        for change in self.track.changes().filter(|change| *change <= to) {
            times.push(change - Span::micros(1));
            times.push(change);
        }
        times.push(to);
        let reading = |at: &TrueTime| (at.as_seconds(), self.track.reading(*at));
        times
            .iter()
            .filter(|at| **at >= TrueTime::ZERO)
            .map(reading)
            .map(|(t, reading)| ((t, reading.mono.as_seconds()), (t, reading.wall.as_seconds())))
            .unzip()
    }

    /// The graph from `from` to `to` of true time.
    pub fn graph(&self, run: &Run, (from, to): (TrueTime, TrueTime), style: Style) -> Graph {
        let seen_until = to.min(self.until);
        let (mono, wall) = self.points(seen_until);
        let in_view = |points: &[(f64, f64)]| {
            points.iter().filter(|(t, _)| *t >= from.as_seconds()).map(|(_, y)| *y).fold(0.0, f64::max)
        };
        let stop_top = self.stops.iter().filter_map(|(_, stop)| *stop).map(Mono::as_seconds).fold(0.0, f64::max);
        let top = in_view(&mono).max(in_view(&wall)).max(stop_top.min(to.as_seconds() * 1.1)).max(1.0);
        let low = self.track.reading(from.min(seen_until));
        let bottom = low.mono.as_seconds().min(low.wall.as_seconds()).min(top - 0.001);
        let mut graph = Graph {
            x: (from.as_seconds(), to.as_seconds()),
            y: (bottom, top),
            scale: style.scale,
            ink: style.ink,
            axis: style.line,
            lines: Vec::new(),
            dots: Vec::new(),
        };
        // The flat stop reading, while there is one.
        for (place, (since, stop)) in self.stops.iter().enumerate() {
            let Some(stop) = stop else { continue };
            let ends = self.stops.get(place + 1).map_or(self.until, |(next, _)| *next);
            let (left, right) = ((*since).max(from), ends.min(to));
            if left < right {
                let y = stop.as_seconds();
                let points = vec![(left.as_seconds(), y), (right.as_seconds(), y)];
                graph.lines.push(Line { color: style.stop, width: 1.5, points });
            }
        }
        // After it has let go or died, only dashes lead to where its clocks would have reached it.
        let crossings = self.crossings(run);
        for pair in self.stops.windows(2).filter(|_| LABS) {
            let [(_, Some(stop)), (ended, None)] = pair else { continue };
            let of_stop = crossings.iter().filter(|crossing| crossing.stop == *stop);
            let latest = of_stop.flat_map(|crossing| [crossing.mono_at, crossing.wall_at]).flatten().max();
            let Some(latest) = latest.map(|latest| latest.min(seen_until)).filter(|latest| latest > ended) else {
                continue;
            };
            let y = stop.as_seconds();
            let line = [((*ended).max(from).as_seconds(), y), (latest.as_seconds(), y)];
            for points in dashes(&line, (to - from).as_micros() as f64 / 1e6 / DASHES) {
                graph.lines.push(Line { color: style.stop, width: 1.0, points });
            }
        }
        graph.lines.push(Line { color: style.worker, width: 2.0, points: clip(&mono, from.as_seconds()) });
        // On top, so that both are seen where the two clocks agree.
        let dash = (to - from).as_micros() as f64 / 1e6 / DASHES;
        for points in dashes(&clip(&wall, from.as_seconds()), dash) {
            graph.lines.push(Line { color: style.wall, width: 2.0, points });
        }
        for crossing in crossings {
            let y = crossing.stop.as_seconds();
            for (at, filled) in [(crossing.mono_at, true), (crossing.wall_at, false)] {
                let Some(at) = at.filter(|at| (from..=seen_until).contains(at)) else { continue };
                let (color, radius) = if filled { (style.worker, 4.0) } else { (style.wall, 6.0) };
                graph.dots.push(Dot { color, at: (at.as_seconds(), y), radius, filled });
            }
        }
        graph
    }
}

/// How many dashes and gaps a dashed line has over the width of the graph.
const DASHES: f64 = 120.0;

/// The part of a line from `from` on.
fn clip(points: &[(f64, f64)], from: f64) -> Points {
    let mut clipped = Vec::new();
    for pair in points.windows(2) {
        let ((t0, y0), (t1, y1)) = (pair[0], pair[1]);
        if t1 < from {
            continue;
        }
        if t0 < from && t1 > t0 {
            clipped.push((from, y0 + (y1 - y0) * (from - t0) / (t1 - t0)));
        } else {
            clipped.push((t0, y0));
        }
        clipped.push((t1, y1));
    }
    clipped
}

/// Every other stretch of a line; `length` is in seconds of true time.
fn dashes(points: &[(f64, f64)], length: f64) -> Vec<Points> {
    let mut pieces = Vec::new();
    for pair in points.windows(2) {
        let ((t0, y0), (t1, y1)) = (pair[0], pair[1]);
        if t1 - t0 < length {
            // A step is drawn whole.
            pieces.push(vec![(t0, y0), (t1, y1)]);
            continue;
        }
        let at = |t: f64| (t, y0 + (y1 - y0) * (t - t0) / (t1 - t0));
        let mut t = t0;
        while t < t1 {
            pieces.push(vec![at(t), at((t + length).min(t1))]);
            t += 2.0 * length;
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use lease_lab_scenarios::run::Input;
    use lease_lab_sim::intervention::parse_list;
    use plotters_svg::SVGBackend;

    const STYLE: Style = Style {
        ink: (0, 0, 0),
        line: (0, 0, 0),
        worker: (0, 0, 255),
        wall: (0, 128, 0),
        stop: (255, 0, 0),
        scale: 1.0,
    };

    fn run(list: &str) -> Run {
        let scenario = lease_lab_scenarios::find("billing-story").expect("the story exists");
        let mut interventions = scenario.own_interventions();
        interventions.extend(parse_list(list).expect("the test's list can be read"));
        Run::new(scenario, Input { interventions: Some(interventions), ..Input::default() }).expect("it makes sense")
    }

    #[test]
    fn a_wall_clock_set_back_reaches_the_stop_time_late() {
        let run = run("16 step-wall B -3");
        let clocks = Clocks::new(&run, WorkerId::B, run.horizon);
        let crossings = clocks.crossings(&run);
        assert_eq!(crossings.len(), 1);
        let crossing = &crossings[0];
        let (mono, wall) = (crossing.mono_at.expect("it runs on"), crossing.wall_at.expect("it runs on"));
        assert_eq!((wall - mono).as_micros(), 3_000_000);
    }

    #[test]
    fn the_graph_can_be_drawn_for_every_worker_and_zoom() {
        for list in ["", "16 step-wall B -3", "0 rate A 0.5; 3 pause A 10 vm", "0 offset C 20", "0 offset C -20"] {
            let run = run(list);
            for worker in WorkerId::ALL {
                for (from, to) in [(0, 60), (12, 22), (19, 20)] {
                    let mut svg = String::new();
                    let window = (TrueTime::from_millis(from * 1000), TrueTime::from_millis(to * 1000));
                    let graph = Clocks::new(&run, worker, run.horizon).graph(&run, window, STYLE);
                    lease_lab_graph::plot::draw(&graph, SVGBackend::with_string(&mut svg, (600, 240)))
                        .expect("the backend writes into memory");
                    assert!(svg.contains("polyline"), "{list}, {worker}, {from}–{to} s");
                }
            }
        }
    }
}
