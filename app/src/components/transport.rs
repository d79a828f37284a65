//! Play, step, scrub, zoom, and the ghost.

use lease_lab_links::Ghost;
use lease_lab_sim::time::TrueTime;
use leptos::prelude::*;

use super::icons;
use crate::dom;
#[cfg(feature = "labs")]
use crate::html::{Html, follow_jump};
use crate::playback;
use crate::state::Lab;

const SPEEDS: [(f64, &str); 7] =
    [(0.25, "¼×"), (0.5, "½×"), (1.0, "1×"), (2.0, "2×"), (4.0, "4×"), (8.0, "8×"), (16.0, "16×")];

#[component]
pub(crate) fn Transport(lab: Lab) -> impl IntoView {
    let step = move |label: &'static str, act: fn(Lab), icon: AnyView| {
        view! {
            <button type="button" class="step" aria-label=label title=label on:click=dom::on_mouse(move |_| act(lab))>
                {icon}
            </button>
        }
    };
    let is_story = !lab.scenario.terms.is_empty();
    #[cfg(feature = "labs")]
    let is_free = lab.drill.is_none();
    #[cfg(not(feature = "labs"))]
    let is_free = true;
    view! {
        <div class="transport" role="group" aria-label="Transport">
            <div class="buttons">
                {step("To the start", |lab| lab.step_to(TrueTime::ZERO), icons::to_start().into_any())}
                {step("Previous beat", |lab| lab.step_beat(false), icons::previous_beat().into_any())}
                {step("Previous event", |lab| lab.step_event(false), icons::previous_event().into_any())}
                <button type="button" class="play" on:click=dom::on_mouse(move |_| playback::toggle(lab))>
                    {move || {
                        if lab.playing.get() {
                            view! { {icons::pause()} "Pause" }.into_any()
                        } else {
                            view! { {icons::play()} "Play" }.into_any()
                        }
                    }}
                </button>
                {step("Next event", |lab| lab.step_event(true), icons::next_event().into_any())}
                {step("Next beat", |lab| lab.step_beat(true), icons::next_beat().into_any())}
                {step("To the end", |lab| lab.step_to(lab.end()), icons::to_end().into_any())}
            </div>
            <input
                type="range"
                class="scrubber"
                aria-label="Time"
                min="0"
                max=move || lab.run.read().horizon.to_string()
                step="0.01"
                prop:value=Signal::derive(move || lab.cursor.get().to_string())
                aria-valuetext=move || {
                    let _ = lab.run.read();
                    lab.describe(lab.cursor.get())
                }
                on:input:target=move |event| {
                    let seconds = event.target().value_as_number();
                    lab.playing.set(false);
                    lab.seek(TrueTime::from_micros((seconds * 1e6).round() as i64));
                }
            />
            <span class="now">{Signal::derive(move || now(lab))}</span>
        </div>
        <div class="view-controls">
            <label>
                "Speed "
                <select
                    on:change:target=move |event| {
                        let text = event.target().value();
                        if let Some((speed, _)) = SPEEDS.into_iter().find(|(_, name)| *name == text) {
                            lab.speed.set(speed);
                        }
                    }
                >
                    {SPEEDS
                        .map(|(speed, text)| {
                            view! { <option value=text selected=speed == 4.0>{text}</option> }
                        })
                        .collect_view()}
                </select>
            </label>
            <div class="zoom" role="group" aria-label="Zoom">
                <button type="button" class="quiet" on:click=dom::on_mouse(move |_| lab.zoom(0.5))>"Zoom in"</button>
                <button type="button" class="quiet" on:click=dom::on_mouse(move |_| lab.zoom(2.0))>"Zoom out"</button>
                <button type="button" class="quiet" on:click=dom::on_mouse(move |_| lab.show(TrueTime::ZERO, lab.horizon()))>
                    {if is_story { "Whole story" } else { "Whole run" }}
                </button>
            </div>
            {(is_story && is_free).then(|| ghost_choice(lab))}
            {outcome_of_the_ghost(lab)}
        </div>
    }
}

fn ghost_choice(lab: Lab) -> impl IntoView {
    view! {
        <label>
            "Draw behind it the same run with "
            <select
                class="ghost-choice"
                prop:value=Signal::derive(move || lab.ghost.get().id())
                on:change:target=move |event| {
                    let id = event.target().value();
                    if let Some(ghost) = Ghost::ALL.into_iter().find(|ghost| ghost.id() == id) {
                        lab.reveal();
                        lab.ghost.set(ghost);
                        // The second run is drawn by the module that has everything.
                        #[cfg(not(feature = "labs"))]
                        crate::takeover::start(lab, ".ghost-choice", "");
                    }
                }
            >
                {move || {
                    let now = lab.ghost.get_untracked();
                    Ghost::ALL
                        .map(|ghost| {
                            view! { <option value=ghost.id() selected=ghost == now>{ghost.title()}</option> }
                        })
                        .collect_view()
                }}
            </select>
        </label>
    }
}

/// How the run behind it ends, in words.
#[cfg(feature = "labs")]
fn outcome_of_the_ghost(lab: Lab) -> impl IntoView {
    view! {
        <p
            class="ghost-outcome"
            inner_html=Signal::derive(move || ghost_outcome(lab))
            on:click=dom::on_mouse(move |event| follow_jump(lab, &event))
        ></p>
    }
}

#[cfg(not(feature = "labs"))]
fn outcome_of_the_ghost(_: Lab) -> impl IntoView {
    view! { <p class="ghost-outcome"></p> }
}

#[cfg(feature = "labs")]
fn ghost_outcome(lab: Lab) -> String {
    let mut html = Html::default();
    if let Some((outcome, differs)) = lab.ghost_outcome() {
        html.text(&format!("With {} instead: ", lab.ghost.get().title()));
        html.element("strong", &[("class", if outcome.bad { "bad" } else { "" })], &outcome.text);
        match differs {
            Some(at) => html.text("; it differs from ").jump("link", at, &format!("{} s", at.told())).text(" on."),
            None => html.text("; nothing else happens."),
        };
    }
    html.finish()
}

fn now(lab: Lab) -> String {
    let at = lab.cursor.get();
    let run = lab.run.read();
    let beats: Vec<(u8, TrueTime)> = run.beats_in_order().collect();
    // In a changed run beats are missing or change places, and counting them would say nothing.
    let whole_story = beats.len() == lab.scenario.beats.len() && beats.is_sorted();
    let now = beats.iter().take_while(|(_, t)| *t <= at).last().filter(|_| whole_story);
    match now {
        Some((number, _)) => format!("{} s · beat {} of {}", at.told(), lab.place_of(*number), beats.len()),
        None => format!("{} s", at.told()),
    }
}
