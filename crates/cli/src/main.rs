//! The `trueplane` command: `trueplane <subsystem> <verb>`.
//!
//! [`flags`] makes flags of the parameters that a study declares. [`study`] runs any study under a progress bar ([`watch`]) and passes its
//! report to [`output`]. Verbs that are no study lie in the folder of their subsystem.
//!
//! Exit status: 0 done, 2 the input or the flags are wrong, 130 stopped by Ctrl-C, 1 anything else. Errors are one line on stderr.

#[cfg(not(feature = "live"))]
mod absent;
mod cache;
#[cfg(test)]
mod examples;
mod failure;
mod fair;
mod flags;
mod limit;
mod offload;
mod origin;
mod output;
mod pqueue;
mod progress;
#[cfg(test)]
mod reference;
mod sched;
mod spray;
#[cfg(test)]
mod studies;
mod study;
mod surge;
#[cfg(test)]
mod swarm;
mod terminal;
mod threads;
#[cfg(test)]
mod walk;
mod watch;
mod written;

use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

use clap::{ColorChoice, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use failure::Failure;

/// Hold the models that networks are deployed by against what really happens.
#[derive(Parser)]
#[command(name = "trueplane", version, propagate_version = true, arg_required_else_help = true)]
struct Cli {
    /// When to use colours; NO_COLOR and TERM=dumb are respected
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", value_parser = terminal::when, help_heading = "Output")]
    color: ColorChoice,

    #[command(subcommand)]
    subsystem: Subsystem,
}

#[derive(Subcommand)]
enum Subsystem {
    /// Caching with delayed hits: what the hit rate does not tell about latency
    #[command(subcommand)]
    Cache(Box<cache::Verb>),
    /// A shared cluster: who waits because the scheduler forgets, and the order of users that remembers
    #[command(subcommand)]
    Fair(fair::Verb),
    /// Rate limits for very many tenants: how exact, how small, and what they would have done to your traffic
    #[command(subcommand)]
    Limit(limit::Verb),
    /// Hot items in a switch's table: what the control loop that keeps them there is too slow for, and the one that is not
    #[command(subcommand)]
    Offload(offload::Verb),
    /// Priority queues: the circuit that does an operation in every cycle, ready to build
    #[command(subcommand)]
    Pqueue(pqueue::Verb),
    /// The order of packets: how close a few FIFOs in strict priority come to serving the smallest rank first
    #[command(subcommand)]
    Sched(sched::Verb),
    /// Network functions on many cores: what hashing flows to cores wastes, and what spraying their packets gains
    #[command(subcommand)]
    Spray(spray::Verb),
    /// Algorithmic complexity attacks: what an attacker's bit costs your users, and the order of service that caps it
    #[command(subcommand)]
    Surge(surge::Verb),
}

/// The words of a command line as the parser needs them: it takes `-5ms` for a flag unless it stands in one word with the flag whose value
/// it is.
fn words(given: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let is_negative = |word: &OsStr| {
        let rest = word.to_str().and_then(|text| text.strip_prefix('-'));
        rest.is_some_and(|rest| rest.starts_with(|first: char| first == '.' || first.is_ascii_digit()))
    };
    let is_flag = |word: &OsStr| {
        let name = word.to_str().and_then(|text| text.strip_prefix("--"));
        name.is_some_and(|name| !name.is_empty() && !name.contains('='))
    };
    let mut words: Vec<OsString> = Vec::new();
    for word in given {
        match words.last_mut() {
            Some(flag) if is_negative(&word) && is_flag(flag) => {
                flag.push("=");
                flag.push(word);
            }
            _ => words.push(word),
        }
    }
    words
}

/// A help text, or the version, as clap puts it.
fn help(asked: &clap::Error) -> String {
    let text = asked.render();
    if terminal::colors(terminal::is_stdout()) { text.ansi().to_string() } else { text.to_string() }
}

/// Reads a command line.
fn parse(words: Vec<OsString>) -> Result<Cli, clap::Error> {
    let matches = Cli::command().color(terminal::choice(&words)).try_get_matches_from(words)?;
    Cli::from_arg_matches(&matches)
}

fn main() -> ExitCode {
    let words = words(std::env::args_os());
    terminal::choose(terminal::choice(&words));
    let result = match parse(words) {
        Ok(cli) => match cli.subsystem {
            Subsystem::Cache(verb) => cache::run(*verb),
            Subsystem::Fair(verb) => fair::run(verb),
            Subsystem::Limit(verb) => limit::run(verb),
            Subsystem::Offload(verb) => offload::run(verb),
            Subsystem::Pqueue(verb) => pqueue::run(verb),
            Subsystem::Sched(verb) => sched::run(verb),
            Subsystem::Spray(verb) => spray::run(verb),
            Subsystem::Surge(verb) => surge::run(verb),
        },
        Err(asked) if !asked.use_stderr() => output::print(&help(&asked)),
        Err(wrong) => Err(Failure::flags(&wrong)),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
