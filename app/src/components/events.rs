//! The trace as a list: the timeline's equal for keyboard and screen readers.

use lease_lab_drawing::timeline::worker_class;
use lease_lab_scenarios::why::why;
use lease_lab_sim::machine::{MachineId, WorkerId};
use lease_lab_sim::time::TrueTime;
use leptos::html::Ol;
use leptos::prelude::*;
use wasm_bindgen::JsCast as _;

use crate::dom::{self, closest};
use crate::html::{Html, follow_jump};
use crate::state::Lab;

/// The list as text, and when each line happened.
#[derive(Clone, Debug, PartialEq)]
struct Lines {
    html: String,
    times: Vec<TrueTime>,
}

#[component]
pub(crate) fn Events(lab: Lab) -> impl IntoView {
    let filter = RwSignal::new("all".to_owned());
    let routine = RwSignal::new(false);
    let lines = Memo::new(move |_| lines(lab, &filter.read(), routine.get()));
    // How many lines have happened: it changes at events only, so the list is left alone in between.
    let happened = Memo::new(move |_| {
        let at = lab.cursor.get();
        lines.read().times.partition_point(|time| *time <= at)
    });
    let list = NodeRef::<Ol>::new();
    dom::effect(move || {
        let (happened, _) = (happened.get(), lines.read());
        if let Some(list) = list.get() {
            // The text is in place by the next frame.
            request_animation_frame(move || mark(list.unchecked_ref(), happened));
        }
    });
    view! {
        <section class="card events" aria-labelledby="events-title">
            <div class="card-head">
                <h2 id="events-title">"What happened, and why"</h2>
                <select aria-label="Show events of" on:change:target=move |event| filter.set(event.target().value())>
                    <option value="all">"every machine"</option>
                    <option value="A">"A"</option>
                    <option value="B">"B"</option>
                    <option value="C">"C"</option>
                    <option value="D">"D"</option>
                    <option value="lock">"the lock service"</option>
                    <option value="store">"the store"</option>
                    <option value="sweeper">"the sweeper"</option>
                </select>
            </div>
            <ol
                node_ref=list
                class="event-list"
                aria-label="Events in order of time"
                inner_html=Signal::derive(move || lines.read().html.clone())
                on:click=dom::on_mouse(move |event| follow_jump(lab, &event))
                on:keydown=dom::on_key(move |event| move_focus(&event))
            ></ol>
            <p class="soft small" class:hidden=move || lab.is_all_shown()>
                "What comes next appears once you have answered."
            </p>
            <p class="soft small" class:hidden=move || lab.run.read().plan.programs.len() <= 8>
                "Of the many workers only A to D are listed; the others are alike."
            </p>
            <label class="tick small">
                <input type="checkbox" on:change:target=move |event| routine.set(event.target().checked())/>
                "with heartbeats and single messages"
            </label>
        </section>
    }
}

fn lines(lab: Lab, filter: &str, routine: bool) -> Lines {
    let run = lab.run.read();
    let until = lab.until.get();
    let wanted = |machine: MachineId| match filter {
        "all" => true,
        "lock" => machine.node().is_some() || machine == MachineId::Tenants,
        name => machine.to_string() == name,
    };
    // A run of thousands of workers is told by the first four: the others are alike.
    const LINES_MAX: usize = 4_000;
    let too_many = run.events.len() > 2 * LINES_MAX;
    let mut html = Html::default();
    let mut times = Vec::new();
    for event in &run.events {
        if event.t > until || !wanted(event.machine) || (event.is_background() && !routine) {
            continue;
        }
        let of_others = event.kind.worker().is_some_and(|worker| worker > WorkerId::D)
            || event.machine.worker().is_some_and(|worker| worker > WorkerId::D);
        if too_many && (of_others || times.len() >= LINES_MAX) {
            continue;
        }
        let machine = worker_class(event.machine);
        let micros = event.t.as_micros().to_string();
        html.open("li", &[]).open("button", &[("type", "button"), ("tabindex", "-1"), ("data-at", &micros)]);
        html.element("span", &[("class", "event-time")], &event.t.told());
        html.element("span", &[("class", "event-machine"), ("data-of", machine)], &event.machine.to_string());
        html.element("span", &[("class", "event-text")], &why(event, &run.plan));
        html.close("button").close("li");
        times.push(event.t);
    }
    Lines { html: html.finish(), times }
}

/// Arrow keys move the focus from line to line.
fn move_focus(event: &web_sys::KeyboardEvent) {
    let Some(line) = closest(event, "li") else { return };
    let next = match event.key().as_str() {
        "ArrowDown" => line.next_element_sibling(),
        "ArrowUp" => line.previous_element_sibling(),
        _ => return,
    };
    event.prevent_default();
    let button = next.and_then(|line| line.first_element_child());
    if let Some(button) = button.and_then(|button| button.dyn_into::<web_sys::HtmlElement>().ok()) {
        // It is there and can take the focus.
        let _ = button.focus();
    }
}

/// Marks the line of the cursor and those after it, and scrolls the list, never the page, to it.
fn mark(list: &web_sys::Element, happened: usize) {
    let lines = list.children();
    for place in 0..lines.length() {
        let Some(line) = lines.item(place) else { continue };
        let class = match (place as usize + 1).cmp(&happened) {
            std::cmp::Ordering::Less => "",
            std::cmp::Ordering::Equal => "now",
            std::cmp::Ordering::Greater => "later",
        };
        let now = class == "now" || (happened == 0 && place == 0);
        if line.class_name() == class && !now {
            continue;
        }
        line.set_class_name(class);
        if let Some(button) = line.first_element_child() {
            // The list is one stop for the Tab key; the arrows go through it.
            // Attributes with plain names can be set and removed.
            let _ = button.set_attribute("tabindex", if now { "0" } else { "-1" });
            let _ = if class == "now" {
                button.set_attribute("aria-current", "step")
            } else {
                button.remove_attribute("aria-current")
            };
        }
    }
    let line = lines.item(happened.saturating_sub(1) as u32);
    let Some(line) = line.and_then(|line| line.dyn_into::<web_sys::HtmlElement>().ok()) else { return };
    let top = line.offset_top();
    let (from, height) = (list.scroll_top(), list.client_height());
    if top < from || top + line.offset_height() > from + height {
        list.set_scroll_top(top - height / 2);
    }
}
