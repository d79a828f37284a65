//! Session locks as PostgreSQL has them: advisory locks, and sessions that end when they are silent for too long.

use lease_lab_sim::machine::JobId;
use lease_lab_sim::store::sessions::{SessionReply, SessionRequest};

use super::{Answer, job_name};

pub(super) fn request(job: JobId, request: &SessionRequest) -> String {
    match request {
        SessionRequest::TryLock(_, silence) => format!(
            "-- a new connection\nSET idle_session_timeout = '{silence}s';\nSELECT pg_try_advisory_lock(hashtext('{}'));",
            job_name(job)
        ),
        SessionRequest::KeepAlive(..) => "SELECT 1;".into(),
        SessionRequest::Close(_) => "-- the connection is closed".into(),
        SessionRequest::Holders(_) => "SELECT pid, objid FROM pg_locks WHERE locktype = 'advisory';".into(),
    }
}

pub(super) fn answer(request: &SessionRequest, reply: &SessionReply) -> Answer {
    match (request, reply) {
        (_, SessionReply::Locked) => Answer::yes("pg_try_advisory_lock: t"),
        (_, SessionReply::Busy(_)) => Answer::no("pg_try_advisory_lock: f"),
        (_, SessionReply::Alive) => Answer::yes("1 row"),
        (_, SessionReply::Holders(holders)) => Answer::yes(format!("{} rows", holders.len())),
        (SessionRequest::Close(_), SessionReply::Ended) => Answer::yes("closed"),
        (_, SessionReply::Ended) => Answer::no("FATAL 57P05: terminating connection due to idle-session timeout"),
    }
}
