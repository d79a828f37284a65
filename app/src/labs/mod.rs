//! What every lab but the first screen needs: its texts, its settings, its own drawings, and the way to the next.
//!
//! Only in the module of every lab; the first screen loads without it.

mod beside;
mod calculator;
mod export;
mod extras;
mod guarantees;
mod layers;
mod pages;
mod plot;
mod requests;
mod row_states;
mod settings;
mod tables;
mod text;

pub(crate) use pages::show as show_page;
pub(crate) use text::try_it;

use leptos::prelude::*;

use crate::state::Lab;

/// Between the lab and the cards: what to try, what to look at, which numbers come out.
pub(crate) fn under_the_lab(lab: Lab) -> impl IntoView {
    view! {
        {text::try_it(lab)}
        <div class="lab-notes">
            {text::notice(lab)}
            {text::measures(lab)}
            {settings::knobs(lab)}
        </div>
        {extras::all(lab)}
        {beside::compare(lab)}
    }
}

/// At the end of the page: the part that the lab belongs to, and its neighbours.
pub(crate) fn at_the_end(lab: Lab) -> impl IntoView {
    view! {
        {export::card(lab)}
        {text::part_and_neighbours(lab.scenario.id, lab.scenario.part)}
    }
}
