//! The parameters of `limit precision`.

use trueplane_study::Error;
use trueplane_study::prose::beyond;
use trueplane_units::{
    BitsPerSec, Bytes, Choices, Factor, List, LongTime, Nanos, Positive, Value as _, parameters,
};

use crate::drain::Drain;
use crate::policy::PolicyName;
use crate::source::{Pace, PacketSizes};

/// Measured without `--duration` until the rate yields so many bytes: what lies in a bucket of 150 kB when that begins and ends
/// is then less than 0.06% of it, and mostly much less.
const MEASURED: Bytes = Bytes(256_000_000);

/// Multiple of what fills the bucket that is offered before anything counts.
const WARMUP: u64 = 2;

/// More packets than these in one run are refused: minutes of work each.
const MOST_PACKETS: f64 = 2e10;

/// A bucket that takes longer to fill is refused: half of what a clock of nanoseconds can tell, 292 years.
const LONGEST_WARMUP: Nanos = Nanos(u64::MAX / 2);

parameters! {
    /// Parameters of `limit precision`.
    #[derive(Clone, Debug)]
    pub struct Options {
        /// Configured rates to test.
        pub rate: List<Positive<BitsPerSec>> =>
            { value: "LIST", default: "1Gbps,10Gbps,20Gbps,40Gbps,60Gbps,80Gbps,100Gbps" },
        /// Packet sizes in bytes: one (1500), a range (64..1500) or a list (64,512,1500). All sizes are equally frequent.
        pub packet_size: PacketSizes => { value: "LIST", default: "64..1500", unit: "bytes" },
        /// Traffic patterns to send.
        pub source: Choices<Pace> => { value: "LIST", default: "all" },
        /// Offered rate, as a multiple of the configured one: 2, 0.9 or 90%.
        pub load: Factor => { value: "LOAD", default: "2" },
        /// How Nimble drains: exact, or from a table with this maximum error, 0.1% to 50%. Other policies always drain exactly.
        pub drain: List<Drain> => { value: "LIST", default: "exact,1%,6%,12%,50%" },
        /// Limiters to measure.
        pub policies: Choices<PolicyName> => { value: "LIST", default: "all" },
        /// Burst: the bytes that each limiter holds.
        pub burst: Bytes => { value: "SIZE", default: "150kB" },
        /// Measuring time, after the bucket is full.
        pub duration: Option<Positive<Nanos>> =>
            { value: "TIME", default_words: "until 256 MB have passed" },
        /// Seed of the random number generator.
        pub seed: u64 => { value: "SEED", default: "1" },
    }
}

impl Options {
    /// The rate that is offered to a limiter of this rate.
    pub(super) fn offered(&self, rate: BitsPerSec) -> Result<BitsPerSec, Error> {
        let offered = u128::from(rate.0) * u128::from(self.load.millionths()) / 1_000_000;
        match u64::try_from(offered) {
            Ok(offered @ 1..) => Ok(BitsPerSec(offered)),
            _ => Err(Error::Parameters(format!("a load of {} at {rate} cannot be offered", self.load))),
        }
    }

    /// The occupancy above which is marked: half of the burst, for all policies that mark.
    pub(super) fn mark(&self) -> Bytes {
        Bytes(self.burst.0.div_ceil(2))
    }

    /// The times at which measuring begins and ends.
    pub(super) fn window(&self, rate: BitsPerSec) -> (Nanos, Nanos) {
        let takes = |bytes: u64| {
            let nanos = u128::from(bytes) * 8_000_000_000 / u128::from(rate.0.max(1));
            Nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
        };
        let fill = u128::from(takes(self.burst.0).0) * 1_000_000 / u128::from(self.surplus());
        let start = Nanos(u64::try_from(fill).unwrap_or(u64::MAX).saturating_mul(WARMUP));
        let duration = self.duration.map_or_else(|| takes(MEASURED.0), |duration| *duration);
        (start, start.after(duration))
    }

    /// Surplus that fills the bucket: the load above the rate, in millionths of it.
    fn surplus(&self) -> u64 {
        match self.load.millionths().saturating_sub(1_000_000) {
            // The bucket never fills, however long one waits.
            0 => 100_000,
            surplus => surplus,
        }
    }

    /// The number of packets of a case, about.
    pub(super) fn packets(&self, rate: BitsPerSec) -> f64 {
        let seconds = self.window(rate).1.0 as f64 / 1e9;
        seconds * rate.0 as f64 * self.load.number() / 8.0 / self.packet_size.mean()
    }

    /// Refuses parameters that do not fit each other.
    pub(super) fn check(&self) -> Result<(), Error> {
        let has_table = self.policies.iter().any(|policy| policy.properties().has_table);
        if !has_table && self.drain != Self::default().drain {
            return Err(Error::Parameters(format!(
                "--drain {} is for --policies nimble, got --policies {}",
                self.drain.show(),
                self.policies.show()
            )));
        }
        if Bytes(self.packet_size.largest().into()) > self.burst {
            return Err(Error::Parameters(format!(
                "--burst {}B is less than a packet of {} bytes, which would never pass",
                self.burst.0,
                self.packet_size.largest()
            )));
        }
        for &rate in &*self.rate {
            let rate = *rate;
            self.check_warmup(rate)?;
            let packets = self.packets(rate);
            if packets > MOST_PACKETS {
                let (found, most) = (beyond(packets, MOST_PACKETS), format!("{MOST_PACKETS:.0e}"));
                return Err(Error::Parameters(match self.duration {
                    Some(duration) => {
                        format!(
                            "--duration {} at {rate} is {found} packets; at most {most} are simulated",
                            *duration
                        )
                    }
                    None => format!(
                        "it takes {found} packets until {MEASURED} have passed at {rate}; at most {most} are simulated: give a --duration, lower --load or send larger packets"
                    ),
                }));
            }
        }
        Ok(())
    }

    /// Whether the bucket is full within what can be simulated.
    fn check_warmup(&self, rate: BitsPerSec) -> Result<(), Error> {
        let bytes = self.burst.0 as f64 * WARMUP as f64 * 1e6 / self.surplus() as f64;
        let (packets, nanos) =
            (bytes * self.load.number() / self.packet_size.mean(), bytes * 8e9 / rate.0.max(1) as f64);
        let (takes, most) = if packets > MOST_PACKETS {
            (format!("{} packets", beyond(packets, MOST_PACKETS)), format!("{MOST_PACKETS:.0e}"))
        } else if nanos > LONGEST_WARMUP.0 as f64 {
            let (takes, most) = (LongTime(nanos).to_string(), LongTime(LONGEST_WARMUP.0 as f64).to_string());
            // What is just beyond rounds to the limit.
            (if takes == most { format!("more than {most}") } else { takes }, most)
        } else {
            return Ok(());
        };
        Err(Error::Parameters(format!(
            "it takes {takes} at {rate} until a load of {} has filled --burst {}; at most {most} are simulated: raise --load or lower --burst",
            self.load, self.burst
        )))
    }
}
