//! `trueplane spray …`

mod compare;
mod concurrency;
mod experiment;
mod memory;
mod metrics;
mod news;
mod options;
mod run;
mod show;
mod steer;
mod values;

use clap::Subcommand;

use crate::failure::Failure;

// What a verb does is said at its `Args`: a comment here would hide all but the first line of that in `--help`.
#[derive(Subcommand)]
pub(crate) enum Verb {
    Compare(Box<compare::Args>),
    Concurrency(concurrency::Args),
    Memory(Box<memory::Args>),
    Run(Box<run::Args>),
    Show(show::Args),
    Backend(show::BackendArgs),
    Steer(steer::Args),
    Experiment(experiment::Args),
}

pub(crate) fn run(verb: Verb) -> Result<(), Failure> {
    match verb {
        Verb::Compare(args) => args.run(),
        Verb::Concurrency(args) => args.run(),
        Verb::Memory(args) => args.run(),
        Verb::Run(args) => args.run(),
        Verb::Show(args) => args.run(),
        Verb::Backend(args) => args.run(),
        Verb::Steer(args) => args.run(),
        Verb::Experiment(args) => args.run(),
    }
}
