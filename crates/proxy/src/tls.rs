//! Certificates: those that clients see, by the host that they ask for, and those that sign the servers behind.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use arc_swap::ArcSwap;
use hashbrown::HashMap;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, RootCertStore, ServerConfig};

use crate::reason::reason;
use crate::settings::SiteSettings;
use crate::values::{HostPattern, OriginUrl};

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// Whom servers must be signed by: `ca`, or else those that the system trusts, which are only read if a server speaks TLS.
///
/// # Errors
///
/// The file cannot be read, or there are none, in one line.
pub(crate) fn trusted(ca: Option<&Path>, origins: &[OriginUrl]) -> Result<Arc<ClientConfig>, String> {
    let mut roots = RootCertStore::empty();
    match ca {
        Some(path) => {
            for certificate in certificates(path)? {
                roots.add(certificate).map_err(|error| format!("{}: {error}", path.display()))?;
            }
        }
        None if origins.iter().any(OriginUrl::is_https) => {
            let found = rustls_native_certs::load_native_certs();
            roots.add_parsable_certificates(found.certs);
            if roots.is_empty() {
                return Err("the system trusts no certificates; install ca-certificates, or name a file with origin_ca".to_owned());
            }
        }
        None => {}
    }
    let config = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
    let config = config.map_err(|error| error.to_string())?;
    Ok(Arc::new(config.with_root_certificates(roots).with_no_client_auth()))
}

/// The certificates in a file; at least one.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let wrong = |what: &str| format!("{}: {what}", path.display());
    let read = CertificateDer::pem_file_iter(path).map_err(|error| wrong(&why(&error)))?;
    let all: Vec<_> = read.collect::<Result<_, _>>().map_err(|error| wrong(&why(&error)))?;
    if all.is_empty() { Err(wrong("expected a certificate (PEM), got none")) } else { Ok(all) }
}

/// Why a file of certificates or keys cannot be read.
fn why(error: &pem::Error) -> String {
    match error {
        pem::Error::Io(error) => reason(error),
        pem::Error::NoItemsFound => "expected a private key (PEM), got none".to_owned(),
        error => error.to_string(),
    }
}

/// The certificates that clients see. Clones are the same ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Certificates {
    state: Arc<ArcSwap<State>>,
}

#[derive(Debug, Default)]
struct State {
    by_host: HashMap<HostPattern, Arc<CertifiedKey>>,
    /// The one for all other hosts, and for clients that name none.
    other: Option<Arc<CertifiedKey>>,
    /// The files, and when each was changed.
    files: Vec<(PathBuf, Option<SystemTime>)>,
}

impl Certificates {
    /// Reads the certificates of sites. After an error those from before stay.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or a key does not fit its certificate, in one line.
    pub(crate) fn read(&self, sites: &[SiteSettings]) -> Result<(), String> {
        let mut state = State::default();
        for site in sites {
            let (Some(certificate), Some(key)) = (&site.certificate, &site.certificate_key) else { continue };
            // Taken before they are read: what changes meanwhile is read again.
            state.files.extend([certificate, key].map(|path| (path.clone(), changed(path))));
            let pair = Arc::new(pair(certificate, key)?);
            for host in site.hosts() {
                state.by_host.insert(host.clone(), Arc::clone(&pair));
            }
            if site.hosts().is_empty() || state.other.is_none() {
                state.other = Some(pair);
            }
        }
        self.state.store(Arc::new(state));
        Ok(())
    }

    /// Whether a file has changed since it was read.
    pub(crate) fn have_changed(&self) -> bool {
        self.state.load().files.iter().any(|(path, time)| changed(path) != *time)
    }

    /// What a server with these certificates needs.
    ///
    /// # Errors
    ///
    /// The library refuses it, in one line.
    pub(crate) fn server(&self) -> Result<Arc<ServerConfig>, String> {
        let config = ServerConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
        let config = config.map_err(|error| error.to_string())?;
        let mut config = config.with_no_client_auth().with_cert_resolver(Arc::new(self.clone()));
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }
}

impl ResolvesServerCert for Certificates {
    fn resolve(&self, client: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let state = self.state.load();
        let named = client.server_name().and_then(|host| {
            HostPattern::find(&host.to_ascii_lowercase(), |pattern| state.by_host.get(pattern).cloned())
        });
        named.or_else(|| state.other.clone())
    }
}

/// When a file was changed, if it is there.
fn changed(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).and_then(|facts| facts.modified()).ok()
}

/// A certificate with its key.
fn pair(certificate: &Path, key: &Path) -> Result<CertifiedKey, String> {
    let chain = certificates(certificate)?;
    let wrong = |what: String| format!("{}: {what}", key.display());
    let read = PrivateKeyDer::from_pem_file(key).map_err(|error| wrong(why(&error)))?;
    CertifiedKey::from_der(chain, read, &provider()).map_err(|error| wrong(error.to_string()))
}
