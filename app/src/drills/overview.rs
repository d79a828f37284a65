//! All drills, what has become of them, and a session for today.

use lease_lab_drills::progress::{Due, Progress};
use lease_lab_drills::{Drill, Kind, OUTCOMES};
use lease_lab_scenarios::parts;
use leptos::prelude::*;
use wasm_bindgen::JsCast as _;

use super::{Drills, address, outcome};
use crate::dom;
use crate::html::Html;

/// About five minutes.
const SESSION: usize = 6;

pub(super) fn show(drills: Drills) -> impl IntoView {
    let progress = drills.kept.progress;
    view! {
        {move || drills.kept.trouble.get().map(|trouble| view! { <p class="notice" role="status">{trouble}</p> })}
        <h1>"Think first."</h1>
        <p class="lede">
            "Each drill shows a situation and asks what happens next. You commit to an answer, the simulator runs, and \
             the run decides. What you have answered comes back after one, three and seven days."
        </p>
        <div inner_html=Signal::derive(move || summary(&progress.read()))></div>
        <div inner_html=Signal::derive(move || list(&progress.read()))></div>
        <section class="card outcomes" aria-labelledby="outcomes-title">
            <h2 id="outcomes-title">"What you can do at the end"</h2>
            <div inner_html=Signal::derive(move || outcomes(&progress.read()))></div>
        </section>
        {keeping(drills)}
    }
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// How far the learner is, and the session of today.
fn summary(progress: &Progress) -> String {
    let today = dom::today();
    let all = lease_lab_drills::all().len();
    let answered = lease_lab_drills::all().filter(|drill| !progress.attempts(drill.id).is_empty()).count();
    let due = progress.due_today(today).len();
    let mut html = Html::default();
    html.open("div", &[("class", "summary")]);
    html.open("dl", &[("class", "totals")]);
    for (name, value) in [
        ("Answered", format!("{answered} of {all}")),
        ("Due today", due.to_string()),
        ("Days in a row", progress.streak(today).to_string()),
    ] {
        html.open("div", &[]).element("dt", &[], name).element("dd", &[], &value).close("div");
    }
    html.close("dl");
    let session = progress.session(today, SESSION);
    match session.split_first() {
        Some((first, rest)) => {
            let text = if answered == 0 { "Begin with five minutes" } else { "Five minutes for today" };
            html.element("a", &[("class", "act"), ("href", &address(first, rest))], text);
            let count = counted(session.len(), "drill", "drills");
            html.element(
                "p",
                &[("class", "soft small")],
                &format!("{count}: what is due, what was missed, something new."),
            );
        }
        None => {
            let next = progress.next_day(today).map(|day| format!(" The next comes back on {}.", outcome::date(day)));
            html.element("p", &[], &format!("Nothing is due today.{}", next.unwrap_or_default()));
        }
    }
    html.close("div");
    html.finish()
}

/// The drills, part by part.
fn list(progress: &Progress) -> String {
    let today = dom::today();
    let mut html = Html::default();
    html.open("ol", &[("class", "drill-parts")]);
    for part in &parts::ALL {
        let drills: Vec<&Drill> = lease_lab_drills::of_part(part.number).collect();
        if drills.is_empty() {
            continue;
        }
        html.open("li", &[]).element("h2", &[], &format!("{}. {}", part.number, part.name));
        html.open("ul", &[]);
        for drill in drills {
            let (sign, word) = state(progress, drill, today);
            html.open("li", &[]).element("span", &[("class", "sign"), ("aria-hidden", "true")], sign);
            html.element("a", &[("href", &address(drill, &[]))], drill.title);
            html.element("span", &[("class", "kind")], drill.kind().name());
            html.element("span", &[("class", "state")], &word).close("li");
        }
        html.close("ul").close("li");
    }
    html.close("ol");
    html.finish()
}

/// A sign and words for what has become of a drill.
fn state(progress: &Progress, drill: &Drill, today: u32) -> (&'static str, String) {
    let was_right = progress.attempts(drill.id).last().is_some_and(|attempt| attempt.right);
    match progress.due(drill.id) {
        Due::New => ("○", "new".into()),
        Due::Finished => ("●", "done".into()),
        Due::On(day) if day <= today => ("◐", if was_right { "due".into() } else { "missed, due".into() }),
        Due::On(day) => {
            let word = if was_right { "right" } else { "missed" };
            let when = if day == today + 1 { "tomorrow".to_owned() } else { format!("on {}", outcome::date(day)) };
            ("◐", format!("{word}, again {when}"))
        }
    }
}

fn outcomes(progress: &Progress) -> String {
    let mut html = Html::default();
    html.open("ol", &[]);
    for (place, outcome) in OUTCOMES.iter().enumerate() {
        let (right, all) = progress.proved(place as u8 + 1);
        html.open("li", &[]).text(outcome);
        html.element("span", &[("class", "soft")], &format!(" {right} of {all}")).close("li");
    }
    html.close("ol");
    html.finish()
}

/// Export, import and erase.
fn keeping(drills: Drills) -> impl IntoView {
    let kept = drills.kept;
    let said = RwSignal::new(String::new());
    let wrong = RwSignal::new(String::new());
    let erasing = RwSignal::new(false);
    let say = move |text: String| {
        wrong.set(String::new());
        said.set(text);
    };
    let export = move |_| {
        let text = kept.progress.read_untracked().export();
        match dom::download("lease-lab-progress.json", &text, "application/json") {
            Ok(()) => say("Exported to lease-lab-progress.json.".into()),
            Err(_) => wrong.set("This browser does not let the page write a file.".into()),
        }
    };
    let import = move |text: String| match Progress::import(&text) {
        Ok(progress) => {
            let count = counted(
                lease_lab_drills::all().filter(|drill| !progress.attempts(drill.id).is_empty()).count(),
                "drill",
                "drills",
            );
            kept.replace(progress);
            say(format!("Imported: answers to {count}."));
        }
        Err(sentence) => {
            said.set(String::new());
            wrong.set(format!("Nothing was imported, and nothing has changed: {sentence}."));
        }
    };
    let choose = move |event: web_sys::Event| {
        let Some(input) = event.target().and_then(|target| target.dyn_into::<web_sys::HtmlInputElement>().ok()) else {
            return;
        };
        let Some(file) = input.files().and_then(|files| files.get(0)) else { return };
        leptos::task::spawn_local(async move {
            match wasm_bindgen_futures::JsFuture::from(file.text()).await {
                Ok(text) => import(text.as_string().unwrap_or_default()),
                Err(_) => wrong.set("The file could not be read, and nothing has changed.".into()),
            }
        });
        // The same file can be chosen once more.
        input.set_value("");
    };
    view! {
        <section class="card keeping" aria-labelledby="keeping-title">
            <h2 id="keeping-title">"Your progress"</h2>
            <p>"It is kept on this device only; nothing is sent anywhere. " {kinds()}</p>
            <p class="row">
                <button type="button" class="act" on:click=dom::on_mouse(export)>"Export to a file"</button>
                <label class="file">
                    <span>"Import from a file"</span>
                    <input type="file" accept=".json,application/json" on:change=choose/>
                </label>
                {move || {
                    if erasing.get() {
                        view! {
                            <span role="group" aria-label="Erase all answers?">
                                "Erase all answers? "
                                <button
                                    type="button"
                                    class="act danger"
                                    on:click=dom::on_mouse(move |_| {
                                        kept.replace(Progress::default());
                                        erasing.set(false);
                                        say("All answers are erased.".into());
                                    })
                                >
                                    "Erase"
                                </button>
                                " "
                                <button type="button" class="quiet" on:click=dom::on_mouse(move |_| erasing.set(false))>
                                    "Keep them"
                                </button>
                            </span>
                        }
                            .into_any()
                    } else {
                        view! {
                            <button type="button" class="quiet" on:click=dom::on_mouse(move |_| erasing.set(true))>
                                "Erase all answers"
                            </button>
                        }
                            .into_any()
                    }
                }}
            </p>
            <p role="status">{said}</p>
            <p class="mistake" role="alert">{wrong}</p>
        </section>
    }
}

/// How many drills there are of each kind.
fn kinds() -> String {
    let counts = Kind::ALL.map(|kind| format!("{} {}", lease_lab_drills::of_kind(kind).count(), kind.folder()));
    format!("There are {} drills.", counts.join(", "))
}
