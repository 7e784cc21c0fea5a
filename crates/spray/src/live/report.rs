//! What functions that run on this machine do, as a report.

use trueplane_study::Page;
use trueplane_study::prose::brief;
use trueplane_study::report::{Cell, Report};
use trueplane_study::study::{Words, page_report};
use trueplane_units::{Nanos, Percent, Setting};

use super::run::CoreCounts;
use super::run::control::Status;
use crate::{BELIEF, Reason};

/// Reports what these runs did so far; `parameters` are those that people gave.
pub fn report(statuses: &[Status], parameters: &[Setting]) -> Report {
    let mut page = Page::default();
    for status in statuses {
        for warning in status.warnings().into_iter().flatten() {
            page.warn(format!("process {}: {warning}", status.process));
        }
    }
    let runs = statuses.iter().map(|status| (status, status.counts.total()));
    page.table("runs", "Functions", runs)
        .col("process", "process", |(status, _)| status.process)
        .col("function", "function", |(status, _)| Cell::name(status.function))
        .col("inner", "inner", |(status, _)| status.interfaces[0].as_str())
        .col("outer", "outer", |(status, _)| status.interfaces[1].as_str())
        .col("dispatch", "dispatch", |(status, _)| status.dispatch.to_string())
        .col("backend", "backend", |(status, _)| Cell::name(status.backend))
        .col("time", "elapsed_ns", |(status, _)| Nanos(status.counts.elapsed_ns))
        .col("reloads", "reloads", |(status, _)| status.counts.reloads)
        .col("transmitted", "transmitted", |(_, total)| total.transmitted)
        .col("passed by", "passed_by", |(_, total)| total.passed_by)
        .col("too long", "too_long", |(_, total)| total.cut)
        .col("not sent", "unsent", |(_, total)| total.unsent)
        .col("checksums completed", "partial", |(_, total)| total.partial)
        .whole();
    let cores = statuses.iter().flat_map(|status| status.counts.cores.iter().map(move |core| (status, core)));
    page.table("cores", "Cores", cores)
        .col("process", "process", |(status, _)| status.process)
        .col("core", "cpu", |(_, core)| core.cpu)
        .col("received", "received", |(_, core)| core.received.iter().sum::<u64>())
        .col("handed in", "handed_in", |(_, core)| core.handed_in)
        .col("handed out", "handed_out", |(_, core)| core.handed_out)
        .col("forwarded", "forwarded", |(_, core)| core.forwarded + core.transmitted)
        .col("dropped", "dropped", |(_, core)| core.dropped.iter().sum::<u64>())
        .col("lost", "kernel_drops", |(_, core)| core.kernel_drops.iter().sum::<u64>())
        .col("flows", "flows", |(_, core)| core.flows)
        .col("busy", "busy_share", |(status, core)| busy(status, core))
        .whole();
    let dropped = statuses.iter().flat_map(|status| {
        let counts = Reason::ALL.iter().copied().zip(status.counts.total().dropped);
        counts.filter(|(_, packets)| *packets > 0).map(|(reason, packets)| (status.process, reason, packets))
    });
    let dropped: Vec<_> = dropped.collect();
    if !dropped.is_empty() {
        page.table("dropped", "Packets that functions dropped", dropped)
            .col("process", "process", |(process, ..)| *process)
            .col("reason", "reason", |(_, reason, _)| Cell::name(*reason))
            .col("packets", "packets", |(.., packets)| *packets)
            .whole();
    }
    let words = Words {
        name: "spray.show",
        title: "Network functions on this machine".to_owned(),
        belief: BELIEF,
        verdict: verdict(statuses),
        advice: String::new(),
    };
    page_report(words, parameters, page)
}

fn busy(status: &Status, core: &CoreCounts) -> Percent {
    Percent((core.busy_ns as f64 / status.counts.elapsed_ns.max(1) as f64).min(1.0))
}

/// A sentence for each run, as far as there is room; the tables have all.
fn verdict(statuses: &[Status]) -> Vec<String> {
    let sentence = |status: &Status| {
        let Status { process, function, dispatch, backend, interfaces: [inner, outer], counts } = status;
        let counts = counts.in_brief();
        (0, format!("{process}: {function} between {inner} and {outer}, {dispatch}, {backend}: {counts}."))
    };
    brief(statuses.iter().map(sentence).collect())
}
