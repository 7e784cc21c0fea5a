//! Shows what a study is doing, and stops it on Ctrl-C.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use trueplane_study::Observer;

use crate::failure::Failure;
use crate::platform;
use crate::progress::Progress;

/// A study looks at the flag more often than this, unless it waits for input that does not come.
const PATIENCE: Duration = Duration::from_secs(1);

/// Draws a progress bar and listens for Ctrl-C.
///
/// The first Ctrl-C raises a flag that the study looks at. A study that does not look, as it waits for a pipe, is ended all the
/// same, and so is any at the second Ctrl-C.
pub(crate) struct Watch {
    bar: Arc<Mutex<Option<Arc<Progress>>>>,
    interrupted: Arc<AtomicBool>,
    /// Whether the study knows that it was interrupted.
    knows: Arc<AtomicBool>,
    began: Instant,
    is_quiet: bool,
}

impl Watch {
    /// Starts to listen and the clock; once a process. Without a bar if it is to be quiet.
    #[expect(clippy::disallowed_methods, reason = "drivers read the clock, and this is one")]
    pub(crate) fn start(is_quiet: bool) -> Result<Self, Failure> {
        let (interrupted, knows) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let bar: Arc<Mutex<Option<Arc<Progress>>>> = Arc::default();
        let (flag, known, drawn) = (interrupted.clone(), knows.clone(), bar.clone());
        let end = move || {
            take_off(&drawn);
            std::process::exit(Failure::interrupted().print().into());
        };
        let listen = platform::on_ctrl_c(move || {
            // The second time somebody is in earnest.
            if flag.swap(true, Ordering::Relaxed) {
                end();
            }
            let (known, end) = (known.clone(), end.clone());
            thread::spawn(move || {
                thread::sleep(PATIENCE);
                if !known.load(Ordering::Relaxed) {
                    end();
                }
            });
        });
        listen.map_err(|error| Failure::other(format!("cannot listen for Ctrl-C: {error}")))?;
        Ok(Self { bar, interrupted, knows, began: Instant::now(), is_quiet })
    }

    /// Raised on Ctrl-C. The caller has to look at it.
    pub(crate) fn interrupted_flag(&self) -> &AtomicBool {
        self.cleans_up();
        &self.interrupted
    }

    /// Takes the bar off the screen.
    pub(crate) fn finish(&self) {
        take_off(&self.bar);
    }
}

fn take_off(bar: &Mutex<Option<Arc<Progress>>>) {
    *bar.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

impl Observer for Watch {
    fn stage(&self, name: &str, total: u64) {
        if self.is_quiet {
            return;
        }
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

    fn cleans_up(&self) {
        self.knows.store(true, Ordering::Relaxed);
    }

    fn elapsed(&self) -> Option<Duration> {
        Some(self.began.elapsed())
    }

    fn interrupted(&self) -> bool {
        let interrupted = self.interrupted.load(Ordering::Relaxed);
        if interrupted {
            self.knows.store(true, Ordering::Relaxed);
        }
        interrupted
    }
}
