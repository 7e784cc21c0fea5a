//! Sends real traffic through the function, one variant after the other.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use trueplane_linux::testnet::{Iperf, IperfRun, Probe, Spliced, Transport};
use trueplane_linux::{cores, testnet};
use trueplane_spray::Limits;
use trueplane_spray::dispatch::DispatchName;
use trueplane_spray::live::run;
use trueplane_spray::live::run::start;
use trueplane_spray::nf::{FunctionName, FunctionOptions};
use trueplane_study::{Error, Observer};
use trueplane_units::{BitsPerSec, Nanos, Within};

use super::found::Point;
use super::options::{ExperimentName, Options};
use crate::conduct::{self, alone, load, step};

/// Numbers of flows, in [`ExperimentName::Flows`].
const FLOWS: [u32; 5] = [1, 2, 4, 8, 16];

/// Measures everything.
pub(super) fn run(options: &Options, observer: &dyn Observer) -> Result<Vec<Point>, Error> {
    testnet::check(&ExperimentName::REQUIREMENTS)
        .map_err(|reason| Error::Unfinished(format!("spray experiment: {reason}")))?;
    alone(observer, || {
        let mut points = Vec::new();
        for &experiment in &*options.experiments {
            points.extend(run_one(experiment, options, observer)?);
        }
        Ok(points)
    })
}

/// Measures all variants of one experiment.
fn run_one(
    experiment: ExperimentName,
    options: &Options,
    observer: &dyn Observer,
) -> Result<Vec<Point>, conduct::Error> {
    let net = Spliced::new()?;
    let cycles: Vec<u64> = options.cycles.distinct().into_iter().map(Within::get).collect();
    let heaviest = cycles.last().copied().unwrap_or(0);
    let variants: Vec<(u64, u32)> = match experiment {
        ExperimentName::Cycles => cycles.into_iter().map(|cycles| (cycles, 1)).collect(),
        ExperimentName::Flows => FLOWS.map(|flows| (heaviest, flows)).to_vec(),
        ExperimentName::Latency => vec![(heaviest, 0), (heaviest, 1)],
    };
    let mut points = Vec::new();
    for round in 0..*options.rounds {
        for &(cycles, flows) in &variants {
            for dispatch in options.dispatches() {
                let what = format!("round {}: {flows} flows, {cycles} cycles, {dispatch}", round + 1);
                step(observer, &what)?;
                points.push(measure(&net, options, (experiment, dispatch, cycles, flows, round))?);
            }
        }
    }
    Ok(points)
}

fn measure(
    net: &Spliced,
    options: &Options,
    (experiment, dispatch, cycles, flows, round): (ExperimentName, DispatchName, u64, u32, u32),
) -> Result<Point, conduct::Error> {
    let allowed = cores::allowed();
    let run = start(
        &run::Settings {
            function: FunctionName::Synthetic,
            cycles,
            devices: [net.as_device(Spliced::INNER), net.as_device(Spliced::OUTER)],
            cpus: (0..*options.cores).map(|core| allowed[core % allowed.len().max(1)]).collect(),
            backend: options.backend,
            dispatch,
            limits: Limits::new(4096),
            ring_frames: 2048,
            seed: u64::from(round),
            realtime: options.realtime,
        },
        &FunctionOptions::default(),
    )?;
    let load = load();
    let tended = Tended::new(run);
    let sending = match flows {
        0 => None,
        flows => Some(Iperf::tcp(*options.seconds).flows(flows).start(&net.left, &net.right)?),
    };
    let asked = match experiment {
        ExperimentName::Latency => {
            let duration = Duration::from_secs(u64::from(*options.seconds)) * 3 / 4;
            let probe = Probe { transport: Transport::Udp, duration, gap: Duration::from_micros(500) };
            Some(probe.run(&net.left, &net.right)?)
        }
        _ => None,
    };
    let report = sending.map(IperfRun::finish).transpose()?;
    let counts = tended.stop()?;
    counts.check().map_err(conduct::Error::Lost)?;
    let busy = |core: &run::CoreCounts| core.busy_ns as f64 / counts.elapsed_ns.max(1) as f64;
    let shares: Vec<f64> = report.iter().flat_map(|report| &report.flows).map(|flow| flow.0 as f64).collect();
    Ok(Point {
        experiment,
        dispatch,
        cycles,
        flows,
        round,
        goodput: report.as_ref().map_or(BitsPerSec(0), |report| report.goodput),
        retransmits: report.as_ref().map_or(0, |report| report.retransmits),
        jain: jain(&shares),
        rtt_p99: asked.map(|asked| Nanos(asked.rtt_ns.quantile(0.99))),
        kernel_drops: counts.total().kernel_drops.iter().sum(),
        busy: counts.cores.iter().map(busy).collect(),
        load,
    })
}

/// Jain's index: the square of the sum over the sum of squares and the number; 1 of nothing.
fn jain(shares: &[f64]) -> f64 {
    let (sum, squares) =
        shares.iter().fold((0.0, 0.0), |(sum, squares), share| (sum + share, squares + share * share));
    if squares == 0.0 { 1.0 } else { sum * sum / (shares.len() as f64 * squares) }
}

/// A run whose dispatch policy is told what it wants to know, by a thread.
struct Tended {
    thread: thread::JoinHandle<Result<run::Snapshot, trueplane_linux::Error>>,
    is_over: Arc<AtomicBool>,
}

impl Tended {
    fn new(mut run: run::Run) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        let thread = thread::spawn(move || {
            let period = run.period().unwrap_or(Duration::from_millis(20));
            while !over.load(Ordering::Relaxed) {
                thread::sleep(period);
                run.tend()?;
            }
            run.stop()
        });
        Self { thread, is_over }
    }

    fn stop(self) -> Result<run::Snapshot, trueplane_linux::Error> {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jains_index_is_one_for_equals_and_one_over_n_for_a_tyrant() {
        assert!((jain(&[3.0; 4]) - 1.0).abs() < 1e-12);
        assert!((jain(&[5.0, 0.0, 0.0, 0.0]) - 0.25).abs() < 1e-12);
        assert!((jain(&[]) - 1.0).abs() < 1e-12);
    }
}
