//! Requests to the table of lease items: JSON as DynamoDB reads it, or, where the storage’s own clock judges, SQL as
//! PostgreSQL reads it.

use std::fmt::Write as _;

use lease_lab_sim::machine::JobId;
use lease_lab_sim::settings::ClaimRule;
use lease_lab_sim::table::{Change, Item, TableReply, TableRequest, Term, Update};

use super::{Answer, job_name};

const TABLE: &str = r#""TableName": "leases""#;

fn text(value: impl std::fmt::Display) -> String {
    format!("{{\"S\": \"{value}\"}}")
}

fn number(value: impl std::fmt::Display) -> String {
    format!("{{\"N\": \"{value}\"}}")
}

fn is_sql(rule: ClaimRule) -> bool {
    rule == ClaimRule::StorageNow
}

pub(super) fn request(rule: ClaimRule, job: JobId, request: &TableRequest) -> String {
    let key = format!("{{\"job\": {}}}", text(job_name(job)));
    match request {
        TableRequest::Update(update) if is_sql(rule) => statement(job, update),
        TableRequest::Update(update) => update_item(&key, update),
        TableRequest::Get if is_sql(rule) => format!("SELECT * FROM leases WHERE job = '{}';", job_name(job)),
        TableRequest::GetMany(_) if is_sql(rule) => "SELECT * FROM leases;".into(),
        TableRequest::Get => {
            format!("GetItem\n{{\n  {TABLE},\n  \"Key\": {key},\n  \"ConsistentRead\": true\n}}")
        }
        TableRequest::GetMany(jobs) => {
            let keys: Vec<String> = jobs.iter().map(|job| format!("{{\"job\": {}}}", text(job_name(*job)))).collect();
            format!(
                "BatchGetItem\n{{\n  \"RequestItems\": {{\"leases\": {{\"Keys\": [{}], \"ConsistentRead\": true}}}}\n}}",
                keys.join(", ")
            )
        }
    }
}

/// The placeholder of a comparison and its value.
fn compared(term: &Term) -> Option<(&'static str, String)> {
    Some(match term {
        Term::UntilBefore(wall) => (":before", number(wall)),
        Term::HolderIs(worker) => (":me", text(worker)),
        Term::EpochIs(epoch) => (":e", number(epoch)),
        Term::RvnIs(rvn) => (":seen", text(rvn)),
        Term::NoHolder | Term::UntilBeforeNow => return None,
    })
}

fn update_item(key: &str, update: &Update) -> String {
    let mut values: Vec<(&str, String)> = Vec::new();
    let mut sets = Vec::new();
    let mut removes = "";
    for change in &update.changes {
        let (set, with) = match change {
            Change::Holder(worker) => ("holder = :me", vec![(":me", text(worker))]),
            Change::Until(wall) => ("lease_until = :until", vec![(":until", number(wall))]),
            Change::Lease(span) => ("lease_seconds = :lease", vec![(":lease", number(span))]),
            Change::Rvn(rvn) => ("rvn = :rvn", vec![(":rvn", text(rvn))]),
            Change::NextEpoch => {
                ("epoch = if_not_exists(epoch, :zero) + :one", vec![(":zero", number(0)), (":one", number(1))])
            }
            Change::NoHolder => {
                removes = " REMOVE holder";
                continue;
            }
            // A table has no clock to ask; no client sends this.
            Change::UntilNowPlus(_) => continue,
        };
        sets.push(set);
        values.extend(with);
    }
    for value in update.condition.terms().0.iter().filter_map(compared) {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    let values: Vec<String> = values.iter().map(|(name, value)| format!("\"{name}\": {value}")).collect();
    format!(
        "UpdateItem\n{{\n  {TABLE},\n  \"Key\": {key},\n  \"ConditionExpression\": \"{}\",\n  \
         \"UpdateExpression\": \"SET {}{removes}\",\n  \"ExpressionAttributeValues\": {{{}}},\n  \
         \"ReturnValues\": \"ALL_NEW\",\n  \"ReturnValuesOnConditionCheckFailure\": \"ALL_OLD\"\n}}",
        update.condition.text(false),
        sets.join(", "),
        values.join(", ")
    )
}

/// The first claim of a job finds no row yet, so a claim is an insert that turns into an update.
fn statement(job: JobId, update: &Update) -> String {
    let (mut columns, mut values) = (String::from("job"), format!("'{}'", job_name(job)));
    let mut sets = Vec::new();
    for change in &update.changes {
        let (column, value, first) = match change {
            Change::Holder(worker) => ("holder", format!("'{worker}'"), None),
            Change::Until(wall) => ("lease_until", wall.to_string(), None),
            Change::UntilNowPlus(span) => ("lease_until", format!("now() + interval '{span} seconds'"), None),
            Change::Lease(span) => ("lease_seconds", span.to_string(), None),
            Change::Rvn(rvn) => ("rvn", format!("'{rvn}'"), None),
            Change::NextEpoch => ("epoch", "leases.epoch + 1".into(), Some("1")),
            Change::NoHolder => ("holder", "NULL".into(), None),
        };
        // Writing to a string cannot fail.
        let _ = write!(columns, ", {column}");
        let _ = write!(values, ", {}", first.unwrap_or(&value));
        sets.push(format!("{column} = {value}"));
    }
    let (sets, condition) = (sets.join(", "), update.condition.text(true));
    if update.claims() {
        format!(
            "INSERT INTO leases ({columns})\nVALUES ({values})\n    ON CONFLICT (job) DO UPDATE\n   SET {sets}\n \
             WHERE {condition}\nRETURNING *;"
        )
    } else {
        format!("UPDATE leases\n   SET {sets}\n WHERE job = '{}' AND {condition}\nRETURNING *;", job_name(job))
    }
}

pub(super) fn answer(rule: ClaimRule, reply: &TableReply) -> Answer {
    let sql = is_sql(rule);
    match reply {
        TableReply::Item(None) if sql => Answer::yes("0 rows"),
        TableReply::Item(Some(item)) if sql => Answer::yes(format!("1 row\n{}", row(item))),
        TableReply::Items(items) if sql => Answer::yes(format!("{} rows", items.len())),
        TableReply::Updated(item) if sql => Answer::yes(format!("1 row\n{}", row(item))),
        TableReply::ConditionFailed(_) if sql => Answer::no("0 rows"),
        TableReply::Item(None) => Answer::yes("200\n{}"),
        TableReply::Item(Some(item)) => Answer::yes(format!("200\n{{\n  \"Item\": {}\n}}", json(item))),
        TableReply::Items(items) => {
            let items: Vec<String> = items.iter().map(|(_, item)| json(item)).collect();
            Answer::yes(format!("200\n{{\n  \"Responses\": {{\"leases\": [{}]}}\n}}", items.join(", ")))
        }
        TableReply::Updated(item) => Answer::yes(format!("200\n{{\n  \"Attributes\": {}\n}}", json(item))),
        TableReply::ConditionFailed(item) => {
            let item = item.as_ref().map_or(String::new(), |item| format!(",\n  \"Item\": {}", json(item)));
            Answer::no(format!(
                "400\n{{\n  \"__type\": \"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException\",\n  \
                 \"message\": \"The conditional request failed\"{item}\n}}"
            ))
        }
    }
}

/// An item without its key.
fn json(item: &Item) -> String {
    let mut members = Vec::new();
    members.extend(item.holder.map(|holder| format!("\"holder\": {}", text(holder.worker))));
    members.push(format!("\"lease_until\": {}", number(item.lease_until)));
    members.push(format!("\"lease_seconds\": {}", number(item.lease)));
    members.extend(item.rvn.map(|rvn| format!("\"rvn\": {}", text(rvn))));
    members.push(format!("\"epoch\": {}", number(item.epoch)));
    format!("{{{}}}", members.join(", "))
}

fn row(item: &Item) -> String {
    let holder = item.holder.map_or("NULL".into(), |holder| holder.worker.to_string());
    let rvn = item.rvn.map_or("NULL".into(), |rvn| rvn.to_string());
    format!("holder {holder} | lease_until {} | rvn {rvn} | epoch {}", item.lease_until, item.epoch)
}
