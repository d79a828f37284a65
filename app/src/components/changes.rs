//! The list of interventions as sentences that can be edited, switched off and removed.

use lease_lab_sim::intervention::{Mistake, parse_one};
use leptos::html::Ul;
use leptos::prelude::*;
use wasm_bindgen::JsCast as _;
use web_sys::{HtmlElement, HtmlInputElement};

use super::entries::list;
use crate::dom::{self, closest, elements};
use crate::html::Html;
use crate::state::Lab;

#[component]
pub(crate) fn Changes(lab: Lab) -> impl IntoView {
    let editing = RwSignal::new(None::<usize>);
    let mistake = RwSignal::new(String::new());
    let entries = NodeRef::<Ul>::new();
    let is_own = Memo::new(move |_| *lab.history.read().list() == lab.own_list());
    dom::effect(move || {
        if editing.get().is_none() {
            return;
        }
        // The field is there in the next frame.
        request_animation_frame(move || {
            let field = entries.get_untracked().and_then(|list| list.query_selector("input").ok().flatten());
            if let Some(field) = field.and_then(|field| field.dyn_into::<HtmlElement>().ok()) {
                // It can take the focus.
                let _ = field.focus();
            }
        });
    });
    // What was pressed is drawn anew, and takes the focus back.
    let pressed = StoredValue::new(None::<(String, usize)>);
    dom::effect(move || {
        let _ = (lab.history.read(), editing.get());
        let Some((act, place)) = pressed.try_update_value(Option::take).flatten() else { return };
        request_animation_frame(move || {
            let Some(list) = entries.get_untracked() else { return };
            let buttons = elements(&list, &format!("[data-act={act}]"));
            let button = buttons.get(place).or(buttons.last()).cloned();
            if let Some(button) = button.and_then(|button| button.dyn_into::<HtmlElement>().ok()) {
                // It is there and can take the focus.
                let _ = button.focus();
            }
        });
    });
    let editor = Editor { lab, editing, mistake, pressed };
    let travel = move |there: fn(&mut crate::history::History)| {
        editing.set(None);
        mistake.set(String::new());
        lab.history.update(there);
    };
    view! {
        <section
            class="card changes"
            aria-labelledby="changes-title"
            on:click=dom::on_mouse(move |event| editor.clicked(&event))
            on:keydown=dom::on_key(move |event| match (event.key().as_str(), event.ctrl_key()) {
                ("Escape", _) => editor.leave(),
                ("z", true) if editing.get_untracked().is_none() => travel(|history| history.undo()),
                ("y", true) if editing.get_untracked().is_none() => travel(|history| history.redo()),
                _ => {}
            })
            on:submit=move |event| {
                event.prevent_default();
                editor.submitted(&event);
            }
        >
            <div class="card-head">
                <h2 id="changes-title">
                    {Signal::derive(move || match (is_own.get(), lab.scenario.terms.is_empty()) {
                        _ if lab.drill.is_some() => "Your interventions",
                        (false, _) => "What you changed",
                        (true, true) => "What this lab does to them",
                        (true, false) => "The story’s own faults",
                    })}
                </h2>
                <div class="history">
                    <button
                        type="button"
                        class="quiet"
                        aria-disabled=Signal::derive(move || (!lab.history.read().can_undo()).to_string())
                        on:click=dom::on_mouse(move |_| travel(|history| history.undo()))
                    >
                        "Undo"
                    </button>
                    <button
                        type="button"
                        class="quiet"
                        aria-disabled=Signal::derive(move || (!lab.history.read().can_redo()).to_string())
                        on:click=dom::on_mouse(move |_| travel(|history| history.redo()))
                    >
                        "Redo"
                    </button>
                </div>
            </div>
            <ul
                node_ref=entries
                class="entries"
                inner_html=Signal::derive(move || list(lab.history.read().list(), editing.get()))
            ></ul>
            <p class="mistake" role="alert">{mistake}</p>
            <div inner_html=Signal::derive(move || more(lab, is_own.get()))></div>
        </section>
    }
}

#[derive(Clone, Copy)]
struct Editor {
    lab: Lab,
    editing: RwSignal<Option<usize>>,
    mistake: RwSignal<String>,
    /// The button that was pressed last: what it does and in which line.
    pressed: StoredValue<Option<(String, usize)>>,
}

impl Editor {
    fn clicked(self, event: &web_sys::MouseEvent) {
        let Some(button) = closest(event, "[data-act]") else { return };
        let place: Option<usize> = button.get_attribute("data-place").and_then(|text| text.parse().ok());
        let mut list = self.lab.history.read_untracked().list().clone();
        if let (Some(act @ ("switch" | "remove")), Some(place)) = (button.get_attribute("data-act").as_deref(), place) {
            self.pressed.set_value(Some((act.to_owned(), place)));
        }
        match (button.get_attribute("data-act").as_deref(), place) {
            (Some("edit"), Some(place)) => {
                self.mistake.set(String::new());
                self.editing.set(Some(place));
            }
            (Some("switch"), Some(place)) if place < list.len() => {
                list[place].on = !list[place].on;
                self.apply(self.lab.change(list));
            }
            (Some("remove"), Some(place)) if place < list.len() => {
                list.remove(place);
                self.apply(self.lab.change(list));
            }
            (Some("branch"), Some(place)) => {
                self.leave();
                self.lab.history.update(|history| history.go_to(place));
            }
            (Some("own"), _) => self.apply(self.lab.change(self.lab.own_list())),
            _ => self.leave(),
        }
    }

    fn submitted(self, event: &web_sys::SubmitEvent) {
        let field = closest(event, "form").and_then(|form| form.query_selector("input").ok().flatten());
        let Some(field) = field else { return };
        let text = field.unchecked_into::<HtmlInputElement>().value();
        let mut list = self.lab.history.read_untracked().list().clone();
        let read = parse_one(&text).and_then(|intervention| self.lab.in_time(intervention));
        let done = read.and_then(|intervention| {
            if let Some(entry) = self.editing.get_untracked().and_then(|place| list.get_mut(place)) {
                entry.intervention = intervention;
            }
            self.lab.change(list)
        });
        self.apply(done);
    }

    fn apply(self, done: Result<(), Mistake>) {
        match done {
            Ok(()) => self.leave(),
            Err(wrong) => self.mistake.set(wrong.to_string()),
        }
    }

    fn leave(self) {
        if let Some(place) = self.editing.get_untracked() {
            self.pressed.set_value(Some(("edit".into(), place)));
        }
        self.mistake.set(String::new());
        self.editing.set(None);
    }
}

/// The way back to the story, and versions that were left behind.
fn more(lab: Lab, is_own: bool) -> String {
    let mut html = Html::default();
    if !is_own {
        html.element(
            "button",
            &[("type", "button"), ("class", "quiet"), ("data-act", "own")],
            match lab.scenario.terms.is_empty() {
                _ if lab.drill.is_some() => "Remove them all",
                true => "Back to the lab as it is",
                false => "Back to the story as it is",
            },
        );
    }
    let history = lab.history.read();
    let branches = history.other_branches();
    if !branches.is_empty() {
        html.open("details", &[("class", "more")]);
        html.element("summary", &[], &format!("Earlier versions ({})", branches.len()));
        html.open("ul", &[("class", "branches")]);
        for (place, list) in branches {
            let texts: Vec<String> = list.iter().map(|entry| entry.intervention.to_string()).collect();
            let text = if texts.is_empty() { "nothing".to_owned() } else { texts.join("; ") };
            html.open("li", &[]).element(
                "button",
                &[("type", "button"), ("class", "link"), ("data-act", "branch"), ("data-place", &place.to_string())],
                &text,
            );
            html.close("li");
        }
        html.close("ul").close("details");
    }
    html.finish()
}
