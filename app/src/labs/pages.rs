//! Labs without a run: tables, the card, the checklist.

use lease_lab_links::Theme;
use lease_lab_scenarios::pages::Page;
use leptos::prelude::*;

use super::{extras, text};
use crate::components;

/// The whole page.
pub(crate) fn show(page: &'static Page, theme: RwSignal<Theme>) -> impl IntoView {
    view! {
        <a class="skip" href="#lab">"Skip to the lab"</a>
        {components::header(page.name, theme, None)}
        <main>
            <div class="intro">
                <h1>{page.title}"."</h1>
                <p class="lede">{page.lede}</p>
            </div>
            <div id="lab" tabindex="-1">
                {page.extras.iter().map(|extra| extras::without_a_run(*extra)).collect_view()}
            </div>
            <div class="lab-notes">{text::notice_of(page.notice)}</div>
            {text::part_and_neighbours(page.id, page.part)}
        </main>
    }
}
