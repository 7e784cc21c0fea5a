//! `trueplane limit attach` and `trueplane limit detach`

use std::path::PathBuf;

use trueplane_limit::classes::Classes;
use trueplane_limit::live as limit;
use trueplane_limit::live::{Attachment, Clock, Detached, Direction, Mode, Tuning};
use trueplane_units::{Bytes, Within, parameters};

use super::device::OneDevice;
use super::overview::overview;
use crate::failure::Failure;
use crate::flags::Flags;
use crate::output::{OutputArgs, print};

/// Limit what passes a network device, in the kernel.
///
/// The limits stay when this command ends, until the machine restarts: `trueplane limit show` tells what they do, `set` changes
/// them, `detach` takes them away. If attaching fails, everything is as it was before. If this command is killed, the old limits run or the new ones.
///
/// XDP polices incoming packets before the kernel does anything else for them: it is the cheapest, and only drops. tc polices in
/// either direction, and marks packets of connections that speak ECN before it drops any. Packets of no class, ARP and the like
/// among them, pass. Needs root, or CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    flags: Flags<Options>,

    #[command(flatten)]
    output: OutputArgs,
}

/// Heading of help texts for what makes limits cheaper on many cores.
const TUNING: &str = "Many cores";

/// The most that a core may draw in advance: it has to fit a limiter's arithmetic.
const MOST_CREDIT: u64 = 1 << 20;

parameters! {
    /// Parameters of `limit attach`.
    #[derive(Clone, Debug)]
    struct Options {
        /// File of who is limited, and to what: TOML, such as examples/classes.toml; - is standard input.
        classes: PathBuf => { value: "FILE", required: true },
        /// Place in the kernel where packets are limited.
        mode: Option<Mode> => {
            value: "MODE", default_words: "xdp, or tc where XDP cannot: for classes by fwmark, or --direction egress",
        },
        /// Packets of the device that are limited.
        direction: Direction => { value: "DIRECTION", default: "ingress" },
        /// Packets for which a core reads the clock once, and once per jiffy (1 to 10 ms): more are cheaper, and a limiter may drain up
        /// to a jiffy late, never too much.
        clock_every: Within<u32, 1, 1024> => { value: "N", default: "1", heading: TUNING },
        /// Bytes that each core draws from a limiter in advance, so that cores do not wait for each other: up to so much more for each
        /// core, and once more, may pass at once.
        credit: Option<Within<Bytes, 1, MOST_CREDIT>> => { value: "SIZE", default_words: "none", heading: TUNING },
        /// Replace limits or another program that are there already; the buckets of limits of the same name stay as full as they are,
        /// counters start again.
        force: bool => {},
        /// Do everything but attach: check the classes, have the kernel verify the program, and tell what would be done.
        dry_run: bool => {},
    }
    including {
        /// The device.
        device: OneDevice,
    }
}

const EXAMPLES: &str = "\
Examples:
  trueplane limit attach --dev eth0 --classes classes.toml --dry-run
  trueplane limit attach --dev eth0 --classes classes.toml
  trueplane limit attach --dev veth-blue --classes classes.toml --mode tc --direction egress
  trueplane limit attach --dev eth0 --netns blue --classes classes.toml --clock-every 16 --credit 16KiB";

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.output.check()?;
        let Flags(options) = self.flags;
        let device = options.device.device()?;
        // Whoever may not, or names another device, need not correct the classes first.
        limit::check(&device)?;
        let (attachment, why) = options.attachment(Classes::open(&options.classes)?);
        if options.dry_run {
            limit::rehearse(&device, &attachment)?;
        } else {
            limit::attach(&device, &attachment)?;
        }
        let done = if options.dry_run { "Nothing was attached: this is what would be." } else { "Attached." };
        self.output.emit(&overview(&device, &attachment, done, why))
    }
}

impl Options {
    /// The attachment, and the reason for tc if nobody asked for that.
    fn attachment(&self, classes: Classes) -> (Attachment, Option<&'static str>) {
        let (mode, why) = match self.mode {
            Some(mode) => (mode, None),
            None => Mode::fitting(&classes, self.direction),
        };
        let attachment = Attachment {
            classes,
            mode,
            direction: self.direction,
            tuning: Tuning {
                clock: match *self.clock_every {
                    1 => Clock::Exact,
                    every => Clock::Amortised { every },
                },
                draw_bytes: self.credit.map_or(0, |credit| credit.0 as u32),
            },
            force: self.force,
        };
        (attachment, why)
    }
}

/// Take the limits off a network device.
///
/// Packets pass untouched from then on, and counters and buckets are gone. The device is left as it was before there were limits.
///
/// Limits stay with a device that is renamed; by XDP they also stay with one that is moved to another network namespace, while the kernel takes those of tc
/// away. Name the device as it is called now, and where it is. If the device is gone, its old name removes what is left of its limits.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  trueplane limit detach --dev eth0
  trueplane limit detach --dev veth0 --netns blue")]
pub(crate) struct DetachArgs {
    #[command(flatten)]
    device: Flags<OneDevice>,
}

impl DetachArgs {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let device = self.device.0.device()?;
        print(&match limit::detach(&device)? {
            Detached::Limits => format!("{device} has no limits any more.\n"),
            Detached::Remains => format!(
                "{device} has no limits any more: they had ended, and what was left of them is removed.\n"
            ),
        })
    }
}
