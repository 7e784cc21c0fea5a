//! What a live test needs of the machine.

use std::fs;
use std::io::Write;
use std::path::Path;

use crate::privileges;

/// Something that a live test needs beyond root, `ip` and network namespaces, which all of them need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requirement {
    /// The `iperf3` command.
    Iperf3,
    /// The `tc` command.
    Tc,
    /// The `ethtool` command.
    Ethtool,
    /// eBPF programs that are fitted to the running kernel by its type information (BTF).
    Bpf,
    /// Congestion controls in eBPF, with the kernel functions and events that ours uses.
    StructOps,
    /// Devices whose packets a process reads and writes (TUN).
    Tun,
}

/// `Err` says in one line what is missing.
pub fn check(requirements: &[Requirement]) -> Result<(), String> {
    privileges::require("a test network").map_err(|error| error.to_string())?;
    has_command("ip")?;
    if !Path::new("/proc/self/ns/net").exists() {
        return Err("the kernel has no network namespaces".to_owned());
    }
    requirements.iter().try_for_each(|requirement| match requirement {
        Requirement::Iperf3 => has_command("iperf3"),
        Requirement::Tc => has_command("tc"),
        Requirement::Ethtool => has_command("ethtool"),
        Requirement::Bpf => has_btf(&[]),
        Requirement::Tun if Path::new("/dev/net/tun").exists() => Ok(()),
        Requirement::Tun => Err("the kernel has no /dev/net/tun".to_owned()),
        Requirement::StructOps => has_btf(&["bpf_struct_ops_tcp_congestion_ops", "tcp_reno_cong_avoid"]),
    })
}

/// One line, past the test harness, which swallows what a passing test prints.
pub(super) fn report_skip(reason: &str) {
    let test = std::thread::current().name().unwrap_or("test").to_owned();
    // Where stderr is closed, there is no one to tell.
    let _ = writeln!(std::io::stderr().lock(), "skipped: {test}: {reason}");
}

fn has_command(name: &str) -> Result<(), String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    match std::env::split_paths(&path).any(|folder| folder.join(name).is_file()) {
        true => Ok(()),
        false => Err(format!("the command {name} is not installed")),
    }
}

/// Whether the kernel's type information names all of `names`, which lie in it as plain strings.
fn has_btf(names: &[&str]) -> Result<(), String> {
    const BTF: &str = "/sys/kernel/btf/vmlinux";
    let types =
        fs::read(BTF).map_err(|error| format!("the kernel has no type information: {BTF}: {error}"))?;
    match names.iter().find(|name| !contains(&types, name.as_bytes())) {
        None => Ok(()),
        Some(name) => Err(format!("the kernel has no {name}")),
    }
}

fn contains(types: &[u8], name: &[u8]) -> bool {
    // Strings end in a zero there.
    types.split(|&byte| byte == 0).any(|found| found == name)
}
