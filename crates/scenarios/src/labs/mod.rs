//! Every lab: one file each, in the order of the parts.
//!
//! To add one, copy a file, give it an id, and add it here.

#![cfg_attr(not(feature = "labs"), allow(dead_code, reason = "the first screen has the story alone"))]

mod billing_story;
mod claim_rules;
mod equal_terms;
mod fence_dynamodb;
mod fence_rules;
mod fence_s3;
mod fence_sql;
mod handover;
mod hot_fence;
mod lease_item;
mod margin;
mod no_lock;
mod raise_first;
mod recap;
mod side_effects;
mod storm;
mod sweeper;
mod takeover;
mod three_ways;
mod ttl_trap;
mod two_clocks;
mod wall_step;
mod whose_now;
mod zombie;

pub(crate) use equal_terms::SCENARIO as EQUAL_TERMS;

use crate::scenario::Scenario;

/// What the first screen needs.
#[cfg(not(feature = "labs"))]
pub(crate) static ALL: &[&Scenario] = &[&billing_story::SCENARIO];

/// Every lab, in the order in which they stand on the page.
#[cfg(feature = "labs")]
pub(crate) static ALL: &[&Scenario] = &[
    // Part 1: the model
    // Part 2: acquire, renew, release
    // Part 3: time
    &two_clocks::SCENARIO,
    &wall_step::SCENARIO,
    &margin::SCENARIO,
    &whose_now::SCENARIO,
    // Part 4: pause, zombie, fence
    &billing_story::SCENARIO,
    &zombie::SCENARIO,
    &fence_rules::SCENARIO,
    &raise_first::SCENARIO,
    &fence_s3::SCENARIO,
    &side_effects::SCENARIO,
    // Part 5: conditional writes
    &fence_dynamodb::SCENARIO,
    &fence_sql::SCENARIO,
    &hot_fence::SCENARIO,
    &lease_item::SCENARIO,
    &claim_rules::SCENARIO,
    &ttl_trap::SCENARIO,
    // Part 6: crashes and orphans
    &takeover::SCENARIO,
    &storm::SCENARIO,
    // Part 7: elections and single writers
    &handover::SCENARIO,
    // Part 8: the lock service fails
    // Part 9: do you need a lock?
    &no_lock::SCENARIO,
    &three_ways::SCENARIO,
    &equal_terms::SCENARIO,
    // Part 10: from your code to the disk
    // Part 11: on AWS
    // Part 12: what you have learned
    &recap::SCENARIO,
];
