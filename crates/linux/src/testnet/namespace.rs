//! One network namespace.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, JoinHandle};
use std::{io, panic, process};

use rustix::process::{Signal, set_parent_process_death_signal};

use super::Error;
use super::command::{self, Running, SHORT};
use crate::device::enter;

/// Names are `tp-<process>-<number>-<label>`; what bears this prefix is ours.
const PREFIX: &str = "tp-";

/// Folder in which `ip netns` keeps network namespaces by name.
const FOLDER: &str = "/run/netns";

/// A network namespace, removed when dropped. `ip netns` and [`crate::Device`] know it by its name.
#[derive(Debug)]
pub struct Namespace {
    name: String,
    file: Arc<File>,
}

impl Namespace {
    /// An empty namespace with its loopback device up; the label ends its name.
    pub fn new(label: &str) -> Result<Self, Error> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        if label.is_empty() || !label.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err(Error::Setting(format!("expected a label of letters and digits, got \"{label}\"")));
        }
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{PREFIX}{}-{number}-{label}", process::id());
        command::run(&["ip", "netns", "add", &name])?;
        let path = Path::new(FOLDER).join(&name);
        let file = match File::open(&path) {
            Ok(file) => Arc::new(file),
            Err(error) => {
                delete(&name);
                return Err(Error::io(format!("open {}", path.display()))(error));
            }
        };
        let namespace = Self { name, file };
        namespace.ip(&["link", "set", "lo", "up"])?;
        Ok(namespace)
    }

    /// The name under `/run/netns`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs `work` on a thread within the namespace and waits for it. Mounts stay as they are, so that pins in
    /// `/sys/fs/bpf` are seen. A panic goes on in the caller.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, Error> {
        thread::scope(|scope| {
            let thread = scope.spawn(move || enter(&self.file).map(|()| work()));
            thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic))
        })
        .map_err(Error::io(format!("enter the network namespace {}", self.name)))
    }

    /// Starts a thread within the namespace. The thread keeps the namespace alive, though not its name: join it first.
    pub fn spawn<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> JoinHandle<Result<T, Error>> {
        let (file, name) = (Arc::clone(&self.file), self.name.clone());
        // The name of the test, which the harness gives to its thread, is also worth having in a panic here.
        thread::spawn(move || {
            enter(&file).map_err(Error::io(format!("enter the network namespace {name}")))?;
            Ok(work())
        })
    }

    /// A command that will run within the namespace and die with the thread that starts it.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let file = Arc::clone(&self.file);
        // SAFETY: between fork and exec only system calls are made: setns and prctl, and the error holds no memory.
        unsafe {
            command.pre_exec(move || {
                enter(&file)?;
                Ok(set_parent_process_death_signal(Some(Signal::KILL))?)
            });
        }
        command
    }

    /// Runs a short command within the namespace; what it printed.
    pub fn output(&self, words: &[&str]) -> Result<String, Error> {
        let (program, arguments) =
            words.split_first().ok_or_else(|| Error::Setting("expected a command, got none".to_owned()))?;
        let mut command = self.command(program);
        command.args(arguments);
        Running::start(command)?.finish(SHORT)
    }

    /// `ip` within the namespace.
    pub fn ip(&self, arguments: &[&str]) -> Result<String, Error> {
        self.output(&[&["ip"], arguments].concat())
    }

    /// Sets a parameter of the namespace's network: `("ipv4.tcp_ecn", "1")`.
    pub fn sysctl(&self, name: &str, value: &str) -> Result<(), Error> {
        let path = Path::new("/proc/sys/net").join(name.replace('.', "/"));
        let doing = format!("set net.{name} to {value}");
        self.run(move || fs::write(path, value))?.map_err(Error::io(doing))
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        delete(&self.name);
    }
}

/// Best effort: a failure leaves a name that the next test's sweep removes.
fn delete(name: &str) {
    if let Err(error) = command::run(&["ip", "netns", "delete", name]) {
        eprintln!("{error}");
    }
}

/// Removes what processes that were killed have left. [`super::start`] does so once per process.
pub fn sweep() -> Result<(), Error> {
    let entries = match fs::read_dir(FOLDER) {
        Ok(entries) => entries,
        // There has never been a namespace.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::io(format!("list {FOLDER}"))(error)),
    };
    for entry in entries {
        let name =
            entry.map_err(Error::io(format!("list {FOLDER}")))?.file_name().to_string_lossy().into_owned();
        if owner(&name).is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists()) {
            delete(&name);
        }
    }
    Ok(())
}

/// The process that made the namespace, if the name is one of ours.
fn owner(name: &str) -> Option<u32> {
    let mut parts = name.strip_prefix(PREFIX)?.splitn(3, '-');
    let process = parts.next()?.parse().ok()?;
    parts.next()?.parse::<u32>().ok()?;
    parts.next()?;
    Some(process)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_names_have_an_owner() {
        assert_eq!(owner("tp-123-0-left"), Some(123));
        for other in ["tp-", "tp-x-0-left", "tp-123", "tp-123-left", "blue", "xtp-123-0-left"] {
            assert_eq!(owner(other), None, "{other}");
        }
    }
}
