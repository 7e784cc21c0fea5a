//! The dispatch policies side by side on real threads, with packets in memory: how fast, whether their verdicts agree, and what a flood leaves of each.
//!
//! `cargo bench -p trueplane-spray --features live --bench memory -- [flags]`; `--help` lists them. One thread makes packets, shares them out and
//! gets them back; --cores threads handle them. The policies take turns, --repeat times; ratios are to the first of them. It needs no rights, and
//! one core more than --cores to be exact.
//!
//! Checked: connections are treated as one core alone treats them; steady flows all pass; a flood displaces no connection that is there.

#[expect(dead_code, reason = "tests use more of it")]
mod engine;

use std::process::ExitCode;
use std::sync::Arc;

use engine::flood::Flood;
use engine::run::{Overload, Run, Settings, run};
use engine::script::{self, Order, Script};
use engine::source::Source;
use engine::steady::{MOST_FLOWS, Steady};
use trueplane_linux::cores::allowed;
use trueplane_spray::dispatch::{DispatchName, PolicyName};
use trueplane_spray::live::busy::{Frequency, MOST_CYCLES};
use trueplane_spray::nf::{FunctionName, FunctionParameters, Visit, with_function};
use trueplane_spray::{Fit, Limits, NetworkFunction};
use trueplane_study::metrics::median;
use trueplane_units::{Choices, List, Percent, Within, choices, parameters, program};

choices! {
    /// What is sent.
    enum Traffic {
        /// Open flows that send data in turns.
        Steady = "steady",
        /// Connections from SYN to FIN, UDP and echoes; verdicts are compared with those of one core.
        Connections = "connections",
        /// SYNs, each from another address, between packets of connections.
        Flood = "flood",
    }
}

parameters! {
    /// What is measured.
    #[derive(Clone, Debug)]
    struct Options {
        /// Function that handles packets.
        nf: FunctionName => { default: "synthetic" },
        /// Ways to choose the core of a packet.
        dispatch: Choices<DispatchName> => { default: "rss,spray,adaptive" },
        /// Threads that handle packets.
        cores: Within<usize, 1, 64> => { default: "2" },
        /// Packets that are sent.
        traffic: Traffic => { default: "steady" },
        /// Flows at a time.
        flows: Within<u32, 1, { MOST_FLOWS as u64 }> => { default: "1" },
        /// Cycles of work for each packet.
        cycles: List<Within<u64, 0, MOST_CYCLES>> => { default: "0,1000,2500,5000,10000" },
        /// Packets of a run, about; of a flood, its SYNs.
        packets: Within<u64, 1, { 1 << 40 }> => { default: "500K" },
        /// Runs of each dispatch.
        repeat: Within<u32, 1, 100> => { default: "3" },
        /// Flows that tables have room for; without it, four times --flows, 131,072 at least.
        table: Option<Within<usize, 1, { 1 << 26 }>> => {},
        /// Packets that wait for a core.
        ring: Within<usize, 1, { 1 << 16 }> => { default: "512" },
        /// Drop what finds a ring full, as a card does, instead of waiting.
        drop: bool => {},
        /// Number from which random draws begin.
        seed: u64 => { default: "1" },
    }
    including {
        /// What the function is to do.
        function: FunctionParameters,
    }
}

/// The part of a run in which it warms up.
const WARM_UP: u64 = 10;

/// SYNs of the flood for each packet of a connection.
const FLOOD_EVERY: u64 = 20;

/// Packets of a connection, on average: measured, and nothing depends on it.
const PER_CONNECTION: u64 = 19;

/// Packets of data of a connection: up to twice as many.
const DATA: u16 = 16;

fn main() -> ExitCode {
    program::run(measure)
}

impl Options {
    /// Flows in tables.
    fn room(&self) -> usize {
        self.table.map_or_else(|| (4 * *self.flows as usize).max(1 << 17), Within::get)
    }

    fn settings(&self, cores: usize, cycles: u64) -> Settings {
        let room = self.room();
        Settings {
            limits: Limits::new(room),
            seed: self.seed,
            cycles,
            ring: *self.ring,
            overload: if self.drop { Overload::Drop } else { Overload::Wait },
            pin: true,
            ..Settings::new(cores, room)
        }
    }

    /// Connections that have about so many packets.
    fn script(&self) -> script::Options {
        script::Options {
            seed: self.seed,
            connections: u32::try_from(*self.packets / PER_CONNECTION).unwrap_or(u32::MAX).max(1),
            at_a_time: *self.flows,
            data: DATA,
            order: Order::Free,
        }
    }
}

fn measure(options: &Options) -> Result<(), String> {
    let function = options.function.read()?;
    with_function(options.nf, &function, Measuring { options }).map_err(|error| error.to_string())?
}

struct Measuring<'a> {
    options: &'a Options,
}

impl Visit for Measuring<'_> {
    type Output = Result<(), String>;

    fn visit<N: NetworkFunction + Clone + 'static>(self, function: N) -> Result<(), String> {
        let Self { options } = self;
        let (policies, cores) = (&options.dispatch.0, *options.cores);
        let unfit = policies.iter().find(|dispatch| !dispatch.keeps_flows_whole(cores));
        if let (Fit::WholeFlows(why), Some(dispatch)) = (N::FIT, unfit) {
            return Err(format!("{} cannot run under {dispatch}: {why}", options.nf));
        }
        let trial = Trial { options, function: Arc::new(function) };
        let alone = match options.traffic {
            Traffic::Connections => Some(trial.alone()),
            Traffic::Steady | Traffic::Flood => None,
        };
        println!(
            "{} with {} traffic of {} flows on {cores} cores; this machine has {} of {:.3} GHz for {} threads",
            options.nf,
            options.traffic,
            *options.flows,
            allowed().len(),
            Frequency::measure().hertz() / 1e9,
            cores + 1
        );
        println!(
            "{:12} {:>7} {:>12} {:>7} {:>10} {:>12} {:>9} {:>11} {:>10}",
            "dispatch",
            "cycles",
            "packets/s",
            "ratio",
            "reordered",
            "handed over",
            "refused",
            "cores busy",
            "dispatcher"
        );
        for cycles in options.cycles.distinct() {
            let mut rows = vec![Vec::new(); policies.len()];
            for _ in 0..*options.repeat {
                for (row, &dispatch) in rows.iter_mut().zip(policies) {
                    row.push(trial.once(dispatch, *cycles, alone.as_ref())?);
                }
            }
            for (row, dispatch) in rows.iter().zip(policies) {
                print(*dispatch, *cycles, row, &rows[0]);
            }
        }
        match options.traffic {
            Traffic::Connections => println!("Every connection was treated as one core alone treats it."),
            Traffic::Steady if options.drop => {}
            Traffic::Steady => println!("Every packet passed."),
            Traffic::Flood => println!("No connection that was there was displaced."),
        }
        Ok(())
    }
}

/// One run of a dispatch.
#[derive(Clone)]
struct Sample {
    run: Run,
    /// Packets forwarded a second.
    rate: f64,
    /// The share of packets that left after a later one of their flow (RFC 4737).
    reordered: Option<f64>,
}

/// Medians over the runs of a dispatch, whose turns are those of `base`.
fn print(dispatch: DispatchName, cycles: u64, samples: &[Sample], base: &[Sample]) {
    let of = |number: &dyn Fn(&Sample) -> f64| median(&samples.iter().map(number).collect::<Vec<_>>());
    let ratios: Vec<f64> =
        samples.iter().zip(base).map(|(one, base)| one.rate / base.rate.max(f64::MIN_POSITIVE)).collect();
    let elapsed = |sample: &Sample| sample.run.elapsed.0.max(1) as f64;
    let busy = |sample: &Sample| {
        let busy = &sample.run.busy;
        busy.iter().map(|busy| busy.0 as f64).sum::<f64>() / elapsed(sample) / busy.len().max(1) as f64
    };
    let is_ordered = samples.iter().all(|sample| sample.reordered.is_none());
    let reordered = of(&|sample| sample.reordered.unwrap_or(0.0));
    let reordered = if is_ordered { "–".to_owned() } else { Percent(reordered).to_string() };
    println!(
        "{:12} {cycles:7} {:12.0} {:7.2} {reordered:>10} {:12.0} {:9.0} {:>11} {:>10}",
        dispatch.to_string(),
        of(&|sample| sample.rate),
        median(&ratios),
        of(&|sample| sample.run.counts().handed_out as f64),
        of(&|sample| sample.run.dispatched.refused as f64),
        Percent(of(&busy)).to_string(),
        Percent(of(&|sample| sample.run.dispatcher.0 as f64 / elapsed(sample))).to_string(),
    );
}

struct Trial<'a, N> {
    options: &'a Options,
    function: Arc<N>,
}

impl<N: NetworkFunction + 'static> Trial<'_, N> {
    fn run(&self, dispatch: DispatchName, source: &mut impl Source, settings: &Settings) -> Run {
        run(dispatch, &self.function, source, settings)
    }

    /// What one core alone makes of the connections.
    fn alone(&self) -> script::Outcome {
        let mut script = Script::new(&self.options.script());
        let settings = self.options.settings(1, 0);
        self.run(DispatchName::of(PolicyName::Rss), &mut script, &settings);
        script.outcome().clone()
    }

    fn once(
        &self,
        dispatch: DispatchName,
        cycles: u64,
        alone: Option<&script::Outcome>,
    ) -> Result<Sample, String> {
        let options = self.options;
        let settings = options.settings(*options.cores, cycles);
        let rate = |forwarded: u64, run: &Run| forwarded as f64 * 1e9 / run.elapsed.0.max(1) as f64;
        let check = |holds: bool, what: &str| if holds { Ok(()) } else { Err(format!("{dispatch}: {what}")) };
        match options.traffic {
            Traffic::Steady => {
                let warm_up = *options.packets / WARM_UP;
                let mut source = Steady::new(*options.flows, *options.packets, warm_up, options.seed);
                let run = self.run(dispatch, &mut source, &settings);
                let of = source.outcome();
                check(options.drop || of.forwarded == of.packets, "packets of open flows did not pass")?;
                let reordered = of.reordered as f64 / of.packets.max(1) as f64;
                Ok(Sample { rate: of.rate(), reordered: Some(reordered), run })
            }
            Traffic::Connections => {
                let mut source = Script::new(&options.script());
                let run = self.run(dispatch, &mut source, &settings);
                let of = source.outcome();
                let is_same = alone.is_none_or(|alone| of.first_difference(alone).is_none());
                let is_right = is_same && of.wrong == 0 && of.collisions == 0;
                check(options.drop || is_right, "a connection was not treated as one core alone treats it")?;
                Ok(Sample { rate: rate(of.forwarded, &run), reordered: None, run })
            }
            Traffic::Flood => {
                let mut source = Flood::new(*options.flows, *options.packets, FLOOD_EVERY);
                let run = self.run(dispatch, &mut source, &settings);
                let of = source.outcome();
                let is_kept = of.established_forwarded == of.established;
                check(options.drop || is_kept, "a connection that was there was displaced")?;
                Ok(Sample { rate: rate(of.forwarded(), &run), reordered: None, run })
            }
        }
    }
}
