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

/// Limit the packets that pass a network device, in the kernel.
///
/// The limits stay when this command ends, until the machine restarts. `trueplane limit show` shows what they do, `set` changes them, and
/// `detach` removes them. If attaching fails, everything is as it was before. If this command is killed, either the old or the new limits are in
/// place.
///
/// XDP handles incoming packets before the kernel does anything else with them. It costs the least, but it can only drop packets. tc handles
/// either direction. It marks packets of connections that support ECN before it drops any.
///
/// Packets that match no rule of the classes file go to its default class. ARP and other packets without an IP header have no addresses; they go
/// there too, unless a rule by VLAN or fwmark matches them. Without a default class, all these packets pass. You need root, or CAP_BPF,
/// CAP_NET_ADMIN and CAP_PERFMON.
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
        /// Classes file (TOML): whom to limit, and to what, as in examples/classes.toml. A dash (-) is standard input.
        classes: PathBuf => { value: "FILE", required: true },
        /// Place in the kernel where packets are limited.
        mode: Option<Mode> => {
            value: "MODE", default_words: "xdp, but tc for classes with fwmark and for --direction egress",
        },
        /// Direction of the packets that are limited.
        direction: Direction => { value: "DIRECTION", default: "ingress" },
        /// Number of packets after which each core reads the clock. It also reads the clock once per jiffy (1 to 10 ms). A larger number costs
        /// less. A limiter may then drain up to a jiffy late, but it never drains too much.
        clock_every: Within<u32, 1, 1024> => { value: "N", default: "1", heading: TUNING },
        /// Bytes that each core draws from a limiter in advance. Cores then wait less for each other. In exchange, up to N + 1 times as many
        /// bytes more than the limit allows may pass at once, if N cores share it.
        credit: Option<Within<Bytes, 1, MOST_CREDIT>> => { value: "SIZE", default_words: "none", heading: TUNING },
        /// Replace limits or another program that are already there. Limits with the same name keep what is in their buckets. All counters start
        /// again. Without this flag, such a device is refused.
        force: bool => {},
        /// Do everything except attach, and show what would happen. The command checks the classes, and the kernel verifies the program.
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

/// Remove the limits from a network device.
///
/// From then on, packets pass without limits, and counters and buckets are gone. The device is left as it was before there were limits.
///
/// Limits stay with a device that is renamed. If a device is moved to another network namespace, limits by XDP stay with it, and the kernel
/// removes those by tc. Give the current name of the device, and its current namespace. If the device no longer exists, its old name removes
/// what is left of its limits.
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
