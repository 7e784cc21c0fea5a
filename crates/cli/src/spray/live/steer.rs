//! `trueplane spray steer`

use trueplane_linux::Device;
use trueplane_spray::dispatch::{Card, On};
use trueplane_spray::live::steer::commands;
use trueplane_units::{Within, parameters};

use super::values::{Interface, MOST_CORES, required};
use crate::failure::Failure;
use crate::flags::Flags;
use crate::output::print;

/// Print the ethtool commands that would let a card share out packets to cores; nothing is run.
///
/// rss: by one hash for both directions. rss:default: by the card's own. spray: TCP by the low bits of its checksum, where the card can match
/// bytes at a place of one's choice under a mask, and all else by hash.
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
        /// Receive queues, one for each core.
        cores: Option<Within<u16, 1, MOST_CORES>> => { value: "N", required: true },
        /// Network device.
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
