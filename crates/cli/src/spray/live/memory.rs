//! `trueplane spray memory`

use std::sync::atomic::AtomicBool;

use trueplane_spray::live::memory::compare::{Observer, compare};
use trueplane_spray::live::memory::options::{MOST_RUNS, Options, Traffic};
use trueplane_spray::live::memory::steady::MOST_FLOWS;
use trueplane_spray::live::memory::{Error, MOST_CORES, MOST_PLACES, Overload};
use trueplane_spray::nf::{FunctionName, FunctionParameters};
use trueplane_spray::system::Systems;
use trueplane_study::Observer as _;
use trueplane_units::Value as _;

use super::values::busy_cycles;
use crate::failure::Failure;
use crate::flags::Flags;
use crate::output::OutputArgs;
use crate::values::{Named, above_zero, named, without_repetitions};
use crate::watch::Watch;

/// Run a network function on real threads, in memory, and measure how fast each way to share its packets out is.
///
/// One thread makes packets, shares them out and gets them back; --cores threads handle them. Packets wait for room in rings, so that rates are what
/// the cores can do. The systems take turns, --repeat times; ratios are to the first of them. Needs no rights, and one core more than --cores
/// to be exact.
#[derive(clap::Args)]
#[command(
    next_help_heading = "Runs",
    after_help = "\
Examples:
  trueplane spray memory --nf synthetic --flows 1 --cycles 2500,10000 --dispatch rss,spray,adaptive
  trueplane spray memory --nf nat --traffic connections --flows 200 --packets 100M --repeat 1 --dispatch all
  trueplane spray memory --nf firewall --traffic flood --flows 1000 --packets 10M --repeat 1 --dispatch rss,spray"
)]
pub(crate) struct Args {
    /// The function: nat, firewall, balancer, monitor, redundancy, synthetic, dpi
    #[arg(long, value_name = "NAME", default_value = "synthetic")]
    nf: FunctionName,

    /// Systems: rss, rss:default, spray, round-robin, flowlet, subset:K, adaptive and rss++ are dispatch policies of this framework; locked is one
    /// table with a lock, sharded a table for each core that no other sees, scr state-compute replication; or all
    #[arg(long, value_name = "LIST", default_value = "rss,spray,adaptive", value_parser = Systems::parse)]
    dispatch: Systems,

    /// Threads that handle packets
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = cores)]
    cores: usize,

    /// What is sent: steady (open flows that send data in turns), connections (from SYN to FIN, UDP and echoes; verdicts are compared with those
    /// of one core), or flood (SYNs, each from another address, between packets of connections)
    #[arg(long, value_name = "NAME", default_value = "steady", value_parser = named::<Traffic>)]
    traffic: Traffic,

    /// Flows at a time
    #[arg(long, value_name = "N", default_value = "1", value_parser = flows)]
    flows: u32,

    /// Cycles of work for each packet
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "0,1000,2500,5000,10000", value_parser = busy_cycles)]
    cycles: Vec<u64>,

    /// Packets of a run, about; of a flood, its SYNs
    #[arg(long, value_name = "N", default_value = "500K", value_parser = above_zero)]
    packets: u64,

    /// Runs of each system
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_RUNS)))]
    repeat: u32,

    /// Flows that tables have room for [default: four times --flows, 131,072 at least]
    #[arg(long, value_name = "N", value_parser = above_zero)]
    table: Option<u64>,

    /// Packets that wait for a core
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = places)]
    ring: usize,

    /// Drop what finds a ring full, as a card does, instead of waiting
    #[arg(long)]
    drop: bool,

    /// Where random draws begin
    #[arg(long, default_value_t = 1)]
    seed: u64,

    #[command(flatten)]
    function: Flags<FunctionParameters>,

    #[command(flatten)]
    output: OutputArgs,
}

impl Named for Traffic {
    const WHAT: &'static str = "traffic";
    const NAMES: &'static [(&'static str, Self)] = &Traffic::NAMES;
}

fn cores(text: &str) -> Result<usize, String> {
    let found = text.parse().ok().filter(|cores| (1..=MOST_CORES).contains(cores));
    found.ok_or_else(|| format!("expected 1 to {MOST_CORES} cores, got \"{text}\""))
}

fn places(text: &str) -> Result<usize, String> {
    let found = text.parse().ok().filter(|places| (1..=MOST_PLACES).contains(places));
    found.ok_or_else(|| format!("expected 1 to {MOST_PLACES} packets, got \"{text}\""))
}

fn flows(text: &str) -> Result<u32, String> {
    let found = u32::try_from(above_zero(text)?).ok().filter(|&flows| flows <= MOST_FLOWS);
    found.ok_or_else(|| format!("expected 1 to {MOST_FLOWS} flows, got \"{text}\""))
}

/// A bar of runs.
struct Bar<'w>(&'w Watch);

impl Observer for Bar<'_> {
    fn begin(&self, runs: u64) {
        self.0.stage("measuring", runs);
    }

    fn advance(&self) {
        self.0.advance(1);
    }

    fn interrupted(&self) -> &AtomicBool {
        self.0.interrupted_flag()
    }
}

fn failure(error: Error) -> Failure {
    match error {
        Error::Live(error) => error.into(),
        Error::Interrupted => trueplane_study::Error::Interrupted.into(),
        lost @ Error::Lost(_) => Failure::other(lost.to_string()),
    }
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.output.check()?;
        let options = Options {
            function: self.nf,
            function_options: self.function.0.read().map_err(Failure::input)?,
            systems: self.dispatch.0,
            cores: self.cores,
            traffic: self.traffic,
            flows: self.flows,
            cycles: without_repetitions(&self.cycles),
            packets: self.packets,
            repeat: self.repeat,
            table: self.table.map(|flows| usize::try_from(flows).unwrap_or(usize::MAX)),
            ring: self.ring,
            overload: if self.drop { Overload::Drop } else { Overload::Wait },
            seed: self.seed,
        };
        let watch = Watch::start()?;
        let found = compare(&options, &Bar(&watch)).map_err(failure);
        watch.finish();
        self.output.emit(&found?.report())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_kept() {
        assert_eq!((cores("2"), places("512"), flows("1M")), (Ok(2), Ok(512), Ok(1_000_000)));
        assert!(cores("0").is_err() && cores("65").is_err() && places("0").is_err() && flows("0").is_err());
    }
}
