//! `trueplane limit …`

mod attach;
mod classes;
mod device;
mod metrics;
mod precision;
mod replay;
mod show;
mod size;

use clap::Subcommand;

use crate::failure::Failure;

// What a verb does is said at its `Args`: a comment here would hide all but the first line of that in `--help`.
#[derive(Subcommand)]
pub(crate) enum Verb {
    Precision(precision::Args),
    Replay(replay::Args),
    Size(size::Args),
    /// Limit what passes a network device, in the kernel
    Attach(attach::Args),
    /// Tell what the limits on a network device do
    Show(show::Args),
    /// Change a limit while it runs
    Set(show::SetArgs),
    /// Take the limits off a network device
    Detach(attach::DetachArgs),
    /// Serve the counters of all limits to Prometheus
    Metrics(metrics::Args),
}

pub(crate) fn run(verb: Verb) -> Result<(), Failure> {
    match verb {
        Verb::Precision(args) => args.run(),
        Verb::Replay(args) => args.run(),
        Verb::Size(args) => args.run(),
        Verb::Attach(args) => args.run(),
        Verb::Show(args) => args.run(),
        Verb::Set(args) => args.run(),
        Verb::Detach(args) => args.run(),
        Verb::Metrics(args) => args.run(),
    }
}
