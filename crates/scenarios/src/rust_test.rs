//! A run as a Rust test, for whoever wants to keep it.

use std::fmt::Write as _;

use crate::report::verdict_name;
use crate::run::Run;

/// A test that repeats this run and demands what it came to: its hash, its verdicts and its numbers.
///
/// It needs the crates `lease-lab-scenarios` and `lease-lab-sim` alone.
pub fn test(run: &Run) -> String {
    let mut text = String::new();
    let name = run.scenario.id.replace('-', "_");
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        r#"//! A run of the lab “{id}”, as Lease Lab has exported it.

use lease_lab_scenarios::report::verdict_name;
use lease_lab_scenarios::run::{{Input, Run}};
use lease_lab_sim::intervention::parse_list;

#[test]
fn {name}_comes_to_the_same() {{
    let scenario = lease_lab_scenarios::find("{id}").expect("the scenario exists");
    let interventions = [
"#,
        id = run.scenario.id
    );
    for intervention in run.interventions.iter() {
        let _ = writeln!(text, "        {:?},", intervention.to_string());
    }
    let _ = write!(
        text,
        r#"    ];
    let interventions = parse_list(&interventions.join("; ")).expect("they can be read");
    let input = Input {{ interventions: Some(interventions), seed: {seed}, until: None }};
    let run = Run::new(scenario, input).expect("they make sense");

    let verdicts: Vec<(String, &str)> = run
        .verdicts(run.horizon)
        .into_iter()
        .map(|(invariant, verdict)| (invariant.id().to_owned(), verdict_name(&verdict)))
        .collect();
    let expected = [
"#,
        seed = run.seed
    );
    for (invariant, verdict) in run.verdicts(run.horizon) {
        let _ = writeln!(text, "        ({:?}.to_owned(), {:?}),", invariant.id(), verdict_name(&verdict));
    }
    text.push_str("    ];\n    assert_eq!(verdicts, expected);\n");
    for measure in run.measures() {
        if let Some(value) = measure.value {
            let _ = write!(
                text,
                "    let measure = run.measures().into_iter().find(|measure| measure.id == {id:?});\n    \
                 assert_eq!(measure.and_then(|measure| measure.value).map(|value| value.told()), Some({told:?}.into()));\n",
                id = measure.id,
                told = value.told()
            );
        }
    }
    let _ = write!(text, "    assert_eq!(run.hash(), {:?});\n}}\n", run.hash());
    text
}
