//! The order in which tasks start as a file: `--schedule FILE`.

use std::fs;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;
use trueplane_sim::Error;
use trueplane_sim::error::without_code;
use trueplane_sim::fair::engine::Started;
use trueplane_sim::fair::policy::PolicyName;
use trueplane_sim::trace::TraceError;

use crate::failure::Failure;

/// What stands for the policy in the name of the file.
const POLICY: &str = "{policy}";

/// A CSV file of tasks in the order of their start, which is only there once it is whole.
pub(super) struct Schedule {
    path: PathBuf,
    out: csv::Writer<BufWriter<NamedTempFile>>,
}

impl Schedule {
    /// Begins one file for every policy, each beside where it will be.
    pub(super) fn create(path: &Path, policies: &[PolicyName]) -> Result<Vec<Self>, Failure> {
        let name = path.to_string_lossy();
        if policies.len() > 1 && !name.contains(POLICY) {
            return Err(Failure::input(format!(
                "--schedule is for one policy, and there are {}: name one, or write {POLICY} in the name of the file",
                policies.len()
            )));
        }
        let path_of = |policy: &PolicyName| PathBuf::from(name.replace(POLICY, policy.name()));
        policies.iter().map(|policy| Self::begin(&path_of(policy))).collect()
    }

    fn begin(path: &Path) -> Result<Self, Failure> {
        let refuse = |problem: &str| Failure::input(format!("--schedule {}: {problem}", path.display()));
        if path.is_dir() {
            return Err(refuse("it is a folder, and a file was expected"));
        }
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        fs::metadata(folder).map_err(|error| refuse(&without_code(&error)))?;
        // The error of what comes second names the temporary file.
        let file = NamedTempFile::new_in(folder)
            .map_err(|error| refuse(&without_code(&io::Error::from(error.kind()))))?;
        let mut schedule =
            Self { path: path.to_owned(), out: csv::Writer::from_writer(BufWriter::new(file)) };
        schedule.row(["task", "user", "submit_ns", "start_ns", "finish_ns"])?;
        Ok(schedule)
    }

    /// Adds a task of `user`.
    pub(super) fn add(&mut self, task: &Started, user: &str) -> Result<(), Error> {
        let number = |number: u64| number.to_string();
        let [submitted, start, end] = [task.submitted, task.start, task.end].map(|time| number(time.0));
        self.row([number(task.task.into()).as_str(), user, &submitted, &start, &end])
    }

    /// Puts the file where it belongs.
    pub(super) fn finish(self) -> Result<(), Failure> {
        let broken = |error: &io::Error| {
            Failure::other(format!("--schedule {}: {}", self.path.display(), without_code(error)))
        };
        let out = self.out.into_inner().map_err(|error| broken(error.error()))?;
        let file = out.into_inner().map_err(|error| broken(error.error()))?;
        file.persist(&self.path).map_err(|error| broken(&error.error))?;
        Ok(())
    }

    fn row<'a>(&mut self, cells: impl IntoIterator<Item = &'a str>) -> Result<(), Error> {
        self.out.write_record(cells).map_err(|error| {
            let source = io::Error::from(error);
            TraceError::Io { trace: format!("--schedule {}", self.path.display()), source }.into()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trueplane_core::units::Nanos;

    #[test]
    fn the_file_is_there_once_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("{policy}.csv");
        let policies = [PolicyName::Drf, PolicyName::Sdrf];
        let mut schedules = Schedule::create(&path, &policies).unwrap();
        let task = Started {
            task: 7,
            user: 0,
            submitted: Nanos(1),
            start: Nanos(10),
            end: Nanos(12),
            passed: false,
        };
        schedules[1].add(&task, "a, \"b\"").unwrap();
        assert!(!folder.path().join("sdrf.csv").exists());
        schedules.into_iter().for_each(|schedule| schedule.finish().unwrap());
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(read("drf.csv"), "task,user,submit_ns,start_ns,finish_ns\n");
        assert_eq!(read("sdrf.csv").lines().nth(1), Some("7,\"a, \"\"b\"\"\",1,10,12"));
        drop(Schedule::create(&folder.path().join("never.csv"), &policies[..1]).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "what was begun is gone");
        assert!(Schedule::create(&folder.path().join("two.csv"), &policies).is_err());
        assert!(Schedule::create(folder.path(), &policies[..1]).is_err());
        assert!(Schedule::create(&folder.path().join("no/such.csv"), &policies[..1]).is_err());
    }
}
