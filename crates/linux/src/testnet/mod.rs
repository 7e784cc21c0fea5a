//! Networks for live tests: namespaces and multi-queue veth pairs that a test makes and that go when it ends.
//!
//! 1. [`Namespace`]: one network namespace; closures and commands run within.
//! 2. [`Pair`], [`Dumbbell`], [`Spliced`]: what is connected to what.
//! 3. [`Iperf`]: iperf3 between two namespaces, its report read.
//! 4. [`Paced`], [`Sink`]: UDP at a constant rate, and what of it arrived.
//! 5. [`Probe`]: round-trip times, alone or beside other traffic.
//! 6. [`Flows`]: many TCP flows that begin at once; [`WindowSample`]: the window that one has.
//! 7. [`DelayLine`]: a longer round trip, also behind a port with a rate and a queue.
//!
//! All addresses lie in 10.203.0.0/16 and fd10:203::/32 and exist within the namespaces only. Neighbours are permanent and
//! no address configures itself, so that no packet is on the wire but the test's; a further address of a host goes on its
//! `lo`, with a route there by the host's own address. Everything is bounded in time.
//!
//! ```no_run
//! use trueplane_linux::testnet::{self, Iperf, Pair, Requirement};
//!
//! let Some(net) = testnet::start(&[Requirement::Iperf3], Pair::new) else { return };
//! let report = Iperf::tcp(1).run(&net.left, &net.right).unwrap();
//! println!("{}", report.goodput);
//! ```

mod command;
mod delay;
mod error;
mod flows;
mod iperf;
mod namespace;
mod pace;
mod probe;
mod require;
mod spliced;
mod topology;
mod window;

use std::sync::{Once, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

pub use command::Running;
pub use delay::{DelayLine, Fifo};
pub use error::Error;
pub use flows::{Flows, Sending};
pub use iperf::{Iperf, IperfReport, IperfRun};
pub use namespace::{Namespace, sweep};
pub use pace::{Paced, Received, Sent, Sink};
pub use probe::{Probe, ProbeReport, ProbeRun, Transport};
pub use require::{Requirement, check};
pub use spliced::Spliced;
pub use topology::{Bottleneck, Dumbbell, Host, Options, Pair, Router};
pub use window::WindowSample;

/// Returns the network that `build` makes, or `None` after one line on stderr that says which requirement is missing.
///
/// # Panics
/// Where everything required is there and the network cannot be built all the same: a test must not pass by that.
pub fn start<N>(requirements: &[Requirement], build: impl FnOnce() -> Result<N, Error>) -> Option<N> {
    if let Err(reason) = check(requirements) {
        require::report_skip(&reason);
        return None;
    }
    static SWEPT: Once = Once::new();
    SWEPT.call_once(|| sweep().unwrap_or_else(|error| panic!("the test network: {error}")));
    Some(build().unwrap_or_else(|error| panic!("the test network: {error}")))
}

/// Lock of [`alone`] and [`together`]: whoever is alone writes.
static COMPANY: RwLock<()> = RwLock::new(());

/// Held by a test that measures, or that keeps every core busy: of its process no other such test runs meanwhile, and none that holds
/// [`together`].
pub fn alone() -> RwLockWriteGuard<'static, ()> {
    // A test that failed while it held this has nothing to do with the next.
    COMPANY.write().unwrap_or_else(PoisonError::into_inner)
}

/// Held by a test that puts up with others beside it and would disturb one that is [`alone`]: many hold this at once.
pub fn together() -> RwLockReadGuard<'static, ()> {
    COMPANY.read().unwrap_or_else(PoisonError::into_inner)
}
