//! The row's states, and the arrows that this run took up to the cursor.

use lease_lab_drawing::row_states;
use lease_lab_drawing::svg::px;
use lease_lab_drawing::views::row_states::{Arrow, Taken, arrows as arrows_of};
use lease_lab_drawing::views::up_to;
use lease_lab_sim::machine::JobId;
use leptos::prelude::*;

use super::extras;
use crate::html::{Html, follow_jump};
use crate::state::Lab;

pub(super) fn card(lab: Lab) -> impl IntoView {
    let arrows = Memo::new(move |_| {
        let run = lab.run.read();
        arrows_of(up_to(&run.events, lab.cursor.get()), JobId::FIRST)
    });
    let (place, width) = extras::measured();
    view! {
        <section class="card extra" aria-labelledby="row-states-title" on:click=move |event| follow_jump(lab, &event)>
            <h2 id="row-states-title">
                {Signal::derive(move || format!("The row’s states, up to {} s", lab.cursor.get().told()))}
            </h2>
            <div class="row-states" node_ref=place>
                <svg
                    role="img"
                    aria-label="Three states, QUEUED, RUNNING and DONE, and four arrows between them; the table below has the same."
                    width=Signal::derive(move || px(width.get()))
                    height=px(row_states::HEIGHT)
                    viewBox=move || format!("0 0 {} {}", px(width.get()), px(row_states::HEIGHT))
                >
                    <g class="drawing" inner_html=Signal::derive(move || row_states::draw(&arrows.read(), width.get()))></g>
                </svg>
            </div>
            <div inner_html=Signal::derive(move || table(&arrows.read()))></div>
        </section>
    }
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
        html.jump("link", one.at, &format!("{}\u{a0}s", one.at.told())).text(&format!(" by {}", one.by));
    }
    if taken.is_empty() {
        html.text("–");
    }
    html.close("td");
}
