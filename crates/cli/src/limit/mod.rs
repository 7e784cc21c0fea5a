//! `trueplane limit …`

#[cfg(feature = "live")]
mod live;

#[cfg(not(feature = "live"))]
mod live {
    pub(super) use crate::absent::{
        Absent as Attach, Absent as Dctcp, Absent as Detach, Absent as Experiment, Absent as Metrics,
        Absent as Set, Absent as Show,
    };
}

use clap::Subcommand;
use trueplane_limit::precision::Precision;
use trueplane_limit::replay::Replay;
use trueplane_limit::size::Size;
use trueplane_network::isolation::Isolation;

use crate::failure::Failure;
use crate::study::Run;

// The study or the `Args` of a verb says what it does. A comment here would hide all but the first line of that in `--help`.
#[derive(Subcommand)]
pub(crate) enum Verb {
    Precision(Box<Run<Precision>>),
    Replay(Box<Run<Replay>>),
    Size(Box<Run<Size>>),
    Isolation(Box<Run<Isolation>>),
    Attach(live::Attach),
    Show(live::Show),
    Set(live::Set),
    Detach(live::Detach),
    Experiment(Box<live::Experiment>),
    Metrics(live::Metrics),
    Dctcp(live::Dctcp),
}

pub(crate) fn run(verb: Verb) -> Result<(), Failure> {
    match verb {
        Verb::Precision(args) => args.run(),
        Verb::Replay(args) => args.run(),
        Verb::Size(args) => args.run(),
        Verb::Isolation(args) => args.run(),
        Verb::Attach(args) => args.run(),
        Verb::Show(args) => args.run(),
        Verb::Set(args) => args.run(),
        Verb::Detach(args) => args.run(),
        Verb::Experiment(args) => args.run(),
        Verb::Metrics(args) => args.run(),
        Verb::Dctcp(args) => args.run(),
    }
}
