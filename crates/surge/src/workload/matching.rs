//! Packets that are matched against rules: `match:web.pcap` with `--rules web.rules`.

use std::sync::Arc;

use trueplane_study::{Error, Observer};
use trueplane_units::Nanos;

use crate::matching::engine::Counting;
use crate::matching::{Costs, FullMatching, Matcher, Ratio, Rules, Table, worst_payload};
use crate::segments::Segments;
use crate::traffic::{FIRST_ATTACK_FLOW, Load, Offered, Pool};
use crate::workload::source::{Drawn, Source};

/// Packets of users with the steps that matching each takes, and the packet of them with the most work per bit as an attack.
#[derive(Clone, Debug)]
pub struct Matching {
    left_out: Vec<(String, u64)>,
    start: FullMatching,
    packets: Arc<[Offered<u32>]>,
    times: Option<Arc<[Nanos]>>,
    attack: Offered<u32>,
}

impl Matching {
    /// Matches `segments` against `rules` with the engine `E`, which gives up on an expression after `limit` steps.
    ///
    /// # Errors
    /// If there are no segments, a rule takes too much memory, or the observer interrupts.
    pub fn new<E: Counting>(
        segments: &Segments,
        rules: &Rules,
        limit: u32,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        let matcher = Matcher::<E>::new(rules, limit)?;
        observer.stage("matching", segments.all().len() as u64);
        let (table, costs) = (Table::of_segments(&matcher, segments, observer)?, Costs::default());
        let sizes = segments.all().iter().map(|segment| segment.bits);
        let worst = worst_payload(&table, sizes, &costs)
            .ok_or_else(|| Error::Parameters(format!("{}: no TCP or UDP packets found", segments.name())))?;
        let offer = |flow, bits, index| Offered { flow, bits, load: Load::Real(index) };
        let packets =
            segments.all().iter().zip(0..).map(|(segment, index)| offer(segment.flow, segment.bits, index));
        Ok(Self {
            left_out: segments.left_out().to_vec(),
            packets: packets.collect(),
            times: (segments.span() > Nanos(0))
                .then(|| segments.all().iter().map(|segment| segment.at).collect()),
            attack: offer(FIRST_ATTACK_FLOW, worst.bits, worst.index),
            start: FullMatching::new(Arc::new(table), costs, Ratio::default()),
        })
    }
}

impl Source for Matching {
    type Application = FullMatching;

    fn application(&self) -> FullMatching {
        self.start.clone()
    }

    fn draw(&self, _seed: u64) -> Drawn<u32> {
        Drawn { packets: Arc::clone(&self.packets), times: self.times.clone() }
    }

    fn bytes(&self) -> u64 {
        size_of_val(&*self.packets) as u64
    }

    fn left_out(&self) -> Vec<(String, u64)> {
        self.left_out.clone()
    }

    fn attack(&self) -> Option<Pool<u32>> {
        Some(Pool { packets: Arc::from([self.attack]), fresh_flows: true })
    }
}
