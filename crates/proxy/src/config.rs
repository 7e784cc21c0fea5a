//! Configuration files: TOML, with a key for each parameter, named like its flag with `_` for `-`, and a `[[site]]` for each site.

use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use trueplane_units::parameter::table;
use trueplane_units::{Address, List, Parameters, parameters, unexpected};

use crate::reason::reason;
use crate::settings::{CacheSettings, Settings};

/// The key of sites.
const SITE: &str = "site";

/// Where a cache listens unless it is told otherwise.
const DEFAULT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8081);

parameters! {
    /// The addresses that a cache listens at.
    #[derive(Clone, Debug)]
    pub struct Listen {
        /// Addresses to listen on. Port 0 picks a free port, and the first lines of output name it.
        pub listen: Option<List<Address>> => { value: "LIST", default_words: "127.0.0.1:8081, or none with --listen-tls" },
        /// Addresses to listen on with TLS, with the certificates of the sites.
        pub listen_tls: Option<List<Address>> => { value: "LIST", requires: "certificate", heading: "TLS" },
    }
}

impl Listen {
    /// Addresses to listen at without TLS: those that are given, or one on this machine if there are none at all.
    pub fn plain(&self) -> Vec<Address> {
        match (&self.listen, &self.listen_tls) {
            (Some(addresses), _) => addresses.0.clone(),
            (None, Some(_)) => Vec::new(),
            (None, None) => vec![Address(DEFAULT)],
        }
    }

    /// Addresses to listen at with TLS.
    pub fn tls(&self) -> &[Address] {
        self.listen_tls.as_ref().map_or(&[], |addresses| &addresses.0)
    }
}

parameters! {
    /// The keys of a configuration file above its sites.
    #[derive(Clone, Debug)]
    struct Top {}
    including {
        /// The addresses that it listens at.
        listen: Listen,
        /// The parameters that all sites share.
        cache: CacheSettings,
    }
}

/// A configuration, as a file says it.
#[derive(Clone, Debug)]
pub struct Config {
    /// The addresses that the cache listens at.
    pub listen: Listen,
    /// The sites, and what they share.
    pub settings: Settings,
}

/// An error in a configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{}: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The reason, as the system says it.
        reason: String,
    },
    /// A place in it is wrong.
    #[error("{}:{line}:{column}: {what}", path.display())]
    Wrong {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// The reason, in one line.
        what: String,
    },
    /// The values are fine each, and make no sense together.
    #[error("{0}")]
    Senseless(String),
}

impl ConfigError {
    /// A file cannot be read or written.
    pub(crate) fn unreadable(path: &Path, error: &io::Error) -> Self {
        Self::Unreadable { path: path.to_owned(), reason: reason(error) }
    }
}

/// An error, and its byte in the text.
struct Wrong {
    at: usize,
    what: String,
}

impl Config {
    /// Reads a configuration file.
    ///
    /// # Errors
    ///
    /// It cannot be read, is no TOML, or a value is wrong; the error says where.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let bytes = fs::read(path).map_err(|error| ConfigError::unreadable(path, &error))?;
        let text = String::from_utf8(bytes).map_err(|_| ConfigError::Unreadable {
            path: path.to_owned(),
            reason: "expected text (UTF-8)".to_owned(),
        })?;
        Self::parse(path, &text)
    }

    /// Reads the text of a configuration file. Paths in it are relative to the folder of `path`, which errors name, too.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub fn parse(path: &Path, text: &str) -> Result<Self, ConfigError> {
        let wrong = |Wrong { at, what }| {
            let before =
                text.char_indices().take_while(|(place, _)| *place < at).map(|(_, character)| character);
            let (line, column) = before.fold((1, 1), |(line, column), character| match character {
                '\n' => (line + 1, 1),
                _ => (line, column + 1),
            });
            let what = what.lines().collect::<Vec<_>>().join(" ");
            ConfigError::Wrong { path: path.to_owned(), line, column, what }
        };
        let mut config = read(text).map_err(wrong)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let cache = &mut config.settings.cache;
        let sites = config.settings.sites.iter_mut();
        let of_sites =
            sites.flat_map(|site| [&mut site.certificate, &mut site.certificate_key, &mut site.origin_ca]);
        for path in of_sites
            .chain([&mut cache.log, &mut cache.disk, &mut cache.socket, &mut cache.admin_token])
            .flatten()
        {
            *path = folder.join(&path);
        }
        Ok(config)
    }
}

fn read(text: &str) -> Result<Config, Wrong> {
    let parsed = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        Wrong { at, what: format!("not TOML: {}", error.message()) }
    })?;
    let mut top: Top = take(parsed.get_ref(), &[SITE])?;
    let mut sites = Vec::new();
    let mut places = Vec::new();
    if let Some(value) = parsed.get_ref().get(SITE) {
        let not_tables =
            || Wrong { at: value.span().start, what: "site: expected tables under [[site]]".to_owned() };
        for entry in value.get_ref().as_array().ok_or_else(not_tables)? {
            sites.push(take(entry.get_ref().as_table().ok_or_else(not_tables)?, &[])?);
            places.push(entry.span().start);
        }
    }
    let settings = Settings { cache: std::mem::take(&mut top.cache), sites };
    let config = Config { listen: top.listen, settings };
    config.settings.check().map_err(|(site, what)| Wrong {
        at: site.and_then(|index| places.get(index)).copied().unwrap_or(0),
        what,
    })?;
    config.check_listen().map_err(|what| Wrong { at: 0, what })?;
    Ok(config)
}

impl Config {
    /// Checks what no single value says.
    ///
    /// # Errors
    ///
    /// A sentence that says what is wrong.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.settings.check().map_err(|(_, what)| ConfigError::Senseless(what))?;
        self.check_listen().map_err(ConfigError::Senseless)
    }

    fn check_listen(&self) -> Result<(), String> {
        let has_certificate = self.settings.sites.iter().any(|site| site.certificate.is_some());
        match &self.listen.listen_tls {
            Some(_) if !has_certificate => Err("listen_tls needs a site with a certificate".to_owned()),
            None if has_certificate => Err("a certificate needs listen_tls".to_owned()),
            _ => Ok(()),
        }
    }
}

/// Parameters out of a table whose keys are theirs, but for `others`.
fn take<P: Parameters>(from: &DeTable<'_>, others: &[&str]) -> Result<P, Wrong> {
    let mut parameters = P::default();
    for (key, value) in from {
        let name: &str = key.get_ref();
        if others.contains(&name) {
            continue;
        }
        let wrong = |at, what| Wrong { at, what: format!("{name}: {what}") };
        let texts = texts(value).map_err(|what| wrong(value.span().start, what))?;
        for (at, text) in &texts {
            // Each item of a list by itself, so that an error points at it.
            if texts.len() > 1 {
                parameters.set(name, text).unwrap_or(Ok(())).map_err(|what| wrong(*at, what))?;
            }
        }
        let all = texts.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join(",");
        match parameters.set(name, &all) {
            Some(set) => set.map_err(|what| wrong(value.span().start, what))?,
            None => return Err(Wrong { at: key.span().start, what: unknown::<P>(name, others) }),
        }
    }
    Ok(parameters)
}

/// An error for a key that there is not, with those that there are.
fn unknown<P: Parameters>(name: &str, others: &[&str]) -> String {
    let rows = table::<P>();
    let keys: Vec<&str> = rows.iter().map(|row| row.field).chain(others.iter().copied()).collect();
    unexpected(format!("one of the keys {}", keys.join(", ")), name)
}

/// A value as texts, as people write them on a command line: one, or those of an array; each with its place.
fn texts(value: &Spanned<DeValue<'_>>) -> Result<Vec<(usize, String)>, String> {
    let single = |value: &Spanned<DeValue<'_>>| {
        let text = match value.get_ref() {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(number) => number.as_str().replace('_', ""),
            DeValue::Boolean(is_on) => is_on.to_string(),
            _ => return Err("expected a text, a whole number, or true or false".to_owned()),
        };
        Ok((value.span().start, text))
    };
    match value.get_ref() {
        DeValue::Array(items) if items.is_empty() => Err("expected at least one, got none".to_owned()),
        DeValue::Array(items) => items.iter().map(single).collect(),
        _ => single(value).map(|text| vec![text]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
memory = "1GiB"
log = "access.log"
max_connections = 1_000
listen = ["127.0.0.1:80", "[::1]:80"]
listen_tls = "127.0.0.1:443"

[[site]]
hosts = ["www.example.com", "*.example.com"]
origin = ["http://10.0.0.1:8080", "http://10.0.0.2:8080"]
certificate = "/etc/tls/www.pem"
certificate_key = "www.key"

[[site]]
origin = "https://app.internal"
origin_http2 = true
"#;

    fn error(text: &str) -> String {
        Config::parse(Path::new("a/c.toml"), text).unwrap_err().to_string()
    }

    #[test]
    fn a_file_by_hand() {
        let config = Config::parse(Path::new("a/c.toml"), TEXT).unwrap();
        assert_eq!((config.listen.plain().len(), config.listen.tls().len()), (2, 1));
        let Settings { cache, sites } = &config.settings;
        assert_eq!((cache.memory.0, cache.log.as_deref()), (1 << 30, Some(Path::new("a/access.log"))));
        assert_eq!(
            (sites[0].name(), sites[1].name()),
            ("www.example.com".into(), "https://app.internal".into())
        );
        assert_eq!(
            (sites[0].origins().len(), *cache.max_connections, sites[1].origin_http2),
            (2, 1000, true)
        );
        // Paths are beside the file.
        let first = &sites[0];
        assert_eq!(first.certificate.as_deref(), Some(Path::new("/etc/tls/www.pem")));
        assert_eq!(first.certificate_key.as_deref(), Some(Path::new("a/www.key")));
    }

    #[test]
    fn errors_point_at_what_is_wrong() {
        let site = "[[site]]\norigin = \"http://a\"\n";
        for (text, expected) in [
            ("memory = ", "a/c.toml:1:10: not TOML: "),
            ("\nmemory = \"x\"", "a/c.toml:2:10: memory: expected a size such as"),
            ("  memroy = 1", "a/c.toml:1:3: expected one of the keys listen, "),
            (&format!("{site}origin_http2 = 1.5"), "a/c.toml:3:16: origin_http2: expected a text"),
            (&format!("{site}hosts = [\"a\", \"*\"]"), "a/c.toml:3:15: hosts: expected a host"),
            (&format!("{site}hosts = []"), "a/c.toml:3:9: hosts: expected at least one"),
            (&format!("{site}{site}"), "a/c.toml:3:1: two sites answer for all other hosts"),
            (&format!("{site}hosts = \"a\"\n{site}hosts = \"a\""), "a/c.toml:4:1: two sites answer for a"),
            (&format!("{site}certificate_key = \"k\""), "a/c.toml:1:1: a certificate needs a key"),
            (
                &format!("{site}certificate = \"c\"\ncertificate_key = \"k\""),
                "a/c.toml:1:1: a certificate needs listen_tls",
            ),
            (&format!("policy = \"belady\"\n{site}"), "a/c.toml:1:1: policy belady must know the future"),
            ("[[site]]\nhosts = \"a\"", "a/c.toml:1:1: origin is missing"),
            ("site = 1", "a/c.toml:1:8: site: expected tables under [[site]]"),
            ("", "a/c.toml:1:1: expected a site, got none"),
        ] {
            let got = error(text);
            assert!(got.starts_with(expected) && !got.contains('\n'), "{got} for {text}");
        }
    }
}
