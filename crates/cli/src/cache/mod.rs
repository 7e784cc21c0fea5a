//! `trueplane cache …`

mod analyze;
mod compare;
mod generate;
mod trace;

use clap::Subcommand;

use crate::failure::Failure;

#[derive(Subcommand)]
pub(crate) enum Verb {
    /// Run caching policies over a request log, and hold the classical prediction against what happens
    Compare(compare::Args),
    /// Tell what a request log is like: objects, concurrency, burstiness, requests per fetch (Z)
    Analyze(analyze::Args),
    /// Write a synthetic request log with bursts
    Generate(generate::Args),
}

pub(crate) fn run(verb: Verb) -> Result<(), Failure> {
    match verb {
        Verb::Compare(args) => args.run(),
        Verb::Analyze(args) => args.run(),
        Verb::Generate(args) => args.run(),
    }
}
