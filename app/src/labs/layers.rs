//! Three requests, traced down through the layers.

use lease_lab_drawing::svg::{Anchor, Svg, px};
use lease_lab_drawing::views::layers::{self, Request};
use lease_lab_sim::machine::WorkerId;
use lease_lab_sim::time::TrueTime;
use leptos::prelude::*;

use super::extras;
use crate::state::Lab;

const ROW: f64 = 34.0;

pub(super) fn card(lab: Lab) -> impl IntoView {
    let requests = Memo::new(move |_| layers::requests(&lab.run.read().events, WorkerId::A));
    let chosen = RwSignal::new(0_usize);
    let (place, width) = extras::measured();
    view! {
        <section class="card extra" aria-labelledby="layers-title">
            <div class="card-head">
                <h2 id="layers-title">"Down through the layers and back"</h2>
                <div class="choice" role="group" aria-label="Request">
                    {move || {
                        requests
                            .read()
                            .iter()
                            .enumerate()
                            .map(|(place, request)| {
                                view! {
                                    <button
                                        type="button"
                                        class="toggle"
                                        aria-pressed=Signal::derive(move || (chosen.get() == place).to_string())
                                        on:click=move |_| chosen.set(place)
                                    >
                                        {request.name}
                                    </button>
                                }
                            })
                            .collect_view()
                    }}
                </div>
            </div>
            <div node_ref=place>
                {move || {
                    let requests = requests.read();
                    match requests.get(chosen.get()) {
                        Some(request) => {
                            let (content, height) = draw(request, width.get());
                            let (width, height) = (px(width.get()), px(height));
                            let label = format!("{}: {} steps, in order of time, each with its duration", request.name, request.hops.len());
                            view! {
                                <svg role="img" aria-label=label width=width.clone() height=height.clone() viewBox=format!("0 0 {width} {height}")>
                                    <g class="drawing" inner_html=content></g>
                                </svg>
                            }
                            .into_any()
                        }
                        None => view! { <p class="soft">"In this run no request came to its end."</p> }.into_any(),
                    }
                }}
            </div>
        </section>
    }
}

/// One line for each hop: what happens, and a bar for how long.
fn draw(request: &Request, width: f64) -> (String, f64) {
    let mut svg = Svg::default();
    let ends = request.hops.iter().map(|hop| hop.during.to).max().unwrap_or(request.during.to);
    let length = (ends - request.during.from).as_micros().max(1) as f64;
    let x = |at: TrueTime| (at - request.during.from).as_micros() as f64 / length * (width - 2.0);
    let ms = |at: TrueTime| {
        let micros = (at - request.during.from).as_micros();
        format!("{}.{}", micros / 1_000, micros.rem_euclid(1_000) / 100)
    };
    for (place, hop) in (0..).zip(&request.hops) {
        let top = f64::from(place) * ROW;
        let late = if hop.not_waited_for { "; nobody waits for it" } else { "" };
        let times = if hop.during.from == hop.during.to {
            format!("at {} ms", ms(hop.during.from))
        } else {
            format!("{} – {} ms", ms(hop.during.from), ms(hop.during.to))
        };
        let text = format!("{}: {}, {times}{late}", hop.layer.name(), hop.what);
        svg.text("note strong", (0.0, top + 13.0), Anchor::Start, &text);
        let (left, right) = (x(hop.during.from), x(hop.during.to));
        let class = format!("hop {}{}", hop.layer.name(), if hop.not_waited_for { " late" } else { "" });
        svg.rect("lane", 0.0, top + 18.0, width - 2.0, 8.0, 0.0);
        svg.rect(&class, left, top + 18.0, (right - left).max(3.0), 8.0, 2.0);
    }
    (svg.finish(), ROW * request.hops.len() as f64)
}
