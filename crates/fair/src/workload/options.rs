//! What a user may say about a log that the log does not say itself.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use trueplane_trace::{TimeUnit, name_of};
use trueplane_units::{Datum, Value, choices, unexpected};

use super::generate::Generate;

/// Source of the tasks, as people write it.
#[derive(Clone, Debug, PartialEq)]
pub enum JobsSource {
    /// A file, `-` being standard input, or a directory of parts.
    Path(PathBuf),
    /// Drawn ones: `generate` or `generate:users=600,tasks=1M`.
    Generated(Generate),
}

impl FromStr for JobsSource {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once(':').unwrap_or((text, "")) {
            ("generate", keys) => keys.parse().map(JobsSource::Generated),
            _ if text.is_empty() => Err(unexpected(<Self as Value>::expected(), text)),
            _ => Ok(JobsSource::Path(text.into())),
        }
    }
}

impl Value for JobsSource {
    fn expected() -> String {
        "a log of tasks: FILE, -, a directory or generate:…".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        text.parse()
    }

    fn show(&self) -> String {
        match self {
            JobsSource::Path(path) => path.display().to_string(),
            JobsSource::Generated(generate) => generate.name(),
        }
    }

    fn datum(&self) -> Datum {
        Datum::Text(self.show())
    }

    fn absent() -> Option<Self> {
        Some(JobsSource::Path(PathBuf::new()))
    }
}

impl JobsSource {
    /// The name in titles and errors.
    pub fn title(&self) -> String {
        match self {
            JobsSource::Path(path) => name_of(path),
            JobsSource::Generated(_) => self.show(),
        }
    }

    /// Whether it is standard input.
    pub fn is_stdin(&self) -> bool {
        matches!(self, JobsSource::Path(path) if path == Path::new("-"))
    }
}

/// Options for reading a log; whatever is `None` is found out from the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogOptions {
    /// The format. By itself a directory is Google's, and so is a file whose first row has its thirteen columns; the columns that a
    /// header names tell the others.
    pub format: Option<LogFormat>,
    /// CSV only: the unit of plain numbers that are times. Default: the suffix of the column's name (`submit_ms`), else seconds.
    pub time_unit: Option<TimeUnit>,
    /// All but Google's: the column that says whose a task is. Default: `user`; for Alibaba's lists `qos` (2023) and `app_name` (2025).
    pub user: Option<String>,
    /// Columns that are counted as resources. Default for CSV: every column that means nothing else, which then has to hold numbers: no
    /// time, no user, and none of the usual names of what is no amount, such as `job_id`, `priority`, `status` or `queue`; those that are
    /// not read are told ([`super::JobLog::left_out`]). For others see [`LogFormat`].
    pub resources: Option<Vec<String>>,
}

choices! {
    /// The format of a log.
    pub enum LogFormat {
        /// Rows with named columns.
        Csv = "csv",
        /// Google's `task_events` of 2011: resources `cpu`, `memory`, and `disk` if you ask for it.
        Google2011 = "google2011",
        /// Alibaba's list of pods of 2023 (`openb_pod_list`): resources `cpu`, `memory`, `gpu`.
        Alibaba2023 = "alibaba2023",
        /// Alibaba's list of instances of 2025 (`disaggregated_DLRM_trace`): resources `cpu`, `gpu`, `rdma`, `memory`, `disk`.
        Alibaba2025 = "alibaba2025",
        /// Slurm's accounting, by `sacct --parsable2`: resources `cpu`, `memory` in GiB, `gpu`, and `node` if you ask for it.
        Slurm = "slurm",
        /// The Standard Workload Format: resource `cpu`, and `memory` in GiB if you ask for it.
        Swf = "swf",
        /// Pods of Kubernetes, by `kubectl get pods -A -o json`: resources `cpu`, `memory` in GiB and `gpu`, or any that you name.
        Kubernetes = "kubernetes",
        /// Workloads of Kueue, by `kubectl get workloads -A -o json`: resources as of pods.
        Kueue = "kueue",
    }
}

impl LogFormat {
    /// Whether its logs are in JSON.
    pub fn is_json(self) -> bool {
        matches!(self, Self::Kubernetes | Self::Kueue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_and_formats_have_names() {
        assert_eq!("jobs.csv".parse(), Ok(JobsSource::Path("jobs.csv".into())));
        assert_eq!("-".parse(), Ok(JobsSource::Path("-".into())));
        assert_eq!("./generate".parse(), Ok(JobsSource::Path("./generate".into())));
        assert_eq!("generate".parse(), Ok(JobsSource::Generated(Generate::default())));
        assert_eq!("generate".parse::<JobsSource>(), "generate:".parse());
        assert!("generate:users=0".parse::<JobsSource>().is_err());
        assert!("".parse::<JobsSource>().is_err());
        let unknown = "google2019".parse::<LogFormat>().unwrap_err().to_string();
        assert_eq!(
            unknown,
            "expected one of csv, google2011, alibaba2023, alibaba2025, slurm, swf, kubernetes, kueue, got \"google2019\""
        );
    }
}
