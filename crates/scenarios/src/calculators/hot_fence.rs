//! When the item that everybody checks is used up.

use super::{Calculator, Input, ONE, Output, over, times, told, wide};

/// Write units a second that one partition takes, and so one item.
const LIMIT: i128 = 1_000;

pub(super) static CALCULATOR: Calculator = Calculator {
    id: "hot-fence",
    title: "The load on one fence item",
    intro: "Every checked write touches the fence item, and an item lives in one partition, which takes at most 1,000 \
            write units a second. A check inside a transaction costs two units, a raise one.",
    inputs: &[
        Input::count("writers", "Writers that check the same fences", (1, 2_000), 300),
        Input {
            key: "rate",
            label: "Checked writes of each writer",
            unit: "per second",
            min: ONE / 10,
            max: 50 * ONE,
            step: ONE / 10,
            default: 2 * ONE,
        },
        Input { key: "raises", label: "Raises", unit: "per second", min: 0, max: 500 * ONE, step: ONE, default: ONE },
        Input {
            key: "units",
            label: "Write units of one check",
            unit: "",
            min: ONE,
            max: 4 * ONE,
            step: ONE,
            default: 2 * ONE,
        },
        Input::count("fences", "Fence items that share the load", (1, 100), 1),
    ],
    work_out,
};

fn work_out(values: &[i64]) -> Vec<Output> {
    let [writers, rate, raises, units, fences] = wide(values);
    let limit = LIMIT * i128::from(ONE);
    let most = over(limit, units);
    let checks = times(writers, rate);
    let total = times(checks, units) + raises;
    let each = over(total, fences);
    let spare = (times(limit, fences) - raises).max(0);
    let writers_max = over(spare, times(rate, units)) / i128::from(ONE);
    let too_much = (each > limit).then(|| {
        format!(
            "The item takes {} of {} units a second; the rest is throttled, however much the table may take.",
            told(limit),
            told(each)
        )
    });
    vec![
        Output::new(
            "most",
            "Checks a second that one item takes",
            told(most),
            format!("{} ÷ {} = {}", told(limit), told(units), told(most)),
        ),
        Output::new(
            "checks",
            "Checks a second that the writers make",
            told(checks),
            format!("{} × {} = {}", told(writers), told(rate), told(checks)),
        ),
        Output::new(
            "units",
            "Write units a second on each fence item",
            told(each),
            format!("({} × {} + {}) ÷ {} = {}", told(checks), told(units), told(raises), told(fences), told(each)),
        )
        .of_limit(each, limit)
        .warned(too_much),
        Output::new(
            "writers-max",
            "Writers at which it saturates",
            told(writers_max * i128::from(ONE)),
            format!(
                "({} × {} − {}) ÷ ({} × {}), rounded down = {}",
                told(limit),
                told(fences),
                told(raises),
                told(rate),
                told(units),
                told(writers_max * i128::from(ONE))
            ),
        ),
    ]
}
