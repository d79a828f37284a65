//! A fence on a store that cannot compare numbers.

use lease_lab_sim::event::{Event, Kind, RefusedBecause};
use lease_lab_sim::machine::{JobId, MachineId, WorkerId};
use lease_lab_sim::message::{Message, StoreRequest};
use lease_lab_sim::settings::{Plan, StoreKind};
use lease_lab_sim::store::s3::{ETag, Request, object_key};
use lease_lab_sim::store::{Store, update::Purpose};
use lease_lab_sim::time::{Span, TrueTime};

use super::billing_story::{self, BEATS, BOOKMARKS};
use crate::Run;
use crate::knobs::{Knob, Takes};
use crate::measures::{Measure, Value};
use crate::scenario::{Extra, Scenario, Variant};
use crate::trace;

pub(super) static SCENARIO: Scenario = Scenario {
    id: "fence-s3",
    part: 4,
    name: "The fence on S3",
    title: "S3 cannot compare tokens, only versions: raising the fence means rewriting the manifest",
    lede: "Each holder uploads its chunks under keys of its own and records them by rewriting one manifest, on \
           condition that the manifest is still the version that it saw last. An ETag names a version: E0 is what the \
           enqueuer wrote, and each rewriting makes the next.",
    notice: &[
        "B’s first act is to rewrite the manifest with its own token. It changes nothing else, but from then on every \
         version that A knows is an old one.",
        "A’s object for chunk 2 lies in the bucket already, uploaded before the pause. It charges nobody: readers \
         trust only what the manifest names.",
        "The answer 412 says only that the manifest has changed, and 409 only that another PUT of it is in progress. \
         So A reads the manifest; if it finds a token above its own, it ends.",
    ],
    plan,
    faults: "4 pause A 15",
    knobs: &[&PUT],
    variants: &[
        Variant::adding("PUT without If-Match", "0 fence off"),
        Variant::instead("A pause of 8 s", "4 pause A 8"),
        Variant::adding("A’s first record arrives twice", "0.92 duplicate A store"),
        Variant::adding("The answer to A’s first record is lost", "0.97 drop store A"),
        Variant::instead("B raises late", "4 pause A 9.7; 0 raise late"),
        Variant::instead("A’s PUT comes during B’s", "4 pause A 9.66"),
        Variant::instead("B’s PUT comes during A’s", "4 pause A 9.64"),
    ],
    measures,
    extras: &[Extra::Requests],
    window: (0, 21),
    beats: BEATS.split_at(14).0,
    bookmarks: BOOKMARKS.split_at(3).0,
    ..Scenario::BASE
};

static PUT: Knob = Knob {
    key: "put",
    name: "How long a PUT of the manifest takes",
    takes: Takes::Seconds {
        from: Span::millis(1),
        to: Span::millis(400),
        apply: |plan, takes| plan.stores.put_takes = takes,
    },
};

fn plan() -> Plan {
    Plan { store: StoreKind::S3, ..billing_story::plan() }
}

fn measures(run: &Run) -> Vec<Measure> {
    let late = late_record(run);
    let (sent, current) = late.as_ref().map_or((None, None), |late| (late.if_match, Some(late.current)));
    let answer = match late.as_ref().and_then(|late| refused_at(run, late.arrives)) {
        Some(RefusedBecause::WriteInProgress) => "409 ConditionalRequestConflict",
        Some(_) => "412 Precondition Failed",
        None => "200 OK",
    };
    let conflicts = conflicts(run);
    let (stray, charged_by_stray) = stray(run);
    vec![
        Measure::new(
            "sent-etag",
            "The ETag that A’s last record demands",
            late.as_ref().map(|_| Value::Text(sent.map_or("none".into(), label))),
            late.as_ref().map_or(String::new(), |late| counted(run, sent, late.arrives)),
        ),
        Measure::new(
            "current-etag",
            "The ETag that the manifest has when it arrives",
            current.map(|etag| Value::Text(label(etag))),
            late.as_ref().map_or(String::new(), |late| counted(run, current, late.arrives)),
        ),
        Measure::new(
            "answer",
            "What S3 answers",
            late.as_ref().map(|_| Value::Text(answer.into())),
            late.as_ref().map_or(String::new(), |late| {
                let sent = sent.map_or("no condition".into(), label);
                format!("{sent} against {}, at {} s", label(late.current), late.arrives.told())
            }),
        ),
        Measure::new(
            "conflicts",
            "PUTs answered with 409, because another was in progress",
            Some(Value::Count(conflicts.len() as u64)),
            conflicts.join(", "),
        ),
        Measure::new(
            "raised",
            "When B has raised the fence",
            trace::first(run, |kind| matches!(kind, Kind::FenceRaised { worker: WorkerId::B, .. }))
                .map(|event| Value::Seconds(trace::since_start(event.t))),
            "",
        ),
        Measure::new(
            "stray",
            "Objects that no manifest names",
            Some(Value::Count(stray.len() as u64)),
            stray.join(", "),
        ),
        Measure::new("charged-by-stray", "Customers charged because of them", Some(Value::Count(charged_by_stray)), ""),
        Measure::new("charged-twice", "Customers charged twice", Some(Value::Count(trace::charged_twice(run))), ""),
    ]
}

fn label(etag: ETag) -> String {
    format!("E{etag}")
}

/// Why A’s record was refused when it arrived, if it was.
fn refused_at(run: &Run, arrives: TrueTime) -> Option<RefusedBecause> {
    run.events.iter().find_map(|event| match event.kind {
        Kind::WriteRefused { worker: WorkerId::A, because, .. } if event.t == arrives => Some(because),
        _ => None,
    })
}

/// Whose PUTs of the manifest met another in progress, and when.
fn conflicts(run: &Run) -> Vec<String> {
    let during_another = |event: &Event| match event.kind {
        Kind::WriteRefused { worker, because: RefusedBecause::WriteInProgress, .. }
        | Kind::RaiseRefused { worker, because: RefusedBecause::WriteInProgress, .. }
        | Kind::DoneRefused { worker, because: RefusedBecause::WriteInProgress, .. } => Some(worker.to_string()),
        Kind::RequeueRefused { because: RefusedBecause::WriteInProgress, .. } => Some("the sweeper".into()),
        _ => None,
    };
    let told = |event: &Event| Some(format!("{}’s at {} s", during_another(event)?, event.t.told()));
    run.events.iter().filter_map(told).collect()
}

/// A rewriting of the manifest on its way.
struct Record {
    if_match: Option<ETag>,
    current: ETag,
    arrives: TrueTime,
}

/// The last record that A sent, taken from the wire, and the manifest that it met.
fn late_record(run: &Run) -> Option<Record> {
    let sent = trace::last(run, |kind| matches!(kind, Kind::WriteSent { worker: WorkerId::A, .. }))?;
    let world = run.world_at(sent.t);
    let envelope = world.in_flight().into_iter().find(|envelope| envelope.from == WorkerId::A.into())?;
    let Message::StoreRequest(_, _, StoreRequest::S3(request, ..)) = &envelope.message else { return None };
    let Request::PutManifest(put) = &**request else { return None };
    if !matches!(put.purpose, Purpose::Chunk(..)) {
        return None;
    }
    let received = |event: &&Event| matches!(event.kind, Kind::MessageReceived { id, .. } if id == envelope.id);
    let arrives = run.events.iter().find(received)?.t;
    // What the store has just before.
    let before = run.world_at(TrueTime::from_micros(arrives.as_micros() - 1));
    let Store::S3(store) = before.store()? else { return None };
    Some(Record { if_match: put.if_match, current: store.folder(JobId::FIRST)?.etag, arrives })
}

/// The rewritings before `before`, counted up to `etag`.
fn counted(run: &Run, etag: Option<ETag>, before: TrueTime) -> String {
    let Some(etag) = etag else { return "the PUT has no If-Match".into() };
    let rewritings = run.events.iter().filter(|event| event.machine == MachineId::Store && event.t < before);
    let named = rewritings.filter_map(|event| {
        Some(match event.kind {
            Kind::FenceRaised { worker, .. } => format!("{worker}’s raise"),
            Kind::ChunkWritten { worker, chunk, .. } => format!("{worker}’s chunk {chunk}"),
            Kind::JobDone { worker, .. } => format!("{worker}’s DONE"),
            Kind::RowRequeued { .. } => "the re-queue".into(),
            _ => return None,
        })
    });
    let named: Vec<String> = std::iter::once("the enqueuer".to_owned())
        .chain(named)
        .zip(0..=etag)
        .map(|(who, etag)| format!("{} {who}", label(etag)))
        .collect();
    named.join(", ")
}

/// The stray objects at the end, and how many invoices were charged for them.
fn stray(run: &Run) -> (Vec<String>, u64) {
    let Some(Store::S3(store)) = run.end().store() else { return (Vec::new(), 0) };
    let Some(folder) = store.folder(JobId::FIRST) else { return (Vec::new(), 0) };
    let mut charged = 0;
    for (stray_chunk, stray_token) in folder.stray() {
        for event in &run.events {
            if let Kind::ChunkWritten { chunk, token, charged: now, .. } = event.kind
                && (chunk, token) == (stray_chunk, stray_token)
            {
                charged += u64::from(now);
            }
        }
    }
    (folder.stray().map(|(chunk, token)| object_key(chunk, token)).collect(), charged)
}
