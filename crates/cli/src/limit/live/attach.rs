//! `trueplane limit attach` and `trueplane limit detach`

use std::path::PathBuf;

use clap::ValueEnum;
use trueplane_limit::classes::Classes;
use trueplane_limit::live as limit;
use trueplane_limit::live::{Attachment, Clock, Detached, Direction, Mode, Tuning};
use trueplane_units::Bytes;

use super::device::DeviceArgs;
use super::overview::overview;
use crate::failure::Failure;
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
    device: DeviceArgs,

    /// Who is limited, and to what: a TOML file such as examples/classes.toml; - for standard input
    #[arg(long, value_name = "FILE")]
    classes: PathBuf,

    /// Where in the kernel packets are limited [default: xdp, or tc where XDP cannot: for classes by fwmark, or --direction egress]
    #[arg(long, value_enum)]
    mode: Option<ModeArg>,

    /// Which packets of the device
    #[arg(long, value_enum, default_value_t = DirectionArg::Ingress)]
    direction: DirectionArg,

    /// Let each core read the clock for every N-th packet only, and once per jiffy (1 to 10 ms): cheaper, and a limiter may drain
    /// up to a jiffy late, never too much
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    clock_every: u32,

    /// Let each core draw so much from a limiter in advance, so that cores do not wait for each other: up to so much more for
    /// each core, and once more, may pass at once [default: none]
    #[arg(long, value_name = "SIZE", value_parser = credit)]
    credit: Option<Bytes>,

    /// Replace limits or another program that are there already; the buckets of limits of the same name stay as full as they are,
    /// counters start again
    #[arg(long)]
    force: bool,

    /// Do everything but attach: check the classes, have the kernel verify the program, and tell what would be done
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    output: OutputArgs,
}

const EXAMPLES: &str = "\
Examples:
  trueplane limit attach --dev eth0 --classes classes.toml --dry-run
  trueplane limit attach --dev eth0 --classes classes.toml
  trueplane limit attach --dev veth-blue --classes classes.toml --mode tc --direction egress
  trueplane limit attach --dev eth0 --netns blue --classes classes.toml --clock-every 16 --credit 16KiB";

#[derive(Clone, Copy, ValueEnum)]
enum ModeArg {
    /// The driver's receive path
    Xdp,
    /// Traffic control, at clsact
    Tc,
}

#[derive(Clone, Copy, ValueEnum)]
enum DirectionArg {
    /// What it receives
    Ingress,
    /// What it sends
    Egress,
}

/// A credit that fits a limiter's arithmetic.
fn credit(text: &str) -> Result<Bytes, String> {
    const MOST: Bytes = Bytes(1 << 20);
    let size: Bytes = text.parse().map_err(|error| format!("{error}"))?;
    if (Bytes(1)..=MOST).contains(&size) {
        Ok(size)
    } else {
        Err(format!("expected from 1B to {MOST}, got {text}"))
    }
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.output.check()?;
        let device = self.device.device()?;
        // Whoever may not, or names another device, need not correct the classes first.
        limit::check(&device)?;
        let classes = Classes::open(&self.classes)?;
        let (attachment, why) = self.attachment(classes);
        if self.dry_run {
            limit::rehearse(&device, &attachment)?;
        } else {
            limit::attach(&device, &attachment)?;
        }
        let done = if self.dry_run { "Nothing was attached: this is what would be." } else { "Attached." };
        let mut report = overview(&device, &attachment, done);
        report.verdict.extend(why.map(|why| format!("By tc, since {why}.")));
        self.output.emit(&report)
    }

    /// What to attach, and why by tc if nobody asked for that.
    fn attachment(&self, classes: Classes) -> (Attachment, Option<&'static str>) {
        let direction = match self.direction {
            DirectionArg::Ingress => Direction::Ingress,
            DirectionArg::Egress => Direction::Egress,
        };
        let (mode, why) = match self.mode {
            Some(ModeArg::Xdp) => (Mode::Xdp, None),
            Some(ModeArg::Tc) => (Mode::Tc, None),
            None => Mode::fitting(&classes, direction),
        };
        let attachment = Attachment {
            classes,
            mode,
            direction,
            tuning: Tuning {
                clock: match self.clock_every {
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
    device: DeviceArgs,
}

impl DetachArgs {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let device = self.device.device()?;
        print(&match limit::detach(&device)? {
            Detached::Limits => format!("{device} has no limits any more.\n"),
            Detached::Remains => format!(
                "{device} has no limits any more: they had ended, and what was left of them is removed.\n"
            ),
        })
    }
}
