//! `window.leaseLab`: the same engine for tests and embedders.

use js_sys::{Array, Error, Object, Reflect};
use lease_lab_scenarios::run::Input;
use lease_lab_scenarios::{Run, report};
use lease_lab_sim::intervention::parse_list;
use leptos::prelude::*;
use wasm_bindgen::JsCast as _;
use wasm_bindgen::prelude::*;

use crate::state::Lab;

/// Puts `leaseLab` on the window: `run(id, interventions)` gives the JSON of the command line, `events(id,
/// interventions)` only simulates and counts the events, `hash` is the hash of
/// the trace that the page shows.
pub(crate) fn expose(lab: Lab) {
    let api = Object::new();
    let run = Closure::<dyn Fn(JsValue, JsValue) -> Result<JsValue, JsValue>>::new(run);
    let events = Closure::<dyn Fn(JsValue, JsValue) -> Result<JsValue, JsValue>>::new(events);
    let hash = Closure::<dyn Fn() -> String>::new(move || lab.run.read_untracked().hash());
    let getter = Object::new();
    let set = |target: &Object, name: &str, value: &JsValue| {
        // Setting a property of a fresh plain object cannot fail.
        let _ = Reflect::set(target, &name.into(), value);
    };
    set(&getter, "get", hash.as_ref());
    set(&getter, "enumerable", &JsValue::TRUE);
    set(&api, "run", run.as_ref());
    set(&api, "events", events.as_ref());
    let _ = Object::define_property(&api, &"hash".into(), &getter);
    set(window().unchecked_ref(), "leaseLab", &api);
    run.forget();
    events.forget();
    hash.forget();
}

/// The run as the command line's JSON.
fn run(id: JsValue, interventions: JsValue) -> Result<JsValue, JsValue> {
    js_sys::JSON::parse(&report::json(&simulate(id, interventions)?))
}

/// Only simulates, and gives the number of events: to measure how long that takes.
fn events(id: JsValue, interventions: JsValue) -> Result<JsValue, JsValue> {
    Ok(JsValue::from_f64(simulate(id, interventions)?.events.len() as f64))
}

/// Runs a scenario; `interventions` is a text, a list of texts, or nothing for the scenario's own.
fn simulate(id: JsValue, interventions: JsValue) -> Result<Run, JsValue> {
    let fail = |sentence: String| JsValue::from(Error::new(&sentence));
    let id = id.as_string().unwrap_or_default();
    let scenario = lease_lab_scenarios::find(&id)
        .ok_or_else(|| fail(format!("there is no scenario “{}”", id.chars().take(60).collect::<String>())))?;
    let text = if interventions.is_undefined() || interventions.is_null() {
        None
    } else if let Some(text) = interventions.as_string() {
        Some(text)
    } else if Array::is_array(&interventions) {
        let list = Array::from(&interventions);
        let texts: Option<Vec<String>> = list.iter().map(|item| item.as_string()).collect();
        let texts =
            texts.ok_or_else(|| fail("an intervention in the list is no text; expected 4 pause A 15".into()))?;
        Some(texts.join(";"))
    } else {
        return Err(fail("interventions are neither a text nor a list; expected texts such as 4 pause A 15".into()));
    };
    let interventions = text.map(|text| parse_list(&text)).transpose().map_err(|mistake| fail(mistake.to_string()))?;
    Run::new(scenario, Input { interventions, ..Input::default() }).map_err(|mistake| fail(mistake.to_string()))
}
