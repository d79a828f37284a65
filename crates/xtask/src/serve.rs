//! A small web server for `dist/`, on this computer only.

use std::fs;
use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use percent_encoding::percent_decode_str;
use tiny_http::{Header, Method, Request, Response, Server};

use crate::build::{self, Optimise};
use crate::failure::{Failure, OrFail, Outcome};
use crate::{browser, dist, media, progress, project};

/// Where the page is served unless somebody asks for another port.
const PORT: u16 = 8017;

/// How many ports are tried, starting from [`PORT`].
const PORTS_TRIED_MAX: u16 = 100;

/// A browser opens up to six connections at once.
const THREADS: usize = 6;

/// `cargo xtask serve`: builds the page and serves it until the process is ended.
pub(crate) fn run(port: Option<u16>, open: bool) -> Outcome<()> {
    // The port first: a wrong one is said at once, not after the build.
    let listener = listen(port)?;
    build::page(Optimise::IfPossible)?;
    let server = DistServer::start(listener, project::dist())?;
    progress::note("stop serving with Ctrl-C");
    // Standard output carries the address alone, for scripts; it may be closed, and the page is served all the same.
    let _ = writeln!(io::stdout(), "{}", server.address);
    if open {
        browser::show(&server.address);
    }
    server.wait();
    Ok(())
}

/// Takes the port that was asked for, or the first free one from [`PORT`] on.
fn listen(port: Option<u16>) -> Outcome<TcpListener> {
    let bind = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    if let Some(port) = port {
        return bind(port).map_err(|error| match error.kind() {
            io::ErrorKind::AddrInUse => Failure::new(format!(
                "Port {port} is taken by another program: choose another with --port, or leave --port out to get a free one."
            )),
            _ => Failure::new(format!("Port {port} cannot be used ({error}): choose another with --port.")),
        });
    }
    let (listener, port) = first_free(PORT..PORT + PORTS_TRIED_MAX, |port| bind(port).ok()).ok_or_else(|| {
        Failure::new(format!("No port from {PORT} to {} is free: choose one with --port.", PORT + PORTS_TRIED_MAX - 1))
    })?;
    if port != PORT {
        progress::note(format!("port {PORT} is taken by another program: serving on port {port}"));
    }
    Ok(listener)
}

/// The first port that `bind` accepts, with what it returned.
fn first_free<T>(ports: impl IntoIterator<Item = u16>, bind: impl Fn(u16) -> Option<T>) -> Option<(T, u16)> {
    ports.into_iter().find_map(|port| Some((bind(port)?, port)))
}

/// A running server; it runs until the process ends.
pub(crate) struct DistServer {
    /// The page's address, with a slash at its end.
    pub(crate) address: String,
    threads: Vec<thread::JoinHandle<()>>,
}

impl DistServer {
    /// Serves a folder on a port that the system chooses.
    pub(crate) fn start_on_any_port(folder: PathBuf) -> Outcome<Self> {
        Self::start(listen(Some(0))?, folder)
    }

    fn start(listener: TcpListener, folder: PathBuf) -> Outcome<Self> {
        let server = Server::from_listener(listener, None).or_fail(|| "Could not start the web server".to_owned())?;
        let address = format!("http://{}/", server.server_addr());
        let (server, folder) = (Arc::new(server), Arc::new(folder));
        let serve = |_| {
            let (server, folder) = (Arc::clone(&server), Arc::clone(&folder));
            thread::spawn(move || {
                for request in server.incoming_requests() {
                    respond(request, &folder);
                }
            })
        };
        let threads = (0..THREADS).map(serve).collect();
        Ok(Self { address, threads })
    }

    fn wait(self) {
        for thread in self.threads {
            // A thread that panicked has said so; the others go on serving.
            let _ = thread.join();
        }
    }
}

fn respond(request: Request, folder: &Path) {
    let accepted = request.headers().iter().find(|header| header.field.equiv("Accept-Encoding"));
    let accepts_brotli = accepted.is_some_and(|header| accepts_brotli(header.value.as_str()));
    let answer = answer(request.method(), request.url(), accepts_brotli, folder);
    let mut response = Response::from_data(answer.body)
        .with_status_code(answer.status)
        // A known length instead of pieces, so that browsers can show progress.
        .with_chunked_threshold(usize::MAX);
    for (name, value) in answer.headers {
        if let Ok(header) = Header::from_bytes(name, value) {
            response.add_header(header);
        }
    }
    // A reader who has left needs no answer.
    let _ = request.respond(response);
}

/// What the server says to one request.
#[derive(Debug, PartialEq, Eq)]
struct Answer {
    status: u16,
    headers: Vec<(&'static str, &'static str)>,
    body: Vec<u8>,
}

impl Answer {
    fn sentence(status: u16, sentence: &str) -> Self {
        let headers = vec![("Content-Type", "text/plain; charset=utf-8"), ("Cache-Control", "no-cache")];
        Self { status, headers, body: format!("{sentence}\n").into_bytes() }
    }
}

fn answer(method: &Method, url: &str, accepts_brotli: bool, folder: &Path) -> Answer {
    if !matches!(method, Method::Get | Method::Head) {
        let mut answer = Answer::sentence(405, "This server only hands out files: use GET or HEAD.");
        answer.headers.push(("Allow", "GET, HEAD"));
        return answer;
    }
    // The files are read for each request, so a page that was built anew needs only a reload.
    let found = path_in_dist(url).and_then(|path| {
        let compressed = || fs::read(folder.join(format!("{path}.br"))).ok().filter(|_| accepts_brotli);
        match compressed() {
            Some(body) => Some((path, body, true)),
            None => fs::read(folder.join(&path)).ok().map(|body| (path, body, false)),
        }
    });
    let Some((path, body, is_compressed)) = found else {
        return Answer::sentence(404, "There is no such file here: the page is at /.");
    };
    let mut headers = vec![
        ("Content-Type", media::content_type(&path)),
        ("Cache-Control", cache_control(&path)),
        ("Vary", "Accept-Encoding"),
        ("X-Content-Type-Options", "nosniff"),
        // A sandboxed iframe has no origin of its own, and modules and WebAssembly are then foreign to it.
        ("Access-Control-Allow-Origin", "*"),
    ];
    if is_compressed {
        headers.push(("Content-Encoding", "br"));
    }
    Answer { status: 200, headers, body }
}

fn cache_control(path: &str) -> &'static str {
    if dist::is_hashed(path) { "public, max-age=31536000, immutable" } else { "no-cache" }
}

/// The file that an address means, or `None` when it could lead out of the folder.
fn path_in_dist(url: &str) -> Option<String> {
    let path = url.split(['?', '#']).next()?.strip_prefix('/')?;
    let path = percent_decode_str(path).decode_utf8().ok()?;
    if path.is_empty() {
        return Some("index.html".to_owned());
    }
    // No part may be empty, go up, be hidden, or mean something to Windows; all names in dist/ pass.
    let is_plain = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.contains(['\\', ':', '\0']);
    path.split('/').all(is_plain).then(|| path.into_owned())
}

/// Reads `Accept-Encoding`: `br` counts unless its weight is zero.
fn accepts_brotli(header: &str) -> bool {
    header.split(',').any(|item| {
        let mut parts = item.split(';').map(str::trim);
        let is_brotli = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("br"));
        let weight = parts.find_map(|part| part.strip_prefix("q=")).and_then(|weight| weight.parse().ok());
        is_brotli && weight.unwrap_or(1.0) > 0.0
    })
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::TcpStream;

    use super::*;

    #[track_caller]
    fn check_path(url: &str, expected: Option<&str>) {
        assert_eq!(path_in_dist(url).as_deref(), expected, "{url}");
    }

    #[test]
    fn an_address_means_a_file() {
        check_path("/", Some("index.html"));
        check_path("/?lab=billing-story&t=19.05", Some("index.html"));
        check_path("/favicon.svg", Some("favicon.svg"));
        check_path("/snippets/a/inline0.js?x=/../y", Some("snippets/a/inline0.js"));
        check_path("/a%20b.txt", Some("a b.txt"));
    }

    #[test]
    fn no_address_leads_out_of_the_folder() {
        for url in [
            "",
            "index.html",
            "/../Cargo.toml",
            "/a/../../b",
            "/%2e%2e/Cargo.toml",
            "/..%2fCargo.toml",
            "/a//b",
            "//etc/passwd",
            "/%2fetc/passwd",
            "/.git/config",
            "/a/.",
            "/..%5cCargo.toml",
            "/C:/x",
            "/a%00b",
            "/%ff",
            "/folder/",
        ] {
            check_path(url, None);
        }
    }

    #[test]
    fn brotli_is_sent_only_to_who_accepts_it() {
        assert!(accepts_brotli("gzip, deflate, br, zstd"));
        assert!(accepts_brotli("BR;q=0.5"));
        assert!(!accepts_brotli("gzip, br;q=0"));
        assert!(!accepts_brotli("gzip, br; q=0.0"));
        assert!(!accepts_brotli("brotli"));
        assert!(!accepts_brotli(""));
    }

    #[test]
    fn only_names_with_a_hash_are_kept_for_ever() {
        assert!(cache_control("boot-0123abcd.js").contains("immutable"));
        assert_eq!(cache_control("index.html"), "no-cache");
        assert_eq!(cache_control("favicon.svg"), "no-cache");
    }

    #[test]
    fn takes_the_first_free_port() {
        let only_even = |port: u16| port.is_multiple_of(2).then_some("listener");
        assert_eq!(first_free(8017..8020, only_even), Some(("listener", 8018)));
        assert_eq!(first_free(8017..8018, only_even), None);
    }

    #[test]
    fn a_taken_port_that_was_asked_for_is_an_error() {
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = taken.local_addr().expect("its number").port();
        let failure = listen(Some(port)).expect_err("the port is taken");
        assert!(failure.to_string().starts_with(&format!("Port {port} is taken")), "{failure}");
    }

    /// A folder like `dist/`, with one page that is also there compressed.
    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("lease-lab-xtask-{}-{name}", std::process::id()));
        fs::create_dir_all(folder.join("folder")).expect("a folder");
        fs::write(folder.join("index.html"), "plain").expect("a file");
        fs::write(folder.join("index.html.br"), "brotli").expect("a file");
        folder
    }

    #[test]
    fn answers_with_the_file_or_a_sentence() {
        let folder = folder("answer");
        let get = |url, brotli| answer(&Method::Get, url, brotli, &folder);
        assert_eq!(get("/", false).body, b"plain");
        assert_eq!(get("/", true).body, b"brotli");
        assert!(get("/", true).headers.contains(&("Content-Encoding", "br")));
        assert!(get("/", true).headers.contains(&("Content-Type", "text/html; charset=utf-8")));
        assert_eq!(get("/folder", true).status, 404);
        assert_eq!(get("/missing.js", true).status, 404);
        assert_eq!(answer(&Method::Post, "/", true, &folder).status, 405);
        fs::remove_dir_all(folder).expect("clean-up");
    }

    #[test]
    fn speaks_http() {
        let folder = folder("http");
        let server = DistServer::start_on_any_port(folder.clone()).expect("a server");
        let host = server.address.trim_start_matches("http://").trim_end_matches('/').to_owned();
        let ask = |method: &str| {
            let mut stream = TcpStream::connect(&host).expect("a connection");
            write!(stream, "{method} / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").expect("a request");
            let mut text = String::new();
            stream.read_to_string(&mut text).expect("a response");
            text
        };
        let get = ask("GET");
        assert!(get.starts_with("HTTP/1.1 200 OK\r\n") && get.ends_with("\r\n\r\nplain"), "{get}");
        let head = ask("HEAD");
        assert!(head.contains("Content-Length: 5\r\n") && head.ends_with("\r\n\r\n"), "{head}");
        fs::remove_dir_all(folder).expect("clean-up");
    }
}
