//! The settings that only this lab has.

use lease_lab_scenarios::knobs::{Knob, Takes};
use lease_lab_sim::intervention::{Change, parse_one};
use lease_lab_sim::settings::Plan;
use lease_lab_sim::time::{Span, TrueTime};
use leptos::prelude::*;
use wasm_bindgen::JsCast as _;
use web_sys::{HtmlInputElement, HtmlSelectElement};

use crate::dom::closest;
use crate::html::Html;
use crate::state::Lab;

/// A field for each knob.
pub(super) fn knobs(lab: Lab) -> impl IntoView {
    let knobs = lab.scenario.knobs;
    let mistake = RwSignal::new(String::new());
    let changed = move |event: web_sys::Event| {
        let Some(field) = closest(&event, "[data-knob]") else { return };
        let key = field.get_attribute("data-knob").unwrap_or_default();
        let value = match field.dyn_into::<HtmlSelectElement>() {
            Ok(select) => select.value(),
            Err(other) => other.unchecked_into::<HtmlInputElement>().value(),
        };
        let done = parse_one(&format!("0 set {key} {}", value.trim()))
            .and_then(|intervention| lab.set_rule(TrueTime::ZERO, intervention.change));
        mistake.set(done.err().map_or(String::new(), |wrong| wrong.to_string()));
    };
    (!knobs.is_empty()).then(|| {
        let plain = (lab.scenario.plan)();
        let defaults: Vec<String> = knobs.iter().map(|knob| default_of(knob, &plain)).collect();
        view! {
            <section class="card knobs" aria-labelledby="knobs-title">
                <h2 id="knobs-title">"Settings of this lab"</h2>
                <div
                    on:change=changed
                    inner_html=Signal::derive(move || {
                        let history = lab.history.read();
                        let mut html = Html::default();
                        for (knob, default) in knobs.iter().zip(&defaults) {
                            let set = history.list().iter().rev().filter(|entry| entry.on).find_map(|entry| {
                                match &entry.intervention.change {
                                    Change::Set { key, value } if key == knob.key => Some(value.clone()),
                                    _ => None,
                                }
                            });
                            field(&mut html, knob, set.as_ref().unwrap_or(default));
                        }
                        html.finish()
                    })
                ></div>
                <p class="mistake" role="alert">{mistake}</p>
            </section>
        }
    })
}

fn field(html: &mut Html, knob: &Knob, value: &str) {
    html.open("label", &[("class", "knob")]).element("span", &[], knob.name);
    match &knob.takes {
        Takes::Choice(choices) => {
            html.open("select", &[("data-knob", knob.key)]);
            for choice in *choices {
                let selected: &[(&str, &str)] = if choice.value == value {
                    &[("value", choice.value), ("selected", "")]
                } else {
                    &[("value", choice.value)]
                };
                html.element("option", selected, choice.means);
            }
            html.close("select");
        }
        Takes::Seconds { .. } | Takes::Count { .. } => {
            html.open("span", &[("class", "number")]).open(
                "input",
                &[
                    ("type", "text"),
                    ("inputmode", "decimal"),
                    ("size", "6"),
                    ("data-knob", knob.key),
                    ("value", value),
                    ("placeholder", "none"),
                    ("title", &knob.expected()),
                ],
            );
            html.text(if matches!(knob.takes, Takes::Seconds { .. }) { " s" } else { "" }).close("span");
        }
    }
    html.close("label");
}

/// The value that changes nothing in the lab's own plan: what the lab has when nothing is set.
fn default_of(knob: &Knob, plain: &Plan) -> String {
    let changes_nothing = |value: &str| {
        let mut plan = plain.clone();
        knob.apply(&mut plan, value).is_ok() && plan == *plain
    };
    let found = match &knob.takes {
        Takes::Choice(choices) => {
            choices.iter().map(|choice| choice.value.to_owned()).find(|value| changes_nothing(value))
        }
        // Values that somebody would choose; a plan of thousands of programs is not laid down hundreds of times.
        Takes::Seconds { from, to, .. } => {
            const TENTHS: [i64; 17] = [0, 1, 2, 5, 10, 15, 20, 30, 40, 50, 60, 80, 100, 120, 150, 200, 300];
            let short = [10, 20, 50].map(Span::millis);
            let spans = TENTHS.iter().map(|tenths| Span::millis(tenths * 100)).chain(short);
            spans
                .filter(|span| span >= from && span <= to)
                .map(|span| span.to_string())
                .find(|value| changes_nothing(value))
        }
        Takes::Count { from, to, .. } => {
            const COUNTS: [u32; 20] =
                [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 20, 30, 50, 100, 200, 500, 600, 1_000, 2_000, 3_000];
            let counts = COUNTS.iter().filter(|count| (from..=to).contains(count));
            counts.map(ToString::to_string).find(|value| changes_nothing(value))
        }
    };
    found.unwrap_or_default()
}
