//! Commands that end in time.

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::Error;
use crate::clock;

/// Longest time for one step of configuration, which takes milliseconds.
pub(super) const SHORT: Duration = Duration::from_secs(20);

/// Time between two looks whether a child has ended.
const POLL: Duration = Duration::from_millis(2);

/// A child process, killed when dropped.
#[derive(Debug)]
pub struct Running {
    line: String,
    child: Child,
    stdout: Option<JoinHandle<String>>,
    stderr: Option<JoinHandle<String>>,
}

impl Running {
    /// Starts a command with nothing to read and its output kept.
    pub fn start(mut command: Command) -> Result<Self, Error> {
        let line = line_of(&command);
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child =
            child.map_err(|error| Error::Command { command: line.clone(), reason: error.to_string() })?;
        // Threads, so that a full pipe never stops the child.
        let stdout = child.stdout.take().map(read_all);
        let stderr = child.stderr.take().map(read_all);
        Ok(Self { line, child, stdout, stderr })
    }

    /// The process's number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until the process ends and returns its output on stdout if it ended well. After `limit` it is killed, and that is an error.
    pub fn finish(self, limit: Duration) -> Result<String, Error> {
        let line = self.line.clone();
        let (status, stdout, stderr) = self.wait(limit)?;
        if status.success() {
            return Ok(stdout);
        }
        // iperf3 --json tells its errors on stdout.
        let said = if stderr.trim().is_empty() { stdout } else { stderr };
        let reason = format!("{status}: {}", said.split_whitespace().collect::<Vec<_>>().join(" "));
        Err(Error::Command { command: line, reason })
    }

    fn wait(mut self, limit: Duration) -> Result<(ExitStatus, String, String), Error> {
        let deadline = clock::now() + limit;
        let failed = |command: &str, reason: String| Error::Command { command: command.to_owned(), reason };
        let status = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if clock::now() < deadline => thread::sleep(POLL),
                Ok(None) => return Err(failed(&self.line, format!("still running after {limit:?}, killed"))),
                Err(error) => return Err(failed(&self.line, error.to_string())),
            }
        };
        let text = |reader: Option<JoinHandle<String>>| {
            reader.and_then(|thread| thread.join().ok()).unwrap_or_default()
        };
        Ok((status, text(self.stdout.take()), text(self.stderr.take())))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Fails where it has ended already, and then there is nothing to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read_all(mut pipe: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What came before an error is still worth showing.
        let _ = pipe.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn line_of(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Runs `words[0]` with the other words as arguments, in this process's own namespace.
pub(super) fn run(words: &[&str]) -> Result<String, Error> {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]);
    Running::start(command)?.finish(SHORT)
}
