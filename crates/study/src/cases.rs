//! Runs the cases of a study on all threads.

use rayon::prelude::*;

use crate::{Error, Observer};

/// Returns the results of `work` on every case, in the order of the cases, whatever the number of threads.
///
/// The observer is asked before every case.
///
/// # Errors
/// The first error of `work`, or [`Error::Interrupted`].
pub fn over<C: Sync, R: Send>(
    cases: &[C],
    observer: &dyn Observer,
    work: impl Fn(&C) -> Result<R, Error> + Sync,
) -> Result<Vec<R>, Error> {
    let one = |case: &C| {
        observer.go_on()?;
        work(case)
    };
    cases.par_iter().map(one).collect()
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
