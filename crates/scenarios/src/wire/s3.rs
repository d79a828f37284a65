//! HTTP as S3 reads it; ETags are written as the labels that the course gives them.

use lease_lab_sim::machine::JobId;
use lease_lab_sim::message::StoreReply;
use lease_lab_sim::store::s3::{Manifest, Reply, Request, object_key};

use super::{Answer, job_name};

const HOST: &str = "Host: invoices.s3.eu-central-1.amazonaws.com";

pub(super) fn request(job: JobId, request: &Request) -> String {
    let folder = folder(job);
    match request {
        Request::GetManifest => format!("GET /{folder}/manifest.json HTTP/1.1\n{HOST}"),
        Request::PutObject { chunk, token } => format!(
            "PUT /{folder}/{} HTTP/1.1\n{HOST}\nIf-None-Match: *\n\n… the chunk’s invoices …",
            object_key(*chunk, *token)
        ),
        Request::PutManifest(put) => {
            let condition = put.if_match.map_or(String::new(), |etag| format!("\nIf-Match: \"E{etag}\""));
            format!(
                "PUT /{folder}/manifest.json HTTP/1.1\n{HOST}{condition}\nContent-Type: application/json\n\n{}",
                json(&put.manifest)
            )
        }
    }
}

fn folder(job: JobId) -> String {
    job_name(job).replace(':', "-")
}

pub(super) fn answer(reply: &StoreReply) -> Answer {
    let StoreReply::S3(reply, ..) = reply else { return Answer::yes("") };
    match reply {
        Reply::Manifest(etag, manifest) => Answer::yes(format!(
            "HTTP/1.1 200 OK\nETag: \"E{etag}\"\nContent-Type: application/json\n\n{}",
            json(manifest)
        )),
        Reply::Rewritten(etag) => Answer::yes(format!("HTTP/1.1 200 OK\nETag: \"E{etag}\"")),
        Reply::Stored => Answer::yes("HTTP/1.1 200 OK"),
        Reply::PreconditionFailed => Answer::no(
            "HTTP/1.1 412 Precondition Failed\nContent-Type: application/xml\n\n<Error>\n  \
             <Code>PreconditionFailed</Code>\n  <Message>At least one of the pre-conditions you specified did not \
             hold</Message>\n</Error>",
        ),
        Reply::Conflict => Answer::no(
            "HTTP/1.1 409 Conflict\nContent-Type: application/xml\n\n<Error>\n  \
             <Code>ConditionalRequestConflict</Code>\n  <Message>The conditional request cannot succeed due to a \
             conflicting operation against this resource.</Message>\n</Error>",
        ),
    }
}

fn json(manifest: &Manifest) -> String {
    let null = || "null".to_owned();
    let owner = manifest.owner.map_or_else(null, |token| token.to_string());
    let since = manifest.claimed_since.map_or_else(null, |wall| wall.to_string());
    let chunks: Vec<String> = manifest
        .chunks
        .iter()
        .map(|(chunk, token)| format!("\n    \"{chunk}\": \"{}\"", object_key(*chunk, *token)))
        .collect();
    let chunks = if chunks.is_empty() { "{}".into() } else { format!("{{{}\n  }}", chunks.join(",")) };
    format!(
        "{{\n  \"state\": \"{}\",\n  \"token\": {},\n  \"owner\": {owner},\n  \"claimed_since\": {since},\n  \
         \"chunks\": {chunks}\n}}",
        manifest.state, manifest.token
    )
}
