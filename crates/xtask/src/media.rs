//! What the files of the page are, by their names' endings.

/// The content type that a server must send for this file.
pub(crate) fn content_type(path: &str) -> &'static str {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    match ending {
        "css" => "text/css; charset=utf-8",
        "html" => "text/html; charset=utf-8",
        "ico" => "image/x-icon",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "json" => "application/json; charset=utf-8",
        "png" => "image/png",
        "svg" => "image/svg+xml; charset=utf-8",
        "txt" => "text/plain; charset=utf-8",
        // Browsers compile a module while it arrives only when it has exactly this type.
        "wasm" => "application/wasm",
        "webmanifest" => "application/manifest+json; charset=utf-8",
        "woff2" => "font/woff2",
        _ => "application/octet-stream",
    }
}

/// Whether compression makes such a file smaller: text and WebAssembly, but neither pictures nor fonts.
pub(crate) fn is_compressible(path: &str) -> bool {
    let content_type = content_type(path);
    content_type.ends_with("charset=utf-8") || content_type == "application/wasm"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, expected_type: &str, compressible: bool) {
        assert_eq!(content_type(path), expected_type);
        assert_eq!(is_compressible(path), compressible);
    }

    #[test]
    fn knows_the_files_of_the_page() {
        check("index.html", "text/html; charset=utf-8", true);
        check("lease-lab-0123abcd.css", "text/css; charset=utf-8", true);
        check("boot-0123abcd.js", "text/javascript; charset=utf-8", true);
        check("lease-lab-0123abcd.wasm", "application/wasm", true);
        check("favicon.svg", "image/svg+xml; charset=utf-8", true);
        check("picture.png", "image/png", false);
        check("font.woff2", "font/woff2", false);
        check("LICENSE", "application/octet-stream", false);
        check("folder.d/unknown", "application/octet-stream", false);
    }
}
