//! The invariants at the cursor and over the whole run.

use lease_lab_sim::invariants::{Invariant, Verdict};
use leptos::prelude::*;

use crate::dom;
use crate::html::{Html, follow_jump};
use crate::state::Lab;

pub(crate) fn title(invariant: Invariant) -> &'static str {
    match invariant {
        Invariant::ChargedOnce => "every invoice charged at most once",
        Invariant::OneActingHolder => "one acting holder",
        Invariant::NoStaleWrite => "no stale write accepted",
        Invariant::TokensGrow => "tokens only grow",
        Invariant::OnlyOwnerReleases => "only the owner releases",
        Invariant::ActsInTime => "acts in time",
        Invariant::JobFinishes => "the job finishes",
    }
}

#[component]
pub(crate) fn Verdicts(lab: Lab) -> impl IntoView {
    // What is shown changes only at a few instants of a run.
    let chips = Memo::new(move |_| {
        let run = lab.run.read();
        let (at, until) = (lab.cursor.get(), lab.until.get());
        let mut html = Html::default();
        for invariant in Invariant::ALL {
            chip(&mut html, invariant, &run.verdict(invariant, at), &run.verdict(invariant, until));
        }
        html.finish()
    });
    view! {
        <ul
            class="verdicts"
            aria-label="What must never happen, and whether it did"
            inner_html=Signal::derive(move || chips.get())
            on:click=dom::on_mouse(move |event| follow_jump(lab, &event))
        ></ul>
    }
}

fn chip(html: &mut Html, invariant: Invariant, now: &Verdict, later: &Verdict) {
    let name = title(invariant);
    let (class, sign, word) = match (now, later) {
        (Verdict::Broken(_), _) => ("verdict bad", "✕", "broken: "),
        (Verdict::NotApplicable, _) => ("verdict open", "–", "nothing to check: "),
        (Verdict::Pending, Verdict::Broken(_)) => ("verdict open", "…", "not decided yet: "),
        (Verdict::Pending, _) => ("verdict", "…", "not decided yet: "),
        (Verdict::Holds, Verdict::Broken(_)) => ("verdict open", "✓", "holds so far: "),
        (Verdict::Holds, _) => ("verdict", "✓", "holds: "),
    };
    html.open("li", &[("class", class)]);
    html.element("span", &[("class", "sign"), ("aria-hidden", "true")], sign);
    html.element("span", &[("class", "visually-hidden")], word).text(name);
    match (now, later) {
        (Verdict::Broken(violation), _) => {
            html.text(": ").jump("link", violation.t, &violation.why);
        }
        (_, Verdict::Broken(violation)) => {
            html.text(", until ").jump("link", violation.t, &format!("{} s", violation.t.told()));
        }
        _ => {}
    }
    html.close("li");
}
