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
        /// CSV file with the columns packet_bytes, flow, job_ns and perhaps estimate_ns and time_ns, plain or as gzip, zstd or xz; - is
        /// standard input.
        pub jobs: PathBuf => { value: "JOBS", positional: true, required: true },
        /// Rate at which users send: a rate such as 10Gbps, a share of r_max (the rate of users that the processor can serve) such as 90%,
        /// or own (as their times say).
        pub innocent: Option<Rate> => { value: "RATE", default_words: "own, or 90% without times" },
        /// Order of service today.
        pub policy: PolicyName => { value: "POLICY", default: "fcfs" },
        /// Packets that may wait, such as 1000, or bytes, such as 64KiB.
        pub capacity: Option<Capacity> => { value: "SIZE", default_words: "no bound" },
        /// Packet that goes today when the buffer is full; under wsjf it is the worst.
        pub overflow: Overflow => { value: "RULE", default: "newcomer", requires: "capacity", heading: SIMULATION },
        /// Smallest packet that an attacker can send.
        pub smallest_packet: Option<Size> =>
            { value: "SIZE", default_words: "64B, or that of users if it is smaller" },
        /// Largest job that a packet of an attacker can cause.
        pub largest_job: Option<JobTime> => { value: "TIME", default_words: "the largest of the file" },
        /// Memory for the packets of all runs at a time; a backlog that does not fit ends with an error.
        pub memory: Positive<Bytes> => { value: "SIZE", default: "2GiB", heading: SIMULATION },
    }
}
