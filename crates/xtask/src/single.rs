//! The whole page in one file, for a double click: no server, no network.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::dist::Module;
use crate::failure::{Failure, Outcome};

/// Its name in `dist/`.
pub(crate) const NAME: &str = "lease-lab-offline.html";

/// Starts it.
const START: &str = include_str!("single.js");

/// What it may load: only what is in it.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; style-src 'unsafe-inline'; \
                      img-src blob: data:; base-uri 'none'; form-action 'none'";

/// Puts the style sheets and the modules into `index`, the page as it is laid out for a server.
pub(crate) fn page(index: &str, styles: &[&[u8]], labs: &Module, chart: &Module) -> Outcome<String> {
    if !labs.snippets.is_empty() || !chart.snippets.is_empty() {
        return Err(Failure::new(
            "A dependency brings JavaScript of its own, which the page in one file cannot load: remove the dependency.",
        ));
    }
    let mut style = String::new();
    for sheet in styles {
        style.push_str(&String::from_utf8_lossy(sheet));
    }
    let mut data = String::new();
    for (id, content) in [
        ("labs-js", labs.js.as_bytes()),
        ("labs-wasm", &labs.wasm),
        ("chart-js", chart.js.as_bytes()),
        ("chart-wasm", &chart.wasm),
    ] {
        data.push_str(&format!("<script type=\"text/plain\" id=\"{id}\">{}</script>\n", STANDARD.encode(content)));
    }
    let mut page = String::new();
    for line in index.lines() {
        if line.starts_with("<link rel=\"icon\"") {
            page.push_str("<link rel=\"icon\" href=\"data:,\">\n");
        } else if line.starts_with("<link rel=\"stylesheet\"") {
            page.push_str(&format!("<style>\n{style}</style>\n"));
        } else if line.starts_with("<meta http-equiv=\"Content-Security-Policy\"") {
            page.push_str(&format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n"));
        } else if line.starts_with("<script type=\"module\"") {
            // At the end of the page instead, where the data is there.
        } else if line == "</body>" {
            page.push_str(&format!("{data}<script type=\"module\">\n{START}</script>\n</body>\n"));
        } else {
            page.push_str(line);
            page.push('\n');
        }
    }
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::Files;

    #[test]
    fn everything_is_in_the_file_and_nothing_is_outside() {
        let module = |js: &str| Module { wasm: vec![0, 1, 2], js: js.to_owned(), snippets: Files::new() };
        let index = "<!doctype html>\n<link rel=\"icon\" href=\"favicon.svg\">\n<link rel=\"stylesheet\" href=\"a.css\">\n\
                     <script type=\"module\" src=\"boot.js\"></script>\n<body>\n</body>\n";
        let page = page(index, &[b"b{color:red}"], &module("labs"), &module("chart")).expect("nothing is missing");
        for part in ["b{color:red}", "id=\"labs-wasm\">AAEC<", "id=\"chart-js\">Y2hhcnQ=<", "load(\"labs\")"] {
            assert!(page.contains(part), "“{part}” is missing in {page}");
        }
        for part in ["a.css", "boot.js", "favicon.svg"] {
            assert!(!page.contains(part), "“{part}” is outside");
        }
        let mut with_snippet = module("labs");
        with_snippet.snippets.insert("snippets/a.js".into(), Vec::new());
        assert!(super::page(index, &[], &with_snippet, &module("chart")).is_err());
    }
}
