//! The calculators: their results worked out a second time, their ranges, and their formulas.

use lease_lab_scenarios::all as all_scenarios;
use lease_lab_scenarios::calculators::{Calculator, ONE, Output, all, find};
use lease_lab_scenarios::scenario::Extra;

/// The outputs of a calculator with some inputs changed.
#[track_caller]
fn outputs(id: &str, changes: &[(&str, f64)]) -> Vec<Output> {
    let calculator = find(id).unwrap_or_else(|| panic!("{id} is a calculator"));
    let mut values = calculator.defaults();
    for (key, value) in changes {
        let place = calculator.inputs.iter().position(|input| input.key == *key);
        values[place.unwrap_or_else(|| panic!("{id} has no input {key}"))] = (value * ONE as f64).round() as i64;
    }
    calculator.outputs(&values)
}

#[track_caller]
fn output(id: &str, changes: &[(&str, f64)], which: &str) -> Output {
    let found = outputs(id, changes).into_iter().find(|output| output.id == which);
    found.unwrap_or_else(|| panic!("{id} has no result {which}"))
}

/// The number that a result begins with.
#[track_caller]
fn number(id: &str, changes: &[(&str, f64)], which: &str) -> f64 {
    let value = output(id, changes, which).value.replace(',', "").replace('−', "-");
    let digits: String = value.chars().take_while(|c| c.is_ascii_digit() || matches!(c, '.' | '-')).collect();
    digits.parse().unwrap_or_else(|_| panic!("{id} {which}: “{value}”"))
}

#[track_caller]
fn assert_number(id: &str, changes: &[(&str, f64)], which: &str, expected: f64) {
    let found = number(id, changes, which);
    // Results are told to a hundredth.
    assert!((found - expected).abs() <= 0.005_001, "{id} {changes:?} {which}: {found}, expected {expected}");
}

#[test]
fn a_margin_is_used_up_by_delay_and_rate_error() {
    for (lease, margin, delay, error, pause) in [
        (10.0, 2.0, 0.05, 0.1, 0.1),
        (10.0, 2.0, 1.5, 10.0, 0.0),
        (10.0, 0.0, 0.0, 0.0, 0.0),
        (30.0, 5.0, 0.5, 25.0, 12.0),
        (5.0, 6.0, 0.0, 50.0, 0.0),
    ] {
        let changes = [("lease", lease), ("margin", margin), ("delay", delay), ("rate-error", error), ("pause", pause)];
        let speed = 1.0 - error / 100.0;
        let stops = f64::max(lease - margin, 0.0) / speed;
        assert_number("margin", &changes, "stops", stops);
        assert_number("margin", &changes, "arrives", stops + pause + delay);
        assert_number("margin", &changes, "left", lease - stops - pause - delay);
        // The least margin leaves exactly nothing: (T − m) ÷ speed + delay = T.
        assert_number("margin", &changes, "needed", lease - (lease - delay) * speed);
    }
}

#[test]
fn a_margin_says_what_it_cannot_cover() {
    assert_eq!(output("margin", &[], "left").warning, None);
    let pause = output("margin", &[("pause", 15.0)], "left").warning.expect("it is too late");
    assert!(pause.contains("Only the pause"), "{pause}");
    let delay = output("margin", &[("delay", 3.0)], "left").warning.expect("it is too late");
    assert!(delay.contains("wider margin"), "{delay}");
    let with_offset: Vec<String> = outputs("margin", &[("offset", 60.0)]).into_iter().map(|out| out.value).collect();
    let without: Vec<String> = outputs("margin", &[("offset", 0.0)]).into_iter().map(|out| out.value).collect();
    assert_eq!(with_offset, without, "an offset changes no result");
    assert!(output("margin", &[("lease", 2.0), ("margin", 2.0)], "stops").warning.is_some());
}

#[test]
fn ten_thousand_holders_renew_3333_times_a_second() {
    assert_number("how-much", &[], "holders", 10_000.0);
    assert_number("how-much", &[], "keep-alives", 10_000.0 / 3.0);
    // A lease and its key, and one end, for each lock and each minute.
    assert_number("how-much", &[], "entries", 3.0 * 10_000.0 / 60.0);
    assert_number("how-much", &[], "writes", 3.0 * 10_000.0 / 60.0 * 3.0);
    assert!(output("how-much", &[], "writes").formula.contains("waits for 2 of 3"));
    assert!(output("how-much", &[("nodes", 7.0)], "writes").formula.contains("waits for 4 of 7"));
    let coarse = [("per-lock", 30.0)];
    assert_number("how-much", &coarse, "holders", f64::ceil(10_000.0 / 30.0));
    assert_number("how-much", &coarse, "keep-alives", 334.0 / 3.0);
    assert_number("how-much", &coarse, "blocked", 30.0);
    assert!(output("how-much", &[("held", 1.0)], "keep-alives").warning.is_some());
    assert_eq!(output("how-much", &[], "keep-alives").warning, None);
}

#[test]
fn a_fence_item_takes_500_checks_a_second() {
    assert_number("hot-fence", &[], "most", 1_000.0 / 2.0);
    assert_number("hot-fence", &[], "units", 300.0 * 2.0 * 2.0 + 1.0);
    assert_eq!(output("hot-fence", &[], "units").used, Some(1_201));
    let full = [("writers", 250.0), ("raises", 0.0)];
    assert_eq!(output("hot-fence", &full, "units").used, Some(1_000));
    assert_eq!(output("hot-fence", &full, "units").warning, None, "exactly full is not too much");
    let over = [("writers", 251.0), ("raises", 0.0)];
    assert!(output("hot-fence", &over, "units").warning.is_some());
    assert_number("hot-fence", &full, "writers-max", 250.0);
    assert_number("hot-fence", &[], "writers-max", f64::floor(999.0 / 4.0));
    assert_number("hot-fence", &[("fences", 10.0)], "units", (300.0 * 2.0 * 2.0 + 1.0) / 10.0);
    assert_number("hot-fence", &[("fences", 10.0)], "writers-max", f64::floor(9_999.0 / 4.0));
}

#[test]
fn a_takeover_is_safe_one_lease_after_the_last_renewal() {
    assert_number("takeover", &[], "authority", 3.0 + 10.0);
    assert_number("takeover", &[], "right-ends", 3.0 + 10.0 - 2.0);
    assert_number("takeover", &[], "own-clock", 3.0 + 10.0 + 5.0 - 3.0);
    assert_number("takeover", &[], "gap", 15.0 - 11.0);
    assert_eq!(output("takeover", &[], "own-clock").warning, None);
    let no_margin = [("claim-margin", 0.0)];
    assert_number("takeover", &no_margin, "own-clock", 10.0);
    assert_number("takeover", &no_margin, "gap", -1.0);
    assert!(output("takeover", &no_margin, "own-clock").warning.is_some());
    assert!(output("takeover", &no_margin, "gap").warning.is_some());
    assert!(output("takeover", &[("offset", -3.0)], "own-clock").formula.contains("− (−3)"));
}

#[test]
fn a_chunk_of_5000_takes_51_transactions() {
    for (invoices, chunks) in [(5_000, 10), (98, 1), (99, 3), (1, 1), (197, 2), (198, 2), (20_000, 100)] {
        // Counted one by one: each transaction has room for 99 besides its check.
        let (mut left, mut transactions) = (invoices + 1, 0);
        while left > 0 {
            left -= 99.min(left);
            transactions += 1;
        }
        let changes = [("invoices", f64::from(invoices)), ("chunks", f64::from(chunks))];
        assert_number("fence-dynamodb", &changes, "chunk", f64::from(transactions));
        assert_number("fence-dynamodb", &changes, "run", f64::from(transactions * chunks));
        assert_number("fence-dynamodb", &changes, "units", f64::from(2 * (invoices + 1 + transactions)));
        assert_number("fence-dynamodb", &changes, "fence-units", f64::from(2 * transactions));
    }
    assert_number("fence-dynamodb", &[], "chunk", 51.0);
    assert_number("fence-dynamodb", &[], "run", 510.0);
}

/// Every combination of the least, the default and the most of each input, and values that are far outside.
fn corners(calculator: &Calculator) -> Vec<Vec<i64>> {
    let mut all = vec![Vec::new()];
    for input in calculator.inputs {
        let choices = [input.min, input.default, input.max, i64::MIN, i64::MAX];
        all = all
            .into_iter()
            .flat_map(|values| choices.map(|choice| values.iter().copied().chain([choice]).collect()))
            .collect();
    }
    all
}

#[test]
fn no_value_is_too_large_or_too_small() {
    for calculator in all() {
        for values in corners(calculator) {
            let outputs = calculator.outputs(&values);
            assert!(!outputs.is_empty());
            for output in outputs {
                assert!(!output.value.is_empty() && output.formula.contains('='), "{} {values:?}", calculator.id);
                assert!(output.used.is_none_or(|used| used >= 0), "{} {values:?}: {output:?}", calculator.id);
            }
        }
        assert_eq!(calculator.outputs(&[]), calculator.outputs(&calculator.defaults()), "what is missing is at first");
    }
}

#[test]
fn ranges_make_sense() {
    for calculator in all() {
        for input in calculator.inputs {
            assert!(input.min <= input.default && input.default <= input.max, "{} {}", calculator.id, input.key);
            assert!(input.step > 0, "{} {}", calculator.id, input.key);
            for value in [input.min, input.default, input.max] {
                assert_eq!(input.nearest(value), value, "{} {}: {value} can be chosen", calculator.id, input.key);
            }
            assert_eq!(input.nearest(input.min + input.step / 3), input.min);
        }
    }
}

/// The numbers that are put into a formula are the reader's own.
#[test]
fn formulas_contain_every_input() {
    for calculator in all() {
        // Values that no formula has by itself, and that are told in full.
        for (place, input) in calculator.inputs.iter().enumerate() {
            let mut values = calculator.defaults();
            let steps = (input.max - input.min) / input.step;
            values[place] = input.nearest(input.min + input.step * (steps * 7 / 19));
            let whole = values[place] / ONE;
            let hundredths = (values[place] % ONE / 10_000).abs();
            let mut number = lease_lab_sim::time::grouped(whole.unsigned_abs());
            if hundredths > 0 {
                number = format!("{number}.{hundredths:02}").trim_end_matches('0').to_owned();
            }
            let contained = calculator.outputs(&values).iter().any(|output| {
                let words =
                    output.formula.split([' ', '(', ')', ';', ':', ',']).map(|word| word.trim_start_matches('−'));
                let plain = output.formula.split([' ', '(', ')', ';', ':']).map(|word| word.trim_start_matches('−'));
                words.chain(plain).any(|word| word == number)
            });
            assert!(contained, "{}: no formula shows {} = {number}", calculator.id, input.key);
        }
    }
}

#[test]
fn labs_name_calculators_that_exist() {
    for scenario in all_scenarios() {
        for extra in scenario.extras {
            if let Extra::Calculator(id) = extra {
                assert!(find(id).is_some(), "{}: there is no calculator {id}", scenario.id);
            }
        }
    }
    for calculator in all() {
        for text in [calculator.title, calculator.intro] {
            assert!(!text.is_empty() && !text.contains('\''), "{}", calculator.id);
        }
        for input in calculator.inputs {
            assert!(!input.label.contains('\'') && !input.label.is_empty());
        }
        let mut ids: Vec<&str> = calculator.outputs(&[]).iter().map(|output| output.id).collect();
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count, "{}", calculator.id);
    }
}
