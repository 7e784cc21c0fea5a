//! `trueplane spray show` and `trueplane spray backend`

use serde_json::json;
use trueplane_spray::Reason;
use trueplane_spray::live::run::control::{Status, ask, running, status};
use trueplane_spray::live::run::{CoreCounts, Snapshot};
use trueplane_spray::nf::Endpoint;
use trueplane_study::report::{Cell, Column, Report, Table};
use trueplane_units::{choices, parameters};

use super::values::required;
use crate::failure::Failure;
use crate::flags::Flags;
use crate::output::{OutputArgs, print};

/// Tell what the functions do that run on this machine.
///
/// For each core: what it received, handed over, forwarded, dropped and lost since `trueplane spray run` began.
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
        /// Process of one of them.
        process: Option<u32> => { value: "PID", default_words: "all" },
    }
}

/// Set whether a backend of a running load balancer can serve.
///
/// Connections that it has go to another one from then on, and new ones do not go to it.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  trueplane spray backend 10.0.0.11:80 down
  trueplane spray backend 10.0.0.11:80 up --process 1234")]
pub(crate) struct BackendArgs {
    #[command(flatten)]
    flags: Flags<BackendOptions>,
}

choices! {
    /// Whether a backend can serve.
    enum Health {
        /// The backend can serve.
        Up = "up",
        /// The backend cannot serve.
        Down = "down",
    }
}

parameters! {
    /// Parameters of `spray backend`.
    #[derive(Clone, Debug)]
    struct BackendOptions {
        /// Backend of the load balancer.
        backend: Option<Endpoint> => { value: "ADDRESS:PORT", positional: true, required: true },
        /// Health of the backend from now on.
        health: Option<Health> => { value: "HEALTH", positional: true, required: true },
        /// Process of the load balancer.
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
        self.output.emit(&report(&statuses))
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
        let answer = ask(process, &format!("{health} {backend}"))?;
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

/// Sum of the counters of all cores, on one line.
pub(super) fn totals(counts: &Snapshot) -> String {
    let total = counts.total();
    let [received, lost]: [u64; 2] = [total.received, total.kernel_drops].map(|of| of.iter().sum());
    let dropped: u64 = total.dropped.iter().sum();
    format!(
        "{} s: {received} received, {} forwarded, {} transmitted, {} passed by, {dropped} dropped, {} too long, {} not sent, {lost} lost in the kernel; {} flows, {} handed over, {} checksums completed",
        counts.elapsed_ns / 1_000_000_000,
        total.forwarded,
        total.transmitted,
        total.passed_by,
        total.cut,
        total.unsent,
        total.flows,
        total.handed_out,
        total.partial,
    )
}

/// Warnings about what keeps a run from its purpose, one line for each cause.
pub(super) fn warnings(status: &Status) -> [Option<String>; 2] {
    let cut = status.counts.total().cut;
    let cut = (cut > 0).then(|| {
        format!(
            "warning: {cut} packets were longer than the MTU and dropped; let senders cut segments: ethtool -K DEVICE tso off gso off"
        )
    });
    [status.warning(), cut]
}

fn told_warnings(status: &Status) -> impl Iterator<Item = String> + use<> {
    warnings(status).into_iter().flatten()
}

fn report(statuses: &[Status]) -> Report {
    let columns = vec![
        Column::new("process", "process"),
        Column::new("core", "cpu"),
        Column::new("received", "received"),
        Column::new("handed in", "handed_in"),
        Column::new("handed out", "handed_out"),
        Column::new("forwarded", "forwarded"),
        Column::new("dropped", "dropped"),
        Column::new("lost", "kernel_drops"),
        Column::new("flows", "flows"),
        Column::new("busy", "busy_share"),
    ];
    let row = |status: &Status, core: &CoreCounts| {
        let busy = core.busy_ns as f64 / status.counts.elapsed_ns.max(1) as f64;
        vec![
            Cell::text(status.process.to_string()),
            Cell::text(core.cpu.to_string()),
            Cell::Count(core.received.iter().sum()),
            Cell::Count(core.handed_in),
            Cell::Count(core.handed_out),
            Cell::Count(core.forwarded + core.transmitted),
            Cell::Count(core.dropped.iter().sum()),
            Cell::Count(core.kernel_drops.iter().sum()),
            Cell::Count(core.flows),
            Cell::Ratio(busy.min(1.0)),
        ]
    };
    let rows = statuses.iter().flat_map(|status| status.counts.cores.iter().map(|core| row(status, core)));
    let verdict = statuses.iter().map(|status| {
        let Status { process, function, dispatch, backend, interfaces: [inner, outer], counts } = status;
        format!(
            "{process}: {function} between {inner} and {outer}, {dispatch}, {backend}: {}.",
            totals(counts)
        )
    });
    let reasons = |status: &Status| {
        let total = status.counts.total();
        Reason::ALL
            .iter()
            .zip(total.dropped)
            .map(|(reason, count)| json!({ "reason": reason, "packets": count }))
            .collect::<Vec<_>>()
    };
    let document = json!({
        "study": "spray.show",
        "version": env!("CARGO_PKG_VERSION"),
        "runs": statuses,
        "warnings": statuses.iter().map(|status| told_warnings(status).collect()).collect::<Vec<Vec<_>>>(),
        "dropped": statuses.iter().map(reasons).collect::<Vec<_>>(),
    });
    Report {
        study: "spray.show".into(),
        title: "Network functions on this machine".into(),
        verdict: verdict.chain(statuses.iter().flat_map(told_warnings)).collect(),
        tables: vec![Table {
            id: "cores".into(),
            title: "Cores".into(),
            columns,
            rows: rows.collect(),
            detail: false,
        }],
        document,
        ..Report::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_that_are_too_long_are_warned_of() {
        let of = |cut| {
            let core = CoreCounts { received: [10, 0], cut, ..CoreCounts::default() };
            warnings(&Status {
                process: 1,
                function: "nat".into(),
                dispatch: "rss".into(),
                backend: "packet".into(),
                interfaces: ["a".into(), "b".into()],
                counts: Snapshot { cores: vec![core; 2], ..Snapshot::default() },
            })
        };
        assert_eq!(of(0), [None, None]);
        assert!(of(3)[1].as_ref().is_some_and(|text| text.contains("6 packets were longer")));
    }
}
