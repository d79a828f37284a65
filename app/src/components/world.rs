//! The whole world at the cursor, beside another instant if one is pinned.

use std::collections::BTreeMap;

use lease_lab_drawing::timeline::worker_class;
use lease_lab_scenarios::snapshot::Snapshot;
use lease_lab_sim::machine::WorkerId;
use lease_lab_sim::time::{TrueTime, grouped};
use leptos::prelude::*;

use crate::state::Lab;

/// A row of the card: a name, the class of its colour, and what is true.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    name: String,
    class: &'static str,
    value: String,
}

fn rows(snapshot: &Snapshot) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut push = |name: String, class: &'static str, value: String| rows.push(Row { name, class, value });
    for (worker, card) in &snapshot.workers {
        if *worker == WorkerId::D && card.state == "idle" {
            continue;
        }
        let mut parts = vec![card.state.replace('-', " ")];
        if let (Some(token), Some(stop)) = (card.token, card.stop_time) {
            parts.push(format!("token {token}"));
            parts.push(format!("stop {}", stop.told()));
        }
        if card.believes_holding && snapshot.service.key.as_ref().is_none_or(|key| key.holder != *worker) {
            parts.push("believes it holds the lock".into());
        } else if card.state == "working" || card.state == "waiting" {
            parts.push(card.activity.clone());
        }
        push(worker.to_string(), worker_class((*worker).into()), parts.join(" · "));
    }
    let service = &snapshot.service;
    let key = match &service.key {
        Some(key) => {
            let deadline =
                key.deadline.map_or("no deadline: nobody leads".into(), |at| format!("deadline {}", at.told()));
            format!("{} · token {} · {deadline}", key.holder, key.token)
        }
        None => "nobody holds it".into(),
    };
    push("Key".into(), "system", key);
    let leader = service.leader.map_or("none".into(), |leader| leader.to_string());
    push("Leader".into(), "system", format!("{leader} · term {} · revision {}", service.term, service.revision));
    if let Some(row) = &snapshot.store {
        let owner = row.owner_token.map_or("no owner".into(), |owner| format!("owner {owner}"));
        let index = if row.indexed { "in the index" } else { "not in the index" };
        push("Row".into(), "system", format!("{} · fence {} · {owner} · {index}", row.state, row.fence));
        push("Chunks".into(), "system", chunks(&row.chunks));
        let twice = grouped(row.charged_twice);
        push(
            "Charged".into(),
            "system",
            format!("{} once · {twice} twice", grouped(row.invoices_charged - row.charged_twice)),
        );
    }
    rows
}

/// "1 by 7, 2–3 by 12": which token recorded which chunks.
fn chunks(chunks: &BTreeMap<u8, Vec<u64>>) -> String {
    if chunks.is_empty() {
        return "none recorded".into();
    }
    let by = |tokens: &[u64]| tokens.iter().map(u64::to_string).collect::<Vec<_>>().join(" and ");
    let mut parts: Vec<(u8, u8, String)> = Vec::new();
    for (chunk, tokens) in chunks {
        let by = by(tokens);
        match parts.last_mut() {
            Some((_, last, same)) if *same == by && *last + 1 == *chunk => *last = *chunk,
            _ => parts.push((*chunk, *chunk, by)),
        }
    }
    let text = |(first, last, by): &(u8, u8, String)| {
        if first == last { format!("{first} by {by}") } else { format!("{first}–{last} by {by}") }
    };
    parts.iter().map(text).collect::<Vec<_>>().join(", ")
}

#[component]
pub(crate) fn WorldCard(lab: Lab) -> impl IntoView {
    let here = Memo::new(move |_| rows(&lab.snapshot.get()));
    let there =
        Memo::new(move |_| lab.pinned.get().map(|at| rows(&Snapshot::take(&lab.run.read().world_at(at), at, None))));
    view! {
        <section class="card world" aria-labelledby="world-title">
            <div class="card-head">
                <h2 id="world-title">{move || format!("The world at {} s", lab.cursor.get().told())}</h2>
                {move || match lab.pinned.get() {
                    None => view! {
                        <button type="button" class="quiet" on:click=move |_| lab.pinned.set(Some(lab.cursor.get_untracked()))>
                            "Compare from here"
                        </button>
                    }.into_any(),
                    Some(at) => view! {
                        <button type="button" class="quiet" on:click=move |_| lab.pinned.set(None)>
                            {format!("Stop comparing with {} s", at.told())}
                        </button>
                    }.into_any(),
                }}
            </div>
            {bookmarks(lab)}
            <dl>
                {move || {
                    let before = there.get();
                    here.get()
                        .into_iter()
                        .map(|row| {
                            let old = before
                                .as_ref()
                                .map(|rows| rows.iter().find(|other| other.name == row.name))
                                .map(|other| other.map_or("–".to_owned(), |other| other.value.clone()))
                                .filter(|old| *old != row.value);
                            let changed = old.is_some();
                            view! {
                                <dt class=row.class><span class="dot" aria-hidden="true"></span>{row.name}</dt>
                                <dd class:changed=changed>
                                    {row.value}
                                    {old.map(|old| view! { <span class="was">{format!("was: {old}")}</span> })}
                                </dd>
                            }
                        })
                        .collect_view()
                }}
            </dl>
            {nodes(lab)}
            {in_flight(lab)}
        </section>
    }
}

fn bookmarks(lab: Lab) -> impl IntoView {
    let shown = Memo::new(move |_| {
        let (run, until) = (lab.run.read(), lab.until.get());
        lab.scenario
            .bookmarks
            .iter()
            .map(|bookmark| (bookmark, run.bookmark_at(bookmark)))
            .filter(|(_, at)| *at <= until)
            .map(|(bookmark, at)| (bookmark.name, bookmark.shows, at))
            .collect::<Vec<_>>()
    });
    let here = move |at: TrueTime| lab.cursor.get() == at;
    view! {
        <div class="bookmarks" role="group" aria-label="Snapshots">
            {move || {
                shown.get().into_iter().map(|(name, shows, at)| view! {
                    <button
                        type="button"
                        class="toggle"
                        title=format!("{} s: {shows}", at.told())
                        aria-pressed=move || here(at).to_string()
                        on:click=move |_| lab.step_to(at)
                    >
                        {name}
                    </button>
                }).collect_view()
            }}
        </div>
        {move || {
            // A bookmark says what its own story shows; in a changed run it would be a promise.
            let own = lab.history.read().list().iter().filter(|entry| entry.on).map(|entry| &entry.intervention).eq((lab.scenario.plan)().interventions.iter());
            let at = lab.cursor.get();
            let text = shown.get().into_iter().find(|(_, _, there)| own && *there == at).map(|(_, shows, _)| shows);
            text.map(|text| view! { <p class="shows">{text}</p> })
        }}
    }
}

/// What each lock node has in its log and what only in its memory.
fn nodes(lab: Lab) -> impl IntoView {
    let open = RwSignal::new(false);
    view! {
        <details
            class="more"
            on:toggle:target=move |event| {
                use wasm_bindgen::JsCast as _;
                let element: web_sys::Element = event.target().unchecked_into();
                open.set(element.has_attribute("open"));
            }
        >
            <summary>"Lock nodes: log and memory"</summary>
            {move || open.get().then(|| {
                let snapshot = lab.snapshot.get();
                snapshot.service.nodes.iter().map(|(id, node)| {
                    let state = match (node.up, node.frozen) {
                        (false, _) => "down".to_owned(),
                        (_, true) => format!("frozen {}", node.role),
                        _ => node.role.to_owned(),
                    };
                    let deadlines = if node.memory.deadlines.is_empty() {
                        "no deadline".to_owned()
                    } else {
                        node.memory.deadlines.iter().map(|(lease, at)| format!("lease {lease} until {}", at.told())).collect::<Vec<_>>().join(", ")
                    };
                    let hidden = node.log.len().saturating_sub(4);
                    view! {
                        <div class="node">
                            <h3>{format!("{id}: {state}, term {}", node.term)}</h3>
                            <p>
                                {format!("Only in memory: {deadlines}; knows entries up to {} to be committed.", node.memory.commit_index)}
                            </p>
                            <ol class="log" start=(hidden + 1).to_string()>
                                {node.log.iter().skip(hidden).map(|entry| view! {
                                    <li value=entry.index.to_string() class:uncommitted=!entry.committed>
                                        {format!(
                                            "term {}: {}{}{}",
                                            entry.term,
                                            entry.command,
                                            if entry.on_disk { "" } else { " (not on disk yet)" },
                                            if entry.committed { "" } else { " (not known to be committed)" },
                                        )}
                                    </li>
                                }).collect_view()}
                            </ol>
                        </div>
                    }
                }).collect_view()
            })}
        </details>
    }
}

fn in_flight(lab: Lab) -> impl IntoView {
    let messages = Memo::new(move |_| lab.snapshot.get().in_flight.clone());
    move || {
        let messages = messages.get();
        (!messages.is_empty()).then(|| {
            view! {
                <p class="in-flight">
                    <span class="soft">"On the way: "</span>
                    {messages
                        .iter()
                        .map(|message| format!("{} → {}: {}", message.from, message.to, message.what))
                        .collect::<Vec<_>>()
                        .join("; ")}
                </p>
            }
        })
    }
}
