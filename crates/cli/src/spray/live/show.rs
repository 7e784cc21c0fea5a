//! `trueplane spray show` and `trueplane spray backend`

use trueplane_spray::live::report::report;
use trueplane_spray::live::run::control::{Health, Request, Status, ask, running, status};
use trueplane_spray::nf::Endpoint;
use trueplane_units::parameter::settings;
use trueplane_units::parameters;

use super::values::required;
use crate::failure::Failure;
use crate::flags::Flags;
use crate::output::{OutputArgs, print};

/// Show what the network functions on this machine do.
///
/// For each core, the command shows the packets received, handed over, forwarded, dropped and lost since `trueplane spray run` began.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  trueplane spray show
  trueplane spray show --process 1234 --json")]
pub(crate) struct Args {
    #[command(flatten)]
    flags: Flags<ShowOptions>,

    #[command(flatten)]
    output: OutputArgs,
}

parameters! {
    /// Parameters of `spray show`.
    #[derive(Clone, Debug)]
    struct ShowOptions {
        /// Process of the function to show.
        process: Option<u32> => { value: "PID", default_words: "all" },
    }
}

/// Set whether a backend of a running load balancer can serve.
///
/// When a backend is down, its connections move to other backends, and new connections do not go to it.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  trueplane spray backend 10.0.0.11:80 down
  trueplane spray backend 10.0.0.11:80 up --process 1234")]
pub(crate) struct BackendArgs {
    #[command(flatten)]
    flags: Flags<BackendOptions>,
}

parameters! {
    /// Parameters of `spray backend`.
    #[derive(Clone, Debug)]
    struct BackendOptions {
        /// Backend of the load balancer.
        backend: Option<Endpoint> => { value: "ADDRESS:PORT", positional: true, required: true },
        /// Health of the backend from now on.
        health: Option<Health> => { value: "HEALTH", positional: true, required: true },
        /// Process of the load balancer, a PID.
        process: Option<u32> => { value: "PID", default_words: "the only one that runs" },
    }
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.output.check()?;
        let told = chosen(self.flags.0.process)?.into_iter().filter_map(|process| told(process).transpose());
        let statuses = told.collect::<Result<Vec<_>, _>>()?;
        if statuses.is_empty() {
            return Err(none_runs());
        }
        self.output.emit(&report(&statuses, &settings(&self.flags.0)))
    }
}

impl BackendArgs {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let Flags(options) = self.flags;
        let (health, backend) =
            (required(&options.health, "HEALTH")?, required(&options.backend, "ADDRESS:PORT")?);
        let process = match chosen(options.process)?[..] {
            [only] => only,
            [] => return Err(none_runs()),
            ref several => {
                let several = list(several);
                return Err(Failure::input(format!(
                    "several functions run ({several}); name one with --process"
                )));
            }
        };
        let answer = ask(process, Request::SetHealth(health, backend))?;
        print(&format!("{answer}\n"))
    }
}

/// The process that was asked for, or all in which a function runs.
fn chosen(process: Option<u32>) -> Result<Vec<u32>, Failure> {
    let all = running()?;
    match process {
        None => Ok(all),
        Some(process) if all.contains(&process) => Ok(vec![process]),
        Some(_) if all.is_empty() => Err(none_runs()),
        Some(process) => {
            let all = list(&all);
            Err(Failure::input(format!("no function runs in process {process}; those that run: {all}")))
        }
    }
}

fn none_runs() -> Failure {
    Failure::input("no function runs; start one with `trueplane spray run`")
}

fn list(processes: &[u32]) -> String {
    processes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Status that a process reports; none if it has ended meanwhile.
fn told(process: u32) -> Result<Option<Status>, Failure> {
    match status(process) {
        Ok(status) => Ok(Some(status)),
        Err(_) if !running()?.contains(&process) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
