//! Sizes of packets as people write them: `64B`, `4000bit`.

use std::fmt;
use std::str::FromStr;

use trueplane_units::{Bytes, Datum, Shape, Value, scale_decimal, unexpected};

/// The size of a packet on the wire, in bits; above zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Size(u32);

const EXPECTED: &str = "a packet size from 1bit to 4294967295bit such as 64B or 4000bit";

impl Value for Size {
    const UNIT: &'static str = "bits";
    const SHAPE: Shape = Shape::NUMBER;

    fn expected() -> String {
        EXPECTED.to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        text.parse()
    }

    fn show(&self) -> String {
        match self.0 {
            bits if bits.is_multiple_of(8) => Bytes(u64::from(bits / 8)).show(),
            bits => format!("{bits}bit"),
        }
    }

    fn datum(&self) -> Datum {
        Datum::Integer(self.0.into())
    }
}

/// Units of bits; those of bytes are [`Bytes`]'s.
const BIT_UNITS: [(&str, u64); 6] =
    [("kbit", 1_000), ("Mbit", 1_000_000), ("bit", 1), ("kb", 1_000), ("Mb", 1_000_000), ("b", 1)];

impl Size {
    /// `None` for zero.
    pub fn new(bits: u32) -> Option<Self> {
        (bits > 0).then_some(Self(bits))
    }

    /// The size in bits.
    pub fn bits(self) -> u32 {
        self.0
    }
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let in_bits = BIT_UNITS.iter().find_map(|(unit, scale)| {
            let number = text.strip_suffix(unit)?.trim_end();
            number.ends_with(|last: char| last.is_ascii_digit()).then(|| scale_decimal(number, *scale))
        });
        let bits = in_bits.unwrap_or_else(|| text.parse().ok().and_then(|Bytes(bytes)| bytes.checked_mul(8)));
        let size = bits.and_then(|bits| u32::try_from(bits).ok()).and_then(Self::new);
        size.ok_or_else(|| unexpected(EXPECTED, text))
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bits if bits.is_multiple_of(8) => f.pad(&format!("{}", Bytes(u64::from(bits / 8)))),
            bits => f.pad(&format!("{bits}bit")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_bits_or_bytes() {
        let bits = |text: &str| text.parse::<Size>().map(Size::bits);
        for (text, expected) in [
            ("64B", 512),
            ("4000b", 4000),
            ("4000bit", 4000),
            ("4kb", 4000),
            ("1.5 kbit", 1500),
            ("2Mbit", 2_000_000),
            ("1KiB", 8192),
            ("0.5B", 8),
            ("1bit", 1),
        ] {
            assert_eq!(bits(text), Ok(expected), "{text}");
        }
        for bad in
            ["", "64", "B", "b", "bit", "0B", "0bit", "-1B", "1e3B", "NaNb", "1GB", "5000000kb", "1.2.3b"]
        {
            assert!(bits(bad).is_err(), "{bad}");
        }
        assert_eq!(
            "64".parse::<Size>().unwrap_err(),
            "expected a packet size from 1bit to 4294967295bit such as 64B or 4000bit, got \"64\""
        );
    }

    #[test]
    fn sizes_are_printed_in_bytes_where_they_are_some() {
        assert_eq!([Size(512), Size(4001)].map(|size| size.to_string()), ["64B", "4001bit"]);
    }
}
