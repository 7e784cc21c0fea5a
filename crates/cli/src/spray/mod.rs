//! `trueplane spray …`

#[cfg(feature = "live")]
mod live;

#[cfg(not(feature = "live"))]
mod live {
    pub(super) use crate::absent::{
        Absent as Backend, Absent as Experiment, Absent as Run, Absent as Show, Absent as Steer,
    };
}

use clap::Subcommand;
use trueplane_network::reordering::Reordering;
use trueplane_spray::compare::Compare;
use trueplane_spray::concurrency::Concurrency;

use crate::failure::Failure;
use crate::study::Run;

// What a verb does is said at its `Args`: a comment here would hide all but the first line of that in `--help`.
#[derive(Subcommand)]
pub(crate) enum Verb {
    Compare(Box<Run<Compare>>),
    Concurrency(Box<Run<Concurrency>>),
    Reordering(Box<Run<Reordering>>),
    Run(Box<live::Run>),
    Show(live::Show),
    Backend(live::Backend),
    Steer(live::Steer),
    Experiment(Box<live::Experiment>),
}

pub(crate) fn run(verb: Verb) -> Result<(), Failure> {
    match verb {
        Verb::Compare(args) => args.run(),
        Verb::Concurrency(args) => args.run(),
        Verb::Reordering(args) => args.run(),
        Verb::Run(args) => args.run(),
        Verb::Show(args) => args.run(),
        Verb::Backend(args) => args.run(),
        Verb::Steer(args) => args.run(),
        Verb::Experiment(args) => args.run(),
    }
}
