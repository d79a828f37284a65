//! The invariants at the cursor and over the whole run.

use lease_lab_sim::invariants::{Invariant, Verdict};
use lease_lab_sim::time::TrueTime;
use leptos::prelude::*;

use crate::state::Lab;

fn title(invariant: Invariant) -> &'static str {
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
    // What is shown changes only at a few instants of a run: the chips are not rebuilt in between.
    let shown = Memo::new(move |_| {
        let run = lab.run.read();
        let (at, until) = (lab.cursor.get(), lab.until.get());
        Invariant::ALL.map(|invariant| (invariant, run.verdict(invariant, at), run.verdict(invariant, until)))
    });
    view! {
        <ul class="verdicts" aria-label="What must never happen, and whether it did">
            {move || shown.get().map(|(invariant, now, later)| chip(lab, invariant, now, later)).collect_view()}
        </ul>
    }
}

fn chip(lab: Lab, invariant: Invariant, now: Verdict, later: Verdict) -> impl IntoView {
    let jump = move |t: TrueTime, text: String| {
        view! { <button type="button" class="link" on:click=move |_| lab.step_to(t)>{text}</button> }
    };
    let name = title(invariant);
    match (now, later) {
        (Verdict::Broken(violation), _) => view! {
            <li class="verdict bad">
                <span class="sign" aria-hidden="true">"✕"</span>
                <span class="visually-hidden">"broken: "</span>
                {name}": "
                {jump(violation.t, violation.why)}
            </li>
        }
        .into_any(),
        (Verdict::NotApplicable, _) => view! {
            <li class="verdict open"><span class="sign" aria-hidden="true">"–"</span>{name}": nothing to check"</li>
        }
        .into_any(),
        (now, Verdict::Broken(violation)) => view! {
            <li class="verdict open">
                {sign(&now)}
                {name}", until "
                {jump(violation.t, format!("{} s", violation.t.told()))}
            </li>
        }
        .into_any(),
        (now, _) => view! { <li class="verdict">{sign(&now)}{name}</li> }.into_any(),
    }
}

fn sign(verdict: &Verdict) -> impl IntoView + use<> {
    let (sign, word) = match verdict {
        Verdict::Pending => ("…", "not decided yet: "),
        _ => ("✓", "holds: "),
    };
    view! { <span class="sign" aria-hidden="true">{sign}</span><span class="visually-hidden">{word}</span> }
}
