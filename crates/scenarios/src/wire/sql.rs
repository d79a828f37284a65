//! SQL as PostgreSQL reads it; RETURNING old.* needs PostgreSQL 18.
//!
//! The statements of a transaction travel together, as in a function on the server or a pipeline; the answer lists
//! what each came to.

use std::fmt::Write as _;

use lease_lab_sim::machine::JobId;
use lease_lab_sim::message::StoreReply;
use lease_lab_sim::settings::{Isolation, Plan};
use lease_lab_sim::store::sql::{Inserts, Request, Transaction};
use lease_lab_sim::store::update::{Purpose, Set, Test, Update};
use lease_lab_sim::store::{Row, RowState};

use super::{Answer, invoice, job_name};

pub(super) fn request(plan: &Plan, job: JobId, request: &Request) -> String {
    let job = job_name(job);
    match request {
        Request::SelectRow => format!("SELECT * FROM jobs WHERE job = '{job}';\n{}", select_chunks(&job)),
        Request::SelectFence => format!("SELECT fence FROM jobs WHERE job = '{job}';"),
        Request::SelectClaims => "SELECT job, owner_token, fence FROM jobs WHERE claimed_since IS NOT NULL;".into(),
        Request::Transaction(transaction) => text(plan, &job, transaction),
    }
}

fn select_chunks(job: &str) -> String {
    format!("SELECT chunk, token FROM chunks WHERE job = '{job}';")
}

fn text(plan: &Plan, job: &str, transaction: &Transaction) -> String {
    let Transaction { isolation, update, inserts } = transaction;
    let mut text = String::from(match isolation {
        Isolation::ReadCommitted => "BEGIN;\n",
        Isolation::RepeatableRead => "BEGIN ISOLATION LEVEL REPEATABLE READ;\n",
    });
    text += &statement(job, update);
    match (inserts, update.purpose) {
        (Some(inserts), _) => {
            text += "\n-- 1 row: go on; 0 rows: ROLLBACK\n";
            text += &inserted(plan, job, inserts);
        }
        (None, Purpose::Raise(_)) => {
            // Writing to a string cannot fail.
            let _ = write!(text, "\n{}\n-- 0 rows: SELECT the row, which tells why\n", select_chunks(job));
        }
        _ => text += "\n",
    }
    text + "COMMIT;"
}

fn statement(job: &str, update: &Update) -> String {
    let tests: String = update.tests.iter().map(|test| format!("\n   AND {}", condition(*test))).collect();
    if update.sets.is_empty() {
        return format!("SELECT 1 FROM jobs\n WHERE job = '{job}'{tests}\n   FOR UPDATE;");
    }
    let sets: Vec<String> = update.sets.iter().map(|set| assignment(*set)).collect();
    let returning = if matches!(update.purpose, Purpose::Raise(_)) { "\n RETURNING old.*" } else { "" };
    format!("UPDATE jobs\n   SET {}\n WHERE job = '{job}'{tests}{returning};", sets.join(", "))
}

fn condition(test: Test) -> String {
    match test {
        Test::NotDone => format!("state <> '{}'", RowState::Done),
        Test::FenceAtMost(token) => format!("fence <= {token}"),
        Test::FenceBelow(token) => format!("fence < {token}"),
        Test::Running => format!("state = '{}'", RowState::Running),
        Test::OwnerIs(owner) => format!("owner_token = {owner}"),
        Test::FenceIs(fence) => format!("fence = {fence}"),
    }
}

fn assignment(set: Set) -> String {
    match set {
        Set::Fence(token) => format!("fence = {token}"),
        Set::FenceAtLeast(token) => format!("fence = GREATEST(fence, {token})"),
        Set::State(state) => format!("state = '{state}'"),
        Set::Owner(token) => format!("owner_token = {token}"),
        Set::NoOwner => "owner_token = NULL".into(),
        Set::ClaimedSince(wall) => format!("claimed_since = {wall}"),
        Set::ClaimedNow => "claimed_since = now()".into(),
        Set::NotClaimed => "claimed_since = NULL".into(),
    }
}

fn inserted(plan: &Plan, job: &str, inserts: &Inserts) -> String {
    let Inserts { token, chunk, do_nothing } = *inserts;
    let (first, last) = (invoice(plan, chunk, 1), invoice(plan, chunk, plan.invoices_per_chunk));
    let conflict = |key: &str| match do_nothing {
        true => format!("\n    ON CONFLICT ({key}) DO NOTHING"),
        false => String::new(),
    };
    format!(
        "INSERT INTO invoices (job, invoice, token)\n    SELECT '{job}', i, {token} FROM generate_series({first}, {last}) AS i{};\n\
         INSERT INTO chunks (job, chunk, token) VALUES ('{job}', {chunk}, {token}){};\n",
        conflict("job, invoice"),
        conflict("job, chunk")
    )
}

pub(super) fn answer(request: &Request, reply: &StoreReply) -> Answer {
    match (request, reply) {
        (_, StoreReply::SerializationFailure) => {
            Answer::no("ERROR:  could not serialize access due to concurrent update\nSQLSTATE:  40001")
        }
        (_, StoreReply::Fence(fence)) => Answer::yes(format!("fence = {fence}\n(1 row)")),
        (_, StoreReply::Claims(claims)) => {
            let lines: String = claims
                .iter()
                .map(|claim| format!("{} | {} | {}\n", job_name(claim.job), claim.owner, claim.fence))
                .collect();
            let rows = if claims.len() == 1 { "row" } else { "rows" };
            Answer::yes(format!("{lines}({} {rows})", claims.len()))
        }
        (Request::Transaction(transaction), reply) => changed(transaction, reply),
        (_, StoreReply::Row(row)) => Answer::yes(told(row)),
        _ => Answer::yes(""),
    }
}

fn changed(transaction: &Transaction, reply: &StoreReply) -> Answer {
    let statement = if transaction.update.sets.is_empty() { "SELECT" } else { "UPDATE" };
    match reply {
        // Nothing was found: a raise reads the row, and finds the job finished.
        StoreReply::Row(row) if row.state == RowState::Done => {
            Answer::yes(format!("BEGIN\nUPDATE 0\n{}\nCOMMIT", told(row)))
        }
        StoreReply::Row(row) => Answer::yes(format!("BEGIN\nUPDATE 1\n{}\nCOMMIT", told(row))),
        StoreReply::Refused(_) => Answer::no(format!("BEGIN\n{statement} 0\nROLLBACK")),
        // The mark of a chunk that was recorded before is there already.
        StoreReply::Inserted(count) => {
            Answer::yes(format!("BEGIN\n{statement} 1\nINSERT 0 {count}\nINSERT 0 {}\nCOMMIT", u32::from(*count > 0)))
        }
        _ => Answer::yes(format!("BEGIN\n{statement} 1\nCOMMIT")),
    }
}

fn told(row: &Row) -> String {
    let null = || "NULL".to_owned();
    let owner = row.owner_token.map_or_else(null, |token| token.to_string());
    let since = row.claimed_since.map_or_else(null, |wall| wall.to_string());
    let chunks: String = row
        .chunks
        .iter()
        .flat_map(|(chunk, tokens)| tokens.iter().map(move |token| format!("\n{chunk} | {token}")))
        .collect();
    format!(
        "state | fence | owner_token | claimed_since\n{} | {} | {owner} | {since}\nchunk | token{chunks}",
        row.state, row.fence
    )
}
