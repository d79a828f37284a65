//! Draws graphs on canvases; a module of its own, loaded when a graph comes into view.

use lease_lab_graph::{Graph, plot};
use plotters_canvas::CanvasBackend;
use wasm_bindgen::prelude::*;
use web_sys::HtmlCanvasElement;

fn main() {}

/// Draws the graph that `numbers` encode; a canvas that cannot be drawn on stays empty, and its table says the same.
#[wasm_bindgen]
pub fn draw(canvas: HtmlCanvasElement, numbers: &[f64]) {
    if let (Some(graph), Some(backend)) = (Graph::decode(numbers), CanvasBackend::with_canvas_object(canvas)) {
        let _ = plot::draw(&graph, backend);
    }
}
