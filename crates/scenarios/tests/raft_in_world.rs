//! The lock service inside whole runs: Raft's promises, and what a node that is cut off can still do.

mod common;
#[path = "../../sim/tests/raft_rules/mod.rs"]
mod raft_rules;

use std::collections::BTreeMap;

use common::*;
use lease_lab_sim::consensus::Node;
use lease_lab_sim::event::Kind;
use lease_lab_sim::invariants::Invariant;
use lease_lab_sim::machine::{NodeId, WorkerId};
use lease_lab_sim::time::{Mono, TrueTime};
use lease_lab_sim::world::{Life, World};
use proptest::prelude::*;
use raft_rules::RaftRules;

/// A node of three that reaches neither of the others.
#[derive(Clone, Copy)]
struct CutOff {
    /// Its own clock at the cut.
    since: Mono,
    /// The end of what another node had of its log at the cut: more it can never learn to be committed.
    shared: u64,
}

fn is_cut_off(world: &World, id: NodeId) -> bool {
    world.nodes().all(|(other, _)| other == id || world.network().is_cut(id.into(), other.into()))
}

fn shared_length(world: &World, id: NodeId, node: &Node) -> u64 {
    if matches!(world.life(id.into()), Some(Life::Frozen { .. })) {
        // Messages that reached it before the cut still wait for it.
        return u64::MAX;
    }
    let shared_with =
        |other: &Node| node.entries().iter().zip(other.entries()).take_while(|(a, b)| a == b).count() as u64;
    world.nodes().filter(|(other, _)| *other != id).map(|(_, other)| shared_with(other)).max().unwrap_or(0)
}

proptest! {
    #![proptest_config(cases_count(1_500))]

    #[test]
    fn raft_keeps_its_promises(case in any_cases()) {
        let mut rules = RaftRules::default();
        case.watch(|world, _| {
            let nodes: Vec<(NodeId, &Node)> = world.nodes().collect();
            rules.check(&nodes).map_err(TestCaseError::fail)
        })?;
        prop_assert!(rules.committed() >= 6, "what was there at the start stays");
    }

    /// Alone it commits nothing that no other node has; and as soon as a successor is possible, it renews nothing and
    /// tells clients nothing but that it does not lead.
    #[test]
    fn a_node_that_is_cut_off_does_not_go_on_as_leader(case in any_cases()) {
        let mut cut_off: BTreeMap<NodeId, CutOff> = BTreeMap::new();
        case.watch(|world, events| {
            for (id, node) in world.nodes() {
                if !is_cut_off(world, id) {
                    cut_off.remove(&id);
                    continue;
                }
                let reading = world.reading(id.into(), world.now()).expect("every node has a clock");
                let now = reading.mono;
                let cut = *cut_off
                    .entry(id)
                    .or_insert_with(|| CutOff { since: now, shared: shared_length(world, id, node) });
                prop_assert!(node.commit_index() <= cut.shared, "{} commits alone at {}", id, world.now());
                let timeout = world.plan().cluster.election_timeout_min();
                for event in events.iter().filter(|event| event.machine == id.into() && now - cut.since >= timeout) {
                    match &event.kind {
                        Kind::LeaseRenewed { .. } => {
                            prop_assert!(false, "{} renews at {}", id, event.t);
                        }
                        Kind::MessageSent { to, what, .. } if to.node().is_none() => {
                            prop_assert!(what.starts_with("not the leader"), "{} says “{}” at {}", id, what, event.t);
                        }
                        _ => {}
                    }
                }
            }
            Ok(())
        })?;
    }
}

/// The same with round numbers: the last heartbeat that n2 or n3 answered was sent at 4.8.
#[test]
fn a_leader_without_a_majority_renews_for_one_election_timeout() {
    let run = plain_with("0 renew 0.5; 5 partition n1,A | n2,n3,B");
    let by_n1 = run.events.iter().filter(|event| event.machine == NodeId(1).into());
    let renewals: Vec<f64> =
        by_n1.filter(|event| event.kind.name() == "lease-renewed").map(|event| event.t.as_seconds()).collect();
    let last = *renewals.last().expect("A renews");
    assert!(last > 6.4 && last < 4.8 + 2.292, "{renewals:?}");
    assert!(times_of(&run, "lease-expired", Some(WorkerId::A)).iter().all(|t| *t > 16.0), "n2 starts the lease anew");
    assert_eq!(verdict(&run, Invariant::OneActingHolder), "holds");
}

/// What waits for a frozen leader tells when its heartbeat was sent, not when the leader came to read the answers.
#[test]
fn a_leader_that_wakes_up_counts_from_when_it_sent() {
    let run = plain_with("5.801 pause n1 3; 5.9 partition n1,A | n2,n3,B");
    let frozen = TrueTime::from_millis(5_801);
    let by_n1 = run.events.iter().filter(|event| event.machine == NodeId(1).into() && event.t > frozen);
    let kinds: Vec<&str> = by_n1.map(|event| event.kind.name()).collect();
    assert!(kinds.contains(&"resumed") && kinds.contains(&"stepped-down"), "{kinds:?}");
    assert!(!kinds.contains(&"lease-renewed"), "{kinds:?}");
}

/// A successor has A's grant in its log, but knows only after its own first commit that it is committed.
#[test]
fn a_new_leader_answers_nobody_before_its_first_commit() {
    // D's question comes a moment before, during and after the election.
    for millis in 2_220..2_320 {
        let run = plain_with(&format!("0.016 crash leader; {} acquire D", f64::from(millis) / 1_000.0));
        assert!(times_of(&run, "leader-elected", None)[0] < 2.32);
        let denied = run.events.iter().find(|event| {
            matches!(&event.kind, Kind::MessageSent { what, .. } if what == "nobody holds it")
                && (1.0..5.0).contains(&event.t.as_seconds())
        });
        assert_eq!(denied, None, "D asks at {millis} ms");
    }
}

/// A node that hears its leader helps nobody to depose it.
#[test]
fn a_leader_that_one_node_does_not_hear_stays() {
    let run = plain_with("6 partition n1 | n2; 20 heal");
    assert_eq!(times_of(&run, "leader-elected", None), [0.0; 0]);
    assert_eq!(times_of(&run, "stepped-down", None), [0.0; 0]);
    assert_eq!(verdict(&run, Invariant::JobFinishes), "holds");
}

/// Before n3 crashed it may have answered n1, which still counts on that; so n3 votes for nobody at once, not even for
/// an n2 whose clock runs fast.
#[test]
fn a_restarted_node_deposes_nobody_at_once() {
    let run = plain_with("0 rate n2 2; 5 partition n1,A | n2,n3,B; 5.1 crash n3; 5.1 restart n3");
    let elected = times_of(&run, "leader-elected", None)[0];
    assert!(elected > 5.1 + 2.292, "elected at {elected}");
}

/// The leader is frozen while the deadline passes, and reads the renewal first when it wakes up.
#[test]
fn a_lease_that_has_run_out_is_not_revived() {
    let run = plain_with("0 margin 0; 0 renew 9.95; 9.9 pause n1 0.6");
    assert_eq!(times_of(&run, "lease-renewed", Some(WorkerId::A)), [0.0; 0]);
    assert!(!times_of(&run, "renewal-refused", Some(WorkerId::A)).is_empty());
    assert_near(&times_of(&run, "lease-expired", Some(WorkerId::A)), &[10.5], "the lease expires");
}
