//! Draws a run.
//!
//! [`views`] derives spans and marks from the events of a trace, up to a chosen instant.
//! [`timeline`] lays them out and returns SVG; [`clock_graph`] draws the clocks with plotters on any backend.
//! Nothing here knows the DOM, and nothing here knows what should have happened: what is drawn is what the trace says.

/// Whether this build has more than the billing story.
pub(crate) const LABS: bool = cfg!(feature = "labs");

pub mod bars;
pub mod clock_graph;
pub mod labels;
pub mod row_states;
pub mod svg;
pub mod timeline;
pub mod views;
