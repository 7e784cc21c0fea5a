//! `trueplane surge guard`

use std::path::PathBuf;

use trueplane_surge::guard::{Question, guard};
use trueplane_surge::names::PolicyName;
use trueplane_surge::options::Rate;
use trueplane_surge::workload::size::Size;
use trueplane_surge::workload::trace::Recorded;
use trueplane_surge::{Capacity, Overflow};
use trueplane_units::{Bytes, Nanos};

use super::values::{capacity, memory};
use crate::failure::Failure;
use crate::output::OutputArgs;
use crate::threads::pool;
use crate::values::{named, time};
use crate::watch::Watch;

/// Tell what a bit of the worst steady attack costs your users today, and what it would cost them under WSJF.
///
/// Jobs are packets that your processor served, each with the time that it took. Attacks from a hundred-thousandth of what the
/// processor can serve to all of it are tried on them, at each rate the packets that are worst by theory if they are sent evenly for a
/// long time. In a short run an attack in bursts can do more: see surge compare --attack search.
#[derive(clap::Args)]
#[command(next_help_heading = "Simulation", after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A CSV file with the columns packet_bytes, flow, job_ns and perhaps estimate_ns and time_ns, plain or as gzip, zstd or xz; - is
    /// standard input
    #[arg(long, value_name = "FILE")]
    jobs: PathBuf,

    /// How fast users send: a rate such as 10Gbps, a share of r_max (what the processor can serve of them) such as 90%, or own (as
    /// their times say) [default: own, or 90% without times]
    #[arg(long, value_name = "RATE")]
    innocent: Option<Rate>,

    /// The order of service today
    #[arg(long, value_name = "POLICY", default_value = "fcfs", value_parser = named::<PolicyName>)]
    policy: PolicyName,

    /// How much may wait: packets such as 1000, or bytes such as 64KiB [default: no bound]
    #[arg(long, value_name = "SIZE", value_parser = capacity)]
    capacity: Option<Capacity>,

    /// What goes today when the buffer is full: the newcomer, or the worst by the policy; under wsjf it is the worst
    #[arg(long, value_name = "RULE", default_value = "newcomer", value_parser = named::<Overflow>)]
    overflow: Overflow,

    /// The smallest packet that an attacker can send [default: 64B, or that of users if it is smaller]
    #[arg(long, value_name = "SIZE")]
    smallest_packet: Option<Size>,

    /// The largest job that a packet of an attacker can cause [default: the largest of the file]
    #[arg(long, value_name = "TIME", value_parser = time)]
    largest_job: Option<Nanos>,

    /// Memory for the packets of all runs at a time; a backlog that does not fit ends with an error
    #[arg(long, value_name = "SIZE", default_value = "2GiB", value_parser = memory)]
    memory: Bytes,

    /// Threads to run on [default: all cores]; the results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    #[command(flatten)]
    output: OutputArgs,
}

const EXAMPLES: &str = "\
Examples:
  trueplane surge guard --jobs jobs.csv
  trueplane surge guard --jobs jobs.csv --innocent 8Gbps --largest-job 5ms --capacity 4096
  trueplane surge guard --jobs jobs.csv --policy fq --json";

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.output.check()?;
        let question = Question {
            innocent: self.innocent,
            policy: self.policy,
            capacity: self.capacity,
            overflow: self.overflow,
            smallest_packet: self.smallest_packet,
            largest_job: self.largest_job,
            memory: self.memory,
        };
        let watch = Watch::start()?;
        let found = pool(self.threads)?.install(|| {
            let jobs = Recorded::read(&self.jobs, self.memory, &watch)?;
            guard(&jobs, &question, &watch)
        });
        watch.finish();
        self.output.emit(&found?.report())
    }
}
