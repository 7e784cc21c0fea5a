//! `trueplane surge …`

mod compare;
mod departures;

use clap::Subcommand;
use trueplane_surge::guard::Guard;

use crate::failure::Failure;
use crate::study::Run;

// The study or the `Args` of a verb says what it does. A comment here would hide all but the first line of that in `--help`.
#[derive(Subcommand)]
pub(crate) enum Verb {
    Compare(Box<compare::Args>),
    Guard(Box<Run<Guard>>),
}

pub(crate) fn run(verb: Verb) -> Result<(), Failure> {
    match verb {
        Verb::Compare(args) => args.run(),
        Verb::Guard(args) => args.run(),
    }
}
