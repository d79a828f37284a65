//! What could not be used, in sentences that can be put away.

use leptos::prelude::*;

use crate::dom;
use crate::state::Lab;

#[component]
pub(crate) fn Notices(lab: Lab) -> impl IntoView {
    view! {
        <div class="notices" role="status">
            {move || {
                lab.notices
                    .get()
                    .into_iter()
                    .enumerate()
                    .map(|(place, text)| {
                        view! {
                            <p class="notice">
                                <span>{text}</span>
                                <button
                                    type="button"
                                    class="quiet"
                                    on:click=dom::on_mouse(move |_| lab.notices.update(|notices| { notices.remove(place); }))
                                >
                                    "Put away"
                                </button>
                            </p>
                        }
                    })
                    .collect_view()
            }}
        </div>
    }
}
