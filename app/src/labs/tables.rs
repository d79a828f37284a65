//! Tables of facts, the card and the checklist, as HTML.

use lease_lab_scenarios::cheat_card::CARD;
use lease_lab_scenarios::{checklist, shelf, tables};

use crate::html::Html;

/// A link to a lab by its name.
fn lab_link(html: &mut Html, id: &str) {
    if let Some(lab) = shelf::labs().find(|lab| lab.id == id) {
        html.element("a", &[("href", &format!("?lab={id}"))], lab.name);
    }
}

/// A table of facts; each statement carries the numbers of its sources.
pub(super) fn facts(id: &str) -> String {
    let mut html = Html::default();
    let Some(table) = tables::find(id) else { return html.finish() };
    html.element("p", &[], table.intro);
    html.open("div", &[("class", "wide"), ("tabindex", "0"), ("role", "region"), ("aria-label", table.title)]);
    html.open("table", &[("class", "facts")]).element("caption", &[], table.title);
    html.open("thead", &[]).open("tr", &[]).element("th", &[("scope", "col")], "System");
    for column in table.columns {
        html.element("th", &[("scope", "col")], column);
    }
    html.element("th", &[("scope", "col")], "See it happen").close("tr").close("thead").open("tbody", &[]);
    for row in table.rows {
        html.open("tr", &[]).element("th", &[("scope", "row")], row.name);
        for cell in row.cells {
            html.open("td", &[]);
            match cell {
                Some(statement) => {
                    html.text(statement.text);
                    for source in statement.sources {
                        let number = (source + 1).to_string();
                        html.text("\u{a0}").open("sup", &[]);
                        html.element(
                            "a",
                            &[("href", &format!("#source-{number}")), ("aria-label", &format!("Source {number}"))],
                            &number,
                        );
                        html.close("sup");
                    }
                }
                None => {
                    html.text("–");
                }
            }
            html.close("td");
        }
        html.open("td", &[]);
        if let Some(lab) = row.lab {
            lab_link(&mut html, lab);
        }
        html.close("td").close("tr");
    }
    html.close("tbody").close("table").close("div");
    html.element("h3", &[], "Sources").open("ol", &[("class", "sources")]);
    for (place, source) in table.sources.iter().enumerate() {
        html.open("li", &[("id", &format!("source-{}", place + 1))]);
        html.element("a", &[("href", source.address), ("rel", "noreferrer")], source.title).close("li");
    }
    html.close("ol");
    html.finish()
}

/// A plain table; the first cell of each row names it.
pub(super) fn plain_table(html: &mut Html, caption: &str, heads: &[&str], rows: &[Vec<String>]) {
    html.open("div", &[("class", "wide"), ("tabindex", "0"), ("role", "region"), ("aria-label", caption)]);
    html.open("table", &[]).element("caption", &[], caption).open("thead", &[]).open("tr", &[]);
    for head in heads {
        match *head {
            // The column of the rows' names needs no name of its own.
            "" => html.element("td", &[], ""),
            head => html.element("th", &[("scope", "col")], head),
        };
    }
    html.close("tr").close("thead").open("tbody", &[]);
    for row in rows {
        html.open("tr", &[]);
        for (place, cell) in row.iter().enumerate() {
            match place {
                0 => html.element("th", &[("scope", "row")], cell),
                _ => html.element("td", &[], cell),
            };
        }
        html.close("tr");
    }
    html.close("tbody").close("table").close("div");
}

/// The one-page card.
pub(super) fn card() -> String {
    let mut html = Html::default();
    html.element("h3", &[], "Rules").open("ol", &[]);
    for rule in CARD.rules {
        html.element("li", &[], rule);
    }
    html.close("ol");
    let texts = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
    let rows: Vec<_> =
        CARD.formulas.iter().map(|formula| texts([formula.name, formula.formula, formula.example])).collect();
    plain_table(&mut html, "Formulas", &["", "Formula", "With numbers"], &rows);
    let rows: Vec<_> = CARD.places.iter().map(|place| texts([place.name, place.state, place.when_lost])).collect();
    plain_table(&mut html, "Which state lives where", &["", "What is kept there", "If its machine dies"], &rows);
    let rows: Vec<_> = CARD.stores.iter().map(|store| texts([store.store, store.condition, store.refusal])).collect();
    plain_table(&mut html, "Which store compares what", &["", "The condition", "How it says no"], &rows);
    html.finish()
}

/// The eleven questions.
pub(super) fn questions() -> String {
    let mut html = Html::default();
    html.open("ol", &[("class", "checklist")]);
    for question in &checklist::ALL {
        html.open("li", &[]).element("strong", &[], question.text).text(" ").text(question.reason).text(" ");
        lab_link(&mut html, question.lab);
        html.close("li");
    }
    html.close("ol");
    html.finish()
}
