//! The keys.

use leptos::html::Dialog;
use leptos::prelude::*;

use crate::dom;

const KEYS: [(&str, &str); 11] = [
    ("Space or K", "play and pause"),
    ("← →", "previous and next event"),
    ("Shift + ← →", "previous and next beat"),
    ("Home, End", "to the start, to the end"),
    ("+ −", "zoom in, zoom out"),
    ("0", "the whole story"),
    ("I", "change what happens at the cursor"),
    ("Ctrl + Z, Ctrl + Y", "undo, redo a change"),
    ("?", "this list"),
    ("Double click on a lane", "change what happens to that machine"),
    ("Esc", "leave an edit or this list"),
];

#[component]
pub(crate) fn Help(open: RwSignal<bool>) -> impl IntoView {
    let dialog = NodeRef::<Dialog>::new();
    dom::effect(move || {
        if let (true, Some(dialog)) = (open.get(), dialog.get()) {
            // It fails only if it is open already.
            let _ = dialog.show_modal();
        }
    });
    view! {
        <dialog node_ref=dialog class="help" aria-labelledby="help-title" on:close=dom::on_event(move |_| open.set(false))>
            <h2 id="help-title">"Keys"</h2>
            <p class="soft">"They act while the focus is in the lab."</p>
            <dl>
                {KEYS.map(|(key, what)| view! { <dt>{key}</dt><dd>{what}</dd> }).collect_view()}
            </dl>
            <form method="dialog"><button class="act">"Close"</button></form>
        </dialog>
    }
}
