//! Eleven questions to ask of a system that uses leases.

/// A question, and where a wrong answer hurts.
#[derive(Debug)]
pub struct Question {
    /// The question, to be answered with yes.
    pub text: &'static str,
    /// Why it matters, in one sentence.
    pub reason: &'static str,
    /// The lab that shows what happens if the answer is no.
    pub lab: &'static str,
}

const fn question(text: &'static str, reason: &'static str, lab: &'static str) -> Question {
    Question { text, reason, lab }
}

/// The questions, in the order of the course.
pub static ALL: [Question; 11] = [
    question(
        "Does every write carry the token, and does the store compare it in the same step as it writes?",
        "A token that nobody compares, or that is compared a moment before the write, lets a zombie through.",
        "fence-rules",
    ),
    question(
        "Does a new holder raise the fence before it reads anything?",
        "Between a read and a later raise the old holder can still write, and the new one goes on from a stale row.",
        "raise-first",
    ),
    question(
        "Are all durations measured on a monotonic clock?",
        "A wall clock that is set back makes a holder act long after the service has given its lease to another.",
        "wall-step",
    ),
    question(
        "Where a time that one machine wrote is compared with the clock of another, is there a margin?",
        "A claimant whose clock is fast takes a lease over while its holder still may act.",
        "claim-rules",
    ),
    question(
        "Does an alarm go off while clock offsets are still smaller than that margin?",
        "A margin protects only as long as the clocks stay within it, and nobody sees an offset grow.",
        "margin",
    ),
    question(
        "Can the counter behind the token never go backwards, by a restore, a failover or a deleted item?",
        "After a step back the next holder gets a token that the store has seen already, and the fence cannot tell \
         the two apart.",
        "restore",
    ),
    question(
        "Can every claim be found by an index, and is it written in the same step as the raise?",
        "A claim that no index lists is an orphan that nobody will ever find once its holder is dead.",
        "orphan",
    ),
    question(
        "Does the sweeper write only if owner and fence are as it saw them, and does it stay calm when many leases \
         expire at once?",
        "Without the condition it undoes a takeover, and without limits it re-queues a thousand healthy jobs after one \
         outage.",
        "storm",
    ),
    question(
        "Are side effects outside the store idempotent?",
        "No fence stands before an e-mail, a payment or a webhook, so the zombie’s late call is carried out.",
        "side-effects",
    ),
    question(
        "Do the heartbeats come from the application itself?",
        "A helper process renews for an application that has long been frozen, and the lease never expires.",
        "sidecar",
    ),
    question(
        "Is there one linearizable authority, across failovers and Regions too?",
        "Two servers that each may grant from what they know will sooner or later both grant.",
        "cache-failover",
    ),
];
