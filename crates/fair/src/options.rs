//! Parameters that studies of a log on a cluster share.

use trueplane_study::{Error, Observer};
use trueplane_units::{Nanos, parameters};

use crate::span::Span;
use crate::weights::{UserWeights, Weights};
use crate::workload::{JobLog, JobsSource, LogReading};

/// Heading of help texts for what else the simulated cluster does.
const SCENARIO: &str = "The scenario";

parameters! {
    /// Options of the cluster that runs the tasks.
    #[derive(Clone, Debug)]
    pub struct Scenario {
        /// Weights of users: ann=2,bob=3, or a CSV file with the columns user and weight.
        pub weights: Weights => { value: "WEIGHTS", default_words: "1 for everybody" },
        /// Let tasks that fit start before the next one if that one does not fit.
        pub backfill: bool => { heading: SCENARIO },
        /// Time after the first submission by which a task must end to count as completed. For example, 30d.
        pub horizon: Option<Span> =>
            { value: "TIME", default_words: "when the log would end if nobody ever waited", heading: SCENARIO },
    }
    including {
        /// Options for reading the log.
        pub reading: LogReading,
    }
}

impl Scenario {
    /// The horizon, if it was given.
    pub fn horizon(&self) -> Option<Nanos> {
        self.horizon.map(Span::get)
    }

    /// Reads the log and the weights.
    ///
    /// # Errors
    ///
    /// A parameter means nothing for the log, or one of both cannot be read.
    pub fn read(&self, jobs: &JobsSource, observer: &dyn Observer) -> Result<(JobLog, UserWeights), Error> {
        self.reading.check(jobs)?;
        if jobs.is_stdin() && matches!(&self.weights, Weights::File(path) if path.as_os_str() == "-") {
            return Err(Error::Parameters("the log and --weights cannot both be standard input".to_owned()));
        }
        let weights = self.weights.read()?;
        Ok((self.reading.load(jobs, observer)?, weights))
    }
}
