//! The timeline with its cursor.

use lease_lab_drawing::svg::{Anchor, Svg, px};
use lease_lab_drawing::timeline::{Options, Timeline, draw};
use lease_lab_sim::machine::MachineId;
use lease_lab_sim::message::NO_TOKEN;
use lease_lab_sim::settings::FenceMode;
use lease_lab_sim::time::TrueTime;
use leptos::html::Div;
use leptos::prelude::*;
use web_sys::PointerEvent;

use crate::dom;
use crate::state::Lab;

/// Before the page has measured itself.
const WIDTH_AT_FIRST: f64 = 1100.0;
/// Narrower than this nothing can be drawn.
const WIDTH_MIN: f64 = 240.0;

#[component]
pub(crate) fn TimelineView(lab: Lab) -> impl IntoView {
    let place = NodeRef::<Div>::new();
    let width = RwSignal::new(WIDTH_AT_FIRST);
    dom::effect(move || {
        if let Some(element) = place.get() {
            width.set(f64::from(element.client_width()).max(WIDTH_MIN));
            dom::on_resize(&element, move |measured| {
                if measured >= WIDTH_MIN && width.try_get_untracked().is_some_and(|before| before != measured) {
                    width.set(measured);
                }
            });
        }
    });
    let picture = Memo::new(move |_| {
        let (from, to) = lab.window.get();
        let options = Options { width: width.get(), from, to, until: lab.until.get() };
        #[cfg(feature = "labs")]
        return draw(&lab.run.read(), lab.ghost_run.read().as_deref(), options);
        #[cfg(not(feature = "labs"))]
        draw(&lab.run.read(), None, options)
    });
    let dragging = RwSignal::new(false);
    let time_at = move |event: &PointerEvent| {
        let element = place.get_untracked()?;
        let x = f64::from(event.client_x()) - element.get_bounding_client_rect().left();
        let picture = picture.read_untracked();
        // No finer than a pointer can mean.
        let grid = if picture.layout.pixels_per_second() < 500.0 { 10_000 } else { 1_000 };
        let micros = picture.layout.time_at(x).as_micros();
        Some(TrueTime::from_micros((micros + grid / 2).div_euclid(grid) * grid))
    };
    let on_down = move |event: PointerEvent| {
        if event.button() != 0 {
            return;
        }
        if let Some(at) = time_at(&event) {
            lab.playing.set(false);
            dragging.set(true);
            point(lab, at);
            if let Some(element) = place.get_untracked() {
                // Capture keeps the drag going outside; without it the drag merely ends at the edge.
                let _ = element.set_pointer_capture(event.pointer_id());
            }
        }
    };
    let on_move = move |event: PointerEvent| {
        if dragging.get_untracked()
            && let Some(at) = time_at(&event)
        {
            point(lab, at);
        }
    };
    let choose_machine = move |event: web_sys::MouseEvent| {
        #[cfg(feature = "labs")]
        if !crate::embed::may_change() {
            return;
        }
        let Some(element) = place.get_untracked() else { return };
        let y = f64::from(event.client_y()) - element.get_bounding_client_rect().top();
        let machine = picture.read_untracked().layout.machine_at(y);
        if machine.is_some() {
            lab.chosen.set(machine);
            super::intervene::focus(lab);
        }
    };
    view! {
        <div
            class="timeline"
            node_ref=place
            tabindex="0"
            role="group"
            aria-label="Timeline. Arrow keys step through events, with Shift through beats; the list of events below has the same content."
            on:pointerdown=dom::on_pointer(on_down)
            on:pointermove=dom::on_pointer(on_move)
            on:pointerup=dom::on_pointer(move |_| dragging.set(false))
            on:pointercancel=dom::on_pointer(move |_| dragging.set(false))
            on:dblclick=dom::on_mouse(choose_machine)
        >
            <svg
                role="img"
                aria-label=Signal::derive(move || summary(lab))
                width=Signal::derive(move || px(picture.read().layout.width))
                height=Signal::derive(move || px(picture.read().layout.height))
                viewBox=move || {
                    let layout = &picture.read().layout;
                    format!("0 0 {} {}", px(layout.width), px(layout.height))
                }
            >
                <g class="drawing" inner_html=Signal::derive(move || picture.read().svg.clone())></g>
                <g class="lane-notes" inner_html=Signal::derive(move || lane_notes(lab, &picture.read()))></g>
                <g class="cursor" inner_html=Signal::derive(move || cursor(lab, &picture.read()))></g>
            </svg>
        </div>
    }
}

/// What pointing at an instant does.
fn point(lab: Lab, at: TrueTime) {
    #[cfg(feature = "labs")]
    if !crate::embed::may_move() {
        return;
    }
    #[cfg(feature = "labs")]
    if let Some(drill) = lab.drill.filter(|drill| drill.marking.get_untracked()) {
        drill.mark.set(Some(at.max(TrueTime::ZERO).min(lab.horizon())));
        return;
    }
    lab.seek(at);
}

/// The cursor, and a veil over what is still to come.
fn cursor(lab: Lab, picture: &Timeline) -> String {
    let layout = &picture.layout;
    let x = layout.x(lab.cursor.get().max(layout.from).min(layout.to));
    // Between the flags and the notes over the first lane.
    let (top, bottom) = (layout.lanes_top - 34.0, layout.lanes_bottom);
    let mut svg = Svg::default();
    let veil_top = layout.lanes_top - 14.0;
    #[cfg(feature = "labs")]
    let is_plan = lab.drill.is_some_and(|drill| drill.planned.get() && drill.veil.get().is_none());
    #[cfg(not(feature = "labs"))]
    let is_plan = false;
    // Who plans what is to happen sees the whole run that it will happen to.
    if !is_plan {
        svg.rect("veil", x, veil_top, layout.plot_right - x, bottom - veil_top, 0.0);
    }
    let at = lab.cursor.get();
    for pill in picture.pills.iter().filter(|pill| pill.at <= at && pill.area.right > x) {
        pill.draw(&mut svg);
    }
    svg.line("cursor-line", (x, top), (x, bottom));
    // The label stays inside the drawing.
    let left = (x + 6.0).min(layout.width - 66.0);
    svg.rect("cursor-label", left, top, 62.0, 20.0, 10.0);
    let text = format!("{} s", lab.cursor.get().told());
    svg.text("cursor-text", (left + 31.0, top + 14.0), Anchor::Middle, &text);
    #[cfg(feature = "labs")]
    if let Some(at) = lab.drill.and_then(|drill| drill.mark.get()).filter(|at| (layout.from..=layout.to).contains(at)) {
        let x = layout.x(at);
        svg.line("mark-line", (x, top), (x, bottom));
        let left = (x - 62.0).max(0.0);
        svg.rect("mark-label", left, bottom - 20.0, 58.0, 20.0, 10.0);
        svg.text("mark-text", (left + 29.0, bottom - 6.0), Anchor::Middle, &format!("{} s", at.told()));
    }
    svg.finish()
}

/// Under each name: what it is at the cursor.
fn lane_notes(lab: Lab, picture: &Timeline) -> String {
    let layout = &picture.layout;
    let mut svg = Svg::default();
    if layout.compact {
        return svg.finish();
    }
    let snapshot = lab.snapshot.get();
    let mut note = |y: f64, text: &str| svg.text("lane-note", (0.0, y), Anchor::Start, text);
    for (worker, area) in layout.workers() {
        let text = match snapshot.workers.get(&worker) {
            Some(card) => match card.token.filter(|token| card.believes_holding && *token != NO_TOKEN) {
                Some(token) => format!("{}, token {token}", card.state),
                None => card.state.replace('-', " "),
            },
            None => continue,
        };
        note(area.middle() + 13.0, &text);
    }
    let key = match &snapshot.service.key {
        Some(key) => format!("{} holds the key", key.holder),
        None => "nobody holds it".into(),
    };
    // A lab without a lock has no such lane, and of several locks no single one is “the key”.
    if layout.keys.0 < layout.keys.1 && lab.run.read().plan.jobs == 1 {
        note((layout.keys.0 + layout.keys.1) / 2.0 + 13.0, &key);
    }
    if let (Some(area), Some(row)) = (layout.lane(MachineId::Store), &snapshot.store) {
        let fence = if row.fence_mode == FenceMode::Off { "fence off".into() } else { format!("fence {}", row.fence) };
        note(area.middle() + 13.0, &format!("{}, {fence}", row.state));
    }
    svg.finish()
}

/// The drawing in a sentence, for those who cannot see it.
fn summary(lab: Lab) -> String {
    let run = lab.run.read();
    let until: TrueTime = lab.until.get();
    let beats = run.beats_in_order().filter(|(_, at)| *at <= until).count();
    format!(
        "Timeline of {} seconds with lanes for the workers, the lock service and the store; {beats} of {} beats are shown.",
        run.horizon,
        lab.scenario.beats.len()
    )
}
