//! Compiles the eBPF programs, which only `live` has.

use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(feature = "live")]
    return trueplane_bpf::build();
    #[cfg(not(feature = "live"))]
    ExitCode::SUCCESS
}
