//! What many small locks cost.

use super::{Calculator, Input, ONE, Output, over, times, told, whole_over, wide};

/// A grant of the lease and the creation of its key: two entries of the log.
const ENTRIES_TO_ACQUIRE: i128 = 2;
/// A release or an expiry: one entry.
const ENTRIES_TO_END: i128 = 1;

pub(super) static CALCULATOR: Calculator = Calculator {
    id: "how-much",
    title: "What the lock service has to carry",
    intro: "Small locks let more workers work side by side, and each of them has to be kept alive. A keep-alive is \
            cheap: the leader moves a deadline in its memory. A grant, a release and an expiry are not: each is an \
            entry of the log that a majority must have on disk.",
    inputs: &[
        Input::count("items", "Things to protect", (1, 1_000_000), 10_000),
        Input::count("per-lock", "Things under one lock", (1, 10_000), 1),
        Input::seconds("interval", "Renewal interval", (ONE / 2, 60 * ONE), ONE / 2, 3 * ONE),
        Input::seconds("held", "How long a lock is held", (ONE, 3_600 * ONE), ONE, 60 * ONE),
        Input { key: "nodes", label: "Nodes", unit: "", min: ONE, max: 7 * ONE, step: 2 * ONE, default: 3 * ONE },
    ],
    work_out,
};

fn work_out(values: &[i64]) -> Vec<Output> {
    let [items, per_lock, interval, held, nodes] = wide(values);
    let one = i128::from(ONE);
    let holders = whole_over(items, per_lock) * one;
    let keep_alives = over(holders, interval);
    let entries_each = (ENTRIES_TO_ACQUIRE + ENTRIES_TO_END) * one;
    let entries = over(times(entries_each, holders), held);
    let majority = nodes / one / 2 + 1;
    let writes = times(entries, nodes);
    let blocked = per_lock.min(items);
    let never_renews = (held < interval)
        .then(|| "A lock that is held for less than the interval is not renewed at all: this is the most.".to_owned());
    vec![
        Output::new(
            "holders",
            "Locks, and holders if all are held",
            told(holders),
            format!("{} ÷ {}, rounded up = {}", told(items), told(per_lock), told(holders)),
        ),
        Output::new(
            "keep-alives",
            "Keep-alives a second, in the leader’s memory only",
            told(keep_alives),
            format!("{} ÷ {} = {}", told(holders), told(interval), told(keep_alives)),
        )
        .warned(never_renews),
        Output::new(
            "entries",
            "Entries of the log a second",
            told(entries),
            format!(
                "({ENTRIES_TO_ACQUIRE} + {ENTRIES_TO_END}) × {} ÷ {} = {}",
                told(holders),
                told(held),
                told(entries)
            ),
        ),
        Output::new(
            "writes",
            "Disk writes a second, on all nodes together",
            told(writes),
            format!(
                "{} × {} = {}; each entry waits for {majority} of {}",
                told(entries),
                told(nodes),
                told(writes),
                told(nodes)
            ),
        ),
        Output::new(
            "blocked",
            "Things that one slow holder blocks",
            told(blocked),
            format!("the smaller of {} and {} = {}", told(per_lock), told(items), told(blocked)),
        ),
    ]
}
