//! Which invariants hold under arbitrary interventions, for each lock service, store and fence that can be run.
//!
//! `guarantees/ways.txt` holds the shortest known way to break each invariant that can break; each is tried here.
//! For the others a number of generated lists is run.
//! `docs/guarantees.md` is printed from both; with `LEASE_LAB_BLESS=1` this test searches longer, shortens what it
//! finds, and writes the two files anew; with `LEASE_LAB_BLESS=new` it searches only on systems that are new, and
//! with `LEASE_LAB_BLESS=unbroken` only for what no way is known to break.

mod common;

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::fs;
use std::path::PathBuf;

use common::{any_fault_of, any_time, cases_count, late_or_twice_of, story};
use lease_lab_scenarios::accept::accept;
use lease_lab_scenarios::run::Input;
use lease_lab_scenarios::{Run, guarantees, report};
use lease_lab_sim::intervention::{Change, Intervention, ServiceKind, StoreKind, Target, parse_list};
use lease_lab_sim::invariants::Invariant;
use lease_lab_sim::machine::{MachineId, NodeId, WorkerId};
use lease_lab_sim::settings::FenceMode;
use lease_lab_sim::time::{Span, TrueTime};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

/// Generated lists for each system and class of interventions, each time the tests run.
const LISTS: u32 = 50;
/// The same when the files are written anew.
const LISTS_TO_BLESS: u32 = 400;
/// The same where no way to break something is known yet.
const LISTS_FOR_THE_UNBROKEN: u32 = 2_000;
/// The most generated interventions in one list.
const LENGTH_MAX: usize = 8;

/// Set to write the files anew.
const BLESS: &str = "LEASE_LAB_BLESS";

/// What is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    /// Faults of machines, of their clocks and of the network.
    Faults,
    /// The same, and messages that come late or twice.
    LateOrTwice,
    /// Faults, and an authority that is set back.
    Restored,
}

impl Class {
    const ALL: [Class; 3] = [Class::Faults, Class::LateOrTwice, Class::Restored];
}

/// A lock service, a store, and how the store compares tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct System {
    service: ServiceKind,
    store: StoreKind,
    fence: FenceMode,
}

impl System {
    fn choices(self) -> Vec<Intervention> {
        let at_the_start = |change| Intervention { at: TrueTime::ZERO, change };
        let choices = [Change::Service(self.service), Change::Store(self.store), Change::Fence(self.fence)];
        choices.map(at_the_start).into()
    }

    fn with(self, list: &[Intervention]) -> Vec<Intervention> {
        let mut interventions = self.choices();
        interventions.extend_from_slice(list);
        interventions
    }

    fn can_be_run(self) -> bool {
        accept(story(), self.choices()).is_ok()
    }

    fn run(self, list: &[Intervention], seed: u64) -> Run {
        let input = Input { interventions: Some(self.with(list)), seed, until: None };
        Run::new(story(), input).unwrap_or_else(|mistake| panic!("{self}: {mistake}"))
    }

    /// The machines of the story on this system.
    fn machines(self) -> Vec<MachineId> {
        let mut machines: Vec<MachineId> = WorkerId::ALL.into_iter().map(MachineId::from).collect();
        match self.service {
            ServiceKind::Consensus => machines.extend((1..=3).map(|number| MachineId::Node(NodeId(number)))),
            ServiceKind::Redis => machines.extend([MachineId::Primary, MachineId::Replica]),
            ServiceKind::Redlock => machines.extend((1..=5).map(MachineId::Master)),
            ServiceKind::LeaseItem => machines.push(MachineId::Table),
            // It is the store, and no intervention chooses it.
            ServiceKind::Database => {}
        }
        machines.extend([MachineId::Store, MachineId::Sweeper]);
        machines
    }

    /// Whether there is anything of this class in a run on this system: a restore names a state by the number that the
    /// lock service gave it, and not every service numbers its states.
    fn has(self, class: Class) -> bool {
        class != Class::Restored || matches!(self.service, ServiceKind::Consensus | ServiceKind::LeaseItem)
    }

    /// The machines that can lose what is on their disks.
    fn can_forget(self) -> Vec<MachineId> {
        match self.service {
            ServiceKind::Redis => vec![MachineId::Primary, MachineId::Replica],
            ServiceKind::Redlock => (1..=5).map(MachineId::Master).collect(),
            ServiceKind::Consensus | ServiceKind::LeaseItem | ServiceKind::Database => Vec::new(),
        }
    }

    fn lists(self, class: Class) -> BoxedStrategy<(Vec<Intervention>, u64)> {
        let machines = self.machines();
        let mut changes = vec![(12, any_fault_of(&machines))];
        if class == Class::LateOrTwice {
            changes.push((8, late_or_twice_of(&machines)));
        }
        if class == Class::Restored {
            let restore = (0..=20_u64, proptest::option::weighted(0.2, Just(1_000_000)))
                .prop_map(|(revision, bump)| Change::Restore { revision, bump });
            changes.push((8, restore.boxed()));
        }
        let can_forget = self.can_forget();
        if !can_forget.is_empty() {
            let forgets = proptest::sample::select(can_forget)
                .prop_map(|machine| Change::Restart { target: Target::Machine(machine), empty: true });
            changes.push((2, forgets.boxed()));
        }
        let change = proptest::strategy::Union::new_weighted(changes);
        let generated = vec((any_time(), change).prop_map(|(at, change)| Intervention { at, change }), 0..=LENGTH_MAX);
        (generated, any::<bool>(), prop_oneof![Just(0), any::<u64>()])
            .prop_map(|(generated, with_own, seed)| {
                let mut list = if with_own { story().own_interventions() } else { Vec::new() };
                list.extend(generated);
                (list, seed)
            })
            .boxed()
    }
}

impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.service, self.store, self.fence)
    }
}

/// Every system of the grammar that this version can run.
fn systems() -> Vec<System> {
    let mut systems = Vec::new();
    for service in [ServiceKind::Consensus, ServiceKind::Redis, ServiceKind::Redlock, ServiceKind::LeaseItem] {
        for store in [StoreKind::Row, StoreKind::Sql, StoreKind::DynamoDb, StoreKind::S3] {
            for fence in [FenceMode::On, FenceMode::Off, FenceMode::RejectEqual, FenceMode::TwoStep] {
                systems.push(System { service, store, fence });
            }
        }
    }
    systems.retain(|system| system.can_be_run());
    systems
}

fn verdict(run: &Run, invariant: Invariant) -> &'static str {
    report::verdict_name(&run.verdict(invariant, run.horizon))
}

fn breaks(system: System, invariant: Invariant, list: &[Intervention]) -> bool {
    verdict(&system.run(list, 0), invariant) == "broken"
}

fn class_of(list: &[Intervention]) -> Class {
    let any = |fits: fn(&Change) -> bool| list.iter().any(|intervention| fits(&intervention.change));
    if any(|change| matches!(change, Change::Restore { .. })) {
        Class::Restored
    } else if any(|change| matches!(change, Change::Delay { .. } | Change::Duplicate { .. })) {
        Class::LateOrTwice
    } else {
        Class::Faults
    }
}

fn print(list: &[Intervention]) -> String {
    let texts: Vec<String> = list.iter().map(ToString::to_string).collect();
    texts.join("; ")
}

/// The shortest known ways: by system, invariant and class.
#[derive(Default)]
struct Ways(BTreeMap<(String, Invariant, Class), Vec<Intervention>>);

impl Ways {
    fn path() -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/guarantees/ways.txt")
    }

    fn read() -> Ways {
        let mut ways = Ways::default();
        let text = fs::read_to_string(Ways::path()).unwrap_or_default();
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let [system, invariant, list] = line.splitn(3, " | ").collect::<Vec<_>>()[..] else {
                panic!("“{line}”: expected system | invariant | interventions");
            };
            let invariant = Invariant::ALL.into_iter().find(|known| known.id() == invariant);
            let invariant = invariant.unwrap_or_else(|| panic!("“{line}”: there is no such invariant"));
            let list = parse_list(list).unwrap_or_else(|mistake| panic!("“{line}”: {mistake}"));
            let before = ways.0.insert((system.to_owned(), invariant, class_of(&list)), list);
            assert!(before.is_none(), "“{line}”: there are two ways");
        }
        ways
    }

    fn write(&self) {
        let mut text = String::from(
            "# The shortest known ways to break an invariant: lock service, store and fence | invariant | interventions.\n\
             # They replace the story’s own interventions. Written by LEASE_LAB_BLESS=1, see guarantees.rs.\n",
        );
        for ((system, invariant, _), list) in &self.0 {
            writeln!(text, "{system} | {invariant} | {}", print(list)).expect("a string can be written");
        }
        fs::create_dir_all(Ways::path().parent().expect("it has one")).expect("the folder can be made");
        fs::write(Ways::path(), text).expect("the ways can be written");
    }

    fn get(&self, system: System, invariant: Invariant, class: Class) -> Option<&[Intervention]> {
        self.0.get(&(system.to_string(), invariant, class)).map(Vec::as_slice)
    }

    /// The way for a class: what breaks it by faults alone breaks it in the wider class, too.
    fn known(&self, system: System, invariant: Invariant, class: Class) -> Option<&[Intervention]> {
        let by_faults = self.get(system, invariant, Class::Faults);
        if class == Class::Faults { by_faults } else { by_faults.or_else(|| self.get(system, invariant, class)) }
    }

    /// Keeps a way if it is the shortest so far.
    fn offer(&mut self, system: System, invariant: Invariant, list: Vec<Intervention>) {
        let length = |list: &[Intervention]| (list.len(), print(list).len());
        let class = class_of(&list);
        let known = self.known(system, invariant, class).map(length);
        if known.is_none_or(|known| length(&list) < known) {
            self.0.insert((system.to_string(), invariant, class), list);
        }
        if self.get(system, invariant, Class::Faults).is_some() {
            for wider in [Class::LateOrTwice, Class::Restored] {
                self.0.remove(&(system.to_string(), invariant, wider));
            }
        }
    }
}

/// Leaves out what is not needed, then makes numbers simpler.
fn shorten(system: System, invariant: Invariant, mut list: Vec<Intervention>) -> Vec<Intervention> {
    lease_lab_sim::intervention::sort(&mut list);
    let still = |list: &[Intervention]| breaks(system, invariant, list);
    let mut place = 0;
    while place < list.len() {
        let mut shorter = list.clone();
        shorter.remove(place);
        if still(&shorter) {
            list = shorter;
            place = 0;
        } else {
            place += 1;
        }
    }
    for place in 0..list.len() {
        let with = |changed: Intervention| {
            let mut with = list.clone();
            with[place] = changed;
            with
        };
        let is_better = |changed: &Vec<Intervention>| print(changed).len() < print(&list).len() && still(changed);
        if let Some(better) = simpler(&list[place]).into_iter().map(with).find(is_better) {
            return shorten(system, invariant, better);
        }
    }
    list
}

fn simpler(intervention: &Intervention) -> Vec<Intervention> {
    let rounded = |micros: i64| {
        [10_000_000, 5_000_000, 1_000_000, 500_000, 100_000, 50_000, 10_000]
            .into_iter()
            .flat_map(move |grid| [micros.div_euclid(grid) * grid, (micros.div_euclid(grid) + 1) * grid])
    };
    let Intervention { at, change } = intervention;
    let mut all: Vec<Intervention> = Vec::new();
    for micros in rounded(at.as_micros()) {
        all.push(Intervention { at: TrueTime::from_micros(micros), change: change.clone() });
    }
    let mut push = |change: Change| all.push(Intervention { at: *at, change });
    match change {
        Change::Pause { target, lasts, vm } => {
            if *vm {
                push(Change::Pause { target: *target, lasts: *lasts, vm: false });
            }
            push(Change::Pause { target: *target, lasts: None, vm: *vm });
            for micros in lasts.iter().flat_map(|span| rounded(span.as_micros())).filter(|micros| *micros > 0) {
                push(Change::Pause { target: *target, lasts: Some(Span::micros(micros)), vm: *vm });
            }
        }
        Change::Rate(target, ppm) => {
            for rate in [500_000, 2_000_000, 750_000, 1_500_000] {
                push(Change::Rate(*target, rate));
            }
            for micros in rounded(*ppm).filter(|ppm| (100_000..=10_000_000).contains(ppm)) {
                push(Change::Rate(*target, micros));
            }
        }
        Change::StepWall(target, by) => {
            rounded(by.as_micros()).for_each(|micros| push(Change::StepWall(*target, Span::micros(micros))))
        }
        Change::Offset(target, by) => {
            rounded(by.as_micros()).for_each(|micros| push(Change::Offset(*target, Span::micros(micros))))
        }
        Change::Delay { from, to, by } => {
            for micros in rounded(by.as_micros()).filter(|micros| *micros > 0) {
                push(Change::Delay { from: *from, to: *to, by: Span::micros(micros) });
            }
        }
        Change::Partition(groups) => {
            for (group, members) in groups.iter().enumerate() {
                for member in 0..members.len() {
                    let mut fewer = groups.clone();
                    fewer[group].remove(member);
                    fewer.retain(|members| !members.is_empty());
                    if fewer.len() > 1 {
                        push(Change::Partition(fewer));
                    }
                }
            }
        }
        _ => {}
    }
    all
}

/// Runs generated lists and tells `found` what each breaks.
fn try_lists(system: System, class: Class, count: u32, mut found: impl FnMut(Invariant, Vec<Intervention>, u64)) {
    let strategy = system.lists(class);
    let mut runner = TestRunner::new(cases_count(1));
    for _ in 0..count {
        let (list, seed) = strategy.new_tree(&mut runner).expect("a list can be generated").current();
        let run = system.run(&list, seed);
        for invariant in Invariant::ALL {
            if verdict(&run, invariant) == "broken" {
                found(invariant, list.clone(), seed);
            }
        }
    }
}

/// What the labs try, without the choices and settings that make a lab.
fn lists_of_labs() -> Vec<Vec<Intervention>> {
    let mut texts: Vec<String> = Vec::new();
    for scenario in lease_lab_scenarios::all() {
        texts.push(scenario.faults.to_owned());
        for variant in scenario.variants {
            texts.push(variant.adds.to_owned());
            texts.push(format!("{}; {}", scenario.faults, variant.adds));
        }
    }
    let tries = guarantees::systems().flat_map(|system| system.tries).flatten();
    texts.extend(tries.map(|text| (*text).to_owned()));
    let lists = texts.into_iter().map(|text| {
        let mut list = parse_list(&text).unwrap_or_else(|mistake| panic!("{mistake}"));
        list.retain(|intervention| is_fault(&intervention.change));
        list
    });
    lists.filter(|list| list.len() <= LENGTH_MAX).collect()
}

/// What this test generates; the rest chooses a system or its settings.
fn is_fault(change: &Change) -> bool {
    !matches!(
        change,
        Change::Service(_)
            | Change::Store(_)
            | Change::Set { .. }
            | Change::Fence(_)
            | Change::Raise(_)
            | Change::Idempotent(_)
            | Change::Lease(_)
            | Change::Renew(_)
            | Change::Margin(_)
            | Change::Sweeper(_)
    )
}

/// Searches longer, and adds what it finds to the ways.
fn search(ways: &mut Ways) {
    // What breaks one system is worth a try on every other.
    let known_ways = each_once(ways.0.values().cloned().collect());
    let all = each_once([known_ways.clone(), lists_of_labs()].concat());
    let only = std::env::var(BLESS).unwrap_or_default();
    let known: Vec<String> = ways.0.keys().map(|(system, ..)| system.clone()).collect();
    for system in systems() {
        search_the_unbroken(ways, system, &known_ways, &all);
        // What was found stays if the search is interrupted.
        ways.write();
        if only == "unbroken" || (only == "new" && known.contains(&system.to_string())) {
            continue;
        }
        for list in all.iter().filter(|list| system.has(class_of(list))) {
            for invariant in Invariant::ALL {
                if breaks(system, invariant, list) {
                    ways.offer(system, invariant, shorten(system, invariant, list.clone()));
                }
            }
        }
        for class in Class::ALL.into_iter().filter(|class| system.has(*class)) {
            let mut tries: BTreeMap<Invariant, u32> = BTreeMap::new();
            try_lists(system, class, LISTS_TO_BLESS, |invariant, list, _| {
                let tries = tries.entry(invariant).or_default();
                // Shortening takes many runs, and the shortest lists are found soon.
                if *tries < 12 && breaks(system, invariant, &list) {
                    *tries += 1;
                    ways.offer(system, invariant, shorten(system, invariant, list));
                }
            });
        }
    }
}

fn each_once(mut lists: Vec<Vec<Intervention>>) -> Vec<Vec<Intervention>> {
    lists.sort_by_key(|list| print(list));
    lists.dedup();
    lists
}

/// One fault of one machine, right after whatever a worker does in the run without faults and in the story.
fn after_each_event(system: System) -> Vec<Vec<Intervention>> {
    let lasts = Some(Span::seconds(15));
    let mut lists = Vec::new();
    for base in [Vec::new(), story().own_interventions()] {
        let events = system.run(&base, 0).events;
        let of_workers = events.iter().filter(|event| event.machine.worker().is_some());
        let mut times: Vec<TrueTime> = of_workers.map(|event| event.t).collect();
        times.dedup();
        for machine in system.machines() {
            let target = Target::Machine(machine);
            for change in [
                Change::Pause { target, lasts, vm: false },
                Change::Pause { target, lasts, vm: true },
                Change::Crash(target),
                Change::Isolate(target),
                Change::StepWall(target, Span::seconds(20)),
                Change::StepWall(target, Span::seconds(-20)),
            ] {
                lists.extend(times.iter().map(|t| {
                    let fault = Intervention { at: *t + Span::millis(1), change: change.clone() };
                    [&base[..], &[fault]].concat()
                }));
            }
        }
    }
    lists
}

/// Tries harder where no way is known: what breaks something else, alone and in pairs, a fault after each act of a
/// worker, and many more generated lists.
fn search_the_unbroken(ways: &mut Ways, system: System, known_ways: &[Vec<Intervention>], all: &[Vec<Intervention>]) {
    let try_one = |ways: &mut Ways, list: &[Intervention]| {
        let run = system.run(list, 0);
        for invariant in Invariant::ALL {
            if ways.known(system, invariant, class_of(list)).is_none() && verdict(&run, invariant) == "broken" {
                ways.offer(system, invariant, shorten(system, invariant, list.to_vec()));
            }
        }
    };
    let pairs = known_ways
        .iter()
        .enumerate()
        .flat_map(|(place, first)| known_ways[..place].iter().map(move |second| [&first[..], &second[..]].concat()));
    for list in
        all.iter().cloned().chain(pairs).chain(after_each_event(system)).filter(|list| system.has(class_of(list)))
    {
        try_one(ways, &list);
    }
    for class in Class::ALL.into_iter().filter(|class| system.has(*class)) {
        let strategy = system.lists(class);
        let mut runner = TestRunner::new(cases_count(1));
        for _ in 0..LISTS_FOR_THE_UNBROKEN {
            try_one(ways, &strategy.new_tree(&mut runner).expect("a list can be generated").current().0);
        }
    }
}

fn document(ways: &Ways) -> String {
    let mut text = String::from(HEAD);
    for (class, title, what) in [
        (
            Class::Faults,
            "Faults",
            "Processes that pause, crash and restart; clocks that are wrong; messages that are lost; a network that is cut.",
        ),
        (
            Class::LateOrTwice,
            "Faults, and messages that come late or twice",
            "The same, and any message may be delayed or doubled. \
             A token orders holders and not one holder's messages, so a doubled write with the current token is \
             accepted twice; an idempotent store is what helps.",
        ),
        (
            Class::Restored,
            "Faults, and an authority that is set back",
            "The lock service is restored from an earlier state, with or without a jump of its counter. \
             Redis and Redlock are left out: they do not number their states, so that no earlier one can be named; \
             a server that restarts without its data is one of the faults above.",
        ),
    ] {
        write!(text, "\n## {title}\n\n{what}\n\n| lock service | store | fence |").expect("a string can be written");
        for invariant in Invariant::ALL {
            write!(text, " {invariant} |").expect("a string can be written");
        }
        text.push_str("\n|---|---|---|");
        text.push_str(&"---|".repeat(Invariant::ALL.len()));
        text.push('\n');
        for system in systems().into_iter().filter(|system| system.has(class)) {
            write!(text, "| {} | {} | {} |", system.service, system.store, system.fence)
                .expect("a string can be written");
            let calm = system.run(&[], 0);
            for invariant in Invariant::ALL {
                let cell = match ways.known(system, invariant, class) {
                    Some(_) => "**broken**",
                    None if verdict(&calm, invariant) == "not-applicable" => "–",
                    None => "not broken",
                };
                write!(text, " {cell} |").expect("a string can be written");
            }
            text.push('\n');
        }
    }
    text.push_str(WAYS_HEAD);
    for invariant in Invariant::ALL {
        let mut by_list: BTreeMap<(usize, String), Vec<String>> = BTreeMap::new();
        for ((system, _, _), list) in ways.0.iter().filter(|((_, of, _), _)| *of == invariant) {
            by_list.entry((list.len(), print(list))).or_default().push(system.clone());
        }
        if by_list.is_empty() {
            continue;
        }
        write!(text, "\n### {invariant}\n\n| interventions | lock service, store, fence |\n|---|---|\n")
            .expect("a string can be written");
        for ((_, list), systems) in by_list {
            let list = if list.is_empty() { "none".to_owned() } else { format!("`{}`", list.replace('|', "\\|")) };
            writeln!(text, "| {list} | {} |", systems.join(", ")).expect("a string can be written");
        }
    }
    text
}

const HEAD: &str = "\
# What was broken, and what was not

<!-- Printed by the test `guarantees`; LEASE_LAB_BLESS=1 cargo test -p lease-lab-scenarios --test guarantees writes it anew. -->

Each line is the billing story on one lock service, with one store and one way to compare tokens; workers raise the fence first.
Each invariant is an observer of the run; [architecture](architecture.md) says what it watches.

- **broken**: there is a list of interventions that breaks it; the shortest known one is below, and the tests run it.
- not broken: no list that was tried breaks it. The tests run a number of generated lists for each line, and a longer search ran when this page was printed. That is no proof: *not broken* does not say *holds*.
- –: there is nothing to check, because this lock service hands out no growing number.

A safe system may still fail to finish: an invariant that is about the end of the job breaks as soon as enough machines stay dead.
";

const WAYS_HEAD: &str = "
## The shortest known ways

To see one: `lease-lab run billing-story --plain --do 'CHOICES; INTERVENTIONS'`, where the choices are for example `0 service consensus; 0 store row; 0 fence off`.
None of the interventions can be left out; for some, a still shorter list may exist.
";

fn document_path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/guarantees.md")
}

const HOW_TO_BLESS: &str =
    "LEASE_LAB_BLESS=1 cargo test -p lease-lab-scenarios --test guarantees writes the two files anew";

#[test]
fn the_table_of_guarantees_is_as_the_runs_say() {
    if std::env::var_os(BLESS).is_some() {
        let mut ways = Ways::read();
        let systems: Vec<String> = systems().iter().map(ToString::to_string).collect();
        ways.0.retain(|(system, ..), _| systems.contains(system));
        let mut still = Ways::default();
        for ((name, invariant, _), list) in std::mem::take(&mut ways.0) {
            let system = systems_named(&name);
            if breaks(system, invariant, &list) {
                still.offer(system, invariant, shorten(system, invariant, list));
            }
        }
        search(&mut still);
        still.write();
        fs::write(document_path(), document(&still)).expect("the document can be written");
        return;
    }
    let ways = Ways::read();
    let document_now = fs::read_to_string(document_path()).unwrap_or_default();
    assert!(document_now == document(&ways), "docs/guarantees.md is out of date: {HOW_TO_BLESS}");
}

fn systems_named(name: &str) -> System {
    let system = systems().into_iter().find(|system| system.to_string() == name);
    system.unwrap_or_else(|| panic!("“{name}” cannot be run"))
}

/// Each way breaks what it is said to break, and every part of it is needed.
#[test]
fn the_shortest_known_ways_break_what_they_are_said_to_break() {
    for ((name, invariant, _), list) in &Ways::read().0 {
        let system = systems_named(name);
        assert!(breaks(system, *invariant, list), "{name}: {invariant} is not broken by {}", print(list));
        for place in 0..list.len() {
            let mut shorter = list.clone();
            shorter.remove(place);
            let needed = !breaks(system, *invariant, &shorter);
            assert!(needed, "{name}: {invariant} is broken by less than {}: {HOW_TO_BLESS}", print(list));
        }
    }
}

/// What no way is known for is tried anew.
#[test]
fn no_generated_list_breaks_what_is_said_to_be_unbroken() {
    let ways = Ways::read();
    for system in systems() {
        for class in Class::ALL.into_iter().filter(|class| system.has(*class)) {
            try_lists(system, class, LISTS, |invariant, list, seed| {
                assert!(
                    ways.known(system, invariant, class).is_some(),
                    "{system}: {invariant} is broken with seed {seed} by {}: {HOW_TO_BLESS}",
                    print(&list)
                );
            });
        }
    }
}
