//! A run of the lab “redlock-clock”, as Lease Lab has exported it.

use lease_lab_scenarios::report::verdict_name;
use lease_lab_scenarios::run::{Input, Run};
use lease_lab_sim::intervention::parse_list;

#[test]
fn redlock_clock_comes_to_the_same() {
    let scenario = lease_lab_scenarios::find("redlock-clock").expect("the scenario exists");
    let interventions = ["0 drop A r4", "0 drop A r5", "4 step-wall r3 10"];
    let interventions = parse_list(&interventions.join("; ")).expect("they can be read");
    let input = Input { interventions: Some(interventions), seed: 0, until: None };
    let run = Run::new(scenario, input).expect("they make sense");

    let verdicts: Vec<(String, &str)> = run
        .verdicts(run.horizon)
        .into_iter()
        .map(|(invariant, verdict)| (invariant.id().to_owned(), verdict_name(&verdict)))
        .collect();
    let expected = [
        ("charged-once".to_owned(), "broken"),
        ("one-acting-holder".to_owned(), "broken"),
        ("no-stale-write".to_owned(), "broken"),
        ("tokens-grow".to_owned(), "not-applicable"),
        ("only-owner-releases".to_owned(), "holds"),
        ("acts-in-time".to_owned(), "holds"),
        ("job-finishes".to_owned(), "holds"),
    ];
    assert_eq!(verdicts, expected);
    let measure = run.measures().into_iter().find(|measure| measure.id == "masters-a");
    assert_eq!(measure.and_then(|measure| measure.value).map(|value| value.told()), Some("r1, r2, r3".into()));
    let measure = run.measures().into_iter().find(|measure| measure.id == "masters-b");
    assert_eq!(measure.and_then(|measure| measure.value).map(|value| value.told()), Some("r3, r4, r5".into()));
    let measure = run.measures().into_iter().find(|measure| measure.id == "shared");
    assert_eq!(measure.and_then(|measure| measure.value).map(|value| value.told()), Some("r3".into()));
    let measure = run.measures().into_iter().find(|measure| measure.id == "both-act");
    assert_eq!(measure.and_then(|measure| measure.value).map(|value| value.told()), Some("1.5 s".into()));
    let measure = run.measures().into_iter().find(|measure| measure.id == "charged-twice");
    assert_eq!(measure.and_then(|measure| measure.value).map(|value| value.told()), Some("5,000".into()));
    assert_eq!(run.hash(), "230a3b64dc563db1");
}
