//! Builds the page: compile, bind to the browser, optimise, lay out, compress.

use std::fs;
use std::path::{Path, PathBuf};

use wasm_bindgen_cli_support::Bindgen;

use crate::dist::{self, File, Files, Module, Sources, Stamp};
use crate::failure::{Failure, OrFail, Outcome};
use crate::toolchain::{self, Toolchain};
use crate::{budget, cargo, node, progress};

/// Whether the module must be optimised for size, which needs Node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Optimise {
    /// Fail without Node: what is published and what is tested must be small.
    Always,
    /// Leave it out without Node: whoever only wants to see the page needs Rust alone.
    IfPossible,
}

/// Brings `dist/` up to date and returns its files.
pub(crate) fn page(optimise: Optimise) -> Outcome<Vec<File>> {
    // What is missing is said before the long work, not after it.
    let optimised = prepare_optimiser(optimise)?;
    let toolchain = Toolchain::find_or_install()?;
    let (story, target) = compile(toolchain, Content::Story)?;
    let (labs, _) = compile(toolchain, Content::Labs)?;
    let (chart, _) = compile(toolchain, Content::Chart)?;
    let sources = Sources::read()?;
    let stamp = Stamp::in_target(&target);
    let fingerprint = sources.fingerprint(&[&story, &labs, &chart], optimised)?;
    let files = match stamp.current(&fingerprint) {
        Some(files) => files,
        None => {
            let finish = |wasm| {
                let module = bind(wasm)?;
                if optimised { optimise_for_size(module, &target.join("xtask")) } else { Ok(module) }
            };
            let mut files = sources.lay_out(finish(story)?, finish(labs)?, finish(chart)?)?;
            progress::step("Compressing", "the page", || dist::compress(&mut files))?;
            stamp.publish(&fingerprint, &files)?
        }
    };
    eprintln!("{:>12} {}", "Page", budget::summary(&files));
    Ok(files)
}

fn prepare_optimiser(optimise: Optimise) -> Outcome<bool> {
    match optimise {
        Optimise::Always => {
            node::require()?;
            node::install_packages()?;
            Ok(true)
        }
        Optimise::IfPossible if !node::is_available() => {
            progress::note("Node 20 or newer was not found: the page works, but it is not optimised for size");
            Ok(false)
        }
        Optimise::IfPossible => {
            let installed = node::install_packages().is_ok();
            if !installed {
                progress::note("npm could not install the optimiser: the page works, but it is not optimised for size");
            }
            Ok(installed)
        }
    }
}

/// What a module holds: the page loads the small one first, and the large one where a lab needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// The billing story.
    Story,
    /// Every lab.
    Labs,
    /// What draws graphs.
    Chart,
}

/// Compiles the page for WebAssembly; returns the module and the target directory.
pub(crate) fn compile(toolchain: Toolchain, content: Content) -> Outcome<(Vec<u8>, PathBuf)> {
    let what = match content {
        Content::Story => "the page of the story for WebAssembly",
        Content::Labs => "the page of every lab for WebAssembly",
        Content::Chart => "the drawing of graphs for WebAssembly",
    };
    let package = if content == Content::Chart { "lease-lab-chart" } else { "lease-lab-app" };
    let compiled = progress::streaming("Compiling", what, || {
        let mut command = cargo::command();
        command.args(["build", "--package", package, "--profile", "wasm", "--target", toolchain::TARGET]);
        if content == Content::Labs {
            command.args(["--features", "labs"]);
        }
        toolchain.apply(&mut command);
        cargo::build_binary(
            &mut command,
            package,
            "The page did not compile: correct what cargo reports above and run the command again.",
        )
    })?;
    // <target directory>/<target>/<profile>/<file>
    let target = compiled.ancestors().nth(3).unwrap_or(Path::new("target")).to_path_buf();
    let wasm = fs::read(&compiled).or_fail(|| format!("Could not read {}", compiled.display()))?;
    Ok((wasm, target))
}

/// Makes the JavaScript that connects the module to the browser.
fn bind(wasm: Vec<u8>) -> Outcome<Module> {
    progress::step("Binding", "the page to JavaScript", || {
        let mut output = Bindgen::new()
            .input_bytes("lease-lab", wasm)
            .web(true)
            .map(|bindgen| bindgen.typescript(false).remove_name_section(true).remove_producers_section(true))
            .and_then(Bindgen::generate_output)
            .or_fail(|| "wasm-bindgen could not connect the page to JavaScript".to_owned())?;
        let mut snippets = Files::new();
        for (identifier, texts) in output.snippets() {
            for (index, text) in texts.iter().enumerate() {
                snippets.insert(format!("snippets/{identifier}/inline{index}.js"), text.clone().into_bytes());
            }
        }
        for (path, text) in output.local_modules() {
            snippets.insert(format!("snippets/{path}"), text.clone().into_bytes());
        }
        if !output.npm_dependencies().is_empty() {
            return Err(Failure::new(
                "A dependency of the page wants packages of npm in the browser, which a page without a bundler cannot load: remove the dependency.",
            ));
        }
        Ok(Module { js: output.js().to_owned(), wasm: output.wasm_mut().emit_wasm(), snippets })
    })
}

fn optimise_for_size(module: Module, work: &Path) -> Outcome<Module> {
    progress::step("Optimising", "the page for size", || {
        let (input, output) = (work.join("bound.wasm"), work.join("optimised.wasm"));
        fs::create_dir_all(work)
            .and_then(|()| fs::write(&input, &module.wasm))
            .or_fail(|| format!("Could not write {}", input.display()))?;
        node::optimise(&input, &output)?;
        let wasm = fs::read(&output).or_fail(|| format!("Could not read {}", output.display()))?;
        let (long, short) = (work.join("bound.js"), work.join("short.js"));
        fs::write(&long, &module.js).or_fail(|| format!("Could not write {}", long.display()))?;
        node::shorten(&long, &short)?;
        let js = fs::read_to_string(&short).or_fail(|| format!("Could not read {}", short.display()))?;
        Ok(Module { wasm, js, ..module })
    })
}
