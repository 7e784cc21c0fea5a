//! What a machine can do: a pure function of what is known of it.

use serde_json::{Value, json};

use super::machine::{Machine, TOOLS};

/// Numbers of capabilities: `include/uapi/linux/capability.h`.
const CAP_NET_ADMIN: u32 = 12;
const CAP_SYS_ADMIN: u32 = 21;
const CAP_PERFMON: u32 = 38;
const CAP_BPF: u32 = 39;

/// Linux from which limits and sprayers load: `docs/guides/limit-a-tenant.md`.
const OLDEST_LINUX: (u32, u32) = (5, 18);

/// Commands that meet the kernel.
const LIVE: &str = "limit attach, spray run and experiments";

/// One thing that a machine has or lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Check {
    /// The thing: `BTF`.
    pub(super) name: &'static str,
    /// Whether it is there.
    pub(super) is_ok: bool,
    /// What was found, in a few words; empty if nothing was.
    pub(super) found: String,
    /// Commands that need it.
    pub(super) needed_by: &'static str,
    /// Instructions for getting it.
    pub(super) remedy: &'static str,
}

impl Check {
    fn of(
        name: &'static str,
        is_ok: bool,
        found: impl Into<String>,
        needed_by: &'static str,
        remedy: &'static str,
    ) -> Self {
        Self { name, is_ok, found: found.into(), needed_by, remedy }
    }

    /// The check for programs.
    pub(super) fn json(&self) -> Value {
        let Self { name, is_ok, found, needed_by, remedy } = self;
        json!({ "name": name, "ok": is_ok, "found": found, "needed_by": needed_by, "remedy": remedy })
    }
}

/// All checks of a machine, in the order in which people read them.
pub(super) fn checks(machine: &Machine) -> Vec<Check> {
    let mut checks = builds(machine);
    if machine.system == "linux" {
        checks.extend(kernel(machine));
    } else {
        let remedy = "run these commands on Linux; all simulations run here";
        checks.push(Check::of("Linux", false, machine.system.clone(), LIVE, remedy));
    }
    checks.extend(TOOLS.iter().map(|tool| program(machine, tool)));
    checks
}

/// What the command has, and the machine under it.
fn builds(machine: &Machine) -> Vec<Check> {
    let found = |is_there: bool| if is_there { "in this build" } else { "not in this build" };
    let cores = machine.cores.map_or_else(String::new, |cores| cores.to_string());
    let memory = machine.memory.map_or_else(String::new, |memory| format!("{memory} free"));
    vec![
        Check::of("live commands", machine.has_live, found(machine.has_live), LIVE, "make build"),
        Check::of(
            "exact solver (lp)",
            machine.has_lp,
            found(machine.has_lp),
            "cache bound --method lp",
            "cargo build --release --features live,lp",
        ),
        Check::of("cores", machine.cores.is_some(), cores, "all simulations, which use all cores", ""),
        Check::of(
            "memory",
            machine.memory.is_some() || machine.system != "linux",
            memory,
            "offline policies and bounds, which hold a trace in memory",
            "",
        ),
    ]
}

/// What the kernel has and allows.
fn kernel(machine: &Machine) -> Vec<Check> {
    let release = machine.kernel.clone().unwrap_or_default();
    let is_new = version(&release).is_some_and(|version| version >= OLDEST_LINUX);
    let has = |capability: u32| machine.capabilities.is_some_and(|bits| bits >> capability & 1 == 1);
    let may_load = has(CAP_SYS_ADMIN) || has(CAP_BPF) && has(CAP_PERFMON);
    let there = |is_there: bool| if is_there { "there" } else { "" };
    vec![
        Check::of("Linux", is_new, release, LIVE, "Linux 5.18 or later"),
        Check::of(
            "BTF",
            machine.has_btf,
            there(machine.has_btf),
            LIVE,
            "a kernel with CONFIG_DEBUG_INFO_BTF=y",
        ),
        Check::of(
            "XDP and tc programs",
            machine.has_bpf,
            there(machine.has_bpf),
            LIVE,
            "a kernel with CONFIG_BPF_SYSCALL=y",
        ),
        Check::of(
            "right to load programs",
            may_load,
            there(may_load),
            LIVE,
            "sudo, or CAP_BPF and CAP_PERFMON",
        ),
        Check::of(
            "right to change devices",
            has(CAP_NET_ADMIN),
            there(has(CAP_NET_ADMIN)),
            LIVE,
            "sudo, or CAP_NET_ADMIN",
        ),
        Check::of(
            "bpf file system",
            machine.has_bpffs,
            if machine.has_bpffs { "/sys/fs/bpf" } else { "" },
            "limit attach, which keeps its limits there",
            "mount -t bpf bpf /sys/fs/bpf",
        ),
        Check::of(
            "AF_XDP sockets",
            machine.has_af_xdp,
            there(machine.has_af_xdp),
            "spray run --backend xdp",
            "a kernel with CONFIG_XDP_SOCKETS=y",
        ),
    ]
}

/// A program, by its name in [`TOOLS`].
fn program(machine: &Machine, tool: &'static str) -> Check {
    let path =
        machine.tools.iter().find(|(name, _)| *name == tool).map(|(_, path)| path.display().to_string());
    let (needed_by, remedy) = match tool {
        "ip" => ("limit experiment, spray experiment", "apt install iproute2"),
        "tc" => ("limit experiment", "apt install iproute2"),
        "ethtool" => ("limit experiment, spray experiment", "apt install ethtool"),
        "iperf3" => ("limit experiment", "apt install iperf3"),
        "clang" => ("building the live commands", "apt install clang libelf-dev"),
        "verilator" => ("the test bench that pqueue rtl writes", "apt install verilator"),
        _ => ("--open", "apt install xdg-utils, and a browser"),
    };
    Check::of(tool, path.is_some(), path.unwrap_or_default(), needed_by, remedy)
}

/// The first two numbers of a release of Linux.
fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use trueplane_units::Bytes;

    use super::*;

    fn machine() -> Machine {
        Machine {
            system: "linux".to_owned(),
            has_live: true,
            has_lp: true,
            cores: Some(2),
            memory: Some(Bytes(1 << 30)),
            kernel: Some("6.8.0-40-generic".to_owned()),
            has_btf: true,
            capabilities: Some(u64::MAX),
            has_bpffs: true,
            has_bpf: true,
            has_af_xdp: true,
            tools: TOOLS.map(|tool| (tool, format!("/usr/bin/{tool}").into())).to_vec(),
        }
    }

    fn missing(machine: &Machine) -> Vec<&'static str> {
        checks(machine).iter().filter(|check| !check.is_ok).map(|check| check.name).collect()
    }

    #[test]
    fn a_machine_with_everything_lacks_nothing() {
        assert_eq!(missing(&machine()), Vec::<&str>::new());
    }

    #[test]
    fn each_thing_is_missed() {
        assert_eq!(missing(&Machine { has_btf: false, ..machine() }), ["BTF"]);
        assert_eq!(missing(&Machine { has_bpffs: false, ..machine() }), ["bpf file system"]);
        assert_eq!(missing(&Machine { kernel: Some("5.15.0".to_owned()), ..machine() }), ["Linux"]);
        assert_eq!(missing(&Machine { has_lp: false, ..machine() }), ["exact solver (lp)"]);
        let nobody = Machine { capabilities: Some(0), ..machine() };
        assert_eq!(missing(&nobody), ["right to load programs", "right to change devices"]);
        let bpf = (1 << CAP_BPF) | (1 << CAP_PERFMON) | (1 << CAP_NET_ADMIN);
        assert_eq!(missing(&Machine { capabilities: Some(bpf), ..machine() }), Vec::<&str>::new());
        assert_eq!(missing(&Machine { tools: Vec::new(), ..machine() }), TOOLS);
    }

    #[test]
    fn another_system_has_no_checks_of_a_kernel() {
        let other = Machine { system: "macos".to_owned(), kernel: None, memory: None, ..machine() };
        assert_eq!(missing(&other), ["Linux"]);
        assert!(checks(&other).iter().all(|check| check.name != "BTF"));
    }

    #[test]
    fn whatever_is_missing_can_be_got() {
        for check in checks(&Machine { system: "linux".to_owned(), ..Machine::default() }) {
            assert!(!check.needed_by.is_empty(), "{check:?}");
            let is_of_the_machine = matches!(check.name, "cores" | "memory");
            assert_eq!(check.remedy.is_empty(), is_of_the_machine, "{check:?}");
        }
    }

    #[test]
    fn releases_of_linux_are_read() {
        assert_eq!(version("6.18.1+deb13-amd64"), Some((6, 18)));
        assert_eq!(version("5.4"), Some((5, 4)));
        assert_eq!(version("linux"), None);
    }
}
