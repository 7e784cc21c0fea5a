//! A controller in a process of its own, so that its memory and its time can be told.

use std::env;
use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::job_log::RESOURCES;
use super::{number, policy, recording, start};

/// Name of the variable with the name of the process.
const IDENTITY: &str = "TRUEPLANE_IDENTITY";

/// A process that somebody else may have started.
pub(crate) struct Process(u32);

impl Process {
    /// The process of which the variable has the number.
    pub(crate) fn named(variable: &str) -> Self {
        Self(env::var(variable).unwrap().trim().parse().unwrap())
    }

    /// Seconds of processor time, and the most memory that it has had, in MB.
    pub(crate) fn usage(&self) -> (f64, u64) {
        let read = |file: &str| std::fs::read_to_string(format!("/proc/{}/{file}", self.0)).unwrap();
        let (stat, status) = (read("stat"), read("status"));
        // Fields 14 and 15, counted behind the name in brackets, in hundredths of a second.
        let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        let ticks = |place: usize| fields[place].parse::<f64>().unwrap() / 100.0;
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
        (ticks(11) + ticks(12), peak / 1024)
    }
}

/// A controller that runs in a process of its own.
pub(crate) struct Controller {
    child: Child,
    process: Process,
}

/// The half-life of what is remembered, in seconds.
fn half_life() -> u64 {
    number("HALF_LIFE", 60) as u64
}

impl Controller {
    /// Starts one: this program once more, which then runs [`a_controller_of_its_own`] only.
    pub(crate) fn start(identity: &str, record: Option<&Path>) -> Self {
        let child = Command::new(env::current_exe().unwrap())
            .args(["process::a_controller_of_its_own", "--exact", "--ignored", "--nocapture"])
            .env(IDENTITY, identity)
            .envs(record.map(|path| (recording::FILE, path)))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let process = Process(child.id());
        Self { child, process }
    }

    /// Its process.
    pub(crate) fn process(&self) -> &Process {
        &self.process
    }

    /// Ends it as an operator does.
    pub(crate) fn stop(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        // A test that fails leaves no process behind.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// What the process of a [`Controller`] does: it leads until its input ends.
#[tokio::test]
#[ignore = "other tests start it as a process"]
async fn a_controller_of_its_own() {
    let Ok(identity) = env::var(IDENTITY) else { return };
    let (stop, task) = start(&identity, policy(&RESOURCES, half_life(), recording::writer())).await;
    let (ended, mut has_ended) = tokio::sync::watch::channel(());
    std::thread::spawn(move || {
        drop(std::io::stdin().read_to_end(&mut Vec::new()));
        drop(ended);
    });
    drop(has_ended.changed().await);
    drop(stop);
    tokio::time::timeout(Duration::from_secs(30), task).await.unwrap().unwrap().unwrap();
}
