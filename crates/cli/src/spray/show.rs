//! `trueplane spray show` and `trueplane spray backend`

use serde_json::json;
use trueplane_core::report::{Cell, Column, Report, Table};
use trueplane_core::spray::Reason;
use trueplane_core::units::Nanos;
use trueplane_live::spray::run::control::{Status, ask, running, status};
use trueplane_live::spray::run::{CoreCounts, Snapshot};

use crate::failure::Failure;
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
    /// The process of one of them [default: all]
    #[arg(long, value_name = "PID")]
    process: Option<u32>,

    #[command(flatten)]
    output: OutputArgs,
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
    /// The backend
    #[arg(value_name = "ADDRESS:PORT")]
    backend: std::net::SocketAddr,

    /// up or down
    #[arg(value_parser = ["up", "down"])]
    health: String,

    /// The process of the load balancer [default: the only one that runs]
    #[arg(long, value_name = "PID")]
    process: Option<u32>,
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.output.check()?;
        let processes = match self.process {
            Some(process) => vec![process],
            None => running()?,
        };
        if processes.is_empty() {
            return Err(Failure::input("no function runs; start one with `trueplane spray run`"));
        }
        let statuses = processes.into_iter().map(status).collect::<Result<Vec<_>, _>>()?;
        self.output.emit(&report(&statuses))
    }
}

impl BackendArgs {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let process = match (self.process, &running()?[..]) {
            (Some(process), _) => process,
            (None, &[only]) => only,
            (None, []) => {
                return Err(Failure::input("no function runs; start one with `trueplane spray run`"));
            }
            (None, several) => {
                let several = several.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
                return Err(Failure::input(format!(
                    "several functions run ({several}); name one with --process"
                )));
            }
        };
        let answer = ask(process, &format!("{} {}", self.health, self.backend))?;
        print(&format!("{answer}\n"))
    }
}

/// What all cores counted, on one line.
pub(super) fn totals(counts: &Snapshot) -> String {
    let total = counts.total();
    let [received, lost]: [u64; 2] = [total.received, total.kernel_drops].map(|of| of.iter().sum());
    let dropped: u64 = total.dropped.iter().sum();
    format!(
        "{}: {received} received, {} forwarded, {} transmitted, {} passed by, {dropped} dropped, {} too long, {} not sent, {lost} lost in the kernel; {} flows, {} handed over, {} checksums completed",
        Nanos(counts.elapsed_ns / 1_000_000_000 * 1_000_000_000),
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
        let Status { process, function, dispatch, interfaces: [inner, outer], counts } = status;
        format!("{process}: {function} between {inner} and {outer}, {dispatch}: {}.", totals(counts))
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
        "dropped": statuses.iter().map(reasons).collect::<Vec<_>>(),
    });
    Report {
        study: "spray.show".into(),
        title: "Network functions on this machine".into(),
        verdict: verdict.chain(statuses.iter().filter_map(Status::warning)).collect(),
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
