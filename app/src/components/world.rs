//! The whole world at the cursor, beside another instant if one is pinned.

use lease_lab_drawing::timeline::worker_class;
use lease_lab_links::active;
use lease_lab_scenarios::snapshot::Snapshot;
use lease_lab_sim::machine::WorkerId;
use lease_lab_sim::message::NO_TOKEN;
use lease_lab_sim::settings::FenceMode;
use lease_lab_sim::time::grouped;
use leptos::prelude::*;
use litemap::LiteMap;

use crate::dom;
use crate::html::{Html, follow_jump, is_open};
use crate::state::{Lab, Shared};

/// The newest entries of a log that the card shows.
const LOG_ENTRIES_SHOWN: usize = 4;

/// A row of the card: a name, the class of its colour, and what is true.
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
            if token != NO_TOKEN {
                parts.push(format!("token {token}"));
            }
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
            // Only nodes of a log have terms; where there are none, each server judges by itself.
            let none = if service.term > 0 { "no deadline: nobody leads" } else { "no single deadline" };
            let deadline = key.deadline.map_or(none.into(), |at| format!("deadline {}", at.told()));
            let token = if key.token == NO_TOKEN { "no token".into() } else { format!("token {}", key.token) };
            format!("{} · {token} · {deadline}", key.holder)
        }
        None => "nobody holds it".into(),
    };
    push("Key".into(), "system", key);
    let leader = service.leader.map_or("none".into(), |leader| leader.to_string());
    if service.term > 0 {
        push("Leader".into(), "system", format!("{leader} · term {} · revision {}", service.term, service.revision));
    }
    if let Some(row) = &snapshot.store {
        let owner = row.owner_token.map_or("no owner".into(), |owner| format!("owner {owner}"));
        let index = if row.indexed { "in the index" } else { "not in the index" };
        let off = if row.fence_mode == FenceMode::Off { " (off)" } else { "" };
        push("Row".into(), "system", format!("{} · fence {}{off} · {owner} · {index}", row.state, row.fence));
        push("Chunks".into(), "system", chunks(&row.chunks));
        let (once, twice) = (row.invoices_charged - row.charged_twice, row.charged_twice);
        push("Charged".into(), "system", format!("{} once · {} twice", grouped(once), grouped(twice)));
    }
    rows
}

/// "1 by 7, 2–3 by 12": which token recorded which chunks.
fn chunks(chunks: &LiteMap<u8, Vec<u64>>) -> String {
    if chunks.is_empty() {
        return "none recorded".into();
    }
    let mut parts: Vec<(u8, u8, String)> = Vec::new();
    for (chunk, tokens) in chunks {
        let told = |token: &u64| if *token == NO_TOKEN { "no token".to_owned() } else { token.to_string() };
        let by = tokens.iter().map(told).collect::<Vec<_>>().join(" and ");
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
    let pinned = Memo::new(move |_| {
        let at = lab.pinned.get()?;
        Some(Shared::new(Snapshot::take(&lab.run.read().world_at(at), at, None)))
    });
    let compare = move |_| {
        let at = lab.cursor.get_untracked();
        lab.pinned.update(|pinned| *pinned = if pinned.is_some() { None } else { Some(at) });
    };
    let nodes_open = RwSignal::new(false);
    view! {
        <section
            class="card world"
            aria-labelledby="world-title"
            on:click=dom::on_mouse(move |event| follow_jump(lab, &event))
        >
            <div class="card-head">
                <h2 id="world-title">{Signal::derive(move || format!("The world at {} s", lab.cursor.get().told()))}</h2>
                <button type="button" class="quiet" on:click=dom::on_mouse(compare)>
                    {move || match lab.pinned.get() {
                        None => "Compare from here".to_owned(),
                        Some(at) => format!("Stop comparing with {} s", at.told()),
                    }}
                </button>
            </div>
            <div class="bookmarks" role="group" aria-label="Snapshots" inner_html=Signal::derive(move || bookmarks(lab))></div>
            <p class="shows">{Signal::derive(move || shows(lab))}</p>
            <dl inner_html=Signal::derive(move || list(&lab.snapshot.read(), pinned.read().as_deref()))></dl>
            <details class="more" on:toggle=dom::on_event(move |event| nodes_open.set(is_open(&event)))>
                <summary>"Lock nodes: log and memory"</summary>
                // What is closed costs nothing while the cursor moves.
                <div inner_html=move || if nodes_open.get() { nodes(&lab.snapshot.read()) } else { String::new() }></div>
            </details>
            <p class="in-flight">{Signal::derive(move || in_flight(&lab.snapshot.read()))}</p>
        </section>
    }
}

fn list(here: &Snapshot, there: Option<&Snapshot>) -> String {
    let before = there.map(rows);
    let mut html = Html::default();
    for row in rows(here) {
        html.open("dt", &[("class", row.class)]);
        html.element("span", &[("class", "dot"), ("aria-hidden", "true")], "").text(&row.name).close("dt");
        let old = before
            .as_ref()
            .map(|rows| rows.iter().find(|other| other.name == row.name).map_or("–", |other| &other.value))
            .filter(|old| *old != row.value);
        html.open("dd", &[("class", if old.is_some() { "changed" } else { "" })]).text(&row.value);
        if let Some(old) = old {
            html.element(
                "span",
                &[("class", "was")],
                &format!("at {}: {old}", there.map_or(String::new(), |there| there.t.told())),
            );
        }
        html.close("dd");
    }
    html.finish()
}

fn bookmarks(lab: Lab) -> String {
    let (run, until, cursor) = (lab.run.read(), lab.until.get(), lab.cursor.get());
    let mut html = Html::default();
    for bookmark in lab.scenario.bookmarks {
        let at = run.bookmark_at(bookmark);
        if at <= until && run.beat(bookmark.beat).is_some() {
            let (micros, title) = (at.as_micros().to_string(), format!("{} s", at.told()));
            let pressed = if at == cursor { "true" } else { "false" };
            html.element(
                "button",
                &[
                    ("type", "button"),
                    ("class", "toggle"),
                    ("data-at", &micros),
                    ("title", &title),
                    ("aria-pressed", pressed),
                ],
                bookmark.name,
            );
        }
    }
    html.finish()
}

/// What a bookmark shows in its own story; in a changed run it would be a promise.
fn shows(lab: Lab) -> &'static str {
    let (run, cursor) = (lab.run.read(), lab.cursor.get());
    let bookmark = lab.scenario.bookmarks.iter().find(|bookmark| run.bookmark_at(bookmark) == cursor);
    match bookmark {
        Some(bookmark) if active(lab.history.read().list()) == lab.scenario.own_interventions() => bookmark.shows,
        _ => "",
    }
}

/// What each lock node has in its log and in its memory, always open.
#[cfg(feature = "labs")]
pub(crate) fn nodes_card(lab: Lab) -> impl IntoView {
    view! {
        <section class="card nodes-card" aria-labelledby="nodes-title">
            <h2 id="nodes-title">
                {Signal::derive(move || format!("Log and memory at {} s", lab.cursor.get().told()))}
            </h2>
            <div class="nodes" inner_html=Signal::derive(move || nodes(&lab.snapshot.read()))></div>
        </section>
    }
}

/// What each lock node has in its log and what only in its memory.
fn nodes(snapshot: &Snapshot) -> String {
    let mut html = Html::default();
    for (id, node) in &snapshot.service.nodes {
        let state = match (node.up, node.frozen) {
            (false, _) => "down",
            (_, true) => "frozen",
            _ => node.role,
        };
        let deadlines: Vec<String> =
            node.memory.deadlines.iter().map(|(lease, at)| format!("lease {lease} until {}", at.told())).collect();
        let deadlines = if deadlines.is_empty() { "no deadline".into() } else { deadlines.join(", ") };
        html.open("div", &[("class", "node")]);
        html.element("h3", &[], &format!("{id}: {state}, term {}", node.term));
        html.element(
            "p",
            &[],
            &format!("Only in memory: {deadlines}; knows entries up to {} to be committed.", node.memory.commit_index),
        );
        html.open("ol", &[("class", "log")]);
        for entry in node.log.iter().skip(node.log.len().saturating_sub(LOG_ENTRIES_SHOWN)) {
            let on_disk = if entry.on_disk { "" } else { " (not on disk yet)" };
            let committed = if entry.committed { "" } else { " (not known to be committed)" };
            html.element(
                "li",
                &[("value", &entry.index.to_string()), ("class", if entry.committed { "" } else { "uncommitted" })],
                &format!("term {}: {}{on_disk}{committed}", entry.term, entry.command),
            );
        }
        html.close("ol").close("div");
    }
    html.finish()
}

fn in_flight(snapshot: &Snapshot) -> String {
    let messages: Vec<String> = snapshot
        .in_flight
        .iter()
        .map(|message| format!("{} → {}: {}", message.from, message.to, message.what))
        .collect();
    if messages.is_empty() { String::new() } else { format!("On the way: {}", messages.join("; ")) }
}
