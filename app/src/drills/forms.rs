//! What a learner commits with: one form for each sort of answer.

use lease_lab_drills::drill::{Ask, Choice, Item, Offer, Task};
use lease_lab_drills::grade::Answer;
use lease_lab_drills::query::{read_number, told};
use lease_lab_sim::time::TrueTime;
use leptos::prelude::*;

use super::one::{One, Stage};
use crate::{components, dom};

/// An answer of fewer letters than this is no attempt at one.
const EXPLANATION_MIN: usize = 20;

pub(super) fn show(one: One) -> AnyView {
    let form = match one.drill.task {
        Task::Predict { ask, .. } => match ask {
            Ask::Choose { options, .. } => choose(one, options).into_any(),
            Ask::Order { items, .. } => order(one, items).into_any(),
            Ask::Number { unit, tolerance_micros, min_micros, max_micros, .. } => {
                number(one, unit, tolerance_micros, (min_micros, max_micros)).into_any()
            }
            Ask::Mark { tolerance_micros, .. } => mark(one, tolerance_micros).into_any(),
        },
        Task::BreakIt { limit, hints, .. } => break_it(one, limit, hints).into_any(),
        Task::FixIt { changes, .. } => fix_it(one, changes).into_any(),
        Task::Explain { answer, check, .. } => match one.stage.get_untracked() {
            Stage::Comparing => compare(one, answer, check).into_any(),
            _ => explain(one).into_any(),
        },
    };
    view! {
        {form}
        <p class="mistake" role="alert">{one.mistake}</p>
    }
    .into_any()
}

/// What comes after the commitment is said beside its button.
fn commit_button(text: &'static str) -> impl IntoView {
    view! {
        <p class="commit">
            <button type="submit" class="act">{text}</button>
            <span class="soft small">"You cannot change it afterwards."</span>
        </p>
    }
}

fn choose(one: One, options: &'static [Choice]) -> impl IntoView {
    let chosen = RwSignal::new(None::<usize>);
    let submit = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        match chosen.get_untracked() {
            Some(place) => one.commit(&Answer::Option(place)),
            None => one.mistake.set("Nothing is chosen yet: choose what you expect.".into()),
        }
    };
    view! {
        <form class="answers" on:submit=submit>
            <fieldset>
                <legend class="visually-hidden">"What do you expect?"</legend>
                {options
                    .iter()
                    .enumerate()
                    .map(|(place, option)| {
                        view! {
                            <label class="answer-option">
                                <input type="radio" name="option" on:change=move |_| chosen.set(Some(place))/>
                                <span>{option.text}</span>
                            </label>
                        }
                    })
                    .collect_view()}
            </fieldset>
            {commit_button("Commit to this")}
        </form>
    }
}

fn order(one: One, items: &'static [Item]) -> impl IntoView {
    let order = RwSignal::new((0..items.len()).collect::<Vec<usize>>());
    let said = RwSignal::new(String::new());
    let shift = move |item: usize, down: bool| {
        let list = order.get_untracked();
        let Some(from) = list.iter().position(|other| *other == item) else { return };
        let to = if down { from + 1 } else { from.wrapping_sub(1) };
        if to >= list.len() {
            return;
        }
        order.update(|order| order.swap(from, to));
        said.set(format!("{}: now {} of {}", items[item].text, to + 1, items.len()));
    };
    let submit = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        one.commit(&Answer::Order(order.get_untracked()));
    };
    view! {
        <form class="answers" on:submit=submit>
            <ol class="order">
                <For each=move || order.get() key=|item| *item let:item>
                    <li>
                        <span class="order-text">{items[item].text}</span>
                        <span class="order-moves">
                            <button
                                type="button"
                                class="quiet"
                                aria-label=format!("Earlier: {}", items[item].text)
                                on:click=dom::on_mouse(move |_| shift(item, false))
                            >
                                "↑"
                            </button>
                            <button
                                type="button"
                                class="quiet"
                                aria-label=format!("Later: {}", items[item].text)
                                on:click=dom::on_mouse(move |_| shift(item, true))
                            >
                                "↓"
                            </button>
                        </span>
                    </li>
                </For>
            </ol>
            <p class="visually-hidden" role="status">{said}</p>
            {commit_button("Commit to this order")}
        </form>
    }
}

/// Reads a number as people type it: `5,000` is five thousand, and decimals have a point.
fn typed(text: &str) -> Option<i64> {
    let text: String = text.trim().replace([' ', '\u{a0}', '\u{202f}'], "");
    let mut groups = text.split(',');
    let first = groups.next().unwrap_or_default();
    let mut whole = first.to_owned();
    let rest: Vec<&str> = groups.collect();
    for (place, group) in rest.iter().enumerate() {
        let digits = if place + 1 == rest.len() { group.split('.').next().unwrap_or_default() } else { group };
        if digits.len() != 3 {
            return None;
        }
        whole.push_str(group);
    }
    read_number(&whole)
}

fn number(one: One, unit: &'static str, tolerance: i64, (min, max): (i64, i64)) -> impl IntoView {
    let text = RwSignal::new(String::new());
    let expected = format!("expected a number from {} to {}", told(min, ""), told(max, unit));
    let counts = match tolerance {
        0 => "It must be exact.".to_owned(),
        _ => format!("Up to {} more or less still counts.", told(tolerance, unit)),
    };
    let submit = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        let typed_text = text.get_untracked();
        match typed(&typed_text).filter(|number| (min..=max).contains(number)) {
            Some(number) => one.commit(&Answer::Number(number)),
            None if typed_text.trim().is_empty() => one.mistake.set(format!("Nothing is typed yet: {expected}.")),
            None => one.mistake.set(format!(
                "“{}” cannot be used; {expected}, such as 7.5.",
                lease_lab_links::shorten(typed_text.trim())
            )),
        }
    };
    view! {
        <form class="answers" on:submit=submit>
            <label class="number-answer">
                <span>"Your answer"</span>
                <input
                    type="text"
                    inputmode="decimal"
                    autocomplete="off"
                    class="mono"
                    aria-describedby="number-counts"
                    on:input:target=move |event| text.set(event.target().value())
                />
                <span>{unit}</span>
            </label>
            <p id="number-counts" class="soft small">{counts}</p>
            {commit_button("Commit to this number")}
        </form>
    }
}

fn mark(one: One, tolerance: i64) -> impl IntoView {
    let Some((drilled, horizon)) = one.drilled().zip(one.lab.map(|lab| lab.horizon())) else {
        return ().into_any();
    };
    drilled.marking.set(true);
    let expected = format!("expected seconds from 0 to {}", horizon.told());
    let wrong = format!("This is no instant of the run; {expected}, such as 7.5.");
    let submit = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        match drilled.mark.get_untracked() {
            Some(at) => one.commit(&Answer::Mark(at)),
            None => {
                one.mistake.set(format!("Nothing is marked yet: press on the timeline, or type the time; {expected}."))
            }
        }
    };
    view! {
        <form class="answers" novalidate on:submit=submit>
            <p>"Press on the timeline, also where nothing is drawn yet, or type the time. The arrow keys move it by 0.1 s."</p>
            <label class="number-answer">
                <span>"Your instant"</span>
                <input
                    type="number"
                    min="0"
                    max=horizon.to_string()
                    step="0.1"
                    class="mono"
                    aria-describedby="number-counts"
                    prop:value=move || drilled.mark.get().map_or(String::new(), |at| at.to_string())
                    on:change:target=move |event| {
                        let text = event.target().value();
                        let at = typed(&text).map(TrueTime::from_micros).filter(|at| *at >= TrueTime::ZERO && *at <= horizon);
                        drilled.mark.set(at);
                        one.mistake.set(if at.is_none() && !text.is_empty() { wrong.clone() } else { String::new() });
                    }
                />
                <span>"s"</span>
            </label>
            <p id="number-counts" class="soft small">
                {format!("Up to {} more or less still counts.", told(tolerance, "s"))}
            </p>
            {commit_button("Commit to this instant")}
        </form>
    }
    .into_any()
}

fn break_it(one: One, limit: u8, hints: &'static [&'static str]) -> impl IntoView {
    let shown = RwSignal::new(0_usize);
    let submit = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        let planned = one.planned();
        if planned.is_empty() {
            one.mistake.set("Nothing is planned yet: add what you want to happen.".into());
            return;
        }
        one.commit(&Answer::Interventions(planned));
    };
    view! {
        <p>
            "Move the cursor, then open “Change what happens” under the timeline. The drawing stays as it is until you \
             commit: think first what your plan will do."
        </p>
        {one.lab.map(components::drill_changes)}
        <form class="answers" on:submit=submit>
            <p class="soft">
                {move || format!("{} of at most {limit} used.", one.planned().len())}
            </p>
            {commit_button("Run this plan")}
        </form>
        <div class="hints">
            <ol>
                {move || hints.iter().take(shown.get()).map(|hint| view! { <li>{*hint}</li> }).collect_view()}
            </ol>
            <button
                type="button"
                class="quiet"
                class:hidden=move || hints.len() <= shown.get()
                on:click=dom::on_mouse(move |_| shown.update(|count| *count += 1))
            >
                {move || if shown.get() == 0 { "Show a hint" } else { "Show another hint" }}
            </button>
        </div>
    }
}

fn fix_it(one: One, changes: &'static [Offer]) -> impl IntoView {
    let chosen = RwSignal::new(Vec::<usize>::new());
    let submit = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        if chosen.read_untracked().is_empty() {
            one.mistake.set("Nothing is chosen yet: choose at least one change.".into());
            return;
        }
        one.commit(&Answer::Changes(chosen.get_untracked()));
    };
    let attacks = match one.drill.task {
        Task::FixIt { attacks, .. } => attacks,
        _ => &[],
    };
    let shown = RwSignal::new(None::<usize>);
    let show_attack = move |attack: Option<usize>| {
        shown.set(attack);
        one.give(one.changed(&[], attack));
        if let Some(lab) = one.lab {
            lab.seek(lab.horizon());
        }
    };
    view! {
        <p>"Look first at what each attack does to the setting as it is."</p>
        <div class="choice attacks" role="group" aria-label="Show the setting under">
            <button
                type="button"
                class="toggle"
                aria-pressed=move || (shown.get().is_none()).to_string()
                on:click=dom::on_mouse(move |_| show_attack(None))
            >
                "no attack"
            </button>
            {attacks
                .iter()
                .enumerate()
                .map(|(place, attack)| {
                    view! {
                        <button
                            type="button"
                            class="toggle"
                            aria-pressed=move || (shown.get() == Some(place)).to_string()
                            on:click=dom::on_mouse(move |_| show_attack(Some(place)))
                        >
                            {attack.name}
                        </button>
                    }
                })
                .collect_view()}
        </div>
        <form class="answers" on:submit=submit>
            <fieldset>
                <legend>"Change as little as you can"</legend>
                {changes
                    .iter()
                    .enumerate()
                    .map(|(place, change)| {
                        view! {
                            <label class="answer-option">
                                <input
                                    type="checkbox"
                                    on:change:target=move |event| {
                                        let takes = event.target().checked();
                                        chosen.update(|chosen| {
                                            chosen.retain(|other| *other != place);
                                            if takes {
                                                chosen.push(place);
                                            }
                                        });
                                    }
                                />
                                <span>{change.text}</span>
                            </label>
                        }
                    })
                    .collect_view()}
            </fieldset>
            {commit_button("Run all attacks")}
        </form>
    }
}

fn explain(one: One) -> impl IntoView {
    let text = RwSignal::new(String::new());
    let submit = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        if text.read_untracked().trim().chars().count() < EXPLANATION_MIN {
            one.mistake.set("Write two or three sentences first, as you would say them in an interview.".into());
            return;
        }
        one.mistake.set(String::new());
        one.written.set(text.get_untracked());
        one.stage.set(Stage::Comparing);
        dom::focus_soon("#compare-title");
    };
    view! {
        <form class="answers" on:submit=submit>
            <label class="text-answer">
                <span>"Your answer, in a few sentences"</span>
                <textarea rows="6" on:input:target=move |event| text.set(event.target().value())></textarea>
            </label>
            {commit_button("Compare with a model answer")}
        </form>
    }
}

fn compare(one: One, answer: &'static [&'static str], check: &'static [&'static str]) -> impl IntoView {
    let ticked = RwSignal::new(vec![false; check.len()]);
    let submit = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        one.commit(&Answer::SelfCheck(ticked.get_untracked()));
    };
    view! {
        <h3 id="compare-title" tabindex="-1">"Your answer"</h3>
        <blockquote class="own-words">{one.written.get_untracked()}</blockquote>
        <h3>"A model answer"</h3>
        <p>{answer.join(" ")}</p>
        <form class="answers" on:submit=submit>
            <fieldset>
                <legend>"Which of these does your answer have? Be strict: it is for you alone."</legend>
                {check
                    .iter()
                    .enumerate()
                    .map(|(place, point)| {
                        view! {
                            <label class="answer-option">
                                <input
                                    type="checkbox"
                                    on:change:target=move |event| {
                                        let has = event.target().checked();
                                        ticked.update(|ticked| ticked[place] = has);
                                    }
                                />
                                <span>{*point}</span>
                            </label>
                        }
                    })
                    .collect_view()}
            </fieldset>
            {commit_button("Keep this result")}
        </form>
    }
}
