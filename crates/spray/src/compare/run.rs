//! Runs systems: processing rates first, then latency at a share of the smallest of them.

use std::net::SocketAddr;

use trueplane_link::Counts;
use trueplane_study::{Error, Observer, cases};
use trueplane_trace::{Trace, TraceOptions};
use trueplane_units::Nanos;

use super::found::{Case, Found, Row, Spread};
use super::options::Options;
use crate::belief::busy_cores;
use crate::captured::{Capture, Replayed};
use crate::engine::{Engine, Ledger, Machine, Ran};
use crate::generated::{Generated, Wanted};
use crate::linked::Linked;
use crate::nf::{FunctionName, FunctionOptions};
use crate::silence::Silences;
use crate::source::Source;
use crate::system::SystemName;
use crate::team::team;
use crate::traffic::Lengths;

/// The part of a run that is not counted: a third to find a rate, of which policies that adapt take a period or two; then a tenth.
const WARM: (u64, u64) = (3, 10);

/// The longest run, in seconds of simulated time; picoseconds of much more do not fit.
const LONGEST: u64 = 3600;

/// The most packets on the link at a time: each takes some 300 bytes.
const MOST_ON_LINK: u128 = 1 << 20;

/// Flows that tables make room for, besides those at a time: what ended is forgotten soon.
const MOST_ENDED: u64 = 1 << 20;

/// Ratio of the packets that find the rate to those that find latencies, which come over a longer time.
const FEWER: u64 = 5;

/// Opens the capture, if there is one, and runs every system in every case; the results do not depend on the number of threads.
pub(super) fn run(options: &Options, observer: &dyn Observer) -> Result<Found, Error> {
    options.check()?;
    let capture = capture(options, observer)?;
    let grid = Grid {
        options,
        function: options.function.read().map_err(Error::Parameters)?,
        lengths: options.traffic.sizes.read()?,
        cases: cases_of(options, capture.as_ref().map(|capture| capture.flows() as u64)),
        capture,
        observer,
    };
    let rates = grid.pass("processing rates", |_| None)?;
    let lowest = grid.lowest(&rates);
    let latencies = grid.pass("latencies", |case| Some(lowest[case] * options.traffic.load.ratio()))?;
    let capture = grid.capture.as_ref();
    let silences = capture.map_or_else(Silences::default, Capture::silences);
    let skipped = capture.map(|capture| capture.skipped().to_vec());
    Ok(Found { silences, skipped: skipped.unwrap_or_default(), rows: grid.rows(&rates, &latencies, &lowest) })
}

/// The capture whose packets come, sorted by time.
fn capture(options: &Options, observer: &dyn Observer) -> Result<Option<Capture>, Error> {
    if !options.has_capture() {
        return Ok(None);
    }
    let reading = TraceOptions { sort: true, ..options.reading.capture() };
    let trace = Trace::open(&options.capture, &reading)?;
    Capture::read(&trace, observer).map(Some)
}

fn cases_of(options: &Options, flows: Option<u64>) -> Vec<Case> {
    let flows = flows.map_or_else(|| options.flows(), |flows| vec![flows]);
    let mut cases = Vec::new();
    for &function in options.nf.iter() {
        for cores in options.cores() {
            for &flows in &flows {
                let case = |cycles| Case { function, cores, flows, cycles };
                cases.extend(options.cycles().into_iter().map(case));
            }
        }
    }
    cases
}

/// A run: the number of its case, of its system and its own.
type Job = (usize, usize, u32);

struct Grid<'a> {
    options: &'a Options,
    function: FunctionOptions,
    lengths: Lengths,
    cases: Vec<Case>,
    capture: Option<Capture>,
    observer: &'a dyn Observer,
}

impl Grid<'_> {
    /// All runs of one kind, in the order of cases, systems and runs. `load` says how many packets a second a case is offered; none: the full rate.
    fn pass(&self, name: &str, load: impl Fn(usize) -> Option<f64> + Sync) -> Result<Vec<Ran>, Error> {
        let (systems, runs) = (self.options.policies.0.len(), *self.options.runs);
        let jobs: Vec<Job> = (0..self.cases.len())
            .flat_map(|case| (0..systems).map(move |system| (case, system)))
            .flat_map(|(case, system)| (0..runs).map(move |run| (case, system, run)))
            .collect();
        self.observer.stage(name, jobs.len() as u64);
        cases::over(&jobs, self.observer, |&job| {
            let ran = self.run(job, load(job.0));
            self.observer.advance(1);
            ran
        })
    }

    /// Packets a second that are sent to find the processing rate.
    fn rate(&self) -> u64 {
        self.options.traffic.rate.packets()
    }

    /// Packets that come to the machine for each that is sent, on average.
    fn arriving(&self) -> f64 {
        let terms = self.options.link.terms(picoseconds);
        (1.0 - f64::from(terms.loss_ppm) / 1e6) * (1.0 + f64::from(terms.duplicate_ppm) / 1e6)
    }

    /// Packets a second that come to the machine when its processing rate is sought.
    fn offered(&self) -> f64 {
        self.rate() as f64 * self.arriving()
    }

    fn machine(&self, case: Case, system: SystemName, seed: u64) -> Machine {
        let of = &self.options.machine;
        Machine {
            system,
            dispatch: of.dispatch(),
            cores: case.cores,
            cycles: case.cycles,
            costs: of.costs,
            service: of.service_time,
            ring: *of.ring as usize,
            clock: of.clock.hertz(),
            card_gap: of.card_limit.map(|limit| gap(limit.packets())),
            seed,
        }
    }

    fn run(&self, (case, system, run): Job, load: Option<f64>) -> Result<Ran, Error> {
        let (options, case) = (self.options, self.cases[case]);
        let system = options.policies.0[system];
        // All systems and cases see the same flows in the same run.
        let seed = options.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(run.into());
        let machine = self.machine(case, system, seed);
        let (packets, rate) = match load {
            Some(load) => ((*options.packets / FEWER).max(1), (load / self.arriving()).max(1.0) as u64),
            None => (*options.packets, self.rate()),
        };
        self.check_span(case, &machine, packets, rate)?;
        let mut source = self.source(case, &machine, packets, gap(rate), seed);
        let span = source.ends() - source.begins();
        let window = match load {
            Some(_) => (source.begins() + span / WARM.1, u64::MAX),
            None => (source.begins() + span / WARM.0, source.ends()),
        };
        let flows = self.entries(case, packets);
        let team = team(case.function, &self.function, system, case.cores, flows, machine.ring)
            .map_err(|error| Error::Parameters(error.to_string()))?;
        let ran = Engine::new(machine, team, &mut *source, window).run(load.is_some(), self.observer)?;
        let Ledger { offered, card, ring, done, queued } = ran.ledger;
        if offered != card + ring + done + queued {
            return Err(Error::Internal(format!(
                "{system}: of {offered} packets {done} were handled, {} dropped and {queued} left",
                card + ring
            )));
        }
        let link = ran.link;
        if !options.link.is_ideal() && link.sent + link.duplicated != offered + link.lost {
            return Err(Error::Internal(format!(
                "of {} packets sent and {} copies {offered} came to {system} and {} were lost",
                link.sent, link.duplicated, link.lost
            )));
        }
        Ok(ran)
    }

    /// Refuses a run that takes too long, before anything of it is made.
    fn check_span(&self, case: Case, machine: &Machine, packets: u64, rate: u64) -> Result<(), Error> {
        let opening = match &self.capture {
            Some(_) => 0,
            None => (2 * u128::from(case.flows) + 8) * u128::from(self.opening_gap(machine)),
        };
        let longest = self.options.link.longest();
        let on_link = u128::from(packets).min(u128::from(picoseconds(longest)) / u128::from(gap(rate)));
        let copies = on_link * u128::from(self.options.link.faults.duplicate.millionths()) / 1_000_000;
        let on_link = on_link + copies;
        if on_link > MOST_ON_LINK {
            return Err(Error::Parameters(format!(
                "expected at most {MOST_ON_LINK} packets on the link at a time, got {on_link}: {rate} a second, each of which takes up to {longest}, \
                 --delay and --jitter, and --duplicate adds copies"
            )));
        }
        let packets = packets.max(self.capture.as_ref().map_or(0, |capture| capture.len() as u64));
        let seconds =
            (opening + u128::from(packets) * u128::from(gap(rate)) + u128::from(picoseconds(longest)))
                / 1_000_000_000_000;
        if seconds <= LONGEST.into() {
            return Ok(());
        }
        Err(Error::Parameters(format!(
            "expected runs of {LONGEST} s of simulated time at most, got one of {seconds} s ({packets} packets of {} flows, {rate} a second, {} cycles each)",
            case.flows, case.cycles
        )))
    }

    /// Number of flows for which the tables of a run make room.
    fn entries(&self, case: Case, packets: u64) -> usize {
        let mean = match &self.lengths {
            _ if self.capture.is_some() => u64::MAX,
            Lengths::Forever => u64::MAX,
            Lengths::Packets(packets) => packets.saturating_add(2),
            Lengths::Drawn(_) => 5,
        };
        usize::try_from(case.flows + (packets / mean).min(MOST_ENDED)).unwrap_or(usize::MAX)
    }

    fn source(
        &self,
        case: Case,
        machine: &Machine,
        packets: u64,
        gap: u64,
        seed: u64,
    ) -> Box<dyn Source + '_> {
        let source: Box<dyn Source + '_> = match &self.capture {
            Some(capture) => Box::new(Replayed::new(capture, packets, gap)),
            None => Box::new(Generated::new(Wanted {
                flows: usize::try_from(case.flows).unwrap_or(usize::MAX),
                sizes: self.lengths.clone(),
                packets,
                gap,
                opening_gap: self.opening_gap(machine),
                arrivals: self.options.traffic.arrivals,
                destination: destination(case.function, &self.function),
                seed,
            })),
        };
        let link = &self.options.link;
        // Draws of its own, or the link's faults would follow the flows.
        if link.is_ideal() { source } else { Box::new(Linked::new(source, link.terms(picoseconds), !seed)) }
    }

    /// Time between two packets that open the first flows, in picoseconds: the one before has come and was handled.
    fn opening_gap(&self, machine: &Machine) -> u64 {
        (2 * machine.longest()).saturating_add(picoseconds(self.options.link.longest()))
    }

    /// The runs of a system in a case.
    fn runs<'r>(&self, all: &'r [Ran], case: usize, system: usize) -> &'r [Ran] {
        let runs = *self.options.runs as usize;
        let begin = (case * self.options.policies.0.len() + system) * runs;
        &all[begin..begin + runs]
    }

    /// The smallest rate of a case's systems, for each case.
    fn lowest(&self, rates: &[Ran]) -> Vec<f64> {
        let mean = |case, system| spread(self.runs(rates, case, system), |ran| ran.rate).mean;
        let systems = 0..self.options.policies.0.len();
        (0..self.cases.len())
            .map(|case| systems.clone().map(|system| mean(case, system)).fold(f64::INFINITY, f64::min))
            // Where nothing gets through, nothing has a latency: any rate does.
            .map(|lowest| if lowest > 0.0 { lowest } else { self.offered() })
            .collect()
    }

    fn rows(&self, rates: &[Ran], latencies: &[Ran], lowest: &[f64]) -> Vec<Row> {
        let mut rows = Vec::new();
        for (at, &case) in self.cases.iter().enumerate() {
            for (index, &system) in self.options.policies.0.iter().enumerate() {
                let (full, part) = (self.runs(rates, at, index), self.runs(latencies, at, index));
                rows.push(self.row(case, system, full, part, lowest[at] * self.options.traffic.load.ratio()));
            }
        }
        rows
    }

    fn row(&self, case: Case, system: SystemName, full: &[Ran], part: &[Ran], load: f64) -> Row {
        let offered = self.offered();
        let one = 1e12 / self.machine(case, system, 0).alone() as f64;
        let forever = self.capture.is_none() && self.lengths == Lengths::Forever;
        let share = |of: &dyn Fn(&Ran) -> u64| {
            let done: u64 = full.iter().map(|ran| ran.counts.done()).sum();
            full.iter().map(of).sum::<u64>() as f64 / done.max(1) as f64
        };
        Row {
            case,
            system,
            rate: spread(full, |ran| ran.rate),
            classical: (one * case.cores as f64).min(offered),
            hashed: forever.then(|| expected(case, one, offered)),
            reordered: spread(full, |ran| ran.tally.reordered()),
            late: spread(full, |ran| ran.tally.late()),
            jain: spread(full, |ran| ran.tally.jain()),
            load,
            p99: spread(part, |ran| ran.tally.p99() as f64),
            median: spread(part, |ran| ran.tally.median() as f64),
            reordered_at_load: spread(part, |ran| ran.tally.reordered()),
            late_at_load: spread(part, |ran| ran.tally.late()),
            handed: share(&|ran| ran.counts.handed_out),
            dropped: share(&|ran| ran.counts.dropped.iter().sum()),
            lost: on_link(full, |link| link.lost),
            duplicated: on_link(full, |link| link.duplicated),
        }
    }
}

/// The share of the packets sent that `of` counts; none without a link.
fn on_link(runs: &[Ran], of: impl Fn(&Counts) -> u64) -> Option<f64> {
    let sent: u64 = runs.iter().map(|ran| ran.link.sent).sum();
    (sent > 0).then(|| runs.iter().map(|ran| of(&ran.link)).sum::<u64>() as f64 / sent as f64)
}

/// A time in picoseconds; the longest there is, if it is longer.
fn picoseconds(time: Nanos) -> u64 {
    time.0.saturating_mul(1000)
}

/// The mean and the extremes of a number of runs.
fn spread(runs: &[Ran], of: impl Fn(&Ran) -> f64) -> Spread {
    Spread::of(&runs.iter().map(of).collect::<Vec<_>>())
}

/// Expected processing rate of hashing with flows that are offered equally: a core with k of n flows processes the smaller of its own
/// rate and k/n of the offered rate. Exact, since k is binomial.
fn expected(case: Case, one: f64, offered: f64) -> f64 {
    let (n, m) = (case.flows as f64, case.cores as f64);
    if offered / n >= one || case.cores == 1 {
        return (busy_cores(case.flows, case.cores) * one).min(offered);
    }
    let odds = 1.0 / (m - 1.0);
    let mut log = n * (1.0 - 1.0 / m).ln();
    let mut sum = 0.0;
    for k in 0..=case.flows {
        sum += log.exp() * one.min(k as f64 / n * offered);
        log += ((n - k as f64) / (k as f64 + 1.0) * odds).ln();
    }
    m * sum
}

/// Picoseconds between packets.
fn gap(rate: u64) -> u64 {
    (1_000_000_000_000 / rate.max(1)).max(1)
}

/// Address and port to which packets for a function have to go.
fn destination(function: FunctionName, options: &FunctionOptions) -> Option<([u8; 4], u16)> {
    match (function, options.balancer.service) {
        (FunctionName::Balancer, SocketAddr::V4(service)) => Some((service.ip().octets(), service.port())),
        _ => None,
    }
}
