//! What was counted, and that nothing is missing.

use trueplane_units::Nanos;

use super::seat::Contents;
use crate::Counts;

/// Counters of the dispatcher.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dispatched {
    /// Packets of the source.
    pub offered: u64,
    /// Those that were sent to each core.
    pub sent: Vec<u64>,
    /// Those that found the ring to their core full and were dropped there.
    pub refused: u64,
    /// Copies and marks of time to each core.
    pub extra: Vec<u64>,
    /// Packets of the source that came back from cores.
    pub returned: u64,
    /// Copies and marks that came back.
    pub extra_returned: u64,
    /// Marks of time among what was sent besides.
    pub marks: u64,
}

/// A run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// Time from the first packet to the last one's return.
    pub elapsed: Nanos,
    /// Counters of the dispatcher.
    pub dispatched: Dispatched,
    /// Counters of each core.
    pub cores: Vec<Counts>,
    /// Time for which the thread of each core had work.
    pub busy: Vec<Nanos>,
    /// CPU time of the dispatcher's thread, which is generator and sink as well.
    pub dispatcher: Nanos,
    /// The tables.
    pub tables: Vec<Contents>,
    /// Packets in memory, copies included.
    pub packets: usize,
}

impl Run {
    /// Sum of the counters of all cores.
    pub fn counts(&self) -> Counts {
        self.cores.iter().fold(Counts::default(), |mut sum, core| {
            sum.merge(core);
            sum
        })
    }

    /// Checks the identities: every packet was sent or refused, arrived, was handed over as often as it was handed in, got one verdict, and came
    /// back.
    ///
    /// # Errors
    ///
    /// Which does not hold.
    pub fn check(&self) -> Result<(), String> {
        let of = &self.dispatched;
        let counts = self.counts();
        let sum = |counts: &[u64]| counts.iter().sum::<u64>();
        let equal = |what: &str, one: u64, other: u64| {
            if one == other { Ok(()) } else { Err(format!("{what}: {one} and {other}")) }
        };
        equal("packets offered, and sent or refused", of.offered, sum(&of.sent) + of.refused)?;
        equal("packets sent and come back", sum(&of.sent), of.returned)?;
        equal("copies sent and come back", sum(&of.extra), of.extra_returned)?;
        let copies = sum(&of.extra) - of.marks.min(sum(&of.extra));
        equal("packets sent and arrived", sum(&of.sent) + copies, counts.arrived)?;
        equal("packets handed out and in", counts.handed_out, counts.handed_in)?;
        equal("packets arrived and done", counts.arrived, counts.done())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_noticed() {
        let cores = vec![
            Counts { arrived: 4, handed_out: 1, forwarded: 3, ..Counts::default() },
            Counts { arrived: 5, handed_in: 1, forwarded: 6, ..Counts::default() },
        ];
        let dispatched = Dispatched {
            offered: 8,
            sent: vec![4, 3],
            refused: 1,
            extra: vec![1, 2],
            returned: 7,
            extra_returned: 3,
            marks: 1,
        };
        let run = Run { dispatched, cores, ..Run::default() };
        assert_eq!(run.check(), Ok(()));
        let mut lost = run.clone();
        lost.cores[1].forwarded -= 1;
        assert_eq!(lost.check(), Err("packets arrived and done: 9 and 8".to_owned()));
        let mut lost = run.clone();
        lost.dispatched.returned -= 1;
        assert!(lost.check().unwrap_err().starts_with("packets sent and come back"));
        let mut twice = run;
        twice.cores[1].handed_in += 1;
        assert!(twice.check().is_err());
    }
}
