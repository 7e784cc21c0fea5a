//! What there is to know of a machine, gathered in one place.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use trueplane_units::Bytes;

/// Programs that some commands or tests start.
pub(super) const TOOLS: [&str; 7] = ["ip", "tc", "ethtool", "iperf3", "clang", "verilator", "xdg-open"];

/// Folders of root's programs, which are not on every user's path.
const SYSTEM: [&str; 2] = ["/usr/sbin", "/sbin"];

/// What is known of a machine. What could not be found out is `None`.
#[derive(Clone, Debug, Default)]
pub(super) struct Machine {
    /// The operating system: `linux`, `macos`.
    pub(super) system: String,
    /// Whether the command was built with the feature `live`.
    pub(super) has_live: bool,
    /// Whether the command was built with the feature `lp`.
    pub(super) has_lp: bool,
    /// Cores that the command may use.
    pub(super) cores: Option<usize>,
    /// Memory that can still be had without swapping.
    pub(super) memory: Option<Bytes>,
    /// Release of the Linux kernel: `6.8.0-40-generic`.
    pub(super) kernel: Option<String>,
    /// Whether the kernel has type information of itself.
    pub(super) has_btf: bool,
    /// Effective capabilities of this process, a bit for each.
    pub(super) capabilities: Option<u64>,
    /// Whether a bpf file system is mounted at `/sys/fs/bpf`.
    pub(super) has_bpffs: bool,
    /// Whether the kernel runs BPF programs.
    pub(super) has_bpf: bool,
    /// Whether the kernel has AF_XDP sockets.
    pub(super) has_af_xdp: bool,
    /// Those of [`TOOLS`] that were found, with their paths.
    pub(super) tools: Vec<(&'static str, PathBuf)>,
}

impl Machine {
    /// The machine on which this runs. Reads files of `/proc` and `/sys` and looks for programs; changes nothing.
    pub(super) fn this() -> Self {
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        let users = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
        let protocols = fs::read_to_string("/proc/net/protocols").unwrap_or_default();
        Self {
            system: env::consts::OS.to_owned(),
            has_live: cfg!(feature = "live"),
            has_lp: cfg!(feature = "lp"),
            cores: thread::available_parallelism().ok().map(usize::from),
            memory: fs::read_to_string("/proc/meminfo").ok().and_then(|text| available(&text)),
            kernel: fs::read_to_string("/proc/sys/kernel/osrelease").ok().map(|text| text.trim().to_owned()),
            has_btf: exists("/sys/kernel/btf/vmlinux"),
            capabilities: fs::read_to_string("/proc/self/status")
                .ok()
                .and_then(|text| effective(&text))
                .map(|bits| if is_namespace(&users) { 0 } else { bits }),
            has_bpffs: mounts.lines().any(is_bpffs),
            // The kernel has this switch if it has the system call.
            has_bpf: exists("/proc/sys/kernel/unprivileged_bpf_disabled"),
            has_af_xdp: protocols.lines().any(|line| line.starts_with("XDP ")),
            tools: TOOLS.into_iter().filter_map(|tool| Some((tool, find(tool)?))).collect(),
        }
    }
}

fn exists(path: &str) -> bool {
    fs::metadata(path).is_ok()
}

/// The path of a program.
fn find(tool: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain(SYSTEM.map(PathBuf::from));
    folders.map(|folder| folder.join(tool)).find(|file| is_executable(file))
}

/// Whether a file may be started by anybody.
fn is_executable(file: &Path) -> bool {
    #[cfg(unix)]
    let may_start =
        |meta: &fs::Metadata| std::os::unix::fs::PermissionsExt::mode(&meta.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let may_start = |_: &fs::Metadata| true;
    fs::metadata(file).is_ok_and(|meta| meta.is_file() && may_start(&meta))
}

/// Memory that is available, as `/proc/meminfo` says it in KiB.
fn available(meminfo: &str) -> Option<Bytes> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024).map(Bytes)
}

/// Effective capabilities, as `/proc/self/status` says them in hexadecimal.
fn effective(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"))?;
    u64::from_str_radix(line.trim(), 16).ok()
}

/// Whether this process runs in a user namespace, by `/proc/self/uid_map`. Its capabilities then do not hold for the kernel.
fn is_namespace(users: &str) -> bool {
    !users.is_empty() && users.split_whitespace().ne(["0", "0", "4294967295"])
}

/// Whether a line of `/proc/self/mounts` is about a bpf file system in its usual place.
fn is_bpffs(line: &str) -> bool {
    let mut words = line.split(' ').skip(1);
    let place = words.next().map(OsStr::new);
    place == Some(OsStr::new("/sys/fs/bpf")) && words.next() == Some("bpf")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_kernel_are_read() {
        assert_eq!(available("MemTotal: 9 kB\nMemAvailable:    1024 kB\n"), Some(Bytes(1 << 20)));
        assert_eq!(available("MemTotal: 9 kB\n"), None);
        assert_eq!(effective("Name:\tx\nCapEff:\t000001ffffffffff\n"), Some(0x1ff_ffff_ffff));
        assert!(!is_namespace("         0          0 4294967295\n") && !is_namespace(""));
        assert!(is_namespace("         0       1000          1\n"));
        assert!(is_bpffs("bpf /sys/fs/bpf bpf rw,nosuid 0 0"));
        assert!(!is_bpffs("none /sys/fs/bpf tmpfs rw 0 0") && !is_bpffs("bpf /mnt bpf rw 0 0"));
    }
}
