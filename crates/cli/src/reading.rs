//! The flags that say what of a trace is put right, for verbs whose flags are not declared as parameters yet.

use clap::Args;
use trueplane_trace::{Format, TraceOptions};

/// The flags that say what of a trace is put right, for every verb that reads a trace or a capture.
#[derive(Args)]
pub(crate) struct OrderArgs {
    /// Accept timestamps that step back by more than 10ms: sort by time, in memory
    #[arg(long, help_heading = "Reading the trace")]
    sort: bool,

    #[command(flatten)]
    strict: StrictArgs,
}

/// The one of them for verbs that sort anyway.
#[derive(Args)]
pub(crate) struct StrictArgs {
    /// Refuse timestamps that step back by up to 10ms, instead of sorting them, and a capture whose last packet is cut off (as a
    /// killed tcpdump leaves it), instead of leaving that packet out
    #[arg(long, help_heading = "Reading the trace")]
    strict: bool,
}

impl OrderArgs {
    /// The first of these flags that was given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        if self.sort { Some("--sort") } else { self.strict.given() }
    }

    /// How to read a capture.
    pub(crate) fn capture(&self) -> TraceOptions {
        TraceOptions { sort: self.sort, ..self.strict.capture() }
    }
}

impl StrictArgs {
    /// The flag, if it was given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        self.strict.then_some("--strict")
    }

    /// How to read a capture.
    pub(crate) fn capture(&self) -> TraceOptions {
        TraceOptions { format: Some(Format::Pcap), strict: self.strict, ..TraceOptions::default() }
    }
}
