//! How much a reader downloads before the page runs, and how much that may be.

use crate::dist::{self, File};
use crate::failure::{Failure, Outcome};

/// All parts of the page together, compressed with brotli: about one second on a 2 Mbit/s line.
pub(crate) const PAGE_BYTES_MAX: u64 = 220 * 1024;

/// The parts that the page needs before it runs, each with its size as sent.
fn page_parts(files: &[File]) -> Vec<(&str, u64)> {
    files
        .iter()
        .filter_map(|file| {
            let part = file.path.strip_suffix(".br")?;
            let later = ["labs-", "chart-", "embed-"].iter().any(|stem| part.starts_with(stem));
            let is_part = !later && (part == "index.html" || part.starts_with("snippets/") || dist::is_hashed(part));
            is_part.then_some((part, file.bytes))
        })
        .collect()
}

/// The sum of all parts.
fn page_bytes(files: &[File]) -> u64 {
    page_parts(files).iter().map(|(_, bytes)| bytes).sum()
}

/// One line with every part and the sum.
pub(crate) fn summary(files: &[File]) -> String {
    let parts: Vec<String> =
        page_parts(files).iter().map(|(name, bytes)| format!("{name} {}", kilobytes(*bytes))).collect();
    format!("{} of {} as sent: {}", kilobytes(page_bytes(files)), kilobytes(PAGE_BYTES_MAX), parts.join(", "))
}

/// Fails when the page is heavier than [`PAGE_BYTES_MAX`].
pub(crate) fn check(files: &[File]) -> Outcome<()> {
    let bytes = page_bytes(files);
    if bytes <= PAGE_BYTES_MAX {
        return Ok(());
    }
    Err(Failure::new(format!(
        "The page in dist/ is too heavy: {bytes} bytes compressed, and {PAGE_BYTES_MAX} are allowed; make it smaller, or raise the limit in crates/xtask/src/budget.rs with a reason."
    )))
}

/// `12345` bytes as `12.1 KB`, where 1 KB is 1024 bytes.
fn kilobytes(bytes: u64) -> String {
    // Tenths in integers: a size is exact, and 52 bits would be enough anyway.
    let tenths = (bytes * 10 + 512) / 1024;
    format!("{}.{} KB", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(wasm_bytes: u64) -> Vec<File> {
        let file = |path: &str, bytes| File { path: path.to_owned(), bytes };
        vec![
            file("favicon.svg", 900),
            file("favicon.svg.br", 300),
            file("index.html", 4096),
            file("index.html.br", 1024),
            file("lease-lab-0123abcd.wasm", 1_000_000),
            file("lease-lab-0123abcd.wasm.br", wasm_bytes),
        ]
    }

    #[test]
    fn counts_what_the_page_needs_as_sent() {
        assert_eq!(page_bytes(&files(2048)), 3072);
        assert_eq!(
            summary(&files(2048)),
            "3.0 KB of 220.0 KB as sent: index.html 1.0 KB, lease-lab-0123abcd.wasm 2.0 KB"
        );
    }

    #[test]
    fn accepts_the_limit_and_refuses_one_byte_more() {
        assert!(check(&files(PAGE_BYTES_MAX - 1024)).is_ok());
        let failure = check(&files(PAGE_BYTES_MAX - 1023)).expect_err("one byte too many");
        assert!(failure.to_string().contains("225281 bytes"), "{failure}");
    }

    #[test]
    fn rounds_to_tenths() {
        assert_eq!(kilobytes(0), "0.0 KB");
        assert_eq!(kilobytes(12_345), "12.1 KB");
        assert_eq!(kilobytes(PAGE_BYTES_MAX), "220.0 KB");
    }
}
