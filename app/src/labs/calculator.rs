//! A calculator: sliders, and results with the numbers put in.

use lease_lab_scenarios::calculators::{self, Calculator, ONE};
use leptos::prelude::*;

use crate::html::Html;

/// The calculator with this id.
pub(super) fn show(id: &str) -> AnyView {
    match calculators::find(id) {
        Some(calculator) => card(calculator).into_any(),
        None => ().into_any(),
    }
}

fn card(calculator: &'static Calculator) -> impl IntoView {
    let values = RwSignal::new(calculator.defaults());
    let title_id = format!("calculator-{}", calculator.id);
    let heading_id = title_id.clone();
    let inputs = calculator.inputs.iter().enumerate().map(move |(place, input)| {
        let unit = if input.unit.is_empty() { String::new() } else { format!(" {}", input.unit) };
        let told = Signal::derive(move || format!("{}{unit}", number(values.read()[place])));
        view! {
            <label>
                <span>{input.label}</span>
                <output>{told}</output>
                <input
                    type="range"
                    min=number(input.min)
                    max=number(input.max)
                    step=number(input.step)
                    prop:value=number(input.default)
                    aria-valuetext=told
                    on:input:target=move |event| {
                        let value = (event.target().value_as_number() * ONE as f64).round() as i64;
                        values.update(|values| values[place] = value);
                    }
                />
            </label>
        }
    });
    let results = Signal::derive(move || {
        let mut html = Html::default();
        for output in calculator.outputs(&values.read()) {
            html.element("dt", &[], output.label);
            html.open("dd", &[]).element("span", &[("class", "value")], &output.value);
            html.element("span", &[("class", "formula")], &output.formula);
            if let Some(used) = output.used {
                let class = if used > 1_000 { "used over" } else { "used" };
                let value = used.min(1_000).to_string();
                html.element(
                    "progress",
                    &[("class", class), ("max", "1000"), ("value", &value), ("aria-hidden", "true")],
                    "",
                );
            }
            if let Some(warning) = &output.warning {
                html.element("span", &[("class", "warning")], warning);
            }
            html.close("dd");
        }
        html.finish()
    });
    view! {
        <section class="card extra" aria-labelledby=title_id>
            <h2 id=heading_id>{calculator.title}</h2>
            <p>{calculator.intro}</p>
            <div class="calculator">
                <div>{inputs.collect_view()}</div>
                <dl aria-live="polite" inner_html=results></dl>
            </div>
        </section>
    }
}

/// Millionths as a plain number.
fn number(value: i64) -> String {
    lease_lab_sim::time::Span::micros(value).to_string()
}
