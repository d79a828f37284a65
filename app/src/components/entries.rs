//! The list of interventions as HTML.

use lease_lab_links::List;

use crate::html::Html;

/// One line for each; the one that is edited is a form.
pub(super) fn list(list: &List, editing: Option<usize>) -> String {
    let mut html = Html::default();
    for (place, entry) in list.iter().enumerate() {
        let text = entry.intervention.to_string();
        let place_text = place.to_string();
        if editing == Some(place) {
            html.open("li", &[("class", "entry")]).open("form", &[("class", "row")]);
            let label = format!("Change {text}");
            html.open(
                "input",
                &[
                    ("type", "text"),
                    ("class", "mono grow"),
                    ("aria-label", &label),
                    ("value", &text),
                    ("autocomplete", "off"),
                    ("spellcheck", "false"),
                ],
            );
            html.element("button", &[("type", "submit"), ("class", "act")], "Save");
            html.element("button", &[("type", "button"), ("class", "quiet"), ("data-act", "leave")], "Cancel");
            html.close("form").close("li");
            continue;
        }
        html.open("li", &[("class", if entry.on { "entry" } else { "entry off" })]);
        html.element("span", &[("class", "entry-text")], &text);
        html.open("span", &[("class", "entry-actions")]);
        let switch = if entry.on { "off" } else { "on" };
        for (act, word, label) in [
            ("edit", "edit", format!("Edit {text}")),
            ("switch", switch, format!("Switch {switch} {text}")),
            ("remove", "remove", format!("Remove {text}")),
        ] {
            html.element(
                "button",
                &[
                    ("type", "button"),
                    ("class", "quiet"),
                    ("data-act", act),
                    ("data-place", &place_text),
                    ("aria-label", &label),
                ],
                word,
            );
        }
        html.close("span").close("li");
    }
    if list.is_empty() {
        html.element("li", &[("class", "soft")], "Nothing: everybody is left alone.");
    }
    html.finish()
}
