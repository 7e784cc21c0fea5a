//! Packets that a reassembler puts in order: `reassembly:video.pcap`, `reassembly:generated,flows=1000`.

use std::sync::Arc;

use trueplane_study::Error;
use trueplane_units::{Nanos, scale_share};

use super::iid::count;
use crate::reassembly::application::offered;
use crate::reassembly::{Attack, Heuristic, Innocent, Limits, Ranges, Reassembly, ReassemblyCosts};
use crate::segments::Segments;
use crate::traffic::{Offered, Pool};
use crate::workload::source::{Drawn, Source};

/// The attack takes turns with so many flows (Atre 2025 §3.6.1).
const ATTACK_FLOWS: u32 = 50;

/// Generated flows, and packets of each, are so many at most.
const MOST: u64 = 1 << 20;

/// Packets of users and of an attack, and the reassembler at its start.
#[derive(Clone, Debug)]
pub struct Reassembling<R> {
    left_out: Vec<(String, u64)>,
    start: Reassembly<R>,
    packets: Arc<[Offered<u32>]>,
    times: Option<Arc<[Nanos]>>,
    attack: Arc<[Offered<u32>]>,
    largest_job: Nanos,
}

impl<R: Ranges> Reassembling<R> {
    /// Reassembles `segments`. The attack grows lists to what fits the window, with draws from `seed`.
    ///
    /// # Errors
    /// If there are no segments, or too many.
    pub fn new(segments: &Segments, heuristic: Heuristic, seed: u64) -> Result<Self, Error> {
        let (limits, costs) = (Limits::default(), ReassemblyCosts::default());
        let innocent = segments.all();
        if innocent.is_empty() {
            return Err(Error::Parameters(format!("{}: no TCP or UDP packets found", segments.name())));
        }
        // A flow that starts over before its window is full is never dropped by the reassembler.
        let per_flow = limits.window / 2 - 1;
        let attack = Attack { flows: ATTACK_FLOWS, per_flow, seed: !seed }.segments()?;
        let all: Arc<[_]> = innocent.iter().chain(attack.all()).copied().collect();
        let start = Reassembly::new(all, limits, costs, heuristic)?;
        let times = (segments.span() > Nanos(0)).then(|| innocent.iter().map(|segment| segment.at).collect());
        let steps = R::search_bound(u64::from(per_flow));
        Ok(Self {
            left_out: segments.left_out().to_vec(),
            start,
            packets: offered(innocent, 0),
            times,
            attack: offered(attack.all(), u32::try_from(innocent.len()).unwrap_or(u32::MAX)),
            largest_job: costs.base.after(Nanos(costs.step.0.saturating_mul(steps))),
        })
    }
}

impl<R: Ranges + Clone + Send + Sync> Source for Reassembling<R> {
    type Application = Reassembly<R>;

    fn application(&self) -> Reassembly<R> {
        self.start.clone()
    }

    fn draw(&self, _seed: u64) -> Drawn<u32> {
        Drawn { packets: Arc::clone(&self.packets), times: self.times.clone() }
    }

    fn bytes(&self) -> u64 {
        (size_of_val(&*self.packets) + size_of_val(&*self.attack)) as u64
    }

    fn left_out(&self) -> Vec<(String, u64)> {
        self.left_out.clone()
    }

    fn largest_job(&self) -> Option<Nanos> {
        Some(self.largest_job)
    }

    fn attack(&self) -> Option<Pool<u32>> {
        Some(Pool { packets: Arc::clone(&self.attack), fresh_flows: false })
    }
}

/// Reads what follows `reassembly:generated`: choices with a comma before each.
pub(super) fn generated(text: &str) -> Result<Innocent, String> {
    let mut innocent = Innocent::default();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let expected = || {
            format!(
                "expected flows=…, packets=…, late=… or overtaken=… after reassembly:generated, got \"{part}\""
            )
        };
        let (name, value) = part.split_once('=').ok_or_else(expected)?;
        let whole = |what: &str| {
            let number = count(value.trim()).filter(|number| (1..=MOST).contains(number));
            let number = number.and_then(|number| u32::try_from(number).ok());
            number.ok_or_else(|| format!("expected 1 to {MOST} {what}, got \"{value}\""))
        };
        match name.trim() {
            "flows" => innocent.flows = whole("flows")?,
            "packets" => innocent.packets = whole("packets of each flow")?,
            "overtaken" => innocent.overtaken = whole("packets that overtake")?,
            "late" => {
                let share = scale_share(value, 1_000_000).filter(|millionths| *millionths <= 1_000_000);
                let share = share.ok_or_else(|| format!("expected a share such as 1%, got \"{value}\""))?;
                innocent.late = share as f64 / 1e6;
            }
            _ => return Err(expected()),
        }
    }
    Ok(innocent)
}
