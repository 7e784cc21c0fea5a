//! `trueplane cache serve`

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::net::{TcpListener, lookup_host};
use tokio::signal::unix::{Signal, SignalKind, signal};
use trueplane_cache::{PolicyName, Stats};
use trueplane_proxy::{OriginUrl, Proxy, Settings, Timeouts};
use trueplane_trace::without_code;
use trueplane_units::{Bytes, Nanos, Positive, parameters};

use crate::address::Address;
use crate::failure::Failure;
use crate::flags::Flags;
use crate::output::print;

/// Serve what an HTTP server answers from a cache in front of it, until Ctrl-C or SIGTERM.
///
/// All who ask for one URL while it is fetched share one fetch, and read its body while it arrives. A fetch goes on when its client leaves. If the server
/// dies within a body, the rest is asked for as a range, where an entity tag says that it is of the same answer. What is evicted is what causes the least
/// waiting, by the time that each URL takes to fetch. The rules are those of RFC 9111; each answer says in Cache-Status what the cache did.
///
/// At the end it tells how long requests waited, and how long they would have by their hit rate.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  trueplane cache serve --origin http://127.0.0.1:8080
  trueplane cache serve --origin http://app.internal --listen 0.0.0.0:80 --memory 2GiB --policy lhd-mad")]
pub(crate) struct Args {
    #[command(flatten)]
    flags: Flags<Options>,
}

parameters! {
    /// Parameters of `cache serve`.
    #[derive(Clone, Debug)]
    struct Options {
        /// Server to cache.
        origin: Option<OriginUrl> => { value: "URL", required: true },
        /// Address to listen at; port 0 takes a free one, and the first line of output tells which.
        listen: Address => { value: "ADDRESS:PORT", default: "127.0.0.1:8081" },
        /// Memory for answers.
        memory: Positive<Bytes> => { value: "SIZE", default: "256MiB" },
        /// Policy that says who leaves when the memory is full.
        policy: PolicyName => { value: "POLICY", default: "lru-mad" },
        /// Time within which the server must take a connection.
        connect_timeout: Positive<Nanos> => { value: "TIME", default: "5s" },
        /// Time within which the server must begin to answer, and go on with a body.
        timeout: Positive<Nanos> => { value: "TIME", default: "60s" },
        /// Time for which what is stale is served while the server cannot be reached, where it does not say so itself.
        stale_if_unreachable: Nanos => { value: "TIME", default: "24h" },
        /// Believe the X-Forwarded- fields of requests, as all clients are proxies of yours: what ends TLS, say. Others could poison the cache by them.
        trust_forwarded: bool => {},
        /// File to which a line of JSON is added for each request, named as nginx names what is in it: `trueplane cache compare --sort` reads it. SIGHUP opens it anew.
        log: Option<PathBuf> => { value: "FILE" },
    }
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let options = self.flags.0;
        let Some(origin) = &options.origin else { return Err(Failure::input("--origin is missing")) };
        if options.policy.properties().offline {
            let policy = options.policy;
            return Err(Failure::input(format!(
                "--policy {policy} must know the future, which no server does"
            )));
        }
        let cannot = |error: std::io::Error| Failure::other(without_code(&error));
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(cannot)?;
        runtime.block_on(serve(&options, origin))
    }
}

async fn serve(options: &Options, origin: &OriginUrl) -> Result<(), Failure> {
    let unknown =
        |error: std::io::Error| Failure::input(format!("--origin {origin}: {}", without_code(&error)));
    let _addresses = lookup_host(origin.host_and_port()).await.map_err(unknown)?;
    let Address(listen) = options.listen;
    let cannot = |error: std::io::Error| {
        let reason = without_code(&error);
        Failure::other(format!("cannot listen on {listen}: {reason}; name another address with --listen"))
    };
    let listener = TcpListener::bind(listen).await.map_err(cannot)?;
    let address = listener.local_addr().map_err(cannot)?;
    let duration = |time: Nanos| Duration::from_nanos(time.0);
    let settings = Settings {
        policy: options.policy,
        timeouts: Timeouts {
            connect: duration(*options.connect_timeout),
            head: duration(*options.timeout),
            body: duration(*options.timeout),
        },
        stale_if_unreachable: duration(options.stale_if_unreachable),
        trusts_forwarded: options.trust_forwarded,
        log: options.log.clone(),
        ..Settings::new(origin.authority().clone(), options.memory.0)
    };
    let unwritable = |error: std::io::Error| {
        let path = options.log.as_deref().unwrap_or(Path::new("")).display();
        Failure::input(format!("{path}: {}", without_code(&error)))
    };
    let proxy = Proxy::new(&settings).map_err(unwritable)?;
    print(&format!("Serving http://{address} from {origin}\n"))?;
    let mut terminated = signal(SignalKind::terminate()).map_err(cannot)?;
    let mut hung_up = signal(SignalKind::hangup()).map_err(cannot)?;
    let stop = async {
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = terminated.recv() => {}
        }
    };
    tokio::select! {
        () = proxy.serve(listener, stop) => {}
        () = reopen_logs(&proxy, &mut hung_up) => {}
    }
    if let Some(failure) = proxy.log_failure() {
        return Err(Failure::other(format!("the log has ended early: {failure}")));
    }
    print(&told(&proxy.stats()))
}

/// Opens the log anew at every SIGHUP, for as long as it is awaited.
async fn reopen_logs(proxy: &Proxy, hung_up: &mut Signal) {
    while hung_up.recv().await.is_some() {
        if let Err(error) = proxy.reopen_log() {
            eprintln!("the log goes on in the old file: {}", without_code(&error));
        }
    }
    std::future::pending::<()>().await;
}

/// A mean time, if there is one.
fn time(nanos: Option<f64>) -> String {
    nanos.map_or_else(|| "unknown".to_owned(), |nanos| Nanos(nanos.round() as u64).to_string())
}

/// The three numbers.
fn told(stats: &Stats) -> String {
    let requests = stats.hits + stats.delayed_hits + stats.misses;
    if requests == 0 {
        return "No requests.\n".to_owned();
    }
    let share = |count: u64| 100.0 * count as f64 / requests as f64;
    let requests = if requests == 1 { "1 request".to_owned() } else { format!("{requests} requests") };
    format!(
        "{requests} that a cache may answer: {:.1}% hits, {:.1}% delayed hits, {:.1}% misses.\n\
         Mean wait by the hit rate {}, measured {}.\n",
        share(stats.hits),
        share(stats.delayed_hits),
        share(stats.misses),
        time(stats.predicted_latency()),
        time(stats.measured_latency()),
    )
}
