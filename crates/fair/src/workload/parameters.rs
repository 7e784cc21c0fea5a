//! Parameters that say how to read or draw a log, for every study that runs one.

use std::fmt;
use std::str::FromStr;

use trueplane_study::{Error, Observer};
use trueplane_trace::TimeUnit;
use trueplane_units::{List, parameters, text_value, unexpected};

use super::load::load;
use super::log::JobLog;
use super::options::{JobsSource, LogFormat, LogOptions};

const HEADING: &str = "Log";

parameters! {
    /// Options for reading or drawing a log.
    #[derive(Clone, Debug)]
    pub struct LogReading {
        /// Format of the log.
        pub format: Option<LogFormat> =>
            { value: "FORMAT", default_words: "detected", heading: HEADING },
        /// Unit of times that are plain numbers. For csv only. A column's name can end in its unit, as submit_ms does.
        pub time_unit: Option<TimeUnit> => {
            value: "UNIT", default_words: "the column name's suffix, else s", heading: HEADING,
        },
        /// Column that names the user of a task; not for google2011. For swf: user, group, queue or partition. For kubernetes: namespace, serviceaccount or
        /// label:KEY. For kueue: queue, clusterqueue, namespace or label:KEY.
        pub user: Option<ColumnName> => {
            value: "COLUMN", default_words: "user; for alibaba2023 qos, for alibaba2025 app_name, for kubernetes namespace, for kueue queue", heading: HEADING,
        },
        /// Columns that count as resources, such as cpu,memory.
        ///
        /// For csv, the default is every column except times, user, and usual names of columns without amounts, such as job_id, priority or
        /// status. For google2011 it is cpu,memory, and you can add disk. For slurm it is cpu,memory,gpu, and you can add node. For swf it is cpu, and
        /// you can add memory. For kubernetes and kueue it is cpu,memory,gpu, and you can name any resource of Kubernetes. For the others it is all.
        pub resources: Option<List<ColumnName>> => {
            value: "NAMES", default_words: "depends on the format", heading: HEADING,
        },
        /// Seed of the random number generator, for generate:… only.
        pub seed: Option<u64> => { value: "SEED", default_words: "1", heading: HEADING },
    }
}

impl LogReading {
    /// Refuses what means nothing for this source.
    pub(crate) fn check(&self, jobs: &JobsSource) -> Result<(), Error> {
        match jobs {
            JobsSource::Path(_) if self.seed.is_some() => {
                Err(Error::Parameters("--seed is for generate:…, and nothing is drawn for a log".to_owned()))
            }
            _ => Ok(()),
        }
    }

    /// Reads or draws the log.
    ///
    /// # Errors
    ///
    /// As [`load()`].
    pub fn load(&self, jobs: &JobsSource, observer: &dyn Observer) -> Result<JobLog, Error> {
        let options = LogOptions {
            format: self.format,
            time_unit: self.time_unit,
            user: self.user.as_ref().map(ToString::to_string),
            resources: self.resources.as_ref().map(|names| names.iter().map(ToString::to_string).collect()),
        };
        load(&self.source(jobs), &options, observer)
    }

    /// The source with the seed of `--seed`, if that is given.
    pub(crate) fn source(&self, jobs: &JobsSource) -> JobsSource {
        let mut source = jobs.clone();
        if let (JobsSource::Generated(generate), Some(seed)) = (&mut source, self.seed) {
            generate.seed = seed;
        }
        source
    }
}

/// The name of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnName(String);

const COLUMN: &str = "the name of a column";

impl FromStr for ColumnName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.is_empty() { Err(unexpected(COLUMN, text)) } else { Ok(Self(text.to_owned())) }
    }
}

impl fmt::Display for ColumnName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

text_value!(ColumnName, COLUMN);
