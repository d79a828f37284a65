//! Links as data: what goes in, what comes out, and what is said about it.

use lease_lab_links::{Controls, Drills, Ghost, LENGTH_MAX, Lang, Link, Theme, active};

/// What of a link differs from the story as it is, in words.
fn told(link: &Link) -> String {
    let Link { scenario, page, drills, list, seed, cursor, window, ghost, with, theme, frame, hash, notices: _ } = link;
    let mut words = Vec::new();
    let mut say = |differs: bool, text: String| {
        if differs {
            words.push(text);
        }
    };
    say(scenario.id != "billing-story", format!("lab {}", scenario.id));
    say(page.is_some(), format!("page {}", page.map_or("", |page| page.id)));
    say(*drills == Some(Drills::Overview), "drills".into());
    if let Some(Drills::One(drill, then)) = drills {
        let then: Vec<&str> = then.iter().map(|drill| drill.id).collect();
        say(true, format!("drill {} then {then:?}", drill.id));
    }
    let entries = list.iter().map(|entry| format!("{}{}", if entry.on { "" } else { "off " }, entry.intervention));
    say(active(list) != scenario.own_interventions(), format!("list {:?}", entries.collect::<Vec<_>>()));
    say(*seed != 0, format!("seed {seed}"));
    say(cursor.is_some(), format!("t {}", cursor.unwrap_or_default()));
    say(window.is_some(), window.map_or(String::new(), |(from, to)| format!("view {from} to {to}")));
    say(*ghost != Ghost::None, format!("ghost {}", ghost.id()));
    say(with.is_some(), format!("with {with:?}"));
    say(theme.is_some(), format!("theme {}", theme.map_or("", Theme::id)));
    say(frame.lang.is_some(), format!("lang {}", frame.lang.map_or("", Lang::id)));
    say(frame.embed, "embed".into());
    say(frame.controls != Controls::Full, format!("controls {}", frame.controls.id()));
    say(hash.is_some(), format!("hash {}", hash.as_deref().unwrap_or_default()));
    words.join(", ")
}

#[track_caller]
fn check(query: &str, expected: &str, canonical: &str) {
    let link = Link::read(query);
    assert_eq!(link.notices, Vec::<String>::new(), "{query}");
    assert_eq!(told(&link), expected, "{query}");
    assert_eq!(link.write(), canonical, "{query}");
    let again = Link::read(canonical);
    assert_eq!((told(&again), again.write(), again.notices), (expected.to_owned(), canonical.to_owned(), vec![]));
}

#[test]
fn what_a_link_says_and_how_it_is_written() {
    for (query, expected, canonical) in [
        ("", "", "?lab=billing-story"),
        ("?", "", "?lab=billing-story"),
        ("lab=billing-story", "", "?lab=billing-story"),
        ("?lab=zombie&t=30", "lab zombie, t 30", "?lab=zombie&t=30"),
        ("?t=30.50&lab=zombie", "lab zombie, t 30.5", "?lab=zombie&t=30.5"),
        // The first of two counts; unknown parameters are left out.
        ("?t=1&t=2&utm_source=x&&=&x", "t 1", "?lab=billing-story&t=1"),
        // Both ways to write a space, and what need not be escaped.
        ("?do=+4.00++pause+A++8.0", "list [\"4 pause A 8\"]", "?lab=billing-story&do=4%20pause%20A%208"),
        (
            "?do=4%20partition%20A%7CB%2Cstore",
            "list [\"4 partition A | B,store\"]",
            "?lab=billing-story&do=4%20partition%20A%20%7C%20B,store",
        ),
        ("?do=16+step-wall+B+%2B3", "list [\"16 step-wall B 3\"]", "?lab=billing-story&do=16%20step-wall%20B%203"),
        ("?do=", "list []", "?lab=billing-story&do="),
        ("?do=;;%20;", "list []", "?lab=billing-story&do="),
        // The scenario’s own list need not be said.
        ("?do=4+pause+A+15;21+crash+B;47+crash+leader", "", "?lab=billing-story"),
        (
            "?do=30%20heal;10%20heal",
            "list [\"10 heal\", \"30 heal\"]",
            "?lab=billing-story&do=10%20heal%3B%2030%20heal",
        ),
        // What is off stands where it stood, or at the end of its instant.
        (
            "?do=4+heal&off=1:4+isolate+A;3:4+pause+B",
            "list [\"off 4 isolate A\", \"4 heal\", \"off 4 pause B\"]",
            "?lab=billing-story&do=4%20heal&off=1%3A4%20isolate%20A%3B%203%3A4%20pause%20B",
        ),
        (
            "?do=4+heal&off=4+isolate+A;999999999999999999999:3+heal",
            "list [\"off 3 heal\", \"4 heal\", \"off 4 isolate A\"]",
            "?lab=billing-story&do=4%20heal&off=1%3A3%20heal%3B%203%3A4%20isolate%20A",
        ),
        ("?do=&off=21+crash+B", "list [\"off 21 crash B\"]", "?lab=billing-story&do=&off=1%3A21%20crash%20B"),
        ("?off=not+read+without+do", "", "?lab=billing-story"),
        ("?seed=18446744073709551615", "seed 18446744073709551615", "?lab=billing-story&seed=18446744073709551615"),
        ("?seed=0&ghost=none&controls=full&embed=0&v=1", "", "?lab=billing-story"),
        ("?t=0", "t 0", "?lab=billing-story&t=0"),
        ("?t=60&view=0-60", "t 60, view 0 to 60", "?lab=billing-story&t=60&view=0-60"),
        ("?view=1-1.000001", "view 1 to 1.000001", "?lab=billing-story&view=1-1.000001"),
        ("?ghost=fence-off", "ghost fence-off", "?lab=billing-story&ghost=fence-off"),
        (
            "?with=0+fence+off",
            "with Some(Beside { text: \"0 fence off\", alone: false })",
            "?lab=billing-story&with=0%20fence%20off",
        ),
        (
            "?with=%3D0+fence+off",
            "with Some(Beside { text: \"0 fence off\", alone: true })",
            "?lab=billing-story&with=%3D0%20fence%20off",
        ),
        ("?theme=dark", "theme dark", "?lab=billing-story&theme=dark"),
        // Not the same as no theme at all, which is the reader’s last choice.
        ("?theme=auto", "theme auto", "?lab=billing-story&theme=auto"),
        (
            "?embed=1&controls=transport&lang=zh-Hans",
            "lang zh-Hans, embed, controls transport",
            "?lab=billing-story&lang=zh-Hans&embed=1&controls=transport",
        ),
        ("?controls=none&lang=en", "lang en, controls none", "?lab=billing-story&lang=en&controls=none"),
        ("?hash=0123456789abcdef", "hash 0123456789abcdef", "?lab=billing-story&hash=0123456789abcdef"),
        // Labs that are read, and drills: what is about a run is not theirs.
        ("?lab=aws&theme=light&t=x&do=y", "page aws, theme light", "?lab=aws&theme=light"),
        ("?drill", "drills", "?drill="),
        ("?drill=&t=x&lab=nowhere&embed=1", "drills, embed", "?drill=&embed=1"),
        ("?drill=late-write&then=", "drill late-write then []", "?drill=late-write"),
        (
            "?drill=late-write&then=late-write,,late-write",
            "drill late-write then [\"late-write\", \"late-write\"]",
            "?drill=late-write&then=late-write,late-write",
        ),
        ("?then=late-write", "", "?lab=billing-story"),
    ] {
        check(query, expected, canonical);
    }
}

#[test]
fn the_drills_and_labs_of_the_course_have_links() {
    for scenario in lease_lab_scenarios::all() {
        let link = Link::read(&format!("?lab={}", scenario.id));
        assert_eq!((link.scenario.id, link.notices), (scenario.id, vec![]));
        assert_eq!(active(&link.list), scenario.own_interventions());
        for variant in scenario.variants {
            let text = variant.adds.replace(' ', "+");
            let alone = if variant.alone { "%3D" } else { "" };
            let link = Link::read(&format!("?lab={}&with={alone}{text}", scenario.id));
            assert_eq!(link.notices, Vec::<String>::new(), "{} {}", scenario.id, variant.name);
            assert!(link.with.is_some_and(|with| with.alone == variant.alone && with.text == variant.adds));
        }
    }
    for page in lease_lab_scenarios::pages::pages() {
        check(&format!("?lab={}", page.id), &format!("page {}", page.id), &format!("?lab={}", page.id));
    }
    for drill in lease_lab_drills::all() {
        let query = format!("?drill={}", drill.id);
        check(&query, &format!("drill {} then []", drill.id), &query);
    }
}

#[test]
fn a_bad_value_gets_a_sentence_and_falls_back() {
    let long_cat = format!("?ghost={}", "c".repeat(400));
    let many_heal = format!("?do={}", "1+heal;".repeat(201));
    let many_off = format!("?do=&off={}", "1+heal;".repeat(201));
    for (query, left, notices) in [
        (
            "?v=2&t=5",
            "t 5",
            &["The link is of version 2 and this page reads version 1; what it knows of it is shown."][..],
        ),
        ("?v=0", "", &["The link’s v “0” cannot be used; expected 1; it is read as version 1."]),
        ("?v=one", "", &["The link’s v “one” cannot be used; expected 1; it is read as version 1."]),
        (
            "?lang=fr",
            "lang en",
            &["The link’s lang “fr” cannot be used; expected en or zh-Hans; the page is in English."],
        ),
        ("?embed=yes", "", &["The link’s embed “yes” cannot be used; expected 0 or 1; the whole page is shown."]),
        (
            "?embed=1&controls=few",
            "embed",
            &["The link’s controls “few” cannot be used; expected full, transport or none; all are shown."],
        ),
        ("?theme=pink", "", &["The link’s theme “pink” cannot be used; expected auto, light or dark; auto is shown."]),
        (
            "?t=x&ghost=cat",
            "",
            &[
                "The link’s t “x” cannot be used; expected seconds from 0 to 60; the instant at which the story opens \
                 is shown.",
                "The link’s ghost “cat” cannot be used; expected none, fence-off, raise-late, sweeper-off or idempotent; \
                 none is shown.",
            ],
        ),
        (
            &long_cat,
            "",
            &["The link’s ghost “cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc…” cannot be used; \
               expected none, fence-off, raise-late, sweeper-off or idempotent; none is shown."],
        ),
        (
            "?t=5%0Aset%00",
            "",
            &[
                "The link’s t “5 set ” cannot be used; expected seconds from 0 to 60; the instant at which the story opens \
             is shown.",
            ],
        ),
        (
            "?view=22-12",
            "",
            &["The link’s view “22-12” cannot be used; expected two times such as 12-22; the whole story is shown."],
        ),
        (
            "?view=0-60.1",
            "",
            &["The link’s view “0-60.1” cannot be used; expected two times such as 12-22; the whole story is shown."],
        ),
        ("?seed=-1", "", &["The link’s seed “-1” cannot be used; expected a whole number from 0 on; 0 is used."]),
        (
            "?hash=cafe",
            "",
            &["The link’s hash “cafe” cannot be used; expected 16 hexadecimal digits; nothing is compared."],
        ),
        (
            "?lab=nowhere&t=5",
            "t 5",
            &["The link asks for a lab “nowhere” that does not exist; the story “billing-story” is shown."],
        ),
        (
            "?do=1+heal;4+jump+A",
            "",
            &[
                "The link’s interventions cannot be used, so the story’s own are shown: intervention 2, “4 jump A”: there \
             is no verb “jump”; expected pause, resume, crash, restart, step-wall, offset, rate, partition, heal, \
             isolate, outage, delay, drop, duplicate, fence, idempotent, raise, lease, renew, margin, sweeper, service, \
             store, acquire, release, restore or set.",
            ],
        ),
        (
            "?do=1+heal&off=2:4+pause+A+0",
            "",
            &[
                "The link’s interventions cannot be used, so the story’s own are shown: intervention “4 pause A 0”: a pause \
             of 0 s is none; expected nothing, a length above 0 s, and vm for a virtual machine.",
            ],
        ),
        (
            "?do=%F0%28",
            "",
            &[
                "The link’s interventions cannot be used, so the story’s own are shown: intervention 1, “\u{fffd}(”: the \
             time “\u{fffd}(” is not a number; expected true seconds from 0 on, such as 4.0.",
            ],
        ),
        (
            &many_heal,
            "",
            &[
                "The link’s interventions cannot be used, so the story’s own are shown: the list of interventions has more \
             than 200 entries; expected at most 200.",
            ],
        ),
        (
            &many_off,
            "",
            &[
                "The link’s interventions cannot be used, so the story’s own are shown: the list of interventions has more \
             than 200 entries; expected at most 200.",
            ],
        ),
        (
            "?do=0+margin+9",
            "",
            &[
                "The link’s interventions cannot be used, so the story’s own are shown: intervention “0 margin 9”: with a \
             lease of 10 s and a margin of 9 s, a holder that renews every 3 s stops before it renews; expected renew < \
             lease − margin.",
            ],
        ),
        (
            "?with=0+fence+maybe",
            "",
            &[
                "The run to compare with cannot be used: intervention 1, “0 fence maybe”: “maybe” is not a value of it; \
             expected on or off or reject-equal or two-step.",
            ],
        ),
        (
            "?drill=nothing&then=nothing&theme=dark",
            "drills, theme dark",
            &["The link asks for a drill “nothing” that does not exist; expected one of those below."],
        ),
        (
            "?drill=late-write&then=no,late-write,nor",
            "drill late-write then [\"late-write\"]",
            &[
                "The link’s then “no” cannot be used; expected ids of drills, separated by commas; it is left out of the \
             session.",
            ],
        ),
    ] {
        let link = Link::read(query);
        assert_eq!(link.notices, notices, "{query}");
        assert_eq!(told(&link), left, "{query}");
    }
}

#[test]
fn a_link_has_a_longest_length() {
    let link = |length: usize| Link::read(&format!("?t=20&x={}", "y".repeat(length - "?t=20&x=".len())));
    assert_eq!(told(&link(LENGTH_MAX)), "t 20");
    let longer = link(LENGTH_MAX + 1);
    assert_eq!(told(&longer), "");
    assert_eq!(
        longer.notices,
        ["This link is 16385 characters long; expected at most 16384, so the story is shown as it is."]
    );
    // Drills are no way round it.
    let drills = Link::read(&format!("?drill=late-write&x={}", "y".repeat(LENGTH_MAX)));
    assert_eq!((told(&drills), drills.notices.len()), (String::new(), 1));
}
