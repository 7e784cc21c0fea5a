//! `trueplane offload …`

mod compare;
mod values;

use clap::Subcommand;
use trueplane_offload::size::Size;

use crate::failure::Failure;
use crate::study::Run;

// What a verb does is said at its `Args`: a comment here would hide all but the first line of that in `--help`.
#[derive(Subcommand)]
pub(crate) enum Verb {
    Compare(Box<compare::Args>),
    Size(Box<Run<Size>>),
}

pub(crate) fn run(verb: Verb) -> Result<(), Failure> {
    match verb {
        Verb::Compare(args) => args.run(),
        Verb::Size(args) => args.run(),
    }
}
