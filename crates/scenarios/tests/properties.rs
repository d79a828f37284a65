//! What holds whatever is done to a run.

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::*;
use lease_lab_scenarios::{Run, report};
use lease_lab_sim::event::Kind;
use lease_lab_sim::intervention::Change;
use lease_lab_sim::invariants::Invariant;
use lease_lab_sim::machine::WorkerId;
use lease_lab_sim::settings::{FenceMode, RaiseOrder};
use lease_lab_sim::time::TrueTime;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

proptest! {
    #![proptest_config(cases_count(3_000))]

    /// The point of the story: checked against the fence, raised first, no customer pays twice.
    #[test]
    fn the_fence_lets_no_customer_pay_twice(case in faulty_cases()) {
        let run = case.run();
        prop_assert_eq!(verdict(&run, Invariant::ChargedOnce), "holds");
        prop_assert_eq!(verdict(&run, Invariant::NoStaleWrite), "holds");
    }

    /// A token orders holders, not one holder's messages: the fence cannot know a second copy from a second write.
    #[test]
    fn late_and_doubled_messages_charge_twice_only_with_the_current_token(case in late_or_twice_cases()) {
        let mut fence_before = 0;
        let mut highest_written = 0;
        case.watch(|world, events| {
            for event in events {
                if let Kind::ChunkWritten { token, .. } = event.kind {
                    prop_assert!(!charges_again(&event.kind) || token == fence_before);
                }
                if let Kind::ChunkWritten { token, .. } | Kind::FenceRaised { token, .. } | Kind::JobDone { token, .. } =
                    event.kind
                {
                    prop_assert!(token >= highest_written, "{} is accepted after {}", token, highest_written);
                    highest_written = token;
                }
            }
            fence_before = world.store().and_then(|store| store.row()).map_or(0, |row| row.fence);
            Ok(())
        })?;
    }

    /// Neither faults nor settings touch what the lock service itself promises, and every run comes to an end.
    #[test]
    fn tokens_grow_and_only_owners_release_whatever_happens(case in any_cases()) {
        let run = case.run();
        prop_assert_eq!(verdict(&run, Invariant::TokensGrow), "holds");
        prop_assert_eq!(verdict(&run, Invariant::OnlyOwnerReleases), "holds");
        let numbers: Vec<u8> = run.beats.iter().copied().flatten().collect();
        let different: BTreeSet<u8> = numbers.iter().copied().collect();
        prop_assert_eq!(numbers.len(), different.len(), "a beat happens once at most: {:?}", numbers);
        prop_assert!(run.events.is_sorted_by_key(|event| event.t));
    }

    /// Stop times are enough for this as long as every clock measures a second as a second; wall clocks do not matter.
    #[test]
    fn with_true_clocks_one_worker_may_act(case in true_clock_cases()) {
        prop_assert_eq!(verdict(&case.run(), Invariant::OneActingHolder), "holds");
    }

    /// A process that has ended, or runs already, is not started once more by its place in the scenario.
    #[test]
    fn a_worker_starts_only_when_it_is_started(case in faulty_cases()) {
        let mut idle: BTreeSet<WorkerId> = WorkerId::ALL.into();
        for event in &case.run().events {
            let Some(worker) = event.machine.worker() else { continue };
            match event.kind {
                Kind::Started => prop_assert!(idle.remove(&worker), "{} starts twice, at {}", worker, event.t),
                Kind::Crashed { .. } | Kind::GaveUp { .. } | Kind::WorkerDone { .. } => {
                    idle.insert(worker);
                }
                _ => {}
            }
        }
    }

    /// No message vanishes: each is on its way, waits at a frozen machine, has arrived, or is lost for a reason.
    #[test]
    fn every_message_has_a_fate(case in late_or_twice_cases()) {
        let run = case.run();
        let mut copies: BTreeMap<u64, i32> = BTreeMap::new();
        for event in &run.events {
            match event.kind {
                Kind::MessageSent { id, .. } => {
                    copies.insert(id, 1);
                }
                // Heartbeats are not in the trace, but what an intervention does to one is.
                Kind::MessageDuplicated { id, .. } => *copies.entry(id).or_insert(i32::MIN / 2) += 1,
                Kind::MessageReceived { id, .. } | Kind::MessageLost { id, .. } => {
                    *copies.entry(id).or_insert(i32::MIN / 2) -= 1;
                }
                _ => {}
            }
        }
        let mut in_flight: BTreeMap<u64, i32> = BTreeMap::new();
        for envelope in run.end().in_flight() {
            *in_flight.entry(envelope.id).or_default() += 1;
        }
        copies.retain(|_, count| *count > i32::MIN / 4 && *count != 0);
        prop_assert_eq!(copies, in_flight);
    }

    /// A leader that has taken over, or replays its log, renews nothing by itself.
    #[test]
    fn a_renewal_answers_a_request(case in any_cases()) {
        let run = case.run();
        let mut asked: BTreeMap<WorkerId, usize> = BTreeMap::new();
        for event in &run.events {
            match &event.kind {
                Kind::MessageReceived { from, what, .. } if what == "keep alive" => {
                    if let Some(worker) = from.worker() {
                        *asked.entry(worker).or_default() += 1;
                    }
                }
                Kind::LeaseRenewed { worker, .. } => {
                    let open = asked.entry(*worker).or_default();
                    prop_assert!(*open > 0, "{} is renewed at {} without having asked", worker, event.t);
                    *open -= 1;
                }
                _ => {}
            }
        }
    }
}

proptest! {
    #![proptest_config(cases_count(1_000))]

    /// However odd the list, the run stays short.
    #[test]
    fn every_run_is_short(case in any_cases()) {
        let mut simulation = case.simulation();
        let mut steps = 0;
        let mut events = Vec::new();
        while simulation.next_time().is_some_and(|next| next <= TrueTime::from_millis(60_000)) {
            simulation.step(&mut events);
            events.clear();
            steps += 1;
            prop_assert!(steps < 200_000);
        }
    }
}

proptest! {
    #![proptest_config(cases_count(300))]

    #[test]
    fn the_same_input_gives_the_same_trace(case in any_cases()) {
        let (one, other) = (case.run(), case.run());
        prop_assert_eq!(&one.events, &other.events);
        prop_assert_eq!(one.end(), other.end());
        prop_assert_eq!(one.hash(), other.hash());
    }

    /// Looking back never depends on where one looked before, and shows what a run that stops there would show.
    #[test]
    fn scrubbing_shows_the_world_as_it_was(
        case in any_cases(),
        instants in prop::collection::vec(0..=61_000_000_i64, 1..12),
        of_events in prop::collection::vec(any::<Index>(), 1..6),
    ) {
        let run = case.run();
        // Instants at which something happens are the difficult ones.
        let happens = of_events.iter().map(|index| index.get(&run.events).t);
        for at in instants.into_iter().map(TrueTime::from_micros).chain(happens) {
            let mut fresh = case.simulation();
            fresh.run_until(at, &mut Vec::new());
            prop_assert!(run.world_at(at) == *fresh.world(), "the worlds at {} differ", at);
        }
    }

    #[test]
    fn a_clone_goes_on_like_its_original(case in any_cases(), at in 0..=60_000_000_i64) {
        let mut original = case.simulation();
        original.run_until(TrueTime::from_micros(at), &mut Vec::new());
        let mut clone = original.clone();
        let (mut of_original, mut of_clone) = (Vec::new(), Vec::new());
        original.run_until(TrueTime::from_millis(60_000), &mut of_original);
        clone.run_until(TrueTime::from_millis(60_000), &mut of_clone);
        prop_assert_eq!(of_original, of_clone);
        prop_assert!(original == clone);
    }

    /// Every run can be printed, and every event says why.
    #[test]
    fn every_run_can_be_told(case in any_cases()) {
        let run = case.run();
        let json: serde_json::Value = serde_json::from_str(&report::json(&run)).expect("a run is JSON");
        for event in json["events"].as_array().expect("events are a list") {
            let why = event["why"].as_str().expect("every event says why");
            prop_assert!(!why.is_empty() && !why.contains('\n'), "{}", why);
        }
        prop_assert!(!lease_lab_scenarios::shiviz::log(&run).is_empty());
    }
}

/// Generates cases until `wanted` is true of one; the properties above are worth little if this finds none.
#[track_caller]
fn search(cases: BoxedStrategy<Case>, prepare: impl Fn(&mut Case), wanted: impl Fn(&Run) -> bool) -> Run {
    let mut runner = TestRunner::new(cases_count(1));
    for _ in 0..2_000 {
        let mut case = cases.new_tree(&mut runner).expect("a case can be generated").current();
        prepare(&mut case);
        let run = case.run();
        if wanted(&run) {
            return run;
        }
    }
    panic!("2,000 runs without an example");
}

/// Puts a setting at the start of a case.
fn from_the_start(change: Change) -> impl Fn(&mut Case) {
    move |case| {
        case.interventions
            .push(lease_lab_sim::intervention::Intervention { at: TrueTime::ZERO, change: change.clone() })
    }
}

fn charges_twice(run: &Run) -> bool {
    verdict(run, Invariant::ChargedOnce) == "broken"
}

fn accepts_a_stale_write(run: &Run) -> bool {
    verdict(run, Invariant::NoStaleWrite) == "broken"
}

#[test]
fn without_the_fence_customers_pay_twice() {
    let off = from_the_start(Change::Fence(FenceMode::Off));
    search(faulty_cases(), &off, charges_twice);
    search(faulty_cases(), &off, accepts_a_stale_write);
}

#[test]
fn raised_late_customers_pay_twice() {
    search(faulty_cases(), from_the_start(Change::Raise(RaiseOrder::Late)), charges_twice);
}

#[test]
fn a_check_apart_from_the_write_accepts_a_stale_write() {
    search(faulty_cases(), from_the_start(Change::Fence(FenceMode::TwoStep)), accepts_a_stale_write);
}

#[test]
fn a_doubled_message_charges_twice() {
    search(late_or_twice_cases(), |_| (), charges_twice);
}

#[test]
fn two_workers_may_act_at_once_if_their_clocks_disagree() {
    search(faulty_cases(), |_| (), |run| verdict(run, Invariant::OneActingHolder) == "broken");
}

#[test]
fn the_store_that_recognises_chunks_charges_once_even_without_the_fence() {
    let mut runner = TestRunner::new(cases_count(1));
    for _ in 0..500 {
        let mut case = late_or_twice_cases().new_tree(&mut runner).expect("a case can be generated").current();
        from_the_start(Change::Fence(FenceMode::Off))(&mut case);
        from_the_start(Change::Idempotent(true))(&mut case);
        assert!(!charges_twice(&case.run()), "{case:?}");
    }
}
