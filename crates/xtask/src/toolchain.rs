//! Finds a Rust compiler that can compile for WebAssembly, or installs what is missing.
//!
//! Rustup's own target is the normal way.
//! Where rustup cannot reach its server, Debian's compiler for the web can stand in:
//! its standard library for WebAssembly is built from Debian's source package.

use std::env;
use std::process::{Command, Stdio};

use crate::failure::{Failure, Outcome};
use crate::{progress, system};

/// The target of the page.
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";

const DEBIAN_RUSTC: &str = "/usr/bin/rustc";
const DEBIAN_LINKER: &str = "wasm-ld-22";
const DEBIAN_PACKAGES: [&str; 3] = ["rustc-web", "rust-web-src", "lld-22"];
const BUILD_STANDARD_LIBRARY: &str = include_str!("build-wasm-std.sh");

/// A compiler that can compile the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Toolchain {
    /// The compiler that cargo uses anyway.
    InUse,
    /// Debian's compiler and linker.
    Debian,
}

impl Toolchain {
    /// Finds a compiler for [`TARGET`], installing it when that is possible without asking anybody.
    pub(crate) fn find_or_install() -> Outcome<Self> {
        // What is there already comes first: asking a server that cannot be reached takes long.
        if in_use_is_ready() {
            return Ok(Self::InUse);
        }
        if debian_is_ready() {
            return Ok(Self::Debian);
        }
        if rustup_is_there() {
            match add_target_with_rustup() {
                Ok(()) if in_use_is_ready() => return Ok(Self::InUse),
                _ => progress::note("rustup could not add the target: looking for another way"),
            }
        }
        if system::can_install_debian_packages() {
            install_debian()?;
            return Ok(Self::Debian);
        }
        Err(Failure::new(format!(
            "Rust cannot compile for the browser here, and the missing part could not be installed: run `rustup target add {TARGET}` and then this command again."
        )))
    }

    /// Makes a cargo command use this compiler.
    pub(crate) fn apply(self, cargo: &mut Command) {
        if self == Self::Debian {
            cargo.env("RUSTC", DEBIAN_RUSTC);
            cargo.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", DEBIAN_LINKER);
        }
    }

    /// Whether clippy can check code for [`TARGET`]: it needs the standard library of its own toolchain.
    pub(crate) fn has_clippy(self) -> bool {
        self == Self::InUse
    }
}

fn in_use_is_ready() -> bool {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    compiles_for_target(Command::new(rustc))
}

fn debian_is_ready() -> bool {
    system::find_program(DEBIAN_LINKER).is_some() && compiles_for_target(Command::new(DEBIAN_RUSTC))
}

/// Compiles an empty library: unlike a look into folders, this also notices a library of another version.
fn compiles_for_target(mut rustc: Command) -> bool {
    rustc.args(["--target", TARGET, "--crate-name", "probe", "--crate-type", "lib"]);
    // Metadata to standard output leaves no file behind; standard input is empty.
    rustc.args(["--emit", "metadata=-", "-"]);
    system::succeeds(&mut rustc)
}

fn rustup_is_there() -> bool {
    system::find_program("rustup").is_some()
}

fn add_target_with_rustup() -> Outcome<()> {
    progress::streaming("Installing", format!("Rust's target {TARGET} with rustup"), || {
        run(Command::new("rustup").args(["target", "add", TARGET]), "rustup could not add the target")
    })
}

fn install_debian() -> Outcome<()> {
    progress::streaming("Installing", "Debian's compiler for the web", || {
        system::install_debian_packages(&DEBIAN_PACKAGES)
    })?;
    progress::streaming("Building", format!("the standard library for {TARGET}"), || {
        run(
            Command::new("bash").args(["-c", BUILD_STANDARD_LIBRARY]),
            "The standard library for WebAssembly could not be built from Debian's sources: read the report above, or install Rust with rustup.",
        )
    })
}

fn run(command: &mut Command, sentence: &str) -> Outcome<()> {
    // A stack of the other program's functions helps nobody here.
    let status = command.env("RUST_BACKTRACE", "0").stdin(Stdio::null()).status();
    if status.is_ok_and(|status| status.success()) { Ok(()) } else { Err(Failure::new(sentence)) }
}
