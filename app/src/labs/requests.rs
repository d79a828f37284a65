//! What went over the wire to the store, in its real form: what is shown is what was evaluated.

use lease_lab_scenarios::wire::{self, Exchange};
use leptos::prelude::*;

use crate::html::{Html, follow_jump, is_open};
use crate::state::Lab;

/// The exchanges around the cursor; the rest on demand.
pub(super) fn list(lab: Lab) -> impl IntoView {
    /// So many at and before the cursor are shown.
    const SHOWN: usize = 4;
    let exchanges = Memo::new(move |_| Exchanges(wire::exchanges(&lab.run.read())));
    let all_open = RwSignal::new(false);
    let recent = Signal::derive(move || {
        let at = lab.cursor.get();
        let exchanges = &exchanges.read().0;
        let happened = exchanges.partition_point(|exchange| exchange.t <= at);
        let mut html = Html::default();
        for exchange in exchanges[..happened].iter().rev().take(SHOWN) {
            one(&mut html, exchange);
        }
        if happened == 0 {
            html.element("p", &[("class", "soft")], "Nothing has been sent to the store yet.");
        }
        html.finish()
    });
    view! {
        <section class="card extra" aria-labelledby="requests-title" on:click=move |event| follow_jump(lab, &event)>
            <h2 id="requests-title">
                {Signal::derive(move || format!("On the wire to the store, up to {} s, newest first", lab.cursor.get().told()))}
            </h2>
            <div class="requests" inner_html=recent></div>
            <details class="more" on:toggle=move |event| all_open.set(is_open(&event))>
                <summary>{move || format!("All {} requests of this run", exchanges.read().0.len())}</summary>
                <div
                    class="requests"
                    inner_html=move || {
                        let mut html = Html::default();
                        if all_open.get() {
                            for exchange in &exchanges.read().0 {
                                one(&mut html, exchange);
                            }
                        }
                        html.finish()
                    }
                ></div>
            </details>
        </section>
    }
}

/// The list; it is made anew only with another run.
#[derive(Clone, Debug)]
struct Exchanges(Vec<Exchange>);

impl PartialEq for Exchanges {
    fn eq(&self, _: &Self) -> bool {
        false
    }
}

fn one(html: &mut Html, exchange: &Exchange) {
    html.open("div", &[("class", if exchange.refused { "request refused" } else { "request" })]);
    html.open("p", &[]).jump("link", exchange.t, &format!("{} s", exchange.t.told()));
    html.text(&format!(" {} to {}: {}", exchange.from, exchange.to, exchange.what)).close("p");
    let label = format!("Request at {} s", exchange.t.told());
    html.element("pre", &[("tabindex", "0"), ("role", "group"), ("aria-label", &label)], &exchange.request);
    match exchange.answered {
        Some(at) => html.element("p", &[("class", "soft")], &format!("Answer, received at {} s:", at.told())),
        None => html.element("p", &[("class", "soft")], "No answer arrived."),
    };
    if !exchange.answer.is_empty() {
        let label = format!("Answer to the request at {} s", exchange.t.told());
        html.element(
            "pre",
            &[("tabindex", "0"), ("role", "group"), ("aria-label", &label), ("class", "answer-text")],
            &exchange.answer,
        );
    }
    html.close("div");
}
