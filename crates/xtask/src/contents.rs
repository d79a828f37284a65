//! The list of every lab, which the page has before anything is simulated.

use lease_lab_scenarios::{parts, shelf};

/// Every part with its labs, as HTML.
pub(crate) fn html() -> String {
    let mut html = String::from("<ol>");
    for part in &parts::ALL {
        html.push_str(&format!("<li><h3>{}</h3><ul>", escape(part.name)));
        for lab in shelf::labs().filter(|lab| lab.part == part.number) {
            html.push_str(&format!(
                "<li><a href=\"?lab={}\">{}</a> <span>{}</span></li>",
                lab.id,
                escape(lab.name),
                escape(lab.title)
            ));
        }
        html.push_str("</ul></li>");
    }
    html.push_str("</ol>");
    html
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lab_is_listed_once() {
        let html = html();
        for lab in shelf::labs() {
            assert_eq!(html.matches(&format!("?lab={}\"", lab.id)).count(), 1, "{}", lab.id);
        }
        assert_eq!(html.matches("<h3>").count(), parts::ALL.len());
    }
}
