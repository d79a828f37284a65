//! Ways to find one winner, as SQL; a broker's group protocol, in short (Apache Kafka names the requests so).

use lease_lab_sim::contest::{Reply, Request, Right};
use lease_lab_sim::machine::{JobId, MachineId};
use lease_lab_sim::message::StoreReply;

use super::{Answer, job_name};

pub(super) fn request(job: JobId, from: MachineId, request: Request) -> String {
    let job = job_name(job);
    match request {
        Request::InsertClaim => {
            format!("INSERT INTO claims (job, worker) VALUES ('{job}', '{from}')\n    ON CONFLICT (job) DO NOTHING;")
        }
        Request::SelectVersion => format!("SELECT state, version FROM jobs WHERE job = '{job}';"),
        Request::TakeVersion(version) => format!(
            "UPDATE jobs SET state = 'RUNNING', owner = '{from}', version = {}\n WHERE job = '{job}' AND version = \
             {version};",
            version + 1
        ),
        Request::SelectSkipLocked => {
            "BEGIN;\nSELECT job FROM jobs WHERE state = 'QUEUED'\n   FOR UPDATE SKIP LOCKED LIMIT 1;".into()
        }
        Request::Report => format!("Heartbeat (or JoinGroup)\n  group: billing, member: {from}"),
        Request::Record(right) => record(&job, from, right),
    }
}

fn record(job: &str, from: MachineId, right: Right) -> String {
    let done = |set: &str, and: &str| format!("UPDATE jobs SET state = 'DONE'{set} WHERE job = '{job}'{and};");
    let results = format!("INSERT INTO results (job, worker) VALUES ('{job}', '{from}');\n");
    match right {
        Right::Key => format!(
            "BEGIN;\n{}\n-- 1 row: go on; 0 rows: ROLLBACK\n{results}COMMIT;",
            done("", &format!("\n   AND EXISTS (SELECT FROM claims c WHERE c.job = jobs.job AND c.worker = '{from}')"))
        ),
        Right::Version(version) => format!(
            "BEGIN;\n{}\n-- 1 row: go on; 0 rows: ROLLBACK\n{results}COMMIT;",
            done(&format!(", version = {}", version + 1), &format!(" AND version = {version}"))
        ),
        Right::Session => format!("{}\n{results}COMMIT;", done("", "")),
        Right::Generation(generation) => {
            format!("OffsetCommit\n  group: billing, member: {from}, generation: {generation}")
        }
    }
}

pub(super) fn answer(request: Request, reply: &StoreReply) -> Answer {
    let StoreReply::Contest(reply, ..) = reply else { return Answer::yes("") };
    let partition = matches!(request, Request::Report | Request::Record(Right::Generation(_)));
    match *reply {
        Reply::Won(Right::Generation(generation)) => {
            Answer::yes(format!("generation {generation}, assigned: partition 0"))
        }
        Reply::Won(_) if request == Request::InsertClaim => Answer::yes("INSERT 0 1"),
        Reply::Won(Right::Session) => Answer::yes("BEGIN\n(1 row)"),
        Reply::Won(_) => Answer::yes("UPDATE 1"),
        Reply::Lost(_) if partition => Answer::no("no partition is assigned"),
        Reply::Lost(_) => Answer::no(match request {
            Request::InsertClaim => "INSERT 0 0",
            Request::TakeVersion(_) => "UPDATE 0",
            Request::SelectSkipLocked => "BEGIN\n(0 rows)",
            _ => "RUNNING",
        }),
        Reply::Version(version) => Answer::yes(format!("QUEUED | {version}")),
        Reply::NothingToDo if partition => Answer::yes("no message is left"),
        Reply::NothingToDo => Answer::yes("the job is DONE"),
        Reply::Recorded if partition => Answer::yes("committed"),
        Reply::Recorded => Answer::yes("UPDATE 1\nINSERT 0 1\nCOMMIT"),
        Reply::Refused if partition => Answer::no("ILLEGAL_GENERATION"),
        Reply::Refused => Answer::no("UPDATE 0\nROLLBACK"),
    }
}
