//! `trueplane spray compare`

use std::path::PathBuf;
use std::sync::Arc;

use trueplane_spray::captured::Capture;
use trueplane_spray::compare::compare;
use trueplane_spray::dispatch::DispatchOptions;
use trueplane_spray::nf::FunctionName;
use trueplane_spray::options::{Arrivals, Costs, Options, Service, SystemName};
use trueplane_trace::{Trace, TraceOptions};
use trueplane_units::{Nanos, distinct};

use super::options::FunctionArgs;
use super::values::{clock, cores, cycles, flows, load, rate, sizes};
use crate::failure::Failure;
use crate::output::OutputArgs;
use crate::reading::StrictArgs;
use crate::threads::pool;
use crate::values::{above_zero, time};
use crate::watch::Watch;

/// Show what hashing flows to cores wastes, and what spraying their packets gains and costs, in simulated time.
///
/// Cores are servers with rings; the functions and their flow tables are those that run on real interfaces, and decide what becomes of every packet. First each
/// system is offered --rate to find what it gets through; then all are offered --load of the smallest of these rates to find how long packets take.
/// Lists make a grid, run on all cores.
#[derive(clap::Args)]
#[command(
    override_usage = "trueplane spray compare [CAPTURE] [OPTIONS]",
    next_help_heading = "What to compare",
    after_help = EXAMPLES
)]
pub(crate) struct Args {
    /// Instead of generated flows, the packets of a capture (pcap or pcapng, plain or compressed; - is standard input) again and again, their times scaled to
    /// the rate
    #[arg(value_name = "CAPTURE", help_heading = None, conflicts_with_all = ["flows", "sizes", "arrivals"])]
    capture: Option<PathBuf>,

    /// Functions: nat, firewall, balancer, monitor, redundancy, synthetic, dpi
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "synthetic")]
    nf: Vec<FunctionName>,

    /// Systems: rss, rss:default, spray, round-robin, flowlet, subset:K, adaptive and rss++ are dispatch policies of this framework; scr is
    /// state-compute replication, locked one table with a lock, sharded a table for each core that no other sees; or all
    #[arg(long, value_name = "LIST", default_value = "rss,spray,adaptive", value_parser = systems)]
    dispatch: Systems,

    /// Flows at a time
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1,8,64", value_parser = flows)]
    flows: Vec<u64>,

    /// Cores
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "8", value_parser = cores)]
    cores: Vec<usize>,

    /// Cycles of work for each packet, besides --costs
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "0,2500,5000,10000", value_parser = cycles)]
    cycles: Vec<u64>,

    #[command(flatten)]
    traffic: TrafficArgs,

    #[command(flatten)]
    machine: MachineArgs,

    #[command(flatten)]
    function: FunctionArgs,

    /// Runs with other flows each, of which means and extremes are told
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000), help_heading = "Simulation")]
    runs: u32,

    /// Packets of a run to find the rate; for latency, a fifth of them
    #[arg(long, value_name = "N", default_value = "100K", value_parser = above_zero, help_heading = "Simulation")]
    packets: u64,

    /// Where random draws begin
    #[arg(long, default_value_t = 1, help_heading = "Simulation")]
    seed: u64,

    /// Threads to run the grid on [default: all cores]; the results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024), help_heading = "Simulation")]
    threads: Option<u16>,

    #[command(flatten)]
    reading: StrictArgs,

    #[command(flatten)]
    output: OutputArgs,
}

const EXAMPLES: &str = "\
Examples:
  trueplane spray compare
  trueplane spray compare --nf nat --flows 1 --cores 8 --cycles 10000 --dispatch rss,spray
  trueplane spray compare --flows 1,2,4,8,16,32,64,128 --cycles 10K --dispatch all --report out
  trueplane spray compare --sizes web-search --flows 64 --cycles 5000
  trueplane spray compare capture.pcap.zst --nf monitor --cycles 5000 --json";

/// What comes.
#[derive(clap::Args)]
#[command(next_help_heading = "Traffic")]
struct TrafficArgs {
    /// What is offered to find the processing rate: packets a second, or the line that frames of 64 bytes fill
    #[arg(long, value_name = "RATE", default_value = "10Gbps", value_parser = rate)]
    rate: u64,

    /// The share of the smallest rate at which latency is measured
    #[arg(long, value_name = "PERCENT", default_value = "70%", value_parser = load)]
    load: f64,

    /// How long flows are, between SYN and FIN: forever, a number of packets, web-search (few elephants, many mice), or a CSV file of bytes and cumulative
    /// share
    #[arg(long, value_name = "SIZES", default_value = "forever")]
    sizes: String,

    /// When packets come: even or poisson
    #[arg(long, value_name = "HOW", default_value = "even")]
    arrivals: Arrivals,
}

/// What cores are like.
#[derive(clap::Args)]
#[command(next_help_heading = "The machine")]
struct MachineArgs {
    /// Cycles a second
    #[arg(long, value_name = "CLOCK", default_value = "2GHz", value_parser = clock)]
    clock: u64,

    /// Cycles of everything but --cycles, those that are not named as they are: base (to receive and send), local and remote (to look up a flow in the own table, in
    /// another core's), batch and packet (to hand over, at either end), lock (to hold it), replay (of another core's packet, in scr)
    #[arg(
        long,
        value_name = "LIST",
        default_value = "base=120,local=40,remote=80,batch=150,packet=40,lock=150,replay=30"
    )]
    costs: Costs,

    /// How the time of a packet varies: constant, exponential, or lognormal:V with V its coefficient of variation
    #[arg(long, value_name = "HOW", default_value = "constant")]
    service_time: Service,

    /// Descriptors of a ring
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..=1 << 16))]
    ring: u32,

    /// Only for flowlet: the silence after which a burst is over
    #[arg(long, value_name = "TIME", default_value = "50us", value_parser = time)]
    gap: Nanos,

    /// What the card gets through while it sprays by checksums (spray, subset, adaptive); with Flow Director, 82599 cards about 10Mpps [default: no limit]
    #[arg(long, value_name = "RATE", value_parser = rate)]
    card_limit: Option<u64>,
}

/// Systems, each once.
#[derive(Clone, Debug)]
struct Systems(Vec<SystemName>);

fn systems(text: &str) -> Result<Systems, String> {
    let mut systems = Vec::new();
    for name in text.split(',').map(str::trim) {
        match name {
            "all" => systems.extend(SystemName::all()),
            name => systems.push(name.parse()?),
        }
    }
    Ok(Systems(distinct(systems)))
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.output.check()?;
        let options = self.options()?;
        let threads = pool(self.threads)?;
        let watch = Watch::start()?;
        let found = self.capture(&watch).and_then(|capture| {
            threads.install(|| compare(&options, capture, &watch)).map_err(Failure::from)
        });
        watch.finish();
        self.output.emit(&found?.report())
    }

    fn capture(&self, watch: &Watch) -> Result<Option<Arc<Capture>>, Failure> {
        let Some(path) = &self.capture else {
            return match self.reading.given() {
                Some(flag) => Err(Failure::input(format!("{flag} is for captures, and there is none"))),
                None => Ok(None),
            };
        };
        let reading = TraceOptions { sort: true, ..self.reading.capture() };
        let trace = Trace::open(path, &reading).map_err(trueplane_study::Error::from)?;
        Ok(Some(Arc::new(Capture::read(&trace, watch)?)))
    }

    fn options(&self) -> Result<Options, Failure> {
        let (traffic, machine) = (&self.traffic, &self.machine);
        Ok(Options {
            functions: distinct(self.nf.iter().copied()),
            function: self.function.read().map_err(Failure::input)?,
            systems: self.dispatch.0.clone(),
            dispatch: DispatchOptions { gap: machine.gap },
            cycles: distinct(self.cycles.iter().copied()),
            flows: distinct(self.flows.iter().copied()),
            cores: distinct(self.cores.iter().copied()),
            rate: traffic.rate,
            load: traffic.load,
            packets: self.packets,
            runs: self.runs,
            ring: machine.ring as usize,
            clock: machine.clock,
            costs: machine.costs,
            service: machine.service_time,
            arrivals: traffic.arrivals,
            sizes: sizes(&traffic.sizes)?,
            card_limit: machine.card_limit,
            seed: self.seed,
        })
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Only {
        #[command(flatten)]
        args: Args,
    }

    #[test]
    fn the_defaults_are_those_of_the_study() {
        let given = Only::parse_from(["compare"]).args.options().expect("the defaults are right");
        assert_eq!(format!("{given:?}"), format!("{:?}", Options::default()));
    }
}
