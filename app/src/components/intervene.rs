//! Interventions at the cursor.
//!
//! Every button is one intervention of the grammar; whether it would have an effect is asked of the simulator.

use lease_lab_sim::intervention::{Intervention, Mistake, parse_one};
use lease_lab_sim::machine::{MachineId, NodeId, WorkerId};
use lease_lab_sim::settings::{FenceMode, RaiseOrder};
use lease_lab_sim::time::TrueTime;
use leptos::prelude::*;
use wasm_bindgen::JsCast as _;

use crate::html::is_open;
use crate::state::Lab;

const FIRST_CONTROL: &str = "intervene-machine";

/// Moves the focus to the panel, and opens it.
pub(crate) fn focus() {
    if let Some(details) = document().get_element_by_id("intervene") {
        // An attribute with a plain name can be set.
        let _ = details.set_attribute("open", "");
    }
    let control = document().get_element_by_id(FIRST_CONTROL);
    if let Some(control) = control.and_then(|control| control.dyn_into::<web_sys::HtmlElement>().ok()) {
        // It is there and can take the focus.
        let _ = control.focus();
    }
}

#[component]
pub(crate) fn Intervene(lab: Lab) -> impl IntoView {
    let open = RwSignal::new(false);
    let mistake = RwSignal::new(None::<String>);
    let target = RwSignal::new("A".to_owned());
    Effect::new(move |_| {
        if let Some(machine) = lab.chosen.get() {
            target.set(machine.to_string());
        }
    });
    let panel = Panel { lab, mistake, target };
    view! {
        <details
            id="intervene"
            class="intervene"
            prop:open=move || open.get()
            on:toggle=move |event| open.set(is_open(&event))
        >
            <summary>
                "Change what happens "
                <span class="soft">{Signal::derive(move || format!("at {} s, or from the start", lab.cursor.get().told()))}</span>
            </summary>
            // What is closed costs nothing while the cursor moves.
            {move || open.get().then(|| view! {
                <div class="intervene-grid">
                    {machines(panel)} {network(panel)} {rules(panel)} {sentence(panel)}
                </div>
            })}
            <p class="mistake" role="alert">{Signal::derive(move || mistake.get())}</p>
        </details>
    }
}

#[derive(Clone, Copy)]
struct Panel {
    lab: Lab,
    mistake: RwSignal<Option<String>>,
    target: RwSignal<String>,
}

impl Panel {
    /// Adds what `words` say at the cursor.
    fn act(self, words: &str) {
        let at = self.lab.cursor.get_untracked();
        let done = parse_one(&format!("{at} {words}")).and_then(|intervention| self.lab.add(intervention));
        self.report(done.map(|()| format!("Added: {at} {words}")));
    }

    fn report(self, done: Result<String, Mistake>) {
        match done {
            Ok(text) => {
                self.mistake.set(None);
                self.lab.announcement.set(text);
            }
            Err(mistake) => self.mistake.set(Some(mistake.to_string())),
        }
    }

    /// Why `words` would have no effect now.
    fn idle(self, words: &str) -> Option<String> {
        let intervention = parse_one(&format!("0 {words}")).ok()?;
        self.lab.idle_because(&intervention.change)
    }

    /// A button that adds what `words` say.
    /// All closures are signals, so that this is compiled once and not for every button.
    fn button(self, text: &'static str, words: Signal<String>) -> AnyView {
        let idle = Memo::new(move |_| self.idle(&words.read()));
        let disabled = Signal::derive(move || idle.read().is_some().to_string());
        let title = Signal::derive(move || match idle.get() {
            Some(because) => format!("No effect: {because}"),
            None => words.get(),
        });
        let act = move |_| match idle.get_untracked() {
            Some(because) => {
                let words = words.get_untracked();
                self.mistake.set(Some(format!("“{words}” would have no effect: {because}.")));
            }
            None => self.act(&words.get_untracked()),
        };
        view! {
            <button type="button" class="act" aria-disabled=disabled title=title on:click=act>
                {text}
            </button>
        }
        .into_any()
    }
}

fn number(label: &'static str, value: RwSignal<String>, unit: &'static str) -> AnyView {
    view! {
        <label class="number">
            <span class="visually-hidden">{label}</span>
            <input
                type="text"
                inputmode="decimal"
                size="4"
                prop:value=value
                on:input:target=move |event| value.set(event.target().value())
            />
            {unit}
        </label>
    }
    .into_any()
}

/// A choice of machines.
fn machine_select(label: &'static str, id: &'static str, value: RwSignal<String>, names: &[String]) -> AnyView {
    let chosen = value.get_untracked();
    let options: Vec<_> = names
        .iter()
        .map(|name| view! { <option value=name.clone() selected=*name == chosen>{name.clone()}</option> })
        .collect();
    view! {
        <label>
            {label}
            <select id=id prop:value=value on:change:target=move |event| value.set(event.target().value())>
                {options}
            </select>
        </label>
    }
    .into_any()
}

/// A tick that is either a box or a button of a group.
fn tick(kind: &'static str, checked: Signal<bool>, change: Callback<bool>, text: Signal<String>) -> AnyView {
    view! {
        <label class="tick">
            <input
                type=kind
                name=kind
                prop:checked=checked
                on:change:target=move |event| change.run(event.target().checked())
            />
            {text}
        </label>
    }
    .into_any()
}

fn machine_names(lab: Lab) -> Vec<String> {
    let workers = WorkerId::ALL.map(|worker| worker.to_string());
    let nodes = (lab.scenario.plan)().cluster.nodes().map(|node: NodeId| node.to_string()).collect::<Vec<_>>();
    let others = ["leader".to_owned(), MachineId::Store.to_string(), MachineId::Sweeper.to_string()];
    workers.into_iter().chain(nodes).chain(others).collect()
}

fn machines(panel: Panel) -> impl IntoView {
    let target = panel.target;
    let length = RwSignal::new("5".to_owned());
    let vm = RwSignal::new(false);
    let step = RwSignal::new("-3".to_owned());
    let offset = RwSignal::new("3".to_owned());
    let rate = RwSignal::new("1.02".to_owned());
    let is_worker = move || MachineId::parse(&target.get()).and_then(MachineId::worker).is_some();
    let pause = move || {
        let (length, vm) = (length.get(), if vm.get() { " vm" } else { "" });
        format!("pause {} {length}{vm}", target.get())
    };
    view! {
        <fieldset>
            <legend>"A machine"</legend>
            <div class="row">
                {machine_select("Machine ", FIRST_CONTROL, target, &machine_names(panel.lab))}
                {panel.button("Crash", Signal::derive(move || format!("crash {}", target.get())))}
                {panel.button("Restart", Signal::derive(move || format!("restart {}", target.get())))}
                {panel.button("Isolate", Signal::derive(move || format!("isolate {}", target.get())))}
            </div>
            <div class="row">
                {panel.button("Pause for", Signal::derive(pause))}
                {number("Length of the pause in seconds", length, "s")}
                {tick(
                    "checkbox",
                    vm.into(),
                    Callback::new(move |on| vm.set(on)),
                    Signal::stored("with its clocks (a paused VM)".to_owned()),
                )}
                {panel.button("Resume", Signal::derive(move || format!("resume {}", target.get())))}
            </div>
            <div class="row">
                {panel.button("Step wall clock by", Signal::derive(move || format!("step-wall {} {}", target.get(), step.get())))}
                {number("Step of the wall clock in seconds", step, "s")}
                {panel.button("Set offset", Signal::derive(move || format!("offset {} {}", target.get(), offset.get())))}
                {number("Offset of the wall clock in seconds", offset, "s")}
                {panel.button("Set rate", Signal::derive(move || format!("rate {} {}", target.get(), rate.get())))}
                {number("Rate of both clocks", rate, "×")}
            </div>
            <div class="row" class:hidden=move || !is_worker()>
                {panel.button("Acquire", Signal::derive(move || format!("acquire {}", target.get())))}
                {panel.button("Release", Signal::derive(move || format!("release {}", target.get())))}
            </div>
        </fieldset>
    }
}

fn network(panel: Panel) -> impl IntoView {
    let from = RwSignal::new("A".to_owned());
    let to = RwSignal::new("store".to_owned());
    let by = RwSignal::new("20".to_owned());
    let sides = RwSignal::new("n1 | n2,n3".to_owned());
    let names = machine_names(panel.lab);
    view! {
        <fieldset>
            <legend>"The network"</legend>
            <div class="row">
                {machine_select("Next message from ", "message-from", from, &names)}
                {machine_select("to ", "message-to", to, &names)}
            </div>
            <div class="row">
                {panel.button("Drop it", Signal::derive(move || format!("drop {} {}", from.get(), to.get())))}
                {panel.button("Send it twice", Signal::derive(move || format!("duplicate {} {}", from.get(), to.get())))}
                {panel.button("Delay it by", Signal::derive(move || format!("delay {} {} {}", from.get(), to.get(), by.get())))}
                {number("Delay in seconds", by, "s")}
            </div>
            <div class="row">
                {panel.button("Partition", Signal::derive(move || format!("partition {}", sides.get())))}
                <label class="number">
                    <span class="visually-hidden">"Sides of the partition"</span>
                    <input
                        type="text"
                        size="12"
                        prop:value=Signal::derive(move || sides.get())
                        on:input:target=move |event| sides.set(event.target().value())
                    />
                </label>
                {panel.button("Heal", Signal::derive(|| "heal".to_owned()))}
            </div>
        </fieldset>
    }
}

fn rules(panel: Panel) -> impl IntoView {
    let lab = panel.lab;
    let from_start = RwSignal::new(true);
    let at = move || if from_start.get() { TrueTime::ZERO } else { lab.cursor.get() };
    // The settings in force where the rule would be set.
    let settings = Memo::new(move |_| *lab.run.read().world_at(at()).settings());
    let set = move |words: String| {
        let at = if from_start.get_untracked() { TrueTime::ZERO } else { lab.cursor.get_untracked() };
        let done = parse_one(&format!("{at} {words}"))
            .and_then(|Intervention { at, change }| lab.set_rule(at, change))
            .map(|()| format!("From {at} s on: {words}"));
        panel.report(done);
    };
    let set = Callback::new(set);
    let choice = move |legend: &'static str,
                       verb: &'static str,
                       values: &'static [(&'static str, &'static str)],
                       now: Signal<&'static str>| {
        view! {
            <div class="choice" role="group" aria-label=legend>
                <span class="choice-name">{legend}</span>
                {values
                    .iter()
                    .map(|(value, text)| view! {
                        <button
                            type="button"
                            class="toggle"
                            aria-pressed=Signal::derive(move || (now.get() == *value).to_string())
                            on:click=move |_| set.run(format!("{verb} {value}"))
                        >
                            {*text}
                        </button>
                    })
                    .collect_view()}
            </div>
        }
        .into_any()
    };
    let on_off = |on: bool| if on { "on" } else { "off" };
    let fence = Signal::derive(move || match settings.get().fence {
        FenceMode::On => "on",
        FenceMode::Off => "off",
        FenceMode::RejectEqual => "reject-equal",
        FenceMode::TwoStep => "two-step",
    });
    let raise = Signal::derive(move || match settings.get().raise {
        RaiseOrder::First => "first",
        RaiseOrder::Late => "late",
    });
    let sweeper = Signal::derive(move || on_off(settings.get().sweeper));
    let idempotent = Signal::derive(move || on_off(settings.get().idempotent));
    let time = move |legend: &'static str, verb: &'static str, now: Signal<String>| {
        view! {
            <label class="number">
                {legend}
                <input
                    type="text"
                    inputmode="decimal"
                    size="4"
                    prop:value=Signal::derive(move || now.get())
                    on:change:target=move |event| {
                        set.run(format!("{verb} {}", event.target().value()));
                        // What was refused does not stay in the field.
                        event.target().set_value(&now.get_untracked());
                    }
                />
                "s"
            </label>
        }
        .into_any()
    };
    let unavailable = |name: &'static str| {
        view! {
            <button type="button" class="toggle" aria-disabled="true" aria-pressed="false" title="This version does not simulate it yet">
                {name}
            </button>
        }
    };
    view! {
        <fieldset class="rules">
            <legend>"The rules"</legend>
            <div class="row">
                {tick(
                    "radio",
                    from_start.into(),
                    Callback::new(move |_| from_start.set(true)),
                    Signal::stored("from the start".to_owned()),
                )}
                {tick(
                    "radio",
                    Signal::derive(move || !from_start.get()),
                    Callback::new(move |_| from_start.set(false)),
                    Signal::derive(move || format!("from {} s on", lab.cursor.get().told())),
                )}
            </div>
            {choice("Fence", "fence", &[("on", "on"), ("off", "off"), ("reject-equal", "refuse equal tokens too"), ("two-step", "check and write in two steps")], fence)}
            {choice("Who takes over raises the fence", "raise", &[("first", "first"), ("late", "late")], raise)}
            {choice("Sweeper", "sweeper", &[("on", "on"), ("off", "off")], sweeper)}
            {choice("Store recognises recorded chunks", "idempotent", &[("off", "no"), ("on", "yes")], idempotent)}
            <div class="row">
                {time("Lease ", "lease", Signal::derive(move || settings.get().lease.to_string()))}
                {time("Renew every ", "renew", Signal::derive(move || settings.get().renew.to_string()))}
                {time("Margin ", "margin", Signal::derive(move || settings.get().margin.to_string()))}
            </div>
            <div class="choice" role="group" aria-label="Lock service">
                <span class="choice-name">"Lock service"</span>
                <button type="button" class="toggle" aria-pressed="true">"consensus"</button>
                {["Redis", "Redlock", "lease item"].map(unavailable).collect_view()}
            </div>
            <div class="choice" role="group" aria-label="Store">
                <span class="choice-name">"Store"</span>
                <button type="button" class="toggle" aria-pressed="true">"row"</button>
                {["SQL", "DynamoDB", "S3"].map(unavailable).collect_view()}
            </div>
            <p class="soft small">"The greyed services and stores are not simulated in this version."</p>
        </fieldset>
    }
}

/// Any sentence of the grammar.
fn sentence(panel: Panel) -> impl IntoView {
    let text = RwSignal::new(String::new());
    let add = move || {
        let typed = text.get_untracked();
        let done = parse_one(&typed).and_then(|intervention| panel.lab.add(intervention));
        if done.is_ok() {
            text.set(String::new());
        }
        panel.report(done.map(|()| format!("Added: {}", typed.trim())));
    };
    view! {
        <fieldset>
            <legend>"In your own words"</legend>
            <form
                class="row"
                on:submit=move |event| {
                    event.prevent_default();
                    add();
                }
            >
                <label class="grow">
                    <span class="visually-hidden">"An intervention, such as 5 delay A store 20"</span>
                    <input
                        type="text"
                        class="mono"
                        placeholder="5 delay A store 20"
                        autocomplete="off"
                        spellcheck="false"
                        prop:value=Signal::derive(move || text.get())
                        on:input:target=move |event| text.set(event.target().value())
                    />
                </label>
                <button type="submit" class="act">"Add"</button>
            </form>
            <p class="soft small">
                "Seconds, verb, arguments: "<code>"4 pause A 15"</code>", "<code>"47 crash leader"</code>", "
                <code>"10 partition n1 | n2,n3"</code>"."
            </p>
        </fieldset>
    }
}
