//! Asking a run from another process: a Unix socket under `/run/trueplane/spray`, one line each way.
//!
//! A line is a [`Request`] in words: `show`, `reload`, `up ADDRESS:PORT` or `down ADDRESS:PORT`. Answers are `ok` and a text behind a space, or
//! `error` and why.

use std::fmt;
use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use trueplane_linux::clock;
use trueplane_linux::error::Error;
use trueplane_units::{choices, unexpected};

use super::super::io::IoBackend;
use super::counts::Snapshot;
use crate::dispatch::DispatchName;
use crate::nf::{Endpoint, FunctionName};

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

const SHOW: &str = "show";
const RELOAD: &str = "reload";

/// Status that a run reports.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Status {
    /// The process.
    pub process: u32,
    /// The function.
    pub function: FunctionName,
    /// The dispatch policy.
    pub dispatch: DispatchName,
    /// The I/O backend.
    pub backend: IoBackend,
    /// The interfaces, the inner one first.
    pub interfaces: [String; 2],
    /// Counters of the run.
    pub counts: Snapshot,
}

impl Status {
    /// Warnings about what keeps a run from its purpose, one sentence for each cause.
    pub fn warnings(&self) -> [Option<String>; 2] {
        [self.partial(), self.cut()]
    }

    /// Packets cannot be sprayed that should be: more than a twentieth came with a checksum that the sender had left to a card.
    fn partial(&self) -> Option<String> {
        let total = self.counts.total();
        let received: u64 = total.received.iter().sum();
        let is_sprayed = self.dispatch.properties().by_checksum;
        (is_sprayed && total.partial > received / 20).then(|| {
            format!(
                "{} of {received} packets came without their checksums, by which cores are chosen; let senders compute them: ethtool -K DEVICE tx off",
                total.partial
            )
        })
    }

    /// Packets were too long.
    fn cut(&self) -> Option<String> {
        let cut = self.counts.total().cut;
        (cut > 0).then(|| {
            format!(
                "{cut} packets were longer than the MTU and dropped; let senders cut segments: ethtool -K DEVICE tso off gso off"
            )
        })
    }
}

choices! {
    /// Whether a backend can serve.
    pub enum Health {
        /// The backend can serve.
        Up = "up",
        /// The backend cannot serve.
        Down = "down",
    }
}

/// A request to a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Tell the status.
    Show,
    /// Read the files of the function again.
    Reload,
    /// Set whether a backend of the load balancer can serve.
    SetHealth(Health, Endpoint),
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Show => f.write_str(SHOW),
            Self::Reload => f.write_str(RELOAD),
            Self::SetHealth(health, backend) => write!(f, "{health} {backend}"),
        }
    }
}

impl FromStr for Request {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refuse = || unexpected("show, reload, up ADDRESS:PORT or down ADDRESS:PORT", text);
        match text.split_once(' ') {
            None if text == SHOW => Ok(Self::Show),
            None if text == RELOAD => Ok(Self::Reload),
            None => Err(refuse()),
            Some((health, backend)) => {
                let health = health.parse().map_err(|_| refuse())?;
                Ok(Self::SetHealth(health, backend.parse().map_err(|_| refuse())?))
            }
        }
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
    pub fn serve(&mut self, mut answer: impl FnMut(Request) -> Result<String, String>) {
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
    fn go_on(&mut self, answer: &mut impl FnMut(Request) -> Result<String, String>) -> io::Result<bool> {
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
            self.answer = Some(match line.trim().parse().and_then(&mut *answer) {
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
pub fn ask(process: u32, request: Request) -> Result<String, Error> {
    let path = Path::new(FOLDER).join(format!("{process}.sock"));
    let refused = || Error::io(format!("ask the process {process}"));
    let mut stream = UnixStream::connect(&path).map_err(|error| match error.kind() {
        ErrorKind::PermissionDenied => {
            Error::Request(format!("the process {process} answers only to its user and to root"))
        }
        ErrorKind::NotFound | ErrorKind::ConnectionRefused => {
            Error::Request(format!("the process {process} runs no function any more"))
        }
        _ => refused()(error),
    })?;
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
    let text = ask(process, Request::Show)?;
    serde_json::from_str(&text).map_err(|error| {
        Error::Request(format!("expected a run's counters of the process {process}: {error}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::PolicyName;
    use crate::live::run::CoreCounts;

    fn status(dispatch: DispatchName, core: CoreCounts) -> Status {
        Status {
            process: 1,
            function: FunctionName::Nat,
            dispatch,
            backend: IoBackend::Packet,
            interfaces: ["a".into(), "b".into()],
            counts: Snapshot { cores: vec![core; 2], ..Snapshot::default() },
        }
    }

    #[test]
    fn checksums_that_are_left_to_cards_are_warned_of_where_they_choose_the_core() {
        let warning = |dispatch, partial| {
            let core = CoreCounts { received: [500, 500], partial, ..CoreCounts::default() };
            status(dispatch, core).warnings()[0].clone()
        };
        let [spray, rss] = [PolicyName::Spray, PolicyName::Rss].map(DispatchName::of);
        assert!(warning(spray, 51).is_some_and(|text| text.contains("102 of 2000")));
        assert!(warning(DispatchName::subset(2), 1000).is_some());
        assert_eq!(warning(spray, 50), None);
        assert_eq!(warning(rss, 1000), None);
        assert_eq!(warning(spray, 0), None);
    }

    #[test]
    fn packets_that_are_too_long_are_warned_of() {
        let warnings = |cut| {
            let core = CoreCounts { received: [10, 0], cut, ..CoreCounts::default() };
            status(DispatchName::of(PolicyName::Rss), core).warnings()
        };
        assert_eq!(warnings(0), [None, None]);
        assert!(warnings(3)[1].as_ref().is_some_and(|text| text.contains("6 packets were longer")));
    }

    #[test]
    fn a_status_is_read_as_it_is_told() {
        let told = status(DispatchName::subset(3), CoreCounts::default());
        let read: Status = serde_json::from_str(&serde_json::to_string(&told).unwrap()).unwrap();
        assert_eq!(
            (read.function, read.dispatch, read.backend),
            (told.function, told.dispatch, told.backend)
        );
    }

    #[test]
    fn a_process_that_runs_nothing_is_named() {
        let error = ask(u32::MAX, Request::Show).unwrap_err().to_string();
        assert_eq!(error, "the process 4294967295 runs no function any more");
    }

    #[test]
    fn requests_are_read_as_they_are_written() {
        for text in ["show", "reload", "up 10.0.0.1:80", "down [2001:db8::1]:443"] {
            assert_eq!(text.parse::<Request>().map(|request| request.to_string()), Ok(text.to_owned()));
        }
        for bad in ["", "shown", "up", "up 10.0.0.1", "left 10.0.0.1:80", "show 10.0.0.1:80"] {
            let error = bad.parse::<Request>().unwrap_err();
            assert!(error.starts_with("expected show, reload, up ADDRESS:PORT or"), "{error}");
        }
    }

    #[test]
    fn a_request_is_answered_or_refused() {
        let process = std::process::id();
        let mut control = match Control::open() {
            Ok(control) => control,
            // Only root may make the folder.
            Err(error) => return println!("skipped: {error}"),
        };
        let asking = std::thread::spawn(move || (ask(process, Request::Show), ask(process, Request::Reload)));
        let deadline = clock::now() + Duration::from_secs(60);
        while !asking.is_finished() && clock::now() < deadline {
            control.serve(|request| match request {
                Request::Show => Ok("42".to_owned()),
                request => Err(format!("expected show, got {request}")),
            });
            std::thread::sleep(Duration::from_millis(1));
        }
        let (number, refused) = asking.join().unwrap();
        assert_eq!(number.unwrap(), "42");
        assert_eq!(refused.unwrap_err().to_string(), "expected show, got reload");
        assert!(running().unwrap().contains(&process));
        drop(control);
        assert!(!running().unwrap().contains(&process));
    }
}
