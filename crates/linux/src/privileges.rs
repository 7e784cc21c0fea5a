//! What the process may do.

use std::fs;

use crate::error::Error;

const CAP_NET_ADMIN: u32 = 12;
const CAP_SYS_ADMIN: u32 = 21;
const CAP_PERFMON: u32 = 38;
const CAP_BPF: u32 = 39;

/// Checks that programs can be loaded and attached; `doing` is for the message.
pub fn require(doing: &'static str) -> Result<(), Error> {
    silence_libbpf();
    let status = fs::read_to_string("/proc/self/status").map_err(Error::io("read /proc/self/status"))?;
    let effective = status
        .lines()
        .find_map(|line| line.strip_prefix("CapEff:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0);
    let has = |capability: u32| effective >> capability & 1 == 1;
    // The programs compare pointers into a packet, which the verifier allows to those who may trace.
    if has(CAP_NET_ADMIN) && (has(CAP_SYS_ADMIN) || has(CAP_BPF) && has(CAP_PERFMON)) {
        Ok(())
    } else {
        Err(Error::Privileges { doing })
    }
}

/// libbpf reports failures to its caller as well; its own lines would break the rule of one line per error.
fn silence_libbpf() {
    if std::env::var_os("TRUEPLANE_LIBBPF_LOG").is_none() {
        libbpf_rs::set_print(None);
    }
}
