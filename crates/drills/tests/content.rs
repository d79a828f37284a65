//! Every drill is run: what the files say is true of the runs.

use lease_lab_drills::{all, check};

#[test]
fn every_drill_is_true_of_its_runs() {
    let problems: Vec<String> = all()
        .flat_map(|drill| check::check(drill).problems.into_iter().map(|problem| format!("{}: {problem}", drill.id)))
        .collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
