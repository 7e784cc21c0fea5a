//! Asking a run from another process: a Unix socket under `/run/trueplane/spray`, one line each way.
//!
//! Requests are `show`, `reload`, `up ADDRESS` and `down ADDRESS`; answers are `ok` and a text behind a space, or `error` and why.

use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use trueplane_linux::clock;
use trueplane_linux::error::Error;

use super::counts::Snapshot;

/// Folder of the control sockets, `<process>.sock`.
const FOLDER: &str = "/run/trueplane/spray";
/// Time limit for a request as a whole, its answer included.
const PATIENCE: Duration = Duration::from_secs(1);
/// Most connections that are served at once; the others wait.
const MOST_ASKERS: usize = 32;
/// Time limit for an answer: a run looks for requests a few times a second.
const ANSWER: Duration = Duration::from_secs(2);
/// No request is longer.
const MOST_BYTES: usize = 256;

/// Status that a run reports.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Status {
    /// The process.
    pub process: u32,
    /// The function's name.
    pub function: String,
    /// The dispatch policy.
    pub dispatch: String,
    /// Name of the I/O backend.
    pub backend: String,
    /// The interfaces, the inner one first.
    pub interfaces: [String; 2],
    /// Counters of the run.
    pub counts: Snapshot,
}

impl Status {
    /// One line where packets cannot be sprayed that should be: more than a twentieth came with a checksum that the sender had left to a card.
    pub fn warning(&self) -> Option<String> {
        let is_sprayed = ["spray", "subset", "adaptive"].iter().any(|name| self.dispatch.starts_with(name));
        let total = self.counts.total();
        let received: u64 = total.received.iter().sum();
        (is_sprayed && total.partial > received / 20).then(|| {
            format!(
                "warning: {} of {received} packets came without their checksums, by which cores are chosen; let senders compute them: ethtool -K DEVICE tx off",
                total.partial
            )
        })
    }
}

/// The end of a run; the socket goes when dropped.
#[derive(Debug)]
pub struct Control {
    listener: UnixListener,
    path: PathBuf,
    askers: Vec<Asker>,
}

impl Control {
    /// Listens for this process.
    ///
    /// # Errors
    ///
    /// The folder cannot be made, or the socket.
    pub fn open() -> Result<Self, Error> {
        let path = Path::new(FOLDER).join(format!("{}.sock", std::process::id()));
        let refused = || Error::io(format!("listen on {}", path.display()));
        DirBuilder::new().recursive(true).mode(0o755).create(FOLDER).map_err(refused())?;
        // Whatever the umask says: who may not enter the folder cannot reach the sockets in it.
        fs::set_permissions(FOLDER, Permissions::from_mode(0o700)).map_err(refused())?;
        // A process of this number that was killed has left it.
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(refused()(error)),
            _ => {}
        }
        let listener = UnixListener::bind(&path).map_err(refused())?;
        let control = Self { listener, path: path.clone(), askers: Vec::new() };
        let user = fs::metadata(&control.path).map_err(refused())?.uid();
        let owner = fs::metadata(FOLDER).map_err(refused())?.uid();
        if owner != user {
            return Err(Error::Request(format!(
                "{FOLDER} belongs to user {owner}, who could put other sockets there"
            )));
        }
        control.listener.set_nonblocking(true).map_err(refused())?;
        Ok(control)
    }

    /// Answers whoever has asked by now, and waits for nobody.
    pub fn serve(&mut self, mut answer: impl FnMut(&str) -> Result<String, String>) {
        let now = clock::now();
        while self.askers.len() < MOST_ASKERS {
            let Ok((stream, _)) = self.listener.accept() else { break };
            if stream.set_nonblocking(true).is_ok() {
                self.askers.push(Asker { stream, until: now + PATIENCE, said: Vec::new(), answer: None });
            }
        }
        // Who does not ask in time, or goes before the answer, has none.
        self.askers.retain_mut(|asker| asker.go_on(&mut answer).unwrap_or(false) && now < asker.until);
    }
}

/// Somebody who asks.
#[derive(Debug)]
struct Asker {
    stream: UnixStream,
    until: Instant,
    /// Bytes of the request that have been read.
    said: Vec<u8>,
    /// Rest of the answer that is still to be written.
    answer: Option<Vec<u8>>,
}

impl Asker {
    /// Reads and writes what can be without waiting; whether that was not all.
    fn go_on(&mut self, answer: &mut impl FnMut(&str) -> Result<String, String>) -> io::Result<bool> {
        while self.answer.is_none() {
            let mut bytes = [0; MOST_BYTES];
            let room = MOST_BYTES - self.said.len();
            let read = match self.stream.read(&mut bytes[..room]) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(true),
                read => read?,
            };
            self.said.extend_from_slice(&bytes[..read]);
            let end = self.said.iter().position(|&byte| byte == b'\n');
            if end.is_none() && read > 0 && self.said.len() < MOST_BYTES {
                continue;
            }
            let line = String::from_utf8_lossy(&self.said[..end.unwrap_or(self.said.len())]);
            self.answer = Some(match answer(line.trim()) {
                Ok(text) => format!("ok {text}\n").into_bytes(),
                Err(text) => format!("error {text}\n").into_bytes(),
            });
        }
        while let Some(rest) = self.answer.as_mut().filter(|rest| !rest.is_empty()) {
            match self.stream.write(rest) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(true),
                written => drop(rest.drain(..written?)),
            }
        }
        Ok(false)
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// The processes that run a function, in the order of their numbers; what killed ones have left is removed.
///
/// # Errors
///
/// The folder cannot be read.
pub fn running() -> Result<Vec<u32>, Error> {
    let entries = match fs::read_dir(FOLDER) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(Error::io(format!("list {FOLDER}")))?,
    };
    let mut processes = Vec::new();
    for entry in entries {
        let path = entry.map_err(Error::io(format!("list {FOLDER}")))?.path();
        let process = path.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.parse().ok());
        let Some(process) = process else { continue };
        match UnixStream::connect(&path) {
            Ok(_) => processes.push(process),
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                let _ = fs::remove_file(&path);
            }
            // Whoever may not ask it knows at least that it is there.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => processes.push(process),
            // It is ending.
            Err(_) => {}
        }
    }
    processes.sort_unstable();
    Ok(processes)
}

/// Asks a process; the text of its answer.
///
/// # Errors
///
/// It does not answer, or refuses.
pub fn ask(process: u32, request: &str) -> Result<String, Error> {
    let path = Path::new(FOLDER).join(format!("{process}.sock"));
    let refused = || Error::io(format!("ask the process {process}"));
    let mut stream = UnixStream::connect(&path).map_err(refused())?;
    stream.set_read_timeout(Some(ANSWER)).map_err(refused())?;
    stream.write_all(format!("{request}\n").as_bytes()).map_err(refused())?;
    let mut text = String::new();
    stream.read_to_string(&mut text).map_err(|error| match error.kind() {
        ErrorKind::WouldBlock => Error::io(format!("ask the process {process}"))(io::Error::new(
            ErrorKind::TimedOut,
            format!("it has not answered within {} s", ANSWER.as_secs()),
        )),
        _ => refused()(error),
    })?;
    match text.trim_end().split_once(' ') {
        Some(("ok", answer)) => Ok(answer.to_owned()),
        Some(("error", why)) => Err(Error::Request(why.to_owned())),
        _ => Err(Error::Request(format!(
            "expected an answer of the process {process}, got \"{}\"",
            text.trim_end()
        ))),
    }
}

/// Status that a process reports of its run.
///
/// # Errors
///
/// It does not answer.
pub fn status(process: u32) -> Result<Status, Error> {
    let text = ask(process, "show")?;
    serde_json::from_str(&text).map_err(|error| {
        Error::Request(format!("expected a run's counters of the process {process}: {error}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::run::CoreCounts;

    #[test]
    fn checksums_that_are_left_to_cards_are_warned_of_where_they_choose_the_core() {
        let warning = |dispatch: &str, partial| {
            let core = CoreCounts { received: [1000, 1000], partial, ..CoreCounts::default() };
            let status = Status {
                process: 1,
                function: "nat".into(),
                dispatch: dispatch.into(),
                backend: "packet".into(),
                interfaces: ["a".into(), "b".into()],
                counts: Snapshot { cores: vec![core], ..Snapshot::default() },
            };
            status.warning()
        };
        assert!(warning("spray", 101).is_some_and(|text| text.contains("101 of 2000")));
        assert!(warning("subset:2", 2000).is_some());
        assert_eq!(warning("spray", 100), None);
        assert_eq!(warning("rss", 2000), None);
        assert_eq!(warning("spray", 0), None);
    }

    #[test]
    fn a_request_is_answered_or_refused() {
        let process = std::process::id();
        let mut control = match Control::open() {
            Ok(control) => control,
            // Only root may make the folder.
            Err(error) => return println!("skipped: {error}"),
        };
        let asking = std::thread::spawn(move || (ask(process, "double 21"), ask(process, "nonsense")));
        let deadline = clock::now() + Duration::from_secs(60);
        while !asking.is_finished() && clock::now() < deadline {
            control.serve(|request| match request.strip_prefix("double ") {
                Some(number) => {
                    number.parse::<u32>().map(|number| (2 * number).to_string()).map_err(|e| e.to_string())
                }
                None => Err(format!("expected double, got {request}")),
            });
            std::thread::sleep(Duration::from_millis(1));
        }
        let (number, refused) = asking.join().unwrap();
        assert_eq!(number.unwrap(), "42");
        assert_eq!(refused.unwrap_err().to_string(), "expected double, got nonsense");
        assert!(running().unwrap().contains(&process));
        drop(control);
        assert!(!running().unwrap().contains(&process));
    }
}
