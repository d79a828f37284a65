//! The same run with something different, beside the one that is shown.

use lease_lab_drawing::svg::px;
use lease_lab_drawing::timeline::{Options, draw};
use lease_lab_drawing::views::difference;
use lease_lab_links::Beside;
use lease_lab_scenarios::report::verdict_name;
use lease_lab_sim::invariants::Invariant;
use leptos::prelude::*;

use super::extras;
use crate::components::verdict_title;
use crate::html::{Html, follow_jump};
use crate::state::Lab;

/// What can always be compared: a name and what it adds.
const OTHERS: [(&str, &str); 9] = [
    ("fence on", "0 fence on"),
    ("fence off", "0 fence off"),
    ("on the replicated log", "0 service consensus"),
    ("on Redis with a replica", "0 service redis"),
    ("on Redlock", "0 service redlock"),
    ("on a lease item", "0 service lease-item"),
    ("on an SQL database", "0 store sql"),
    ("on DynamoDB", "0 store dynamodb"),
    ("on S3", "0 store s3"),
];

/// A choice of what to compare with, and both runs side by side.
pub(super) fn compare(lab: Lab) -> impl IntoView {
    let variants = lab.scenario.variants;
    let choose = move |value: String| {
        let variant = value.strip_prefix("variant-").and_then(|place| place.parse::<usize>().ok());
        let with = match variant.and_then(|place| variants.get(place)) {
            Some(variant) => Some(Beside { text: variant.adds.to_owned(), alone: variant.alone }),
            None if value.is_empty() => None,
            None => Some(Beside { text: value, alone: false }),
        };
        lab.reveal();
        lab.with.set(with);
    };
    view! {
        <section class="card beside" aria-labelledby="beside-title">
            <div class="card-head">
                <h2 id="beside-title">"The same, with something different"</h2>
                <select
                    aria-label="Compare with"
                    on:change:target=move |event| choose(event.target().value())
                    inner_html=options(lab)
                ></select>
            </div>
            {move || match lab.other_run.read().is_some() {
                true => both(lab).into_any(),
                false => view! { <p class="soft">"Choose a change, and both runs stand one below the other."</p> }.into_any(),
            }}
        </section>
    }
}

fn options(lab: Lab) -> String {
    let now = lab.with.get_untracked();
    let is_now = |text: &str, alone: bool| now.as_ref().is_some_and(|with| with.text == text && with.alone == alone);
    let mut html = Html::default();
    html.element("option", &[("value", "")], "nothing to compare with");
    let mut option = |value: &str, text: &str, selected: bool| {
        let with: &[(&str, &str)] = if selected { &[("value", value), ("selected", "")] } else { &[("value", value)] };
        html.element("option", with, text);
    };
    let mut known = now.is_none();
    for (place, variant) in lab.scenario.variants.iter().enumerate() {
        let selected = is_now(variant.adds, variant.alone);
        known |= selected;
        option(&format!("variant-{place}"), variant.name, selected);
    }
    for (name, text) in OTHERS {
        let selected = is_now(text, false) && !known;
        known |= selected;
        option(text, name, selected);
    }
    if let (false, Some(with)) = (known, &now) {
        option(&with.text, &with.text, true);
    }
    html.finish()
}

fn both(lab: Lab) -> impl IntoView {
    let (place, width) = extras::measured();
    let picture = Memo::new(move |_| {
        let (from, to) = lab.window.get();
        let options = Options { width: width.get(), from, to, until: lab.until.get() };
        lab.other_run.read().as_ref().map(|other| draw(other, None, options))
    });
    view! {
        <p
            class="first-difference"
            inner_html=Signal::derive(move || first_difference(lab))
            on:click=move |event| follow_jump(lab, &event)
        ></p>
        <div class="timeline still" node_ref=place>
            {move || picture.read().as_ref().map(|picture| {
                let (width, height) = (px(picture.layout.width), px(picture.layout.height));
                let label = "Timeline of the other run; the table below has its verdicts and numbers.";
                view! {
                    <svg role="img" aria-label=label width=width.clone() height=height.clone() viewBox=format!("0 0 {width} {height}")>
                        <g class="drawing" inner_html=picture.svg.clone()></g>
                    </svg>
                }
            })}
        </div>
        <div inner_html=Signal::derive(move || table(lab))></div>
    }
}

fn first_difference(lab: Lab) -> String {
    let mut html = Html::default();
    if let Some(other) = lab.other_run.read().as_deref() {
        match difference::first(&lab.run.read(), other) {
            Some(at) => html.text("Both runs are alike until ").jump("link", at, &format!("{} s", at.told())).text("."),
            None => html.text("Both runs are alike from beginning to end."),
        };
    }
    html.finish()
}

/// Verdicts and numbers of both.
fn table(lab: Lab) -> String {
    let mut html = Html::default();
    let (run, other) = (lab.run.read(), lab.other_run.read());
    let Some(other) = other.as_ref() else { return html.finish() };
    let mut rows = Vec::new();
    for invariant in Invariant::ALL {
        let [one, two] =
            [&**run, &**other].map(|run| verdict_name(&run.verdict(invariant, run.horizon)).replace('-', " "));
        rows.push(vec![verdict_title(invariant).to_owned(), one, two]);
    }
    let there = other.measures();
    for measure in run.measures() {
        let told = |value: Option<lease_lab_scenarios::measures::Value>| {
            value.map_or("not in this run".into(), |value| value.told())
        };
        let same = there.iter().find(|other| other.id == measure.id).and_then(|other| other.value.clone());
        rows.push(vec![measure.name, told(measure.value), told(same)]);
    }
    super::tables::plain_table(&mut html, "Both runs at their end", &["", "This run", "The other run"], &rows);
    html.finish()
}
