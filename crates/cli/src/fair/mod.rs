//! `trueplane fair …`

mod generate;
#[cfg(feature = "live")]
mod live;
mod schedule;
mod simulate;

#[cfg(not(feature = "live"))]
mod live {
    pub(super) use crate::absent::{Absent as Admit, Absent as Status};
}

use clap::Subcommand;
use trueplane_fair::allocate::Allocate;
use trueplane_fair::recommend::Recommend;
use trueplane_fair::sweep::Sweep;

use crate::failure::Failure;
use crate::study::Run;

// The study or the `Args` of a verb says what it does. A comment here would hide all but the first line of that in `--help`.
#[derive(Subcommand)]
pub(crate) enum Verb {
    Allocate(Box<Run<Allocate>>),
    Generate(Box<generate::Args>),
    Recommend(Box<Run<Recommend>>),
    Simulate(Box<simulate::Args>),
    Sweep(Box<Run<Sweep>>),
    Admit(Box<live::Admit>),
    Status(Box<live::Status>),
}

pub(crate) fn run(verb: Verb) -> Result<(), Failure> {
    match verb {
        Verb::Allocate(args) => args.run(),
        Verb::Generate(args) => args.run(),
        Verb::Recommend(args) => args.run(),
        Verb::Simulate(args) => args.run(),
        Verb::Sweep(args) => args.run(),
        Verb::Admit(args) => args.run(),
        Verb::Status(args) => args.run(),
    }
}
