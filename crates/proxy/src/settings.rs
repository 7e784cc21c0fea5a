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
        /// Memory for answers.
        pub memory: Positive<Bytes> => { value: "SIZE", default: "256MiB" },
        /// Policy that says who leaves when the memory is full.
        pub policy: PolicyName => { value: "POLICY", default: "lru-mad" },
        /// Folder for a tier on disk: what the memory has no room for is kept there if that saves enough waiting, and is there after a restart.
        pub disk: Option<PathBuf> => { value: "DIR", requires: "disk_size" },
        /// Bytes of all files there, at most.
        pub disk_size: Option<Positive<Bytes>> => { value: "SIZE", requires: "disk" },
        /// File to which a line of JSON is added for each request, named as nginx names what is in it: `trueplane cache compare --sort` reads it. SIGHUP opens it anew.
        pub log: Option<PathBuf> => { value: "FILE" },
        /// Unix socket at which `trueplane cache stats`, `top`, `purge` and `ban` reach the cache. Only its owner may use it.
        pub socket: Option<PathBuf> => { value: "FILE", heading: ADMIN },
        /// Address of this machine at which there are a page that shows how the cache does, and /metrics for Prometheus.
        pub admin: Option<Address> => { value: "ADDRESS:PORT", heading: ADMIN },
        /// File with the token that requests to purge must have at that address, as Authorization: Bearer TOKEN. Without one they are refused there.
        pub admin_token: Option<PathBuf> => { value: "FILE", requires: "admin", heading: ADMIN },
        /// Believe the X-Forwarded- fields of requests, as all clients are proxies of yours: what ends TLS, say. Others could poison the cache by them.
        pub trust_forwarded: bool => { heading: CLIENTS },
        /// Connections of clients at once; more wait until one ends.
        pub max_connections: Positive<usize> => { value: "N", default: "65536", heading: CLIENTS },
        /// Time that a client may take to send the head of a request, to go on reading, and to be idle.
        pub client_timeout: Positive<Nanos> => { value: "TIME", default: "60s", heading: CLIENTS },
        /// Bytes of the head of a request; one with more is refused.
        pub max_head: Positive<Bytes> => { value: "SIZE", default: "64KiB", heading: CLIENTS },
    }
}

parameters! {
    /// What a site is: the hosts that it answers for, and the servers behind it.
    #[derive(Clone, Debug)]
    pub struct SiteSettings {
        /// Server to cache; several share the requests, and one that fails is left out for 10 s while another answers.
        pub origin: Option<List<OriginUrl>> => { value: "LIST" },
        /// Hosts to answer for, such as www.example.com,*.example.com; all that no other site answers for if there are none.
        pub hosts: Option<List<HostPattern>> => { value: "NAMES", default_words: "all" },
        /// File with the certificate that clients see, and those that sign it (PEM). It is read again when it changes.
        pub certificate: Option<PathBuf> => { value: "FILE", requires: "certificate_key", heading: TLS },
        /// File with the certificate's private key (PEM).
        pub certificate_key: Option<PathBuf> => { value: "FILE", requires: "certificate", heading: TLS },
        /// File with certificates that sign those of the servers behind, instead of those that the system trusts (PEM).
        pub origin_ca: Option<PathBuf> => { value: "FILE", heading: TLS },
        /// Time within which a server must take a connection.
        pub connect_timeout: Positive<Nanos> => { value: "TIME", default: "5s", heading: ORIGINS },
        /// Time within which a server must begin to answer, and go on with a body.
        pub timeout: Positive<Nanos> => { value: "TIME", default: "60s", heading: ORIGINS },
        /// Time for which what is stale is served while no server can be reached, where they do not say so themselves.
        pub stale_if_unreachable: Nanos => { value: "TIME", default: "24h", heading: ORIGINS },
        /// Path to ask each server for regularly: one that does not answer with 2xx or 3xx gets no requests while another does.
        pub health_path: Option<UrlPath> => { value: "PATH", heading: ORIGINS },
        /// Time between two such questions, within which a server must have answered.
        pub health_interval: Positive<Nanos> => { value: "TIME", default: "5s", heading: ORIGINS },
        /// Speak HTTP/2 with the servers, over one connection to each.
        pub origin_http2: bool => { heading: ORIGINS },
        /// Bytes of the body of a request that is passed on; one with more is refused.
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
