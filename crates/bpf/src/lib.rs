//! Compiles every `bpf/<name>.bpf.c` with clang and writes its skeleton to `$OUT_DIR/<name>.skel.rs`.
//!
//! The module that loads the program includes it:
//! `include!(concat!(env!("OUT_DIR"), "/<name>.skel.rs"));`
#![forbid(unsafe_code)]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs};

use libbpf_cargo::SkeletonBuilder;

/// What a build script does: compiles every `bpf/<name>.bpf.c` of its crate. Says in one line what is missing if it cannot.
pub fn build() -> ExitCode {
    match compile_all() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn compile_all() -> Result<(), Box<dyn Error>> {
    let sources = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("bpf");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    // The folder for files that come and go, each file for what changes within.
    println!("cargo::rerun-if-changed={}", sources.display());
    println!("cargo::rerun-if-env-changed=CLANG");
    let clang = env::var("CLANG").unwrap_or_else(|_| "clang".to_owned());
    let arguments = clang_arguments()?;

    let mut paths =
        fs::read_dir(&sources)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>, Box<dyn Error>>>()?;
    paths.sort();
    for path in paths {
        let file = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if file.ends_with(".c") || file.ends_with(".h") {
            println!("cargo::rerun-if-changed={}", path.display());
        }
        if let Some(name) = file.strip_suffix(".bpf.c") {
            check_clang(&clang)?;
            compile(&path, &out.join(format!("{name}.skel.rs")), &clang, &arguments)?;
        }
    }
    Ok(())
}

/// One line in place of the long story that a failed spawn tells.
fn check_clang(clang: &str) -> Result<(), Box<dyn Error>> {
    match Command::new(clang).arg("--version").output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!("eBPF programs need clang: `{clang} --version` failed with {}", output.status).into()),
        Err(error) => Err(format!(
            "eBPF programs need clang (Debian: apt install clang; elsewhere set CLANG): cannot run `{clang}`: {error}"
        )
        .into()),
    }
}

fn clang_arguments() -> Result<Vec<String>, Box<dyn Error>> {
    // v3 for atomics that return the old value, which the kernel has since 5.12.
    let mut arguments = ["-mcpu=v3", "-Wall", "-Werror"].map(str::to_owned).to_vec();
    // The program's line information has the paths of its files. Without the checkout's own path, the same commit gives the same bytes.
    arguments.push(format!(
        "-ffile-prefix-map={}={}",
        env::var("CARGO_MANIFEST_DIR")?,
        env::var("CARGO_PKG_NAME")?
    ));
    // For the target bpf, clang does not look where Debian keeps <asm/types.h>.
    let multiarch = format!("/usr/include/{}-linux-gnu", env::var("CARGO_CFG_TARGET_ARCH")?);
    if Path::new(&multiarch).is_dir() {
        arguments.extend(["-idirafter".to_owned(), multiarch]);
    }
    Ok(arguments)
}

fn compile(source: &Path, skeleton: &Path, clang: &str, arguments: &[String]) -> Result<(), Box<dyn Error>> {
    SkeletonBuilder::new()
        .source(source)
        .clang(clang)
        .clang_args(arguments)
        .build_and_generate(skeleton)
        .map_err(|error| format!("{}: {error:#}", source.display()).into())
}
