//! How often things happen, second by second, on a canvas, with a table that says the same.

use lease_lab_drawing::svg::px;
use lease_lab_drawing::views::counts::{self, Counts, Steps, Totals};
use lease_lab_graph::{Graph, Line, Rgb};
use lease_lab_sim::time::{Span, TrueTime, grouped};
use leptos::html::Canvas;
use leptos::prelude::*;
use wasm_bindgen::JsValue;

use super::{extras, tables};
use crate::html::Html;
use crate::state::Lab;
use crate::{chart, dom};

const HEIGHT: f64 = 240.0;
const EVERY: Span = Span::seconds(1);
/// The colours of the lines, in their order; each has its own width as well.
const COLORS: [(&str, f64); 3] = [("--worker-a", 2.0), ("--soft", 1.2), ("--worker-b", 3.0)];

/// Two graphs: what happens in each second, and how many there are.
pub(super) fn storm(lab: Lab) -> impl IntoView {
    let data = Memo::new(move |_| {
        let run = lab.run.read();
        let until = lab.until.get();
        Data { counts: counts::counts(&run.events, until, EVERY), totals: counts::totals(&run.events, run.plan.jobs) }
    });
    let rates = move |style: &Style| {
        let data = data.read();
        let lines: Vec<Vec<(f64, f64)>> = data.counts.series.iter().map(|series| steps_of(&series.counts)).collect();
        graph(lab, style, lines)
    };
    let totals = move |style: &Style| {
        let data = data.read();
        let Totals { locks, running, queued } = &data.totals;
        let end = lab.until.get();
        graph(lab, style, [running, locks, queued].map(|steps| points_of(steps, end)).into())
    };
    view! {
        <section class="card extra" aria-labelledby="plot-title">
            <h2 id="plot-title">"Claims, expiries and re-queues in each second"</h2>
            {canvas(lab, "Claims, expiries and re-queues in each second of the run; the table below has the highest counts.", rates)}
            <p class="legend" inner_html=legend(["claims", "expiries", "re-queues"])></p>
            <p class="soft">"Across: true time in seconds. Up: how many in each second, or at that moment."</p>
            <h2 class="again">"How many rows are running, locks are held, rows are queued"</h2>
            {canvas(lab, "How many rows are running, how many locks are held and how many rows are queued, over the run.", totals)}
            <p class="legend" inner_html=legend(["rows RUNNING", "locks held", "rows QUEUED"])></p>
            <div inner_html=Signal::derive(move || peaks(&data.read().counts))></div>
        </section>
    }
}

#[derive(Clone, Debug, PartialEq)]
struct Data {
    counts: Counts,
    totals: Totals,
}

/// Colours as the style sheet has them, and the pixels of the screen.
struct Style {
    scale: f64,
    ink: Rgb,
    axis: Rgb,
}

fn graph(lab: Lab, style: &Style, lines: Vec<Vec<(f64, f64)>>) -> Graph {
    let (from, to) = lab.window.get();
    let top = lines.iter().flatten().map(|(_, y)| *y).fold(1.0, f64::max);
    let lines = lines.into_iter().zip(COLORS).map(|(points, (color, width))| {
        let inside = points.into_iter().filter(|(x, _)| (from.as_seconds()..=to.as_seconds()).contains(x)).collect();
        Line { color: dom::css_color(color), width, points: inside }
    });
    Graph {
        x: (from.as_seconds(), to.as_seconds()),
        y: (0.0, top * 1.05),
        scale: style.scale,
        ink: style.ink,
        axis: style.axis,
        lines: lines.collect(),
        dots: Vec::new(),
    }
}

/// A count holds for its whole second.
fn steps_of(counts: &[u32]) -> Vec<(f64, f64)> {
    let every = EVERY.as_micros() as f64 / 1e6;
    (0..)
        .zip(counts)
        .flat_map(|(place, count)| {
            let (from, y) = (f64::from(place) * every, f64::from(*count));
            [(from, y), (from + every, y)]
        })
        .collect()
}

fn points_of(steps: &Steps, end: TrueTime) -> Vec<(f64, f64)> {
    let mut points: Vec<(f64, f64)> = Vec::new();
    for (at, count) in steps {
        if let Some((_, before)) = points.last().copied() {
            points.push((at.as_seconds(), before));
        }
        points.push((at.as_seconds(), f64::from(*count)));
    }
    if let Some((_, last)) = points.last().copied() {
        points.push((end.as_seconds(), last));
    }
    points
}

fn canvas(lab: Lab, label: &'static str, make: impl Fn(&Style) -> Graph + 'static) -> impl IntoView {
    let canvas = NodeRef::<Canvas>::new();
    let (place, width) = extras::measured();
    let module = RwSignal::new_local(None::<JsValue>);
    Effect::new(move |_| {
        if let Some(canvas) = canvas.get() {
            leptos::task::spawn_local(async move {
                let loaded = chart::load(&canvas).await;
                // The page may be gone by now.
                let _ = module.try_set(loaded);
            });
        }
    });
    Effect::new(move |_| {
        let _ = lab.theme.get();
        let (Some(canvas), Some(module), width) = (canvas.get(), module.get(), width.get()) else { return };
        let scale = window().device_pixel_ratio().max(1.0);
        canvas.set_width((width * scale).round() as u32);
        canvas.set_height((HEIGHT * scale).round() as u32);
        let style = Style { scale, ink: dom::css_color("--soft"), axis: dom::css_color("--line-strong") };
        chart::draw(&module, &canvas, &make(&style));
    });
    view! {
        <div class="clock-graph" node_ref=place>
            <canvas node_ref=canvas role="img" aria-label=label style:height=format!("{}px", px(HEIGHT))></canvas>
        </div>
    }
}

fn legend(names: [&str; 3]) -> String {
    let mut html = Html::default();
    for (name, class) in
        names.iter().zip(["key-line solid worker-a", "key-line thin-line", "key-line thick-line worker-b"])
    {
        html.element("span", &[("class", class)], "").text(name).text(" ");
    }
    html.finish()
}

fn peaks(counts: &Counts) -> String {
    let mut html = Html::default();
    let rows = counts.series.iter().map(|series| {
        let peak = series.peak();
        let at = series.counts.iter().position(|count| *count == peak).unwrap_or(0);
        let sum: u64 = series.counts.iter().map(|count| u64::from(*count)).sum();
        vec![series.name.to_owned(), grouped(sum), grouped(u64::from(peak)), format!("{at} s")]
    });
    let rows: Vec<_> = rows.collect();
    tables::plain_table(
        &mut html,
        "The highest counts",
        &["", "In all", "Most in one second", "In the second from"],
        &rows,
    );
    html.finish()
}
