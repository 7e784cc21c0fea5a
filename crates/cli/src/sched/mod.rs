//! `trueplane sched …`

use clap::Subcommand;
use trueplane_network::fabric::Fabric;
use trueplane_network::feedback::Feedback;
use trueplane_sched::bandwidth::Bandwidth;
use trueplane_sched::inversions::Inversions;

use crate::failure::Failure;
use crate::study::Run;

#[derive(Subcommand)]
pub(crate) enum Verb {
    Inversions(Box<Run<Inversions>>),
    Bandwidth(Box<Run<Bandwidth>>),
    Fabric(Box<Run<Fabric>>),
    Feedback(Box<Run<Feedback>>),
}

pub(crate) fn run(verb: Verb) -> Result<(), Failure> {
    match verb {
        Verb::Inversions(args) => args.run(),
        Verb::Bandwidth(args) => args.run(),
        Verb::Fabric(args) => args.run(),
        Verb::Feedback(args) => args.run(),
    }
}
