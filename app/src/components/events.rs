//! The trace as a list: the timeline's equal for keyboard and screen readers.

use lease_lab_drawing::timeline::worker_class;
use lease_lab_scenarios::why::why;
use lease_lab_sim::machine::MachineId;
use lease_lab_sim::time::TrueTime;
use leptos::html::Ol;
use leptos::prelude::*;
use wasm_bindgen::JsCast as _;

use crate::state::Lab;

/// One line of the list.
#[derive(Clone, Debug, PartialEq)]
struct Line {
    at: TrueTime,
    beat: Option<u8>,
    machine: MachineId,
    text: String,
}

#[component]
pub(crate) fn Events(lab: Lab) -> impl IntoView {
    let filter = RwSignal::new("all".to_owned());
    let routine = RwSignal::new(false);
    let lines = Memo::new(move |_| {
        let run = lab.run.read();
        let (until, filter, routine) = (lab.until.get(), filter.get(), routine.get());
        let wanted = |machine: MachineId| match filter.as_str() {
            "all" => true,
            "lock" => machine.node().is_some() || machine == MachineId::Tenants,
            name => machine.to_string() == name,
        };
        run.events
            .iter()
            .zip(&run.beats)
            .filter(|(event, _)| event.t <= until && wanted(event.machine) && (routine || !event.is_background()))
            .map(|(event, beat)| Line { at: event.t, beat: *beat, machine: event.machine, text: why(event, &run.plan) })
            .collect::<Vec<_>>()
    });
    // How many lines have happened: it changes at events only, so the list is left alone in between.
    let happened = Memo::new(move |_| {
        let at = lab.cursor.get();
        lines.read().partition_point(|line| line.at <= at)
    });
    let list = NodeRef::<Ol>::new();
    Effect::new(move |_| {
        let (happened, _) = (happened.get(), lines.read());
        if let Some(list) = list.get() {
            request_animation_frame(move || scroll_to(&list, happened.saturating_sub(1)));
        }
    });
    view! {
        <section class="card events" aria-labelledby="events-title">
            <div class="card-head">
                <h2 id="events-title">"What happened, and why"</h2>
                <label>
                    <span class="visually-hidden">"Machine"</span>
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
                </label>
            </div>
            <ol node_ref=list class="event-list" tabindex="0" aria-label="Events in order of time">
                {move || {
                    lines
                        .get()
                        .into_iter()
                        .enumerate()
                        .map(|(place, line)| {
                            let class = worker_class(line.machine);
                            let at = line.at;
                            view! {
                                <li
                                    class:now=move || happened.get() == place + 1
                                    class:later=move || happened.get() <= place
                                    class:beat=line.beat.is_some()
                                >
                                    <button
                                        type="button"
                                        aria-current=move || (happened.get() == place + 1).then_some("step")
                                        on:click=move |_| lab.step_to(at)
                                    >
                                        <span class="event-time">{at.told()}</span>
                                        <span class=format!("event-machine {class}")>{line.machine.to_string()}</span>
                                        <span class="event-text">{line.text}</span>
                                    </button>
                                </li>
                            }
                        })
                        .collect_view()
                }}
            </ol>
            {move || (!lab.revealed.get()).then(|| view! {
                <p class="soft small">"What comes next appears once you have answered, or played on."</p>
            })}
            <label class="tick small">
                <input type="checkbox" on:change:target=move |event| routine.set(event.target().checked())/>
                "with heartbeats and single messages"
            </label>
        </section>
    }
}

/// Scrolls the list, and never the page, to a line.
fn scroll_to(list: &web_sys::HtmlOListElement, place: usize) {
    let list: &web_sys::Element = list.unchecked_ref();
    let Some(line) = list.children().item(place as u32).and_then(|line| line.dyn_into::<web_sys::HtmlElement>().ok())
    else {
        return;
    };
    let top = line.offset_top();
    let (from, height) = (list.scroll_top(), list.client_height());
    if top < from || top + line.offset_height() > from + height {
        list.set_scroll_top(top - height / 2);
    }
}
