//! What holds of every link: it can be written and read again, and no text ends the reader or keeps it for long.

use std::time::{Duration, Instant};

use lease_lab_links::{Beside, Controls, Drills, Entry, Frame, Ghost, LENGTH_MAX, Lang, Link, Theme};
use lease_lab_scenarios::Scenario;
use lease_lab_sim::intervention::{Intervention, parse_one, sort_by_time};
use lease_lab_sim::time::TrueTime;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// Far more than any link takes, in a test build on a busy machine; what grows with the square of the length takes more.
const LONG: Duration = Duration::from_secs(2);

fn scenarios() -> impl Strategy<Value = &'static Scenario> {
    select(lease_lab_scenarios::all().collect::<Vec<_>>())
}

/// Interventions that make sense in every scenario.
fn interventions() -> impl Strategy<Value = Intervention> {
    let change = select(vec![
        "pause A 3",
        "pause leader vm",
        "resume A",
        "crash B",
        "restart B",
        "step-wall B -3.5",
        "offset D 0.000001",
        "rate B 1.02",
        "partition A,B | store | n1",
        "heal",
        "isolate n2",
        "outage 2",
        "delay A store 20",
        "drop A n1",
        "duplicate A store",
        "fence two-step",
        "idempotent on",
        "raise late",
        "sweeper off",
        "acquire D",
        "release C",
    ]);
    (0..60_000_000_i64, change).prop_map(|(micros, change)| {
        parse_one(&format!("{} {change}", TrueTime::from_micros(micros))).expect("it is in the grammar")
    })
}

fn beside() -> impl Strategy<Value = Beside> {
    (prop::collection::vec(interventions(), 0..4), any::<bool>()).prop_map(|(list, alone)| {
        let text = list.iter().map(Intervention::to_string).collect::<Vec<_>>().join("; ");
        Beside { text, alone }
    })
}

fn frames() -> impl Strategy<Value = Frame> {
    (option::of(select(Lang::ALL.to_vec())), any::<bool>(), select(Controls::ALL.to_vec()))
        .prop_map(|(lang, embed, controls)| Frame { lang, embed, controls })
}

fn lists() -> impl Strategy<Value = Option<Vec<Entry>>> {
    let entry = (interventions(), prop::bool::weighted(0.7)).prop_map(|(intervention, on)| Entry { intervention, on });
    option::of(prop::collection::vec(entry, 0..12).prop_map(|mut list| {
        sort_by_time(&mut list, |entry| entry.intervention.at);
        list
    }))
}

/// A lab with everything that a link can say of it.
fn labs() -> impl Strategy<Value = Link> {
    let look = (
        option::of(0..1_000_000_u32),
        option::of((0..999_999_u32, 1..1_000_000_u32)),
        select(Ghost::ALL.to_vec()),
        option::of(select(Theme::ALL.to_vec())),
        frames(),
        option::of("[0-9a-f]{16}"),
    );
    (scenarios(), lists(), prop_oneof![Just(0), any::<u64>()], option::of(beside()), look).prop_map(
        |(scenario, list, seed, with, (cursor, window, ghost, theme, frame, hash))| {
            let horizon = (scenario.plan)().horizon.as_micros();
            // Millionths of the whole run, so that every lab has instants in it.
            let instant = |part: u32| TrueTime::from_micros(horizon / 1_000_000 * i64::from(part));
            let own = Link::to(scenario);
            Link {
                list: list.unwrap_or(own.list.clone()),
                seed,
                cursor: cursor.map(instant),
                window: window
                    .map(|(from, length)| (instant(from), instant(from.saturating_add(length).min(1_000_000)))),
                ghost,
                with,
                theme,
                frame,
                hash,
                ..own
            }
        },
    )
}

/// Pages without a run, and drills.
fn others() -> impl Strategy<Value = Link> {
    let drills = select(lease_lab_drills::all().collect::<Vec<_>>());
    let place = prop_oneof![
        Just((None, Some(Drills::Overview))),
        select(lease_lab_scenarios::pages::pages().iter().collect::<Vec<_>>()).prop_map(|page| (Some(page), None)),
        (drills.clone(), prop::collection::vec(drills, 0..6))
            .prop_map(|(drill, then)| (None, Some(Drills::One(drill, then)))),
    ];
    (place, option::of(select(Theme::ALL.to_vec())), frames()).prop_map(|((page, drills), theme, frame)| Link {
        page,
        drills,
        theme,
        frame,
        ..Link::read("")
    })
}

/// Everything of a link that can be compared.
fn parts(link: &Link) -> impl PartialEq + std::fmt::Debug + use<> {
    let Link { scenario, page, drills, list, seed, cursor, window, ghost, with, theme, frame, hash, notices } =
        link.clone();
    let place = (scenario.id, page.map(|page| page.id), drills);
    (place, list, seed, cursor, window, (ghost, with, theme, frame, hash), notices)
}

/// Text as it stands in links, and as it should not.
fn queries() -> impl Strategy<Value = String> {
    let name = select(vec![
        "lab", "do", "off", "seed", "t", "view", "ghost", "with", "theme", "hash", "v", "lang", "embed", "controls",
        "drill", "then", "x", "",
    ]);
    let ids: Vec<&str> = lease_lab_scenarios::all()
        .map(|scenario| scenario.id)
        .chain(lease_lab_drills::all().map(|drill| drill.id))
        .collect();
    let value = prop_oneof![
        select(ids).prop_map(str::to_owned),
        prop::collection::vec(interventions(), 0..8).prop_map(|list| list
            .iter()
            .map(|one| one.to_string().replace(' ', "+"))
            .collect::<Vec<_>>()
            .join(";")),
        "[0-9.-]{0,24}",
        "[=0-9:;,+%a-zA-F-]{0,40}",
        "\\PC{0,40}",
        any::<String>(),
    ];
    let pairs = prop::collection::vec((name, value).prop_map(|(name, value)| format!("{name}={value}")), 0..8);
    pairs.prop_map(|pairs| format!("?{}", pairs.join("&")))
}

fn check_any(query: &str) -> Result<(), TestCaseError> {
    let from = Instant::now();
    let link = Link::read(query);
    prop_assert!(from.elapsed() < LONG, "{:?}", from.elapsed());
    for notice in &link.notices {
        prop_assert!(notice.ends_with('.') && !notice.contains(char::is_control), "{notice:?}");
        prop_assert!(notice.len() < 1_500, "{notice}");
    }
    let text = link.write();
    if text.len() <= LENGTH_MAX {
        let again = Link::read(&text);
        prop_assert_eq!(parts(&again), parts(&Link { notices: Vec::new(), ..link }), "{}", text);
        prop_assert_eq!(again.write(), text);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_lab_is_read_as_it_was_written(link in labs()) {
        let text = link.write();
        prop_assert_eq!(parts(&Link::read(&text)), parts(&link), "{}", text);
        prop_assert_eq!(Link::read(&text).write(), text);
    }

    #[test]
    fn pages_and_drills_are_read_as_they_were_written(link in others()) {
        let text = link.write();
        prop_assert_eq!(parts(&Link::read(&text)), parts(&link), "{}", text);
    }

    /// Whatever could be used of a text can be written, and reads as the same.
    #[test]
    fn what_was_read_of_any_text_can_be_written(query in queries()) {
        check_any(&query)?;
    }

    #[test]
    fn any_text_is_read(query in any::<String>()) {
        check_any(&query)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// As long as a link may be, of one piece again and again.
    #[test]
    fn no_long_text_takes_long(start in queries(), piece in "\\PC{1,12}|[&=;:%+,0-9a-f|]{1,12}|1:1[+]heal;|[+]0[+]heal;") {
        let mut query = start;
        query.extend(std::iter::repeat_n(piece.as_str(), LENGTH_MAX / piece.len()));
        while query.len() > LENGTH_MAX {
            query.pop();
        }
        check_any(&query)?;
    }
}
