//! A lab's texts: what to try, what to notice, what it comes to, and where it stands in the course.

use lease_lab_links::{Entry, List, all_on, with_rule};
use lease_lab_scenarios::scenario::Variant;
use lease_lab_scenarios::{parts, shelf};
use lease_lab_sim::intervention::parse_list;
use leptos::prelude::*;

use crate::dom::closest;
use crate::html::Html;
use crate::state::Lab;

/// The list of a variant: the lab's own interventions with its changes, or its changes alone.
pub(super) fn list_of(lab: Lab, variant: &Variant) -> List {
    let mut list = if variant.alone { List::new() } else { all_on(lab.scenario.own_interventions()) };
    // A test reads those of every lab.
    for intervention in parse_list(variant.adds).unwrap_or_default() {
        list = with_rule(&list, intervention.at, &intervention.change);
    }
    list
}

/// One button for the lab as it is and for each variant.
pub(crate) fn try_it(lab: Lab) -> impl IntoView {
    let variants = lab.scenario.variants;
    let present = Memo::new(move |_| {
        let history = lab.history.read();
        if *history.list() == all_on(lab.scenario.own_interventions()) {
            return Some(0);
        }
        variants
            .iter()
            .position(|variant| active_texts(&list_of(lab, variant)) == active_texts(history.list()))
            .map(|place| place + 1)
    });
    let clicked = move |event: web_sys::MouseEvent| {
        let place = closest(&event, "[data-variant]").and_then(|button| button.get_attribute("data-variant"));
        let Some(place) = place.and_then(|place| place.parse::<usize>().ok()) else { return };
        let list = match place.checked_sub(1).and_then(|place| variants.get(place)) {
            Some(variant) => list_of(lab, variant),
            None => all_on(lab.scenario.own_interventions()),
        };
        // A test has run every variant.
        let _ = lab.change(list);
        lab.announcement.set(format!("Shown: {}", name(variants, place)));
    };
    (!variants.is_empty()).then(|| {
        view! {
            <div class="try" role="group" aria-label="Try it">
                <span class="choice-name">"Try it"</span>
                <div
                    class="choice"
                    on:click=clicked
                    inner_html=Signal::derive(move || {
                        let mut html = Html::default();
                        for place in 0..=variants.len() {
                            let pressed = if present.get() == Some(place) { "true" } else { "false" };
                            let attributes = [
                                ("type", "button"),
                                ("class", "toggle"),
                                ("data-variant", &place.to_string()),
                                ("aria-pressed", pressed),
                            ];
                            html.element("button", &attributes, name(variants, place));
                        }
                        html.finish()
                    })
                ></div>
            </div>
        }
    })
}

fn name(variants: &'static [Variant], place: usize) -> &'static str {
    place.checked_sub(1).and_then(|place| variants.get(place)).map_or("as it is", |variant| variant.name)
}

/// What is on, in an order that does not depend on how the list came about.
fn active_texts(list: &[Entry]) -> Vec<String> {
    list.iter().filter(|entry| entry.on).map(|entry| entry.intervention.to_string()).collect()
}

pub(super) fn notice(lab: Lab) -> impl IntoView {
    notice_of(lab.scenario.notice)
}

/// The same for a page without a run.
pub(super) fn notice_of(paragraphs: &'static [&'static str]) -> impl IntoView {
    (!paragraphs.is_empty()).then(|| {
        view! {
            <section class="card notice-card" aria-labelledby="notice-title">
                <h2 id="notice-title">"What to notice"</h2>
                {paragraphs.iter().map(|text| view! { <p>{*text}</p> }).collect_view()}
            </section>
        }
    })
}

/// The numbers that this run comes to.
pub(super) fn measures(lab: Lab) -> impl IntoView {
    let has_any = !lab.run.read_untracked().measures().is_empty();
    has_any.then(|| {
        view! {
            <section class="card measures" aria-labelledby="measures-title">
                <h2 id="measures-title">"What this run comes to"</h2>
                <dl inner_html=Signal::derive(move || {
                    let mut html = Html::default();
                    for measure in lab.run.read().measures() {
                        html.element("dt", &[], &measure.name);
                        html.open("dd", &[]);
                        let value = measure.value.map_or("not in this run".into(), |value| value.told());
                        html.element("strong", &[], &value);
                        if !measure.how.is_empty() {
                            html.element("span", &[("class", "how")], &measure.how);
                        }
                        html.close("dd");
                    }
                    html.finish()
                })></dl>
            </section>
        }
    })
}

/// The part's own text, its labs, and the labs before and after.
pub(super) fn part_and_neighbours(id: &'static str, part: u8) -> impl IntoView {
    let mut html = Html::default();
    if let Some(part) = parts::find(part) {
        html.element(
            "h2",
            &[("id", "part-title")],
            &format!("Part {} of {}: {}", part.number, parts::ALL.len(), part.name),
        );
        for paragraph in part.intro {
            html.element("p", &[], paragraph);
        }
        html.open("ul", &[("class", "siblings")]);
        for lab in shelf::labs().filter(|lab| lab.part == part.number) {
            html.open("li", &[]);
            if lab.id == id {
                html.element("strong", &[("aria-current", "page")], lab.name);
            } else {
                html.element("a", &[("href", &format!("?lab={}", lab.id))], lab.name);
            }
            html.close("li");
        }
        html.close("ul");
    }
    let (before, after) = shelf::neighbours(id);
    html.open("p", &[("class", "neighbours")]);
    for (lab, word) in [(before, "Before: "), (after, "Next: ")] {
        if let Some(lab) = lab {
            html.element("a", &[("href", &format!("?lab={}", lab.id))], &format!("{word}{}", lab.name));
        }
    }
    html.close("p");
    view! { <section class="part" aria-labelledby="part-title" inner_html=html.finish()></section> }
}
