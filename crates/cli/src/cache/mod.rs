//! `trueplane cache …`

mod analyze;
mod bound;
mod check;
mod compare;
mod generate;
mod terms;
mod trace;

use clap::Subcommand;

use crate::failure::Failure;

#[derive(Subcommand)]
pub(crate) enum Verb {
    /// Run caching policies over a request log, and hold the classical prediction against what happens
    Compare(compare::Args),
    /// Bound how little requests could wait, and tell how far above that every policy is
    Bound(Box<bound::Args>),
    /// Tell what a request log is like: objects, concurrency, burstiness, requests per fetch (Z)
    Analyze(analyze::Args),
    /// Write a synthetic request log with bursts
    Generate(generate::Args),
    /// Verify a certificate of bounds on the least latency, in integers
    Check(check::Args),
}

pub(crate) fn run(verb: Verb) -> Result<(), Failure> {
    match verb {
        Verb::Compare(args) => args.run(),
        Verb::Bound(args) => args.run(),
        Verb::Analyze(args) => args.run(),
        Verb::Generate(args) => args.run(),
        Verb::Check(args) => args.run(),
    }
}
