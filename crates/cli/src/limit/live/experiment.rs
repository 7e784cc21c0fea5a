//! `trueplane limit experiment`

use std::time::Duration;

use trueplane_experiments::limit::report::{conduct, page};
use trueplane_experiments::limit::{Error, Experiment, Observer};
use trueplane_linux::testnet;
use trueplane_study::Observer as _;
use trueplane_units::Nanos;

use crate::failure::Failure;
use crate::output::OutputArgs;
use crate::values::{Named, named};
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
    /// Experiments: precision, isolation, latency, occupancy, marking [default: all, in about a minute]
    #[arg(value_name = "NAME", value_parser = named::<Experiment>)]
    experiments: Vec<Experiment>,

    /// How long to measure, each time; 100ms to 60s
    #[arg(long, value_name = "TIME", default_value = "400ms", value_parser = duration)]
    duration: Duration,

    #[command(flatten)]
    output: OutputArgs,
}

impl Named for Experiment {
    const WHAT: &'static str = "experiment";
    const NAMES: &'static [(&'static str, Self)] = &Experiment::NAMES;
}

fn duration(text: &str) -> Result<Duration, String> {
    let time: Nanos = text.parse().map_err(|error| format!("{error}"))?;
    let time = Duration::from_nanos(time.0);
    let allowed = Duration::from_millis(100)..=Duration::from_secs(60);
    if allowed.contains(&time) { Ok(time) } else { Err(format!("expected 100ms to 60s, got {text}")) }
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
        let all = || Experiment::NAMES.map(|(_, experiment)| experiment).to_vec();
        let chosen = if self.experiments.is_empty() {
            all()
        } else {
            trueplane_units::distinct(self.experiments.iter().copied())
        };
        let (mut able, mut skipped) = (Vec::new(), Vec::new());
        for experiment in chosen {
            match testnet::check(experiment.requirements()) {
                Ok(()) => able.push(experiment),
                Err(reason) => skipped.push((experiment, reason)),
            }
        }
        if let ([], [(_, reason), ..]) = (&able[..], &skipped[..]) {
            return Err(Failure::other(format!("limit experiment: {reason}")));
        }
        for (experiment, reason) in &skipped {
            eprintln!("skipped: {}: {reason}", experiment.name());
        }
        let watch = Watch::start()?;
        watch.waits_for_cleaning_up();
        let _alone = testnet::alone();
        testnet::sweep().map_err(|error| Failure::other(error.to_string()))?;
        let mut sections = Vec::new();
        for experiment in able {
            let section = conduct(experiment, self.duration, &Bar(&watch));
            sections.push((experiment, section.map_err(|error| failure(error, &watch))?));
        }
        watch.finish();
        self.output.emit(&page(sections, &skipped, self.duration))
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
