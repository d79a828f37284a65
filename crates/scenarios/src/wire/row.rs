//! The plain row has no wire form of its own: its requests are told as calls.

use lease_lab_sim::machine::JobId;
use lease_lab_sim::message::{NO_TOKEN, StoreReply, StoreRequest, Token};
use lease_lab_sim::store::Row;

use super::{Answer, job_name};

pub(super) fn request(job: JobId, request: &StoreRequest) -> String {
    let job = job_name(job);
    match request {
        StoreRequest::ReadRow => format!("read({job:?})"),
        StoreRequest::ReadFence => format!("read_fence({job:?})"),
        StoreRequest::ReadIndex => "read_index()".into(),
        StoreRequest::FindQueued { from } => format!("find_queued(from {:?})", job_name(*from)),
        StoreRequest::Raise { token } => format!("raise({job:?}{})", with(*token)),
        StoreRequest::WriteChunk { token, chunk, unconditional } => {
            let how = if *unconditional { ", unconditional" } else { "" };
            format!("write_chunk({job:?}, chunk {chunk}{}{how})", with(*token))
        }
        StoreRequest::SetDone { token } => format!("set_done({job:?}{})", with(*token)),
        StoreRequest::Requeue { owner, fence } => {
            format!("requeue({job:?}, if RUNNING and owner {owner} and fence {fence})")
        }
        StoreRequest::Sql(..) | StoreRequest::DynamoDb(..) | StoreRequest::S3(..) | StoreRequest::Contest(..) => {
            String::new()
        }
    }
}

fn with(token: Token) -> String {
    if token == NO_TOKEN { String::new() } else { format!(", token {token}") }
}

pub(super) fn answer(reply: &StoreReply) -> Answer {
    match reply {
        StoreReply::Row(row) => Answer::yes(told(row)),
        StoreReply::Fence(fence) => Answer::yes(format!("fence {fence}")),
        StoreReply::Refused(fence) => Answer::no(format!("refused: fence {fence}")),
        StoreReply::Claims(claims) => {
            let claims: Vec<String> = claims
                .iter()
                .map(|claim| format!("{}: owner {}, fence {}", job_name(claim.job), claim.owner, claim.fence))
                .collect();
            Answer::yes(if claims.is_empty() { "nothing is claimed".into() } else { claims.join("\n") })
        }
        StoreReply::Queued(None) => Answer::yes("none"),
        StoreReply::Queued(Some(job)) => Answer::yes(job_name(*job)),
        _ => Answer::yes("accepted"),
    }
}

fn told(row: &Row) -> String {
    let owner = row.owner_token.map_or("nobody".into(), |token| token.to_string());
    let chunks: Vec<String> = row.chunks.iter().map(|(chunk, tokens)| format!("{chunk} by {}", list(tokens))).collect();
    let chunks = if chunks.is_empty() { "none".into() } else { chunks.join(", ") };
    format!("{}, fence {}, owner {owner}, chunks: {chunks}", row.state, row.fence)
}

fn list(tokens: &[Token]) -> String {
    tokens.iter().map(Token::to_string).collect::<Vec<String>>().join(" and ")
}
