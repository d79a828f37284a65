//! A run as JSON: the trace format, `docs/trace.md`.

use std::io;

use lease_lab_sim::event::{Event, Kind};
use lease_lab_sim::intervention::Intervention;
use lease_lab_sim::invariants::{Invariant, Verdict};
use lease_lab_sim::machine::MachineId;
use lease_lab_sim::time::{Span, TrueTime};
use serde::{Serialize, Serializer};
use serde_json::ser::Formatter;

use crate::measures::Measure;
use crate::run::Run;
use crate::snapshot::Snapshot;
use crate::why::why;

/// The version of the trace format.
pub const FORMAT: u32 = 1;

/// What the hash is taken of: the input and every event.
#[derive(Serialize)]
struct Trace<'a> {
    scenario: &'static str,
    format: u32,
    seed: u64,
    #[serde(serialize_with = "as_texts")]
    interventions: &'a [Intervention],
    events: &'a [Event],
}

/// One event with what is derived from it.
#[derive(Serialize)]
struct EventLine<'a> {
    t: TrueTime,
    #[serde(skip_serializing_if = "Option::is_none")]
    beat: Option<u8>,
    machine: MachineId,
    #[serde(flatten)]
    kind: &'a Kind,
    why: String,
}

#[derive(Serialize)]
struct VerdictLine {
    id: Invariant,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    t: Option<TrueTime>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

#[derive(Serialize)]
struct Report<'a> {
    scenario: &'static str,
    format: u32,
    seed: u64,
    #[serde(serialize_with = "as_texts")]
    interventions: &'a [Intervention],
    hash: String,
    events: Vec<EventLine<'a>>,
    invariants: Vec<VerdictLine>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    measures: Vec<Measure>,
    end: Snapshot,
}

fn as_texts<S: Serializer>(interventions: &[Intervention], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(interventions.iter().map(ToString::to_string))
}

/// A verdict's name in the trace format.
pub fn verdict_name(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::Broken(_) => "broken",
        Verdict::Pending => "pending",
        Verdict::NotApplicable => "not-applicable",
    }
}

fn verdict_line(id: Invariant, verdict: Verdict) -> VerdictLine {
    let name = verdict_name(&verdict);
    let (t, why) = match verdict {
        Verdict::Broken(violation) => (Some(violation.t), Some(violation.why)),
        _ => (None, None),
    };
    VerdictLine { id, verdict: name, t, why }
}

/// The run's input and trace as compact JSON.
pub(crate) fn trace_text(run: &Run) -> String {
    to_text(&Trace {
        scenario: run.scenario.id,
        format: FORMAT,
        seed: run.seed,
        interventions: &run.interventions,
        events: &run.events,
    })
}

/// The whole run as JSON.
pub fn json(run: &Run) -> String {
    to_text(&Report {
        scenario: run.scenario.id,
        format: FORMAT,
        seed: run.seed,
        interventions: &run.interventions,
        hash: run.hash(),
        events: run
            .events
            .iter()
            .zip(&run.beats)
            .map(|(event, beat)| EventLine {
                t: event.t,
                beat: *beat,
                machine: event.machine,
                kind: &event.kind,
                why: why(event, &run.plan),
            })
            .collect(),
        invariants: run.verdicts(run.horizon).into_iter().map(|(id, verdict)| verdict_line(id, verdict)).collect(),
        measures: run.measures(),
        end: Snapshot::take(run.end(), run.horizon, None),
    })
}

/// A snapshot as JSON.
pub fn snapshot_json(snapshot: &Snapshot) -> String {
    to_text(snapshot)
}

/// One event as JSON, without what is derived from it.
pub fn event_json(event: &Event) -> String {
    to_text(event)
}

/// All that is serialised here has text keys and finite numbers, so it can always be written.
fn to_text(value: &impl Serialize) -> String {
    let mut bytes = Vec::new();
    let written = value.serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, Seconds));
    debug_assert!(written.is_ok());
    String::from_utf8(bytes).unwrap_or_default()
}

/// Compact JSON whose fractions are seconds with at most six decimals, written exactly.
///
/// The general way of writing a float brings tables of several kilobytes that the page would have to load.
struct Seconds;

impl Formatter for Seconds {
    fn write_f32<W: io::Write + ?Sized>(&mut self, writer: &mut W, value: f32) -> io::Result<()> {
        self.write_f64(writer, value.into())
    }

    fn write_f64<W: io::Write + ?Sized>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        let micros = (value * 1e6).round() as i64;
        let text = Span::micros(micros).to_string();
        writer.write_all(text.as_bytes())?;
        if text.contains('.') { Ok(()) } else { writer.write_all(b".0") }
    }
}
