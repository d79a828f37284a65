//! The clock graph on a canvas, with its table.

use lease_lab_drawing::clock_graph::{Clocks, Crossing, Style};
use lease_lab_drawing::svg::px;
use lease_lab_drawing::timeline::worker_class;
use lease_lab_sim::machine::{MachineId, WorkerId};
use lease_lab_sim::time::TrueTime;
use leptos::html::{Canvas, Div};
use leptos::prelude::*;
use wasm_bindgen::JsValue;

use crate::html::Html;
use crate::state::Lab;
use crate::{chart, dom};

const HEIGHT: f64 = 260.0;
/// Where the plot begins and ends within the canvas, in CSS pixels; as in the graph's margins.
const PLOT_LEFT: f64 = 42.0;
const PLOT_RIGHT: f64 = 24.0;

#[component]
pub(crate) fn ClocksCard(lab: Lab) -> impl IntoView {
    let worker = RwSignal::new(lab.scenario.clocks_of);
    let place = NodeRef::<Div>::new();
    let canvas = NodeRef::<Canvas>::new();
    let width = RwSignal::new(0.0_f64);
    let clocks = Memo::new(move |_| {
        let run = lab.run.read();
        let clocks = Clocks::new(&run, worker.get(), lab.until.get());
        let crossings = clocks.crossings(&run);
        Graph { clocks, crossings }
    });
    dom::effect(move || {
        if let Some(element) = place.get() {
            width.set(f64::from(element.client_width()));
            dom::on_resize(&element, move |measured| {
                if width.try_get_untracked().is_some_and(|before| before != measured) {
                    width.set(measured);
                }
            });
        }
    });
    let module = RwSignal::new_local(None::<JsValue>);
    dom::effect(move || {
        if let Some(canvas) = canvas.get() {
            leptos::task::spawn_local(async move {
                let loaded = chart::load(&canvas).await;
                // The page may be gone by now.
                let _ = module.try_set(loaded);
            });
        }
    });
    // Colours are read from the style sheet, so the graph follows the theme, the system's included.
    let system_theme = RwSignal::new(0_u32);
    watch_system_theme(system_theme);
    dom::effect(move || {
        let _ = (lab.theme.get(), system_theme.get());
        let (Some(canvas), width) = (canvas.get(), width.get()) else { return };
        if width < 80.0 {
            return;
        }
        let Some(module) = module.get() else { return };
        let scale = window().device_pixel_ratio().max(1.0);
        canvas.set_width((width * scale).round() as u32);
        canvas.set_height((HEIGHT * scale).round() as u32);
        let style = Style {
            ink: dom::css_color("--soft"),
            line: dom::css_color("--line-strong"),
            worker: dom::css_color(&format!("--{}", worker_class(worker.get().into()))),
            wall: dom::css_color("--soft"),
            stop: dom::css_color("--danger"),
            scale,
        };
        let graph = clocks.read().clocks.graph(&lab.run.read(), lab.window.get(), style);
        chart::draw(&module, &canvas, &graph);
    });
    let cursor_left = move || {
        let (from, to) = lab.window.get();
        let at = lab.cursor.get().max(from).min(to);
        let part = (at - from).as_micros() as f64 / (to - from).as_micros().max(1) as f64;
        format!("{}px", px(PLOT_LEFT + part * (width.get() - PLOT_LEFT - PLOT_RIGHT).max(0.0)))
    };
    view! {
        <section class="card clocks" aria-labelledby="clocks-title">
            <div class="card-head">
                <h2 id="clocks-title">"Two clocks and a stop time"</h2>
                <div class="choice" role="group" aria-label="Clocks of worker">
                    {move || shown(lab)
                        .map(|id| view! {
                            <button
                                type="button"
                                class=format!("toggle {}", worker_class(id.into()))
                                aria-pressed=Signal::derive(move || (worker.get() == id).to_string())
                                on:click=dom::on_mouse(move |_| worker.set(id))
                            >
                                {id.to_string()}
                            </button>
                        })
                        .collect_view()}
                </div>
            </div>
            <p class="reading">
                {move || {
                    let snapshot = lab.snapshot.get();
                    snapshot.workers.get(&worker.get()).map(|card| {
                        format!(
                            "At {} s of true time, {}’s monotonic clock shows {} and its wall clock {}.",
                            lab.cursor.get().told(),
                            worker.get(),
                            card.mono.told(),
                            card.wall.told()
                        )
                    })
                }}
            </p>
            <div class="clock-graph" node_ref=place>
                <canvas
                    node_ref=canvas
                    role="img"
                    aria-label=Signal::derive(move || format!("What the clocks of worker {} show against true time; the table below has the crossings.", worker.get()))
                    style:height=format!("{}px", px(HEIGHT))
                ></canvas>
                <div class="clock-cursor" style:left=cursor_left></div>
            </div>
            <p class="legend">
                <span class=Signal::derive(move || format!("key-line solid {}", worker_class(worker.get().into())))></span>"monotonic clock "
                <span class="key-line dashed"></span>"wall clock "
                <span class="key-line stop"></span>"stop time, while it takes itself for the holder; dashed: after that "
                "● the monotonic clock reaches it ○ the wall clock does. Across: true time in seconds. Up: what the clock shows, in seconds."
            </p>
            <table>
                <caption>{Signal::derive(move || format!("When the clocks of {} reach its last stop time of each lease", worker.get()))}</caption>
                <thead>
                    <tr>
                        <th scope="col">"Token"</th>
                        <th scope="col">"Stop time"</th>
                        <th scope="col">"Monotonic clock reaches it at"</th>
                        <th scope="col">"Wall clock reaches it at"</th>
                    </tr>
                </thead>
                <tbody inner_html=move || table(&clocks.read().crossings)>
                </tbody>
            </table>
        </section>
    }
}

/// The workers of the story; in another lab those that do something.
fn shown(lab: Lab) -> impl Iterator<Item = WorkerId> {
    let all = !cfg!(feature = "labs") || !lab.scenario.terms.is_empty();
    let acts = move |worker: &WorkerId| {
        let run = lab.run.read();
        run.events.iter().any(|event| event.machine == MachineId::Worker(*worker) && !event.is_background())
    };
    WorkerId::ALL.into_iter().filter(move |worker| all || acts(worker))
}

fn table(crossings: &[Crossing]) -> String {
    let mut html = Html::default();
    if crossings.is_empty() {
        html.open("tr", &[]).element("td", &[("colspan", "4")], "It holds no lease up to here.").close("tr");
    }
    let told = |at: Option<TrueTime>| at.map_or("not in this run".to_owned(), |at| format!("{} s", at.told()));
    for crossing in crossings {
        html.open("tr", &[]);
        for text in [crossing.token.to_string(), crossing.stop.told(), told(crossing.mono_at), told(crossing.wall_at)] {
            html.element("td", &[], &text);
        }
        html.close("tr");
    }
    html.finish()
}

/// The graph's data; compared by its crossings, which change whenever a clock or a stop time does.
#[derive(Clone, Debug)]
struct Graph {
    clocks: Clocks,
    crossings: Vec<Crossing>,
}

impl PartialEq for Graph {
    fn eq(&self, _: &Self) -> bool {
        // It is derived anew only when the run, the worker or the reveal changes.
        false
    }
}

fn watch_system_theme(changed: RwSignal<u32>) {
    use wasm_bindgen::prelude::*;
    if let Ok(Some(query)) = window().match_media("(prefers-color-scheme: dark)") {
        let callback = Closure::<dyn Fn()>::new(move || {
            let _ = changed.try_update(|count| *count += 1);
        });
        query.set_onchange(Some(callback.as_ref().unchecked_ref()));
        // The query and its callback live as long as the page.
        callback.forget();
        std::mem::forget(query);
    }
}
