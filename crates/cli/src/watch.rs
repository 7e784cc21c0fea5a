//! Shows what a study is doing, and stops it on Ctrl-C.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use trueplane_sim::Observer;

use crate::failure::Failure;
use crate::progress::Progress;

/// Draws a progress bar and listens for Ctrl-C.
pub(crate) struct Watch {
    bar: Mutex<Option<Arc<Progress>>>,
    interrupted: Arc<AtomicBool>,
    began: Instant,
}

impl Watch {
    /// Starts to listen and the clock; once a process.
    #[expect(clippy::disallowed_methods, reason = "drivers read the clock, and this is one")]
    pub(crate) fn start() -> Result<Self, Failure> {
        let interrupted = Arc::new(AtomicBool::new(false));
        let flag = interrupted.clone();
        let listen = ctrlc::set_handler(move || {
            // The second time somebody is in earnest.
            if flag.swap(true, Ordering::Relaxed) {
                std::process::exit(1);
            }
        });
        listen.map_err(|error| Failure::other(format!("cannot listen for Ctrl-C: {error}")))?;
        Ok(Self { bar: Mutex::new(None), interrupted, began: Instant::now() })
    }

    /// Raised on Ctrl-C.
    pub(crate) fn interrupted_flag(&self) -> &AtomicBool {
        &self.interrupted
    }

    /// Takes the bar off the screen.
    pub(crate) fn finish(&self) {
        *self.bar.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Observer for Watch {
    fn stage(&self, name: &str, total: u64) {
        let mut bar = self.bar.lock().unwrap_or_else(PoisonError::into_inner);
        // The old bar must be off the screen before the new one is on it.
        *bar = None;
        *bar = Some(Arc::new(Progress::new(name, total)));
    }

    fn advance(&self, units: u64) {
        let bar = self.bar.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(bar) = bar {
            bar.inc(units);
        }
    }

    fn tell(&self, news: &str) {
        let bar = self.bar.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(bar) = bar {
            bar.tell(news);
        }
    }

    fn elapsed(&self) -> Option<Duration> {
        Some(self.began.elapsed())
    }

    fn interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}
