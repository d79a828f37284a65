//! From the first module to the one that has everything.
//!
//! The first screen comes with a small module: it plays, scrubs and explains the story.
//! Changing the story, and every other lab, is in a larger module.
//! When a reader asks for that, the small one writes the address, says here what the reader was about, and lets the
//! page's start load the large one, which takes the same place.

#[cfg(not(feature = "labs"))]
use js_sys::Function;
use js_sys::Reflect;
#[cfg(feature = "labs")]
use lease_lab_sim::time::TrueTime;
use leptos::prelude::*;
use wasm_bindgen::JsCast as _;
#[cfg(not(feature = "labs"))]
use wasm_bindgen::JsValue;

#[cfg(feature = "labs")]
use crate::state::Answer;
use crate::state::Lab;

/// Where the note is left.
const NOTE: &str = "leaseLabNote";

/// What the reader was about, and what no address says.
#[cfg(feature = "labs")]
#[derive(Clone, Debug, Default)]
pub(crate) struct Note {
    /// The element that was pressed.
    pub(crate) pressed: String,
    /// The machine that the panel should show.
    pub(crate) machine: String,
    pub(crate) answered: Option<Answer>,
    pub(crate) pinned: Option<TrueTime>,
}

/// Lets the large module take over; `pressed` selects what the reader pressed.
#[cfg(not(feature = "labs"))]
pub(crate) fn start(lab: Lab, pressed: &str, machine: &str) {
    if lab.left.try_update_value(|left| std::mem::replace(left, true)) != Some(false) {
        return;
    }
    lab.playing.set(false);
    crate::dom::replace_query(&crate::components::address(lab, None));
    let answered = lab.answered.get_untracked().map_or(String::new(), |answer| answer.id().to_string());
    let pinned = lab.pinned.get_untracked().map_or(String::new(), |at| at.as_micros().to_string());
    let note = [pressed, machine, &answered, &pinned].join("\n");
    // Setting a property of the window cannot fail.
    let _ = Reflect::set(&window(), &NOTE.into(), &note.into());
    let more = Reflect::get(&window(), &"leaseLabMore".into()).ok().and_then(|more| more.dyn_into::<Function>().ok());
    if let Some(more) = more {
        // It loads; a failure shows as the page's own message.
        let _ = more.call0(&JsValue::UNDEFINED);
    }
}

/// The note of the module that was here before, if there was one.
#[cfg(feature = "labs")]
pub(crate) fn note() -> Note {
    let text = Reflect::get(&window(), &NOTE.into()).ok().and_then(|note| note.as_string()).unwrap_or_default();
    // Read once; deleting a property of the window cannot fail.
    let _ = Reflect::delete_property(window().unchecked_ref::<js_sys::Object>(), &NOTE.into());
    let mut parts = text.split('\n');
    let mut next = || parts.next().unwrap_or_default().to_owned();
    let (pressed, machine, answered, pinned) = (next(), next(), next(), next());
    Note {
        pressed,
        machine,
        answered: answered.parse().ok().and_then(Answer::with_id),
        pinned: pinned.parse().ok().map(TrueTime::from_micros),
    }
}

/// Goes on with what the reader was about.
#[cfg(feature = "labs")]
pub(crate) fn go_on(lab: Lab, note: Note) {
    if note.answered.is_some() {
        lab.answered.set(note.answered);
        lab.reveal();
    }
    lab.pinned.set(note.pinned);
    if note.pressed.is_empty() {
        return;
    }
    request_animation_frame(move || {
        if let Some(machine) = lease_lab_sim::machine::MachineId::parse(&note.machine) {
            lab.chosen.set(Some(machine));
        }
        if note.pressed == "#intervene" {
            crate::components::focus_panel();
            return;
        }
        let pressed = document().query_selector(&note.pressed).ok().flatten();
        if let Some(element) = pressed.and_then(|element| element.dyn_into::<web_sys::HtmlElement>().ok()) {
            // It is there and can take the focus.
            let _ = element.focus();
            element.click();
        }
    });
}
