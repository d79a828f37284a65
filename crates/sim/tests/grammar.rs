//! The grammar of interventions: what is printed reads as what was printed, and nothing that is typed does harm.

use lease_lab_sim::intervention::{
    Change, INTERVENTIONS_MAX, Intervention, ServiceKind, StoreKind, Target, parse_list, parse_one,
};
use lease_lab_sim::machine::{MachineId, NodeId, WorkerId};
use lease_lab_sim::settings::{FenceMode, RaiseOrder};
use lease_lab_sim::time::{Span, TrueTime};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select, subsequence};
use proptest::test_runner::RngSeed;

fn cases(cases: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig { cases, failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..default }
}

const MICROS_MAX: i64 = 999_999_999_999_999;

fn targets() -> Vec<Target> {
    let mut machines: Vec<MachineId> = WorkerId::ALL.into_iter().map(MachineId::from).collect();
    machines.extend((1..=7).map(|number| MachineId::from(NodeId(number))));
    machines.extend((1..=5).map(MachineId::Master));
    machines.extend([MachineId::Primary, MachineId::Replica, MachineId::Store, MachineId::Sweeper]);
    machines.into_iter().map(Target::Machine).chain([Target::Leader]).collect()
}

fn target() -> impl Strategy<Value = Target> + Clone {
    select(targets())
}

fn worker() -> impl Strategy<Value = WorkerId> {
    select(WorkerId::ALL.to_vec())
}

fn span(min: i64) -> impl Strategy<Value = Span> {
    prop_oneof![(min..=120_000_000), (min..=MICROS_MAX)].prop_map(Span::micros)
}

fn signed_span() -> impl Strategy<Value = Span> {
    (-MICROS_MAX..=MICROS_MAX).prop_map(Span::micros)
}

fn path() -> impl Strategy<Value = (Target, Target)> {
    subsequence(targets(), 2).prop_shuffle().prop_map(|ends| (ends[0], ends[1]))
}

fn partition() -> impl Strategy<Value = Change> {
    (subsequence(targets(), 2..8).prop_shuffle(), 1..4_usize).prop_map(|(members, sides)| {
        let length = members.len().div_ceil(sides + 1).min(members.len() - 1);
        Change::Partition(members.chunks(length).map(<[Target]>::to_vec).collect())
    })
}

fn change() -> impl Strategy<Value = Change> {
    let faults = prop_oneof![
        (target(), option::of(span(1)), any::<bool>()).prop_map(|(target, lasts, vm)| Change::Pause {
            target,
            lasts,
            vm
        }),
        target().prop_map(Change::Resume),
        target().prop_map(Change::Crash),
        target().prop_map(|target| Change::Restart { target, empty: false }),
        (1..=5_u8)
            .prop_map(|number| Change::Restart { target: Target::Machine(MachineId::Master(number)), empty: true }),
        (target(), signed_span()).prop_map(|(target, by)| Change::StepWall(target, by)),
        (target(), signed_span()).prop_map(|(target, offset)| Change::Offset(target, offset)),
        (target(), 100_000..=10_000_000_i64).prop_map(|(target, ppm)| Change::Rate(target, ppm)),
    ];
    let network = prop_oneof![
        partition(),
        Just(Change::Heal),
        option::of(span(1)).prop_map(Change::Outage),
        target().prop_map(Change::Isolate),
        (path(), span(1)).prop_map(|((from, to), by)| Change::Delay { from, to, by }),
        path().prop_map(|(from, to)| Change::Drop { from, to }),
        path().prop_map(|(from, to)| Change::Duplicate { from, to }),
    ];
    let settings = prop_oneof![
        select(vec![FenceMode::On, FenceMode::Off, FenceMode::RejectEqual, FenceMode::TwoStep]).prop_map(Change::Fence),
        any::<bool>().prop_map(Change::Idempotent),
        select(vec![RaiseOrder::First, RaiseOrder::Late]).prop_map(Change::Raise),
        span(1).prop_map(Change::Lease),
        span(1).prop_map(Change::Renew),
        span(0).prop_map(Change::Margin),
        any::<bool>().prop_map(Change::Sweeper),
        select(vec![ServiceKind::Consensus, ServiceKind::Redis, ServiceKind::Redlock, ServiceKind::LeaseItem])
            .prop_map(Change::Service),
        select(vec![StoreKind::Row, StoreKind::Sql, StoreKind::DynamoDb, StoreKind::S3]).prop_map(Change::Store),
        (plain_word(), plain_word()).prop_map(|(key, value)| Change::Set { key, value }),
    ];
    let orders = prop_oneof![
        worker().prop_map(Change::Acquire),
        worker().prop_map(Change::Release),
        (0..=999_999_999_999_999_u64, option::of(0..=999_999_999_999_999_u64))
            .prop_map(|(revision, bump)| Change::Restore { revision, bump }),
    ];
    prop_oneof![faults, network, settings, orders]
}

fn plain_word() -> impl Strategy<Value = String> {
    let letters: Vec<char> = ('a'..='z').chain('A'..='Z').chain('0'..='9').chain(['-', '_', '.']).collect();
    vec(select(letters), 1..=40).prop_map(|letters| letters.into_iter().collect())
}

fn intervention() -> impl Strategy<Value = Intervention> {
    (0..=MICROS_MAX, change()).prop_map(|(at, change)| Intervention { at: TrueTime::from_micros(at), change })
}

/// One sentence, on one line, of a length that can be read.
fn is_a_sentence(text: &str) -> bool {
    !text.is_empty() && text.chars().count() < 500 && !text.chars().any(char::is_control)
}

proptest! {
    #![proptest_config(cases(4_000))]

    #[test]
    fn what_is_printed_reads_as_what_was_printed(intervention in intervention()) {
        let text = intervention.to_string();
        prop_assert_eq!(parse_one(&text), Ok(intervention));
        prop_assert!(text.is_ascii());
        // Canonical: no other spelling is ever printed.
        prop_assert_eq!(parse_one(&text).map(|again| again.to_string()), Ok(text));
    }

    #[test]
    fn a_list_reads_as_its_parts(interventions in vec(intervention(), 0..=8)) {
        let texts: Vec<String> = interventions.iter().map(ToString::to_string).collect();
        prop_assert_eq!(parse_list(&texts.join("; ")), Ok(interventions));
    }

    /// Spaces and leading zeros are nobody's mistake.
    #[test]
    fn spelling_does_not_matter(intervention in intervention(), zeros in 0..3_usize, spaces in 1..4_usize) {
        let canonical = intervention.to_string();
        let (time, rest) = canonical.split_once(' ').expect("a time and a verb");
        let whole = time.split('.').next().map_or(0, str::len);
        if whole + zeros <= 9 {
            let space = " ".repeat(spaces);
            let text = format!("{space}{}{time}{space}{}{space}", "0".repeat(zeros), rest.replace(' ', &space));
            prop_assert_eq!(parse_one(&text), Ok(intervention));
        }
    }

    #[test]
    fn any_text_is_read_or_gets_a_sentence(text in any::<String>()) {
        if let Err(mistake) = parse_list(&text) {
            prop_assert!(is_a_sentence(&mistake.to_string()), "{:?}", mistake);
        }
    }

    /// Words of the grammar in any order, with what people type between them.
    #[test]
    fn any_words_are_read_or_get_a_sentence(words in vec(word(), 0..8)) {
        let text = words.join(" ");
        if let Err(mistake) = parse_list(&text) {
            prop_assert!(is_a_sentence(&mistake.to_string()), "{:?}", mistake);
        }
    }

    #[test]
    fn one_wrong_character_does_no_harm(
        intervention in intervention(),
        place in any::<Index>(),
        new in prop_oneof![any::<char>(), select("0.-+|,; \u{0}\n\u{85}\u{2028}é“".chars().collect::<Vec<_>>())],
        inserts in any::<bool>(),
    ) {
        let mut letters: Vec<char> = intervention.to_string().chars().collect();
        let place = place.index(letters.len());
        if inserts {
            letters.insert(place, new);
        } else {
            letters[place] = new;
        }
        let text: String = letters.into_iter().collect();
        match parse_list(&text) {
            Ok(list) => {
                for read in list {
                    prop_assert_eq!(parse_one(&read.to_string()), Ok(read));
                }
            }
            Err(mistake) => prop_assert!(is_a_sentence(&mistake.to_string()), "{:?}", mistake),
        }
    }
}

fn word() -> impl Strategy<Value = String> {
    let known = "0 4.0 19.05 -3 +2 1e9 999999999 0.0000001 pause resume crash restart step-wall offset rate partition heal \
                 isolate delay drop duplicate fence idempotent raise lease renew margin sweeper service store acquire \
                 release restore bump set empty vm on off late first A B n1 n7 n8 r5 leader primary n1,n2 | ; ;; ,";
    let known: Vec<String> = known.split_whitespace().map(str::to_owned).collect();
    prop_oneof![8 => select(known), 1 => any::<String>()]
}

#[test]
fn a_list_has_a_largest_length() {
    let most = vec!["1 heal"; INTERVENTIONS_MAX].join(";");
    assert_eq!(parse_list(&most).map(|list| list.len()), Ok(INTERVENTIONS_MAX));
    for count in [INTERVENTIONS_MAX + 1, 10_000] {
        let mistake = parse_list(&"1 heal;".repeat(count)).expect_err("too many");
        assert_eq!(mistake.to_string(), "the list of interventions has more than 200 entries; expected at most 200");
    }
}

/// Long input is quoted, but not at length.
#[test]
fn a_sentence_stays_short() {
    let long = "x".repeat(100_000);
    for text in [
        long.clone(),
        format!("1 {long}"),
        format!("1 pause {long}"),
        format!("1 pause A {long}"),
        format!("1 set {long} 1"),
        format!("1 set key {long}"),
        format!("1 heal {long}"),
        format!("{} heal", "9".repeat(100_000)),
        format!("1 partition {}", "n1,".repeat(50_000)),
        format!("1 set {} {} {long}", "k".repeat(40), "v".repeat(40)),
    ] {
        let mistake = parse_list(&text).expect_err("nobody can mean this");
        assert!(is_a_sentence(&mistake.to_string()), "{mistake}");
    }
}
