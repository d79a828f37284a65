//! The list of interventions as sentences that can be edited, switched off and removed.

use lease_lab_sim::intervention::parse_one;
use leptos::html::Input;
use leptos::prelude::*;

use crate::history::{List, all_on};
use crate::state::Lab;

#[component]
pub(crate) fn Changes(lab: Lab) -> impl IntoView {
    let editing = RwSignal::new(None::<usize>);
    let mistake = RwSignal::new(None::<String>);
    let present = Memo::new(move |_| lab.history.read().list().clone());
    let apply = move |list: List| match lab.change(list) {
        Ok(()) => {
            editing.set(None);
            mistake.set(None);
        }
        Err(wrong) => mistake.set(Some(wrong.to_string())),
    };
    let own = all_on((lab.scenario.plan)().interventions);
    let is_own = {
        let own = own.clone();
        move || *present.read() == own
    };
    view! {
        <section class="card changes" aria-labelledby="changes-title">
            <div class="card-head">
                <h2 id="changes-title">{
                    let is_own = is_own.clone();
                    move || if is_own() { "The story’s own faults" } else { "What you changed" }
                }</h2>
                <div class="history">
                    <button
                        type="button"
                        class="quiet"
                        disabled=Signal::derive(move || !lab.history.read().can_undo())
                        on:click=move |_| { editing.set(None); lab.history.update(|history| history.undo()); }
                    >
                        "Undo"
                    </button>
                    <button
                        type="button"
                        class="quiet"
                        disabled=Signal::derive(move || !lab.history.read().can_redo())
                        on:click=move |_| { editing.set(None); lab.history.update(|history| history.redo()); }
                    >
                        "Redo"
                    </button>
                </div>
            </div>
            <ul class="entries">
                {move || {
                    let list = present.get();
                    list.iter()
                        .enumerate()
                        .map(|(place, entry)| {
                            let text = entry.intervention.to_string();
                            if editing.get() == Some(place) {
                                edit(list.clone(), place, text, editing, mistake, apply).into_any()
                            } else {
                                line(list.clone(), place, text, entry.on, editing, mistake, apply).into_any()
                            }
                        })
                        .collect_view()
                }}
            </ul>
            {move || present.read().is_empty().then(|| view! { <p class="soft">"Nothing: everybody is left alone."</p> })}
            <p class="mistake" role="alert">{Signal::derive(move || mistake.get())}</p>
            {move || {
                let own = own.clone();
                (!is_own()).then(|| view! {
                    <button type="button" class="quiet" on:click=move |_| apply(own.clone())>
                        "Back to the story as it is"
                    </button>
                })
            }}
            {move || {
                let branches: Vec<(usize, String)> = lab.history.read().other_branches().into_iter().map(|(place, list)| {
                    let texts: Vec<String> = list.iter().map(|entry| entry.intervention.to_string()).collect();
                    (place, if texts.is_empty() { "nothing".into() } else { texts.join("; ") })
                }).collect();
                (!branches.is_empty()).then(|| view! {
                    <details class="more">
                        <summary>{format!("Earlier versions ({})", branches.len())}</summary>
                        <ul class="branches">
                            {branches.into_iter().map(|(place, text)| view! {
                                <li>
                                    <button type="button" class="link" on:click=move |_| {
                                        editing.set(None);
                                        lab.history.update(|history| history.go_to(place));
                                    }>
                                        {text}
                                    </button>
                                </li>
                            }).collect_view()}
                        </ul>
                    </details>
                })
            }}
        </section>
    }
}

fn line(
    list: List,
    place: usize,
    text: String,
    on: bool,
    editing: RwSignal<Option<usize>>,
    mistake: RwSignal<Option<String>>,
    apply: impl Fn(List) + Copy + 'static,
) -> impl IntoView {
    let switched = {
        let mut list = list.clone();
        list[place].on = !on;
        list
    };
    let removed = {
        let mut list = list;
        list.remove(place);
        list
    };
    view! {
        <li class="entry" class:off=!on>
            <span class="entry-text">{text.clone()}</span>
            <span class="entry-actions">
                <button type="button" class="quiet" aria-label=format!("Edit {text}") on:click=move |_| { mistake.set(None); editing.set(Some(place)); }>
                    "edit"
                </button>
                <button type="button" class="quiet" aria-label=format!("Switch {} {text}", if on { "off" } else { "on" }) on:click=move |_| apply(switched.clone())>
                    {if on { "off" } else { "on" }}
                </button>
                <button type="button" class="quiet" aria-label=format!("Remove {text}") on:click=move |_| apply(removed.clone())>
                    "remove"
                </button>
            </span>
        </li>
    }
}

fn edit(
    list: List,
    place: usize,
    text: String,
    editing: RwSignal<Option<usize>>,
    mistake: RwSignal<Option<String>>,
    apply: impl Fn(List) + Copy + 'static,
) -> impl IntoView {
    let field = NodeRef::<Input>::new();
    Effect::new(move |_| {
        if let Some(field) = field.get() {
            // The field was just asked for.
            let _ = field.focus();
        }
    });
    let submit = move || {
        let Some(field) = field.get_untracked() else { return };
        match parse_one(&field.value()) {
            Ok(intervention) => {
                let mut list = list.clone();
                list[place].intervention = intervention;
                apply(list);
            }
            Err(wrong) => mistake.set(Some(wrong.to_string())),
        }
    };
    let leave = move || {
        mistake.set(None);
        editing.set(None);
    };
    view! {
        <li class="entry">
            <form
                class="row"
                on:submit=move |event| { event.prevent_default(); submit(); }
                on:keydown=move |event| if event.key() == "Escape" { leave(); }
            >
                <input node_ref=field class="mono grow" aria-label=format!("Change {text}") value=text.clone() autocomplete="off" spellcheck="false"/>
                <button type="submit" class="act">"Save"</button>
                <button type="button" class="quiet" on:click=move |_| leave()>"Cancel"</button>
            </form>
        </li>
    }
}
