//! The parameters of `limit replay`.

use std::path::{Path, PathBuf};

use trueplane_link::LinkOptions;
use trueplane_study::Error;
use trueplane_trace::Order;
use trueplane_units::{Factor, Nanos, Positive, parameters};

use crate::drain::Drain;
use crate::policy::PolicyName;

parameters! {
    /// Parameters of `limit replay`.
    #[derive(Clone, Debug)]
    pub struct Options {
        /// Capture to replay (pcap or pcapng), plain or compressed with gzip, zstd or xz. A dash (-) is standard input.
        pub capture: PathBuf => { value: "CAPTURE", required: true, positional: true },
        /// Classes file (TOML): whom to limit, and to what, as in examples/classes.toml. A dash (-) is standard input.
        pub classes: PathBuf => { value: "FILE", required: true },
        /// Limiter that every class uses.
        pub policy: PolicyName => { value: "POLICY", default: "nimble" },
        /// How Nimble drains: exact, or from a table with this maximum error, 0.1% to 50%.
        pub drain: Drain => { value: "HOW", default: "exact" },
        /// Length of the time bins in which rates are measured. A peak is the rate of one bin.
        pub bin: Positive<Nanos> => { value: "TIME", default: "100ms" },
        /// Speed of the replay, as a multiple of the speed of the capture.
        pub speedup: Factor => { value: "FACTOR", default: "1" },
        /// Seed for the random faults of the link. Without faults, it has no effect.
        pub seed: u64 => { value: "SEED", default: "1" },
    }
    including {
        /// Options for a capture that is out of order.
        pub order: Order,
        /// Link over which the packets of the capture come to the limits. Its times are those of the replay, after the speedup.
        pub link: LinkOptions,
    }
}

impl Options {
    /// The capture as people call it.
    pub(super) fn capture_name(&self) -> String {
        if is_stdin(&self.capture) { "stdin".to_owned() } else { self.capture.display().to_string() }
    }

    /// Refuses parameters that do not fit each other.
    pub(super) fn check(&self) -> Result<(), Error> {
        self.link.check().map_err(Error::Parameters)?;
        if !self.policy.properties().has_table && self.drain != Drain::Exact {
            return Err(Error::Parameters(format!(
                "--drain {} is for --policy nimble, got --policy {}",
                self.drain, self.policy
            )));
        }
        if is_stdin(&self.capture) && is_stdin(&self.classes) {
            return Err(Error::Parameters(
                "standard input cannot be both the capture and --classes".to_owned(),
            ));
        }
        Ok(())
    }
}

fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}
