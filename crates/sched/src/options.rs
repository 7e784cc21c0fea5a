//! What no port has, whatever is studied on it.

use trueplane_pqueue::bank::MOST_QUEUES;
use trueplane_study::Error;

/// The buffer of a port holds so many packets at most: 50 MB for every run at a time, and more than any switch has.
pub const MOST_BUFFERED: u64 = 1 << 20;

/// Refuses a number of queues and a depth that no port has.
pub(super) fn check_buffer(queues: u64, depth: u64) -> Result<(), Error> {
    if !(1..=MOST_QUEUES).contains(&queues) {
        return Err(Error::Parameters(format!("--queues {queues}: expected 1 to {MOST_QUEUES}")));
    }
    let most = MOST_BUFFERED / queues;
    if !(1..=most).contains(&depth) {
        return Err(Error::Parameters(format!(
            "--depth {depth}: expected 1 to {most} packets with --queues {queues}, as the buffer holds {MOST_BUFFERED} packets at most"
        )));
    }
    Ok(())
}
