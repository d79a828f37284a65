//! The learner's progress: on this device, if the browser keeps anything, and in memory in any case.

use lease_lab_drills::progress::{Attempt, Progress};
use leptos::prelude::*;

use crate::dom;

const KEY: &str = "lease-lab-progress";

/// Progress, and what the learner must know about its keeping; small handles.
#[derive(Clone, Copy)]
pub(super) struct Kept {
    pub(super) progress: RwSignal<Progress>,
    /// A sentence if it is not kept.
    pub(super) trouble: RwSignal<Option<String>>,
}

impl Kept {
    /// Reads what the browser has kept.
    pub(super) fn read() -> Kept {
        let stored = dom::storage().map(|storage| storage.get_item(KEY));
        let (progress, trouble) = match stored {
            None | Some(Err(_)) => (Progress::default(), Some(REFUSED.to_owned())),
            Some(Ok(None)) => (Progress::default(), None),
            Some(Ok(Some(text))) => match Progress::import(&text) {
                Ok(progress) => (progress, None),
                // What cannot be read is left where it is, until something is answered here.
                Err(wrong) => (
                    Progress::default(),
                    Some(format!(
                        "The progress that this browser has kept cannot be read: {wrong}. A copy is set aside."
                    )),
                ),
            },
        };
        let kept = Kept { progress: RwSignal::new(progress), trouble: RwSignal::new(trouble) };
        kept.set_aside();
        kept
    }

    /// Keeps a copy of what could not be read, so that nothing is lost when the next answer is kept.
    fn set_aside(self) {
        if self.trouble.get_untracked().is_none() {
            return;
        }
        let Some(storage) = dom::storage() else { return };
        if let Ok(Some(text)) = storage.get_item(KEY) {
            // Without room for a copy the original still stands until the next answer.
            let _ = storage.set_item("lease-lab-progress-unreadable", &text);
        }
    }

    /// Adds an answer.
    pub(super) fn record(self, id: &str, attempt: Attempt) {
        self.progress.update(|progress| progress.record(id, attempt));
        self.write();
    }

    /// Replaces everything.
    pub(super) fn replace(self, progress: Progress) {
        self.progress.set(progress);
        self.write();
    }

    fn write(self) {
        let text = self.progress.read_untracked().export();
        let written = dom::storage().is_some_and(|storage| storage.set_item(KEY, &text).is_ok());
        let trouble = (!written).then(|| REFUSED.to_owned());
        if self.trouble.get_untracked() != trouble {
            self.trouble.set(trouble);
        }
    }
}

const REFUSED: &str = "This browser keeps nothing for this page, so your progress lasts until you leave it. \
                       Export it to a file if you want to go on later.";
