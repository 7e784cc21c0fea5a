//! `trueplane offload …`

use clap::Subcommand;
use trueplane_offload::compare::Compare;
use trueplane_offload::size::Size;

use crate::failure::Failure;
use crate::study::Run;

// What a verb does is said by its study: a comment here would hide that in `--help`.
#[derive(Subcommand)]
pub(crate) enum Verb {
    Compare(Box<Run<Compare>>),
    Size(Box<Run<Size>>),
}

pub(crate) fn run(verb: Verb) -> Result<(), Failure> {
    match verb {
        Verb::Compare(args) => args.run(),
        Verb::Size(args) => args.run(),
    }
}
