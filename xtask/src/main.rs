//! Work on the repository itself.
//!
//! `cargo xtask gen` writes the files by which the twins of a policy in other languages are held to the Rust code: test
//! vectors and C headers; and the example capture. `cargo xtask gen --check` only tells which of them are out of date.
#![forbid(unsafe_code)]

mod example_capture;
mod limit_classifier_vectors;
mod limit_header;
mod limit_vectors;
mod pqueue_vectors;
mod spray_header;
mod spray_vectors;

use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// A file that is written from the Rust code, and committed.
struct Generated {
    /// Path from the root of the repository.
    path: &'static str,
    /// Function that writes its contents.
    contents: fn() -> Vec<u8>,
}

/// All of them; a new generator is a line here.
const GENERATED: &[Generated] = &[
    Generated { path: "crates/limit/bpf/limit.gen.h", contents: || limit_header::limit_header().into() },
    Generated { path: "crates/spray/bpf/spray.gen.h", contents: || spray_header::spray_header().into() },
    Generated { path: "vectors/limit/nimble.json", contents: || limit_vectors::nimble_vectors().into() },
    Generated { path: "vectors/limit/credit.json", contents: || limit_vectors::credit_vectors().into() },
    Generated {
        path: "vectors/limit/classifier.json",
        contents: || limit_classifier_vectors::classifier_vectors().into(),
    },
    Generated { path: "vectors/pqueue/bbq.json", contents: || pqueue_vectors::bbq_vectors().into() },
    Generated { path: "vectors/spray/dispatch.json", contents: || spray_vectors::dispatch_vectors().into() },
    Generated { path: "examples/tenants.pcap", contents: example_capture::tenants_capture },
];

const USAGE: &str = "usage: cargo xtask gen [--check]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let work: fn(&Path, &Generated) -> Result<(), String> = match arguments[..] {
        ["gen"] => write,
        ["gen", "--check"] => check,
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    let mut status = ExitCode::SUCCESS;
    for file in GENERATED {
        if let Err(message) = work(root, file) {
            eprintln!("{}: {message}", file.path);
            status = ExitCode::FAILURE;
        }
    }
    status
}

/// Writes the file, unless it is as it should be: builds that depend on it then need not run again.
fn write(root: &Path, file: &Generated) -> Result<(), String> {
    let contents = (file.contents)();
    let path = root.join(file.path);
    if fs::read(&path).is_ok_and(|found| found == contents) {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(root);
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(&path, contents))
        .map_err(|error| error.to_string())?;
    println!("wrote {}", file.path);
    Ok(())
}

/// Fails if the file is not as it should be.
fn check(root: &Path, file: &Generated) -> Result<(), String> {
    match fs::read(root.join(file.path)) {
        Ok(found) if found == (file.contents)() => Ok(()),
        Ok(_) => Err("out of date; run cargo xtask gen".to_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err("missing; run cargo xtask gen".to_owned())
        }
        Err(error) => Err(error.to_string()),
    }
}
