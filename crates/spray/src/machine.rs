//! Cores and what work costs them, as people write it.

use std::fmt;
use std::str::FromStr;

use trueplane_units::{
    Datum, Nanos, Positive, Shape, Value, Within, parameters, scale_decimal, text_value, unexpected,
};

use crate::dispatch::DispatchOptions;
use crate::traffic::PacketRate;

/// Cores that a machine can have: no more than the indirection table has rows.
pub const MOST_CORES: u64 = crate::steering::BUCKETS as u64;

/// The most cycles that anything may cost.
pub const MOST_CYCLES: u64 = 1_000_000_000;

const HEADING: &str = "The machine";

parameters! {
    /// Parameters of the simulated machine.
    #[derive(Clone, Debug)]
    pub struct MachineOptions {
        /// Clock frequency of each core.
        pub clock: Clock => { value: "FREQUENCY", default: "2GHz", heading: HEADING },
        /// Cycles of everything except the work of --cycles. Keys that you leave out keep their default.
        ///
        /// base is for receiving and sending a packet. local and remote are for looking up its flow in the core's own table and in that of
        /// another core. batch and packet are for handing packets over between cores, for each batch and each packet, at either end. lock is for
        /// holding the lock of a shared table. replay is for computing the effect of a packet of another core, in scr.
        pub costs: Costs => {
            value: "LIST", default: "base=120,local=40,remote=80,batch=150,packet=40,lock=150,replay=30",
            heading: HEADING,
        },
        /// Distribution of service times: constant, exponential or lognormal:V. V is the coefficient of variation.
        pub service_time: Service => { value: "HOW", default: "constant", heading: HEADING },
        /// Number of descriptors in each receive ring and in each ring between cores.
        pub ring: Within<u32, 1, { 1 << 16 }> => { value: "N", default: "512", heading: HEADING },
        /// Only for flowlet: silence after which a burst is over.
        pub gap: Positive<Nanos> => { value: "TIME", default: "50us", heading: HEADING },
        /// Packets per second that the card can spray by checksum. It applies to spray, subset and adaptive. Cards with the 82599 chip reach
        /// about 10Mpps with Flow Director.
        pub card_limit: Option<PacketRate> => { value: "RATE", default_words: "no limit", heading: HEADING },
    }
}

impl MachineOptions {
    /// Parameters of dispatch policies.
    pub(crate) fn dispatch(&self) -> DispatchOptions {
        DispatchOptions { gap: *self.gap }
    }
}

/// Cycles a second: `2GHz`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock(u64);

const CLOCK: &str = "a clock such as 2GHz or 2400MHz";

impl Clock {
    /// The number of cycles a second.
    pub fn hertz(self) -> u64 {
        self.0
    }
}

impl Value for Clock {
    const UNIT: &'static str = "hz";
    const SHAPE: Shape = Shape::NUMBER;

    fn expected() -> String {
        CLOCK.to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let scales = [("GHz", 1_000_000_000), ("MHz", 1_000_000)];
        let hertz = scales
            .into_iter()
            .find_map(|(unit, scale)| scale_decimal(text.strip_suffix(unit)?, scale))
            .filter(|hertz| (1_000_000..=100_000_000_000).contains(hertz));
        hertz.map(Self).ok_or_else(|| unexpected(CLOCK, text))
    }

    fn show(&self) -> String {
        match self.0 {
            hertz if hertz >= 1_000_000_000 => format!("{}GHz", hertz as f64 / 1e9),
            hertz => format!("{}MHz", hertz as f64 / 1e6),
        }
    }

    fn datum(&self) -> Datum {
        Datum::Integer(self.0)
    }
}

/// Costs of operations in cycles. Defaults: receiving and sending in batches as poll-mode drivers do, a flow table in the core's own
/// cache, lines that another core's cache has, and exchanges between caches; measure your own machine with the bench `memory`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// Cycles to receive and send a packet.
    pub base: u64,
    /// Cycles to look up a flow in the core's own table.
    pub local: u64,
    /// Cycles to look up a flow in another core's table.
    pub remote: u64,
    /// Cycles to hand over a batch, at either end.
    pub batch: u64,
    /// For each packet in it, at either end.
    pub packet: u64,
    /// Cycles to hold the lock of a shared table for a lookup, with what it takes to get a free one.
    pub lock: u64,
    /// Cycles to compute the state that another core's packet leaves.
    pub replay: u64,
}

impl Default for Costs {
    fn default() -> Self {
        Self { base: 120, local: 40, remote: 80, batch: 150, packet: 40, lock: 150, replay: 30 }
    }
}

impl Costs {
    /// Names and values, as they are written.
    fn named(&mut self) -> [(&'static str, &mut u64); 7] {
        let Self { base, local, remote, batch, packet, lock, replay } = self;
        [
            ("base", base),
            ("local", local),
            ("remote", remote),
            ("batch", batch),
            ("packet", packet),
            ("lock", lock),
            ("replay", replay),
        ]
    }
}

impl fmt::Display for Costs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut costs = *self;
        let parts = costs.named().map(|(name, value)| format!("{name}={value}"));
        f.write_str(&parts.join(","))
    }
}

const COSTS: &str = "cycles such as base=120,remote=80";

impl FromStr for Costs {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut costs = Self::default();
        for part in text.split(',') {
            let refuse = || unexpected(COSTS, part);
            let (name, value) = part.trim().split_once('=').ok_or_else(refuse)?;
            let value = value.parse().ok().filter(|&value| value <= MOST_CYCLES).ok_or_else(refuse)?;
            let mut named = costs.named();
            let known = named.each_ref().map(|(name, _)| *name).join(", ");
            let cost = named.iter_mut().find(|(known, _)| *known == name);
            let (_, cost) = cost.ok_or_else(|| unexpected(format!("one of {known}"), name))?;
            **cost = value;
        }
        if costs.base + costs.local == 0 {
            return Err("expected a packet to cost something: base and local are both 0".to_owned());
        }
        Ok(costs)
    }
}

text_value!(Costs, COSTS);

/// Distribution of the time that a packet takes around its mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Service {
    /// Every packet takes the same.
    Constant,
    /// Times are exponential.
    Exponential,
    /// Times are log-normal, with this coefficient of variation, above 0 and 100 at most.
    LogNormal(f64),
}

const CONSTANT: &str = "constant";
const EXPONENTIAL: &str = "exponential";
const LOG_NORMAL: &str = "lognormal:";

impl fmt::Display for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant => f.write_str(CONSTANT),
            Self::Exponential => f.write_str(EXPONENTIAL),
            Self::LogNormal(variation) => write!(f, "{LOG_NORMAL}{variation}"),
        }
    }
}

const SERVICE: &str = "constant, exponential or lognormal:1.5";

impl FromStr for Service {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let variation = |text: &str| text.parse().ok().filter(|&cv: &f64| cv > 0.0 && cv <= 100.0);
        match (text, text.strip_prefix(LOG_NORMAL).and_then(variation)) {
            (CONSTANT, _) => Ok(Self::Constant),
            (EXPONENTIAL, _) => Ok(Self::Exponential),
            (_, Some(variation)) => Ok(Self::LogNormal(variation)),
            _ => Err(unexpected(SERVICE, text)),
        }
    }
}

text_value!(Service, SERVICE);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_read_one_by_one() {
        let costs = Costs { base: 7, replay: 9, ..Costs::default() };
        assert_eq!("base=7, replay=9".parse(), Ok(costs));
        assert_eq!(costs.to_string().parse(), Ok(costs));
        assert_eq!(MachineOptions::default().costs, Costs::default());
        let said = "expected one of base, local, remote, batch, packet, lock, replay, got \"cache\"";
        assert_eq!("base=7,cache=1".parse::<Costs>(), Err(said.to_owned()));
        for bad in ["", "base", "base=x", "base=-1", "base=0,local=0"] {
            assert!(bad.parse::<Costs>().is_err(), "{bad}");
        }
    }

    #[test]
    fn times_and_clocks_are_read_as_they_are_written() {
        for service in ["constant", "exponential", "lognormal:1.5"] {
            assert_eq!(service.parse::<Service>().map(|service| service.to_string()), Ok(service.to_owned()));
        }
        for bad in ["lognormal:0", "lognormal:-1", "lognormal:NaN", "normal"] {
            assert!(bad.parse::<Service>().is_err(), "{bad}");
        }
        let clock = |text| Clock::parse(text).map(Clock::hertz);
        assert_eq!(["2GHz", "2400MHz"].map(clock), [Ok(2_000_000_000), Ok(2_400_000_000)]);
        assert_eq!(
            ["2GHz", "2400MHz", "300MHz"].map(|text| Clock::parse(text).unwrap().show()),
            ["2GHz", "2.4GHz", "300MHz"]
        );
        assert!(["2", "0GHz", "GHz", "1kHz"].iter().all(|bad| clock(bad).is_err()));
    }
}
