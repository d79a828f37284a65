//! The build tool of Lease Lab: `cargo xtask serve`, `cargo xtask build` and `cargo xtask test`.
//!
//! A page build goes through these modules in this order:
//! [`toolchain`] finds a compiler for WebAssembly, [`build`] compiles and optimises,
//! [`dist`] lays out the folder that a web server can publish, [`budget`] weighs it.
//! [`serve`] and [`test`] use the result.

mod browser;
mod budget;
mod build;
mod cargo;
mod command;
mod contents;
mod dist;
mod failure;
mod media;
mod node;
mod progress;
mod project;
mod serve;
mod single;
mod system;
mod test;
mod toolchain;

use std::process::ExitCode;

use command::Command;
use failure::Outcome;

fn main() -> ExitCode {
    let command = match command::parse(std::env::args_os().skip(1)) {
        Ok(command) => command,
        Err(sentence) => {
            eprintln!("{sentence}");
            return ExitCode::from(2);
        }
    };
    match run(command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::from(1)
        }
    }
}

fn run(command: Command) -> Outcome<()> {
    match command {
        Command::Help => {
            print!("{}", command::HELP);
            Ok(())
        }
        Command::Serve { port, open } => serve::run(port, open),
        Command::Build => build::page(build::Optimise::Always).map(|_| ()),
        Command::SingleFile => {
            let files = build::page(build::Optimise::Always)?;
            let path = project::dist().join(single::NAME);
            let bytes = files.iter().find(|file| file.path == single::NAME).map_or(0, |file| file.bytes);
            progress::note(format!(
                "everything is in one file of {} KB; a double click opens it",
                bytes.div_ceil(1024)
            ));
            println!("{}", path.display());
            Ok(())
        }
        Command::Test(test) => test::run(&test),
    }
}
