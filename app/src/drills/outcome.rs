//! What happened beside what was predicted, why, and what to try next.

use lease_lab_drills::drill::{Attack, Setup, Task};
use lease_lab_drills::grade::{Answer, Graded, grade};
use lease_lab_drills::{Drill, Kind};
use lease_lab_scenarios::why::why;
use lease_lab_sim::intervention::Intervention;
use lease_lab_sim::time::TrueTime;
use leptos::prelude::*;

use super::one::{One, link_to};
use crate::dom::{self, closest};
use crate::html::Html;

pub(super) fn show(one: One, then: Vec<&'static Drill>) -> AnyView {
    let Some(graded) = one.graded.get_untracked() else { return ().into_any() };
    let drill = one.drill;
    let answer = last_answer(one);
    let mut result = Html::default();
    comparison(&mut result, one, &graded);
    let mut reason = Html::default();
    let mut lists: Vec<Vec<Intervention>> = Vec::new();
    runs(&mut reason, one, &graded, answer.as_ref(), &mut lists);
    explanation(&mut reason, drill, &graded);
    // Who is to find a way should be able to try again without having read it.
    let keeps_secret = !graded.right && matches!(drill.kind(), Kind::BreakIt | Kind::FixIt);
    let follow = move |event: web_sys::MouseEvent| follow(one, &lists, &event);
    let sign = if graded.right { "✓" } else { "✕" };
    let verdict = if graded.right { "Right" } else { "Not this time" };
    let reason = reason.finish();
    let reason = if keeps_secret {
        let mut secret = Html::default();
        secret.open("details", &[("class", "more")]).element("summary", &[], "Give up, and read why");
        format!("{}{reason}</details>", secret.finish())
    } else {
        reason
    };
    view! {
        <h3 id="result-title" tabindex="-1" class="result" class:bad=!graded.right>
            <span aria-hidden="true" class="sign">{sign}</span>
            {verdict}
        </h3>
        <div class="told" inner_html=result.finish()></div>
        <div class="told" on:click=dom::on_mouse(follow) inner_html=reason></div>
        {(!keeps_secret).then(|| variation(drill))}
        {next(one, then)}
    }
    .into_any()
}

fn last_answer(one: One) -> Option<Answer> {
    let progress = one.drills.kept.progress.read_untracked();
    Answer::read(&progress.attempts(one.drill.id).last()?.answer)
}

fn comparison(html: &mut Html, one: One, graded: &Graded) {
    let progress = one.drills.kept.progress.read_untracked();
    let attempts = progress.attempts(one.drill.id);
    if one.recalled.get_untracked()
        && let Some(last) = attempts.last()
    {
        html.element("p", &[("class", "soft")], &format!("You answered this on {}.", date(last.day)));
    }
    let (said, found) = match one.drill.kind() {
        Kind::Predict => ("You predicted", "The run"),
        Kind::BreakIt => ("Your plan", "The run"),
        Kind::FixIt => ("Your change", "The runs"),
        Kind::Explain => ("Your answer has", "A model answer"),
    };
    html.open("dl", &[("class", "comparison")]);
    html.element("dt", &[], said).element("dd", &[], &graded.predicted);
    html.element("dt", &[], found).element("dd", &[], &graded.truth).close("dl");
    if !graded.feedback.is_empty() {
        html.element("p", &[("class", "feedback")], &graded.feedback);
    }
    if let Some(misconception) = graded.misconception {
        html.open("p", &[("class", "soft")]).text("What stands behind such an answer: ");
        html.element("em", &[], &format!("“{misconception}”")).text(".").close("p");
    }
    // The first answer is told honestly, however often the drill came back.
    if let [first, .., _] = attempts
        && let Some(before) = Answer::read(&first.answer).and_then(|answer| grade(one.drill, &answer).ok())
    {
        let word = if first.right { "right" } else { "not right" };
        let text = format!("Your first answer, on {}: {} It was {word}.", date(first.day), sentence(&before.predicted));
        html.element("p", &[("class", "soft")], &text);
    }
}

/// With a full stop, unless it has one.
fn sentence(text: &str) -> String {
    if text.ends_with(['.', '!', '?']) { text.to_owned() } else { format!("{text}.") }
}

/// The runs that can be shown, each with its list: further runs, or one for each attack.
fn runs(html: &mut Html, one: One, graded: &Graded, answer: Option<&Answer>, lists: &mut Vec<Vec<Intervention>>) {
    let drill = one.drill;
    if let Task::FixIt { attacks, .. } = drill.task {
        let chosen = match answer {
            Some(Answer::Changes(chosen)) => chosen.as_slice(),
            _ => &[],
        };
        html.open("ul", &[("class", "runs"), ("aria-label", "The runs with your change")]);
        for run in 0..graded.runs.len() {
            let attack = run.checked_sub(1);
            let name = attack.and_then(|place| attacks.get(place)).map_or("no attack", |Attack { name, .. }| *name);
            let failed = graded.checks.iter().find(|check| check.run == run && !check.holds);
            lists.push(one.changed(chosen, attack));
            let (sign, word) = if failed.is_some() { ("✕", "does not hold") } else { ("✓", "holds") };
            html.open("li", &[("class", if failed.is_some() { "bad" } else { "" })]);
            html.element("span", &[("class", "sign"), ("aria-hidden", "true")], sign);
            html.text(&format!("{name}: {word}"));
            if let Some(failed) = failed {
                html.text(&format!(
                    " ({}{})",
                    failed.condition,
                    if failed.how.is_empty() { String::new() } else { format!(", {}", failed.how) }
                ));
            }
            html.text(" ");
            html.element("button", &[("type", "button"), ("class", "link"), ("data-run", &run.to_string())], "show");
            html.close("li");
        }
        html.close("ul");
        return;
    }
    for check in graded.checks.iter().filter(|check| !check.holds) {
        let how = if check.how.is_empty() { String::new() } else { format!(": {}", check.how) };
        html.element("p", &[("class", "soft")], &format!("Not reached: {}{how}.", check.condition));
    }
    lists.push(drill.setup.interventions().unwrap_or_default());
    if drill.also.is_empty() {
        return;
    }
    html.open("ul", &[("class", "runs"), ("aria-label", "The runs that were compared")]);
    html.open("li", &[]).text("the run above ");
    html.element("button", &[("type", "button"), ("class", "link"), ("data-run", "0")], "show").close("li");
    for (place, also) in drill.also.iter().enumerate() {
        lists.push(also.setup.interventions().unwrap_or_default());
        html.open("li", &[]).text(also.text).text(" ");
        if also.setup.lab == drill.setup.lab {
            let run = (place + 1).to_string();
            html.element("button", &[("type", "button"), ("class", "link"), ("data-run", &run)], "show");
        } else {
            html.element("a", &[("href", &lab_address(&also.setup))], "open");
        }
        html.close("li");
    }
    html.close("ul");
}

fn explanation(html: &mut Html, drill: &Drill, graded: &Graded) {
    if !drill.why.is_empty() {
        html.element("h3", &[], "Why");
    }
    for paragraph in drill.why {
        html.element("p", &[], paragraph);
    }
    if let Task::BreakIt { solution, .. } = drill.task {
        html.open("p", &[]).text("The shortest known way: ");
        html.element("code", &[], solution).text(".").close("p");
    }
    if graded.shows.is_empty() {
        return;
    }
    html.element("h3", &[], "The events that show it");
    html.open("ol", &[("class", "shown-events")]);
    for (place, at_event) in &graded.shows {
        let Some(named) = graded.runs.get(*place) else { continue };
        let Some(event) = named.run.events.get(*at_event) else { continue };
        let (run, at) = (place.to_string(), event.t.as_micros().to_string());
        html.open("li", &[]);
        html.element(
            "button",
            &[("type", "button"), ("class", "link"), ("data-run", &run), ("data-at", &at)],
            &format!("{} s", event.t.told()),
        );
        html.text(" ").text(&why(event, &named.run.plan)).close("li");
    }
    html.close("ol");
}

/// Shows the run that a button names, at the instant that it names.
fn follow(one: One, lists: &[Vec<Intervention>], event: &web_sys::MouseEvent) {
    let (Some(lab), Some(button)) = (one.lab, closest(event, "[data-run]")) else { return };
    let run = button.get_attribute("data-run").and_then(|run| run.parse::<usize>().ok());
    if let Some(list) = run.and_then(|run| lists.get(run)) {
        one.give(list.clone());
    }
    let at = button.get_attribute("data-at").and_then(|at| at.parse().ok());
    lab.step_to(at.map_or(lab.horizon(), TrueTime::from_micros));
}

/// The address of a lab with exactly these interventions.
fn lab_address(setup: &Setup) -> String {
    let encoded = |text: &str| String::from(js_sys::encode_uri_component(text));
    let list = setup.interventions.map_or(String::new(), |text| format!("&do={}", encoded(text)));
    let seed = if setup.seed == 0 { String::new() } else { format!("&seed={}", setup.seed) };
    format!("?lab={}{list}{seed}", setup.lab)
}

fn variation(drill: &'static Drill) -> impl IntoView {
    let setup = match (drill.variation, drill.task) {
        (Some(variation), _) => Some((variation.text, variation.setup)),
        (None, Task::Explain { .. }) => Some(("See it happen.", drill.setup)),
        (None, _) => None,
    };
    setup.map(|(text, setup)| {
        view! {
            <h3>"Try it"</h3>
            <p>{text} " " <a href=lab_address(&setup)>"Open the lab"</a></p>
        }
    })
}

fn next(one: One, then: Vec<&'static Drill>) -> impl IntoView {
    let in_session = link_to(&then);
    let following = || {
        let progress = one.drills.kept.progress.read_untracked();
        let after = lease_lab_drills::all().skip_while(|drill| drill.id != one.drill.id).skip(1);
        let fresh = after.chain(lease_lab_drills::all()).find(|drill| progress.attempts(drill.id).is_empty());
        fresh.and_then(|drill| link_to(&[drill]))
    };
    let next = in_session.or_else(following);
    view! {
        <p class="next">
            {next.map(|(address, title)| view! { <a class="act" href=address>{format!("Next: {title}")}</a> })}
            <button type="button" class="quiet" on:click=dom::on_mouse(move |_| one.again())>"Answer again"</button>
            <a class="quiet" href="?drill">"All drills"</a>
        </p>
    }
}

/// A day as a date.
pub(super) fn date(day: u32) -> String {
    let at = js_sys::Date::new(&wasm_bindgen::JsValue::from_f64(f64::from(day) * 86_400_000.0));
    String::from(at.to_iso_string()).chars().take(10).collect()
}
