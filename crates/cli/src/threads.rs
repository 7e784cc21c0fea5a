//! The threads of a study.

use clap::{Arg, ArgMatches, Command};
use rayon::{ThreadPool, ThreadPoolBuilder};
use trueplane_study::Threads;
use trueplane_units::unexpected;

use crate::failure::Failure;
use crate::platform::HAS_THREADS;

/// Adds the flag that says how many, if a study asks for them.
pub(crate) fn with_flag(command: Command, threads: Threads) -> Command {
    let effect = match threads {
        Threads::One => return command,
        Threads::Same => "the results are the same for any number",
        Threads::Timed => "a search with a time limit finds more on more threads; all else stays the same",
    };
    let help = format!("Threads to run on [1 to 1024] [default: all cores]; {effect}");
    let arg = Arg::new("threads").long("threads").value_name("N").value_parser(parse).help(help);
    command.arg(arg.help_heading("Output").hide_short_help(true))
}

/// A number of threads.
pub(crate) fn parse(text: &str) -> Result<u16, String> {
    let threads = text.parse().ok().filter(|threads| (1..=1024).contains(threads));
    threads.ok_or_else(|| unexpected("1 to 1024", text))
}

/// The number of threads that was asked for.
pub(crate) fn given(matches: &ArgMatches, threads: Threads) -> Option<u16> {
    match threads {
        // The pool is still there, as progress is told from beside it.
        Threads::One => Some(1),
        Threads::Same | Threads::Timed => matches.get_one("threads").copied(),
    }
}

/// A pool of `threads` threads, or of one for each core; where no threads can be started, of the calling one.
pub(crate) fn pool(threads: Option<u16>) -> Result<ThreadPool, Failure> {
    let pool = if HAS_THREADS {
        ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0).into())
    } else {
        ThreadPoolBuilder::new().num_threads(1).use_current_thread()
    };
    pool.build().map_err(|error| Failure::other(format!("cannot start threads: {error}")))
}
