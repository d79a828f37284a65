//! Interventions at the cursor.
//!
//! The panel is a form in plain HTML.
//! Each button has a template of the grammar in `data-words`, such as `pause {machine} {length} {vm}`, which is filled
//! in from the form's fields; whether it would have an effect is asked of the simulator.

use lease_lab_scenarios::accept::accept;
use lease_lab_sim::intervention::{Intervention, Mistake, parse_one};
use lease_lab_sim::machine::{MachineId, WorkerId};
use lease_lab_sim::time::TrueTime;
use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::JsCast as _;
use web_sys::{Element, HtmlElement, HtmlInputElement, HtmlSelectElement};

use crate::changing::is_set;
use crate::dom::{self, closest, elements};
use crate::html::{Html, is_open};
use crate::state::Lab;

const FIRST_CONTROL: &str = "intervene-machine";

/// Moves the focus to the panel, and opens it.
pub(crate) fn focus(_: Lab) {
    open_and_focus();
}

/// The same for whoever has no lab at hand.
pub(crate) fn open_and_focus() {
    if let Some(details) = document().get_element_by_id("intervene") {
        // An attribute with a plain name can be set.
        let _ = details.set_attribute("open", "");
    }
    focus_when_there(10);
}

/// A panel that opens builds its form a few frames later.
fn focus_when_there(frames_left: u32) {
    let control = document().get_element_by_id(FIRST_CONTROL);
    match control.and_then(|control| control.dyn_into::<HtmlElement>().ok()) {
        Some(control) => {
            // It is there and can take the focus.
            let _ = control.focus();
        }
        None if frames_left > 0 => request_animation_frame(move || focus_when_there(frames_left - 1)),
        None => {}
    }
}

#[component]
pub(crate) fn Intervene(lab: Lab) -> impl IntoView {
    let opened = RwSignal::new(false);
    let mistake = RwSignal::new(String::new());
    let place = NodeRef::<Div>::new();
    let edits = RwSignal::new(0_u32);
    let panel = move || Some(Panel { lab, mistake, root: (*place.get_untracked()?).clone().unchecked_into() });
    dom::effect(move || {
        // What is closed costs nothing while the cursor moves.
        if !opened.get() {
            return;
        }
        let _ = (lab.run.read(), lab.cursor.get(), edits.get());
        if let Some(panel) = panel() {
            if panel.root.child_element_count() == 0 {
                panel.root.set_inner_html(&form(lab));
            }
            if let Some(machine) = lab.chosen.get() {
                lab.chosen.set(None);
                panel.choose(machine);
            }
            panel.refresh();
        }
    });
    view! {
        <details id="intervene" class="intervene" on:toggle=dom::on_event(move |event| opened.set(is_open(&event)))>
            <summary>
                "Change what happens "
                <span class="soft">
                    {Signal::derive(move || format!("at {} s, or from the start", lab.act_at()))}
                </span>
            </summary>
            <div
                node_ref=place
                class="intervene-grid"
                on:click=dom::on_mouse(move |event| {
                    if let Some(panel) = panel() {
                        panel.clicked(&event);
                    }
                })
                on:change=move |event| {
                    if let Some(panel) = panel() {
                        panel.changed(&event);
                    }
                    edits.update(|count| *count += 1);
                }
                on:input=move |_| edits.update(|count| *count += 1)
                on:submit=move |event| {
                    event.prevent_default();
                    if let Some(panel) = panel() {
                        panel.submitted();
                    }
                }
            ></div>
            <p class="mistake" role="alert">{mistake}</p>
        </details>
    }
}

struct Panel {
    lab: Lab,
    mistake: RwSignal<String>,
    root: Element,
}

impl Panel {
    /// The value of a field; of a tick, its value if it is set.
    fn field(&self, name: &str) -> String {
        let Ok(Some(field)) = self.root.query_selector(&format!("[name={name}]")) else { return String::new() };
        match field.dyn_into::<HtmlInputElement>() {
            Ok(input) if input.type_() == "checkbox" && !input.checked() => String::new(),
            Ok(input) => input.value(),
            Err(other) => other.dyn_into::<HtmlSelectElement>().map_or(String::new(), |select| select.value()),
        }
    }

    /// Fills a template in.
    fn words(&self, button: &Element) -> String {
        let template = button.get_attribute("data-words").unwrap_or_default();
        let mut words = String::new();
        for part in template.split_inclusive('}') {
            match part.split_once('{') {
                Some((before, name)) => {
                    words.push_str(before);
                    words.push_str(&self.field(name.trim_end_matches('}')));
                }
                None => words.push_str(part),
            }
        }
        words.trim_end().to_owned()
    }

    /// Why `words` cannot be added now, or would have no effect.
    fn idle(&self, words: &str) -> Option<String> {
        let at = self.lab.act_at();
        match parse_one(&format!("{at} {words}")).and_then(|intervention| self.lab.in_time(intervention)) {
            // What it would do together with the rest of a plan is what the learner is to think about.
            Ok(_) if self.lab.drill.is_some_and(|drill| drill.planned.get_untracked()) => None,
            Ok(intervention) => self.lab.idle_because(at, &intervention.change),
            Err(mistake) => Some(mistake.what),
        }
    }

    /// The time from which a rule is set.
    fn rules_from(&self) -> TrueTime {
        match self.root.query_selector("[name=from][value=now]:checked") {
            Ok(Some(_)) => self.lab.act_at(),
            _ => TrueTime::ZERO,
        }
    }

    /// Makes every button say whether it would have an effect, and which rules are set.
    fn refresh(&self) {
        self.name_machines();
        // Attributes with plain names can be set.
        for button in elements(&self.root, "[data-words]") {
            let words = self.words(&button);
            let idle = self.idle(&words);
            let _ = button.set_attribute("aria-disabled", if idle.is_some() { "true" } else { "false" });
            let title = idle.map_or(words, |because| format!("No effect: {because}"));
            let _ = button.set_attribute("title", &title);
        }
        let plan = self.lab.run.read_untracked().plan.clone();
        let settings = *self.lab.run.read_untracked().world_at(self.rules_from()).settings();
        for button in elements(&self.root, "[data-rule]") {
            let rule = button.get_attribute("data-rule").unwrap_or_default();
            let set = parse_one(&format!("0 {rule}"))
                .is_ok_and(|intervention| is_set(&plan, &settings, &intervention.change));
            let _ = button.set_attribute("aria-pressed", if set { "true" } else { "false" });
            let refused = parse_one(&format!("0 {rule}")).and_then(|one| accept(self.lab.scenario, vec![one])).err();
            let _ = button.set_attribute("aria-disabled", if refused.is_some() && !set { "true" } else { "false" });
            let _ =
                button.set_attribute("title", &refused.filter(|_| !set).map_or(String::new(), |mistake| mistake.what));
        }
        for input in elements(&self.root, "[data-span]") {
            let span = match input.get_attribute("data-span").as_deref() {
                Some("lease") => settings.lease,
                Some("renew") => settings.renew,
                _ => settings.margin,
            };
            let input: HtmlInputElement = input.unchecked_into();
            // What somebody is typing stays.
            if document().active_element().as_ref() != Some(input.as_ref()) {
                input.set_value(&span.to_string());
            }
        }
        if let Ok(Some(now)) = self.root.query_selector("[data-now]") {
            now.set_text_content(Some(&format!("from {} s on", self.lab.act_at())));
        }
    }

    /// Another lock service has other machines: the lists name those of the run that is shown.
    fn name_machines(&self) {
        let machines = machines(self.lab);
        let names = machines.join(" ");
        if self.root.get_attribute("data-machines").as_ref() == Some(&names) {
            return;
        }
        // An attribute with a plain name can be set.
        let _ = self.root.set_attribute("data-machines", &names);
        for list in elements(&self.root, &format!("#{FIRST_CONTROL}, #message-from, #message-to")) {
            let list: HtmlSelectElement = list.unchecked_into();
            let chosen = list.value();
            let mut html = Html::default();
            options(&mut html, &machines, &chosen);
            list.set_inner_html(&html.finish());
        }
    }

    fn choose(&self, machine: MachineId) {
        if let Some(select) = document().get_element_by_id(FIRST_CONTROL) {
            select.unchecked_into::<HtmlSelectElement>().set_value(&machine.to_string());
        }
    }

    fn clicked(&self, event: &web_sys::MouseEvent) {
        if let Some(button) = closest(event, "[data-words]") {
            let words = self.words(&button);
            match self.idle(&words) {
                Some(because) => self.mistake.set(format!("“{words}” would have no effect: {because}.")),
                None => {
                    let at = self.lab.act_at();
                    let text = format!("{at} {words}");
                    let done = parse_one(&text).and_then(|intervention| self.lab.add(intervention));
                    if done.is_ok() {
                        // The change is part of what is shown.
                        self.lab.seek(at);
                    }
                    self.report(done, &text);
                }
            }
        } else if let Some(rule) = closest(event, "[data-rule]").and_then(|button| button.get_attribute("data-rule")) {
            self.set_rule(&rule);
        }
    }

    fn changed(&self, event: &web_sys::Event) {
        if let Some(input) = closest(event, "[data-span]") {
            let verb = input.get_attribute("data-span").unwrap_or_default();
            let input: HtmlInputElement = input.unchecked_into();
            self.set_rule(&format!("{verb} {}", input.value()));
        }
    }

    fn submitted(&self) {
        let text = self.field("sentence");
        let done = parse_one(&text).and_then(|intervention| self.lab.add(intervention));
        if done.is_ok()
            && let Ok(Some(input)) = self.root.query_selector("[name=sentence]")
        {
            input.unchecked_into::<HtmlInputElement>().set_value("");
        }
        self.report(done, text.trim());
    }

    fn set_rule(&self, rule: &str) {
        // What a run is made of is chosen before it begins.
        let always_at_the_start = ["service", "store", "set"].iter().any(|verb| rule.starts_with(verb));
        let from = if always_at_the_start { TrueTime::ZERO } else { self.rules_from() };
        let text = format!("{from} {rule}");
        let done = parse_one(&text).and_then(|Intervention { at, change }| self.lab.set_rule(at, change));
        self.report(done, &text);
    }

    fn report(&self, done: Result<(), Mistake>, text: &str) {
        match done {
            Ok(()) => {
                self.mistake.set(String::new());
                self.lab.announcement.set(format!("Added: {text}"));
            }
            Err(mistake) => self.mistake.set(mistake.to_string()),
        }
    }
}

/// The machines of the run that is shown.
fn machines(lab: Lab) -> Vec<String> {
    let mut machines: Vec<String> = WorkerId::ALL.iter().map(WorkerId::to_string).collect();
    machines.extend(lab.run.read_untracked().plan.service_machines().iter().map(ToString::to_string));
    machines.extend(["leader".to_owned(), "store".to_owned(), "sweeper".to_owned()]);
    machines
}

/// The form.
fn form(lab: Lab) -> String {
    let machines = machines(lab);
    let html = &mut Html::default();

    fieldset(html, "A machine", |html| {
        row(html, |html| {
            select(html, "Machine ", "machine", FIRST_CONTROL, &machines, "A");
            act(html, "Crash", "crash {machine}");
            act(html, "Restart", "restart {machine}");
            act(html, "Isolate", "isolate {machine}");
        });
        row(html, |html| {
            let pause = ("Pause for", "pause {machine} {length} {vm}");
            act_with(html, pause, "Length of the pause in seconds", "length", "5", "s");
            tick(html, &[("type", "checkbox"), ("name", "vm"), ("value", "vm")], "with its clocks (a paused VM)");
            act(html, "Resume", "resume {machine}");
        });
        row(html, |html| {
            let step = ("Step wall clock by", "step-wall {machine} {step}");
            act_with(html, step, "Step of the wall clock in seconds", "step", "-3", "s");
            let offset = ("Set offset", "offset {machine} {offset}");
            act_with(html, offset, "Offset of the wall clock in seconds", "offset", "3", "s");
            act_with(html, ("Set rate", "rate {machine} {rate}"), "Rate of both clocks", "rate", "1.02", "×");
        });
        row(html, |html| {
            act(html, "Acquire", "acquire {machine}");
            act(html, "Release", "release {machine}");
        });
    });
    fieldset(html, "The network", |html| {
        row(html, |html| {
            select(html, "Next message from ", "from-machine", "message-from", &machines, "A");
            select(html, "to ", "to-machine", "message-to", &machines, "store");
        });
        row(html, |html| {
            act(html, "Drop it", "drop {from-machine} {to-machine}");
            act(html, "Send it twice", "duplicate {from-machine} {to-machine}");
            let delay = ("Delay it by", "delay {from-machine} {to-machine} {by}");
            act_with(html, delay, "Delay in seconds", "by", "20", "s");
        });
        row(html, |html| {
            let partition = ("Partition", "partition {sides}");
            act_with(html, partition, "Sides of the partition", "sides", "n1 | n2,n3", "");
            act(html, "Heal", "heal");
        });
    });
    fieldset(html, "The rules", |html| {
        row(html, |html| {
            tick(html, &[("type", "radio"), ("name", "from"), ("value", "start"), ("checked", "")], "from the start");
            html.open("label", &[("class", "tick")]);
            html.open("input", &[("type", "radio"), ("name", "from"), ("value", "now")]);
            html.element("span", &[("data-now", "")], "from now on").close("label");
        });
        choice(
            html,
            "Fence",
            &[
                ("fence on", "on"),
                ("fence off", "off"),
                ("fence reject-equal", "refuse equal tokens too"),
                ("fence two-step", "check and write in two steps"),
            ],
        );
        choice(html, "Who takes over raises the fence", &[("raise first", "first"), ("raise late", "late")]);
        choice(html, "Sweeper", &[("sweeper on", "on"), ("sweeper off", "off")]);
        choice(html, "Store recognises recorded chunks", &[("idempotent off", "no"), ("idempotent on", "yes")]);
        row(html, |html| {
            for (text, verb) in [("Lease ", "lease"), ("Renew every ", "renew"), ("Margin ", "margin")] {
                html.open("label", &[("class", "number")]).text(text);
                html.open("input", &[("type", "text"), ("inputmode", "decimal"), ("size", "4"), ("data-span", verb)]);
                html.text("s").close("label");
            }
        });
        choice(
            html,
            "Lock service",
            &[
                ("service consensus", "consensus"),
                ("service redis", "Redis"),
                ("service redlock", "Redlock"),
                ("service lease-item", "lease item"),
            ],
        );
        choice(
            html,
            "Store",
            &[("store row", "row"), ("store sql", "SQL"), ("store dynamodb", "DynamoDB"), ("store s3", "S3")],
        );
    });
    fieldset(html, "In your own words", |html| {
        html.open("form", &[("class", "row")]);
        html.open(
            "input",
            &[
                ("type", "text"),
                ("name", "sentence"),
                ("class", "mono grow"),
                ("aria-label", "An intervention, such as 5 delay A store 20"),
                ("placeholder", "5 delay A store 20"),
                ("autocomplete", "off"),
                ("spellcheck", "false"),
            ],
        );
        html.element("button", &[("type", "submit"), ("class", "act")], "Add").close("form");
        html.open("p", &[("class", "soft small")]).text("Seconds, verb, arguments: ");
        for example in ["4 pause A 15", "47 crash leader", "10 partition n1 | n2,n3"] {
            html.element("code", &[], example).text(" ");
        }
        html.close("p");
    });
    std::mem::take(html).finish()
}

fn fieldset(html: &mut Html, legend: &str, content: impl FnOnce(&mut Html)) {
    html.open("fieldset", &[]).element("legend", &[], legend);
    content(html);
    html.close("fieldset");
}

fn row(html: &mut Html, content: impl FnOnce(&mut Html)) {
    html.open("div", &[("class", "row")]);
    content(html);
    html.close("div");
}

fn act(html: &mut Html, text: &str, words: &str) {
    html.element("button", &[("type", "button"), ("class", "act"), ("data-words", words)], text);
}

/// A button and the field that belongs to it, kept together where the line breaks.
fn act_with(html: &mut Html, (text, words): (&str, &str), label: &str, name: &str, value: &str, unit: &str) {
    html.open("span", &[("class", "pair")]);
    act(html, text, words);
    number(html, label, name, value, unit);
    html.close("span");
}

fn number(html: &mut Html, label: &str, name: &str, value: &str, unit: &str) {
    let size = if value.len() > 4 { "12" } else { "4" };
    html.open("label", &[("class", "number")]);
    html.open("input", &[("type", "text"), ("name", name), ("value", value), ("size", size), ("aria-label", label)]);
    html.text(unit).close("label");
}

fn tick(html: &mut Html, attributes: &[(&str, &str)], text: &str) {
    html.open("label", &[("class", "tick")]).open("input", attributes).text(text).close("label");
}

fn select(html: &mut Html, label: &str, name: &str, id: &str, options: &[String], chosen: &str) {
    html.open("label", &[]).text(label).open("select", &[("name", name), ("id", id)]);
    self::options(html, options, chosen);
    html.close("select").close("label");
}

fn options(html: &mut Html, options: &[String], chosen: &str) {
    for option in options {
        let selected: &[(&str, &str)] = if option == chosen { &[("selected", "")] } else { &[] };
        html.element("option", selected, option);
    }
}

fn choice(html: &mut Html, legend: &str, rules: &[(&str, &str)]) {
    html.open("div", &[("class", "choice"), ("role", "group"), ("aria-label", legend)]);
    html.element("span", &[("class", "choice-name")], legend);
    for (rule, text) in rules {
        html.element("button", &[("type", "button"), ("class", "toggle"), ("data-rule", rule)], text);
    }
    html.close("div");
}
