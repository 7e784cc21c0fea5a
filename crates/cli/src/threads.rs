//! The threads of a study.

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::failure::Failure;

/// The flag that says how many.
#[derive(clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct ThreadArgs {
    /// Threads to run on [1 to 1024] [default: all cores]; the results do not depend on it
    #[arg(long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<u16>,
}

fn threads(text: &str) -> Result<u16, String> {
    let threads = text.parse().ok().filter(|threads| (1..=1024).contains(threads));
    threads.ok_or_else(|| trueplane_units::unexpected("1 to 1024", text))
}

/// A pool of `threads` threads, or of one for each core.
pub(crate) fn pool(threads: Option<u16>) -> Result<ThreadPool, Failure> {
    ThreadPoolBuilder::new()
        .num_threads(threads.unwrap_or(0).into())
        .build()
        .map_err(|error| Failure::other(format!("cannot start threads: {error}")))
}
