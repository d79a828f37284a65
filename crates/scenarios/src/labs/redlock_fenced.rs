//! Redlock with a token from a replicated log, and a store that checks it.

use lease_lab_sim::machine::WorkerId;
use lease_lab_sim::settings::{Plan, Redlock, TokenFrom};

use crate::Run;
use crate::knobs::{REDIS_FSYNC, TOKEN};
use crate::measures::{Measure, Value};
use crate::scenario::{Scenario, Variant};
use crate::trace;

pub(super) static SCENARIO: Scenario = Scenario {
    id: "redlock-fenced",
    part: 8,
    name: "Redlock with a fence",
    title: "Two holders again, but the store can tell which is the newer one",
    lede: "The same two failures, with one thing added: after it has the lock, a worker puts a line into a replicated \
           log and takes the revision of that put as its token. The store checks it. The lock fails as before; the \
           data do not.",
    notice: &[
        "A and B both hold the lock, as before. B’s token is the higher one, B raises the fence with it, and A’s \
         chunk is refused: no customer is charged twice.",
        "A lock for efficiency saves work: if two run at once, some of it is wasted. Redlock, or a single Redis, may \
         be enough for that. A lock for correctness protects data: it needs a number that grows with every holder \
         and a store that compares it.",
        "The number cannot come from the five masters, which have no common counter. It comes from a service that \
         could have granted the lock as well, so that for correctness the five masters add little.",
    ],
    plan,
    faults: "0 drop A r4; 0 drop A r5; 4 step-wall r3 10",
    knobs: &[&TOKEN, &REDIS_FSYNC],
    variants: &[
        Variant::adding("Without a token", "0 set token none"),
        Variant::instead("A master forgets instead", "0 drop A r4; 0 drop A r5; 4 crash r3; 4.2 restart r3 empty"),
        Variant::instead(
            "A master forgets, and there is no token",
            "0 set token none; 0 drop A r4; 0 drop A r5; 4 crash r3; 4.2 restart r3 empty",
        ),
        Variant::adding("With tokens, but the store does not check", "0 fence off"),
    ],
    measures,
    window: (0, 8),
    ..Scenario::BASE
};

fn plan() -> Plan {
    Plan {
        redlock: Redlock { token: TokenFrom::Consensus, ..Redlock::default() },
        tenant_commits_before: 6,
        ..super::redlock_clock::plan()
    }
}

fn measures(run: &Run) -> Vec<Measure> {
    let token = |worker| trace::token_of(run, worker).filter(|token| *token > 0);
    let refused = trace::writes(run).find(|write| !write.accepted);
    let mut measures = vec![
        Measure::new("token-a", "A’s token", token(WorkerId::A).map(Value::Count), "the revision of A’s put"),
        Measure::new("token-b", "B’s token", token(WorkerId::B).map(Value::Count), "the revision of B’s put"),
        Measure::new(
            "refused",
            "The write that the store refuses",
            Some(Value::Text(
                refused.map_or("none".into(), |write| format!("{}’s chunk {}", write.worker, write.chunk)),
            )),
            refused.map_or(String::new(), |write| {
                format!("at {} s, token {} below fence {}", write.t.told(), write.token, write.fence)
            }),
        ),
    ];
    measures.extend(super::redlock_clock::measures(run));
    measures
}
