//! Whether a list of interventions makes sense for a scenario, before it is run.

use lease_lab_sim::intervention::{Change, INTERVENTIONS_MAX, Intervention, Mistake, ServiceKind, StoreKind, sort};
use lease_lab_sim::settings::Plan;
use lease_lab_sim::time::TrueTime;

/// Sorts the list and refuses what can never make sense in a run of `plan`.
pub fn accept(plan: &Plan, mut interventions: Vec<Intervention>) -> Result<Vec<Intervention>, Mistake> {
    if interventions.len() > INTERVENTIONS_MAX {
        return Err(Mistake::too_many());
    }
    sort(&mut interventions);
    for intervention in &interventions {
        check_alone(intervention)?;
    }
    check_timing(plan, &interventions)?;
    Ok(interventions)
}

fn check_alone(intervention: &Intervention) -> Result<(), Mistake> {
    let refuse = |what: &str, expected: &str| Err(Mistake::senseless(intervention, what, expected));
    match &intervention.change {
        Change::Service(_) | Change::Store(_) if intervention.at != TrueTime::ZERO => {
            refuse("the lock service and the store are chosen at the start", "the time 0")
        }
        Change::Service(kind) if *kind != ServiceKind::Consensus => {
            refuse(&format!("the lock service {kind} cannot be run yet"), "consensus")
        }
        Change::Store(kind) if *kind != StoreKind::Row => refuse(&format!("the store {kind} cannot be run yet"), "row"),
        Change::Restore { .. } => refuse("a restore cannot be run yet", "another verb"),
        Change::Set { key, .. } => {
            refuse(&format!("this scenario has no setting “{key}”"), "another verb: it has none of its own")
        }
        _ => Ok(()),
    }
}

/// A holder must have time to renew before it must stop, whenever all changes of an instant are made.
fn check_timing(plan: &Plan, interventions: &[Intervention]) -> Result<(), Mistake> {
    let mut settings = plan.settings;
    for (place, intervention) in interventions.iter().enumerate() {
        match intervention.change {
            Change::Lease(span) => settings.lease = span,
            Change::Renew(span) => settings.renew = span,
            Change::Margin(span) => settings.margin = span,
            _ => continue,
        }
        let more_at_this_instant = interventions[place + 1..].iter().any(|later| {
            later.at == intervention.at
                && matches!(later.change, Change::Lease(_) | Change::Renew(_) | Change::Margin(_))
        });
        if !more_at_this_instant && !settings.renews_in_time() {
            let what = format!(
                "with a lease of {} s and a margin of {} s, a holder that renews every {} s stops before it renews",
                settings.lease, settings.margin, settings.renew
            );
            return Err(Mistake::senseless(intervention, what, "renew < lease − margin"));
        }
    }
    Ok(())
}
