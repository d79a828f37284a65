//! A run of the lab “billing-story”, as Lease Lab has exported it.

use lease_lab_scenarios::report::verdict_name;
use lease_lab_scenarios::run::{Input, Run};
use lease_lab_sim::intervention::parse_list;

#[test]
fn billing_story_comes_to_the_same() {
    let scenario = lease_lab_scenarios::find("billing-story").expect("the scenario exists");
    let interventions = ["0 fence off", "4 pause A 15", "21 crash B"];
    let interventions = parse_list(&interventions.join("; ")).expect("they can be read");
    let input = Input { interventions: Some(interventions), seed: 7, until: None };
    let run = Run::new(scenario, input).expect("they make sense");

    let verdicts: Vec<(String, &str)> = run
        .verdicts(run.horizon)
        .into_iter()
        .map(|(invariant, verdict)| (invariant.id().to_owned(), verdict_name(&verdict)))
        .collect();
    let expected = [
        ("charged-once".to_owned(), "broken"),
        ("one-acting-holder".to_owned(), "holds"),
        ("no-stale-write".to_owned(), "broken"),
        ("tokens-grow".to_owned(), "holds"),
        ("only-owner-releases".to_owned(), "holds"),
        ("acts-in-time".to_owned(), "broken"),
        ("job-finishes".to_owned(), "holds"),
    ];
    assert_eq!(verdicts, expected);
    assert_eq!(run.hash(), "69600a58c3c54d90");
}
