//! `trueplane limit experiment`

use std::time::Duration;

use trueplane_experiments::limit::report::{conduct, report};
use trueplane_experiments::limit::{Error, Experiment, LeftOut, Observer};
use trueplane_linux::testnet;
use trueplane_study::Observer as _;
use trueplane_units::parameter::settings as settings_of;
use trueplane_units::{Nanos, Within, distinct, parameters};

use crate::failure::Failure;
use crate::flags::Flags;
use crate::output::OutputArgs;
use crate::watch::Watch;

/// Try limits on real packets, on this machine, in network namespaces that come and go with the command.
///
/// precision: what rate passes, beside tc's tbf and htb. isolation: ten flows of one tenant against a hundred of another, without
/// and with limits. latency: what a quiet tenant waits beside a hundred flows. occupancy: how full a limiter gets with marks and
/// without. marking: where to mark so that DCTCP uses the rate and loses nothing.
///
/// No device of this machine is touched. Needs root, and iperf3, tc and ethtool.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  trueplane limit experiment --report out
  trueplane limit experiment isolation latency --duration 2s --json")]
pub(crate) struct Args {
    /// Experiments [default: all, in about a minute]
    #[arg(value_name = "NAME")]
    experiments: Vec<Experiment>,

    #[command(flatten)]
    flags: Flags<Options>,

    #[command(flatten)]
    output: OutputArgs,
}

parameters! {
    /// Parameters of `limit experiment`.
    #[derive(Clone, Debug)]
    struct Options {
        /// Time to measure for, each time.
        duration: Within<Nanos, 100_000_000, 60_000_000_000> => { value: "TIME", default: "400ms" },
    }
}

/// A bar that says what is being measured.
struct Bar<'a>(&'a Watch);

impl Observer for Bar<'_> {
    fn step(&self, what: &str) {
        self.0.stage(what, 0);
    }

    fn interrupted(&self) -> bool {
        self.0.interrupted()
    }
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.output.check()?;
        let Flags(options) = &self.flags;
        let duration = Duration::from_nanos(options.duration.0);
        let chosen = match &self.experiments[..] {
            [] => Experiment::ALL.to_vec(),
            some => distinct(some.iter().copied()),
        };
        let (mut able, mut skipped) = (Vec::new(), Vec::new());
        for experiment in chosen {
            match testnet::check(experiment.requirements()) {
                Ok(()) => able.push(experiment),
                Err(reason) => skipped.push(LeftOut { what: experiment.to_string(), reason }),
            }
        }
        if let ([], [LeftOut { reason, .. }, ..]) = (&able[..], &skipped[..]) {
            return Err(Failure::other(format!("limit experiment: {reason}")));
        }
        let watch = Watch::start()?;
        watch.waits_for_cleaning_up();
        let _alone = testnet::alone();
        testnet::sweep().map_err(|error| Failure::other(error.to_string()))?;
        let mut all = Vec::new();
        for experiment in able {
            let found = conduct(experiment, duration, &Bar(&watch));
            all.push(found.map_err(|error| failure(error, &watch))?);
        }
        watch.finish();
        self.output.emit(&report(&all, &skipped, &settings_of(options)))
    }
}

fn failure(error: Error, watch: &Watch) -> Failure {
    // Ctrl-C also reaches iperf3, whose end is then the first thing that is noticed.
    if watch.interrupted() {
        return trueplane_study::Error::Interrupted.into();
    }
    match error {
        Error::Limits(error) => error.into(),
        Error::Interrupted | Error::Network(_) => Failure::other(error.to_string()),
    }
}
