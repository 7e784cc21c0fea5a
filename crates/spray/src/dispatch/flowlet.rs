//! Flowlets: a burst of a flow stays together.

use trueplane_units::Nanos;

use super::{Arrival, Dispatch, Load};
use crate::Steering;

/// The silence after which a burst is over: more than the packets of a flow wait for a core, as they do at the rates of §3.4.
pub const GAP: Nanos = Nanos(50_000);

/// Rows of the table.
const ROWS: usize = 1 << 14;

/// Time of the last use of a row, and the core that it was for.
#[derive(Clone, Copy, Debug)]
struct Row {
    last: Nanos,
    core: u16,
}

/// A flow's packets go to one core as long as they come within [`GAP`] of each other; after a longer silence the next ones go to the core that has
/// the least to do: the fewest packets waiting when loads were last told, and of these, the fewest bursts given since.
///
/// Packets of one burst cannot overtake each other; those of two only if the first ones wait for longer than the gap. A flow that never pauses
/// stays on its core as with [`Rss`](super::Rss). The first burst of a flow goes to its designated core.
///
/// The table has 16384 rows, found by the symmetric hash, both directions sharing one; flows that share a row are one flow, which
/// only means fewer pauses. It never grows. O(1), O(cores) for a new burst.
///
/// Source: S. Sinha, S. Kandula, D. Katabi, *Harnessing TCP's burstiness with flowlet switching*, HotNets 2004; the table as in CONGA (M. Alizadeh
/// et al., SIGCOMM 2014). Departure: LetFlow (E. Vanini et al., NSDI 2017) chooses at random; here the loads are known.
#[derive(Clone, Debug)]
pub struct Flowlet {
    gap: Nanos,
    steering: Steering,
    rows: Box<[Option<Row>]>,
    /// Packets that waited when loads were last told, and bursts given since.
    loads: Vec<(u32, u32)>,
}

impl Flowlet {
    /// Bursts end with a silence of more than `gap`.
    pub fn new(cores: usize, gap: Nanos) -> Self {
        let steering = Steering::new(cores);
        let loads = vec![(0, 0); steering.cores()];
        Self { gap, steering, rows: vec![None; ROWS].into(), loads }
    }

    fn least_loaded(&self) -> u16 {
        let least = self.loads.iter().enumerate().min_by_key(|&(core, load)| (*load, core));
        least.map_or(0, |(core, _)| core as u16)
    }
}

impl Dispatch for Flowlet {
    fn core(&mut self, packet: &Arrival, now: Nanos) -> usize {
        let row = usize::from(packet.symmetric()) % ROWS;
        let core = match self.rows[row] {
            Some(Row { last, core }) if now.0.saturating_sub(last.0) <= self.gap.0 => core,
            previous => {
                let core = match previous {
                    Some(_) => self.least_loaded(),
                    None => self.steering.core_of_bucket(packet.bucket()) as u16,
                };
                self.loads[usize::from(core)].1 += 1;
                core
            }
        };
        self.rows[row] = Some(Row { last: now, core });
        usize::from(core)
    }

    fn observe(&mut self, loads: &[Load], _now: Nanos) {
        for (known, load) in self.loads.iter_mut().zip(loads) {
            *known = (load.queued, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::tests::tcp;

    #[test]
    fn a_burst_stays_and_the_next_one_moves() {
        let mut flowlet = Flowlet::new(4, Nanos(50));
        let designated = Steering::new(4).designated(&tcp(7, 0).flow.unwrap());
        let cores: Vec<_> = [0, 50, 100, 150].map(|at| flowlet.core(&tcp(7, at as u16), Nanos(at))).into();
        assert_eq!(cores, [designated; 4]);
        // All have nothing to do but the one that has the burst.
        let next = flowlet.core(&tcp(7, 9), Nanos(201));
        assert_ne!(next, designated);
        let mut loads = [Load { queued: 9, busy: 1.0 }; 4];
        loads[3].queued = 1;
        flowlet.observe(&loads, Nanos(300));
        assert_eq!(flowlet.core(&tcp(7, 10), Nanos(252)), 3);
        assert_eq!(flowlet.core(&tcp(7, 11), Nanos(302)), 3);
    }
}
