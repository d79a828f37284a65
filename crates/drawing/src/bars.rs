//! Who may act when, under several rules, one below the other.

use lease_lab_scenarios::Run;
use lease_lab_sim::machine::WorkerId;
use lease_lab_sim::time::{Span, TrueTime};

use crate::labels::{text_width, wrapped};
use crate::svg::{Anchor, Svg};
use crate::timeline::worker_class;
use crate::views::{Stretch, workers};

/// The times during which each worker may act, under one rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The rule, in a few words.
    pub name: String,
    /// Who, and when.
    pub acts: Vec<(WorkerId, Stretch)>,
    /// From one worker's end to the next one's start: an overlap if it is negative.
    pub between: Vec<(TrueTime, Span)>,
    /// From when on nobody may act although somebody waits, if that is so at the end of the run.
    pub waits_from: Option<TrueTime>,
    /// The end of the run.
    pub horizon: TrueTime,
}

impl Row {
    /// Reads a run.
    pub fn of(name: &str, run: &Run) -> Row {
        let mut acts: Vec<(WorkerId, Stretch)> = Vec::new();
        for (worker, lane) in workers::lanes(&run.events, run.horizon) {
            acts.extend(lane.holds.iter().map(|hold| (worker, hold.may_act)));
        }
        acts.sort_by_key(|(_, stretch)| stretch.from);
        let between = acts
            .windows(2)
            .filter(|pair| pair[0].0 != pair[1].0)
            .map(|pair| (pair[0].1.to.min(pair[1].1.from), pair[1].1.from - pair[0].1.to))
            .collect();
        let last = acts.iter().map(|(_, stretch)| stretch.to).max();
        let waits =
            WorkerId::ALL.iter().any(|id| run.end().worker(*id).is_some_and(|worker| worker.state_name() == "waiting"));
        let waits_from = last.filter(|last| waits && *last < run.horizon);
        Row { name: name.to_owned(), acts, between, waits_from, horizon: run.horizon }
    }

    /// What lies between the bars, in words, one line each; `true`: two may act.
    fn told(&self) -> Vec<(bool, String)> {
        let mut lines: Vec<(bool, String)> = Vec::new();
        for (at, span) in &self.between {
            let length = if *span < Span::ZERO { -*span } else { *span };
            let (from, to) = (at.told(), (*at + length).told());
            let length = length.told();
            if *span < Span::ZERO {
                lines.push((true, format!("overlap {length}\u{a0}s: two may act, {from}\u{a0}–\u{a0}{to}\u{a0}s")));
            } else {
                lines.push((false, format!("gap {length}\u{a0}s: nobody may act, {from}\u{a0}–\u{a0}{to}\u{a0}s")));
            }
        }
        if let Some(from) = self.waits_from {
            let text = format!("nobody may act from {}\u{a0}s to the end of the run, and somebody waits", from.told());
            lines.push((false, text));
        }
        lines
    }
}

const LEFT: f64 = 12.0;
const NOTE: f64 = 11.0;
const LINE: f64 = 15.0;
const NAME_LINE: f64 = 18.0;
const BAR_HEIGHT: f64 = 20.0;
const ROW_GAP: f64 = 18.0;
/// Room for the numbers of the axis.
const AXIS: f64 = 24.0;

/// The latest end of a bar or of a wait, over all rows: the scale is the same for all, and none is cut off.
fn end_of(rows: &[Row]) -> TrueTime {
    let ends = rows.iter().flat_map(|row| {
        let ends = row.acts.iter().map(|(_, stretch)| stretch.to);
        ends.chain(row.waits_from.map(|_| row.horizon))
    });
    ends.max().unwrap_or(TrueTime::ZERO).max(TrueTime::from_millis(1_000))
}

/// Draws the rows from the start to the last end; returns the content of an `svg` element and its height.
pub fn draw(rows: &[Row], width: f64) -> (String, f64) {
    let mut svg = Svg::default();
    let right = width - LEFT;
    let end = end_of(rows);
    let length = end.as_micros() as f64;
    let x = |at: TrueTime| LEFT + at.min(end).as_micros() as f64 / length * (right - LEFT);
    let mut y = 4.0;
    for row in rows {
        for line in wrapped(&row.name, 14.0, right - LEFT) {
            svg.text("name", (LEFT, y + 13.0), Anchor::Start, &line);
            y += NAME_LINE;
        }
        let top = y + 2.0;
        let workers: Vec<WorkerId> = {
            let mut seen: Vec<WorkerId> = Vec::new();
            for (worker, _) in &row.acts {
                if !seen.contains(worker) {
                    seen.push(*worker);
                }
            }
            seen
        };
        let bottom = top + BAR_HEIGHT * workers.len().max(1) as f64 + 4.0;
        svg.rect("lane", LEFT, top, right - LEFT, bottom - top, 0.0);
        for at in ticks(end, right - LEFT) {
            svg.line("grid", (x(at), top), (x(at), bottom));
        }
        for (at, span) in &row.between {
            let other = *at + if *span < Span::ZERO { -*span } else { *span };
            let class = if *span < Span::ZERO { "danger-field" } else { "gap-field" };
            svg.rect(class, x(*at), top, (x(other) - x(*at)).max(1.5), bottom - top, 0.0);
        }
        if let Some(from) = row.waits_from {
            svg.rect("gap-field", x(from), top, x(row.horizon) - x(from), bottom - top, 0.0);
        }
        for (worker, stretch) in &row.acts {
            let place = workers.iter().position(|other| other == worker).unwrap_or(0) as f64;
            let (left, end) = (x(stretch.from), x(stretch.to));
            let bar_top = top + 2.0 + place * BAR_HEIGHT;
            let class = worker_class((*worker).into());
            svg.rect(&format!("may-act {class}"), left, bar_top, (end - left).max(2.0), BAR_HEIGHT - 4.0, 3.0);
            label(&mut svg, row, (*worker, *stretch), (right, bar_top + 12.0), x);
        }
        y = bottom + 2.0;
        for (two, text) in row.told() {
            let class = if two { "note danger-text" } else { "note strong" };
            for line in wrapped(&text, NOTE * 1.1, right - LEFT) {
                svg.text(class, (LEFT, y + 12.0), Anchor::Start, &line);
                y += LINE;
            }
        }
        y += ROW_GAP;
    }
    y -= ROW_GAP - 4.0;
    for at in ticks(end, right - LEFT) {
        let anchor = if at == TrueTime::ZERO { Anchor::Start } else { Anchor::Middle };
        svg.line("grid", (x(at), y), (x(at), y + 5.0));
        svg.text("tick", (x(at).min(right - 12.0), y + 17.0), anchor, &format!("{at} s"));
    }
    (svg.finish(), y + AXIS)
}

/// Who may act from when to when: in the bar, or beside it, as long as there is room.
fn label(
    svg: &mut Svg,
    row: &Row,
    (worker, during): (WorkerId, Stretch),
    (right, baseline): (f64, f64),
    x: impl Fn(TrueTime) -> f64,
) {
    let (left, end) = (x(during.from), x(during.to));
    let from = during.from.told();
    let (to, unit) = if during.to >= row.horizon { ("the end".to_owned(), "") } else { (during.to.told(), " s") };
    let class = worker_class(worker.into());
    let texts =
        [format!("{worker} may act {from} – {to}{unit}"), format!("{worker} {from} – {to}"), worker.to_string()];
    for text in texts {
        // Bold letters are wider.
        let width = text_width(&text, NOTE * 1.1);
        // What is beside the bar must not lie on another one.
        let free = |from: f64, to: f64| {
            !row.acts.iter().any(|(other, stretch)| {
                *other == worker && *stretch != during && x(stretch.from) < to && from < x(stretch.to)
            })
        };
        let (class, at, anchor) = if width + 12.0 < end - left {
            (format!("in-bar {class}"), left + 6.0, Anchor::Start)
        } else if end + width + 8.0 < right && free(end, end + width + 8.0) {
            ("note strong".to_owned(), end + 6.0, Anchor::Start)
        } else if left - width - 8.0 > LEFT && free(left - width - 8.0, left) {
            ("note strong".to_owned(), left - 6.0, Anchor::End)
        } else {
            continue;
        };
        svg.text(&class, (at, baseline), anchor, &text);
        return;
    }
}

/// The instants that the axis names.
fn ticks(end: TrueTime, width: f64) -> Vec<TrueTime> {
    const STEPS_SECONDS: [i64; 9] = [1, 2, 5, 10, 20, 30, 60, 120, 300];
    const ROOM: f64 = 52.0;
    let seconds = end.as_seconds().max(1.0);
    let step = STEPS_SECONDS.into_iter().find(|step| *step as f64 / seconds * width >= ROOM).unwrap_or(600);
    (0..).map(|count| TrueTime::from_millis(count * step * 1_000)).take_while(|at| *at <= end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lease_lab_scenarios::run::Input;
    use lease_lab_sim::intervention::parse_list;

    fn row(list: &str) -> Row {
        let scenario = lease_lab_scenarios::find("billing-story").expect("the story exists");
        let interventions = parse_list(list).expect("the test's list can be read");
        let run = Run::new(scenario, Input { interventions: Some(interventions), ..Input::default() });
        Row::of(list, &run.expect("it makes sense"))
    }

    #[test]
    fn a_takeover_leaves_a_gap() {
        let row = row("4 pause A 15; 21 crash B");
        assert_eq!(row.acts[0].0, WorkerId::A);
        assert_eq!(row.acts[1].0, WorkerId::B);
        let (_, gap) = row.between[0];
        // B is granted the lock at 13.5; A had to stop at 11.0.
        assert!((gap - Span::millis(2_500)).as_micros().abs() < 50_000, "{gap}");
    }

    #[test]
    fn two_that_may_act_overlap() {
        // A's clock is so slow that it reaches its stop time long after B has the lock.
        let row = row("0 rate A 0.1; 1 isolate A");
        assert!(row.between.iter().any(|(_, span)| *span < Span::ZERO), "{row:?}");
        let (svg, height) = draw(&[row], 600.0);
        assert!(svg.contains("overlap") && height > 40.0);
    }

    #[test]
    fn who_waits_for_ever_is_told() {
        // A plain lock has no end: A dies with it, and B waits.
        let scenario = lease_lab_scenarios::find("lock-lease-fence").expect("it is a lab");
        let variant =
            scenario.variants.iter().find(|variant| variant.name == "A dies: a plain lock").expect("it is one");
        let interventions = parse_list(variant.adds).expect("it can be read");
        let run = Run::new(scenario, Input { interventions: Some(interventions), ..Input::default() });
        let row = Row::of(variant.name, &run.expect("it makes sense"));
        let (svg, _) = draw(std::slice::from_ref(&row), 300.0);
        assert!(row.waits_from.is_some() && svg.contains("gap-field") && svg.contains("somebody"), "{row:?}");
    }

    #[test]
    fn nothing_is_cut_off_at_any_width() {
        let rows = [row(""), row("0 rate A 0.1; 1 isolate A")];
        for width in [240.0, 320.0, 700.0] {
            let (svg, _) = draw(&rows, width);
            for part in svg.split("<text ").skip(1) {
                let number = |name: &str| {
                    let value = part.split(&format!("{name}=\"")).nth(1).and_then(|rest| rest.split('"').next());
                    value.and_then(|value| value.parse::<f64>().ok()).unwrap_or(-1.0)
                };
                let text = part.split('>').nth(1).and_then(|rest| rest.split('<').next()).unwrap_or_default();
                let length = text_width(text, NOTE);
                let (left, right) = match part {
                    part if part.contains("\"end\"") => (number("x") - length, number("x")),
                    part if part.contains("\"middle\"") => (number("x") - length / 2.0, number("x") + length / 2.0),
                    _ => (number("x"), number("x") + length),
                };
                assert!(left >= 0.0 && right <= width, "“{text}” at {width} px");
            }
        }
    }
}
