//! A drawing of a row's states and the arrows between them; those that the run took stand out.

use lease_lab_sim::store::RowState;

use crate::svg::{Anchor, Svg};
use crate::views::row_states::Arrow;

/// Below this width the boxes are narrow, and the numbers short.
const NARROW_BELOW: f64 = 420.0;
const BOX_HEIGHT: f64 = 34.0;
/// Room over the boxes for the arrow from RUNNING to itself, and under them for the way back.
const ABOVE: f64 = 46.0;
const BELOW: f64 = 44.0;

/// The height of the drawing.
pub const HEIGHT: f64 = ABOVE + BOX_HEIGHT + BELOW;

/// Draws the states; returns the content of an `svg` element of this width and of [`HEIGHT`].
/// Each arrow carries how often it was taken; what it is stands in the list beside the drawing.
pub fn draw(arrows: &[Arrow], width: f64) -> String {
    let narrow = width < NARROW_BELOW;
    let box_width = if narrow { 74.0 } else { 92.0 };
    let mut svg = Svg::default();
    let middle = ABOVE + BOX_HEIGHT / 2.0;
    let left = |state: RowState| match state {
        RowState::Queued => 4.0,
        RowState::Running => (width - box_width) / 2.0,
        RowState::Done => width - box_width - 4.0,
    };
    for arrow in arrows {
        let class = match (arrow.taken.is_empty(), arrow.refused.is_empty()) {
            (false, _) => "arrow taken",
            (true, false) => "arrow refused",
            (true, true) => "arrow",
        };
        let (from, to) = (left(arrow.from), left(arrow.to));
        let (points, label) = match (arrow.from, arrow.to) {
            (RowState::Running, RowState::Running) => {
                let (a, b, top) = (from + 24.0, from + box_width - 24.0, ABOVE - 22.0);
                (vec![(a, ABOVE), (a, top), (b, top), (b, ABOVE)], ((a + b) / 2.0, top - 6.0))
            }
            (RowState::Running, RowState::Queued) => {
                let (a, b) = (from + box_width / 2.0, to + box_width / 2.0);
                let (edge, bottom) = (ABOVE + BOX_HEIGHT, ABOVE + BOX_HEIGHT + 22.0);
                (vec![(a, edge), (a, bottom), (b, bottom), (b, edge)], ((a + b) / 2.0, bottom + 15.0))
            }
            _ => {
                let (a, b) = (from + box_width, to);
                (vec![(a, middle), (b, middle)], ((a + b) / 2.0, middle - 8.0))
            }
        };
        svg.polyline(class, &points);
        if let [.., before, tip] = points[..] {
            head(&mut svg, class, before, tip);
        }
        svg.text("note", label, Anchor::Middle, &times(arrow, narrow));
    }
    for state in [RowState::Queued, RowState::Running, RowState::Done] {
        svg.rect("state", left(state), ABOVE, box_width, BOX_HEIGHT, 8.0);
        svg.text("name", (left(state) + box_width / 2.0, middle + 4.0), Anchor::Middle, &state.to_string());
    }
    svg.finish()
}

fn times(arrow: &Arrow, narrow: bool) -> String {
    match (arrow.taken.len(), arrow.refused.len()) {
        (0, 0) => "–".into(),
        // The table beside it has the rest.
        (taken, _) if narrow => format!("{taken}×"),
        (taken, 0) => format!("{taken}×"),
        (0, refused) => format!("{refused}× refused"),
        (taken, refused) => format!("{taken}×, {refused}× refused"),
    }
}

/// The head of an arrow that runs along one of the axes.
fn head(svg: &mut Svg, class: &str, before: (f64, f64), tip: (f64, f64)) {
    const LENGTH: f64 = 7.0;
    const HALF: f64 = 4.0;
    let (dx, dy) = ((tip.0 - before.0).signum(), (tip.1 - before.1).signum());
    let points = if before.1 == tip.1 {
        [tip, (tip.0 - dx * LENGTH, tip.1 - HALF), (tip.0 - dx * LENGTH, tip.1 + HALF)]
    } else {
        [tip, (tip.0 - HALF, tip.1 - dy * LENGTH), (tip.0 + HALF, tip.1 - dy * LENGTH)]
    };
    svg.polygon(&class.replace("arrow", "arrow-head"), &points);
}

#[cfg(test)]
mod tests {
    use super::*;
    use lease_lab_scenarios::Run;
    use lease_lab_scenarios::run::Input;
    use lease_lab_sim::machine::JobId;

    #[test]
    fn what_the_run_took_stands_out() {
        let scenario = lease_lab_scenarios::find("orphan").expect("it is a lab");
        let run = Run::new(scenario, Input::default()).expect("it makes sense");
        let arrows = crate::views::row_states::arrows(&run.events, JobId::FIRST);
        for width in [300.0, 640.0] {
            let svg = draw(&arrows, width);
            assert_eq!(svg.matches("arrow taken").count(), 4);
            assert!(["QUEUED", "RUNNING", "DONE", "2×"].iter().all(|text| svg.contains(text)));
        }
        let none = draw(&crate::views::row_states::arrows(&[], JobId::FIRST), 300.0);
        assert_eq!(none.matches("arrow taken").count(), 0);
    }
}
