//! Labs without a run: tables, the card, the checklist.

/// Placeholder until the pages are listed.
pub(crate) fn show() {}
