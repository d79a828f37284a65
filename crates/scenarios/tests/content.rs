//! What is only written and never run: tables, parts, glossary, checklist and card.

use std::collections::{BTreeMap, BTreeSet};

use lease_lab_scenarios::cheat_card::CARD;
use lease_lab_scenarios::tables::{self, Table};
use lease_lab_scenarios::{checklist, glossary, parts};
use lease_lab_sim::time::{Span, grouped};

/// The labs of the course, by part.
const LABS: [&[&str]; 12] = [
    &["lock-lease-fence", "not-this-lease"],
    &["acquire", "renew", "release", "what-is-where"],
    &["two-clocks", "wall-step", "margin", "whose-now"],
    &["billing-story", "zombie", "fence-rules", "raise-first", "fence-s3", "fences-elsewhere", "side-effects"],
    &["fence-dynamodb", "fence-sql", "compare", "hot-fence", "lease-item", "claim-rules", "ttl-trap"],
    &["orphan", "sweeper", "takeover", "storm"],
    &["election", "herd", "election-systems", "handover"],
    &[
        "failover",
        "minority",
        "cache-failover",
        "redlock",
        "redlock-clock",
        "redlock-restart",
        "redlock-fenced",
        "restore",
    ],
    &["one-database", "no-lock", "three-ways", "equal-terms", "how-much"],
    &["layers", "sidecar"],
    &["aws"],
    &["recap", "cheat-card", "checklist"],
];

fn is_lab(id: &str) -> bool {
    LABS.iter().any(|labs| labs.contains(&id))
}

/// Every text that a reader can see, with where it stands.
fn prose() -> Vec<(String, &'static str)> {
    let mut texts = Vec::new();
    for table in tables::all() {
        let mut add = |what: &str, text| texts.push((format!("table {}, {what}", table.id), text));
        add("title", table.title);
        add("intro", table.intro);
        table.columns.iter().for_each(|column| add("column", column));
        table.sources.iter().for_each(|source| add("source", source.title));
        for row in table.rows {
            add("row", row.name);
            row.cells.iter().flatten().for_each(|statement| add(row.name, statement.text));
        }
    }
    for part in &parts::ALL {
        texts.push((format!("part {}", part.number), part.name));
        texts.extend(part.intro.iter().map(|text| (format!("part {}", part.number), *text)));
    }
    for entry in &glossary::ALL {
        texts.push(("glossary".to_owned(), entry.term));
        texts.push((format!("glossary, {}", entry.term), entry.meaning));
    }
    for question in &checklist::ALL {
        texts.push(("checklist".to_owned(), question.text));
        texts.push(("checklist".to_owned(), question.reason));
    }
    let card = |text| ("card".to_owned(), text);
    texts.extend(CARD.rules.iter().map(|rule| card(*rule)));
    texts.extend(CARD.formulas.iter().flat_map(|it| [it.name, it.formula, it.example]).map(card));
    texts.extend(CARD.places.iter().flat_map(|it| [it.name, it.state, it.when_lost]).map(card));
    texts.extend(CARD.stores.iter().flat_map(|it| [it.store, it.condition, it.refusal]).map(card));
    texts
}

fn has_gaps(table: &Table) -> bool {
    table.rows.iter().any(|row| row.cells.iter().any(Option::is_none))
}

#[test]
fn no_text_is_empty_or_typed_carelessly() {
    let texts = prose();
    assert!(texts.len() > 300, "only {} texts were collected", texts.len());
    for (place, text) in texts {
        assert!(!text.trim().is_empty(), "{place}: an empty text");
        assert_eq!(text.trim(), text, "{place}: space at an end");
        for wrong in ["'", "\"", "`", "  ", "...", " - "] {
            assert!(!text.contains(wrong), "{place}: {wrong:?} in {text:?}");
        }
    }
}

#[test]
fn the_tables_are_found_by_the_ids_of_their_labs() {
    for table in tables::all() {
        assert!(is_lab(table.id), "{} is no lab", table.id);
        assert_eq!(tables::find(table.id).expect("the table is listed").title, table.title);
    }
    assert!(tables::find("zombie").is_none());
}

#[test]
fn every_row_has_a_cell_for_each_column() {
    for table in tables::all() {
        for row in table.rows {
            assert_eq!(row.cells.len(), table.columns.len(), "{}: {}", table.id, row.name);
            assert!(row.cells.iter().any(Option::is_some), "{}: {} says nothing", table.id, row.name);
        }
    }
}

/// On AWS a gap means that a service plays no such part; elsewhere it would be a fact that is missing.
#[test]
fn only_the_map_of_aws_has_gaps() {
    let with_gaps: Vec<_> = tables::all().into_iter().filter(|table| has_gaps(table)).map(|table| table.id).collect();
    assert_eq!(with_gaps, ["aws"]);
}

#[test]
fn every_statement_has_a_source_and_every_source_is_used() {
    for table in tables::all() {
        let mut used = BTreeSet::new();
        for row in table.rows {
            for statement in row.cells.iter().flatten() {
                assert!(!statement.sources.is_empty(), "{}: no source for {:?}", table.id, statement.text);
                for &source in statement.sources {
                    assert!(source < table.sources.len(), "{}: no source {source}", table.id);
                    used.insert(source);
                }
            }
        }
        let unused: Vec<_> = (0..table.sources.len()).filter(|source| !used.contains(source)).collect();
        assert!(unused.is_empty(), "{}: sources {unused:?} are never named", table.id);
    }
}

#[test]
fn every_source_has_one_public_address() {
    let mut titles = BTreeMap::new();
    for table in tables::all() {
        let mut addresses = BTreeSet::new();
        for source in table.sources {
            let host = source.address.strip_prefix("https://").and_then(|rest| rest.split('/').next()).unwrap_or("");
            assert!(host.contains('.'), "{}: {}", table.id, source.address);
            assert!(source.address.is_ascii() && !source.address.contains(' '), "{}", source.address);
            assert!(addresses.insert(source.address), "{}: {} twice", table.id, source.address);
            let title = titles.entry(source.address).or_insert(source.title);
            assert_eq!(*title, source.title, "{} has two titles", source.address);
        }
    }
}

#[test]
fn every_link_leads_to_a_lab() {
    for table in tables::all() {
        for row in table.rows {
            let lab = row.lab.unwrap_or_else(|| panic!("{}: {} leads nowhere", table.id, row.name));
            assert!(is_lab(lab), "{}: {lab} is no lab", table.id);
        }
    }
    for question in &checklist::ALL {
        assert!(is_lab(question.lab), "{} is no lab", question.lab);
    }
}

/// A look-alike says in one sentence what breaks, and plays no other part.
#[test]
fn look_alikes_are_one_sentence_and_nothing_else() {
    let aws = tables::find("aws").expect("the map of AWS is a table");
    let look_alike = aws.columns.iter().position(|column| column.contains("look-alike")).expect("there is a column");
    let mut found = BTreeMap::new();
    for row in aws.rows {
        let Some(statement) = &row.cells[look_alike] else { continue };
        assert_eq!(row.cells.iter().flatten().count(), 1, "{} plays another part, too", row.name);
        assert_one_sentence(statement.text);
        found.insert(row.name, row.lab);
    }
    let expected = [
        ("DynamoDB TTL", "ttl-trap"),
        ("DynamoDB global table with eventual consistency (MREC)", "handover"),
        ("ElastiCache locks", "cache-failover"),
        ("S3 Object Lock", "fence-s3"),
        ("SQS FIFO deduplication", "side-effects"),
        ("SQS visibility timeout", "zombie"),
    ];
    assert_eq!(found, expected.into_iter().map(|(name, lab)| (name, Some(lab))).collect());
}

fn assert_one_sentence(text: &str) {
    let ends = text.split_inclusive(' ').filter(|word| word.trim_end().ends_with(['.', '?', '!'])).count();
    assert!(ends == 1 && text.ends_with('.'), "not one sentence: {text:?}");
}

#[test]
fn the_parts_are_numbered_and_their_intros_are_short() {
    let numbers: Vec<u8> = parts::ALL.iter().map(|part| part.number).collect();
    assert_eq!(numbers, (1..=12).collect::<Vec<u8>>());
    let names: BTreeSet<_> = parts::ALL.iter().map(|part| part.name).collect();
    assert_eq!(names.len(), parts::ALL.len());
    for part in &parts::ALL {
        let words: usize = part.intro.iter().map(|paragraph| paragraph.split_whitespace().count()).sum();
        assert!((60..=120).contains(&words), "part {}: {words} words", part.number);
        assert_eq!(parts::find(part.number).expect("the part is listed").name, part.name);
    }
    assert!(parts::find(0).is_none() && parts::find(13).is_none());
}

#[test]
fn the_scenarios_belong_to_the_part_of_their_lab() {
    for scenario in lease_lab_scenarios::all() {
        let part = LABS.iter().position(|labs| labs.contains(&scenario.id)).expect("every scenario is a lab");
        assert_eq!(usize::from(scenario.part), part + 1, "{}", scenario.id);
    }
}

#[test]
fn the_glossary_is_sorted_and_has_no_word_twice() {
    let terms: Vec<String> = glossary::ALL.iter().map(|entry| entry.term.to_lowercase()).collect();
    for pair in terms.windows(2) {
        assert!(pair[0] < pair[1], "{:?} does not come before {:?}", pair[0], pair[1]);
    }
    for entry in &glossary::ALL {
        let sentences = entry.meaning.matches('.').count();
        assert!((1..=2).contains(&sentences) && entry.meaning.ends_with('.'), "{}: {sentences}", entry.term);
        assert_eq!(glossary::find(entry.term).expect("the word is listed").meaning, entry.meaning);
    }
}

#[test]
fn the_checklist_asks_eleven_questions_and_gives_one_reason_each() {
    assert_eq!(checklist::ALL.len(), 11);
    let mut labs = BTreeSet::new();
    for question in &checklist::ALL {
        assert!(question.text.ends_with('?') && question.text.matches('?').count() == 1, "{}", question.text);
        assert_one_sentence(question.reason);
        assert!(labs.insert(question.lab), "two questions lead to {}", question.lab);
    }
}

/// The examples on the card, worked out again: those that are about the story from the settings of the story.
#[test]
fn the_examples_on_the_card_are_right() {
    let story = lease_lab_scenarios::find("billing-story").expect("the story is a scenario");
    let plan = (story.plan)();
    let settings = &plan.settings;
    let seconds = |span: Span| format!("{} s", span.as_micros() as f64 / 1e6);
    let ms = Span::millis;
    // A renews at 3.0 s, which is one interval after it acquired.
    let renewed = settings.renew;
    let deadline = renewed + settings.lease;
    let store_actions = 100;
    let nodes = 5;
    let majority = nodes / 2 + 1;
    let validity = 10_000.0 - 30.0 - (10_000.0 * 0.01 + 2.0);
    let expected = [
        ("Stop time", seconds(deadline - settings.margin)),
        ("Earliest takeover, judged by the service", seconds(deadline)),
        ("Earliest claim, judged by a claimant’s wall clock", seconds(deadline + ms(5_000))),
        // D polls at 0.5 s, 1.5 s, …: the first look after 3.0 s is at 3.5 s.
        ("Earliest claim, judged by a claimant’s monotonic clock", seconds(ms(3_500) + settings.lease)),
        ("Wait before another Region writes", seconds(ms(10_000) + ms(5_000))),
        (
            "Keep-alive load",
            format!("{} a second", grouped((10_000 / (settings.renew.as_micros() / 1_000_000)).unsigned_abs())),
        ),
        ("Majority", majority.to_string()),
        ("Node failures survived", (nodes - majority).to_string()),
        ("DynamoDB transactions for a chunk", (plan.invoices_per_chunk + 1).div_ceil(store_actions - 1).to_string()),
        ("Checks a second on one fence item", (1_000 / 2).to_string()),
        ("Redlock validity", format!("{} ms", grouped(validity as u64))),
        ("Next token after a restore", (14 + 1).to_string()),
    ];
    let printed: Vec<_> = CARD.formulas.iter().map(|formula| (formula.name, result_of(formula.example))).collect();
    let expected: Vec<_> = expected.iter().map(|(name, result)| (*name, result.as_str())).collect();
    assert_eq!(printed, expected);
}

fn result_of(example: &str) -> &str {
    example.rsplit(" = ").next().expect("an example has a result")
}

#[test]
fn the_card_compares_the_stores_of_the_table() {
    let compare = tables::find("compare").expect("the comparison is a table");
    assert_eq!(CARD.stores.len(), compare.rows.len());
    for (line, row) in CARD.stores.iter().zip(compare.rows) {
        assert!(row.name.contains(line.store), "{} stands beside {}", line.store, row.name);
    }
}
