//! Runs the cases of a study on all threads.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use rayon::prelude::*;

use crate::{Error, Observer};

/// Returns the results of `work` on every case, in the order of the cases, whatever the number of threads.
///
/// The observer is asked before every case.
///
/// # Errors
/// [`Error::Interrupted`], or the error of the first case that fails, in the order of the cases and so whatever the number of threads.
/// Cases after it may be left out.
pub fn over<C: Sync, R: Send>(
    cases: &[C],
    observer: &dyn Observer,
    work: impl Fn(&C) -> Result<R, Error> + Sync,
) -> Result<Vec<R>, Error> {
    // Place of the first case that has failed so far: no case before it is left out.
    let failed = AtomicUsize::new(usize::MAX);
    let one = |(place, case)| {
        if place > failed.load(Relaxed) {
            return None;
        }
        let result = observer.go_on().and_then(|()| work(case));
        if result.is_err() {
            failed.fetch_min(place, Relaxed);
        }
        Some(result)
    };
    let results: Vec<Option<Result<R, Error>>> = cases.par_iter().enumerate().map(one).collect();
    results.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_in_the_order_of_cases() {
        let cases: Vec<u64> = (0..100).collect();
        assert_eq!(
            over(&cases, &(), |case| Ok(case * 2)).unwrap(),
            (0..100).map(|case| case * 2).collect::<Vec<_>>()
        );
    }

    #[test]
    fn the_first_error_is_the_same_on_any_number_of_threads() {
        let cases: Vec<u64> = (0..100).collect();
        let failing =
            |&case: &u64| if case % 10 == 3 { Err(Error::Parameters(case.to_string())) } else { Ok(()) };
        for threads in [1, 3, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            for _ in 0..50 {
                let error = pool.install(|| over(&cases, &(), failing)).unwrap_err();
                assert_eq!(error.to_string(), "3");
            }
        }
    }

    #[test]
    fn the_observer_ends_it() {
        struct Impatient;
        impl Observer for Impatient {
            fn interrupted(&self) -> bool {
                true
            }
        }
        let done =
            over(&[1], &Impatient, |_| -> Result<(), Error> { unreachable!("it was interrupted before") });
        assert!(matches!(done, Err(Error::Interrupted)));
    }
}
