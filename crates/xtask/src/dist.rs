//! Lays out `dist/`, the folder that any static web server can publish.
//!
//! Names of files that change carry a hash of their content, so that browsers may keep them for ever.
//! All addresses are relative, so that the folder works under any path.

use std::collections::BTreeMap;
use std::fs;
use std::hash::Hasher;
use std::io;
use std::path::{Path, PathBuf};

use fnv::FnvHasher;

use crate::failure::{Failure, OrFail, Outcome};
use crate::{contents, media, project, single};

/// The module that starts the page, with placeholders for what it starts.
const BOOT: &str = include_str!("boot.js");
/// The module that speaks with the parent of an embedded page.
const EMBED: &str = include_str!("embed.js");

/// The service worker, which keeps the files for visits without a network.
const WORKER: &str = include_str!("sw.js");

/// Files by their path inside a folder; parts of a path are joined with `/` everywhere.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// What `wasm-bindgen` makes of the compiled page.
pub(crate) struct Module {
    /// The module itself.
    pub(crate) wasm: Vec<u8>,
    /// The JavaScript that connects the module to the browser.
    pub(crate) js: String,
    /// JavaScript of dependencies, which `js` imports by these paths.
    pub(crate) snippets: Files,
}

/// A file in `dist/`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct File {
    /// Its path inside `dist/`, joined with `/`.
    pub(crate) path: String,
    /// Its size.
    pub(crate) bytes: u64,
}

/// What the page is made of besides the module: everything that is copied rather than compiled.
pub(crate) struct Sources {
    index: String,
    /// The list of every lab, as HTML.
    contents: String,
    public: Files,
}

impl Sources {
    /// Reads `index.html` and `public/`.
    pub(crate) fn read() -> Outcome<Self> {
        let root = project::root();
        let index = fs::read_to_string(root.join("index.html"))
            .or_fail(|| "Could not read index.html in the root of the repository".to_owned())?;
        let public = read_folder(&root.join("public")).or_fail(|| "Could not read the folder public".to_owned())?;
        Ok(Self { index, contents: contents::html(), public })
    }

    /// A hash of everything that decides what is in `dist/`.
    pub(crate) fn fingerprint(&self, modules: &[&[u8]], optimised: bool) -> Outcome<String> {
        let root = project::root();
        let tool = read_folder(&root.join("crates").join("xtask").join("src"))
            .or_fail(|| "Could not read crates/xtask/src".to_owned())?;
        // The lock file holds the versions of wasm-bindgen and of the compressor.
        let lock = fs::read(root.join("Cargo.lock")).or_fail(|| "Could not read Cargo.lock".to_owned())?;
        let mut hasher = FnvHasher::default();
        let mut add = |bytes: &[u8]| {
            hasher.write_usize(bytes.len());
            hasher.write(bytes);
        };
        add(&[u8::from(optimised)]);
        for wasm in modules {
            add(wasm);
        }
        add(self.contents.as_bytes());
        add(&lock);
        add(self.index.as_bytes());
        for (path, content) in self.public.iter().chain(&tool) {
            add(path.as_bytes());
            add(content);
        }
        Ok(format!("{:016x}", hasher.finish()))
    }

    /// Names and connects all files of the page.
    pub(crate) fn lay_out(mut self, story: Module, labs: Module, chart: Module) -> Outcome<Files> {
        let style = take_style(&mut self.public, "style/")?;
        let labs_style = take_style(&mut self.public, "labs-style/")?;
        let css = hashed_name("lease-lab", "css", &style);
        let js = hashed_name("lease-lab", "js", story.js.as_bytes());
        let wasm = hashed_name("lease-lab", "wasm", &story.wasm);
        let labs_js = hashed_name("labs", "js", labs.js.as_bytes());
        let labs_wasm = hashed_name("labs", "wasm", &labs.wasm);
        let chart_js = hashed_name("chart", "js", chart.js.as_bytes());
        let chart_wasm = hashed_name("chart", "wasm", &chart.wasm);
        let labs_css = hashed_name("labs", "css", &labs_style);
        let embed = hashed_name("embed", "js", EMBED.as_bytes());
        let values = [
            ("embed", &*embed),
            ("js", &js),
            ("wasm", &wasm),
            ("labs-css", &labs_css),
            ("labs-js", &labs_js),
            ("labs-wasm", &labs_wasm),
            ("chart-js", &chart_js),
            ("chart-wasm", &chart_wasm),
        ];
        let boot_text =
            substitute(BOOT, &values).map_err(|wrong| Failure::new(format!("crates/xtask/src/boot.js {wrong}.")))?;
        let boot = hashed_name("boot", "js", boot_text.as_bytes());
        let index = substitute(&self.index, &[("boot", &boot), ("css", &css), ("contents", &self.contents)])
            .map_err(|wrong| Failure::new(format!("index.html {wrong}.")))?;
        if !index.contains(&boot) {
            return Err(Failure::new(
                "index.html never starts the page: give it a <script type=\"module\" src=\"{{boot}}\"></script>.",
            ));
        }

        let single = single::page(&index, &[&style, &labs_style], &labs, &chart)?;

        let mut files = self.public;
        files.insert(single::NAME.to_owned(), single.into_bytes());
        files.extend(story.snippets);
        files.extend(labs.snippets);
        files.extend(chart.snippets);
        files.insert("index.html".to_owned(), index.into_bytes());
        files.insert(css, style);
        files.insert(labs_css, labs_style);
        files.insert(js, story.js.into_bytes());
        files.insert(wasm, story.wasm);
        files.insert(labs_js, labs.js.into_bytes());
        files.insert(labs_wasm, labs.wasm);
        files.insert(chart_js, chart.js.into_bytes());
        files.insert(chart_wasm, chart.wasm);
        files.insert(boot, boot_text.into_bytes());
        files.insert(embed, EMBED.as_bytes().to_vec());
        let worker = worker(&files)?;
        files.insert("sw.js".to_owned(), worker.into_bytes());
        Ok(files)
    }
}

/// The service worker for these files; its version is that of all of them together.
fn worker(files: &Files) -> Outcome<String> {
    let kept: Vec<&String> = files.keys().filter(|path| *path != single::NAME).collect();
    let mut hasher = FnvHasher::default();
    for (path, content) in files {
        hasher.write(path.as_bytes());
        hasher.write(content);
    }
    let list = serde_json::to_string(&kept).or_fail(|| "Could not list the files of the page".to_owned())?;
    let version = format!("{:016x}", hasher.finish());
    substitute(WORKER, &[("version", &version), ("files", &list)])
        .map_err(|wrong| Failure::new(format!("crates/xtask/src/sw.js {wrong}.")))
}

/// Reads a folder with everything below it; hidden files belong to editors and systems, not to the page.
fn read_folder(folder: &Path) -> io::Result<Files> {
    fn read_into(files: &mut Files, folder: &Path, prefix: &str) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with('.') {
                continue;
            }
            let path = format!("{prefix}{name}");
            if entry.path().is_dir() {
                read_into(files, &entry.path(), &format!("{path}/"))?;
            } else {
                files.insert(path, fs::read(entry.path())?);
            }
        }
        Ok(())
    }
    let mut files = Files::new();
    read_into(&mut files, folder, "")?;
    Ok(files)
}

/// `lease-lab-0123abcd.js`: the same content always gets the same name.
fn hashed_name(stem: &str, ending: &str, content: &[u8]) -> String {
    let mut hasher = FnvHasher::default();
    hasher.write(content);
    let hash = hasher.finish();
    format!("{stem}-{:08x}.{ending}", (hash ^ (hash >> 32)) & 0xffff_ffff)
}

/// Whether a name carries a hash of the file's content, so that the file never changes under this name.
pub(crate) fn is_hashed(path: &str) -> bool {
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    stem.rsplit_once('-')
        .is_some_and(|(_, hash)| hash.len() == 8 && hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')))
}

/// Replaces `{{name}}` by its value; the error says what is wrong with the template.
fn substitute(template: &str, values: &[(&str, &str)]) -> Result<String, String> {
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, after)) = after.split_once("}}") else {
            return Err("has {{ without }}".to_owned());
        };
        let Some((_, value)) = values.iter().find(|(known, _)| *known == name) else {
            let known: Vec<String> = values.iter().map(|(known, _)| format!("{{{{{known}}}}}")).collect();
            return Err(format!("has the unknown placeholder {{{{{name}}}}}; known are {}", known.join(", ")));
        };
        text.push_str(before);
        text.push_str(value);
        rest = after;
    }
    text.push_str(rest);
    Ok(text)
}

/// Adds a `.br` file beside each file that compression makes smaller to send.
pub(crate) fn compress(files: &mut Files) -> Outcome<()> {
    let mut compressed = Files::new();
    // The page in one file is for downloading: it is large, and hardly anybody reads it from a server.
    let is_sent = |path: &str| media::is_compressible(path) && path != single::NAME;
    for (path, content) in files.iter().filter(|(path, _)| is_sent(path)) {
        // The window must hold the largest file, or far repetitions are missed.
        let parameters = brotli::enc::BrotliEncoderParams { quality: 11, lgwin: 22, ..Default::default() };
        let mut output = Vec::new();
        brotli::BrotliCompress(&mut content.as_slice(), &mut output, &parameters)
            .or_fail(|| format!("Could not compress {path}"))?;
        compressed.insert(format!("{path}.br"), output);
    }
    files.append(&mut compressed);
    Ok(())
}

/// The note of what is in `dist/`, so that nothing is done twice.
pub(crate) struct Stamp(PathBuf);

impl Stamp {
    /// The stamp in this target directory.
    pub(crate) fn in_target(target: &Path) -> Self {
        Self(target.join("xtask").join("dist.stamp"))
    }

    /// The files in `dist/`, if they are all there and were made from what has this fingerprint.
    pub(crate) fn current(&self, fingerprint: &str) -> Option<Vec<File>> {
        let files = parse_stamp(&fs::read_to_string(&self.0).ok()?, fingerprint)?;
        let dist = project::dist();
        let is_there = |file: &File| fs::metadata(dist.join(&file.path)).is_ok_and(|found| found.len() == file.bytes);
        files.iter().all(is_there).then_some(files)
    }

    /// Replaces `dist/` by these files.
    ///
    /// An interruption leaves the old folder, or none, but never half of a new one:
    /// the new folder is written beside it and renamed, and the stamp goes first and comes last.
    pub(crate) fn publish(&self, fingerprint: &str, files: &Files) -> Outcome<Vec<File>> {
        let dist = project::dist();
        self.replace_folder(&dist, files).or_fail(|| format!("Could not write the folder {}", dist.display()))?;
        let files: Vec<File> =
            files.iter().map(|(path, content)| File { path: path.clone(), bytes: content.len() as u64 }).collect();
        self.write(&print_stamp(fingerprint, &files)).or_fail(|| format!("Could not write {}", self.0.display()))?;
        Ok(files)
    }

    fn replace_folder(&self, dist: &Path, files: &Files) -> io::Result<()> {
        let (new, old) = (dist.with_extension("new"), dist.with_extension("old"));
        remove_folder(&new)?;
        remove_folder(&old)?;
        for (path, content) in files {
            let file = new.join(path);
            fs::create_dir_all(file.parent().unwrap_or(&new))?;
            fs::write(file, content)?;
        }
        if self.0.exists() {
            fs::remove_file(&self.0)?;
        }
        if dist.exists() {
            fs::rename(dist, &old)?;
        }
        fs::rename(&new, dist)?;
        remove_folder(&old)
    }

    fn write(&self, text: &str) -> io::Result<()> {
        fs::create_dir_all(self.0.parent().unwrap_or(Path::new(".")))?;
        let new = self.0.with_extension("new");
        fs::write(&new, text)?;
        fs::rename(new, &self.0)
    }
}

fn remove_folder(folder: &Path) -> io::Result<()> {
    if folder.exists() { fs::remove_dir_all(folder) } else { Ok(()) }
}

/// The fingerprint, then one line per file with its size.
fn print_stamp(fingerprint: &str, files: &[File]) -> String {
    let lines: String = files.iter().map(|file| format!("{} {}\n", file.bytes, file.path)).collect();
    format!("{fingerprint}\n{lines}")
}

/// Reads what [`print_stamp`] wrote; `None` when it was written for another fingerprint.
fn parse_stamp(text: &str, fingerprint: &str) -> Option<Vec<File>> {
    let mut lines = text.lines();
    if lines.next()? != fingerprint {
        return None;
    }
    lines
        .map(|line| {
            let (bytes, path) = line.split_once(' ')?;
            Some(File { path: path.to_owned(), bytes: bytes.parse().ok()? })
        })
        .collect()
}

/// Takes the style sheets of a folder in `public/` out, joined in the order of their names into one.
fn take_style(public: &mut Files, folder: &str) -> Outcome<Vec<u8>> {
    let is_style = |path: &String| path.starts_with(folder) && path.ends_with(".css");
    let names: Vec<String> = public.keys().filter(|path| is_style(path)).cloned().collect();
    let style: Vec<u8> = names.iter().filter_map(|name| public.remove(name)).flatten().collect();
    if style.is_empty() {
        return Err(Failure::new(format!(
            "public/{folder} has no style sheet: put the page's .css files there and run the command again."
        )));
    }
    Ok(style)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(index: &str) -> Sources {
        let public = [
            ("style/1.css", "p {}\n"),
            ("style/2.css", "a {}\n"),
            ("labs-style/1.css", "b {}\n"),
            ("favicon.svg", "<svg/>"),
        ];
        let public = public.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()));
        Sources { index: index.to_owned(), contents: "<ol></ol>".to_owned(), public: public.into() }
    }

    fn module() -> Module {
        Module { wasm: b"wasm".to_vec(), js: "export default 1;".to_owned(), snippets: Files::new() }
    }

    fn text(files: &Files, path: &str) -> String {
        String::from_utf8_lossy(&files[path]).into_owned()
    }

    #[test]
    fn names_and_connects_all_files() {
        let files = sources("{{css}} {{boot}} {{contents}}").lay_out(module(), module(), module()).expect("a page");
        let names: Vec<&str> = files.keys().map(String::as_str).collect();
        let named = |stem: &str, ending: &str| -> &str {
            let is_named = |name: &&&str| name.starts_with(stem) && name.ends_with(ending);
            names.iter().find(is_named).unwrap_or_else(|| panic!("{stem}…{ending} is missing: {names:?}"))
        };
        let (boot, css) = (named("boot-", ".js"), named("lease-lab-", ".css"));
        let modules = [
            (named("lease-lab-", ".js"), named("lease-lab-", ".wasm")),
            (named("labs-", ".js"), named("labs-", ".wasm")),
            (named("chart-", ".js"), named("chart-", ".wasm")),
        ];
        assert_eq!(names.len(), 14, "{names:?}");
        // The service worker keeps all of them but itself and the page in one file.
        let worker = text(&files, "sw.js");
        for name in names.iter().filter(|name| !["sw.js", single::NAME].contains(name)) {
            assert!(worker.contains(&format!("\"{name}\"")), "{name} is not in {worker}");
        }
        assert!(files.contains_key("favicon.svg"), "{names:?}");
        assert!([boot, css].into_iter().all(is_hashed), "{names:?}");
        assert_eq!(text(&files, "index.html"), format!("{css} {boot} <ol></ol>"));
        assert_eq!(text(&files, css), "p {}\na {}\n");
        let boot = text(&files, boot);
        for (js, wasm) in modules {
            assert!(is_hashed(js) && is_hashed(wasm), "{names:?}");
            assert!(boot.contains(js) && boot.contains(wasm), "{boot}");
        }
    }

    #[test]
    fn refuses_a_page_that_cannot_work() {
        let wrong = |sources: Sources| {
            sources.lay_out(module(), module(), module()).expect_err("a page that cannot work").to_string()
        };
        assert!(wrong(sources("<p>{{css}}</p>")).contains("never starts the page"));
        assert!(wrong(sources("{{boot}} {{cssss}}")).contains("{{cssss}}"));
        let mut without_style = sources("{{boot}}");
        without_style.public.retain(|path, _| !path.starts_with("style/"));
        assert!(wrong(without_style).contains("public/style/ has no style sheet"));
    }

    #[test]
    fn replaces_placeholders() {
        let values = [("a", "1"), ("b", "2")];
        assert_eq!(substitute("{{a}}-{{b}}-{{a}} {c}", &values), Ok("1-2-1 {c}".to_owned()));
        assert_eq!(substitute("", &values), Ok(String::new()));
        let unknown = "has the unknown placeholder {{c}}; known are {{a}}, {{b}}";
        assert_eq!(substitute("{{a}} {{c}}", &values), Err(unknown.to_owned()));
        assert_eq!(substitute("{{a", &values), Err("has {{ without }}".to_owned()));
    }

    #[test]
    fn recognises_names_with_a_hash() {
        let name = hashed_name("lease-lab", "js", b"content");
        assert!(is_hashed(&name), "{name}");
        assert_eq!(name, hashed_name("lease-lab", "js", b"content"));
        assert_ne!(name, hashed_name("lease-lab", "js", b"Content"));
        assert!(!is_hashed("index.html"));
        assert!(!is_hashed("lease-lab.css"));
        assert!(!is_hashed("lease-lab-0123ABCD.css"));
        assert!(!is_hashed("boot-0123abc.js"));
    }

    #[test]
    fn the_stamp_is_read_as_it_was_written() {
        let files = || vec![File { path: "a b.html".to_owned(), bytes: 12 }];
        let stamp = print_stamp("0123", &files());
        assert_eq!(parse_stamp(&stamp, "0123"), Some(files()));
        assert_eq!(parse_stamp(&stamp, "4567"), None);
        assert_eq!(parse_stamp("", "0123"), None);
        assert_eq!(parse_stamp("0123\ntwelve a.html\n", "0123"), None);
    }

    #[test]
    fn compresses_text_beside_the_original() {
        let mut files =
            Files::from([("index.html".to_owned(), b"lease ".repeat(100)), ("picture.png".to_owned(), vec![0; 100])]);
        compress(&mut files).expect("compression");
        let names: Vec<&str> = files.keys().map(String::as_str).collect();
        assert_eq!(names, ["index.html", "index.html.br", "picture.png"]);
        assert!(files["index.html.br"].len() < 40);
    }
}
