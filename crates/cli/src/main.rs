//! The `trueplane` command: `trueplane <subsystem> <verb>`.
//!
//! [`flags`] makes flags of the parameters that a study declares. [`study`] runs any study under a progress bar ([`watch`]) and passes its
//! report to [`output`]. Verbs that are no study lie in the folder of their subsystem.
//!
//! Exit status: 0 done, 2 the input or the flags are wrong, 130 stopped by Ctrl-C, 1 anything else. Errors are one line on stderr.

#[cfg(not(feature = "live"))]
mod absent;
mod cache;
mod demo;
mod doctor;
#[cfg(test)]
mod examples;
mod explain;
mod failure;
mod fair;
mod flags;
mod formats;
mod help;
mod limit;
mod offload;
mod origin;
mod output;
mod platform;
mod pqueue;
mod progress;
#[cfg(test)]
mod reference;
mod sched;
mod shells;
mod spray;
mod study;
mod surge;
#[cfg(test)]
mod swarm;
mod sweep;
mod terminal;
mod threads;
mod version;
#[cfg(test)]
mod walk;
mod watch;
mod written;

use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

use clap::{ColorChoice, Command, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use failure::Failure;

/// Replay your logs and captures: see where the usual formulas are wrong, and what to deploy instead.
#[derive(Parser)]
#[command(
    name = "trueplane",
    version,
    long_version = version::long(),
    propagate_version = true,
    arg_required_else_help = true,
    help_template = ROOT,
    after_help = "trueplane COMMAND -h explains a command. All about it: https://github.com/trueplane/trueplane"
)]
struct Cli {
    /// When to use colours: auto, always or never; auto respects NO_COLOR and TERM=dumb
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        value_parser = terminal::when,
        help_heading = "Output",
        hide_short_help = true
    )]
    color: ColorChoice,

    #[command(subcommand)]
    subsystem: Subsystem,
}

/// The help text of the whole command: what a newcomer types first comes first.
const ROOT: &str = "\
{about-with-newline}
Start here:  trueplane demo

{usage-heading} {usage}

{all-args}{after-help}";

#[derive(Subcommand)]
enum Subsystem {
    Demo(demo::Args),
    /// Does the policy with the best hit rate also have the lowest latency?
    #[command(subcommand)]
    Cache(Box<cache::Verb>),
    /// Who waits on a shared cluster because its scheduler forgets the past?
    #[command(subcommand)]
    Fair(fair::Verb),
    /// What would rate limits do to your tenants' traffic? (and set them, in the kernel)
    #[command(subcommand)]
    Limit(limit::Verb),
    /// Are the hot items in a switch's table when traffic asks for them?
    #[command(subcommand)]
    Offload(offload::Verb),
    /// How do you build a priority queue that does an operation in every clock cycle?
    #[command(subcommand)]
    Pqueue(pqueue::Verb),
    /// How close do a few FIFOs come to sending the most urgent packet first?
    #[command(subcommand)]
    Sched(sched::Verb),
    /// How many of your cores work when packets are hashed to them?
    #[command(subcommand)]
    Spray(spray::Verb),
    /// How much can an attacker's few slow packets cost your users?
    #[command(subcommand)]
    Surge(surge::Verb),
    Sweep(sweep::Args),
    Formats(formats::Args),
    Doctor(doctor::Args),
    Explain(explain::Args),
    Completions(shells::Completions),
    Man(shells::Man),
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
fn asked_for(asked: &clap::Error) -> String {
    let text = asked.render();
    let has_colors = terminal::colors(terminal::is_stdout());
    terminal::printed(&if has_colors { text.ansi().to_string() } else { text.to_string() })
}

/// The whole command line, with its help texts.
fn command() -> Command {
    help::with_texts(Cli::command())
}

/// Reads a command line.
fn parse(words: Vec<OsString>) -> Result<Cli, clap::Error> {
    let matches = command().color(terminal::choice(&words)).try_get_matches_from(words)?;
    Cli::from_arg_matches(&matches)
}

fn main() -> ExitCode {
    let words = words(std::env::args_os());
    terminal::choose(terminal::choice(&words));
    let result = match parse(words) {
        Ok(cli) => match cli.subsystem {
            Subsystem::Demo(args) => args.run(),
            Subsystem::Cache(verb) => cache::run(*verb),
            Subsystem::Fair(verb) => fair::run(verb),
            Subsystem::Limit(verb) => limit::run(verb),
            Subsystem::Offload(verb) => offload::run(verb),
            Subsystem::Pqueue(verb) => pqueue::run(verb),
            Subsystem::Sched(verb) => sched::run(verb),
            Subsystem::Spray(verb) => spray::run(verb),
            Subsystem::Surge(verb) => surge::run(verb),
            Subsystem::Sweep(args) => args.run(),
            Subsystem::Formats(args) => args.run(),
            Subsystem::Doctor(args) => args.run(),
            Subsystem::Explain(args) => args.run(),
            Subsystem::Completions(args) => args.run(command()),
            Subsystem::Man(args) => args.run(command()),
        },
        Err(asked) if !asked.use_stderr() => output::print(&asked_for(&asked)),
        Err(wrong) => Err(Failure::flags(&wrong)),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
