//! The equal-terms comparison: each cell comes from runs, and opens the one that shows it.

use lease_lab_scenarios::guarantees::{self, Cost, FAULTS, Outcome, Row};
use leptos::prelude::*;

use crate::html::Html;

/// The table, which fills up line by line: every line takes some twenty runs.
pub(super) fn table() -> impl IntoView {
    let rows = RwSignal::new(Vec::<Row>::new());
    fill(rows, 0);
    view! {
        <section class="card extra" aria-labelledby="guarantees-title">
            <h2 id="guarantees-title">"What each guarantees, by its runs"</h2>
            <div
                class="wide"
                tabindex="0"
                role="region"
                aria-label="Table of guarantees"
                inner_html=Signal::derive(move || html(&rows.read()))
            ></div>
            <p class="soft small">
                "“Held” means: in the runs that were tried, and only there. A cell opens the run behind it."
            </p>
        </section>
    }
}

fn fill(rows: RwSignal<Vec<Row>>, place: usize) {
    request_animation_frame(move || {
        let Some(system) = guarantees::systems().nth(place) else { return };
        let row = guarantees::row(system);
        // The page may be gone by now.
        if rows.try_update(|rows| rows.push(row)).is_some() {
            fill(rows, place + 1);
        }
    });
}

fn html(rows: &[Row]) -> String {
    let mut html = Html::default();
    html.open("table", &[("class", "guarantees")]);
    html.element("caption", &[], "Kinds of fault in the columns; below each name, what the system rests on");
    html.open("thead", &[]).open("tr", &[]).element("th", &[("scope", "col")], "System");
    for fault in &FAULTS {
        html.element("th", &[("scope", "col"), ("title", fault.means)], fault.name);
    }
    for head in ["Nobody holds it after a crash", "An acquisition costs", "A renewal costs"] {
        html.element("th", &[("scope", "col")], head);
    }
    html.close("tr").close("thead").open("tbody", &[]);
    for row in rows {
        line(&mut html, row);
    }
    html.close("tbody").close("table");
    html.finish()
}

fn line(html: &mut Html, row: &Row) {
    let Some(system) = guarantees::find(row.system) else { return };
    html.open("tr", &[]).open("th", &[("scope", "row")]).text(system.name);
    html.element("span", &[("class", "rests-on")], system.rests_on).close("th");
    for cell in &row.cells {
        let (sign, word, class) = match cell.outcome {
            Outcome::Held if cell.finished => ("✓", "held", "held-cell"),
            Outcome::Held => ("✓", "held; the job is not finished", "held-cell"),
            Outcome::Broken => ("✕", "broken", "broken-cell"),
            Outcome::NoEffect => ("–", "no effect", "open-cell"),
            Outcome::NotTried => ("–", "not tried", "open-cell"),
        };
        html.open("td", &[("class", class)]);
        html.element("span", &[("aria-hidden", "true"), ("class", "sign")], sign);
        if cell.outcome == Outcome::NotTried {
            html.text(word);
        } else {
            let at = cell.t.map_or(String::new(), |at| format!("&t={at}"));
            let query = String::from(js_sys::encode_uri_component(&cell.interventions));
            let href = format!("?lab={}&do={query}{at}", cell.scenario);
            html.element("a", &[("href", &href)], word);
        }
        html.element("span", &[("class", "why")], &cell.why).close("td");
    }
    let gap = row.gap.map_or("for ever".into(), |gap| format!("{} s", gap.told()));
    html.element("td", &[], &gap);
    for cost in [&row.acquire, &row.renewal] {
        html.element("td", &[], &cost.as_ref().map_or("–".into(), told));
    }
    html.close("tr");
}

fn told(cost: &Cost) -> String {
    format!("{} messages, {} disk writes", cost.messages, cost.disk_writes)
}
