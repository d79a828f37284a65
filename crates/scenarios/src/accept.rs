//! Whether a list of interventions makes sense for a scenario, before it is run.

use lease_lab_sim::intervention::{
    Change, INTERVENTIONS_MAX, Intervention, Mistake, ServiceKind, StoreKind, Target, sort,
};
use lease_lab_sim::settings::Plan;
use lease_lab_sim::time::{Span, TrueTime};

use crate::scenario::Scenario;

/// Sorts the list, refuses what can never make sense in a run of `scenario`, and lays down the plan of the run: the
/// scenario's own with the choices that the list makes at its start.
///
/// # Errors
/// When an intervention makes no sense.
pub fn accept(scenario: &Scenario, mut interventions: Vec<Intervention>) -> Result<(Plan, Vec<Intervention>), Mistake> {
    if interventions.len() > INTERVENTIONS_MAX {
        return Err(Mistake::too_many());
    }
    sort(&mut interventions);
    let mut plan = (scenario.plan)();
    let (service, grant_takes) = (plan.service, plan.grant_takes());
    for intervention in &interventions {
        choose(scenario, &mut plan, intervention)?;
    }
    if plan.service != service && plan.service != ServiceKind::Database {
        keep_the_rhythm(&mut plan, grant_takes);
    }
    check_database(&plan, &interventions)?;
    check_leader(&plan, &interventions)?;
    check_timing(&plan, &interventions)?;
    Ok((plan, interventions))
}

/// Whether this build has more than the billing story.
const LABS: bool = cfg!(feature = "labs");

/// The choices that are made before a run begins.
fn choose(scenario: &Scenario, plan: &mut Plan, intervention: &Intervention) -> Result<(), Mistake> {
    let refuse = |what: &str, expected: &str| Err(Mistake::senseless(intervention, what, expected));
    let at_the_start = intervention.at == TrueTime::ZERO;
    match &intervention.change {
        Change::Service(_) | Change::Store(_) if !at_the_start => {
            refuse("the lock service and the store are chosen at the start", "the time 0")
        }
        Change::Service(kind) if !scenario.any_service_and_store && *kind != plan.service => {
            refuse("this scenario is about one lock service", &plan.service.to_string())
        }
        Change::Store(kind) if !scenario.any_service_and_store && *kind != plan.store => {
            refuse("this scenario is about one store", &plan.store.to_string())
        }
        Change::Service(kind) if !LABS && *kind != ServiceKind::Consensus => {
            refuse(&format!("the lock service {kind} is not part of the first screen"), "a link that begins with it")
        }
        Change::Store(kind) if !LABS && *kind != StoreKind::Row => {
            refuse(&format!("the store {kind} is not part of the first screen"), "a link that begins with it")
        }
        Change::Restore { .. } if !LABS => {
            refuse("a restore is not part of the first screen", "a link that begins with it")
        }
        Change::Set { .. } if !at_the_start => refuse("a setting of a lab is chosen at the start", "the time 0"),
        Change::Service(kind) => {
            plan.service = *kind;
            Ok(())
        }
        Change::Store(kind) => {
            plan.store = *kind;
            Ok(())
        }
        Change::Set { key, value } => match scenario.knobs.iter().find(|knob| knob.key == key) {
            Some(knob) => match knob.apply(plan, value) {
                Ok(()) => Ok(()),
                Err(expected) => refuse(&format!("“{value}” is not a value of {key}"), &expected),
            },
            None if scenario.knobs.is_empty() => {
                refuse(&format!("this scenario has no setting “{key}”"), "another verb: it has none of its own")
            }
            None => {
                let keys: Vec<&str> = scenario.knobs.iter().map(|knob| knob.key).collect();
                refuse(&format!("this scenario has no setting “{key}”"), &keys.join(" or "))
            }
        },
        _ => Ok(()),
    }
}

/// A database that says whose turn it is keeps the rows as well.
fn check_database(plan: &Plan, interventions: &[Intervention]) -> Result<(), Mistake> {
    let other_store = interventions.iter().find(|intervention| matches!(intervention.change, Change::Store(_)));
    match other_store {
        Some(intervention) if plan.service == ServiceKind::Database && plan.store != StoreKind::Sql => {
            Err(Mistake::senseless(intervention, "one SQL database is lock service and store in one", "store sql"))
        }
        _ => Ok(()),
    }
}

/// A node of the replicated log cannot lose its log, whichever of them leads.
fn check_leader(plan: &Plan, interventions: &[Intervention]) -> Result<(), Mistake> {
    let forgets = |change: &Change| matches!(change, Change::Restart { target: Target::Leader, empty: true });
    match interventions.iter().find(|intervention| forgets(&intervention.change)) {
        Some(intervention) if !matches!(plan.service, ServiceKind::Redis | ServiceKind::Redlock) => {
            Err(Mistake::senseless(
                intervention,
                "only a Redis server can restart empty",
                "restart without empty, or service redis or redlock",
            ))
        }
        _ => Ok(()),
    }
}

/// Another lock service grants faster or more slowly.
/// A holder prepares for so much longer or shorter that everything after it stays where the scenario's faults find it.
fn keep_the_rhythm(plan: &mut Plan, grant_took: Span) {
    let difference = grant_took - plan.grant_takes();
    for program in plan.programs.iter_mut().chain([&mut plan.standby]) {
        program.setup = (program.setup + difference).max(Span::ZERO);
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
