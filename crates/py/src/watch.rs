//! A study runs beside Python's thread, which looks after its progress and after Ctrl-C.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use rayon::ThreadPoolBuilder;
use trueplane_study::Observer;

use crate::errors;

/// Time between two looks at the progress and at signals.
const LOOK: Duration = Duration::from_millis(50);

/// Time that a study has to end in after Ctrl-C. One that waits for a pipe is left behind.
const PATIENCE: Duration = Duration::from_secs(2);

/// Progress of the stage that a study is in.
#[derive(Clone, Debug, Default)]
struct Stage {
    /// Grows with every stage.
    number: u64,
    name: String,
    total: u64,
    done: u64,
    news: String,
}

/// The state that the study and Python share.
struct Shared {
    stage: Mutex<Stage>,
    interrupted: AtomicBool,
    began: Instant,
}

impl Shared {
    fn change(&self, change: impl FnOnce(&mut Stage)) {
        change(&mut self.stage.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Observer for Shared {
    fn stage(&self, name: &str, total: u64) {
        self.change(|stage| {
            *stage = Stage { number: stage.number + 1, name: name.to_owned(), total, ..Stage::default() };
        });
    }

    fn advance(&self, units: u64) {
        self.change(|stage| stage.done += units);
    }

    fn tell(&self, news: &str) {
        self.change(|stage| news.clone_into(&mut stage.news));
    }

    fn elapsed(&self) -> Option<Duration> {
        Some(self.began.elapsed())
    }

    fn interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}

/// Runs `work` on a pool of `threads` threads (one for each core, if there is no number), without the interpreter's lock.
///
/// `progress` is called with the number of the stage, its name, its units in all, the units done and news, a few times a second. Ctrl-C and any
/// exception of `progress` stop the work, and are returned.
#[expect(clippy::disallowed_methods, reason = "drivers read the clock, and this is one")]
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    threads: Option<u16>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&dyn Observer) -> T + Send + 'static,
) -> PyResult<T> {
    let pool = ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0).into()).build();
    let pool = pool.map_err(|error| errors::internal(format!("cannot start threads: {error}")))?;
    let shared = Arc::new(Shared {
        stage: Mutex::default(),
        interrupted: AtomicBool::new(false),
        began: Instant::now(),
    });
    let (give, take) = mpsc::channel();
    // A receiver is for one thread at a time.
    let take = Mutex::new(take);
    let wait = |time| take.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(time);
    let watched = Arc::clone(&shared);
    let worker = thread::Builder::new().name("trueplane".to_owned()).spawn(move || {
        let outcome = catch_unwind(AssertUnwindSafe(|| pool.install(|| work(&*watched))));
        // Nobody listens if Python was interrupted meanwhile.
        let _ = give.send(outcome);
    });
    worker.map_err(|error| errors::internal(format!("cannot start a thread: {error}")))?;
    let mut shown = None;
    loop {
        if let Ok(outcome) = py.detach(|| wait(LOOK)) {
            return outcome.map_err(|panic| errors::internal(reason(&*panic)));
        }
        let stage = shared.stage.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let seen = (stage.number, stage.done, stage.news.clone());
        let told = match progress {
            Some(progress) if stage.number > 0 && shown.as_ref() != Some(&seen) => {
                progress.call1((stage.number, stage.name, stage.total, stage.done, stage.news)).map(drop)
            }
            _ => Ok(()),
        };
        shown = Some(seen);
        if let Err(error) = told.and_then(|()| py.check_signals()) {
            shared.interrupted.store(true, Ordering::Relaxed);
            // What comes of it is not wanted any more.
            let _ = py.detach(|| wait(PATIENCE));
            return Err(error);
        }
    }
}

/// The message of a panic, for an exception.
fn reason(panic: &(dyn std::any::Any + Send)) -> String {
    let said = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    format!("trueplane has an error, please report it: {}", said.unwrap_or("unknown"))
}
