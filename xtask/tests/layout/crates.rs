//! Which crate may depend on which, and what the parts of a subsystem may see of each other.

use std::process::Command;

use serde_json::Value;

use crate::root;
use crate::source::{ModulePath, Source, home, of_crate, places};

/// The subsystems, but for `pqueue`, which the others may use.
const SUBSYSTEMS: [&str; 7] = ["cache", "fair", "limit", "offload", "sched", "spray", "surge"];

/// A crate of the workspace.
pub(crate) struct Member {
    /// Its folder in `crates`.
    pub(crate) folder: String,
    /// Its name in Rust.
    pub(crate) module: String,
    /// The crates of ours that it depends on, by their folders, also for its tests and its build script.
    depends_on: Vec<String>,
    /// The crates that it cannot do without, ours and foreign ones.
    always: Vec<String>,
    /// Whether it has features by default.
    has_defaults: bool,
}

/// All crates of the workspace below `crates`.
pub(crate) fn crates() -> Vec<Member> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap().iter();
    packages.filter_map(member).collect()
}

fn member(package: &Value) -> Option<Member> {
    let manifest = package["manifest_path"].as_str().unwrap();
    let folder = manifest.strip_suffix("/Cargo.toml")?.rsplit_once("/crates/")?.1;
    let dependencies = package["dependencies"].as_array()?;
    let name = |dependency: &Value| dependency["name"].as_str().unwrap().to_owned();
    let is_needed =
        |one: &&Value| one["kind"].is_null() && one["optional"] == false && one["target"].is_null();
    // What every crate may have: its own studies in its tests, what tests share, and the compiler of eBPF programs in its build script.
    let is_usual = |one: &&Value| match one["kind"].as_str() {
        Some("dev") => one["name"] == package["name"] || one["name"] == "trueplane-testing",
        Some("build") => one["name"] == "trueplane-bpf",
        _ => false,
    };
    let others = dependencies.iter().filter(|one| !is_usual(one)).map(name);
    Some(Member {
        folder: folder.to_owned(),
        module: package["name"].as_str()?.replace('-', "_"),
        depends_on: others.filter_map(|name| name.strip_prefix("trueplane-").map(str::to_owned)).collect(),
        always: dependencies.iter().filter(is_needed).map(name).collect(),
        has_defaults: !package["features"]["default"].is_null(),
    })
}

/// The crates that have policies.
fn subsystems() -> impl Iterator<Item = Member> {
    crates()
        .into_iter()
        .filter(|member| member.folder == "pqueue" || SUBSYSTEMS.contains(&member.folder.as_str()))
}

/// What a crate of this folder may depend on.
fn may_see(folder: &str) -> Vec<&'static str> {
    const SHARED: [&str; 6] = ["link", "linux", "pqueue", "study", "trace", "units"];
    match folder {
        "bpf" | "testing" | "units" => Vec::new(),
        "link" | "trace" => vec!["units"],
        "study" => vec!["trace", "units"],
        "linux" | "pqueue" => vec!["study", "units"],
        "proxy" => vec!["cache", "units"],
        "kubernetes" => vec!["fair", "trace", "units"],
        "experiments" => [&SHARED[..], &SUBSYSTEMS, &["proxy"]].concat(),
        "cli" => {
            [&SHARED[..], &SUBSYSTEMS, &["experiments", "kubernetes", "network", "proxy", "studies"]].concat()
        }
        "studies" => [&["experiments", "network", "study", "units"], &SUBSYSTEMS[..]].concat(),
        "py" => [&["pqueue", "studies", "study", "trace", "units"], &SUBSYSTEMS[..]].concat(),
        "network" => [&["linux", "pqueue", "study", "trace", "units"], &SUBSYSTEMS[..]].concat(),
        "instructions" => [&["pqueue", "units"], &SUBSYSTEMS[..]].concat(),
        folder if SUBSYSTEMS.contains(&folder) => SHARED.to_vec(),
        folder => panic!("crates/{folder} is new: say here what it may depend on"),
    }
}

#[test]
fn crates_depend_on_what_lies_below_them() {
    for member in crates() {
        let allowed = may_see(&member.folder);
        for other in &member.depends_on {
            assert!(allowed.contains(&other.as_str()), "{} depends on {other}", member.folder);
        }
    }
}

#[test]
fn a_queue_costs_few_dependencies() {
    let members = crates();
    let pqueue = members.iter().find(|member| member.folder == "pqueue").unwrap();
    assert!(pqueue.always.len() <= 4, "{:?}", pqueue.always);
    assert!(!pqueue.always.iter().any(|name| name.starts_with("trueplane-")), "{:?}", pqueue.always);
    for member in &members {
        assert!(!member.has_defaults, "{} has default features", member.folder);
    }
}

/// What a file of a subsystem is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// It decides: policies, and what they are made of.
    Policy,
    /// It has workloads, simulates and reports.
    Study,
    /// It meets Linux.
    Live,
}

/// What `module` is for, by the features of the modules on the way to it.
fn part(module: &ModulePath, sources: &[Source]) -> Part {
    let asks_for = |feature: &str| {
        (1..module.len()).any(|length| {
            let parent = sources.iter().find(|source| source.module == module[..length]);
            let declared =
                parent.and_then(|parent| parent.modules.iter().find(|child| child.name == module[length]));
            declared.is_some_and(|declared| declared.features.iter().any(|wanted| wanted == feature))
        })
    };
    if asks_for("live") {
        Part::Live
    } else if asks_for("study") {
        Part::Study
    } else {
        Part::Policy
    }
}

#[test]
fn policies_studies_and_what_is_live_keep_apart() {
    for member in subsystems() {
        let sources = of_crate(root(), &member.folder, &member.module);
        let places = places(&sources);
        assert!(sources.iter().any(|source| part(&source.module, &sources) == Part::Study));
        let decides = |source: &&Source| {
            let folder = source.module.get(1).map(String::as_str);
            matches!(folder, Some("policy" | "rank" | "dispatch" | "nf"))
        };
        for source in sources.iter().filter(decides) {
            assert_eq!(part(&source.module, &sources), Part::Policy, "{}", source.file.display());
        }
        for source in &sources {
            let own = part(&source.module, &sources);
            for path in &source.imports {
                let Some(place) = home(path, &sources, &places) else { continue };
                let other = part(&sources[place].module, &sources);
                assert!(
                    own == other || other == Part::Policy,
                    "{} ({own:?}) imports {} ({other:?})",
                    source.file.display(),
                    path.join("::")
                );
            }
        }
    }
}

/// What a policy must not have: clocks, files, threads, the network, random numbers without a seed, and what studies have.
const OUTSIDE: [&str; 16] = [
    "rayon",
    "rand",
    "std::env",
    "std::fs",
    "std::io",
    "std::net::TcpListener",
    "std::net::TcpStream",
    "std::net::UdpSocket",
    "std::process",
    "std::thread",
    "std::time::Instant",
    "std::time::SystemTime",
    "trueplane_link",
    "trueplane_linux",
    "trueplane_study",
    "trueplane_trace",
];

#[test]
fn policies_only_decide() {
    for member in subsystems() {
        let sources = of_crate(root(), &member.folder, &member.module);
        for source in sources.iter().filter(|source| part(&source.module, &sources) == Part::Policy) {
            for path in source.foreign.iter().chain(&source.imports) {
                let path = path.join("::");
                // The shared cache drives its policies: it waits for fetches, and reads a clock unless it is given one.
                let drives = source.module.get(1).is_some_and(|module| module == "concurrent");
                if drives && (path.starts_with("std::time::Instant") || path.starts_with("std::thread")) {
                    continue;
                }
                // A spin lock gives way to other threads; that starts none.
                if path == "std::thread::yield_now" {
                    continue;
                }
                assert!(
                    !path.starts_with("std::") || !path.ends_with("::*"),
                    "{} names {path}",
                    source.file.display()
                );
                let outside = OUTSIDE.iter().find(|outside| {
                    path.strip_prefix(**outside).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
                });
                assert!(outside.is_none(), "{} names {path}", source.file.display());
            }
        }
    }
}

#[test]
fn unsafe_code_is_where_linux_or_c_is_met() {
    // It calls functions of C that users of the Python package give.
    const CALLS_C: &str = "py/src/cache/compiled.rs";
    for member in crates() {
        let sources = of_crate(root(), &member.folder, &member.module);
        for source in sources.iter().filter(|source| source.has_unsafe) {
            let is_live = member.folder == "linux" || part(&source.module, &sources) == Part::Live;
            let is_allowed = is_live || source.file.ends_with(CALLS_C);
            assert!(is_allowed, "{} has unsafe code", source.file.display());
        }
    }
}
