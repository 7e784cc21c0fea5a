//! `trueplane limit …`

mod attach;
mod classes;
mod dctcp;
mod device;
mod experiment;
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
    Attach(attach::Args),
    Show(show::Args),
    Set(show::SetArgs),
    Detach(attach::DetachArgs),
    Experiment(experiment::Args),
    Metrics(metrics::Args),
    Dctcp(dctcp::Args),
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
        Verb::Experiment(args) => args.run(),
        Verb::Metrics(args) => args.run(),
        Verb::Dctcp(args) => args.run(),
    }
}
