//! Playing: the cursor moves with the clock of the screen.

use lease_lab_sim::time::Span;
use leptos::prelude::*;

use crate::state::Lab;

/// A tab in the background gets no frames; when it comes back, the story goes on from where it was.
const FRAME_MS_MAX: f64 = 100.0;

/// Starts or stops.
pub(crate) fn toggle(lab: Lab) {
    if lab.playing.get_untracked() {
        lab.playing.set(false);
        return;
    }
    if lab.cursor.get_untracked() >= lab.end() {
        lab.seek(lease_lab_sim::time::TrueTime::ZERO);
    }
    lab.playing.set(true);
    next_frame(lab, None);
}

fn next_frame(lab: Lab, previous_ms: Option<f64>) {
    request_animation_frame(move || {
        // The page may be gone by now.
        if lab.playing.try_get_untracked() != Some(true) {
            return;
        }
        let now_ms = window().performance().map_or(0.0, |performance| performance.now());
        let elapsed_ms = previous_ms.map_or(0.0, |previous| (now_ms - previous).clamp(0.0, FRAME_MS_MAX));
        let micros = elapsed_ms * 1_000.0 * lab.speed.get_untracked();
        lab.seek(lab.cursor.get_untracked() + Span::micros(micros.round() as i64));
        if lab.cursor.get_untracked() >= lab.end() {
            lab.playing.set(false);
        } else {
            next_frame(lab, Some(now_ms));
        }
    });
}
