//! The limiters by name, with what is known of each without running it.

use trueplane_units::choices;

/// Properties of a limiter that are known without running it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Properties {
    /// Parameters and variables that its source names: each takes a word of 32 bits in hardware.
    pub words: &'static [&'static str],
    /// Whether it can drain by a table; the others multiply.
    pub has_table: bool,
    /// Whether `trueplane limit attach` can put it into the kernel.
    pub is_live: bool,
}

impl Properties {
    const REFERENCE: Self = Self { words: &[], has_table: false, is_live: false };
}

choices! {
    /// A limiter by name.
    pub enum PolicyName: Properties {
        /// Nimble's leaky bucket in 16 bytes.
        Nimble = "nimble" {
            words: &["time", "occupancy", "rate and threshold", "burst"],
            has_table: true,
            is_live: true,
        },
        /// The token bucket.
        TokenBucket = "token-bucket" { words: &["time", "tokens", "rate", "burst"], ..Properties::REFERENCE },
        /// The generic cell rate algorithm.
        Gcra = "gcra" { words: &["theoretical arrival", "increment", "tolerance"], ..Properties::REFERENCE },
        /// The single-rate meter of RFC 2697.
        SrTcm = "srtcm" { words: &["time", "Tc", "Te", "CIR", "CBS", "EBS"], ..Properties::REFERENCE },
        /// The two-rate meter of RFC 2698.
        TrTcm = "trtcm" {
            words: &["time", "Tp", "Tc", "PIR", "PBS", "CIR", "CBS"],
            ..Properties::REFERENCE
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Nimble;

    #[test]
    fn nimble_is_as_large_as_its_words() {
        assert_eq!(size_of::<Nimble>(), 4 * PolicyName::Nimble.properties().words.len());
    }
}
