//! The timeline: true time from left to right, one lane for each machine.
//!
//! What the marks mean:
//! a solid bar may act; a dashed outline still believes, or would have had the right; hatching is frozen; a tinted bar
//! with an outline is what the lock service truly holds; a thick line leads; the rising line is the fence; a dot is an
//! accepted write, a cross a refused or lost one; a pale red field is the time in which somebody believes what is no
//! longer true.

mod lanes;
mod layout;
mod over;

use lease_lab_scenarios::Run;
use lease_lab_sim::machine::MachineId;
use lease_lab_sim::time::TrueTime;

use crate::LABS;
use crate::labels::Area;
use crate::svg::{Anchor, Svg};
pub use layout::{LaneArea, Layout};

/// What to draw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Width in CSS pixels; text keeps its size whatever the width.
    pub width: f64,
    /// The left edge in true time.
    pub from: TrueTime,
    /// The right edge in true time.
    pub to: TrueTime,
    /// Nothing that happens later is drawn.
    pub until: TrueTime,
}

/// A finished drawing.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    /// The content of an `svg` element of the layout's size.
    pub svg: String,
    /// Where things are, to find the time and the machine under a pointer.
    pub layout: Layout,
    /// The areas of all labels; no two overlap.
    pub labels: Vec<Area>,
    /// What went wrong, said beside its mark: drawn again over what dims the time after the cursor.
    pub pills: Vec<Pill>,
}

/// A text beside a mark.
#[derive(Clone, Debug, PartialEq)]
pub struct Pill {
    /// When what it tells happened.
    pub at: TrueTime,
    /// Its area.
    pub area: Area,
    /// The text.
    pub text: String,
}

/// Draws `run`, and `ghost`, the same run with one thing different, faintly behind it.
pub fn draw(run: &Run, ghost: Option<&Run>, options: Options) -> Timeline {
    let layout = Layout::new(run, ghost, options);
    let mut pen = lanes::Pen::new(&layout);
    lanes::background(&mut pen);
    let view = lanes::View::new(run, options.until);
    over::danger(&mut pen, &view);
    if LABS && let Some(ghost) = ghost {
        over::ghost(&mut pen, run, ghost, options.until);
    }
    over::flags(&mut pen, run, options.until);
    // Under the bars and the labels, which they would strike out.
    over::messages(&mut pen, &view);
    if LABS {
        lanes::keep_ticks_free(&mut pen, &view);
        lanes::totals(&mut pen, &view);
        lanes::model(&mut pen, &view);
    }
    lanes::store(&mut pen, &view);
    if LABS {
        lanes::partner(&mut pen, &view);
        lanes::sidecars(&mut pen, &view);
    }
    lanes::workers(&mut pen, &view);
    if LABS {
        lanes::waits(&mut pen, &view);
    }
    lanes::lock_service(&mut pen, &view);
    if LABS {
        lanes::redis_servers(&mut pen, &view);
        lanes::faults(&mut pen, &view);
    }
    let (svg, labels, pills) = pen.finish();
    Timeline { svg, layout, labels, pills }
}

impl Pill {
    /// Draws it.
    pub fn draw(&self, svg: &mut Svg) {
        let Area { left, top, right, bottom } = self.area;
        svg.rect("pill danger", left, top, right - left, bottom - top, (bottom - top) / 2.0);
        svg.text("pill-text", (left + 10.0, (top + bottom) / 2.0 + 4.0), Anchor::Start, &self.text);
    }
}

/// The class that gives a worker its colour everywhere.
pub fn worker_class(machine: MachineId) -> &'static str {
    match machine.worker().map(|worker| worker.0) {
        Some(0) => "worker-a",
        Some(1) => "worker-b",
        Some(2) => "worker-c",
        Some(3) => "worker-d",
        _ => "system",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lease_lab_scenarios::run::Input;
    use lease_lab_sim::intervention::parse_list;
    use lease_lab_sim::machine::WorkerId;

    fn run_with(list: &str) -> Run {
        let scenario = lease_lab_scenarios::find("billing-story").expect("the story exists");
        let mut interventions = scenario.own_interventions();
        interventions.extend(parse_list(list).expect("the test's list can be read"));
        Run::new(scenario, Input { interventions: Some(interventions), ..Input::default() }).expect("it makes sense")
    }

    fn at(seconds: f64) -> TrueTime {
        TrueTime::from_micros((seconds * 1e6) as i64)
    }

    fn options(width: f64, from: f64, to: f64, until: f64) -> Options {
        Options { width, from: at(from), to: at(to), until: at(until) }
    }

    const LISTS: [&str; 9] = [
        "",
        "0 fence off",
        "0 raise late; 40.2 acquire D",
        "10 partition n1 | n2,n3; 30 heal",
        "4 isolate A; 5 acquire D; 30 crash leader; 35 restart n1",
        "0 fence reject-equal; 13 pause store 5",
        "16 step-wall B -3; 0 rate A 1.1; 44 release C",
        "0 service redis; 8 pause primary 4; 30 restart replica",
        "0 service redlock; 7 step-wall r3 10; 20 crash r2; 21 restart r2 empty",
    ];

    #[test]
    fn labels_overlap_at_no_width_and_no_zoom() {
        for list in LISTS {
            let run = run_with(list);
            let ghost = run_with("0 fence off");
            for width in [288.0, 320.0, 720.0, 1200.0, 2400.0] {
                for (from, to) in [(0.0, 60.0), (0.0, 15.0), (12.0, 22.0), (18.9, 19.2), (46.5, 53.0), (59.0, 60.0)] {
                    let timeline = draw(&run, Some(&ghost), options(width, from, to, 60.0));
                    for (place, one) in timeline.labels.iter().enumerate() {
                        for other in &timeline.labels[place + 1..] {
                            assert!(!one.overlaps(other), "“{list}” at {width} px, {from}–{to} s: {one:?} {other:?}");
                        }
                        assert!(one.left >= 0.0 && one.right <= width, "“{list}” at {width} px: {one:?} is outside");
                    }
                }
            }
        }
    }

    #[test]
    fn redis_and_redlock_have_a_lane_for_each_server() {
        let whole = options(1200.0, 0.0, 60.0, 60.0);
        let redis = draw(&run_with("0 service redis"), None, whole);
        for machine in [MachineId::Primary, MachineId::Replica] {
            assert!(redis.layout.lane(machine).is_some(), "{machine}");
        }
        for text in ["key · 7", "primary from 49.0", "primary dies, 47.0", "lost 47.0"] {
            assert!(redis.svg.contains(text), "“{text}” is not in the drawing");
        }
        let redlock = draw(&run_with("0 service redlock; 7 step-wall r3 10"), None, whole);
        for number in 1..=5 {
            assert!(redlock.layout.lane(MachineId::Master(number)).is_some(), "r{number}");
        }
        for text in ["A’s key", "wall +10.0 s", "r1 dies, 47.0", "expires 13.0"] {
            assert!(redlock.svg.contains(text), "“{text}” is not in the drawing");
        }
    }

    #[test]
    fn the_story_says_what_happened_where() {
        let svg = draw(&run_with(""), None, options(1200.0, 0.0, 60.0, 60.0)).svg;
        for text in [
            "may act until 11.0",
            "may act until 27.5",
            "frozen 4.0 – 19.0",
            "key · 7",
            "key · 12",
            "expires 13.0",
            "A’s chunk 2 refused: 7 &lt; 12",
            "fence 15",
            "leader, term 2",
            "nobody holds it",
        ] {
            assert!(svg.contains(text), "“{text}” is not in the drawing");
        }
    }

    #[test]
    fn a_lease_item_is_replaced_and_never_expires() {
        for list in ["0 service lease-item", "0 service lease-item; 15 restore 0; 30 acquire D"] {
            let run = run_with(list);
            for (from, to) in [(0.0, 60.0), (9.0, 20.0), (12.9, 13.1)] {
                let timeline = draw(&run, None, options(1200.0, from, to, 60.0));
                for (place, one) in timeline.labels.iter().enumerate() {
                    assert!(timeline.labels[place + 1..].iter().all(|other| !one.overlaps(other)), "“{list}” {one:?}");
                }
            }
        }
        let svg = draw(&run_with("0 service lease-item"), None, options(1200.0, 0.0, 60.0, 60.0)).svg;
        for text in ["key · 1", "lease_until 13.0", "replaced 18.5", "lease_until 28.5", "table"] {
            assert!(svg.contains(text), "“{text}” is not in the drawing");
        }
        for text in ["expires", "leader"] {
            assert!(!svg.contains(text), "“{text}” is in the drawing");
        }
    }

    #[test]
    fn thousands_of_workers_have_four_lanes_and_a_number() {
        let scenario = lease_lab_scenarios::find("storm").expect("the storm is a lab");
        let run = Run::new(scenario, Input::default()).expect("it makes sense");
        for width in [320.0, 1200.0] {
            let timeline = draw(&run, None, options(width, 0.0, 120.0, 120.0));
            assert_eq!(timeline.layout.workers().count(), 4);
            assert!(timeline.svg.len() < 100_000, "{} bytes", timeline.svg.len());
            for (place, one) in timeline.labels.iter().enumerate() {
                assert!(timeline.labels[place + 1..].iter().all(|other| !one.overlaps(other)), "{one:?}");
            }
        }
        let svg = draw(&run, None, options(1200.0, 0.0, 120.0, 120.0)).svg;
        let more = run.plan.programs.len() - 4;
        for text in
            [&format!("and {} more", lease_lab_sim::time::grouped(more as u64)), "1,000 locks held", "no locks held"]
        {
            assert!(svg.contains(text), "“{text}” is not in the drawing");
        }
    }

    #[test]
    fn a_sidecar_has_a_lane_below_its_worker_and_a_candidate_waits_until_its_key_is_the_oldest() {
        for (id, list, has_sidecar) in [
            ("sidecar", "9 crash sidecar-A", true),
            ("sidecar", "0 set renewer app", false),
            ("election", "", false),
            ("herd", "", false),
        ] {
            let scenario = lease_lab_scenarios::find(id).expect("it is a lab");
            let mut interventions = scenario.own_interventions();
            interventions.extend(parse_list(list).expect("it can be read"));
            let run = Run::new(scenario, Input { interventions: Some(interventions), ..Input::default() });
            let run = run.expect("it makes sense");
            let end = run.horizon.as_seconds();
            for width in [320.0, 1200.0] {
                for (from, to) in [(0.0, end), (8.0, 16.0)] {
                    let Timeline { layout, labels, .. } = draw(&run, None, options(width, from, to, end));
                    for (place, one) in labels.iter().enumerate() {
                        assert!(labels[place + 1..].iter().all(|other| !one.overlaps(other)), "{id}: {one:?}");
                    }
                    let lane = |machine| layout.lane(machine);
                    let sidecar = lane(MachineId::Sidecar(WorkerId::A));
                    assert_eq!(sidecar.is_some(), has_sidecar, "{id} {list}");
                    if let Some(sidecar) = sidecar {
                        assert_eq!(Some(sidecar.top), lane(WorkerId::A.into()).map(|worker| worker.bottom));
                    }
                }
            }
        }
        let election = lease_lab_scenarios::find("election").expect("it is a lab");
        let run = Run::new(election, Input::default()).expect("it makes sense");
        let lanes = crate::views::workers::lanes(&run.events, run.horizon);
        let watches = &lanes.get(&WorkerId::C).expect("C is a candidate").watches;
        let [(stretch, 12)] = watches[..] else { panic!("{watches:?}") };
        // C queues at 13.5, and B renewed last at 19.5, for 10 s.
        for (at, expected) in [(stretch.from, 13.5), (stretch.to, 19.5 + 10.0)] {
            assert!((at.as_seconds() - expected).abs() < 0.1, "{at}, expected {expected}");
        }
    }

    #[test]
    fn who_knows_no_stop_time_is_drawn_without_one() {
        let scenario = lease_lab_scenarios::find("one-database").expect("it exists");
        for text in ["", "0 set authority session"] {
            let mut interventions = scenario.own_interventions();
            interventions.extend(parse_list(text).expect("it can be read"));
            let run = Run::new(scenario, Input { interventions: Some(interventions), ..Input::default() });
            let svg = draw(&run.expect("it makes sense"), None, options(1200.0, 0.0, 24.0, 45.0)).svg;
            assert!(svg.contains("believes until it is told") && !svg.contains("1000000"), "“{text}”");
            assert_eq!(svg.contains("expires 13.05"), !text.is_empty(), "“{text}”");
        }
    }

    #[test]
    fn the_small_models_have_lanes_of_their_own() {
        for (id, texts) in [
            ("not-this-lease", ["Allocator", "40 units", "100 units granted"]),
            ("fences-elsewhere", ["Journal", "epoch 2", "fenced below 2"]),
            ("how-much", ["Lock service", "key · 1", "key · 2"]),
        ] {
            let scenario = lease_lab_scenarios::find(id).expect("it is a lab");
            let run = Run::new(scenario, Input::default()).expect("it makes sense");
            let end = run.horizon.as_seconds();
            for width in [320.0, 1200.0] {
                for (from, to) in [(0.0, end), (8.0, 16.0)] {
                    let timeline = draw(&run, None, options(width, from, to, end));
                    for (place, one) in timeline.labels.iter().enumerate() {
                        assert!(timeline.labels[place + 1..].iter().all(|other| !one.overlaps(other)), "{id}: {one:?}");
                    }
                    assert!(!timeline.svg.contains(">Store<"), "{id} has no store");
                }
            }
            let svg = draw(&run, None, options(1200.0, 0.0, end, end)).svg;
            for text in texts {
                assert!(svg.contains(text), "{id}: “{text}” is not in the drawing");
            }
        }
    }

    #[test]
    fn what_has_not_happened_yet_is_not_drawn() {
        let svg = draw(&run_with(""), None, options(1200.0, 0.0, 60.0, 19.0)).svg;
        for text in ["refused", "may act until 27.5", "key · 15", "term 2", "fence 15", "29.5", "dies"] {
            assert!(!svg.contains(text), "“{text}” is in the drawing at 19.0");
        }
        assert!(svg.contains("may act until 11.0"));
    }

    #[test]
    fn every_intervention_changes_the_drawing() {
        let whole = options(1200.0, 0.0, 60.0, 60.0);
        let story = draw(&run_with(""), None, whole).svg;
        for list in LISTS.iter().skip(1).take(5) {
            assert_ne!(draw(&run_with(list), None, whole).svg, story, "“{list}” changes nothing");
        }
    }

    #[test]
    fn time_and_place_are_found_again() {
        let layout = draw(&run_with(""), None, options(1200.0, 0.0, 60.0, 60.0)).layout;
        for seconds in [0.0, 4.0, 19.05, 60.0] {
            let found = layout.time_at(layout.x(at(seconds)));
            assert!((found.as_seconds() - seconds).abs() < 0.001, "{seconds} is found at {found}");
        }
        for lane in &layout.lanes {
            assert_eq!(layout.machine_at((lane.top + lane.bottom) / 2.0), Some(lane.machine));
        }
    }

    /// The whole run of a scenario with more interventions, as text.
    fn drawn(id: &str, list: &str) -> String {
        let scenario = lease_lab_scenarios::find(id).expect("it is a scenario");
        let mut interventions = scenario.own_interventions();
        interventions.extend(parse_list(list).expect("the test's list can be read"));
        let input = Input { interventions: Some(interventions), ..Input::default() };
        let run = Run::new(scenario, input).expect("it makes sense");
        let options = Options { width: 2_000.0, from: TrueTime::ZERO, to: run.horizon, until: run.horizon };
        draw(&run, None, options).svg
    }

    #[test]
    fn other_stores_and_what_stands_beside_them_are_drawn() {
        for (id, list, told) in [
            ("fence-s3", "", vec![">E1<", ">E3<", "A’s chunk 2 refused: 412"]),
            ("side-effects", "", vec![">Partner<", "A’s chunk 2: told twice"]),
            ("side-effects", "0 set idempotency-key on", vec!["recognised, dropped"]),
            (
                "hot-fence",
                "0 set load 600; 0 set attempts 1",
                vec!["500 checks served a second", "100 throttled a second"],
            ),
            ("no-lock", "0 set way skip-locked; 2 crash A", vec!["A gets the job", "B gets the job"]),
            ("sidecar", "9 crash sidecar-A", vec![">sidecar<", ">renews<", "sidecar-A dies, 9.0"]),
            ("election", "", vec!["watches key 12"]),
        ] {
            let svg = drawn(id, list);
            for text in told {
                assert!(svg.contains(text), "{id}, {list}: “{text}” is missing");
            }
        }
        // Nobody asks a lock service here, so there is no lane of one.
        assert!(!drawn("no-lock", "").contains("Lock service"));
        assert!(drawn("three-ways", "0 set coordination lock").contains("Lock service"));
    }
}
