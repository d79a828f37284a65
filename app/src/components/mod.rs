//! The parts of the page, from top to bottom.

#![allow(unreachable_pub, reason = "the component macro writes `pub` of its own")]

#[cfg(feature = "labs")]
mod changes;
mod clocks;
mod entries;
mod events;
mod header;
mod help;
mod icons;
#[cfg(feature = "labs")]
mod intervene;
#[cfg(not(feature = "labs"))]
mod later;
mod notices;
mod question;
mod timeline;
mod transport;
mod verdicts;
mod world;

#[cfg(feature = "labs")]
use lease_lab_links::{Controls, Frame};
use lease_lab_links::{Link, Theme, first_window};
use leptos::prelude::*;
use web_sys::KeyboardEvent;

#[cfg(not(feature = "labs"))]
use later as changes;
#[cfg(not(feature = "labs"))]
use later as intervene;

#[cfg(feature = "labs")]
use crate::embed;
use crate::state::Lab;
use crate::{dom, playback};

/// How long the address waits for the cursor to rest: browsers refuse to change it too often.
const ADDRESS_DELAY_MS: u64 = 300;

/// The whole page.
pub(crate) fn page(lab: Lab) -> impl IntoView {
    let help_open = RwSignal::new(false);
    keep_address(lab);
    view! {
        <a class="skip" href="#lab">"Skip to the lab"</a>
        <header::Header name=lab.scenario.name theme=lab.theme lab=Some(lab) keys=Some(help_open)/>
        <main>
            <notices::Notices lab/>
            <div class="intro">
                <h1>{lab.scenario.title}"."</h1>
                <p class="lede">{lab.scenario.lede}</p>
                <question::QuestionBox lab/>
            </div>
            <section
                id="lab"
                class="lab"
                tabindex="-1"
                aria-label="The lab"
                on:keydown=dom::on_key(move |event| handle_key(lab, help_open, &event))
            >
                <timeline::TimelineView lab/>
                <transport::Transport lab/>
                <verdicts::Verdicts lab/>
                <intervene::Intervene lab/>
            </section>
            {under_the_lab(lab)}
            <div class="cards">
                <events::Events lab/>
                <world::WorldCard lab/>
                <changes::Changes lab/>
            </div>
            {at_the_end(lab)}
        </main>
        <help::Help open=help_open/>
        <div class="visually-hidden" role="status" aria-live="polite">{Signal::derive(move || lab.announcement.get())}</div>
    }
}

/// The lab alone, for another page.
#[cfg(feature = "labs")]
pub(crate) fn embedded(lab: Lab, controls: Controls) -> impl IntoView {
    let help_open = RwSignal::new(false);
    let full = controls == Controls::Full;
    // There is no header that would do it.
    header::follow(lab.theme);
    view! {
        <main class="embedded">
            <notices::Notices lab/>
            <h1>{lab.scenario.title}"."</h1>
            <question::QuestionBox lab/>
            {lab_section(lab, help_open, controls != Controls::None, full)}
            {full.then(|| crate::labs::try_it(lab))}
            <details class="more text-version">
                <summary>"What happened, as a list"</summary>
                <div class="cards">
                    <events::Events lab/>
                    <world::WorldCard lab/>
                    {full.then(|| view! { <changes::Changes lab/> })}
                </div>
            </details>
            <p class="full-page">
                <a href=Signal::derive(move || full_address(lab)) target="_blank" rel="noopener">"Open in Lease Lab"</a>
            </p>
        </main>
        {full.then(|| view! { <help::Help open=help_open/> })}
        <div class="visually-hidden" role="status" aria-live="polite">{Signal::derive(move || lab.announcement.get())}</div>
    }
}

/// The address of the full page with what an embedded lab shows.
#[cfg(feature = "labs")]
fn full_address(lab: Lab) -> String {
    let _ = (lab.history.read(), lab.cursor.get(), lab.window.get(), lab.ghost.get());
    let mut link = link(lab, None);
    link.frame = Frame { lang: link.frame.lang, ..Frame::default() };
    link.write()
}

/// What belongs to the story alone, or to a lab of the course.
#[cfg(feature = "labs")]
fn under_the_lab(lab: Lab) -> impl IntoView {
    crate::labs::under_the_lab(lab)
}

#[cfg(not(feature = "labs"))]
fn under_the_lab(_: Lab) -> impl IntoView {}

#[cfg(feature = "labs")]
fn at_the_end(lab: Lab) -> impl IntoView {
    let is_story = !lab.scenario.terms.is_empty();
    view! {
        {is_story.then(|| view! { <clocks::ClocksCard lab/> })}
        {crate::labs::at_the_end(lab)}
    }
}

#[cfg(not(feature = "labs"))]
fn at_the_end(lab: Lab) -> impl IntoView {
    view! { <clocks::ClocksCard lab/> }
}

/// The header of a page without a lab.
#[cfg(feature = "labs")]
pub(crate) fn header(name: &'static str, theme: RwSignal<Theme>, keys: Option<RwSignal<bool>>) -> impl IntoView {
    view! { <header::Header name theme lab=None keys/> }
}

/// The list of keys.
#[cfg(feature = "labs")]
pub(crate) fn help(open: RwSignal<bool>) -> impl IntoView {
    view! { <help::Help open/> }
}

/// The lab with some of its parts.
#[cfg(feature = "labs")]
fn lab_section(lab: Lab, help_open: RwSignal<bool>, transport: bool, panel: bool) -> impl IntoView {
    view! {
        <section
            id="lab"
            class="lab"
            tabindex="-1"
            aria-label="The lab"
            on:keydown=dom::on_key(move |event| handle_key(lab, help_open, &event))
        >
            <timeline::TimelineView lab/>
            {transport.then(|| view! { <transport::Transport lab/> })}
            <verdicts::Verdicts lab/>
            {panel.then(|| view! { <intervene::Intervene lab/> })}
        </section>
    }
}

/// The page takes the reader’s colours, where no header does it.
#[cfg(feature = "labs")]
pub(crate) fn follow_theme(theme: RwSignal<Theme>) {
    header::follow(theme);
}

/// The lab of a drill; with `panel`, what happens in it can be changed.
#[cfg(feature = "labs")]
pub(crate) fn drill_lab(lab: Lab, help_open: RwSignal<bool>, panel: bool) -> impl IntoView {
    view! {
        {lab_section(lab, help_open, true, panel)}
        <div class="visually-hidden" role="status" aria-live="polite">{Signal::derive(move || lab.announcement.get())}</div>
    }
}

/// The list of what the learner has changed.
#[cfg(feature = "labs")]
pub(crate) fn drill_changes(lab: Lab) -> impl IntoView {
    view! { <changes::Changes lab/> }
}

/// What happened, and the world at the cursor.
#[cfg(feature = "labs")]
pub(crate) fn drill_cards(lab: Lab) -> impl IntoView {
    view! {
        <div class="cards">
            <events::Events lab/>
            <world::WorldCard lab/>
        </div>
    }
}

/// The clock graph, for labs that show it.
#[cfg(feature = "labs")]
pub(crate) fn clocks_card(lab: Lab) -> impl IntoView {
    view! { <clocks::ClocksCard lab/> }
}

/// Opens the panel of interventions and moves the focus there.
#[cfg(feature = "labs")]
pub(crate) fn focus_panel() {
    intervene::open_and_focus();
}

#[cfg(feature = "labs")]
pub(crate) use verdicts::title as verdict_title;
#[cfg(feature = "labs")]
pub(crate) use world::nodes_card;

/// The address follows the state once it rests.
fn keep_address(lab: Lab) {
    let changes = StoredValue::new(0_u64);
    let mut first = true;
    dom::effect(move || {
        let _ =
            (lab.history.read(), lab.cursor.get(), lab.window.get(), lab.ghost.get(), lab.with.get(), lab.theme.get());
        if std::mem::take(&mut first) {
            return;
        }
        changes.update_value(|count| *count += 1);
        let mine = changes.get_value();
        set_timeout(
            move || {
                let here = lab.left.try_get_value() == Some(false);
                if here && changes.try_get_value() == Some(mine) && lab.playing.try_get_untracked() == Some(false) {
                    dom::replace_query(&address(lab, None));
                }
            },
            std::time::Duration::from_millis(ADDRESS_DELAY_MS),
        );
    });
    let mut before = false;
    dom::effect(move || {
        let playing = lab.playing.get();
        if std::mem::replace(&mut before, playing) && !playing {
            dom::replace_query(&address(lab, None));
        }
    });
}

/// The address of exactly this: scenario, interventions, instant, view.
pub(crate) fn address(lab: Lab, hash: Option<&str>) -> String {
    link(lab, hash).write()
}

fn link(lab: Lab, hash: Option<&str>) -> Link {
    let (window, theme) = (lab.window.get_untracked(), lab.theme.get_untracked());
    Link {
        list: lab.history.read_untracked().list().clone(),
        seed: lab.seed,
        cursor: Some(lab.cursor.get_untracked()),
        window: (window != first_window(lab.scenario, lab.horizon())).then_some(window),
        ghost: lab.ghost.get_untracked(),
        with: lab.with.get_untracked(),
        theme: (theme != Theme::Auto).then_some(theme),
        frame: lab.frame,
        hash: hash.map(str::to_owned),
        ..Link::to(lab.scenario)
    }
}

/// Single keys, only while the focus is in the lab.
fn handle_key(lab: Lab, help_open: RwSignal<bool>, event: &KeyboardEvent) {
    if dom::uses_keys(event) || event.alt_key() || event.meta_key() {
        return;
    }
    let key = event.key();
    #[cfg(feature = "labs")]
    if !embed::may_move() || (!embed::may_change() && (event.ctrl_key() || matches!(key.as_str(), "i" | "?"))) {
        return;
    }
    if event.ctrl_key() {
        match key.as_str() {
            "z" => lab.history.update(|history| history.undo()),
            "y" => lab.history.update(|history| history.redo()),
            _ => return,
        }
        event.prevent_default();
        return;
    }
    match key.as_str() {
        " " | "k" => playback::toggle(lab),
        "ArrowRight" if event.shift_key() => lab.step_beat(true),
        "ArrowLeft" if event.shift_key() => lab.step_beat(false),
        "ArrowRight" => lab.step_event(true),
        "ArrowLeft" => lab.step_event(false),
        "Home" => lab.step_to(lease_lab_sim::time::TrueTime::ZERO),
        "End" => lab.step_to(lab.end()),
        "+" | "=" => lab.zoom(0.5),
        "-" => lab.zoom(2.0),
        "0" => lab.show(lease_lab_sim::time::TrueTime::ZERO, lab.horizon()),
        "i" => intervene::focus(lab),
        "?" => help_open.set(true),
        _ => return,
    }
    event.prevent_default();
}
