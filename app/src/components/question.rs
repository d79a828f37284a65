//! The first screen's question, before its answer.

use lease_lab_sim::time::Span;
use leptos::prelude::*;

use crate::state::{Answer, Lab, Question};

/// Until the store's answer has reached the worker.
const UNTIL_ANSWERED: Span = Span::millis(100);

#[component]
pub(crate) fn QuestionBox(lab: Lab) -> impl IntoView {
    let choose = move |answer: Answer| {
        let Some(question) = lab.question.get_untracked() else { return };
        lab.answered.set(Some(answer));
        lab.step_to(question.at + UNTIL_ANSWERED);
    };
    move || {
        lab.question.get().map(|question| {
            let Question { at, worker, chunk, token, answer: truth } = question;
            let option = move |answer: Answer, text: String| {
                let chosen = move || lab.answered.get() == Some(answer);
                let right = move || lab.answered.get().is_some() && truth == Some(answer);
                view! {
                    <button
                        type="button"
                        class="option"
                        class:chosen=chosen
                        class:right=right
                        aria-pressed=Signal::derive(move || chosen().to_string())
                        disabled=Signal::derive(move || lab.answered.get().is_some())
                        on:click=move |_| choose(answer)
                    >
                        {text}
                    </button>
                }
            };
            view! {
                <div class="question">
                    <p id="question">
                        {format!("At {} {worker} sends chunk {chunk} with token {token}. What will the store do?", at.told())}
                    </p>
                    <div class="options" role="group" aria-labelledby="question">
                        {option(Answer::Records, format!("Record it: {worker} checked its lease"))}
                        {option(Answer::Refuses, "Refuse it: the token is too old".into())}
                        {option(Answer::AsksLockService, "Ask the lock service first".into())}
                    </div>
                    <p class="answer" role="status">
                        {move || lab.answered.get().map(|given| verdict(given, truth, &lab, worker.to_string(), token))}
                    </p>
                </div>
            }
        })
    }
}

/// What happened beside what was predicted; the reason is the trace's own.
fn verdict(given: Answer, truth: Option<Answer>, lab: &Lab, worker: String, token: u64) -> String {
    let run = lab.run.read();
    let reason = lab
        .question
        .read()
        .as_ref()
        .and_then(|question| {
            run.events.iter().find(|event| {
                event.t > question.at
                    && event.machine == lease_lab_sim::machine::MachineId::Store
                    && event.kind.worker() == Some(question.worker)
            })
        })
        .map(|event| lease_lab_scenarios::why::why(event, &run.plan))
        .unwrap_or_else(|| "The message did not reach the store in this run.".into());
    let start = match truth {
        Some(truth) if truth == given => "Yes.",
        Some(_) => "No.",
        None => "Not in this run.",
    };
    let lesson = match (given, truth) {
        (Answer::Records, Some(Answer::Refuses)) => format!(
            " A check made before a pause says nothing about the time after it: {worker} cannot know that it slept."
        ),
        (Answer::AsksLockService, Some(Answer::Refuses)) => {
            format!(" It asks nobody: comparing {token} with the fence in its own row is enough.")
        }
        (_, Some(Answer::Records)) => " Nothing in the store compared the token, so nothing stopped it.".into(),
        _ => String::new(),
    };
    format!("{start} {reason}{lesson}")
}
