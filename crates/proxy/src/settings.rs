//! What a cache serves, and how: declared once, for the command line, for configuration files and for programs.

use std::path::PathBuf;
use std::time::Duration;

use trueplane_cache::PolicyName;
use trueplane_units::{Address, Bytes, List, Nanos, Positive, parameters};

use crate::disk::LEAST_SIZE;
use crate::values::{HostPattern, OriginUrl, UrlPath};

const CLIENTS: &str = "Clients";
const TLS: &str = "TLS";
const ORIGINS: &str = "Origins";
const ADMIN: &str = "Administration";

parameters! {
    /// What all sites of a cache share.
    #[derive(Clone, Debug)]
    pub struct CacheSettings {
        /// Memory for stored answers.
        pub memory: Positive<Bytes> => { value: "SIZE", default: "256MiB" },
        /// Policy that chooses what to evict when the memory is full. The policies belady and belady-ad are refused, because they need to know
        /// the future.
        pub policy: PolicyName => { value: "POLICY", default: "lru-mad" },
        /// Folder for a second tier of stored answers, on disk. It holds answers that the memory has no room for, if they save enough waiting.
        /// They are still there after a restart.
        pub disk: Option<PathBuf> => { value: "DIR", requires: "disk_size" },
        /// Size limit for all files in the folder of --disk, at least 4MiB.
        pub disk_size: Option<Positive<Bytes>> => { value: "SIZE", requires: "disk" },
        /// Access log: the cache appends a line of JSON to this file for each request. The fields have the names that nginx uses. `trueplane
        /// cache compare --sort` reads the log. SIGHUP reopens the file.
        pub log: Option<PathBuf> => { value: "FILE" },
        /// Unix socket for `trueplane cache stats`, `top`, `purge` and `ban`. Only its owner may use it.
        pub socket: Option<PathBuf> => { value: "FILE", heading: ADMIN },
        /// Loopback address for a status page, and /metrics for Prometheus. Other addresses are refused.
        pub admin: Option<Address> => { value: "ADDRESS:PORT", heading: ADMIN },
        /// File with the token that purge requests to the address of --admin need. They send it as Authorization: Bearer TOKEN. Without this
        /// flag, purge requests to that address are refused.
        pub admin_token: Option<PathBuf> => { value: "FILE", requires: "admin", heading: ADMIN },
        /// Trust the X-Forwarded- fields of requests. Use this only if all clients are your own proxies, such as one that ends TLS. Other
        /// clients could poison the cache with these fields.
        pub trust_forwarded: bool => { heading: CLIENTS },
        /// Maximum number of client connections at the same time. Further connections wait until one ends.
        pub max_connections: Positive<usize> => { value: "N", default: "65536", heading: CLIENTS },
        /// Time limit for a client to send a request head, to read on, or to be idle.
        pub client_timeout: Positive<Nanos> => { value: "TIME", default: "60s", heading: CLIENTS },
        /// Maximum size of the head of a request. A request with a larger head is refused.
        pub max_head: Positive<Bytes> => { value: "SIZE", default: "64KiB", heading: CLIENTS },
    }
}

parameters! {
    /// What a site is: the hosts that it answers for, and the servers behind it.
    #[derive(Clone, Debug)]
    pub struct SiteSettings {
        /// Servers to cache, such as `http://127.0.0.1:8080`. Several servers share the requests. A server that fails gets none for 10 s while
        /// another one answers.
        pub origin: Option<List<OriginUrl>> => { value: "LIST" },
        /// Hosts to answer for, such as www.example.com,*.example.com. By default, these are all hosts that no other site answers for.
        pub hosts: Option<List<HostPattern>> => { value: "NAMES", default_words: "all" },
        /// File with the TLS certificate for clients, and its chain (PEM). The cache reads the file again when it changes.
        pub certificate: Option<PathBuf> => { value: "FILE", requires: "certificate_key", heading: TLS },
        /// File with the private key of the certificate (PEM).
        pub certificate_key: Option<PathBuf> => { value: "FILE", requires: "certificate", heading: TLS },
        /// File with the certificates to trust for servers with TLS (PEM). They replace those that the system trusts.
        pub origin_ca: Option<PathBuf> => { value: "FILE", heading: TLS },
        /// Time limit for a server to accept a connection.
        pub connect_timeout: Positive<Nanos> => { value: "TIME", default: "5s", heading: ORIGINS },
        /// Time limit for a server to begin its answer, and between two parts of a body.
        pub timeout: Positive<Nanos> => { value: "TIME", default: "60s", heading: ORIGINS },
        /// Time for which stale answers are served while no server can be reached. An answer with stale-if-error has its own time instead.
        /// Answers with s-maxage, must-revalidate or no-cache are not served in this way.
        pub stale_if_unreachable: Nanos => { value: "TIME", default: "24h", heading: ORIGINS },
        /// Path that the cache requests from each server to check its health. A server that does not answer with 2xx or 3xx gets no requests
        /// while another one does. Without this flag, there are no such checks.
        pub health_path: Option<UrlPath> => { value: "PATH", heading: ORIGINS },
        /// Time between two health checks, and time limit for the answer to one.
        pub health_interval: Positive<Nanos> => { value: "TIME", default: "5s", heading: ORIGINS },
        /// Use HTTP/2 with the servers, over one connection to each.
        pub origin_http2: bool => { heading: ORIGINS },
        /// Maximum size of the body of a request. A request with a larger body is refused.
        pub max_body: Positive<Bytes> => { value: "SIZE", default: "1GiB", heading: CLIENTS },
    }
}

/// Times after which a server counts as not answering.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeouts {
    /// Until it takes a connection.
    pub(crate) connect: Duration,
    /// From the request to the head of its answer.
    pub(crate) head: Duration,
    /// Between two parts of a body.
    pub(crate) body: Duration,
}

impl CacheSettings {
    /// Whether it can be asked how it does.
    pub(crate) fn has_admin(&self) -> bool {
        self.socket.is_some() || self.admin.is_some()
    }
}

impl SiteSettings {
    /// The servers behind.
    pub(crate) fn origins(&self) -> &[OriginUrl] {
        self.origin.as_ref().map_or(&[], |all| &all.0)
    }

    /// The hosts that it answers for; none: all others.
    pub(crate) fn hosts(&self) -> &[HostPattern] {
        self.hosts.as_ref().map_or(&[], |all| &all.0)
    }

    /// What it is called: by its first host, or by its first server.
    pub(crate) fn name(&self) -> String {
        let host = self.hosts().first().map(ToString::to_string);
        host.or_else(|| self.origins().first().map(ToString::to_string)).unwrap_or_default()
    }

    /// When its servers count as not answering.
    pub(crate) fn timeouts(&self) -> Timeouts {
        let duration = |time: Nanos| Duration::from_nanos(time.0);
        let (connect, other) = (duration(*self.connect_timeout), duration(*self.timeout));
        Timeouts { connect, head: other, body: other }
    }
}

/// What a cache serves, and how.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The parameters that all sites share.
    pub cache: CacheSettings,
    /// The sites; at least one.
    pub sites: Vec<SiteSettings>,
}

impl Settings {
    /// The defaults, for a server that answers for all hosts, and so many bytes of memory: at least one.
    pub fn new(origin: OriginUrl, memory: u64) -> Self {
        let mut cache = CacheSettings::default();
        cache.memory = Positive::new(Bytes(memory.max(1))).unwrap_or(cache.memory);
        let site = SiteSettings { origin: Some(List(vec![origin])), ..SiteSettings::default() };
        Self { cache, sites: vec![site] }
    }

    /// Checks what no single value says.
    ///
    /// # Errors
    ///
    /// A sentence that says what is wrong, and the number of the site if it is of one.
    pub(crate) fn check(&self) -> Result<(), (Option<usize>, String)> {
        let policy = self.cache.policy;
        if policy.properties().offline {
            return Err((None, format!("policy {policy} must know the future, which no server does")));
        }
        if let Some(Address(address)) = self.cache.admin
            && !address.ip().is_loopback()
        {
            return Err((
                None,
                format!(
                    "admin: expected an address of this machine alone such as 127.0.0.1:9479, got {address}"
                ),
            ));
        }
        if self.cache.admin_token.is_some() && self.cache.admin.is_none() {
            return Err((None, "admin_token needs admin".to_owned()));
        }
        match (&self.cache.disk, self.cache.disk_size) {
            (Some(_), Some(size)) if size.0 < LEAST_SIZE => {
                let least = Bytes(LEAST_SIZE);
                return Err((None, format!("disk_size: expected at least {least}, got {}", *size)));
            }
            (Some(_), None) | (None, Some(_)) => {
                return Err((None, "disk needs disk_size, and disk_size needs disk".to_owned()));
            }
            _ => {}
        }
        for (index, site) in self.sites.iter().enumerate() {
            let wrong = |what: String| Err((Some(index), what));
            if site.origins().is_empty() {
                return wrong("origin is missing".to_owned());
            }
            if site.certificate.is_some() != site.certificate_key.is_some() {
                return wrong("a certificate needs a key, and a key a certificate".to_owned());
            }
            let others = &self.sites[..index];
            if site.hosts().is_empty() && others.iter().any(|other| other.hosts().is_empty()) {
                return wrong("two sites answer for all other hosts; give one of them hosts".to_owned());
            }
            let is_taken = |host: &&HostPattern| others.iter().any(|other| other.hosts().contains(host));
            if let Some(host) = site.hosts().iter().find(is_taken) {
                return wrong(format!("two sites answer for {host}"));
            }
        }
        if self.sites.is_empty() { Err((None, "expected a site, got none".to_owned())) } else { Ok(()) }
    }
}
