//! One page to print: the rules, the formulas, which state lives where, and which store compares what.

/// The card.
#[derive(Debug)]
pub struct Card {
    /// What always holds, one sentence each.
    pub rules: &'static [&'static str],
    /// How to work out the numbers.
    pub formulas: &'static [Formula],
    /// Which state lives where.
    pub places: &'static [Place],
    /// Which store compares what; the table `compare` says more, with sources.
    pub stores: &'static [Comparison],
}

/// A formula with the numbers of the course.
#[derive(Debug)]
pub struct Formula {
    /// What it gives.
    pub name: &'static str,
    /// How it is worked out.
    pub formula: &'static str,
    /// The same with numbers, and the result after the last equals sign.
    pub example: &'static str,
}

/// A place where state is kept.
#[derive(Debug)]
pub struct Place {
    /// The place.
    pub name: &'static str,
    /// What is kept there.
    pub state: &'static str,
    /// What becomes of it when its machine dies.
    pub when_lost: &'static str,
}

/// What a store can compare.
#[derive(Debug)]
pub struct Comparison {
    /// The store.
    pub store: &'static str,
    /// The condition that makes the fence.
    pub condition: &'static str,
    /// How it says no.
    pub refusal: &'static str,
}

const fn formula(name: &'static str, formula: &'static str, example: &'static str) -> Formula {
    Formula { name, formula, example }
}

const fn place(name: &'static str, state: &'static str, when_lost: &'static str) -> Place {
    Place { name, state, when_lost }
}

const fn comparison(store: &'static str, condition: &'static str, refusal: &'static str) -> Comparison {
    Comparison { store, condition, refusal }
}

/// The card of this course.
pub static CARD: Card = Card {
    rules: &[
        "Act only before your own stop time, and check it before every action.",
        "Let the resource refuse every token that is lower than the highest it has seen, in the step that writes.",
        "As a new holder, raise the fence before you read or write.",
        "Count your stop time from before you sent, on a monotonic clock.",
        "Release only what is yours: compare, then delete, in one step.",
        "A claim and its raise are one write; a sweeper’s write requires owner and fence as it saw them.",
        "A token never goes backwards: after a restore, jump far ahead before the first grant.",
        "Give every side effect outside the store an idempotency key.",
        "Take several leases in one order that is the same for everybody.",
    ],
    formulas: &[
        formula("Stop time", "last successful request sent + T − margin", "3 s + 10 s − 2 s = 11 s"),
        formula(
            "Earliest takeover, judged by the service",
            "last renewal that the service applied + T",
            "3 s + 10 s = 13 s",
        ),
        formula(
            "Earliest claim, judged by a claimant’s wall clock",
            "lease_until + margin for the clocks",
            "13 s + 5 s = 18 s",
        ),
        formula(
            "Earliest claim, judged by a claimant’s monotonic clock",
            "first sight of the current version + T",
            "3.5 s + 10 s = 13.5 s",
        ),
        formula(
            "Wait before another Region writes",
            "lease + margin, on the new writer’s monotonic clock",
            "10 s + 5 s = 15 s",
        ),
        formula("Keep-alive load", "holders ÷ interval", "10,000 ÷ 3 s = 3,333 a second"),
        formula("Majority", "half of the nodes, rounded down, + 1", "5 ÷ 2, rounded down, + 1 = 3"),
        formula("Node failures survived", "nodes − majority", "5 − 3 = 2"),
        formula(
            "DynamoDB transactions for a chunk",
            "(invoices + 1 mark) ÷ (100 actions − 1 check), rounded up",
            "5,001 ÷ 99, rounded up = 51",
        ),
        formula(
            "Checks a second on one fence item",
            "1,000 write units ÷ 2 units for a transactional action",
            "1,000 ÷ 2 = 500",
        ),
        formula("Redlock validity", "TTL − elapsed − (TTL × 0.01 + 2 ms)", "10,000 ms − 30 ms − 102 ms = 9,868 ms"),
        formula("Next token after a restore", "revision of the snapshot + bump + 1", "14 + 0 + 1 = 15"),
    ],
    places: &[
        place(
            "Log of the lock service, on a majority of disks",
            "the key, its holder, its lease and TTL, the revision",
            "survives: the other nodes have it",
        ),
        place(
            "Memory of the service’s leader",
            "the deadlines",
            "lost: the next leader starts every lease again at full length",
        ),
        place(
            "Memory of the holder",
            "its token, its stop time, what it believes",
            "lost: a new process is a stranger and waits like everybody",
        ),
        place(
            "Row in the store",
            "the fence, the state, owner and time of the claim, the chunks done",
            "survives, and with a dead owner it is an orphan",
        ),
        place("Sparse index of the store", "the claimed rows, and no others", "follows the rows"),
        place(
            "Memory of the sweeper",
            "what it saw at the first sighting",
            "lost: it starts again with a first sighting",
        ),
        place(
            "One Redis server",
            "the key, and its expiry as a time of day",
            "lost with the server, as far as it was not on a disk or a replica",
        ),
    ],
    stores: &[
        comparison("SQL", "UPDATE … WHERE fence <= :t, first in the transaction", "0 rows updated: roll back"),
        comparison(
            "DynamoDB",
            "ConditionExpression fence <= :t, or a ConditionCheck in the transaction",
            "ConditionalCheckFailedException, TransactionCanceledException",
        ),
        comparison(
            "S3",
            "If-Match on the manifest’s ETag; If-None-Match: * to create",
            "412 Precondition Failed; 409: another write was in progress, so read again and retry",
        ),
        comparison("etcd", "Compare on the key’s revision of creation, in the transaction", "succeeded = false"),
        comparison("Redis", "a script that compares; SET NX to create", "what the script returns; nil"),
        comparison("ZooKeeper", "the expected version of the fence node, in a multi", "BadVersion"),
    ],
};
