//! Where things are in this repository.

use std::path::{Path, PathBuf};

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.ancestors().nth(2).unwrap_or(xtask).to_path_buf()
}

/// The folder that a web server publishes.
pub(crate) fn dist() -> PathBuf {
    root().join("dist")
}

/// The tests of the finished page, and the packages of npm that they and the build need.
pub(crate) fn browser_tests() -> PathBuf {
    root().join("tests").join("browser")
}
