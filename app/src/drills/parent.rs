//! What the parent of an embedded drill hears, and what it may give back.

use js_sys::{Object, Reflect};
use lease_lab_drills::Drill;
use lease_lab_drills::progress::Progress;
use leptos::prelude::*;
use wasm_bindgen::prelude::*;

use super::Drills;
use crate::embed;

/// Tells of an answer that was committed to: never before.
pub(super) fn tell(drills: Drills, drill: &Drill, right: bool, score: u8) {
    if embed::controls().is_none() {
        return;
    }
    let progress = drills.kept.progress.read_untracked();
    let set = drills.set.get_value();
    let last = |drill: &&Drill| progress.attempts(drill.id).last().map_or(0, |attempt| u32::from(attempt.score));
    let total = set.iter().map(last).sum::<u32>() / u32::try_from(set.len().max(1)).unwrap_or(1);
    let answered = set.iter().filter(|drill| !progress.attempts(drill.id).is_empty()).count();
    let detail = Object::new();
    for (name, value) in [
        ("drill", JsValue::from(drill.id)),
        ("right", right.into()),
        ("score", score.into()),
        ("total", if set.is_empty() { score.into() } else { total.into() }),
        ("answered", (answered as u32).into()),
        ("of", (set.len() as u32).into()),
        ("progress", progress.export().into()),
    ] {
        // Setting a property of a plain object cannot fail.
        let _ = Reflect::set(&detail, &name.into(), &value);
    }
    embed::announce("lease-lab-answer", &detail);
}

/// Takes progress that a learning system has kept, where the browser has kept none.
pub(super) fn listen(drills: Drills) {
    if embed::controls().is_none() {
        return;
    }
    let restore = Closure::<dyn Fn(String)>::new(move |text: String| {
        let is_new = *drills.kept.progress.read_untracked() == Progress::default();
        if let Ok(progress) = Progress::import(&text)
            && is_new
        {
            drills.kept.replace(progress);
            // What was answered there is shown as it was.
            drills.route.update(|_| {});
        }
    });
    let api = Object::new();
    let _ = Reflect::set(&api, &"restore".into(), &restore.into_js_value());
    let _ = Reflect::set(&window(), &"leaseLab".into(), &api);
}
