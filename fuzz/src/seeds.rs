//! Texts to begin with: everything that scenarios and drills say.

use lease_lab_drills::drill::{Ask, Drill, Task};
use lease_lab_drills::progress::{Attempt, Progress};
use lease_lab_links::{Beside, Controls, Drills, Frame, Ghost, Lang, Link, Theme, all_on};
use lease_lab_sim::intervention::parse_list;
use lease_lab_sim::time::TrueTime;

/// The texts for a target.
pub fn of(target: &str) -> Vec<String> {
    match target {
        "link" => links(),
        "grammar" => interventions(),
        "progress" => progress(),
        _ => queries(),
    }
}

fn interventions() -> Vec<String> {
    let mut texts = Vec::new();
    for scenario in lease_lab_scenarios::all() {
        texts.push(scenario.faults.to_owned());
        texts.extend(scenario.variants.iter().map(|variant| variant.adds.to_owned()));
    }
    for drill in lease_lab_drills::all() {
        texts.extend(drill.setup.interventions.map(str::to_owned));
        texts.extend(drill.also.iter().filter_map(|also| also.setup.interventions).map(str::to_owned));
        texts.extend(drill.variation.and_then(|variation| variation.setup.interventions).map(str::to_owned));
        if let Task::FixIt { changes, attacks, .. } = drill.task {
            texts.extend(changes.iter().map(|change| change.interventions.to_owned()));
            texts.extend(attacks.iter().map(|attack| attack.interventions.to_owned()));
        }
    }
    let more = "0 rate B 1.02; 1 partition n1,n2 | n3, A | store,leader; 2 restart r3 empty; 3 offset D -0.5; \
                4 delay A store 2; 5 drop A n1; 6 duplicate B n2; 7 outage 3; 8 step-wall C +1; 9 restore 14 bump 100";
    texts.push(more.to_owned());
    texts
}

fn links() -> Vec<String> {
    let mut links = vec![Link::read("?drill")];
    for scenario in lease_lab_scenarios::all() {
        links.push(Link::to(scenario));
        for variant in scenario.variants {
            let added = parse_list(variant.adds).unwrap_or_default();
            let with = Some(Beside { text: variant.adds.to_owned(), alone: variant.alone });
            let mut list = all_on(added);
            if let Some(last) = list.last_mut() {
                last.on = false;
            }
            links.push(Link { list, ..Link::to(scenario) });
            links.push(Link { with, ..Link::to(scenario) });
        }
    }
    let frame = Frame { lang: Some(Lang::ZhHans), embed: true, controls: Controls::Transport };
    for page in lease_lab_scenarios::pages::pages() {
        links.push(Link { page: Some(page), frame, ..Link::read("") });
    }
    let then: Vec<&'static Drill> = lease_lab_drills::all().take(3).collect();
    for drill in lease_lab_drills::all() {
        links.push(Link { drills: Some(Drills::One(drill, then.clone())), frame, ..Link::read("") });
    }
    links.push(Link {
        seed: 7,
        cursor: Some(TrueTime::from_millis(19_050)),
        window: Some((TrueTime::ZERO, TrueTime::from_millis(22_000))),
        ghost: Ghost::FenceOff,
        theme: Some(Theme::Dark),
        hash: Some("0123456789abcdef".to_owned()),
        ..Link::read("?do=4+pause+A+15&off=1:3+crash+B&with=%3D0+fence+off")
    });
    let mut texts: Vec<String> = links.iter().map(Link::write).collect();
    texts.push("?v=2&lang=fr&embed=x&controls=y&t=z&view=1-&seed=-1&theme=&hash=0&off=1:2&lab=%".to_owned());
    texts
}

fn progress() -> Vec<String> {
    let mut all = Progress::default();
    let mut texts = vec![all.export()];
    for (day, drill) in (20_000..).zip(lease_lab_drills::all()) {
        let attempt = |day, right, answer: &str| Attempt { day, right, score: 50, answer: answer.to_owned() };
        let mut one = Progress::default();
        for (later, answer) in
            ["option 1", "order 2 1", "number -0.5", "mark 19.05", "check yes no", "do 4 heal"].into_iter().enumerate()
        {
            one.record(drill.id, attempt(day + later as u32, later % 2 == 0, answer));
        }
        all.record(drill.id, attempt(day, true, "changes 1 2 “\n"));
        texts.push(one.export());
    }
    texts.push(all.export());
    texts
}

fn queries() -> Vec<String> {
    let mut texts: Vec<String> =
        ["option 1", "order 2 1 3", "number -0.5", "mark 19.05", "changes 1 2", "check yes no"]
            .map(str::to_owned)
            .into();
    texts.push(
        "fenced: field worker of write-refused chunk=3 on store #2 after 4.5 before 60 + 1 >= count started".into(),
    );
    let mut add = |text: &str| texts.push(text.to_owned());
    for drill in lease_lab_drills::all() {
        drill.shows.iter().copied().for_each(&mut add);
        match drill.task {
            Task::Predict { ask: Ask::Choose { options, .. }, .. } => {
                options.iter().flat_map(|option| option.when).copied().for_each(&mut add);
            }
            Task::Predict { ask: Ask::Order { items, .. }, .. } => {
                items.iter().map(|item| item.event).for_each(&mut add);
            }
            Task::Predict { ask: Ask::Number { value, mistakes, .. } | Ask::Mark { value, mistakes, .. }, .. } => {
                add(value);
                mistakes.iter().map(|near| near.value).for_each(&mut add);
            }
            Task::BreakIt { goal, mistakes, .. } => {
                goal.iter().chain(mistakes.iter().flat_map(|mistake| mistake.when)).copied().for_each(&mut add);
            }
            Task::FixIt { goal, works, .. } => goal.iter().chain(works).copied().for_each(&mut add),
            Task::Explain { .. } => {}
        }
    }
    texts
}
