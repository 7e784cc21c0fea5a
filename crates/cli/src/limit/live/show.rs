//! `trueplane limit show` and `trueplane limit set`

use std::io::{self, IsTerminal as _};
use std::thread;
use std::time::Duration;

use trueplane_limit::live::report::{Sample, report};
use trueplane_limit::live::{Attached, Change};
use trueplane_study::Observer as _;
use trueplane_units::{BitsPerSec, Bytes, Nanos, Within, parameters};

use super::device::AnyDevice;
use crate::failure::Failure;
use crate::flags::Flags;
use crate::output::{OutputArgs, print};
use crate::watch::Watch;

/// Show what the limits on a network device do.
///
/// For each class, the command shows how its limiters are set, what is in the fullest of them, and what has passed, was marked and was dropped
/// since they were attached. If a class counts each of its limiters, the command also lists the limiters that dropped the most.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  trueplane limit show
  trueplane limit show --dev eth0 --watch
  trueplane limit show --dev veth0 --netns blue --watch --interval 100ms --json")]
pub(crate) struct Args {
    #[command(flatten)]
    flags: Flags<Options>,

    #[command(flatten)]
    output: OutputArgs,
}

/// The shortest interval, in ns.
const SHORTEST: u64 = 10_000_000;

parameters! {
    /// Parameters of `limit show`.
    #[derive(Clone, Debug)]
    struct Options {
        /// Repeat the output until Ctrl-C, with the rates of each interval. With --json, each interval is one document on one line.
        watch: bool => { conflicts: "report open output csv" },
        /// Time between two outputs.
        interval: Within<Nanos, SHORTEST, { u64::MAX }> => { value: "TIME", default: "1s", requires: "watch" },
    }
    including {
        /// The device.
        device: AnyDevice,
    }
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.output.check()?;
        let Flags(options) = &self.flags;
        let device = options.device.device()?;
        let attached = Attached::open(&device)?;
        let mut before = Sample::take(&attached)?;
        if !options.watch {
            return self.output.emit(&report(&attached, &before, None));
        }
        let watch = Watch::start(self.output.is_quiet())?;
        while sleep(*options.interval, &watch) {
            // The limits may be replaced, or taken away, meanwhile.
            let attached = Attached::open(&device)?;
            let now = Sample::take(&attached)?;
            // Those that replaced them count from zero.
            let earlier = (now.program_id == before.program_id).then_some(&before);
            self.tell(&report(&attached, &now, earlier))?;
            before = now;
        }
        Ok(())
    }

    fn tell(&self, report: &trueplane_study::report::Report) -> Result<(), Failure> {
        if self.output.is_json() {
            return print(&format!("{}\n", report.document));
        }
        // Home, and clear what is below: the table stays where it is.
        if io::stdout().is_terminal() {
            print("\x1b[H\x1b[J")?;
        }
        self.output.emit(report)
    }
}

/// Sleeps; returns whether it was not woken by Ctrl-C.
fn sleep(time: Nanos, watch: &Watch) -> bool {
    const NAP: Nanos = Nanos(50_000_000);
    let mut left = time;
    while left.0 > 0 && !watch.interrupted() {
        let nap = left.min(NAP);
        thread::sleep(Duration::from_nanos(nap.0));
        left = Nanos(left.0 - nap.0);
    }
    !watch.interrupted()
}

/// Change a limit while it runs.
///
/// What is in the buckets stays there, and every packet meets either the old limit or the new one. Values that you do not give stay as they are.
/// If a change does not fit one of the limiters of the class, none of them changes. The command does not change the classes file.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  trueplane limit set gold rate=2Gbps
  trueplane limit set 'tenants[10.0.3.0/24]' rate=10Mbps burst=64KiB mark=never --dev eth0")]
pub(crate) struct SetArgs {
    /// Class, or one limiter of a class, such as 'tenants[10.0.3.0/24]'.
    #[arg(value_name = "CLASS")]
    name: String,

    /// One or more changes: rate=RATE, burst=SIZE, mark=SIZE or mark=never.
    #[arg(value_name = "CHANGE", required = true)]
    changes: Vec<String>,

    #[command(flatten)]
    device: Flags<AnyDevice>,
}

impl SetArgs {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let change = self.change().map_err(Failure::input)?;
        let device = self.device.0.device()?;
        let changed = Attached::open(&device)?.set(&self.name, change)?;
        let what = if changed == 1 { "1 limiter".to_owned() } else { format!("{changed} limiters") };
        print(&format!("{device}: changed {what}: {} {}\n", self.name, self.changes.join(" ")))
    }

    fn change(&self) -> Result<Change, String> {
        let mut change = Change::default();
        for text in &self.changes {
            let (key, value) = text.split_once('=').ok_or_else(|| expected(text))?;
            let wrong = |error: &dyn std::fmt::Display| format!("{key}: {error}");
            let again = match key {
                "rate" => {
                    change.rate.replace(value.parse::<BitsPerSec>().map_err(|error| wrong(&error))?).is_some()
                }
                "burst" => {
                    change.burst.replace(value.parse::<Bytes>().map_err(|error| wrong(&error))?).is_some()
                }
                "mark" if value == "never" => change.mark.replace(None).is_some(),
                "mark" => change.mark.replace(Some(value.parse().map_err(|error| wrong(&error))?)).is_some(),
                _ => return Err(expected(text)),
            };
            if again {
                return Err(format!("{key} is given twice"));
            }
        }
        Ok(change)
    }
}

fn expected(text: &str) -> String {
    format!("expected rate=RATE, burst=SIZE, mark=SIZE or mark=never, got \"{text}\"")
}
