//! Three requests, traced down through the layers.

use lease_lab_drawing::labels::wrapped;
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

/// For each hop what happens and when, and a bar for how long; an axis under them.
fn draw(request: &Request, width: f64) -> (String, f64) {
    const NOTE: f64 = 11.0;
    const LINE: f64 = 15.0;
    const AXIS: f64 = 26.0;
    let mut svg = Svg::default();
    let ends = request.hops.iter().map(|hop| hop.during.to).max().unwrap_or(request.during.to);
    let length = (ends - request.during.from).as_micros().max(1) as f64;
    let right = width - 2.0;
    let x = |at: TrueTime| (at - request.during.from).as_micros() as f64 / length * right;
    let ms = |at: TrueTime| {
        let micros = (at - request.during.from).as_micros();
        format!("{}.{}", micros / 1_000, micros.rem_euclid(1_000) / 100)
    };
    let mut top = 0.0;
    for hop in &request.hops {
        let late = if hop.not_waited_for { "; nobody waits for it" } else { "" };
        let times = if hop.during.from == hop.during.to {
            format!("at {}\u{a0}ms", ms(hop.during.from))
        } else {
            format!("{}\u{a0}–\u{a0}{}\u{a0}ms", ms(hop.during.from), ms(hop.during.to))
        };
        let text = format!("{}: {}, {times}{late}", hop.layer.name(), hop.what);
        // Bold letters are wider.
        for line in wrapped(&text, NOTE * 1.1, right) {
            svg.text("note strong", (0.0, top + 12.0), Anchor::Start, &line);
            top += LINE;
        }
        let (left, end) = (x(hop.during.from), x(hop.during.to));
        let class = format!("hop {}{}", hop.layer.name(), if hop.not_waited_for { " late" } else { "" });
        svg.rect("lane", 0.0, top + 2.0, right, 8.0, 0.0);
        svg.rect(&class, left.min(right - 3.0), top + 2.0, (end - left).max(3.0), 8.0, 2.0);
        top += ROW - LINE;
    }
    let step = [500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000];
    let step = step.into_iter().find(|step| *step as f64 / length * right >= 56.0).unwrap_or(200_000);
    for micros in (0_i64..).map(|count| count * step).take_while(|micros| *micros as f64 <= length) {
        let place = micros as f64 / length * right;
        let (place, anchor) = match micros {
            0 => (0.0, Anchor::Start),
            _ if place > right - 24.0 => (right, Anchor::End),
            _ => (place, Anchor::Middle),
        };
        svg.text("tick", (place, top + 14.0), anchor, &format!("{}.{} ms", micros / 1_000, micros % 1_000 / 100));
    }
    (svg.finish(), top + AXIS)
}
