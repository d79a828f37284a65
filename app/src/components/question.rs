//! The first screen's question, before its answer.

use lease_lab_sim::time::Span;
use leptos::prelude::*;

use crate::dom;
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
            let open = move || lab.answered.get().is_none() && lab.revealed.get();
            let option = move |answer: Answer, text: &'static str| {
                let chosen = move || lab.answered.get() == Some(answer);
                let right = move || lab.answered.get().is_some() && truth == Some(answer);
                // Once answered it stays where the focus is, and does nothing.
                let answered = move || lab.answered.get().is_some();
                view! {
                    <button
                        type="button"
                        class="option"
                        class:chosen=chosen
                        class:right=right
                        aria-pressed=Signal::derive(move || chosen().to_string())
                        aria-disabled=Signal::derive(move || answered().to_string())
                        on:click=dom::on_mouse(move |_| {
                            if lab.answered.get_untracked().is_none() {
                                choose(answer);
                            }
                        })
                    >
                        {text}
                    </button>
                }
                .into_any()
            };
            view! {
                <div class="question">
                    <p id="question">
                        {format!("At {} {worker} sends chunk {chunk} with token {token}. What will the store do?", at.told())}
                    </p>
                    <p class="terms">{lab.scenario.terms}</p>
                    <div class="options" class:hidden=open role="group" aria-labelledby="question">
                        {option(Answer::Records, "Record it")} {option(Answer::Refuses, "Refuse it")}
                        {option(Answer::AsksLockService, "Ask the lock service first")}
                    </div>
                    <p class="answer" role="status">
                        {Signal::derive(move || match lab.answered.get() {
                            Some(given) => verdict(given, truth, &lab, worker.to_string(), token),
                            None if lab.revealed.get() => format!("In this run: {}", reason(&lab)),
                            None => String::new(),
                        })}
                    </p>
                </div>
            }
        })
    }
}

/// What happened beside what was predicted; the reason is the trace's own.
fn verdict(given: Answer, truth: Option<Answer>, lab: &Lab, worker: String, token: u64) -> String {
    let reason = reason(lab);
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
        (_, Some(Answer::Records)) => {
            format!(" Nothing in the store stood against token {token}, so nothing stopped it.")
        }
        _ => String::new(),
    };
    format!("{start} {reason}{lesson}")
}

/// What the store did with the message, by the trace.
fn reason(lab: &Lab) -> String {
    let run = lab.run.read();
    let question = lab.question.read();
    let event = question.as_ref().and_then(|question| {
        run.events.iter().find(|event| {
            event.t > question.at
                && event.machine == lease_lab_sim::machine::MachineId::Store
                && event.kind.worker() == Some(question.worker)
        })
    });
    match event {
        Some(event) => lease_lab_scenarios::why::why(event, &run.plan),
        None => "the message does not reach the store.".into(),
    }
}
