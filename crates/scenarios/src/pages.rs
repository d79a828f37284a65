//! Labs that are read and not run.

use crate::scenario::Extra;

/// A lab without a run.
#[derive(Debug)]
pub struct Page {
    /// The name in links.
    pub id: &'static str,
    /// The part of the course that it belongs to.
    pub part: u8,
    /// What it is called.
    pub name: &'static str,
    /// What it shows, as a line.
    pub title: &'static str,
    /// What a reader must know first.
    pub lede: &'static str,
    /// What to look at, two or three sentences, one paragraph each.
    pub notice: &'static [&'static str],
    /// What it shows, in this order.
    pub extras: &'static [Extra],
}

/// Every page, in the order of the parts.
pub fn pages() -> &'static [Page] {
    &PAGES
}

/// The page with this id.
pub fn find(id: &str) -> Option<&'static Page> {
    PAGES.iter().find(|page| page.id == id)
}

static PAGES: [Page; 4] = [
    Page {
        id: "compare",
        part: 5,
        name: "What each store can compare",
        title: "Six stores, what a condition may look at, and what a refusal looks like",
        lede: "A fence is a comparison in the step that writes. Stores differ in what they can compare, in whether the \
               comparison and the write are one step, and in how they say no.",
        notice: &[
            "Look for a store that cannot say “at most”. It needs another form of the same rule: compare for equality \
             with what you saw, and put the token into what you write.",
            "The error matters as much as the condition. A client must be able to tell “refused, stop” from “try \
             again”.",
        ],
        extras: &[Extra::Table("compare")],
    },
    Page {
        id: "aws",
        part: 11,
        name: "Authority, fence, look-alikes",
        title: "What on AWS can grant a lease, what can refuse a late write, and what only looks like it",
        lede: "Ask each service two questions: does it decide who holds the lease, and does it refuse a late write in \
               the step that would apply it?",
        notice: &[
            "A look-alike hides, deletes or deduplicates after a while. None of that happens in the step that writes, \
             so a holder that was paused long enough gets through.",
            "Each look-alike links to the lab that shows what breaks. Open it before you build on one.",
        ],
        extras: &[Extra::Table("aws")],
    },
    Page {
        id: "cheat-card",
        part: 12,
        name: "The card",
        title: "Rules, formulas, places of state and conditions on one page",
        lede: "Everything that is worth remembering, on one page to print.",
        notice: &[
            "The rules come first, because the rest follows from them.",
            "The numbers in the formulas are those of the story, so each can be found again in a run.",
        ],
        extras: &[Extra::CheatCard],
    },
    Page {
        id: "checklist",
        part: 12,
        name: "Failure checklist",
        title: "Eleven questions to ask of a system that uses leases",
        lede: "Put these questions to a system that you know. Each “no”, and each “I am not sure”, has a lab that shows \
               what it costs.",
        notice: &[
            "Answer for what happens, not for what was intended: which line of code compares the token?",
            "A question that nobody can answer is a finding, too.",
        ],
        extras: &[Extra::Checklist],
    },
];
