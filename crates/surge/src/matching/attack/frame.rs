//! What a payload takes on the wire.

/// The smallest Ethernet frame, checksum and all: 64 bytes (IEEE 802.3 §4A.4.2).
pub const MINIMUM_BITS: u32 = 64 * 8;

/// The frame around a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Bytes of headers and checksum.
    pub headers: u32,
    /// The longest payload in bytes.
    pub longest: u32,
}

impl Default for Frame {
    /// Ethernet, IPv4 and TCP without options: 14 + 20 + 20 bytes, and 4 of checksum; 1460 bytes of payload.
    fn default() -> Self {
        Self { headers: 58, longest: 1460 }
    }
}

impl Frame {
    /// The bits of a frame with so many bytes of payload; saturates.
    pub fn bits(&self, payload: usize) -> u32 {
        let bytes = u32::try_from(payload).unwrap_or(u32::MAX).saturating_add(self.headers);
        bytes.saturating_mul(8).max(MINIMUM_BITS)
    }
}
