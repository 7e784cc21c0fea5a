//! `trueplane surge compare`

use std::path::PathBuf;
use std::sync::Arc;

use trueplane_study::report::Report;
use trueplane_study::{Error, Observer as _};
use trueplane_surge::compare::{Log, compare};
use trueplane_surge::matching::Rules;
use trueplane_surge::matching::engine::{Backtracking, Linear, STEP_LIMIT};
use trueplane_surge::names::PolicyName;
use trueplane_surge::options::{AttackChoice, Options, Rate, Sweep};
use trueplane_surge::reassembly::{Heuristic, Innocent, List, Tree};
use trueplane_surge::replay::Replay;
use trueplane_surge::segments::{Segments, Wanted};
use trueplane_surge::workload::Workload;
use trueplane_surge::workload::arrivals::Arrivals;
use trueplane_surge::workload::matching::Matching;
use trueplane_surge::workload::reassembly::Reassembling;
use trueplane_surge::workload::size::Size;
use trueplane_surge::workload::source::Source;
use trueplane_surge::workload::trace::Recorded;
use trueplane_surge::{Capacity, Overflow};
use trueplane_trace::TraceError;
use trueplane_units::{BitsPerSec, Bytes, Nanos};

use super::departures::{self, Departures};
use super::values::{Chooser, Chosen, Design, Engine, capacity, chosen, memory};
use crate::failure::Failure;
use crate::output::OutputArgs;
use crate::reading::OrderArgs;
use crate::threads::pool;
use crate::values::{NameList, named, time};
use crate::watch::Watch;

/// Measure how much traffic of users one bit of attack displaces, under every order of service.
///
/// Packets of users come to a server that serves one packet at a time to its end. Every policy runs without an attack and, at every
/// attack rate, under the steady attack that is worst for it (or what --attack says); the displacement factor is the goodput that is
/// lost, for every bit per second of attack.
#[derive(clap::Args)]
#[command(
    override_usage = "trueplane surge compare WORKLOAD [OPTIONS]",
    next_help_heading = "Simulation",
    after_help = EXAMPLES
)]
pub(crate) struct Args {
    /// Where the packets of users come from: iid:…, trace:FILE, reassembly:FILE, reassembly:generated or match:FILE (see below)
    #[arg(value_name = "WORKLOAD", help_heading = None)]
    workload: Workload,

    /// How fast users send: a rate such as 10Gbps, a share of r_max (what the server can serve of them) such as 90%, or own (as the
    /// times of the trace say); a list compares
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "90%")]
    innocent: Vec<Rate>,

    /// Orders of service: fcfs, fq, drr, sjf, wsjf, wsjf-hoq, wsjf-inorder, sjf-inorder, or all
    #[arg(long, value_name = "LIST", default_value = "all")]
    policies: NameList<PolicyName>,

    /// Arrivals: even, poisson, or trace (users at the times of the trace, stretched to --innocent; the attack evenly)
    #[arg(long, value_name = "HOW", default_value = "even", value_parser = named::<Arrivals>)]
    arrivals: Arrivals,

    /// How much may wait: packets such as 1000, or bytes such as 64KiB [default: no bound]
    #[arg(long, value_name = "SIZE", value_parser = capacity)]
    capacity: Option<Capacity>,

    /// What goes when the buffer is full: the newcomer, or the worst by the policy
    #[arg(long, value_name = "RULE", default_value = "worst", value_parser = named::<Overflow>)]
    overflow: Overflow,

    /// Rank packets exactly, over a heap, instead of rounded for a find-first-set queue
    #[arg(long)]
    exact_ranks: bool,

    /// Random draws: how many samples of them [default: 3, or 1 where nothing is drawn]
    #[arg(long, value_name = "N")]
    seeds: Option<u32>,

    /// Where the first of them begins; the others follow
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Memory for the packets of all runs at a time; a backlog that does not fit ends with an error
    #[arg(long, value_name = "SIZE", default_value = "2GiB", value_parser = memory)]
    memory: Bytes,

    /// Threads to run on [default: all cores]; the results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    #[command(flatten)]
    application: Applied,

    #[command(flatten)]
    attack: Attack,

    #[command(flatten)]
    reading: OrderArgs,

    /// Write the order of service as CSV: index of the packet in its source, class I (users) or A (attack), start and end of its service;
    /// for one policy, one rate of users, one attack rate and one seed
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    departures: Option<PathBuf>,

    #[command(flatten)]
    output: OutputArgs,
}

/// What the applications do.
#[derive(clap::Args)]
#[command(next_help_heading = "Applications")]
struct Applied {
    /// For match: the rules, a subset of the syntax of Suricata and Snort
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,

    /// Only for match: what tries regular expressions: backtracking, or linear [default: backtracking]
    #[arg(long, value_name = "NAME", value_parser = named::<Engine>)]
    engine: Option<Engine>,

    /// Only for reassembly: what keeps segments that came early: list, or tree [default: list]
    #[arg(long, value_name = "NAME", value_parser = named::<Design>)]
    design: Option<Design>,

    /// Only for reassembly: what a segment is thought to take: a step for each of the ranges of its flow, or ranges-and-waiting
    /// [default: ranges]
    #[arg(long, value_name = "NAME", value_parser = named::<Heuristic>)]
    heuristic: Option<Heuristic>,
}

/// What the attacker sends.
#[derive(clap::Args)]
#[command(next_help_heading = "Attack")]
struct Attack {
    /// How fast the attacker sends: rates such as 10Mbps, shares of r_max such as 5%, or sweeps with even ratios such as
    /// 1Mbps..10Gbps:13 (about 3 points a decade without a number)
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "0.1%..100%")]
    attack_rate: Vec<Sweep>,

    /// Who chooses the packets: optimal (for every policy and rate the worst attack that is sent evenly, in the long run, by theory),
    /// search (the worst of --trials on this run, bursts among them, beginning with the optimal one), largest (the smallest packet
    /// with the largest job), own (real packets of reassembly or match), or file:FOUND.json (what an earlier study with --json sent
    /// against each policy at each pair of rates)
    #[arg(long, value_name = "HOW", default_value = "optimal", value_parser = chosen)]
    attack: Chosen,

    /// Only for --attack search: how many attacks to try for every policy and pair of rates [default: 64]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    trials: Option<u32>,

    /// By hand: the size of every packet of the attack, such as 64B or 512bit
    #[arg(long, value_name = "SIZE", requires = "attack_job", conflicts_with = "attack")]
    attack_packet: Option<Size>,

    /// By hand: how long each of them takes
    #[arg(long, value_name = "TIME", requires = "attack_packet", value_parser = time)]
    attack_job: Option<Nanos>,

    /// By hand: how long the scheduler thinks that each of them takes [default: as long as it does]
    #[arg(long, value_name = "TIME", requires = "attack_job", value_parser = time)]
    attack_estimate: Option<Nanos>,

    /// The smallest packet that the attacker can send; for optimal, search and largest only, as other packets are what they are
    /// [default: 64B, or that of users if it is smaller]
    #[arg(long, value_name = "SIZE")]
    smallest_packet: Option<Size>,

    /// The largest job that a packet of the attacker can cause; for optimal, search and largest only [default: that of users; for
    /// iid: at least 1ms; for reassembly: what the window allows]
    #[arg(long, value_name = "TIME", value_parser = time)]
    largest_job: Option<Nanos>,

    /// The link that users and attacker share; together they must not be faster [default: no bound]
    #[arg(long, value_name = "RATE", value_parser = rate)]
    link: Option<BitsPerSec>,
}

/// How many attacks a search tries if nobody says.
const TRIALS: u32 = 64;

const EXAMPLES: &str = "\
Workloads:
  iid:size=normal:4000bit:400bit,job=normal:4us:500ns,packets=200K,flows=100
      packets drawn independently; what is left out is as here. A distribution is one of VALUE,
      uniform:LEAST:MOST, normal:MEAN:DEVIATION, exponential:MEAN, lognormal:MEDIAN:SIGMA and
      pareto:LEAST:MOST:EXPONENT, rounded, and drawn again where it is below 1 bit or 1 ns
  trace:jobs.csv
      a CSV file with the columns packet_bytes, flow, job_ns and perhaps estimate_ns and time_ns,
      plain or as gzip, zstd or xz; - is standard input
  reassembly:video.pcap, reassembly:generated,flows=1000,packets=100,late=1%,overtaken=3
      TCP reassembly of a capture, or of drawn flows of which some packets are late
  match:web.pcap --rules web.rules
      full matching of a capture: strings first, then the regular expressions of their rules

Examples:
  trueplane surge compare iid: --report out
  trueplane surge compare iid:size=uniform:64B:1500B,job=lognormal:2us:1 --innocent 50%,90%
  trueplane surge compare iid: --innocent 90% --attack-rate 30% --policies fcfs,wsjf --json
  trueplane surge compare iid: --attack-rate 30% --attack search --json > found.json
  trueplane surge compare iid: --attack-rate 30% --attack file:found.json --capacity 1000
  trueplane surge compare trace:jobs.csv --innocent own --arrivals trace --capacity 1000 --overflow newcomer
  trueplane surge compare trace:jobs.csv --attack-packet 64B --attack-job 1ms --attack-rate 10Mbps --policies fcfs --departures served.csv";

/// A rate above zero.
fn rate(text: &str) -> Result<BitsPerSec, String> {
    match text.parse() {
        Ok(BitsPerSec(0)) | Err(_) => {
            Err(format!("expected a rate above zero such as 100Gbps, got \"{text}\""))
        }
        Ok(rate) => Ok(rate),
    }
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.output.check()?;
        self.attack.check()?;
        let options = self.options()?;
        options.check()?;
        self.application.check(&self.workload)?;
        check_reading(&self.reading, &self.workload)?;
        if self.departures.is_some() {
            departures::check(&options)?;
        }
        let mut departures = self.departures.as_deref().map(Departures::create).transpose()?;
        let watch = Watch::start()?;
        let mut add = |departure| match &mut departures {
            Some(departures) => departures.add(departure),
            None => Ok(()),
        };
        let log: Option<&mut Log<'_>> = if self.departures.is_some() { Some(&mut add) } else { None };
        let found = pool(self.threads)?.install(|| study(&self, &options, &watch, log));
        watch.finish();
        let report = found?;
        departures.map_or(Ok(()), Departures::finish)?;
        self.output.emit(&report)
    }

    fn options(&self) -> Result<Options, Failure> {
        let attack = &self.attack;
        let by_hand = attack.attack_packet.zip(attack.attack_job).map(|(size, job)| AttackChoice::Given {
            size,
            job,
            estimate: attack.attack_estimate.unwrap_or(job),
        });
        let chosen = match &attack.attack {
            Chosen::By(Chooser::Optimal) => AttackChoice::Optimal,
            Chosen::By(Chooser::Search) => AttackChoice::Search { trials: attack.trials.unwrap_or(TRIALS) },
            Chosen::By(Chooser::Own) => AttackChoice::Own,
            Chosen::By(Chooser::Largest) => AttackChoice::Largest,
            Chosen::Before(path) => AttackChoice::Replay(Arc::new(Replay::read(path)?)),
        };
        Ok(Options {
            innocent: self.innocent.clone(),
            attack_rates: attack.attack_rate.clone(),
            policies: self.policies.0.clone(),
            exact_ranks: self.exact_ranks,
            arrivals: self.arrivals,
            capacity: self.capacity,
            overflow: self.overflow,
            seeds: self.seeds,
            seed: self.seed,
            memory: self.memory,
            attack: by_hand.unwrap_or(chosen),
            smallest_packet: attack.smallest_packet,
            largest_job: attack.largest_job,
            link: attack.link,
        })
    }
}

/// Studies a workload of any kind.
fn study(args: &Args, options: &Options, watch: &Watch, log: Option<&mut Log<'_>>) -> Result<Report, Error> {
    let application = &args.application;
    let segments = |path: &PathBuf, payloads: bool| {
        let wanted = Wanted { payloads, memory: options.memory.0, ..Wanted::default() };
        watch.stage("reading", 0);
        Segments::open(path, &args.reading.capture(), &wanted, watch)
    };
    match &args.workload {
        Workload::Iid(iid) => studied(iid, options, watch, log),
        Workload::Trace(path) => studied(&Recorded::read(path, options.memory, watch)?, options, watch, log),
        Workload::Reassembly(path) => reassembled(&segments(path, false)?, application, options, watch, log),
        Workload::Generated(innocent) => {
            let innocent = Innocent { seed: options.seed, ..innocent.clone() };
            reassembled(&innocent.segments()?, application, options, watch, log)
        }
        Workload::Match(path) => {
            let rules = application.rules()?;
            let segments = segments(path, true)?;
            let matching = match application.engine.unwrap_or(Engine::Backtracking) {
                Engine::Backtracking => Matching::new::<Backtracking>(&segments, &rules, STEP_LIMIT, watch),
                Engine::Linear => Matching::new::<Linear>(&segments, &rules, STEP_LIMIT, watch),
            };
            studied(&matching?, options, watch, log)
        }
    }
}

fn reassembled(
    segments: &Segments,
    application: &Applied,
    options: &Options,
    watch: &Watch,
    log: Option<&mut Log<'_>>,
) -> Result<Report, Error> {
    let (heuristic, seed) = (application.heuristic.unwrap_or_default(), options.seed);
    match application.design.unwrap_or(Design::List) {
        Design::List => studied(&Reassembling::<List>::new(segments, heuristic, seed)?, options, watch, log),
        Design::Tree => studied(&Reassembling::<Tree>::new(segments, heuristic, seed)?, options, watch, log),
    }
}

/// Refuses flags about captures where none is read.
fn check_reading(reading: &OrderArgs, workload: &Workload) -> Result<(), Failure> {
    match (reading.given(), workload) {
        (None, _) | (_, Workload::Reassembly(_) | Workload::Match(_)) => Ok(()),
        (Some(flag), _) => Err(Failure::input(format!(
            "{flag} is for captures, reassembly:FILE or match:FILE, and this workload is none"
        ))),
    }
}

impl Applied {
    /// The rules.
    fn rules(&self) -> Result<Rules, Error> {
        let path = self.rules.as_deref().ok_or_else(|| {
            Error::Parameters("match:… needs rules: name their file with --rules".to_owned())
        })?;
        let text = std::fs::read(path)
            .map_err(|source| TraceError::Io { trace: path.display().to_string(), source })?;
        Ok(Rules::parse(&path.display().to_string(), &text)?)
    }

    /// Refuses what means nothing for `workload`, and matching without rules.
    fn check(&self, workload: &Workload) -> Result<(), Failure> {
        let matches = matches!(workload, Workload::Match(_));
        let reassembles = matches!(workload, Workload::Reassembly(_) | Workload::Generated(_));
        if matches && self.rules.is_none() {
            return Err(Failure::input("match:… needs rules: name their file with --rules"));
        }
        let matching = [("--rules", self.rules.is_some()), ("--engine", self.engine.is_some())];
        let reassembly = [("--design", self.design.is_some()), ("--heuristic", self.heuristic.is_some())];
        let given = |flags: [(&'static str, bool); 2]| flags.into_iter().find(|(_, given)| *given);
        match (given(matching), given(reassembly)) {
            (Some((flag, _)), _) if !matches => {
                Err(Failure::input(format!("{flag} is for match:FILE, and this workload matches nothing")))
            }
            (_, Some((flag, _))) if !reassembles => Err(Failure::input(format!(
                "{flag} is for reassembly:…, and this workload reassembles nothing"
            ))),
            _ => Ok(()),
        }
    }
}

impl Attack {
    /// Refuses trials where nothing is searched for.
    fn check(&self) -> Result<(), Failure> {
        match self.trials {
            Some(_) if self.attack != Chosen::By(Chooser::Search) => {
                Err(Failure::input("--trials is for --attack search, and this attack is not searched for"))
            }
            _ => Ok(()),
        }
    }
}

fn studied<S: Source>(
    source: &S,
    options: &Options,
    watch: &Watch,
    log: Option<&mut Log<'_>>,
) -> Result<Report, Error> {
    Ok(compare(source, options, watch, log)?.report())
}
