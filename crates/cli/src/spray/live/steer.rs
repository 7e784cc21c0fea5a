//! `trueplane spray steer`

use trueplane_linux::Device;
use trueplane_spray::dispatch::DispatchName;
use trueplane_spray::live::steer::commands;

use crate::failure::Failure;
use crate::output::print;

/// Print the ethtool commands that would let a card share out packets to cores; nothing is run.
///
/// rss: by one hash for both directions. rss:default: by the card's own. spray: TCP by the low bits of its checksum, where the card can match
/// bytes at a place of one's choice under a mask, and all else by hash.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  trueplane spray steer --cores 8 --device eth0
  trueplane spray steer --cores 8 --device eth0 --dispatch rss")]
pub(crate) struct Args {
    /// Receive queues, one for each core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=128))]
    cores: u16,

    /// The network device
    #[arg(long, value_name = "IFACE")]
    device: String,

    /// rss, rss:default or spray
    #[arg(long, value_name = "POLICY", default_value = "spray")]
    dispatch: DispatchName,
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        // It becomes part of commands that somebody runs.
        let device = Device::new(&self.device, None)?;
        let lines = commands(&device.name, self.cores.into(), self.dispatch)?;
        print(&format!("{}\n", lines.join("\n")))
    }
}
