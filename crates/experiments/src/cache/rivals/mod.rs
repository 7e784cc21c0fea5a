//! Other HTTP caches: each is a child process with a configuration of its own in a temporary folder, and listens on the loopback interface.

mod config;

use std::fs::File;
use std::io::Read as _;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use trueplane_study::{Error, Observer};

pub(super) use config::Room;

use super::alarm::now;
use super::options::RivalName;

/// Time that a program gets to listen; Varnish compiles its configuration first.
const START: Duration = Duration::from_secs(20);
/// Time that it gets to end.
const END: Duration = Duration::from_secs(5);
const TICK: Duration = Duration::from_millis(20);

/// Folders in which programs are looked for besides those of PATH.
const SYSTEM: [&str; 3] = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

impl RivalName {
    /// The program, and the Debian package that has it.
    pub(super) fn program(self) -> (&'static str, &'static str) {
        match self {
            Self::Nginx | Self::NginxLock => ("nginx", "nginx-light"),
            Self::Varnish => ("varnishd", "varnish"),
            Self::Haproxy => ("haproxy", "haproxy"),
            Self::Ats => ("traffic_server", "trafficserver"),
        }
    }

    /// The path of the program.
    ///
    /// # Errors
    /// If it is not installed: what to do.
    pub(super) fn installed(self) -> Result<PathBuf, String> {
        let (program, package) = self.program();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::env::split_paths(&path).chain(SYSTEM.map(PathBuf::from));
        let found = folders.map(|folder| folder.join(program)).find(|path| path.is_file());
        found.ok_or_else(|| format!("{program} is not installed (apt install {package})"))
    }

    /// What the program says of its version, in a line.
    pub(super) fn version(self, program: &Path) -> String {
        let flag = if matches!(self, Self::Varnish | Self::Ats) { "-V" } else { "-v" };
        let Ok(output) = Command::new(program).arg(flag).output() else { return String::new() };
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text).into_owned();
        text.split(|letter: char| !(letter.is_ascii_alphanumeric() || "./+~-".contains(letter)))
            .filter_map(|word| word.rsplit(['/', '-']).find(|part| part.split('.').count() > 2))
            .find(|word| word.starts_with(|letter: char| letter.is_ascii_digit()))
            .unwrap_or_default()
            .to_owned()
    }
}

/// A running cache. It ends when it is dropped.
pub(super) struct Rival {
    pub(super) address: SocketAddr,
    child: Child,
    // Its files, which it needs until it has ended.
    _folder: TempDir,
}

impl Rival {
    /// Starts a cache in front of `origin`, and waits until it listens.
    pub(super) fn start(
        rival: RivalName,
        program: &Path,
        origin: SocketAddr,
        room: Room,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        let cannot =
            |why: &dyn std::fmt::Display| Error::Unfinished(format!("{rival} could not be started: {why}"));
        let folder =
            tempfile::Builder::new().prefix("trueplane-").tempdir().map_err(|error| cannot(&error))?;
        let address = free_port().map_err(|error| cannot(&error))?;
        let arguments =
            config::write(rival, folder.path(), address, origin, room).map_err(|error| cannot(&error))?;
        let said = folder.path().join("said");
        let out = File::create(&said).map_err(|error| cannot(&error))?;
        let err = out.try_clone().map_err(|error| cannot(&error))?;
        let child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(err)
            // Ctrl-C is ours to pass on.
            .process_group(0)
            .spawn()
            .map_err(|error| cannot(&error))?;
        let mut rival = Self { address, child, _folder: folder };
        let start = now();
        while TcpStream::connect(address).is_err() {
            observer.go_on()?;
            if let Ok(Some(status)) = rival.child.try_wait() {
                return Err(cannot(&last_line(&said).unwrap_or_else(|| status.to_string())));
            }
            if start.elapsed() > START {
                return Err(cannot(&format!("it does not listen within {START:?}")));
            }
            sleep(TICK);
        }
        Ok(rival)
    }
}

impl Drop for Rival {
    fn drop(&mut self) {
        // It ends its own children, which would outlive it otherwise.
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        let asked = now();
        while asked.elapsed() < END {
            match self.child.try_wait() {
                Ok(None) => sleep(TICK),
                Ok(Some(_)) | Err(_) => return,
            }
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port on which nobody listens.
fn free_port() -> std::io::Result<SocketAddr> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()
}

/// The last line that a program has said.
fn last_line(path: &Path) -> Option<String> {
    let mut said = Vec::new();
    File::open(path).ok()?.read_to_end(&mut said).ok()?;
    let said = String::from_utf8_lossy(&said);
    said.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}
