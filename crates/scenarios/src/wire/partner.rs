//! HTTP as a partner outside might read it.

use lease_lab_sim::message::{PartnerCall, PartnerReply};

use super::{Answer, job_name};

pub(super) fn request(call: PartnerCall) -> String {
    let PartnerCall { job, chunk, keyed } = call;
    let job = job_name(job);
    // The same for whoever calls: no token, no attempt, no worker.
    let key = if keyed { format!("\nIdempotency-Key: {job}/chunk-{chunk:02}") } else { String::new() };
    format!(
        "POST /v1/notices HTTP/1.1\nHost: partner.example{key}\nContent-Type: application/json\n\n{{\"job\": \"{job}\", \
         \"chunk\": {chunk}, \"customers\": […]}}"
    )
}

pub(super) fn answer(reply: PartnerReply) -> Answer {
    Answer::yes(match reply.known {
        true => "HTTP/1.1 200 OK\nIdempotent-Replayed: true",
        false => "HTTP/1.1 200 OK",
    })
}
