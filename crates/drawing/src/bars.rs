//! Who may act when, under several rules, one below the other.

use lease_lab_scenarios::Run;
use lease_lab_sim::machine::WorkerId;
use lease_lab_sim::time::{Span, TrueTime};

use crate::labels::text_width;
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
        Row { name: name.to_owned(), acts, between }
    }
}

const LEFT: f64 = 12.0;
const NAME_HEIGHT: f64 = 22.0;
const BAR_HEIGHT: f64 = 20.0;
const ROW_GAP: f64 = 18.0;

/// Draws the rows over `from` to `to`; returns the content of an `svg` element and its height.
pub fn draw(rows: &[Row], width: f64, from: TrueTime, to: TrueTime) -> (String, f64) {
    let mut svg = Svg::default();
    let right = width - LEFT;
    let length = (to - from).as_micros().max(1) as f64;
    let x = |at: TrueTime| LEFT + (at.max(from).min(to) - from).as_micros() as f64 / length * (right - LEFT);
    let mut y = 4.0;
    for row in rows {
        svg.text("name", (LEFT, y + 14.0), Anchor::Start, &row.name);
        let top = y + NAME_HEIGHT;
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
        for (worker, stretch) in &row.acts {
            let place = workers.iter().position(|other| other == worker).unwrap_or(0) as f64;
            let (left, end) = (x(stretch.from), x(stretch.to));
            let bar_top = top + 2.0 + place * BAR_HEIGHT;
            let class = format!("may-act {}", worker_class((*worker).into()));
            svg.rect(&class, left, bar_top, (end - left).max(2.0), BAR_HEIGHT - 4.0, 3.0);
            let text = format!("{worker} may act {} – {}", stretch.from.told(), stretch.to.told());
            let inside = text_width(&text, 11.0) + 12.0 < end - left;
            let (class, at, anchor) = match (inside, end + text_width(&text, 11.0) + 8.0 < right) {
                (true, _) => ("in-bar", left + 6.0, Anchor::Start),
                (false, true) => ("note strong", end + 6.0, Anchor::Start),
                (false, false) => ("note strong", left - 6.0, Anchor::End),
            };
            svg.text(&format!("{class} {}", worker_class((*worker).into())), (at, bar_top + 12.0), anchor, &text);
        }
        for (at, span) in &row.between {
            let other = *at + if *span < Span::ZERO { -*span } else { *span };
            let (left, end) = (x(*at), x(other));
            let (class, text) = if *span < Span::ZERO {
                ("danger-field", format!("overlap {} s", (-*span).told()))
            } else {
                ("gap-field", format!("gap {} s", span.told()))
            };
            svg.rect(class, left, top, (end - left).max(1.5), bottom - top, 0.0);
            // Beside the name, over the place that it speaks of.
            let place = ((left + end) / 2.0).max(LEFT + text_width(&row.name, 13.0) + 60.0).min(right - 40.0);
            svg.text("note strong", (place, y + 14.0), Anchor::Middle, &text);
        }
        y = bottom + ROW_GAP;
    }
    (svg.finish(), y)
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
        let (svg, height) = draw(&[row], 600.0, TrueTime::ZERO, TrueTime::from_millis(60_000));
        assert!(svg.contains("overlap") && height > 40.0);
    }
}
