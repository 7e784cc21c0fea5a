//! What all experiments share: their errors, how they tell what they are doing, the machine for themselves, and what they leave out.

use std::time::Duration;

use trueplane_linux::testnet;
use trueplane_study::Observer;

/// Error of an experiment. Every message is one line.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The test network.
    #[error(transparent)]
    Network(#[from] testnet::Error),
    /// The limits or the function.
    #[error(transparent)]
    Live(#[from] trueplane_linux::Error),
    /// Packets are missing: a mistake in this program.
    #[error("packets are missing, or there are too many: {0}")]
    Lost(String),
    /// The observer stopped it.
    #[error(transparent)]
    Stopped(#[from] trueplane_study::Error),
}

impl Error {
    /// The error of the study that this ends.
    fn of_study(self, observer: &dyn Observer) -> trueplane_study::Error {
        // Ctrl-C also reaches iperf3, whose end is then the first thing that is noticed.
        if observer.interrupted() {
            return trueplane_study::Error::Interrupted;
        }
        let message = self.to_string();
        match self {
            Self::Stopped(error) => error,
            Self::Live(trueplane_linux::Error::Request(_)) => trueplane_study::Error::Parameters(message),
            Self::Lost(_) => trueplane_study::Error::Internal(message),
            Self::Network(_) | Self::Live(_) => trueplane_study::Error::Unfinished(message),
        }
    }
}

/// Runs experiments while no others of this process run, once what ended processes left behind is gone.
pub(crate) fn alone<F>(
    observer: &dyn Observer,
    run: impl FnOnce() -> Result<F, Error>,
) -> Result<F, trueplane_study::Error> {
    observer.cleans_up();
    let _alone = testnet::alone();
    let swept = testnet::sweep().map_err(Error::from);
    swept.and_then(|()| run()).map_err(|error| error.of_study(observer))
}

/// Announces a measurement, unless it is not wanted any more.
pub(crate) fn step(observer: &dyn Observer, what: &str) -> Result<(), Error> {
    observer.go_on()?;
    observer.stage(what, 0);
    Ok(())
}

/// Something that was not measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The experiment or the measurement.
    pub what: String,
    /// Why it was not measured.
    pub reason: String,
}

/// The machine's load of the last minute.
pub(crate) fn load() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().and_then(|load| load.parse().ok()).unwrap_or(0.0)
}

/// A flow goes on for so long after it was measured: connecting took its time, and so did reading.
pub(crate) const REST: Duration = Duration::from_millis(100);

/// iperf3 counts in whole seconds.
pub(crate) fn whole_seconds(time: Duration) -> u32 {
    u32::try_from(time.as_millis().div_ceil(1000)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use trueplane_study::Error as StudyError;

    use super::*;

    /// Has been interrupted.
    struct Impatient;

    impl Observer for Impatient {
        fn interrupted(&self) -> bool {
            true
        }
    }

    #[test]
    fn an_interrupt_comes_before_what_it_breaks() {
        let broken = || Error::Network(testnet::Error::Setting("iperf3 ended".to_owned()));
        assert!(matches!(broken().of_study(&Impatient), StudyError::Interrupted));
        assert!(
            matches!(broken().of_study(&()), StudyError::Unfinished(message) if message == "iperf3 ended")
        );
        assert!(matches!(step(&Impatient, "more"), Err(Error::Stopped(StudyError::Interrupted))));
        let request = Error::Live(trueplane_linux::Error::Request("no such device".to_owned()));
        assert!(matches!(request.of_study(&()), StudyError::Parameters(_)));
    }
}
