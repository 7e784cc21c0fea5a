//! `trueplane surge …`

mod compare;
mod departures;
mod guard;
#[cfg(feature = "live")]
mod live;
mod values;

#[cfg(not(feature = "live"))]
mod live {
    pub(super) use crate::absent::Absent as Pipeline;
}

use clap::Subcommand;

use crate::failure::Failure;

// What a verb does is said at its `Args`: a comment here would hide all but the first line of that in `--help`.
#[derive(Subcommand)]
pub(crate) enum Verb {
    Compare(Box<compare::Args>),
    Guard(Box<guard::Args>),
    Pipeline(Box<live::Pipeline>),
}

pub(crate) fn run(verb: Verb) -> Result<(), Failure> {
    match verb {
        Verb::Compare(args) => args.run(),
        Verb::Guard(args) => args.run(),
        Verb::Pipeline(args) => args.run(),
    }
}
