//! `trueplane limit metrics`

use axum::Router;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};
use tokio::net::TcpListener;
use trueplane_limit::live as limit;
use trueplane_trace::without_code;
use trueplane_units::{Address, parameters};

use crate::failure::Failure;
use crate::flags::Flags;
use crate::output::print;

/// Serve the counters of all limits on this machine to Prometheus.
///
/// They are at /metrics until Ctrl-C, for devices in all network namespaces that `ip netns` lists. They are read anew for each request, so
/// limits may be attached and detached meanwhile. You need root, or CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  trueplane limit metrics
  trueplane limit metrics --listen '[::]:9478'")]
pub(crate) struct Args {
    #[command(flatten)]
    flags: Flags<Options>,
}

parameters! {
    /// Parameters of `limit metrics`.
    #[derive(Clone, Debug)]
    struct Options {
        /// Address to listen on. Port 0 picks a free port, and the first line of output names it.
        listen: Address => { value: "ADDRESS:PORT", default: "127.0.0.1:9478" },
    }
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        // Rather now than at the first request.
        limit::devices()?;
        let Address(listen) = self.flags.0.listen;
        let cannot = |error: std::io::Error| {
            let reason = without_code(&error);
            Failure::other(format!("cannot listen on {listen}: {reason}; name another address with --listen"))
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().map_err(cannot)?;
        runtime.block_on(async {
            let listener = TcpListener::bind(listen).await.map_err(cannot)?;
            let address = listener.local_addr().map_err(cannot)?;
            print(&format!("Serving http://{address}/metrics\n"))?;
            let service = Router::new().route("/metrics", get(scrape));
            let stop = async {
                // Without a handler for Ctrl-C it ends the process, which is as well.
                let _ = tokio::signal::ctrl_c().await;
            };
            axum::serve(listener, service).with_graceful_shutdown(stop).await.map_err(cannot)
        })
    }
}

async fn scrape() -> Response {
    match exposition() {
        Ok(text) => {
            let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
            ([(header::CONTENT_TYPE, kind)], text).into_response()
        }
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")).into_response(),
    }
}

type Labels = Vec<(&'static str, String)>;

/// All counters as they are, in the text format of OpenMetrics.
fn exposition() -> Result<String, trueplane_linux::Error> {
    let packets = Family::<Labels, Counter>::default();
    let bytes = Family::<Labels, Counter>::default();
    let rate = Family::<Labels, Gauge>::default();
    let burst = Family::<Labels, Gauge>::default();
    let occupancy = Family::<Labels, Gauge>::default();
    for attached in limit::all()? {
        let device = attached.about().device.to_string();
        let labels = |class: &str| vec![("device", device.clone()), ("class", class.to_owned())];
        let count = |class: &str, counter: limit::Counter| {
            let told = [
                ("passed", counter.passed_packets, counter.passed_bytes),
                ("marked", counter.marked_packets, counter.marked_bytes),
                ("dropped", counter.dropped_packets, counter.dropped_bytes),
            ];
            for (verdict, packet_count, byte_count) in told {
                let mut labels = labels(class);
                labels.push(("verdict", verdict.to_owned()));
                packets.get_or_create(&labels).inc_by(packet_count);
                bytes.get_or_create(&labels).inc_by(byte_count);
            }
        };
        for (index, class) in attached.about().classes.classes().iter().enumerate() {
            count(&class.name, attached.class_counter(index)?);
            let limiters = attached.classifier().limiters_of(index);
            let first = attached.limiter(limiters.start);
            rate.get_or_create(&labels(&class.name)).set(first.rate.bits_per_sec().round() as i64);
            burst.get_or_create(&labels(&class.name)).set(first.burst().0 as i64);
            let fullest = limiters.map(|limiter| attached.occupancy(limiter)).max().unwrap_or_default();
            occupancy.get_or_create(&labels(&class.name)).set(fullest.0 as i64);
        }
        // No class can be called so.
        count("", attached.unclassified()?);
    }
    let mut registry = Registry::with_prefix("trueplane_limit");
    registry.register(
        "packets",
        "Packets that met a limit, by what became of them; class \"\" met none",
        packets,
    );
    registry.register_with_unit("traffic", "Bytes of frames that met a limit", Unit::Bytes, bytes);
    registry.register("rate_bits_per_second", "The rate that a class is limited to", rate);
    registry.register_with_unit("burst", "What a limiter of the class holds", Unit::Bytes, burst);
    registry.register_with_unit(
        "occupancy",
        "What is in the class's fullest limiter",
        Unit::Bytes,
        occupancy,
    );
    let mut text = String::new();
    encode(&mut text, &registry).map_err(|error| trueplane_linux::Error::Request(error.to_string()))?;
    Ok(text)
}
