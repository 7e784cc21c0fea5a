//! `trueplane pqueue …`

mod rtl;

use clap::Subcommand;

use crate::failure::Failure;

// What a verb does is said at its `Args`: a comment here would hide all but the first line of that in `--help`.
#[derive(Subcommand)]
pub(crate) enum Verb {
    Rtl(rtl::Args),
}

pub(crate) fn run(verb: Verb) -> Result<(), Failure> {
    match verb {
        Verb::Rtl(args) => args.run(),
    }
}
