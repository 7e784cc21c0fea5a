//! How long work tells what it is doing, and how it is told to stop.

use std::time::Duration;

use crate::Error;

/// Watches a simulation. All methods may be called from several threads.
pub trait Observer: Sync {
    /// A new stage of the work begins, of `total` units.
    fn stage(&self, name: &str, total: u64) {
        let _ = (name, total);
    }

    /// Tells that `units` more units of the stage are done.
    fn advance(&self, units: u64) {
        let _ = units;
    }

    /// Tells the state of the work so far, in a few words.
    fn tell(&self, news: &str) {
        let _ = news;
    }

    /// Tells that the work has things to take away before it ends. It is left the time for that when it is interrupted.
    fn cleans_up(&self) {}

    /// Time since the work began. An observer without a clock says nothing, and no time limit is ever reached.
    fn elapsed(&self) -> Option<Duration> {
        None
    }

    /// Whether the work should stop as soon as it can.
    fn interrupted(&self) -> bool {
        false
    }

    /// Returns at once unless the work should stop.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if it should.
    fn go_on(&self) -> Result<(), Error> {
        if self.interrupted() { Err(Error::Interrupted) } else { Ok(()) }
    }
}

/// Watches nothing.
impl Observer for () {}
