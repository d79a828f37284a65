//! The row's states, and the arrows that this run took up to the cursor.

use lease_lab_drawing::svg::{Anchor, Svg};
use lease_lab_drawing::views::row_states::{self, Arrow, Taken};
use lease_lab_drawing::views::up_to;
use lease_lab_sim::machine::JobId;
use lease_lab_sim::store::RowState;
use leptos::prelude::*;

use crate::html::{Html, follow_jump};
use crate::state::Lab;

pub(super) fn card(lab: Lab) -> impl IntoView {
    let arrows = Memo::new(move |_| {
        let run = lab.run.read();
        row_states::arrows(up_to(&run.events, lab.cursor.get()), JobId::FIRST)
    });
    view! {
        <section class="card extra" aria-labelledby="row-states-title" on:click=move |event| follow_jump(lab, &event)>
            <h2 id="row-states-title">
                {Signal::derive(move || format!("The row’s states, up to {} s", lab.cursor.get().told()))}
            </h2>
            <svg class="row-states" role="img" aria-label="Three states, QUEUED, RUNNING and DONE, and four arrows between them; the table below has the same." viewBox="0 0 620 150">
                <g class="drawing" inner_html=Signal::derive(move || diagram(&arrows.read()))></g>
            </svg>
            <div inner_html=Signal::derive(move || table(&arrows.read()))></div>
        </section>
    }
}

type Point = (f64, f64);

/// Where each arrow runs, in the order of the arrows: its path, its head, and its name's place.
const PATHS: [(&str, Point, Point); 4] = [
    ("M130 66 H250", (250.0, 66.0), (190.0, 58.0)),
    ("M285 50 C285 10 335 10 335 46", (335.0, 50.0), (310.0, 12.0)),
    ("M250 92 H130", (130.0, 92.0), (190.0, 110.0)),
    ("M370 78 H490", (490.0, 78.0), (430.0, 70.0)),
];

fn diagram(arrows: &[Arrow]) -> String {
    let mut svg = Svg::default();
    for (name, x) in [("QUEUED", 10.0), ("RUNNING", 250.0), ("DONE", 490.0)] {
        svg.rect("state", x, 50.0, 120.0, 56.0, 10.0);
        svg.text("name", (x + 60.0, 83.0), Anchor::Middle, name);
    }
    for (arrow, (path, head, at)) in arrows.iter().zip(PATHS) {
        let class = if arrow.taken.is_empty() { "arrow" } else { "arrow taken" };
        svg.path(class, path);
        svg.path(&format!("{class} head"), &arrow_head(arrow, head));
        let times = arrow.taken.len();
        if times > 0 {
            svg.text(
                "note strong",
                at,
                Anchor::Middle,
                &if times == 1 { "once".into() } else { format!("{times} times") },
            );
        }
    }
    svg.finish()
}

fn arrow_head(arrow: &Arrow, (x, y): Point) -> String {
    let at = |x: f64, y: f64| format!("{} {}", x.round() as i64, y.round() as i64);
    let (one, other) = match (arrow.from == arrow.to, arrow.to == RowState::Queued) {
        (true, _) => ((x - 5.0, y - 9.0), (x + 5.0, y - 9.0)),
        (_, true) => ((x + 9.0, y - 5.0), (x + 9.0, y + 5.0)),
        _ => ((x - 9.0, y - 5.0), (x - 9.0, y + 5.0)),
    };
    format!("M{} L{} L{} Z", at(x, y), at(one.0, one.1), at(other.0, other.1))
}

fn table(arrows: &[Arrow]) -> String {
    let mut html = Html::default();
    html.open(
        "div",
        &[("class", "wide"), ("tabindex", "0"), ("role", "region"), ("aria-label", "Arrows between the states")],
    );
    html.open("table", &[])
        .element("caption", &[], "Every arrow, and when this run took it")
        .open("thead", &[])
        .open("tr", &[]);
    for head in ["Arrow", "What it is", "On condition", "Taken", "Refused"] {
        html.element("th", &[("scope", "col")], head);
    }
    html.close("tr").close("thead").open("tbody", &[]);
    for arrow in arrows {
        html.open("tr", &[]);
        html.element("th", &[("scope", "row")], &format!("{} → {}", arrow.from, arrow.to));
        html.element("td", &[], arrow.name).element("td", &[], arrow.condition);
        times(&mut html, &arrow.taken);
        times(&mut html, &arrow.refused);
        html.close("tr");
    }
    html.close("tbody").close("table").close("div");
    html.finish()
}

fn times(html: &mut Html, taken: &[Taken]) {
    html.open("td", &[]);
    for (place, one) in taken.iter().enumerate() {
        if place > 0 {
            html.text(", ");
        }
        html.jump("link", one.at, &format!("{} s", one.at.told())).text(&format!(" by {}", one.by));
    }
    if taken.is_empty() {
        html.text("–");
    }
    html.close("td");
}
