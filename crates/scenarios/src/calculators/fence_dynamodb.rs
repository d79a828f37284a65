//! How many transactions a chunk takes on DynamoDB.

use super::{Calculator, Input, ONE, Output, told, whole_over, wide};

/// The most actions in one TransactWriteItems.
const ACTIONS_MAX: i128 = 100;
/// Write units of one item of up to 1 KB in a transaction.
const UNITS: i128 = 2;

pub(super) static CALCULATOR: Calculator = Calculator {
    id: "fence-dynamodb",
    title: "Transactions for a chunk and for the run",
    intro: "One transaction takes at most 100 actions. One of them is the ConditionCheck on the fence item, so 99 are \
            left: one put for each invoice, and in the chunk’s last transaction one update that marks the chunk done.",
    inputs: &[
        Input::count("invoices", "Invoices in a chunk", (1, 20_000), 5_000),
        Input::count("chunks", "Chunks in the job", (1, 100), 10),
    ],
    work_out,
};

fn work_out(values: &[i64]) -> Vec<Output> {
    let [invoices, chunks] = wide(values);
    let one = i128::from(ONE);
    let (invoices, chunks) = (invoices / one, chunks / one);
    let count = |number: i128| told(number * one);
    let writes = invoices + 1;
    let room = ACTIONS_MAX - 1;
    let transactions = whole_over(writes, room);
    let run = transactions * chunks;
    let checks = transactions * UNITS;
    let units = (writes + transactions) * UNITS;
    vec![
        Output::new(
            "chunk",
            "Transactions for a chunk",
            count(transactions),
            format!("({} + 1) ÷ {room}, rounded up = {}", count(invoices), count(transactions)),
        ),
        Output::new(
            "run",
            "Transactions for the run",
            count(run),
            format!("{} × {} = {}", count(chunks), count(transactions), count(run)),
        ),
        Output::new(
            "units",
            "Write units for a chunk",
            count(units),
            format!("{UNITS} × ({} + 1 + {}) = {}", count(invoices), count(transactions), count(units)),
        ),
        Output::new(
            "fence-units",
            "Of these, units on the one fence item",
            count(checks),
            format!("{UNITS} × {} = {}", count(transactions), count(checks)),
        ),
    ]
}
