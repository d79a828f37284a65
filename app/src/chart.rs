//! The module that draws graphs: loaded when the first of them comes into view.

use js_sys::{Float64Array, Function, Promise, Reflect};
use lease_lab_graph::Graph;
use leptos::prelude::*;
use wasm_bindgen::JsCast as _;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::HtmlCanvasElement;

/// The module once `canvas` is near the visible part of the page; the page's start has laid the way to it.
pub(crate) async fn load(canvas: &HtmlCanvasElement) -> Option<JsValue> {
    let loader: Function = Reflect::get(&window(), &"leaseLabChart".into()).ok()?.dyn_into().ok()?;
    let promise: Promise = loader.call1(&JsValue::UNDEFINED, canvas).ok()?.dyn_into().ok()?;
    JsFuture::from(promise).await.ok()
}

/// Draws `graph`; a canvas that cannot be drawn on stays empty, and its table says the same.
pub(crate) fn draw(module: &JsValue, canvas: &HtmlCanvasElement, graph: &Graph) {
    let draw = Reflect::get(module, &"draw".into()).ok().and_then(|draw| draw.dyn_into::<Function>().ok());
    if let Some(draw) = draw {
        let numbers = Float64Array::from(graph.encode().as_slice());
        let _ = draw.call2(&JsValue::UNDEFINED, canvas, &numbers);
    }
}
