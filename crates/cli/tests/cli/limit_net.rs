//! A pair of hosts and the verbs of `trueplane limit` on one of their devices.

use std::fs;
use std::net::UdpSocket;
use std::process::{Child, Command, Stdio};

use trueplane_linux::testnet;
use trueplane_linux::testnet::{Pair, Requirement};

use crate::common::{Ended, root, trueplane};

const CLASSES: &str = "
[[class]]
name = 'left'
rate = '1Mbps'
source = '10.203.1.1'

[[class]]
name = 'right'
rate = '1kbps'
burst = '10450B'
mark = '9kB'
source = '10.203.1.2'
";

/// A pair of hosts and a file of classes, or one line that says why there are none.
pub(crate) struct Net {
    pub(crate) pair: Pair,
    pub(crate) folder: tempfile::TempDir,
}

impl Net {
    pub(crate) fn new() -> Option<Self> {
        let pair = testnet::start(&[Requirement::Bpf], Pair::new)?;
        let folder = tempfile::tempdir().expect("a folder is to be had");
        let net = Self { pair, folder };
        net.write("classes.toml", CLASSES);
        Some(net)
    }

    pub(crate) fn write(&self, name: &str, classes: &str) {
        fs::write(self.folder.path().join(name), classes).expect("it can be written");
    }

    /// The verb, with the file of classes if it needs one.
    pub(crate) fn file(&self, verb: &str) -> String {
        let classes = self.folder.path().join("classes.toml");
        match verb.starts_with("attach") {
            true => format!("{verb} --classes {}", classes.display()),
            false => verb.to_owned(),
        }
    }

    /// The arguments for the left host's device.
    pub(crate) fn on(&self, verb: &str) -> String {
        format!("limit {} --dev tp0 --netns {}", self.file(verb), self.pair.left.ns.name())
    }

    pub(crate) fn run(&self, verb: &str) -> Ended {
        trueplane(&self.on(verb))
    }

    /// The same, which has to succeed.
    #[track_caller]
    pub(crate) fn done(&self, verb: &str) -> String {
        let ended = self.run(verb);
        assert_eq!((ended.status, ended.stderr.as_str()), (0, ""), "{verb}");
        ended.stdout
    }

    /// Packets of 1042 bytes from right to left.
    pub(crate) fn send(&self, count: usize) {
        let to = (self.pair.left.v4, 9);
        let send = move || {
            let socket = UdpSocket::bind("0.0.0.0:0").expect("a port is to be had");
            for _ in 0..count {
                assert_eq!(socket.send_to(&[0; 1000], to).expect("it is sent"), 1000);
            }
        };
        self.pair.right.ns.run(send).expect("the namespace is there");
    }
}

impl Drop for Net {
    fn drop(&mut self) {
        // Pins outlive the namespace; after a test that failed, some are left.
        self.run("detach");
    }
}

pub(crate) fn command(arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trueplane"));
    command.args(arguments.split_whitespace()).current_dir(root());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

pub(crate) fn end(child: Child) -> Ended {
    let output = child.wait_with_output().expect("it ends");
    Ended {
        status: output.status.code().expect("it was not killed"),
        stdout: String::from_utf8(output.stdout).expect("it is text"),
        stderr: String::from_utf8(output.stderr).expect("it is text"),
    }
}
