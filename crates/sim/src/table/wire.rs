//! Requests to the table as the real systems spell them: DynamoDB's `UpdateItem`, or one SQL statement.

use std::fmt::Write as _;

use super::{Change, Condition, Item, Term, Update, key};
use crate::machine::JobId;
use crate::settings::Plan;

impl Term {
    fn text(self, sql: bool) -> String {
        match (self, sql) {
            (Term::NoHolder, false) => "attribute_not_exists(holder)".into(),
            // In an insert that turns into an update, a bare column could be of either.
            (Term::NoHolder, true) => "leases.holder IS NULL".into(),
            (Term::UntilBefore(_), false) => "lease_until < :before".into(),
            (Term::UntilBefore(wall), true) => format!("leases.lease_until < {wall}"),
            (Term::UntilBeforeNow, _) => "leases.lease_until < now()".into(),
            (Term::HolderIs(_), false) => "holder = :me".into(),
            (Term::HolderIs(worker), true) => format!("leases.holder = '{worker}'"),
            (Term::EpochIs(_), false) => "epoch = :e".into(),
            (Term::EpochIs(epoch), true) => format!("leases.epoch = {epoch}"),
            (Term::RvnIs(_), false) => "rvn = :seen".into(),
            (Term::RvnIs(rvn), true) => format!("leases.rvn = '{rvn}'"),
        }
    }

    /// The placeholder's name and its value.
    fn value(self) -> Option<(&'static str, String)> {
        Some(match self {
            Term::UntilBefore(wall) => (":before", number(wall)),
            Term::HolderIs(worker) => (":me", string(worker)),
            Term::EpochIs(epoch) => (":e", number(epoch)),
            Term::RvnIs(rvn) => (":seen", string(rvn)),
            Term::NoHolder | Term::UntilBeforeNow => return None,
        })
    }
}

impl Condition {
    fn terms(&self) -> (&[Term], &'static str) {
        match self {
            Condition::Any(terms) => (terms, " OR "),
            Condition::All(terms) => (terms, " AND "),
        }
    }

    /// The condition as an expression.
    pub fn text(&self, sql: bool) -> String {
        let (terms, joint) = self.terms();
        let texts: Vec<String> = terms.iter().map(|term| term.text(sql)).collect();
        texts.join(joint)
    }
}

impl Change {
    /// The attribute and its new value as a placeholder, or in SQL as a literal.
    fn assignment(self, sql: bool) -> Option<String> {
        Some(match (self, sql) {
            (Change::Holder(_), false) => "holder = :me".into(),
            (Change::Holder(worker), true) => format!("holder = '{worker}'"),
            (Change::Until(_), false) => "lease_until = :until".into(),
            (Change::Until(wall), true) => format!("lease_until = {wall}"),
            (Change::UntilNowPlus(span), _) => format!("lease_until = now() + interval '{span} seconds'"),
            (Change::Lease(_), false) => "lease_seconds = :lease".into(),
            (Change::Lease(span), true) => format!("lease_seconds = {span}"),
            (Change::Rvn(_), false) => "rvn = :rvn".into(),
            (Change::Rvn(rvn), true) => format!("rvn = '{rvn}'"),
            (Change::NextEpoch, false) => "epoch = if_not_exists(epoch, :zero) + :one".into(),
            (Change::NextEpoch, true) => "epoch = leases.epoch + 1".into(),
            (Change::NoHolder, false) => return None,
            (Change::NoHolder, true) => "holder = NULL".into(),
        })
    }

    fn values(self) -> Vec<(&'static str, String)> {
        match self {
            Change::Holder(worker) => vec![(":me", string(worker))],
            Change::Until(wall) => vec![(":until", number(wall))],
            Change::Lease(span) => vec![(":lease", number(span))],
            Change::Rvn(rvn) => vec![(":rvn", string(rvn))],
            Change::NextEpoch => vec![(":zero", number(0)), (":one", number(1))],
            Change::UntilNowPlus(_) | Change::NoHolder => Vec::new(),
        }
    }
}

impl Update {
    /// The whole request.
    pub(super) fn request(&self, plan: &Plan, job: JobId, sql: bool) -> String {
        let assignments: Vec<String> = self.changes.iter().filter_map(|change| change.assignment(sql)).collect();
        let (key, set, condition) = (key(plan, job), assignments.join(", "), self.condition.text(sql));
        if sql { self.statement(&key, &set, &condition) } else { self.update_item(&key, &set, &condition) }
    }

    fn update_item(&self, key: &str, set: &str, condition: &str) -> String {
        let remove = if self.changes.contains(&Change::NoHolder) { " REMOVE holder" } else { "" };
        let mut values: Vec<(&str, String)> = Vec::new();
        let terms = self.condition.terms().0.iter().filter_map(|term| term.value());
        for value in self.changes.iter().flat_map(|change| change.values()).chain(terms) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        let values: Vec<String> = values.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        format!(
            "{{\"TableName\":\"leases\",\"Key\":{{\"job\":{{\"S\":\"{key}\"}}}},\
             \"UpdateExpression\":\"SET {set}{remove}\",\"ConditionExpression\":\"{condition}\",\
             \"ExpressionAttributeValues\":{{{}}},\"ReturnValues\":\"ALL_NEW\",\
             \"ReturnValuesOnConditionCheckFailure\":\"ALL_OLD\"}}",
            values.join(",")
        )
    }

    /// The first claim of a job finds no row yet, so a claim is an insert that turns into an update.
    fn statement(&self, key: &str, set: &str, condition: &str) -> String {
        if !self.claims() {
            return format!("UPDATE leases SET {set} WHERE job = '{key}' AND {condition}");
        }
        let (mut columns, mut values) = (String::from("job"), format!("'{key}'"));
        for assignment in self.changes.iter().filter_map(|change| change.assignment(true)) {
            let Some((column, value)) = assignment.split_once(" = ") else { continue };
            let value = if column == "epoch" { "1" } else { value };
            // Writing to a string cannot fail.
            let _ = write!(columns, ", {column}");
            let _ = write!(values, ", {value}");
        }
        format!(
            "INSERT INTO leases ({columns}) VALUES ({values}) ON CONFLICT (job) DO UPDATE SET {set} \
             WHERE {condition} RETURNING epoch"
        )
    }
}

/// What the client is told.
pub(super) fn answer(passed: bool, before: Option<&Item>, sql: bool) -> String {
    match (passed, sql) {
        (true, false) => "200".into(),
        (true, true) => "1 row".into(),
        (false, true) => "0 rows".into(),
        (false, false) => {
            let item = before.map_or(String::new(), |item| format!(",\"Item\":{}", item.json()));
            format!("400 {{\"__type\":\"ConditionalCheckFailedException\"{item}}}")
        }
    }
}

impl Item {
    /// The item as DynamoDB shows it, without its key.
    pub fn json(&self) -> String {
        let mut attributes = Vec::new();
        if let Some(holder) = self.holder {
            attributes.push(format!("\"holder\":{}", string(holder.worker)));
        }
        attributes.push(format!("\"lease_until\":{}", number(self.lease_until)));
        attributes.push(format!("\"lease_seconds\":{}", number(self.lease)));
        if let Some(rvn) = self.rvn {
            attributes.push(format!("\"rvn\":{}", string(rvn)));
        }
        attributes.push(format!("\"epoch\":{}", number(self.epoch)));
        format!("{{{}}}", attributes.join(","))
    }
}

fn number(value: impl std::fmt::Display) -> String {
    format!("{{\"N\":\"{value}\"}}")
}

fn string(value: impl std::fmt::Display) -> String {
    format!("{{\"S\":\"{value}\"}}")
}
