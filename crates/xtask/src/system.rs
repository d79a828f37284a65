//! What this computer offers: programs on the search path, and packages of Debian.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use crate::failure::{Failure, Outcome};

/// Finds a program on the search path.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let file_name = format!("{name}{}", env::consts::EXE_SUFFIX);
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(&file_name)).find(|file| file.is_file())
}

/// Runs a command whose output nobody needs, and says whether it succeeded.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// The standard output of a command that succeeded, without the space around it.
pub(crate) fn output(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Whether packages can be installed without asking anybody: on Debian, as root.
pub(crate) fn can_install_debian_packages() -> bool {
    PathBuf::from("/etc/debian_version").exists()
        && find_program("apt-get").is_some()
        && output(Command::new("id").arg("-u")).as_deref() == Some("0")
}

/// Installs packages of Debian.
pub(crate) fn install_debian_packages(packages: &[&str]) -> Outcome<()> {
    static LISTS_ARE_FRESH: OnceLock<bool> = OnceLock::new();
    let apt_get = || {
        let mut command = Command::new("apt-get");
        // Standard output belongs to what the tool itself prints there, such as the page's address.
        command.env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null()).stdout(Stdio::null());
        command
    };
    let run = |command: &mut Command| command.status().is_ok_and(|status| status.success());
    let installed = *LISTS_ARE_FRESH.get_or_init(|| run(apt_get().arg("update")))
        && run(apt_get().args(["install", "-y", "--no-install-recommends"]).args(packages));
    if installed {
        Ok(())
    } else {
        Err(Failure::new(format!(
            "apt-get could not install {}: read its report above and run the command again.",
            packages.join(", ")
        )))
    }
}
