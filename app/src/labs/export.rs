//! Taking a run along: as a picture, as data, as a test, as a frame for another page.

use lease_lab_scenarios::{report, rust_test, shiviz};
use leptos::prelude::*;
use wasm_bindgen::JsCast as _;
use wasm_bindgen::prelude::*;

use crate::state::Lab;
use crate::{components, dom};

pub(super) fn card(lab: Lab) -> impl IntoView {
    let said = RwSignal::new(String::new());
    let name = move |ending: &str| format!("lease-lab-{}.{ending}", lab.scenario.id);
    let save = move |ending: &'static str, kind: &'static str, text: fn(Lab) -> String| {
        move |_| {
            let file = name(ending);
            let done = dom::download(&file, &text(lab), kind);
            said.set(if done.is_ok() { format!("Saved as {file}.") } else { REFUSED.into() });
        }
    };
    let picture = move |_| match svg() {
        Some(text) => {
            let file = name("svg");
            let done = dom::download(&file, &text, "image/svg+xml");
            said.set(if done.is_ok() { format!("Saved as {file}.") } else { REFUSED.into() });
        }
        None => said.set("There is no drawing to save.".into()),
    };
    let pixels = move |_| {
        leptos::task::spawn_local(async move {
            let file = name("png");
            let done = save_png(&file).await;
            let text = if done.is_ok() { format!("Saved as {file}.") } else { REFUSED.into() };
            let _ = said.try_set(text);
        });
    };
    let embed = move || embed_code(lab);
    view! {
        <section class="card export" aria-labelledby="export-title">
            <h2 id="export-title">"Take it with you"</h2>
            <div class="export-buttons">
                <button type="button" on:click=dom::on_mouse(picture)>"Timeline as SVG"</button>
                <button type="button" on:click=dom::on_mouse(pixels)>"Timeline as PNG"</button>
                <button type="button" on:click=dom::on_mouse(save("json", "application/json", |lab| report::json(&lab.run.read_untracked())))>
                    "Trace as JSON"
                </button>
                <button type="button" on:click=dom::on_mouse(save("log", "text/plain", |lab| shiviz::log(&lab.run.read_untracked())))>
                    "Log for ShiViz"
                </button>
                <button type="button" on:click=dom::on_mouse(save("rs", "text/plain", |lab| rust_test::test(&lab.run.read_untracked())))>
                    "Run as a Rust test"
                </button>
            </div>
            <p class="soft small">
                "ShiViz reads the log with the expression " <code>{shiviz::PARSER}</code>
            </p>
            <h3>"In another page"</h3>
            <p class="soft">"Paste one of these into any page: a frame, or an element that fits its own height."</p>
            <label class="embed-code">
                <span>"Frame"</span>
                <textarea readonly rows="3" class="mono" prop:value=move || embed().0></textarea>
            </label>
            <label class="embed-code">
                <span>"Element"</span>
                <textarea readonly rows="3" class="mono" prop:value=move || embed().1></textarea>
            </label>
            <p role="status">{said}</p>
        </section>
    }
}

const REFUSED: &str = "This browser does not let the page write a file.";

/// An iframe and a custom element with exactly this.
fn embed_code(lab: Lab) -> (String, String) {
    let _ = (lab.history.read(), lab.cursor.get(), lab.window.get(), lab.ghost.get(), lab.with.get());
    let location = window().location();
    let home = format!("{}{}", location.origin().unwrap_or_default(), location.pathname().unwrap_or_default());
    let home = home.strip_suffix("index.html").unwrap_or(&home);
    let query = components::address(lab, None);
    let escaped = |text: &str| lease_lab_drawing::svg::escape(text);
    let frame = format!(
        "<iframe title=\"Lease Lab: {}\" src=\"{}\" width=\"100%\" height=\"900\" loading=\"lazy\" style=\"border: 0\"></iframe>",
        escaped(lab.scenario.name),
        escaped(&format!("{home}{query}&embed=1"))
    );
    let mut attributes = String::new();
    if let Ok(parameters) = web_sys::UrlSearchParams::new_with_str(&query) {
        for name in ["lab", "do", "off", "t", "view", "seed", "ghost", "with", "theme"] {
            if let Some(value) = parameters.get(name) {
                attributes.push_str(&format!(" {name}=\"{}\"", escaped(&value)));
            }
        }
    }
    let element =
        format!("<script async src=\"{}lease-lab.js\"></script>\n<lease-lab{attributes}></lease-lab>", escaped(home));
    (frame, element)
}

/// The timeline as an SVG file of its own, with the styles that it has here.
fn svg() -> Option<String> {
    let drawing = document().query_selector("#lab .timeline svg").ok().flatten()?;
    let copy = drawing.clone_node_with_deep(true).ok()?.dyn_into::<web_sys::Element>().ok()?;
    // Without what only the cursor needs.
    for selector in [".cursor .veil", "title:empty"] {
        while let Ok(Some(part)) = copy.query_selector(selector) {
            part.remove();
        }
    }
    // Names in the xmlns attribute and a style sheet make it a file that stands alone.
    copy.set_attribute("xmlns", "http://www.w3.org/2000/svg").ok()?;
    let style = document().create_element_ns(Some("http://www.w3.org/2000/svg"), "style").ok()?;
    style.set_text_content(Some(&styles()));
    copy.insert_before(&style, copy.first_child().as_ref()).ok()?;
    if let Ok(Some(hatch)) = document().query_selector(".defs defs")
        && let Ok(hatch) = hatch.clone_node_with_deep(true)
    {
        copy.insert_before(&hatch, copy.first_child().as_ref()).ok()?;
    }
    web_sys::XmlSerializer::new().ok()?.serialize_to_string(&copy).ok()
}

/// The rules for drawings, and the values of the colours that they name.
fn styles() -> String {
    let mut text = String::new();
    let root = document().document_element().and_then(|root| window().get_computed_style(&root).ok().flatten());
    let mut rules = String::new();
    let sheets = document().style_sheets();
    for place in 0..sheets.length() {
        let Some(sheet) = sheets.item(place).and_then(|sheet| sheet.dyn_into::<web_sys::CssStyleSheet>().ok()) else {
            continue;
        };
        let Ok(list) = sheet.css_rules() else { continue };
        for place in 0..list.length() {
            if let Some(rule) = list.item(place).and_then(|rule| rule.dyn_into::<web_sys::CssStyleRule>().ok())
                && !rule.selector_text().contains(":root")
            {
                let rule = rule.css_text();
                if ["fill", "stroke", "font", "--mine", "opacity", "paint-order"].iter().any(|word| rule.contains(word))
                {
                    rules.push_str(&rule);
                    rules.push('\n');
                }
            }
        }
    }
    if let Some(root) = root {
        text.push_str("svg{background:");
        text.push_str(&root.get_property_value("--card").unwrap_or_default());
        for name in [
            "--paper",
            "--card",
            "--ink",
            "--soft",
            "--line",
            "--line-strong",
            "--lane",
            "--worker-a",
            "--worker-b",
            "--worker-c",
            "--worker-d",
            "--system",
            "--danger",
            "--on-color",
            "--veil",
            "--sans",
        ] {
            text.push_str(&format!(";{name}:{}", root.get_property_value(name).unwrap_or_default().trim()));
        }
        text.push_str(";font-family:var(--sans)}\n");
    }
    text + &rules
}

/// The same as pixels, twice as fine as it is drawn.
async fn save_png(file: &str) -> Result<(), JsValue> {
    const FINER: f64 = 2.0;
    let text = svg().ok_or("no drawing")?;
    let url = dom::blob_url(&text, "image/svg+xml")?;
    let image = web_sys::HtmlImageElement::new()?;
    image.set_src(&url);
    wasm_bindgen_futures::JsFuture::from(image.decode()).await?;
    let canvas: web_sys::HtmlCanvasElement = document().create_element("canvas")?.unchecked_into();
    canvas.set_width((f64::from(image.natural_width()) * FINER) as u32);
    canvas.set_height((f64::from(image.natural_height()) * FINER) as u32);
    let context: web_sys::CanvasRenderingContext2d = canvas.get_context("2d")?.ok_or("no canvas")?.unchecked_into();
    context.scale(FINER, FINER)?;
    context.draw_image_with_html_image_element(&image, 0.0, 0.0)?;
    web_sys::Url::revoke_object_url(&url)?;
    let data = canvas.to_data_url()?;
    dom::save_url(file, &data)
}
