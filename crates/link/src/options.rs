//! Parameters of a link as people write them.

use trueplane_units::{Nanos, Share, parameters};

use crate::link::Terms;

/// The largest probability of a fault, in millionths. At this loss one in a hundred round trips succeeds, so that simulations which
/// wait for answers still end.
const LARGEST_SHARE: u32 = 900_000;

const HEADING: &str = "Faults of the link";

parameters! {
    /// Faults of a link. The default is none.
    #[derive(Clone, Copy, Debug)]
    pub struct Faults {
        /// Maximum random delay of a packet, in addition to its normal one.
        pub jitter: Nanos => { value: "TIME", default: "0ns", heading: HEADING },
        /// Share of packets that are lost.
        pub loss: Share<0, LARGEST_SHARE, 1> => { value: "PERCENT", default: "0%", heading: HEADING },
        /// Share of packets that take no time, so that they overtake others. They have neither delay nor jitter.
        pub reorder: Share<0, LARGEST_SHARE, 1> => { value: "PERCENT", default: "0%", heading: HEADING },
        /// Share of packets that arrive twice.
        pub duplicate: Share<0, LARGEST_SHARE, 1> => { value: "PERCENT", default: "0%", heading: HEADING },
    }
}

parameters! {
    /// A link in front of what a study measures. By default it takes no time and has no faults.
    #[derive(Clone, Copy, Debug)]
    pub struct LinkOptions {
        /// Time that each packet takes on the link.
        pub delay: Nanos => { value: "TIME", default: "0ns", heading: HEADING },
    }
    including {
        /// Faults of the link.
        pub faults: Faults,
    }
}

impl Faults {
    /// The terms of a link with these faults that takes `delay`. `jitter` is [`Faults::jitter`] in the same unit of time.
    pub fn terms(&self, delay: u64, jitter: u64) -> Terms {
        Terms {
            delay,
            jitter,
            loss_ppm: self.loss.millionths(),
            reorder_ppm: self.reorder.millionths(),
            duplicate_ppm: self.duplicate.millionths(),
        }
    }

    /// Refuses reordering on a link that takes no time, where no packet can overtake another. `delay` is the link's, and `flag` is what
    /// sets it.
    ///
    /// # Errors
    /// In one line.
    pub fn check(&self, delay: Nanos, flag: &str) -> Result<(), String> {
        if self.reorder.millionths() > 0 && delay == Nanos(0) && self.jitter == Nanos(0) {
            return Err(format!(
                "--reorder is for links that take time: expected {flag} or --jitter above 0ns"
            ));
        }
        Ok(())
    }
}

impl LinkOptions {
    /// Whether packets arrive as they are sent, so that the link can be left out.
    pub fn is_ideal(&self) -> bool {
        self.terms(|time| time.0) == Terms::default()
    }

    /// The terms of the link in another unit of time, into which `convert` converts.
    pub fn terms(&self, convert: impl Fn(Nanos) -> u64) -> Terms {
        self.faults.terms(convert(self.delay), convert(self.faults.jitter))
    }

    /// The longest time that a packet takes.
    pub fn longest(&self) -> Nanos {
        self.delay.after(self.faults.jitter)
    }

    /// Refuses faults that contradict each other.
    ///
    /// # Errors
    /// In one line.
    pub fn check(&self) -> Result<(), String> {
        self.faults.check(self.delay, "--delay")
    }
}

#[cfg(test)]
mod tests {
    use trueplane_units::Parameters as _;

    use super::*;

    fn options(given: &[(&str, &str)]) -> LinkOptions {
        LinkOptions::given(given).unwrap()
    }

    #[test]
    fn flags_say_what_happens_to_packets() {
        assert!(options(&[]).is_ideal());
        for (flag, value) in
            [("delay", "1us"), ("jitter", "1ns"), ("loss", "1%"), ("reorder", "1%"), ("duplicate", "1%")]
        {
            assert!(!options(&[(flag, value)]).is_ideal(), "{flag}");
        }
        let all =
            [("delay", "2us"), ("jitter", "3us"), ("loss", "4%"), ("reorder", "0.5%"), ("duplicate", "90%")];
        let terms = Terms {
            delay: 2_000_000,
            jitter: 3_000_000,
            loss_ppm: 40_000,
            reorder_ppm: 5_000,
            duplicate_ppm: 900_000,
        };
        assert_eq!(options(&all).terms(|time| time.0 * 1000), terms);
        assert_eq!(options(&all).longest(), Nanos(5_000));
        assert!(LinkOptions::given(&[("loss", "91%")]).is_err());
    }

    #[test]
    fn what_takes_no_time_cannot_be_overtaken() {
        let reordering = |more: &[(&str, &str)]| options(&[&[("reorder", "1%")], more].concat()).check();
        let error = "--reorder is for links that take time: expected --delay or --jitter above 0ns";
        assert_eq!(reordering(&[]), Err(error.to_owned()));
        assert_eq!((reordering(&[("delay", "1ns")]), reordering(&[("jitter", "1ns")])), (Ok(()), Ok(())));
        assert_eq!(options(&[]).check(), Ok(()));
    }
}
