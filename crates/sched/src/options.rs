//! What no port has, whatever is studied on it.

use trueplane_pqueue::bank::MOST_QUEUES;
use trueplane_study::Error;
use trueplane_units::{Datum, Shape, Value, Within, unexpected};

/// The length of a packet, up to what IP can carry. People write it in bytes, with or without the unit: `1500`, `1500B`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketSize(pub u32);

/// The lengths in bytes.
type Length = Within<u32, 1, 65_535>;

impl Value for PacketSize {
    const UNIT: &'static str = "bytes";
    const SHAPE: Shape = Length::SHAPE;

    fn expected() -> String {
        Length::expected()
    }

    fn range() -> Option<String> {
        Length::range()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let bytes = text.trim().strip_suffix('B').unwrap_or(text);
        Length::parse(bytes).map(|length| Self(*length)).map_err(|_| unexpected(Self::expected(), text))
    }

    fn show(&self) -> String {
        format!("{}B", self.0)
    }

    fn datum(&self) -> Datum {
        Datum::Integer(self.0.into())
    }
}

/// The buffer of a port holds so many packets at most: 50 MB for every run at a time, and more than any switch has.
pub const MOST_BUFFERED: u64 = 1 << 20;

/// Refuses a number of queues and a depth that no port has.
pub(super) fn check_buffer(queues: u64, depth: u64) -> Result<(), Error> {
    if !(1..=MOST_QUEUES).contains(&queues) {
        return Err(Error::Parameters(format!("expected 1 to {MOST_QUEUES} queues, got {queues}")));
    }
    let most = MOST_BUFFERED / queues;
    if !(1..=most).contains(&depth) {
        return Err(Error::Parameters(format!(
            "expected a depth of 1 to {most} packets for {queues} queues, which is {MOST_BUFFERED} packets of buffer, got {depth}"
        )));
    }
    Ok(())
}
