//! JSON as DynamoDB reads it (Amazon DynamoDB API Reference), headers left out.

use std::fmt::Write as _;

use lease_lab_sim::machine::JobId;
use lease_lab_sim::message::{StoreReply, Token};
use lease_lab_sim::settings::Plan;
use lease_lab_sim::store::dynamodb::{Cancelled, Reply, Request, Transact};
use lease_lab_sim::store::ranges::Ranges;
use lease_lab_sim::store::update::{Purpose, Set, Test, Update};
use lease_lab_sim::store::{Row, RowState};

use super::{Answer, invoice, job_name};

const TABLE: &str = r#""TableName": "billing""#;
/// So many puts of a transaction are shown.
const PUTS_SHOWN: usize = 2;

/// Expressions, and the names and values that they refer to.
#[derive(Default)]
struct Expressions {
    values: Vec<(&'static str, String)>,
    names_state: bool,
}

impl Expressions {
    fn value(&mut self, name: &'static str, value: String) -> &'static str {
        if !self.values.iter().any(|(known, _)| *known == name) {
            self.values.push((name, value));
        }
        name
    }

    fn token(&mut self, name: &'static str, token: Token) -> &'static str {
        self.value(name, number(token))
    }

    /// `state` is a reserved word, so it needs another name.
    fn state(&mut self, state: RowState) -> &'static str {
        self.names_state = true;
        let name = match state {
            RowState::Queued => ":queued",
            RowState::Running => ":running",
            RowState::Done => ":done",
        };
        self.value(name, text(&state.to_string()))
    }

    fn condition(&mut self, tests: &[Test]) -> String {
        let parts: Vec<String> = tests
            .iter()
            .map(|test| match *test {
                Test::NotDone => format!("#state <> {}", self.state(RowState::Done)),
                Test::FenceAtMost(token) => self.fence("<=", token, tests.len()),
                Test::FenceBelow(token) => self.fence("<", token, tests.len()),
                Test::Running => format!("#state = {}", self.state(RowState::Running)),
                Test::OwnerIs(owner) => format!("owner_token = {}", self.token(":owner", owner)),
                Test::FenceIs(fence) => format!("fence = {}", self.token(":fence", fence)),
            })
            .collect();
        parts.join(" AND ")
    }

    fn fence(&mut self, compare: &str, token: Token, tests: usize) -> String {
        let either = format!("attribute_not_exists(fence) OR fence {compare} {}", self.token(":t", token));
        if tests > 1 { format!("({either})") } else { either }
    }

    fn update(&mut self, sets: &[Set]) -> String {
        let (mut set_to, mut removed) = (Vec::new(), Vec::new());
        for set in sets {
            match *set {
                Set::Fence(token) | Set::FenceAtLeast(token) => {
                    set_to.push(format!("fence = {}", self.token(":t", token)));
                }
                Set::State(state) => set_to.push(format!("#state = {}", self.state(state))),
                Set::Owner(token) => set_to.push(format!("owner_token = {}", self.token(":t", token))),
                Set::ClaimedSince(wall) => {
                    let now = self.value(":now", format!("{{\"N\": \"{wall}\"}}"));
                    set_to.push(format!("claimed_since = {now}"));
                }
                // A table has no clock to ask; no client sends this.
                Set::ClaimedNow => {}
                Set::NoOwner => removed.push("owner_token"),
                Set::NotClaimed => removed.push("claimed_since"),
            }
        }
        let mut text = if set_to.is_empty() { String::new() } else { format!("SET {}", set_to.join(", ")) };
        if !removed.is_empty() {
            // Writing to a string cannot fail.
            let _ = write!(text, "{}REMOVE {}", if text.is_empty() { "" } else { " " }, removed.join(", "));
        }
        text
    }

    /// The names and values, each line indented by `indent`.
    fn lines(&self, indent: &str) -> String {
        let mut lines = String::new();
        if self.names_state {
            let _ = write!(lines, ",\n{indent}\"ExpressionAttributeNames\": {{\"#state\": \"state\"}}");
        }
        if !self.values.is_empty() {
            let values: Vec<String> = self.values.iter().map(|(name, value)| format!("\"{name}\": {value}")).collect();
            let _ = write!(lines, ",\n{indent}\"ExpressionAttributeValues\": {{{}}}", values.join(", "));
        }
        lines
    }
}

fn text(text: &str) -> String {
    format!("{{\"S\": \"{text}\"}}")
}

fn number(number: impl std::fmt::Display) -> String {
    format!("{{\"N\": \"{number}\"}}")
}

/// The key of the job’s item, which holds the fence.
fn key(job: JobId, item: &str) -> String {
    format!("{{\"job\": {}, \"item\": {}}}", text(&job_name(job)), text(item))
}

pub(super) fn request(plan: &Plan, job: JobId, request: &Request) -> String {
    match request {
        Request::QueryJob => query(job, "chunk#", "job"),
        Request::GetFence => format!(
            "GetItem\n{{\n  {TABLE},\n  \"Key\": {},\n  \"ProjectionExpression\": \"fence\",\n  \
             \"ConsistentRead\": true\n}}",
            key(job, "job")
        ),
        Request::QueryInvoices { chunk } => {
            let name = |within| item_name(invoice(plan, *chunk, within));
            query(job, &name(1), &name(plan.invoices_per_chunk))
        }
        Request::ScanIndex => format!("Scan\n{{\n  {TABLE},\n  \"IndexName\": \"claimed_since\"\n}}"),
        Request::UpdateItem(update) => update_item(job, update),
        Request::Transact(transact) => transactions(plan, job, transact),
        Request::Checks { count, .. } => format!(
            "TransactWriteItems, {count} of them, each from another writer\n{{\n  \"TransactItems\": [\n    \
             {{\"ConditionCheck\": {{{TABLE}, \"Key\": {}, …}}}},\n    {{\"Put\": {{…an item of its own…}}}}\n  ]\n}}",
            key(job, "job")
        ),
    }
}

/// Items of a job whose names lie between two others.
fn query(job: JobId, from: &str, to: &str) -> String {
    format!(
        "Query\n{{\n  {TABLE},\n  \"KeyConditionExpression\": \"job = :job AND #item BETWEEN :from AND :to\",\n  \
         \"ExpressionAttributeNames\": {{\"#item\": \"item\"}},\n  \"ExpressionAttributeValues\": {{\":job\": {}, \
         \":from\": {}, \":to\": {}}},\n  \"ConsistentRead\": true\n}}",
        text(&job_name(job)),
        text(from),
        text(to)
    )
}

fn item_name(invoice: u32) -> String {
    format!("invoice#{invoice:05}")
}

fn update_item(job: JobId, update: &Update) -> String {
    let mut expressions = Expressions::default();
    let condition = expressions.condition(&update.tests);
    let change = expressions.update(&update.sets);
    let returns = match update.purpose {
        Purpose::Raise(_) => ",\n  \"ReturnValues\": \"ALL_OLD\"",
        _ => "",
    };
    format!(
        "UpdateItem\n{{\n  {TABLE},\n  \"Key\": {},\n  \"ConditionExpression\": \"{condition}\",\n  \
         \"UpdateExpression\": \"{change}\"{}{returns},\n  \"ReturnValuesOnConditionCheckFailure\": \"ALL_OLD\"\n}}",
        key(job, "job"),
        expressions.lines("  ")
    )
}

fn transactions(plan: &Plan, job: JobId, transact: &Transact) -> String {
    let Some(first) = transact.puts.first() else { return String::new() };
    let mut text = String::from("TransactWriteItems\n{\n  \"TransactItems\": [\n    ");
    text += &first_actions(job, transact);
    text += &puts(plan, job, transact, first);
    text += "\n  ]\n}";
    let more = transact.puts.len() - 1;
    if more > 0 {
        let last = transact.puts.last().and_then(|puts| puts.numbers().last()).unwrap_or(0);
        let next = transact.puts.get(1).and_then(|puts| puts.numbers().next()).unwrap_or(0);
        let _ = write!(
            text,
            "\n… {more} more TransactWriteItems, each with the same ConditionCheck: invoices {:05} to {:05}",
            invoice(plan, transact.chunk, next),
            invoice(plan, transact.chunk, last)
        );
    }
    text
}

/// The check of the job’s item and, in the last transaction of a chunk, the mark.
fn first_actions(job: JobId, transact: &Transact) -> String {
    let mut expressions = Expressions::default();
    let condition = match expressions.condition(&transact.tests) {
        none if none.is_empty() => String::new(),
        condition => format!(",\n      \"ConditionExpression\": \"{condition}\""),
    };
    let check = format!(
        "{{\"ConditionCheck\": {{\n      {TABLE},\n      \"Key\": {}{condition}{}\n    }}}}",
        key(job, "job"),
        expressions.lines("      ")
    );
    if !transact.marks {
        return check;
    }
    let condition = match transact.if_absent {
        true => ",\n      \"ConditionExpression\": \"attribute_not_exists(recorded_by)\"",
        false => "",
    };
    format!(
        "{check},\n    {{\"Update\": {{\n      {TABLE},\n      \"Key\": {}{condition},\n      \"UpdateExpression\": \"SET \
         recorded_by = :t\",\n      \"ExpressionAttributeValues\": {{\":t\": {}}}\n    }}}}",
        key(job, &chunk_name(transact.chunk)),
        number(transact.token)
    )
}

fn chunk_name(chunk: u8) -> String {
    format!("chunk#{chunk:02}")
}

fn puts(plan: &Plan, job: JobId, transact: &Transact, puts: &Ranges) -> String {
    let condition = if transact.if_absent { ", \"ConditionExpression\": \"attribute_not_exists(job)\"" } else { "" };
    let mut lines = String::new();
    for within_chunk in puts.numbers().take(PUTS_SHOWN) {
        let _ = write!(
            lines,
            ",\n    {{\"Put\": {{{TABLE}, \"Item\": {{\"job\": {}, \"item\": {}, \"token\": {}}}{condition}}}}}",
            text(&job_name(job)),
            text(&item_name(invoice(plan, transact.chunk, within_chunk))),
            number(transact.token)
        );
    }
    let more = puts.len() as usize - puts.numbers().take(PUTS_SHOWN).count();
    if more > 0 {
        let _ = write!(lines, ",\n    … {more} more puts");
    }
    lines
}

pub(super) fn answer(job: JobId, request: &Request, reply: &StoreReply) -> Answer {
    match reply {
        StoreReply::Row(row) if matches!(request, Request::QueryJob) => {
            let mut items = vec![item(job, row)];
            items.extend(row.chunks.iter().filter_map(|(chunk, tokens)| {
                let (name, token) = (text(&chunk_name(*chunk)), number(tokens.last()?));
                Some(format!("{{\"item\": {name}, \"recorded_by\": {token}}}"))
            }));
            Answer::yes(format!(
                "200\n{{\n  \"Count\": {},\n  \"Items\": [\n    {}\n  ]\n}}",
                items.len(),
                items.join(",\n    ")
            ))
        }
        StoreReply::Row(row) => Answer::yes(format!("200\n{{\n  \"Attributes\": {}\n}}", item(job, row))),
        StoreReply::Fence(fence) => Answer::yes(format!("200\n{{\"Item\": {{\"fence\": {}}}}}", number(fence))),
        StoreReply::Claims(claims) => {
            let items: Vec<String> = claims
                .iter()
                .map(|claim| {
                    let (owner, fence) = (number(claim.owner), number(claim.fence));
                    let job = text(&job_name(claim.job));
                    format!("\n    {{\"job\": {job}, \"owner_token\": {owner}, \"fence\": {fence}}}")
                })
                .collect();
            Answer::yes(format!("200\n{{\n  \"Count\": {},\n  \"Items\": [{}]\n}}", claims.len(), items.join(",")))
        }
        StoreReply::DynamoDb(reply, ..) => match &**reply {
            Reply::ConditionFailed(row) => Answer {
                text: format!(
                    "400\n{{\n  \"__type\": \"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException\",\n  \
                     \"message\": \"The conditional request failed\",\n  \"Item\": {}\n}}",
                    item(job, row)
                ),
                // A raise that finds the job finished has learned what it wanted.
                refused: row.state != RowState::Done,
            },
            Reply::Invoices(there) => Answer::yes(format!("200\n{{\"Count\": {}, \"Items\": […]}}", there.len())),
            Reply::Cancelled { succeeded, cancelled, first } => Answer::no(cancellation(*succeeded, *cancelled, first)),
            Reply::Checked { accepted, throttled } => Answer {
                text: format!("200, {accepted} times\n400 ThrottlingException, {throttled} times"),
                refused: *throttled > 0,
            },
        },
        _ => match request {
            Request::Transact(transact) if transact.puts.len() > 1 => {
                Answer::yes(format!("200\n{{}}\n… and {} more times 200", transact.puts.len() - 1))
            }
            _ => Answer::yes("200\n{}"),
        },
    }
}

fn item(job: JobId, row: &Row) -> String {
    let mut members =
        vec![format!("\"job\": {}", text(&job_name(job))), format!("\"state\": {}", text(&row.state.to_string()))];
    // Before the first raise there is no such attribute.
    if row.fence > 0 {
        members.push(format!("\"fence\": {}", number(row.fence)));
    }
    members.extend(row.owner_token.map(|token| format!("\"owner_token\": {}", number(token))));
    members.extend(row.claimed_since.map(|wall| format!("\"claimed_since\": {}", number(wall))));
    format!("{{{}}}", members.join(", "))
}

/// Reasons in the order of the actions; a run of equal ones is shortened.
fn cancellation(succeeded: u32, cancelled: u32, first: &Cancelled) -> String {
    let mut runs: Vec<(bool, u32)> = Vec::new();
    for place in 0..first.actions {
        let failed = first.failed.holds(place);
        match runs.last_mut() {
            Some((same, count)) if *same == failed => *count += 1,
            _ => runs.push((failed, 1)),
        }
    }
    let code = |failed: bool| if failed { "ConditionalCheckFailed" } else { "None" };
    let (mut codes, mut reasons) = (Vec::new(), Vec::new());
    for (failed, count) in runs {
        codes.push(code(failed).to_owned());
        reasons.push(match failed {
            true => {
                "{\"Code\": \"ConditionalCheckFailed\", \"Message\": \"The conditional request failed\"}".to_owned()
            }
            false => "{\"Code\": \"None\"}".to_owned(),
        });
        if count > 1 {
            codes.push(format!("… {} more {}", count - 1, code(failed)));
            reasons.push(format!("… {} more {}", count - 1, code(failed)));
        }
    }
    let before = if succeeded > 0 { format!("200, {succeeded} times\n") } else { String::new() };
    let more = if cancelled > 1 { format!("\n… and {} more cancelled", cancelled - 1) } else { String::new() };
    format!(
        "{before}400\n{{\n  \"__type\": \"com.amazonaws.dynamodb.v20120810#TransactionCanceledException\",\n  \
         \"Message\": \"Transaction cancelled, please refer cancellation reasons for specific reasons [{}]\",\n  \
         \"CancellationReasons\": [\n    {}\n  ]\n}}{more}",
        codes.join(", "),
        reasons.join(",\n    ")
    )
}
