//! Reads a log, whatever its format.

use std::path::Path;

use trueplane_study::{Error, Observer};
use trueplane_trace::{LogFile, Rows, name_of};

use super::alibaba::{self, List};
use super::builder::whole;
use super::reading::Progress;
use super::{JobLog, JobsSource, LogFormat, LogOptions, csv, google, kubernetes, slurm, swf};

/// Reads or draws the tasks of `source`; gzip, zstd and xz are undone.
///
/// Memory: 24 bytes for a task, and what tasks need and users are called once each; the file is never in memory as a whole, and of
/// Google's events only the tasks that are waiting or running. Time: linear, and a sort where tasks are not in order of submission.
///
/// # Errors
///
/// There is no such file or it is not as it should be, `options` contradict it, there are no tasks, or the observer interrupts.
pub fn load(source: &JobsSource, options: &LogOptions, observer: &dyn Observer) -> Result<JobLog, Error> {
    match source {
        JobsSource::Generated(generate) => {
            if *options != LogOptions::default() {
                let problem = "how to read a log means nothing where tasks are generated: \
                               expected no format, unit, user or resources";
                return Err(Error::Parameters(problem.to_owned()));
            }
            generate.draw(observer)
        }
        JobsSource::Path(path) if path.is_dir() => read_directory(path, options, observer),
        JobsSource::Path(path) => read_file(name_of(path), &LogFile::open(path)?, options, observer),
    }
}

/// The log that `bytes` hold, called `name` in errors.
///
/// # Errors
///
/// As [`load()`].
pub fn from_bytes(
    name: &str,
    bytes: Vec<u8>,
    options: &LogOptions,
    observer: &dyn Observer,
) -> Result<JobLog, Error> {
    read_file(name.to_owned(), &LogFile::from_bytes(name, bytes), options, observer)
}

fn read_file(
    name: String,
    file: &LogFile,
    options: &LogOptions,
    observer: &dyn Observer,
) -> Result<JobLog, Error> {
    let is_json = file.is_json()?;
    if is_json && options.format.is_none_or(LogFormat::is_json) {
        let text = file.text()?;
        check(options.format.unwrap_or(LogFormat::Kubernetes), options)
            .map_err(|problem| text.error_whole(problem))?;
        let mut progress = Progress::new(observer, text.bytes());
        return kubernetes::read(name, text, options, &mut progress);
    }
    let rows = file.rows()?;
    if rows.cells() == 0 {
        if rows.has_comments() {
            return Err(rows
                .error_whole("expected jobs in the Standard Workload Format, found comments only")
                .into());
        }
        let problem = "expected a header with submit, duration or finish, user and resources, found no line";
        return Err(rows.error_whole(problem).into());
    }
    let format = options.format.unwrap_or_else(|| detect(&rows));
    check(format, options).map_err(|problem| rows.error_whole(problem))?;
    let mut progress = Progress::new(observer, rows.bytes());
    match format {
        LogFormat::Csv => csv::read(name, rows, options, &mut progress),
        LogFormat::Google2011 => google::read_file(name, rows, options, &mut progress),
        LogFormat::Alibaba2023 => alibaba::read(name, rows, List::Pods, options, &mut progress),
        LogFormat::Alibaba2025 => alibaba::read(name, rows, List::Instances, options, &mut progress),
        LogFormat::Slurm => slurm::read(name, rows, options, &mut progress),
        LogFormat::Swf => swf::read(name, rows, options, &mut progress),
        LogFormat::Kubernetes | LogFormat::Kueue => {
            Err(rows.error_whole(format!("expected JSON of the format {format}, found none")).into())
        }
    }
}

fn read_directory(path: &Path, options: &LogOptions, observer: &dyn Observer) -> Result<JobLog, Error> {
    let format = options.format.unwrap_or(LogFormat::Google2011);
    let problem = if format == LogFormat::Google2011 {
        check(format, options).err()
    } else {
        Some(format!("expected a file of the format {format}, found a directory"))
    };
    match problem {
        Some(problem) => Err(whole(name_of(path), problem).into()),
        None => google::read_directory(path, options, observer),
    }
}

/// The format of a log with this first row.
fn detect(rows: &Rows) -> LogFormat {
    let has =
        |name: &str| (0..rows.cells()).any(|place| rows.cell(place).eq_ignore_ascii_case(name.as_bytes()));
    if google::is_event(rows) {
        LogFormat::Google2011
    } else if has("cpu_milli") && has("pod_phase") {
        LogFormat::Alibaba2023
    } else if has("instance_sn") && has("app_name") {
        LogFormat::Alibaba2025
    } else if slurm::is_header(rows) {
        LogFormat::Slurm
    } else if rows.has_comments() || swf::is_job(rows) {
        LogFormat::Swf
    } else {
        LogFormat::Csv
    }
}

/// Options that mean nothing for `format`: better refused than silently ignored.
fn check(format: LogFormat, options: &LogOptions) -> Result<(), String> {
    if options.time_unit.is_some() && format != LogFormat::Csv {
        return Err(format!("--time-unit means nothing for the format {format}"));
    }
    if options.user.is_some() && format == LogFormat::Google2011 {
        return Err(format!("--user means nothing for the format {format}"));
    }
    let Some(names) = &options.resources else { return Ok(()) };
    match names.iter().enumerate().find(|(at, name)| names[..*at].contains(name)) {
        Some((_, name)) => Err(format!("expected one resource {}, got two", name.escape_debug())),
        None if names.is_empty() => Err("expected the names of resources, got none".to_owned()),
        None => Ok(()),
    }
}
