//! Where two runs begin to differ, and how they end.

use lease_lab_scenarios::Run;
use lease_lab_scenarios::snapshot::Snapshot;
use lease_lab_sim::event::{Event, Kind};
use lease_lab_sim::invariants::{Invariant, Verdict};
use lease_lab_sim::machine::JobId;
use lease_lab_sim::store::RowState;
use lease_lab_sim::time::{TrueTime, grouped};

/// The first instant at which the two traces differ in what happens: messages alone and settings do not count.
pub fn first(run: &Run, other: &Run) -> Option<TrueTime> {
    let mut a = run.events.iter().filter(|event| counts(event));
    let mut b = other.events.iter().filter(|event| counts(event));
    loop {
        match (a.next(), b.next()) {
            (Some(a), Some(b)) if a == b => {}
            (Some(a), Some(b)) => return Some(a.t.min(b.t)),
            (Some(one), None) | (None, Some(one)) => return Some(one.t),
            (None, None) => return None,
        }
    }
}

fn counts(event: &Event) -> bool {
    !event.is_background()
        && !matches!(
            event.kind,
            Kind::SettingChanged { .. } | Kind::MessageLost { .. } | Kind::NoEffect { .. } | Kind::ClaimHeld { .. }
        )
}

/// How a run ended, in words.
pub fn outcome(run: &Run) -> Outcome {
    let end = Snapshot::take(run.end(), run.horizon, None);
    if run.plan.jobs > 1 {
        return outcome_of_many(run);
    }
    let Some(row) = end.store else { return Outcome { bad: false, text: "There is no row.".into() } };
    if row.charged_twice > 0 {
        return Outcome { bad: true, text: format!("{} customers charged twice", grouped(row.charged_twice)) };
    }
    if row.state != RowState::Done {
        let text = format!(
            "nobody charged twice, but the job is not finished: {} invoices charged",
            grouped(row.invoices_charged)
        );
        return Outcome { bad: true, text };
    }
    Outcome { bad: false, text: format!("every invoice charged once, {} in all", grouped(row.invoices_charged)) }
}

fn outcome_of_many(run: &Run) -> Outcome {
    if let Verdict::Broken(violation) = run.verdict(Invariant::ChargedOnce, run.horizon) {
        return Outcome { bad: true, text: violation.why };
    }
    let jobs = u64::from(run.plan.jobs);
    let is_done = |job: &JobId| {
        let row = run.end().store().and_then(|store| store.row_of(*job));
        row.is_some_and(|row| row.state == RowState::Done)
    };
    let done = run.plan.job_ids().filter(is_done).count() as u64;
    let text = format!("nobody charged twice; {} of {} jobs are DONE", grouped(done), grouped(jobs));
    Outcome { bad: done < jobs, text }
}

/// See [`outcome`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Something went wrong.
    pub bad: bool,
    /// What.
    pub text: String,
}
