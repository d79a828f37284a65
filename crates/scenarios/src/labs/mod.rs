//! Every lab: one file each, in the order of the parts.
//!
//! To add one, copy a file, give it an id, and add it here.

#![cfg_attr(not(feature = "labs"), allow(dead_code, reason = "the first screen has the story alone"))]

mod acquire;
mod billing_story;
mod cache_failover;
mod claim_rules;
mod election;
mod election_systems;
mod equal_terms;
mod failover;
mod fence_dynamodb;
mod fence_rules;
mod fence_s3;
mod fence_sql;
mod fences_elsewhere;
mod handover;
mod herd;
mod hot_fence;
mod how_much;
mod layers;
mod lease_item;
mod lock_lease_fence;
mod margin;
mod minority;
mod no_lock;
mod not_this_lease;
mod one_database;
mod orphan;
mod raise_first;
mod recap;
mod redlock;
mod redlock_clock;
mod redlock_fenced;
mod redlock_restart;
mod release;
mod renew;
mod restore;
mod side_effects;
mod sidecar;
mod storm;
mod sweeper;
mod takeover;
mod three_ways;
mod ttl_trap;
mod two_clocks;
mod wall_step;
mod what_is_where;
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
    &lock_lease_fence::SCENARIO,
    &not_this_lease::SCENARIO,
    // Part 2: acquire, renew, release
    &acquire::SCENARIO,
    &renew::SCENARIO,
    &release::SCENARIO,
    &what_is_where::SCENARIO,
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
    &fences_elsewhere::SCENARIO,
    &side_effects::SCENARIO,
    // Part 5: conditional writes
    &fence_dynamodb::SCENARIO,
    &fence_sql::SCENARIO,
    &hot_fence::SCENARIO,
    &lease_item::SCENARIO,
    &claim_rules::SCENARIO,
    &ttl_trap::SCENARIO,
    // Part 6: crashes and orphans
    &orphan::SCENARIO,
    &sweeper::SCENARIO,
    &takeover::SCENARIO,
    &storm::SCENARIO,
    // Part 7: elections and single writers
    &election::SCENARIO,
    &herd::SCENARIO,
    &election_systems::SCENARIO,
    &handover::SCENARIO,
    // Part 8: the lock service fails
    &failover::SCENARIO,
    &minority::SCENARIO,
    &cache_failover::SCENARIO,
    &redlock::SCENARIO,
    &redlock_clock::SCENARIO,
    &redlock_restart::SCENARIO,
    &redlock_fenced::SCENARIO,
    &restore::SCENARIO,
    // Part 9: do you need a lock?
    &one_database::SCENARIO,
    &no_lock::SCENARIO,
    &three_ways::SCENARIO,
    &equal_terms::SCENARIO,
    &how_much::SCENARIO,
    // Part 10: from your code to the disk
    &layers::SCENARIO,
    &sidecar::SCENARIO,
    // Part 11: on AWS
    // Part 12: what you have learned
    &recap::SCENARIO,
];
