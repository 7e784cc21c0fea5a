//! `trueplane limit dctcp`

use trueplane_experiments::dctcp;
use trueplane_units::{choices, parameters};

use crate::failure::Failure;
use crate::flags::Flags;
use crate::output::print;

/// Load DCTCP (RFC 8257) into a kernel that lacks it, as the congestion control tp_dctcp.
///
/// Limits that mark packets work best with senders that slow down in proportion to their marked packets, as DCTCP does. Both ends of a
/// connection need DCTCP before they connect. So load it on both, and select it by route (see the examples). It stays until you unload it. You
/// need root, or CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON.
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
        /// Say whether the kernel has it.
        Status = "status",
        /// Load and register it.
        Load = "load",
        /// Unregister it; connections that use it keep it.
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
