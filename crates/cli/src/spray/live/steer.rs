//! `trueplane spray steer`

use trueplane_linux::Device;
use trueplane_spray::dispatch::{Card, On};
use trueplane_spray::live::steer::commands;
use trueplane_units::{Within, parameters};

use super::values::{Interface, MOST_CORES, required};
use crate::failure::Failure;
use crate::flags::Flags;
use crate::output::print;

/// Print ethtool commands that make a card distribute packets over cores, without running them.
///
/// With rss, the card uses one hash for both directions. With rss:default, it uses its own hash. With spray, it distributes TCP by the low bits
/// of the checksum, and everything else by hash. The card must then be able to match bytes at any offset under a mask.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  trueplane spray steer --cores 8 --dev eth0
  trueplane spray steer --cores 8 --dev eth0 --policy rss")]
pub(crate) struct Args {
    #[command(flatten)]
    flags: Flags<Options>,
}

parameters! {
    /// Parameters of `spray steer`.
    #[derive(Clone, Debug)]
    struct Options {
        /// Number of receive queues, one for each core.
        cores: Option<Within<u16, 1, MOST_CORES>> => { value: "N", required: true },
        /// Network device, such as eth0.
        dev: Option<Interface> => { value: "IFACE", required: true },
        /// Policy for the card.
        policy: On<Card> => { value: "POLICY", default: "spray" },
    }
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let Flags(options) = self.flags;
        let Interface(device) = required(&options.dev, "--dev")?;
        // It becomes part of commands that somebody runs: here, and not in a namespace.
        let device = Device::new(&device.to_string(), None)?;
        let cores = required(&options.cores, "--cores")?;
        let lines = commands(&device.name, usize::from(*cores), options.policy.name())?;
        print(&format!("{}\n", lines.join("\n")))
    }
}
