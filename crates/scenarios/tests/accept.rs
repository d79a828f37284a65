//! Which lists of interventions a scenario accepts, and what it says about the others.

mod common;

use common::*;
use lease_lab_scenarios::Run;
use lease_lab_scenarios::run::Input;
use lease_lab_sim::intervention::{Change, Intervention, parse_list};
use lease_lab_sim::machine::MachineId;
use lease_lab_sim::time::TrueTime;

fn refusal(text: &str) -> Option<String> {
    let interventions = Some(parse_list(text).unwrap_or_else(|mistake| panic!("{mistake}")));
    Run::new(story(), Input { interventions, ..Input::default() }).err().map(|mistake| mistake.to_string())
}

#[test]
fn a_holder_must_have_time_to_renew() {
    for accepted in [
        "0 margin 0",
        "0 margin 6.999999",
        "0 lease 5.000001",
        "0 renew 7.999999",
        "0 lease 1; 0 renew 0.3; 0 margin 0.1",
        "0 margin 0.1; 0 renew 0.3; 0 lease 1",
        "5 lease 4; 5 renew 1; 9 lease 3.5",
        // What counts is how things stand when all changes of an instant are made.
        "5 lease 1; 5 lease 10",
        "9 lease 4; 0 renew 1",
    ] {
        assert_eq!(refusal(accepted), None, "{accepted}");
    }
    for (refused, named) in [
        ("0 margin 7", "0 margin 7"),
        ("0 margin 20", "0 margin 20"),
        ("0 lease 5", "0 lease 5"),
        ("0 renew 8", "0 renew 8"),
        ("0 lease 1; 0 renew 0.3", "0 renew 0.3"),
        ("5 lease 4; 6 renew 1", "5 lease 4"),
        ("9 renew 1; 5 lease 4", "5 lease 4"),
    ] {
        let sentence = refusal(refused).unwrap_or_else(|| panic!("{refused} is accepted"));
        assert!(sentence.contains(&format!("“{named}”")), "{sentence}");
        assert!(sentence.ends_with("expected renew < lease − margin"), "{sentence}");
    }
}

#[test]
fn what_cannot_be_run_yet_is_refused() {
    for (text, what) in [
        ("1 service consensus", "expected the time 0"),
        ("1 store row", "expected the time 0"),
        ("0 set lag 1", "this scenario has no setting “lag”"),
    ] {
        let sentence = refusal(text).unwrap_or_else(|| panic!("{text} is accepted"));
        assert!(sentence.contains(what), "{sentence}");
    }
    for service in ["consensus", "redis", "redlock", "lease-item"] {
        assert_eq!(refusal(&format!("0 service {service}; 0 store row")), None);
    }
    for store in ["sql", "dynamodb", "s3"] {
        assert_eq!(refusal(&format!("0 store {store}")), None);
    }
}

/// Which machine leads depends on the lock service, and so does whether it can forget.
#[test]
fn a_leader_restarts_empty_where_it_is_a_redis_server() {
    for (service, accepted) in [("consensus", false), ("lease-item", false), ("redis", true), ("redlock", true)] {
        let refused = refusal(&format!("0 service {service}; 5 restart leader empty"));
        assert_eq!(refused.is_none(), accepted, "{service}: {refused:?}");
    }
    let keys_after = |restart: &str| {
        let run = plain_with(&format!("0 service redlock; 2 crash r1; 2.5 restart {restart}"));
        let world = run.world_at(seconds(2.6));
        let found =
            world.redis_servers().find(|(id, _)| *id == MachineId::Master(1)).map(|(_, r1)| r1.data().values().len());
        found.expect("r1 is there")
    };
    assert_eq!(keys_after("leader empty"), 0, "r1 stands for the masters, and has lost its keys");
    assert_eq!(keys_after("leader empty"), keys_after("r1 empty"));
    assert_ne!(keys_after("leader"), 0, "it had synced them a second after the start");
}

#[test]
fn too_many_are_refused_however_they_come() {
    let heal = Intervention { at: TrueTime::ZERO, change: Change::Heal };
    for (count, accepted) in [(200, true), (201, false), (10_000, false)] {
        let result = Run::new(story(), Input { interventions: Some(vec![heal.clone(); count]), ..Input::default() });
        match result {
            Ok(_) => assert!(accepted, "{count}"),
            Err(mistake) => {
                assert!(!accepted, "{count}");
                assert_eq!(
                    mistake.to_string(),
                    "the list of interventions has more than 200 entries; expected at most 200"
                );
            }
        }
    }
}

/// Known machines that this run does not have, and what has become meaningless, are no mistakes: the trace says so.
#[test]
fn what_means_nothing_in_this_run_is_recorded() {
    for (text, because) in [
        ("5 crash r3", "there is no r3 in this run"),
        ("5 pause n7", "there is no n7 in this run"),
        ("5 isolate primary", "there is no primary in this run"),
        ("5 delay A replica 1", "there is no replica in this run"),
        ("5 resume B", "B is not paused"),
        ("5 restart n1", "n1 is not down"),
        ("5 heal", "nothing was cut"),
        ("5 fence on", "it is set so already"),
        ("5 release B", "B holds nothing"),
        ("5 crash n1; 6 crash n1", "n1 is down already"),
        ("5 pause n1; 6 pause n1 vm", "n1 is paused already"),
        ("5 crash n1; 6 pause n1", "n1 is down"),
        ("5 crash leader; 6 crash leader", "no node leads at this moment"),
        ("5 partition n1,leader | n2", "n1 would be on two sides"),
        ("5 drop leader n1", "n1 sends no messages to itself"),
        ("5 isolate A; 6 isolate A", "A is cut off already"),
        ("5 acquire A", "A is at it already"),
        ("5 pause D; 6 acquire D", "D is paused"),
        ("5 crash D; 6 acquire D", "D is down"),
        ("5 restore 99", "the lock service has not come to revision 99; it stands at 8"),
        ("9.5 restore 3; 9.6 restore 2", "the log does not go back to revision 2"),
        ("5 crash sidecar-A", "there is no sidecar-A in this run"),
        ("0 service redis; 5 restore 3", "redis keeps no revisions that it could go back to"),
    ] {
        let run = plain_with(text);
        let idle: Vec<String> = run
            .events
            .iter()
            .filter_map(|event| match &event.kind {
                lease_lab_sim::event::Kind::NoEffect { because, .. } => Some(because.clone()),
                _ => None,
            })
            .collect();
        assert_eq!(idle, [because], "{text}");
    }
}
