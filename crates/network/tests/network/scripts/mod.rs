//! The rules of the standards for senders, one script each. Times are in µs.

mod connection;
mod marks;
mod rack;
mod recovery;
mod reduction;

use trueplane_network::transport::{CongestionControl, LossRecovery, Sender, SenderSettings, WindowSettings};

/// Segment size of the senders in scripts, in bytes.
const SEGMENT: u32 = 1_000;

fn windows(initial: u32) -> WindowSettings {
    WindowSettings { initial, ..WindowSettings::standard(SEGMENT) }
}

fn standard() -> SenderSettings {
    SenderSettings::standard(SEGMENT)
}

fn sender<C: CongestionControl, R: LossRecovery>(control: C, recovery: R) -> Sender<C, R> {
    Sender::new(standard(), control, recovery).unwrap()
}
