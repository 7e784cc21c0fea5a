//! Counters of a run for Prometheus, over HTTP. They are only read there: whoever can connect may not change anything.

use std::net::SocketAddr;
use std::sync::mpsc::{Sender, SyncSender, channel};
use std::thread;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use tokio::net::TcpListener;
use trueplane_spray::Reason;
use trueplane_spray::live::run::control::Status;
use trueplane_trace::without_code;

use crate::failure::Failure;

/// Somebody who wants to know how the run is, and where to tell it.
pub(super) struct Scrape(pub(super) Sender<Status>);

/// Serves on a thread of its own for as long as the process lives; requests are sent to whoever has the run. Where it listens.
pub(super) fn serve(address: SocketAddr, requests: SyncSender<Scrape>) -> Result<SocketAddr, Failure> {
    let cannot = |error: std::io::Error| {
        let reason = without_code(&error);
        Failure::other(format!("cannot listen on {address}: {reason}; name another address with --metrics"))
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().map_err(cannot)?;
    let listener = runtime.block_on(TcpListener::bind(address)).map_err(cannot)?;
    let listens = listener.local_addr().map_err(cannot)?;
    let service = Router::new().route("/metrics", get(scrape)).with_state(requests);
    let body = move || runtime.block_on(async { axum::serve(listener, service).await });
    thread::Builder::new().name("metrics".to_owned()).spawn(body).map_err(cannot)?;
    Ok(listens)
}

/// Asks the run, which answers a few times a second.
async fn ask(requests: SyncSender<Scrape>) -> Result<Status, String> {
    let gone = || "the function is ending".to_owned();
    let asking = move || {
        let (answer, answered) = channel();
        requests.send(Scrape(answer)).map_err(|_| gone())?;
        answered.recv().map_err(|_| gone())
    };
    tokio::task::spawn_blocking(asking).await.map_err(|error| error.to_string())?
}

async fn scrape(State(requests): State<SyncSender<Scrape>>) -> Response {
    match ask(requests).await.and_then(|status| exposition(&status)) {
        Ok(text) => {
            let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
            ([(header::CONTENT_TYPE, kind)], text).into_response()
        }
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")).into_response(),
    }
}

type Labels = Vec<(&'static str, String)>;

/// Counters in the text format of OpenMetrics.
fn exposition(status: &Status) -> Result<String, String> {
    let packets = Family::<Labels, Counter>::default();
    let moved = Family::<Labels, Counter>::default();
    let lost = Family::<Labels, Counter>::default();
    let unsent = Family::<Labels, Counter>::default();
    let flows = Family::<Labels, Gauge>::default();
    let busy = Family::<Labels, Counter<f64, std::sync::atomic::AtomicU64>>::default();
    for core in &status.counts.cores {
        let of =
            |name: &'static str, value: &str| vec![("cpu", core.cpu.to_string()), (name, value.to_owned())];
        let mut outcomes = vec![
            ("forwarded", core.forwarded),
            ("transmitted", core.transmitted),
            ("passed_by", core.passed_by),
        ];
        outcomes.push(("too_long", core.cut));
        for (outcome, count) in outcomes {
            packets.get_or_create(&of("outcome", outcome)).inc_by(count);
        }
        for (reason, count) in Reason::ALL.iter().zip(core.dropped) {
            packets.get_or_create(&of("outcome", &format!("dropped_{reason}"))).inc_by(count);
        }
        for (direction, count) in [("in", core.handed_in), ("out", core.handed_out)] {
            moved.get_or_create(&of("direction", direction)).inc_by(count);
        }
        for (drops, name) in core.kernel_drops.iter().zip(&status.interfaces) {
            lost.get_or_create(&of("interface", name)).inc_by(*drops);
        }
        let cpu = vec![("cpu", core.cpu.to_string())];
        unsent.get_or_create(&cpu).inc_by(core.unsent);
        flows.get_or_create(&cpu).set(core.flows as i64);
        busy.get_or_create(&cpu).inc_by(core.busy_ns as f64 / 1e9);
    }
    let mut registry = Registry::with_prefix("trueplane_spray");
    registry.register("packets", "Packets by what became of them", packets);
    registry.register("handed_over", "Packets handed over between cores", moved);
    registry.register("kernel_drops", "Packets for which a core's ring had no room", lost);
    registry.register("unsent", "Packets that an interface did not take", unsent);
    registry.register("flows", "Flows in the core's table", flows);
    registry.register("busy_seconds", "Time in which the core had packets", busy);
    let mut text = String::new();
    encode(&mut text, &registry).map_err(|error| error.to_string())?;
    Ok(text)
}
