//! `trueplane cache serve`

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::net::{TcpListener, lookup_host};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use trueplane_cache::Stats;
use trueplane_proxy::config::Listen;
use trueplane_proxy::settings::{CacheSettings, SiteSettings};
use trueplane_proxy::{Admin, Config, ConfigError, Proxy, Settings};
use trueplane_trace::without_code;
use trueplane_units::{Address, Nanos, parameters};

use crate::failure::Failure;
use crate::flags::Flags;
use crate::output::print;

/// Time between two looks at whether the files of certificates have changed.
const LOOK: Duration = Duration::from_secs(5);

/// Run an HTTP cache in front of your servers, until Ctrl-C or SIGTERM.
///
/// Requests for a URL that is being fetched share one fetch, and read its body while it arrives. A fetch goes on when its client leaves. If the
/// server fails within a body, the cache requests the rest as a range, provided that an entity tag shows that it belongs to the same answer. By
/// default, the cache evicts the answers that cause the least waiting, by the time that each URL takes to fetch (--policy). The cache follows
/// RFC 9111. The field Cache-Status of each answer says what the cache did. The cache supports HTTP/1.1, HTTP/2, TLS and WebSocket with clients
/// and with servers.
///
/// For several sites, write a configuration file with a `[[site]]` for each. Its keys are the flags, with _ instead of -. SIGHUP makes the cache
/// read the file again. No request is lost, and stored answers stay.
///
/// At the end, the cache shows how long requests waited, and how long their hit rate predicts.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  trueplane cache serve --origin http://127.0.0.1:8080
  trueplane cache serve --origin http://10.0.0.1:8080,http://10.0.0.2:8080 --listen 0.0.0.0:80 --memory 2GiB --policy lhd-mad
  trueplane cache serve --origin http://127.0.0.1:8080 --disk /var/cache/trueplane --disk-size 50GiB
  trueplane cache serve --origin https://app.internal --listen-tls 0.0.0.0:443 --certificate www.pem --certificate-key www.key
  trueplane cache serve --config sites.toml --check")]
pub(crate) struct Args {
    #[command(flatten)]
    flags: Flags<Options>,
}

parameters! {
    /// Parameters of `cache serve`.
    #[derive(Clone, Debug)]
    struct Options {
        /// Configuration file (TOML). It replaces the other flags, except for --check.
        config: Option<PathBuf> => { value: "FILE", conflicts: OTHERS },
        /// Check the configuration and the files and names in it, and exit.
        check: bool => {},
    }
    including {
        /// The site, if there is one.
        site: SiteSettings,
        /// The addresses that it listens at.
        listen: Listen,
        /// The parameters that all sites share.
        cache: CacheSettings,
    }
}

/// The flags that a configuration file stands for.
const OTHERS: &str = "origin hosts certificate certificate_key origin_ca connect_timeout timeout stale_if_unreachable health_path health_interval origin_http2 max_body \
                      listen listen_tls memory policy disk disk_size log socket admin admin_token trust_forwarded max_connections client_timeout max_head";

impl Options {
    /// The configuration: of the file, or of the flags.
    fn config(&self) -> Result<Config, Failure> {
        if let Some(path) = &self.config {
            return Config::read(path).map_err(|error| input(&error));
        }
        if self.site.origin.is_none() {
            return Err(Failure::input("expected --origin or --config, got neither"));
        }
        let settings = Settings { cache: self.cache.clone(), sites: vec![self.site.clone()] };
        let config = Config { listen: self.listen.clone(), settings };
        config.check().map_err(|error| input(&error))?;
        Ok(config)
    }
}

fn input(error: &ConfigError) -> Failure {
    Failure::input(error.to_string())
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let options = self.flags.0;
        let config = options.config()?;
        let cannot = |error: std::io::Error| Failure::other(without_code(&error));
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(cannot)?;
        let served = runtime.block_on(serve(&options, &config));
        // A disk that does not answer keeps nobody from ending.
        runtime.shutdown_timeout(Duration::from_secs(1));
        served
    }
}

/// Fails if the name of an origin cannot be found: it is most likely misspelt.
async fn look_up(settings: &Settings) -> Result<(), Failure> {
    for site in &settings.sites {
        for origin in site.origin.iter().flat_map(|origins| origins.iter()) {
            let unknown =
                |error: std::io::Error| Failure::input(format!("origin {origin}: {}", without_code(&error)));
            let _addresses = lookup_host(origin.host_and_port()).await.map_err(unknown)?;
        }
    }
    Ok(())
}

/// Begins to listen at an address.
async fn listen(Address(address): Address) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).await.map_err(|error| {
        let reason = without_code(&error);
        Failure::other(format!("cannot listen on {address}: {reason}; name another address with --listen"))
    })
}

async fn serve(options: &Options, config: &Config) -> Result<(), Failure> {
    let cannot = |error: std::io::Error| Failure::other(without_code(&error));
    // First of all, since SIGHUP would end the process, and may come before it serves.
    let mut terminated = signal(SignalKind::terminate()).map_err(cannot)?;
    let mut hung_up = signal(SignalKind::hangup()).map_err(cannot)?;
    look_up(&config.settings).await?;
    if options.check {
        Proxy::check(&config.settings).map_err(|error| input(&error))?;
        let sites = config.settings.sites.len();
        return print(&format!("The configuration is fine: {}.\n", counted(sites, "site")));
    }
    let proxy = Proxy::new(&config.settings).map_err(|error| input(&error))?;
    let (stopping, stopped) = watch::channel(());
    let stop = || {
        let mut stopped = stopped.clone();
        async move { drop(stopped.changed().await) }
    };
    let mut serving = tokio::task::JoinSet::new();
    let from: Vec<String> = config.settings.sites.iter().map(told_site).collect();
    let from = from.join(", ");
    for address in config.listen.plain() {
        let listener = listen(address).await?;
        print(&format!("Serving http://{} from {from}\n", listener.local_addr().map_err(cannot)?))?;
        let (proxy, stop) = (proxy.clone(), stop());
        serving.spawn(async move {
            proxy.serve(listener, stop).await;
            Ok(())
        });
    }
    for &address in config.listen.tls() {
        let listener = listen(address).await?;
        print(&format!("Serving https://{} from {from}\n", listener.local_addr().map_err(cannot)?))?;
        let (proxy, stop) = (proxy.clone(), stop());
        serving.spawn(async move { proxy.serve_tls(listener, stop).await });
    }
    if let Some(admin) = Admin::open(&proxy).await.map_err(|error| input(&error))? {
        if let Some(address) = admin.address() {
            print(&format!("How it does: http://{address}/\n"))?;
        }
        let stop = stop();
        serving.spawn(async move {
            admin.serve(stop).await;
            Ok(())
        });
    }
    let mut looks = tokio::time::interval(LOOK);
    let mut told = None;
    loop {
        tokio::select! {
            _ = tokio::signal::ctrl_c() => break,
            _ = terminated.recv() => break,
            _ = hung_up.recv() => reload(&proxy, options.config.as_deref()).await,
            _ = looks.tick() => {
                // An error is told once, and not at every look.
                let error = proxy.renew_certificates().err();
                if let Some(error) = error.as_ref().filter(|error| told.as_ref() != Some(*error)) {
                    eprintln!("the certificates from before stay: {error}");
                }
                told = error;
                if let Some(news) = proxy.disk_news() {
                    eprintln!("{news}");
                }
            }
        }
    }
    drop(stopping);
    while let Some(ended) = serving.join_next().await {
        ended.map_err(|error| Failure::other(error.to_string()))?.map_err(|error| input(&error))?;
    }
    proxy.close().await;
    if let Some(failure) = proxy.log_failure() {
        return Err(Failure::other(format!("the log has ended early: {failure}")));
    }
    print(&told_stats(&proxy.stats()))
}

/// Opens the log anew, and reads the configuration file again. What goes wrong is told, and the cache goes on as before.
async fn reload(proxy: &Proxy, config: Option<&Path>) {
    if let Err(error) = proxy.reopen_log() {
        eprintln!("the log goes on in the old file: {}", without_code(&error));
    }
    let Some(path) = config else { return };
    let read = async {
        let config = Config::read(path).map_err(|error| error.to_string())?;
        proxy.reload(&config.settings).map_err(|error| error.to_string())
    };
    match read.await {
        Ok(names) if names.is_empty() => eprintln!("{}: read again", path.display()),
        Ok(names) => {
            let names = names.join(", ");
            eprintln!("{}: read again; start anew to change {names}", path.display());
        }
        Err(error) => eprintln!("the configuration from before stays: {error}"),
    }
}

/// The servers of a site.
fn told_site(site: &SiteSettings) -> String {
    let origins = site.origin.iter().flat_map(|origins| origins.iter()).map(ToString::to_string);
    origins.collect::<Vec<_>>().join(" and ")
}

/// A number of things.
fn counted(count: usize, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") }
}

/// A mean time, if there is one.
fn time(nanos: Option<f64>) -> String {
    nanos.map_or_else(|| "unknown".to_owned(), |nanos| Nanos(nanos.round() as u64).to_string())
}

/// The three numbers.
fn told_stats(stats: &Stats) -> String {
    let requests = stats.hits + stats.delayed_hits + stats.misses;
    if requests == 0 {
        return "No requests.\n".to_owned();
    }
    let share = |count: u64| 100.0 * count as f64 / requests as f64;
    format!(
        "{} that a cache may answer: {:.1}% hits, {:.1}% delayed hits, {:.1}% misses.\n\
         Mean wait by the hit rate {}, measured {}.\n",
        counted(requests as usize, "request"),
        share(stats.hits),
        share(stats.delayed_hits),
        share(stats.misses),
        time(stats.predicted_latency()),
        time(stats.measured_latency()),
    )
}

#[cfg(test)]
mod tests {
    use trueplane_units::parameter::table;

    use super::*;

    #[test]
    fn a_configuration_file_stands_for_all_flags_of_the_cache() {
        let tables = [table::<SiteSettings>(), table::<Listen>(), table::<CacheSettings>()];
        let mut fields: Vec<&str> = tables.iter().flatten().map(|parameter| parameter.field).collect();
        let mut others: Vec<&str> = OTHERS.split_whitespace().collect();
        fields.sort_unstable();
        others.sort_unstable();
        assert_eq!(others, fields);
    }
}
