//! A lab within another page: what is left of the page around it, and what its parent may do.
//!
//! Only in the module of every lab.
//! The messages themselves are read and checked in JavaScript, which an embedded page loads besides; it calls what is
//! put on `window.leaseLab` here.

use js_sys::{Error, Object, Reflect};
use lease_lab_links::{Controls, Entry};
use lease_lab_sim::intervention::parse_list;
use lease_lab_sim::time::TrueTime;
use leptos::prelude::*;
use wasm_bindgen::JsCast as _;
use wasm_bindgen::prelude::*;

use crate::state::Lab;
use crate::{dom, playback};

/// What the page is embedded with; nothing if it stands alone.
pub(crate) fn controls() -> Option<Controls> {
    let text = document().document_element()?.get_attribute("data-embed")?;
    Controls::ALL.into_iter().find(|controls| controls.id() == text)
}

/// Whether a reader may change what happens.
pub(crate) fn may_change() -> bool {
    controls().is_none_or(|controls| controls == Controls::Full)
}

/// Whether a reader may move the cursor.
pub(crate) fn may_move() -> bool {
    controls() != Some(Controls::None)
}

/// Lets the parent move the lab, and tells it of every step.
pub(crate) fn expose(lab: Lab) {
    if controls().is_none() {
        return;
    }
    let Some(api) = Reflect::get(&window(), &"leaseLab".into()).ok().and_then(|api| api.dyn_into::<Object>().ok())
    else {
        return;
    };
    let set = |name: &str, value: JsValue| {
        // Setting a property of a plain object cannot fail.
        let _ = Reflect::set(&api, &name.into(), &value);
    };
    let play = Closure::<dyn Fn()>::new(move || {
        if !lab.playing.get_untracked() {
            playback::toggle(lab);
        }
    });
    let pause = Closure::<dyn Fn()>::new(move || lab.playing.set(false));
    let seek = Closure::<dyn Fn(f64)>::new(move |seconds: f64| {
        lab.playing.set(false);
        lab.seek(TrueTime::from_micros((seconds.min(1e9) * 1e6).round() as i64));
    });
    let intervene = Closure::<dyn Fn(String) -> Result<(), JsValue>>::new(move |text: String| {
        let mut list = lab.history.read_untracked().list().clone();
        let added = parse_list(&text).and_then(|added| added.into_iter().map(|one| lab.in_time(one)).collect());
        let done = added.and_then(|added: Vec<_>| {
            list.extend(added.into_iter().map(|intervention| Entry { intervention, on: true }));
            lab.change(list)
        });
        done.map_err(|mistake| Error::new(&mistake.to_string()).into())
    });
    let state = Closure::<dyn Fn() -> Object>::new(move || {
        let state = Object::new();
        let set = |name: &str, value: JsValue| {
            let _ = Reflect::set(&state, &name.into(), &value);
        };
        let list = lease_lab_links::active(lab.history.read_untracked().list());
        let texts: js_sys::Array = list.iter().map(|one| JsValue::from(one.to_string())).collect();
        set("lab", lab.scenario.id.into());
        set("t", lab.cursor.get_untracked().as_seconds().into());
        set("horizon", lab.horizon().as_seconds().into());
        set("playing", lab.playing.get_untracked().into());
        set("interventions", texts.into());
        set("hash", lab.run.read_untracked().hash().into());
        state
    });
    set("play", play.into_js_value());
    set("pause", pause.into_js_value());
    set("seek", seek.into_js_value());
    set("intervene", intervene.into_js_value());
    set("state", state.into_js_value());
    dom::effect(move || {
        let detail = Object::new();
        let _ = Reflect::set(&detail, &"t".into(), &lab.cursor.get().as_seconds().into());
        announce("lease-lab-step", &detail);
    });
}

/// Tells the page's own JavaScript of something.
pub(crate) fn announce(name: &str, detail: &Object) {
    let options = web_sys::CustomEventInit::new();
    options.set_detail(detail);
    if let Ok(event) = web_sys::CustomEvent::new_with_event_init_dict(name, &options) {
        // Nobody prevents it.
        let _ = window().dispatch_event(&event);
    }
}
