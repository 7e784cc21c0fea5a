//! `trueplane cache …`

#[cfg(feature = "live")]
mod admin;
mod bound;
mod generate;
#[cfg(feature = "live")]
mod named;
#[cfg(feature = "live")]
mod serve;

#[cfg(not(feature = "live"))]
mod admin {
    pub(super) use crate::absent::Absent as StatsArgs;
    pub(super) use crate::absent::Absent as TopArgs;
    pub(super) use crate::absent::Absent as PurgeArgs;
    pub(super) use crate::absent::Absent as BanArgs;
}

#[cfg(not(feature = "live"))]
mod serve {
    pub(super) use crate::absent::Absent as Args;
}

#[cfg(feature = "live")]
type Experiment = Run<trueplane_experiments::cache::Experiment>;

#[cfg(not(feature = "live"))]
type Experiment = crate::absent::Absent;

use clap::Subcommand;
use trueplane_cache::analyze::Analyze;
use trueplane_cache::check::Check;
use trueplane_cache::compare::Compare;

use crate::failure::Failure;
use crate::study::Run;

// The study or the `Args` of a verb says what it does. A comment here would hide all but the first line of that in `--help`.
#[derive(Subcommand)]
pub(crate) enum Verb {
    Compare(Box<Run<Compare>>),
    Bound(Box<bound::Args>),
    Analyze(Box<Run<Analyze>>),
    Generate(Box<generate::Args>),
    Check(Box<Run<Check>>),
    Serve(Box<serve::Args>),
    Stats(Box<admin::StatsArgs>),
    Top(Box<admin::TopArgs>),
    Purge(Box<admin::PurgeArgs>),
    Ban(Box<admin::BanArgs>),
    Experiment(Box<Experiment>),
}

pub(crate) fn run(verb: Verb) -> Result<(), Failure> {
    match verb {
        Verb::Compare(args) => args.run(),
        Verb::Bound(args) => args.run(),
        Verb::Analyze(args) => args.run(),
        Verb::Generate(args) => args.run(),
        Verb::Check(args) => args.run(),
        Verb::Serve(args) => args.run(),
        Verb::Stats(args) => args.run(),
        Verb::Top(args) => args.run(),
        Verb::Purge(args) => args.run(),
        Verb::Ban(args) => args.run(),
        Verb::Experiment(args) => args.run(),
    }
}
