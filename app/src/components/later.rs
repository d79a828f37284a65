//! What the first module only shows: pressing it brings the module that can do it.

use lease_lab_links::all_on;
use leptos::prelude::*;

use super::entries::list;
use crate::dom::{self, closest};
use crate::html::is_open;
use crate::state::Lab;
use crate::takeover;

/// Brings the panel.
pub(crate) fn focus(lab: Lab) {
    let machine = lab.chosen.get_untracked().map_or(String::new(), |machine| machine.to_string());
    takeover::start(lab, "#intervene", &machine);
}

/// The panel's summary.
#[component]
pub(crate) fn Intervene(lab: Lab) -> impl IntoView {
    view! {
        <details
            id="intervene"
            class="intervene"
            on:toggle=dom::on_event(move |event| {
                if is_open(&event) {
                    takeover::start(lab, "#intervene", "");
                }
            })
        >
            <summary>
                "Change what happens "
                <span class="soft">
                    {Signal::derive(move || format!("at {} s, or from the start", lab.act_at()))}
                </span>
            </summary>
        </details>
    }
}

/// The list of interventions.
#[component]
pub(crate) fn Changes(lab: Lab) -> impl IntoView {
    // Nothing is changed here, so this stays as it is.
    let is_own = *lab.history.read_untracked().list() == all_on(lab.scenario.own_interventions());
    let pressed = move |event: web_sys::MouseEvent| {
        let Some(button) = closest(&event, "[data-act]") else { return };
        let act = button.get_attribute("data-act").unwrap_or_default();
        let place = button.get_attribute("data-place");
        let place = place.map_or(String::new(), |place| format!("[data-place=\"{place}\"]"));
        let selector = format!(".changes [data-act={act}]{place}");
        takeover::start(lab, &selector, "");
    };
    view! {
        <section class="card changes" aria-labelledby="changes-title" on:click=dom::on_mouse(pressed)>
            <div class="card-head">
                <h2 id="changes-title">{if is_own { "The story’s own faults" } else { "What you changed" }}</h2>
                <div class="history">
                    <button type="button" class="quiet" aria-disabled="true">"Undo"</button>
                    <button type="button" class="quiet" aria-disabled="true">"Redo"</button>
                </div>
            </div>
            <ul class="entries" inner_html=Signal::derive(move || list(lab.history.read().list(), None))></ul>
            {(!is_own).then(|| {
                view! { <button type="button" class="quiet" data-act="own">"Back to the story as it is"</button> }
            })}
        </section>
    }
}
