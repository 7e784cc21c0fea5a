//! Types the commands that README, CONTRIBUTING and many pages of `docs` show into a shell, in a clean checkout, and compares what it prints with what they show.
//!
//! `make commands` runs it. It is not part of `cargo test`, since it builds the command as a newcomer does, which takes minutes the first time.
//!
//! A user's commands go into a shell in the checkout, where `trueplane` is what was built there. Root's go into another, in a network namespace of its own
//! with a device `eth0`; without root they are skipped. Every block that is skipped is told on stderr, with the reason.

mod blocks;
mod checkout;
mod shell;

use std::io::Write as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use trueplane_experiments::dctcp;
use trueplane_linux::clock;
use trueplane_linux::testnet::{Namespace, Requirement, alone, check};

use blocks::{Step, blocks};
use shell::Shell;

/// Far longer than all commands of a document take: a build from nothing, on a machine with other work.
const MOST_SECONDS: &str = "2400";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Tells something past the test harness, which keeps back what the macros print.
fn tell(what: &str) {
    let _ = writeln!(std::io::stderr(), "{what}");
}

/// Root's network, and the device in it.
struct Network {
    namespace: Namespace,
    command: PathBuf,
}

impl Network {
    fn new(checkout: &Path) -> Self {
        let namespace = Namespace::new("typed").expect("a network namespace is to be had");
        namespace
            .ip(&["link", "add", "eth0", "type", "veth", "peer", "name", "peer0"])
            .expect("a device is to be had");
        namespace.ip(&["link", "set", "eth0", "up"]).expect("it can be used");
        Self { namespace, command: checkout.join("target/release/trueplane") }
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        // After a run that went well there is nothing left to remove.
        let mut detach = self.namespace.command("timeout");
        detach.arg("20").arg(&self.command).args(["limit", "detach", "--dev", "eth0"]);
        let _ = detach.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
}

/// What the commands of a document are typed into.
struct Shells {
    user: Shell,
    root: Result<(Shell, Network), String>,
}

impl Shells {
    fn start(checkout: &Path, scratch: &Path) -> Self {
        let folder = |name: &str| {
            let folder = scratch.join(name);
            fs::create_dir_all(&folder).expect("a folder is to be had");
            folder
        };
        let bounded = |mut command: Command| {
            command.args(["-k", "5", MOST_SECONDS]);
            command
        };
        let user = Shell::start(bounded(Command::new("timeout")), checkout, &folder("user"));
        let root = check(&[]).map(|()| {
            let network = Network::new(checkout);
            let command = bounded(network.namespace.command("timeout"));
            (Shell::start(command, checkout, &folder("root")), network)
        });
        Self { user, root }
    }

    /// Types a step. What it prints instead of what the document shows is added to `changes`, old and new lines, if that is wanted.
    fn enter(&mut self, step: &Step, changes: &mut Option<Vec<[String; 2]>>) -> Result<(), String> {
        let shell = match (step.is_root, &mut self.root) {
            (false, _) => &mut self.user,
            (true, Ok((shell, _))) => shell,
            (true, Err(reason)) => return Err(reason.clone()),
        };
        let begin = clock::now();
        let typed = shell.enter(&step.commands, step.is_script);
        let took = (clock::now() - begin).as_secs();
        if took >= 5 {
            tell(&format!("{took} s: {}", step.commands.lines().next().unwrap_or_default()));
        }
        let told = format!(
            "{}\nstatus {}, stdout:\n{}\nstderr:\n{}",
            step.commands, typed.status, typed.stdout, typed.stderr
        );
        assert_eq!(typed.status != 0, step.shown.is_failure(), "{told}");
        let warns = typed.stderr.lines().any(|line| line.starts_with("warning"));
        assert!(!warns, "it warns: {told}");
        let seen = match (step.shown.is_failure(), step.is_script) {
            (true, _) => typed.stderr,
            (false, true) => typed.stdout + &typed.stderr,
            (false, false) => typed.stdout,
        };
        if let Some(line) = step.shown.difference(&seen) {
            if let (Some(changes), Some(lines)) = (changes, step.shown.rewritten(&seen)) {
                changes.push([&step.shown.lines, &lines].map(|lines| lines.join("\n") + "\n"));
                return Ok(());
            }
            panic!("the document is out of date: it shows\n{line}\nfor {told}");
        }
        Ok(())
    }
}

/// Types all blocks of a document. `change` makes it another before that.
fn type_in(name: &str, change: impl Fn(String) -> String) {
    let checkout = match checkout::checkout(&root()) {
        Ok(checkout) => checkout,
        Err(reason) => return tell(&format!("skipped: {name}: {reason}")),
    };
    let document = change(fs::read_to_string(checkout.join(name)).expect("the document is there"));
    let blocks = blocks(&document).unwrap_or_else(|error| panic!("{name}: {error}"));
    let scratch = tempfile::tempdir().expect("a folder is to be had");
    let mut shells = Shells::start(&checkout, scratch.path());
    let [mut typed, mut skipped] = [0, 0];
    let mut changes = env::var_os("GOLDEN").is_some_and(|how| how == "write").then(Vec::new);
    for block in &blocks {
        let outcome = match &block.skip {
            Some(reason) => Err(reason.clone()),
            None => block.steps.iter().try_for_each(|step| {
                typed += 1;
                shells.enter(step, &mut changes)
            }),
        };
        if let Err(reason) = outcome {
            skipped += 1;
            tell(&format!("skipped: {name}:{}: {reason}", block.line));
        }
    }
    let path = root().join(name);
    for [old, new] in changes.unwrap_or_default() {
        let text = fs::read_to_string(&path).expect("the document is there");
        assert!(
            text.contains(&old),
            "{name} was changed by hand in lines that are to be written anew:\n{old}"
        );
        fs::write(&path, text.replacen(&old, &new, 1)).expect("the document can be written");
        tell(&format!("{name}: written anew where it showed {}", old.lines().next().unwrap_or_default()));
    }
    tell(&format!("{name}: {} blocks, {typed} commands typed, {skipped} blocks skipped", blocks.len()));
}

/// Why the guide of limits cannot be followed here.
fn missing() -> Option<String> {
    let commands = ["curl", "sysctl", "xargs"];
    let path = env::var_os("PATH").unwrap_or_default();
    let lacks = |name: &&str| !env::split_paths(&path).any(|folder| folder.join(name).is_file());
    let controls = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    match check(&[Requirement::Iperf3, Requirement::Bpf, Requirement::StructOps]) {
        Err(reason) => Some(reason),
        Ok(()) if !controls.is_ok_and(|names| names.contains("cubic")) => {
            Some("the kernel has no CUBIC".to_owned())
        }
        // It is the machine's, and has one name.
        Ok(()) if dctcp::is_registered(dctcp::NAME).unwrap_or(false) => {
            Some(format!("{} is loaded, and somebody may be using it", dctcp::NAME))
        }
        Ok(()) => commands
            .iter()
            .find(|name| lacks(name))
            .map(|name| format!("the command {name} is not installed")),
    }
}

/// What the guide of limits makes, taken away whatever happens.
struct Tenants {
    prefix: String,
}

impl Drop for Tenants {
    fn drop(&mut self) {
        let script = "
            \"$TRUEPLANE\" limit dctcp unload
            \"$TRUEPLANE\" limit detach --dev server0 --netns \"${PREFIX}server\"
            for name in \"${PREFIX}tenant\" \"${PREFIX}server\"; do
                ip netns pids \"$name\" | xargs -r kill
                ip netns del \"$name\"
            done";
        // After a run that went well there is nothing left to remove.
        let _ = Command::new("bash")
            .args(["-c", script])
            .env("TRUEPLANE", env!("CARGO_BIN_EXE_trueplane"))
            .env("PREFIX", &self.prefix)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
    }
}

fn limit_a_tenant(name: &str) {
    if let Some(reason) = missing() {
        return tell(&format!("skipped: {name}: {reason}"));
    }
    // Others may be following it at the same time: what it makes has other names here.
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let port = free.expect("a port is free").port();
    let prefix = format!("tp{port}-");
    let _tenants = Tenants { prefix: prefix.clone() };
    type_in(name, |text| text.replace("tp-", &prefix).replace("9478", &port.to_string()));
}

/// The pages of a folder, by name.
fn pages(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(folder)).expect("the folder is there");
    let mut pages: Vec<String> = entries
        .map(|entry| entry.expect("it is listed").file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".md"))
        .map(|name| format!("{folder}/{name}"))
        .collect();
    pages.sort();
    pages
}

/// README comes first: it builds from nothing, as a newcomer does. The pages of `docs/start` build all of the command, which the guides need.
#[test]
fn the_documents_show_what_a_shell_prints() {
    let _alone = alone();
    let first = ["README.md", "CONTRIBUTING.md", "docs/papers.md"].map(str::to_owned);
    let folders = ["docs/start", "docs/guides", "docs/concepts", "docs/findings"];
    for name in first.into_iter().chain(folders.into_iter().flat_map(pages)) {
        match name.as_str() {
            "docs/guides/limit-a-tenant.md" => limit_a_tenant(&name),
            _ => type_in(&name, |text| text),
        }
    }
}
