//! Facts about real systems, as tables: each statement names where it can be checked.
//!
//! These tables are the one part of the course that no run produces.
//! A statement says in our words what its sources say; what could not be found in a source is not in a table.

mod aws;
mod compare;
mod election_systems;
mod fences_elsewhere;

/// A table of facts.
#[derive(Debug)]
pub struct Table {
    /// The name in links.
    pub id: &'static str,
    /// What it is called.
    pub title: &'static str,
    /// How to read it.
    pub intro: &'static str,
    /// The heads of the columns, without that of the rows’ names.
    pub columns: &'static [&'static str],
    /// The systems.
    pub rows: &'static [Row],
    /// What the statements rest on.
    pub sources: &'static [Source],
}

/// What a table says of one system.
#[derive(Debug)]
pub struct Row {
    /// The system.
    pub name: &'static str,
    /// One statement for each column; none where the system plays no such part.
    pub cells: &'static [Option<Statement>],
    /// The lab that shows it happening.
    pub lab: Option<&'static str>,
}

/// A fact.
#[derive(Debug)]
pub struct Statement {
    /// The fact, as plain text.
    pub text: &'static str,
    /// Where it can be checked: positions in the table’s list of sources, from 0.
    pub sources: &'static [usize],
}

/// A document or a file of source code that anybody can open.
#[derive(Debug)]
pub struct Source {
    /// What it is called.
    pub title: &'static str,
    /// Its public address.
    pub address: &'static str,
}

/// Every table, in the order of the parts.
pub fn all() -> [&'static Table; 4] {
    [&fences_elsewhere::TABLE, &compare::TABLE, &election_systems::TABLE, &aws::TABLE]
}

/// The table with this id.
pub fn find(id: &str) -> Option<&'static Table> {
    all().into_iter().find(|table| table.id == id)
}

const fn says(text: &'static str, sources: &'static [usize]) -> Option<Statement> {
    Some(Statement { text, sources })
}

const fn source(title: &'static str, address: &'static str) -> Source {
    Source { title, address }
}
