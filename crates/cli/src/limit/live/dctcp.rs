//! `trueplane limit dctcp`

use trueplane_experiments::dctcp;
use trueplane_units::{choices, parameters};

use crate::failure::Failure;
use crate::flags::Flags;
use crate::output::print;

/// Bring DCTCP (RFC 8257) to a kernel that does not have it, as a congestion control called tp_dctcp.
///
/// Limits that mark work best with senders that slow down by how many of their packets are marked. Both ends of a connection
/// need DCTCP before they connect: load it on both, and choose it by route (see the examples). It stays until it is
/// unloaded. Needs root, or CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  trueplane limit dctcp load
  ip route replace 10.0.0.0/24 dev eth0 congctl tp_dctcp
  trueplane limit dctcp unload")]
pub(crate) struct Args {
    #[command(flatten)]
    flags: Flags<Options>,
}

choices! {
    /// Action on a congestion control.
    enum Action {
        /// Tell whether the kernel has it.
        Status = "status",
        /// Load and register it.
        Load = "load",
        /// Unregister it; connections that have it keep it.
        Unload = "unload",
    }
}

parameters! {
    /// Parameters of `limit dctcp`.
    #[derive(Clone, Debug)]
    struct Options {
        /// Action to take.
        action: Action => { value: "ACTION", default: "status", positional: true },
    }
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let name = dctcp::NAME;
        match self.flags.0.action {
            Action::Status => {
                let has = if dctcp::is_registered(name)? { "has" } else { "does not have" };
                print(&format!("This kernel {has} the congestion control {name}.\n"))
            }
            Action::Load => {
                dctcp::load()?;
                print(&format!(
                    "Loaded: choose {name} at both ends, for example by `ip route ... congctl {name}`.\n"
                ))
            }
            Action::Unload => {
                dctcp::unload()?;
                print(&format!("Unloaded {name}.\n"))
            }
        }
    }
}
