//! A run of the lab “claim-rules”, as Lease Lab has exported it.

use lease_lab_scenarios::report::verdict_name;
use lease_lab_scenarios::run::{Input, Run};
use lease_lab_sim::intervention::parse_list;

#[test]
fn claim_rules_comes_to_the_same() {
    let scenario = lease_lab_scenarios::find("claim-rules").expect("the scenario exists");
    let interventions = ["0 set claim-rule unchanged", "4 pause A 30"];
    let interventions = parse_list(&interventions.join("; ")).expect("they can be read");
    let input = Input { interventions: Some(interventions), seed: 0, until: None };
    let run = Run::new(scenario, input).expect("they make sense");

    let verdicts: Vec<(String, &str)> = run
        .verdicts(run.horizon)
        .into_iter()
        .map(|(invariant, verdict)| (invariant.id().to_owned(), verdict_name(&verdict)))
        .collect();
    let expected = [
        ("charged-once".to_owned(), "holds"),
        ("one-acting-holder".to_owned(), "holds"),
        ("no-stale-write".to_owned(), "holds"),
        ("tokens-grow".to_owned(), "holds"),
        ("only-owner-releases".to_owned(), "holds"),
        ("acts-in-time".to_owned(), "broken"),
        ("job-finishes".to_owned(), "holds"),
    ];
    assert_eq!(verdicts, expected);
    let measure = run.measures().into_iter().find(|measure| measure.id == "claim");
    assert_eq!(measure.and_then(|measure| measure.value).map(|value| value.told()), Some("13.5 s".into()));
    let measure = run.measures().into_iter().find(|measure| measure.id == "right-ends");
    assert_eq!(measure.and_then(|measure| measure.value).map(|value| value.told()), Some("11.0 s".into()));
    let measure = run.measures().into_iter().find(|measure| measure.id == "overlap");
    assert_eq!(measure.and_then(|measure| measure.value).map(|value| value.told()), Some("0.0 s".into()));
    let measure = run.measures().into_iter().find(|measure| measure.id == "gap");
    assert_eq!(measure.and_then(|measure| measure.value).map(|value| value.told()), Some("2.5 s".into()));
    assert_eq!(run.hash(), "cf91d4c3f4449c2a");
}
