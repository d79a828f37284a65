//! The drawings and tables that only some labs have.

use lease_lab_drawing::bars;
use lease_lab_drawing::svg::px;
use lease_lab_links::active;
use lease_lab_scenarios::Run;
use lease_lab_scenarios::recap;
use lease_lab_scenarios::run::Input;
use lease_lab_scenarios::scenario::Extra;
use leptos::html::Div;
use leptos::prelude::*;

use super::{calculator, guarantees, layers, plot, requests, row_states, tables, text};
use crate::components;
use crate::dom;
use crate::html::{Html, follow_jump};
use crate::state::Lab;

/// All that the lab's scenario asks for, in its order.
pub(super) fn all(lab: Lab) -> impl IntoView {
    lab.scenario.extras.iter().map(|extra| one(lab, *extra)).collect_view()
}

fn one(lab: Lab, extra: Extra) -> AnyView {
    match extra {
        Extra::ClockGraph => components::clocks_card(lab).into_any(),
        Extra::Nodes => components::nodes_card(lab).into_any(),
        Extra::Bars => rights(lab).into_any(),
        Extra::Beats => beats(lab).into_any(),
        Extra::Requests => requests::list(lab).into_any(),
        Extra::Plot => plot::storm(lab).into_any(),
        Extra::Layers => layers::card(lab).into_any(),
        Extra::RowStates => row_states::card(lab).into_any(),
        Extra::Guarantees => guarantees::table().into_any(),
        other => without_a_run(other),
    }
}

/// What needs no run.
pub(super) fn without_a_run(extra: Extra) -> AnyView {
    match extra {
        Extra::Calculator(id) => calculator::show(id),
        Extra::Table(id) => still("facts-title", "What is known of real systems", tables::facts(id)),
        Extra::CheatCard => still("card-title", "The card", tables::card()),
        Extra::Checklist => still("checklist-title", "Eleven questions", tables::questions()),
        _ => ().into_any(),
    }
}

/// A card that never changes.
fn still(id: &'static str, title: &'static str, html: String) -> AnyView {
    view! {
        <section class="card still-card" aria-labelledby=id>
            <h2 id=id>{title}</h2>
            <div inner_html=html></div>
        </section>
    }
    .into_any()
}

/// A place whose width is measured: where drawings go.
pub(super) fn measured() -> (NodeRef<Div>, RwSignal<f64>) {
    const WIDTH_MIN: f64 = 240.0;
    let place = NodeRef::<Div>::new();
    let width = RwSignal::new(1_100.0_f64);
    Effect::new(move |_| {
        if let Some(element) = place.get() {
            width.set(f64::from(element.client_width()).max(WIDTH_MIN));
            dom::on_resize(&element, move |measured| {
                if measured >= WIDTH_MIN && width.try_get_untracked().is_some_and(|before| before != measured) {
                    width.set(measured);
                }
            });
        }
    });
    (place, width)
}

/// Who may act when: one row for the lab as it is and one for each variant.
fn rights(lab: Lab) -> impl IntoView {
    let mut rows = Vec::new();
    let mut add = |name: &str, interventions| {
        let input = Input { interventions: Some(interventions), seed: lab.seed, until: None };
        // A test has run every variant.
        rows.extend(Run::new(lab.scenario, input).ok().map(|run| bars::Row::of(name, &run)));
    };
    add(lab.scenario.own_rule, lab.scenario.own_interventions());
    for variant in lab.scenario.variants {
        add(variant.name, active(&text::list_of(lab, variant)));
    }
    let (place, width) = measured();
    let svg = Memo::new(move |_| bars::draw(&rows, width.get()));
    view! {
        <section class="card extra" aria-labelledby="bars-title">
            <h2 id="bars-title">"Who may act, under each rule"</h2>
            <p class="soft">"Each row is a whole run of its own, in seconds of true time. A bar begins when the worker learns that it has the lock."</p>
            <div node_ref=place>
                {move || {
                    let (content, height) = svg.get();
                    let (width, height) = (px(width.get()), px(height));
                    let label = "Bars of the times in which each worker may act, one row for each variant; the texts beside them say from when to when.";
                    view! {
                        <svg role="img" aria-label=label width=width.clone() height=height.clone() viewBox=format!("0 0 {width} {height}")>
                            <g class="drawing" inner_html=content></g>
                        </svg>
                    }
                }}
            </div>
        </section>
    }
}

/// The table of beats; each row opens the instant.
fn beats(lab: Lab) -> impl IntoView {
    let rows = Signal::derive(move || {
        let mut html = Html::default();
        for row in recap::rows(&lab.run.read()) {
            html.open("tr", &[]).element("th", &[("scope", "row")], &row.number.to_string()).open("td", &[]);
            match row.t {
                Some(at) => html.jump("link", at, &format!("{}\u{a0}s", at.told())),
                None => html.text("–"),
            };
            html.close("td");
            for cell in [row.machine.as_str(), row.title, row.why.as_str()] {
                html.element("td", &[], cell);
            }
            html.close("tr");
        }
        html.finish()
    });
    view! {
        <section class="card extra" aria-labelledby="beats-title">
            <h2 id="beats-title">"Every beat"</h2>
            <div class="wide beats" tabindex="0" role="region" aria-label="Table of beats" on:click=move |event| follow_jump(lab, &event)>
                <table>
                    <caption>"Press a time to see that instant in the lab above."</caption>
                    <thead>
                        <tr>
                            <th scope="col">"Beat"</th>
                            <th scope="col">"Time"</th>
                            <th scope="col">"Where"</th>
                            <th scope="col">"What"</th>
                            <th scope="col">"Why"</th>
                        </tr>
                    </thead>
                    <tbody inner_html=rows></tbody>
                </table>
            </div>
        </section>
    }
}
