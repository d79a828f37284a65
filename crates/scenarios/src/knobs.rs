//! The settings that only some scenarios have: `0 set KEY VALUE`.
//!
//! They are chosen before a run begins and change its plan.

use lease_lab_sim::settings::{Cluster, Fsync, Plan, ReleaseRule, Renewer, TokenFrom};
use lease_lab_sim::time::Span;

/// How many nodes the consensus lock service has.
pub static NODES: Knob = Knob {
    key: "nodes",
    name: "Nodes of the lock service",
    takes: Takes::Choice(&[
        Choice { value: "3", means: "two are a majority", apply: |plan| set_nodes(plan, 3) },
        Choice { value: "5", means: "three are a majority", apply: |plan| set_nodes(plan, 5) },
        Choice { value: "7", means: "four are a majority", apply: |plan| set_nodes(plan, 7) },
    ]),
};

fn set_nodes(plan: &mut Plan, nodes: usize) {
    let timeouts = Cluster::of_size(nodes).election_timeouts;
    plan.cluster.election_timeouts = timeouts;
}

/// How often a lease’s remaining time goes into the log.
pub static CHECKPOINT: Knob = Knob {
    key: "checkpoint",
    name: "Lease checkpoints",
    takes: Takes::Choice(&[
        Choice { value: "off", means: "never", apply: |plan| plan.lock_rules.checkpoint = None },
        Choice { value: "1", means: "every second", apply: |plan| checkpoint_every(plan, 1) },
        Choice { value: "2", means: "every 2 s", apply: |plan| checkpoint_every(plan, 2) },
        Choice { value: "5", means: "every 5 s", apply: |plan| checkpoint_every(plan, 5) },
    ]),
};

fn checkpoint_every(plan: &mut Plan, seconds: i64) {
    plan.lock_rules.checkpoint = Some(Span::seconds(seconds));
}

/// For how long nobody gets a lock whose holder’s lease ran out.
pub static LOCK_DELAY: Knob = Knob {
    key: "lock-delay",
    name: "Lock-delay",
    takes: Takes::Seconds {
        from: Span::ZERO,
        to: Span::seconds(60),
        apply: |plan, delay| plan.lock_rules.lock_delay = delay,
    },
};

/// What a release deletes.
pub static RELEASE: Knob = Knob {
    key: "release",
    name: "A release deletes",
    takes: Takes::Choice(&[
        Choice {
            value: "conditional",
            means: "only what is the sender’s own",
            apply: |plan| plan.lock_rules.release = ReleaseRule::Conditional,
        },
        Choice {
            value: "unconditional",
            means: "the key, whosever it is",
            apply: |plan| plan.lock_rules.release = ReleaseRule::Unconditional,
        },
    ]),
};

/// Who keeps a lease alive.
pub static RENEWER: Knob = Knob {
    key: "renewer",
    name: "Who renews",
    takes: Takes::Choice(&[
        Choice { value: "app", means: "the worker itself", apply: |plan| plan.lock_rules.renewer = Renewer::App },
        Choice {
            value: "sidecar",
            means: "a second process beside it",
            apply: |plan| plan.lock_rules.renewer = Renewer::Sidecar,
        },
    ]),
};

/// How long a sync of a lock node’s disk takes.
pub static FSYNC: Knob = Knob {
    key: "fsync",
    name: "A sync to the disk, in ms",
    takes: Takes::Count { from: 3, to: 1_500, apply: |plan, ms| plan.cluster.fsync = Span::millis(ms.into()) },
};

/// A setting of some scenarios.
#[derive(Debug)]
pub struct Knob {
    /// The key in the grammar.
    pub key: &'static str,
    /// What it is called.
    pub name: &'static str,
    /// Which values it takes.
    pub takes: Takes,
}

/// The values of a knob, and what they do.
#[derive(Debug)]
pub enum Takes {
    /// One of these words.
    Choice(&'static [Choice]),
    /// Seconds, decimals allowed.
    Seconds {
        /// The least.
        from: Span,
        /// The most.
        to: Span,
        /// What it does.
        apply: fn(&mut Plan, Span),
    },
    /// A whole number.
    Count {
        /// The least.
        from: u32,
        /// The most.
        to: u32,
        /// What it does.
        apply: fn(&mut Plan, u32),
    },
}

/// One of a knob's words.
#[derive(Debug)]
pub struct Choice {
    /// The word.
    pub value: &'static str,
    /// What it means, in a few words.
    pub means: &'static str,
    /// What it does.
    pub apply: fn(&mut Plan),
}

impl Knob {
    /// Changes `plan`.
    ///
    /// # Errors
    /// When it does not take `value`: says what was expected.
    pub fn apply(&self, plan: &mut Plan, value: &str) -> Result<(), String> {
        match &self.takes {
            Takes::Choice(choices) => match choices.iter().find(|choice| choice.value == value) {
                Some(choice) => (choice.apply)(plan),
                None => return Err(self.expected()),
            },
            Takes::Seconds { from, to, apply } => {
                let span = read_seconds(value).filter(|span| (*from..=*to).contains(span));
                apply(plan, span.ok_or_else(|| self.expected())?);
            }
            Takes::Count { from, to, apply } => {
                let digits = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
                let count = value.parse().ok().filter(|count| digits && (*from..=*to).contains(count));
                apply(plan, count.ok_or_else(|| self.expected())?);
            }
        }
        Ok(())
    }

    /// The values that it takes, in words.
    pub fn expected(&self) -> String {
        match &self.takes {
            Takes::Choice(choices) => {
                let words: Vec<&str> = choices.iter().map(|choice| choice.value).collect();
                words.join(" or ")
            }
            Takes::Seconds { from, to, .. } => format!("{from} to {to} seconds"),
            Takes::Count { from, to, .. } => format!("a whole number from {from} to {to}"),
        }
    }
}

/// Reads seconds as the grammar does.
fn read_seconds(text: &str) -> Option<Span> {
    let read = lease_lab_sim::intervention::parse_one(&format!("{text} heal")).ok()?;
    Some(Span::micros(read.at.as_micros()))
}

/// When Redis servers sync what they have changed.
pub static REDIS_FSYNC: Knob = Knob {
    key: "fsync",
    name: "When a Redis server brings what it has changed to its disk",
    takes: Takes::Choice(&[
        Choice { value: "always", means: "before it answers", apply: |plan| plan.redis.fsync = Fsync::Always },
        Choice { value: "everysec", means: "once a second", apply: |plan| plan.redis.fsync = Fsync::EverySecond },
        Choice { value: "no", means: "every 30 s, with the system", apply: |plan| plan.redis.fsync = Fsync::No },
    ]),
};

/// The replication lag.
pub static LAG: Knob = Knob {
    key: "lag",
    name: "How long a command waits in the primary before it is shipped to the replica",
    takes: Takes::Seconds { from: Span::ZERO, to: Span::seconds(5), apply: |plan, span| plan.redis.lag = span },
};

/// When the replica is promoted.
pub static PROMOTION: Knob = Knob {
    key: "promotion",
    name: "How long the primary must be silent before the replica is promoted",
    takes: Takes::Seconds {
        from: Span::millis(500),
        to: Span::seconds(30),
        apply: |plan, span| plan.redis.promotion_after = span,
    },
};

/// WAIT.
pub static WAIT: Knob = Knob {
    key: "wait",
    name: "How many replicas must have acknowledged a new lock before its holder counts on it (WAIT)",
    takes: Takes::Count { from: 0, to: 1, apply: |plan, count| plan.redis.wait_for = count as u8 },
};

/// How long a Redlock client waits for a master.
pub static NODE_TIMEOUT: Knob = Knob {
    key: "node-timeout",
    name: "How long a client waits for a master",
    takes: Takes::Seconds {
        from: Span::millis(5),
        to: Span::seconds(1),
        apply: |plan, span| plan.redlock.node_timeout = span,
    },
};

/// Where a Redlock holder’s token comes from.
pub static TOKEN: Knob = Knob {
    key: "token",
    name: "Where a holder gets its token",
    takes: Takes::Choice(&[
        Choice { value: "none", means: "nowhere", apply: |plan| plan.redlock.token = TokenFrom::Nowhere },
        Choice {
            value: "consensus",
            means: "from a put into a replicated log",
            apply: |plan| plan.redlock.token = TokenFrom::Consensus,
        },
    ]),
};
