//! `window.leaseLab`: the same engine for tests and embedders.

use js_sys::{Array, Error, Object, Reflect};
use lease_lab_scenarios::run::Input;
use lease_lab_scenarios::{Run, report};
use leptos::prelude::*;
use wasm_bindgen::JsCast as _;
use wasm_bindgen::prelude::*;

use crate::link;
use crate::state::Lab;

/// Puts `leaseLab` on the window: `run(id, interventions)` gives the JSON of the command line, `hash` is the hash of
/// the trace that the page shows.
pub(crate) fn expose(lab: Lab) {
    let api = Object::new();
    let run = Closure::<dyn Fn(JsValue, JsValue) -> Result<JsValue, JsValue>>::new(run);
    let hash = Closure::<dyn Fn() -> String>::new(move || lab.run.read_untracked().hash());
    let getter = Object::new();
    let set = |target: &Object, name: &str, value: &JsValue| {
        // Setting a property of a fresh plain object cannot fail.
        let _ = Reflect::set(target, &name.into(), value);
    };
    set(&getter, "get", hash.as_ref());
    set(&getter, "enumerable", &JsValue::TRUE);
    set(&api, "run", run.as_ref());
    let _ = Object::define_property(&api, &"hash".into(), &getter);
    set(window().unchecked_ref(), "leaseLab", &api);
    run.forget();
    hash.forget();
}

/// Runs a scenario; `interventions` is a text, a list of texts, or nothing for the scenario's own.
fn run(id: JsValue, interventions: JsValue) -> Result<JsValue, JsValue> {
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
    let interventions =
        text.map(|text| link::interventions(&text)).transpose().map_err(|mistake| fail(mistake.to_string()))?;
    let run =
        Run::new(scenario, Input { interventions, ..Input::default() }).map_err(|mistake| fail(mistake.to_string()))?;
    js_sys::JSON::parse(&report::json(&run))
}
