//! `trueplane sched …`

mod inversions;

use clap::Subcommand;
use trueplane_sched::bandwidth::Bandwidth;
use trueplane_units::BitsPerSec;

use crate::failure::Failure;
use crate::study::Run;

// What a verb does is said at its `Args`: a comment here would hide all but the first line of that in `--help`.
#[derive(Subcommand)]
pub(crate) enum Verb {
    Inversions(Box<inversions::Args>),
    Bandwidth(Box<Run<Bandwidth>>),
}

pub(crate) fn run(verb: Verb) -> Result<(), Failure> {
    match verb {
        Verb::Inversions(args) => args.run(),
        Verb::Bandwidth(args) => args.run(),
    }
}

/// A rate above zero.
fn rate(text: &str) -> Result<BitsPerSec, String> {
    match text.parse::<BitsPerSec>() {
        Ok(BitsPerSec(0)) => Err(format!("expected a rate above zero such as 10Gbps, got \"{text}\"")),
        Ok(rate) => Ok(rate),
        Err(error) => Err(error.to_string()),
    }
}

/// A number of queues or packets; which are sensible is the study's to say.
fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("expected a whole number below 2^64 such as 8, got \"{text}\""))
}
