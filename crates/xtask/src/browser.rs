//! Browsers on this computer: one to show the page to a person, one to test it in.

use std::env;
use std::path::PathBuf;

use crate::failure::{Failure, Outcome};
use crate::{progress, system};

/// A person may name the browser for the tests in this variable; the tests read it as well.
pub(crate) const CHROMIUM_VARIABLE: &str = "LEASE_LAB_CHROMIUM";

const NAMES: [&str; 5] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
const USUAL_PLACES: [&str; 6] = [
    "/opt/google/chrome/chrome",
    "/snap/bin/chromium",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Google\Chrome\Application\chrome.exe",
];
const DEBIAN_PACKAGES: [&str; 3] = ["chromium", "chromium-driver", "fonts-dejavu-core"];

/// Finds Chromium or Chrome for the tests, installing it when that is possible without asking anybody.
pub(crate) fn find_or_install_chromium() -> Outcome<PathBuf> {
    if let Some(named) = env::var_os(CHROMIUM_VARIABLE).map(PathBuf::from) {
        return if named.is_file() {
            Ok(named)
        } else {
            Err(Failure::new(format!(
                "{CHROMIUM_VARIABLE} names {}, which is no file: correct the variable or unset it.",
                named.display()
            )))
        };
    }
    if let Some(found) = find_chromium() {
        return Ok(found);
    }
    if system::can_install_debian_packages() {
        progress::streaming("Installing", "Chromium for the browser tests", || {
            system::install_debian_packages(&DEBIAN_PACKAGES)
        })?;
    }
    find_chromium().ok_or_else(|| {
        Failure::new(format!(
            "The browser tests need Chromium or Chrome, and none was found: install one, or put its path into {CHROMIUM_VARIABLE}, and run the command again."
        ))
    })
}

fn find_chromium() -> Option<PathBuf> {
    let usual = USUAL_PLACES.iter().map(PathBuf::from).find(|path| path.is_file());
    NAMES.into_iter().find_map(system::find_program).or(usual)
}

/// Shows an address in the browser of the desktop, if there is a desktop. The page is served in any case.
pub(crate) fn show(address: &str) {
    // Without this check, a text browser could take over the terminal.
    let has_desktop = cfg!(any(windows, target_os = "macos"))
        || ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| env::var_os(name).is_some_and(|value| !value.is_empty()));
    if has_desktop && open::that_detached(address).is_err() {
        progress::note(format!("no browser could be started: open {address} yourself"));
    }
}
