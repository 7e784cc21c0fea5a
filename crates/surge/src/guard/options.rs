//! The parameters of `surge guard`.

use std::path::PathBuf;

use trueplane_units::{Bytes, Positive, parameters};

use crate::jobs::JobTime;
use crate::policy::PolicyName;
use crate::rate::Rate;
use crate::workload::size::Size;
use crate::{Capacity, Overflow};

/// Heading of help texts for what the simulation does.
const SIMULATION: &str = "The simulation";

parameters! {
    /// Parameters of `surge guard`.
    #[derive(Clone, Debug)]
    pub struct Options {
        /// CSV file with the columns packet_bytes, flow, job_ns. It can also have the columns estimate_ns and time_ns. It is plain or compressed
        /// with gzip, zstd or xz. A dash (-) is standard input.
        pub jobs: PathBuf => { value: "JOBS", positional: true, required: true },
        /// Rate of users: a rate such as 10Gbps, a share such as 90%, or own. A share is one of r_max, the rate of users that the processor can
        /// serve. With own, it is the rate of the times in the file.
        pub innocent: Option<Rate> => { value: "RATE", default_words: "own, or 90% without times" },
        /// Policy that you use today, which decides what is served next.
        pub policy: PolicyName => { value: "POLICY", default: "fcfs" },
        /// Size of the buffer: packets, such as 1000, or bytes, such as 64KiB.
        pub capacity: Option<Capacity> => { value: "SIZE", default_words: "no bound" },
        /// Packet that you drop today when the buffer is full. Under wsjf, it is always the worst.
        pub overflow: Overflow => { value: "RULE", default: "newcomer", requires: "capacity", heading: SIMULATION },
        /// Smallest packet that an attacker can send.
        pub smallest_packet: Option<Size> =>
            { value: "SIZE", default_words: "64B, or the smallest packet of users if that is smaller" },
        /// Largest job that a packet of an attacker can cause.
        pub largest_job: Option<JobTime> => { value: "TIME", default_words: "the largest job in the file" },
        /// Memory for the packets of all runs at the same time. If a backlog does not fit, the command ends with an error.
        pub memory: Positive<Bytes> => { value: "SIZE", default: "2GiB", heading: SIMULATION },
    }
}
