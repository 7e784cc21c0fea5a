//! Compiles the eBPF programs.

use std::process::ExitCode;

fn main() -> ExitCode {
    trueplane_bpf::build()
}
