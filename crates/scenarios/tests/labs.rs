//! What every lab must have, whatever it shows.

use std::collections::BTreeSet;

use lease_lab_scenarios::knobs::Takes;
use lease_lab_scenarios::run::Input;
use lease_lab_scenarios::scenario::{Scenario, Variant};
use lease_lab_scenarios::{Run, all, report};
use lease_lab_sim::intervention::{Intervention, parse_list};

fn interventions(scenario: &Scenario, variant: &Variant) -> Vec<Intervention> {
    let mut list = if variant.alone { Vec::new() } else { scenario.own_interventions() };
    list.extend(parse_list(variant.adds).unwrap_or_else(|mistake| panic!("{}: {mistake}", scenario.id)));
    list
}

fn run(scenario: &'static Scenario, list: Vec<Intervention>) -> Run {
    let input = Input { interventions: Some(list), ..Input::default() };
    Run::new(scenario, input).unwrap_or_else(|mistake| panic!("{}: {mistake}", scenario.id))
}

#[test]
fn ids_are_different_and_in_the_order_of_the_parts() {
    let ids: BTreeSet<&str> = all().map(|scenario| scenario.id).collect();
    assert_eq!(ids.len(), all().len());
    assert!(all().is_sorted_by_key(|scenario| scenario.part));
}

#[test]
fn every_lab_has_its_texts() {
    for scenario in all() {
        for text in [scenario.name, scenario.title, scenario.lede] {
            assert!(!text.trim().is_empty(), "{}", scenario.id);
        }
        assert!(!scenario.title.ends_with('.'), "{}: the page puts the full stop", scenario.id);
        assert!((2..=3).contains(&scenario.notice.len()) || scenario.id == "billing-story", "{}", scenario.id);
        let texts = [scenario.title, scenario.lede, scenario.terms].into_iter().chain(scenario.notice.iter().copied());
        for text in texts {
            assert!(!text.contains('\''), "{}: a straight apostrophe in “{text}”", scenario.id);
        }
    }
}

#[test]
fn every_lab_and_every_variant_runs_and_can_be_told() {
    for scenario in all() {
        let own = run(scenario, scenario.own_interventions());
        assert!(!own.events.is_empty(), "{}", scenario.id);
        for measure in own.measures() {
            assert!(measure.value.is_some(), "{}: {} comes to nothing in its own run", scenario.id, measure.id);
        }
        for variant in scenario.variants {
            let changed = run(scenario, interventions(scenario, variant));
            assert_ne!(own.hash(), changed.hash(), "{}: “{}” changes nothing", scenario.id, variant.name);
            let json: serde_json::Value = serde_json::from_str(&report::json(&changed)).expect("a run is JSON");
            assert_eq!(json["scenario"], scenario.id);
        }
    }
}

#[test]
fn every_value_of_every_knob_runs() {
    for scenario in all() {
        for knob in scenario.knobs {
            let values: Vec<String> = match &knob.takes {
                Takes::Choice(choices) => choices.iter().map(|choice| choice.value.to_owned()).collect(),
                Takes::Seconds { from, to, .. } => vec![from.to_string(), to.to_string()],
                Takes::Count { from, to, .. } => vec![from.to_string(), to.to_string()],
            };
            for value in values {
                let mut list = scenario.own_interventions();
                list.extend(
                    parse_list(&format!("0 set {} {value}", knob.key)).expect("a knob’s values can be written"),
                );
                run(scenario, list);
            }
            let refused = knob.apply(&mut (scenario.plan)(), "no-such-value");
            assert!(refused.is_err_and(|expected| !expected.is_empty()), "{} {}", scenario.id, knob.key);
        }
    }
}
