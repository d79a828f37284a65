//! The drawings and tables that only some labs have.

use lease_lab_scenarios::scenario::Extra;
use leptos::prelude::*;

use super::tables;
use crate::components;
use crate::state::Lab;

/// All that the lab's scenario asks for, in its order.
pub(super) fn all(lab: Lab) -> impl IntoView {
    lab.scenario.extras.iter().map(|extra| one(lab, *extra)).collect_view()
}

fn one(lab: Lab, extra: Extra) -> AnyView {
    match extra {
        Extra::ClockGraph => components::clocks_card(lab).into_any(),
        Extra::Nodes => components::nodes_card(lab).into_any(),
        Extra::Table(id) => still("facts-title", "What is known of real systems", tables::facts(id)),
        Extra::CheatCard => still("card-title", "The card", tables::card()),
        Extra::Checklist => still("checklist-title", "Eleven questions", tables::questions()),
        _ => ().into_any(),
    }
}

/// A card that never changes.
pub(super) fn still(id: &'static str, title: &'static str, html: String) -> AnyView {
    view! {
        <section class="card still-card" aria-labelledby=id>
            <h2 id=id>{title}</h2>
            <div inner_html=html></div>
        </section>
    }
    .into_any()
}
