//! The order in which tasks start as a file: `--schedule FILE`.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Seek as _, Write};
use std::path::{Path, PathBuf};

use trueplane_fair::engine::Started;
use trueplane_fair::policy::PolicyName;
use trueplane_fair::workload::JobLog;
use trueplane_study::Error;
use trueplane_trace::TraceError;

use crate::failure::Failure;
use crate::written::Written;

/// What stands for the policy in the name of the file.
const POLICY: &str = "{policy}";

/// The columns.
const HEADER: [&str; 6] = ["policy", "task", "user", "submit_ns", "start_ns", "finish_ns"];

/// The tasks of one policy in the order of their start, as CSV.
pub(super) struct Schedule {
    policy: PolicyName,
    /// Name of the output in errors.
    name: String,
    out: csv::Writer<Out>,
}

/// Destination of the rows of a policy: policies run at the same time.
enum Out {
    /// Into the file.
    File(Box<Written>),
    /// Into a nameless one, to be added to the file of the first policy.
    Later(BufWriter<File>),
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Out::File(file) => file.write(bytes),
            Out::Later(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Out::File(file) => file.flush(),
            Out::Later(file) => file.flush(),
        }
    }
}

impl Schedule {
    /// Begins one file for all policies, one after the other, or one for each if the name says so.
    pub(super) fn create(path: &Path, policies: &[PolicyName]) -> Result<Vec<Self>, Failure> {
        let mut schedules: Vec<Self> = Vec::new();
        for &policy in policies {
            let own = path_of(path, policy)?;
            let out = match (&own, schedules.first().map(|first| first.out.get_ref())) {
                (None, Some(Out::File(first))) => Out::Later(BufWriter::new(first.scratch()?)),
                _ => Out::File(Box::new(Written::begin("--schedule", own.as_deref().unwrap_or(path))?)),
            };
            let name = format!("--schedule {}", own.as_deref().unwrap_or(path).display());
            let is_file = matches!(out, Out::File(_));
            // The rows of tasks are far smaller than what these writers keep.
            let mut schedule = Self { policy, name, out: csv::Writer::from_writer(out) };
            if is_file {
                schedule.row(HEADER)?;
            }
            schedules.push(schedule);
        }
        Ok(schedules)
    }

    /// Adds a task of `log`.
    pub(super) fn add(&mut self, task: &Started, log: &JobLog) -> Result<(), Error> {
        let number = |number: u64| number.to_string();
        let [submitted, start, end] = [task.submitted, task.start, task.end].map(|time| number(time.0));
        let (row, user) = (number(log.row(task.task)), &log.users[task.user as usize]);
        self.row([self.policy.name(), &row, user, &submitted, &start, &end])
    }

    /// Puts the files of all policies where they belong.
    pub(super) fn finish(schedules: Vec<Self>) -> Result<(), Failure> {
        let mut whole: Option<Written> = None;
        for Self { name, out, .. } in schedules {
            let broken = |error: &io::Error| {
                Failure::other(format!("{name}: {}", trueplane_trace::without_code(error)))
            };
            match (out.into_inner().map_err(|error| broken(error.error()))?, &mut whole) {
                (Out::File(file), before) => {
                    if let Some(before) = before.replace(*file) {
                        before.finish()?;
                    }
                }
                (Out::Later(rows), Some(file)) => {
                    append(rows, file).map_err(|error| broken(&error))?;
                }
                // The first of all is a file.
                (Out::Later(_), None) => {}
            }
        }
        whole.map_or(Ok(()), Written::finish)
    }

    fn row<'a>(&mut self, cells: impl IntoIterator<Item = &'a str>) -> Result<(), Error> {
        self.out.write_record(cells).map_err(|error| {
            let source = io::Error::from(error);
            TraceError::Io { trace: self.name.clone(), source }.into()
        })
    }
}

/// The file of one policy; `None` if the name does not tell policies apart.
fn path_of(path: &Path, policy: PolicyName) -> Result<Option<PathBuf>, Failure> {
    let Some(name) = path.to_str() else {
        // Whatever it is, it may be the name of one file.
        let has_policy = path.as_os_str().to_string_lossy().contains(POLICY);
        let problem = format!("--schedule {}: expected a name in UTF-8 around {POLICY}", path.display());
        return if has_policy { Err(Failure::input(problem)) } else { Ok(None) };
    };
    let own = name.contains(POLICY).then(|| OsString::from(name.replace(POLICY, policy.name())).into());
    Ok(own)
}

/// Adds all of `rows` to the end of `file`.
fn append(rows: BufWriter<File>, file: &mut Written) -> io::Result<()> {
    let mut rows = rows.into_inner().map_err(io::IntoInnerError::into_error)?;
    rows.rewind()?;
    io::copy(&mut BufReader::new(rows), file).map(drop)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use trueplane_units::Nanos;

    use super::*;

    fn log() -> JobLog {
        JobLog { users: vec!["a, \"b\"".to_owned()], rows: vec![4, 1], ..JobLog::default() }
    }

    fn task(task: u32) -> Started {
        Started { task, user: 0, submitted: Nanos(1), start: Nanos(10), end: Nanos(12), passed: false }
    }

    const FIRST: &str = "policy,task,user,submit_ns,start_ns,finish_ns\n";

    #[test]
    fn every_policy_has_its_file_once_all_are_whole() {
        let folder = tempfile::tempdir().unwrap();
        let policies = [PolicyName::Drf, PolicyName::Sdrf];
        let mut schedules = Schedule::create(&folder.path().join("{policy}.csv"), &policies).unwrap();
        schedules[1].add(&task(1), &log()).unwrap();
        assert!(!folder.path().join("sdrf.csv").exists());
        Schedule::finish(schedules).unwrap();
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(read("drf.csv"), FIRST);
        assert_eq!(read("sdrf.csv"), format!("{FIRST}sdrf,2,\"a, \"\"b\"\"\",1,10,12\n"));
        drop(Schedule::create(&folder.path().join("never.csv"), &policies).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "what was begun is gone");
        assert!(Schedule::create(folder.path(), &policies[..1]).is_err());
        assert!(Schedule::create(&folder.path().join("no/such.csv"), &policies[..1]).is_err());
    }

    #[test]
    fn several_policies_follow_each_other_in_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("all.csv");
        let policies = [PolicyName::Fifo, PolicyName::Drf, PolicyName::Sdrf];
        let mut schedules = Schedule::create(&path, &policies).unwrap();
        // They run at the same time.
        for policy in [2, 0, 1, 2] {
            schedules[policy].add(&task(0), &log()).unwrap();
        }
        Schedule::finish(schedules).unwrap();
        let rest = ",5,\"a, \"\"b\"\"\",1,10,12\n";
        let expected = format!("{FIRST}fifo{rest}drf{rest}sdrf{rest}sdrf{rest}");
        assert_eq!(fs::read_to_string(&path).unwrap(), expected);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_name_may_be_no_text() {
        use std::os::unix::ffi::OsStringExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(OsString::from_vec(b"\xff.csv".to_vec()));
        Schedule::finish(Schedule::create(&path, &[PolicyName::Drf]).unwrap()).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), FIRST);
        let named = folder.path().join(OsString::from_vec(b"\xff{policy}".to_vec()));
        assert!(Schedule::create(&named, &[PolicyName::Drf]).is_err());
    }
}
