//! Counts flows in windows.

use hashbrown::{HashMap, HashSet};
use trueplane_study::metrics::Distribution;
use trueplane_study::{Error, Observer};
use trueplane_trace::{Place, Trace, TraceError};
use trueplane_units::Nanos;

use super::found::{Flows, Found, Which};
use super::options::Options;
use crate::belief::busy_cores;
use crate::captured::read;
use crate::silence::Silences;
use crate::{FlowId, Packet};

struct Seen {
    time: Nanos,
    flow: u32,
}

/// Counts the flows of a capture in each window; both directions of a connection are one. Memory: 16 bytes for each packet. O(n log n).
pub(super) fn run(options: &Options, observer: &dyn Observer) -> Result<Found, Error> {
    let trace = &Trace::open(&options.capture, &options.order.capture())?;
    let (mut packets, mut numbers, mut bytes) = (Vec::new(), HashMap::<FlowId, u32>::new(), Vec::new());
    let mut spare = Packet::new(Vec::new(), Default::default());
    let skipped = read(trace, observer, |time, length, frame, link| {
        spare.refill(link, |bytes| {
            bytes.clear();
            bytes.extend_from_slice(frame);
        });
        let Some(flow) = spare.flow().filter(|flow| options.all_protocols || flow.protocol() == 6) else {
            return;
        };
        let next = numbers.len() as u32;
        let flow = *numbers.entry(flow.canonical()).or_insert(next);
        if flow == next {
            bytes.push(0);
        }
        bytes[flow as usize] += u64::from(length);
        packets.push(Seen { time, flow });
    })?;
    packets.sort_by_key(|packet| packet.time);
    let silences = Silences::shorten(packets.iter_mut().map(|packet| &mut packet.time));
    let Some(last) = packets.last() else {
        let what = if options.all_protocols { "IP" } else { "TCP" };
        let problem = format!("expected packets of {what}, found none");
        return Err(TraceError::Input { trace: trace.name().to_owned(), place: Place::Whole, problem }.into());
    };
    let window = options.window.0;
    let windows = last.time.0 / window + 1;
    let cores = options.cores();
    let is_large = |flow: u32| bytes[flow as usize] > options.large.0;
    let all = count(Which::All, &packets, &bytes, window, &cores, |_| true);
    let large = count(Which::Large, &packets, &bytes, window, &cores, is_large);
    let rows = [Some(all), (large.count > 0).then_some(large)].into_iter().flatten().collect();
    Ok(Found { packets: packets.len() as u64, windows, silences, skipped, rows })
}

fn count(
    which: Which,
    packets: &[Seen],
    bytes: &[u64],
    window: u64,
    cores: &[usize],
    counts: impl Fn(u32) -> bool,
) -> Flows {
    let mut numbers = Distribution::default();
    let mut used = vec![0.0; cores.len()];
    let mut flows = HashSet::new();
    for inside in packets.chunk_by(|a, b| a.time.0 / window == b.time.0 / window) {
        flows.clear();
        flows.extend(inside.iter().map(|packet| packet.flow).filter(|&flow| counts(flow)));
        if flows.is_empty() {
            continue;
        }
        numbers.record(flows.len() as u64);
        for (used, &cores) in used.iter_mut().zip(cores) {
            *used += busy_cores(flows.len() as u64, cores) / cores as f64;
        }
    }
    let windows = numbers.count();
    let own = |flow: &usize| counts(*flow as u32);
    let (count, sum) =
        (0..bytes.len()).filter(own).fold((0, 0), |(count, sum), flow| (count + 1, sum + bytes[flow]));
    Flows {
        which,
        count,
        bytes: sum as f64 / bytes.iter().sum::<u64>().max(1) as f64,
        windows,
        median: numbers.quantile(0.5),
        p99: numbers.quantile(0.99),
        most: numbers.quantile(1.0),
        cdf: numbers.cumulative(),
        cores_used: used.into_iter().map(|used| used / windows.max(1) as f64).collect(),
    }
}
