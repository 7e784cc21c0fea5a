//! Values of parameters.

use std::fmt;
use std::str::FromStr;

use http::uri::{Authority, Scheme};
use trueplane_units::{text_value, unexpected};

/// A server to ask, as a URL without a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OriginUrl {
    scheme: Scheme,
    authority: Authority,
}

const ORIGIN: &str = "a URL without a path such as http://127.0.0.1:8080 or https://app.internal";

impl OriginUrl {
    /// `http` or `https`.
    pub fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    /// The server's name or address, and its port.
    pub fn authority(&self) -> &Authority {
        &self.authority
    }

    /// Whether the server speaks TLS.
    pub fn is_https(&self) -> bool {
        self.scheme == Scheme::HTTPS
    }

    /// The server's name or address, and a port in any case.
    pub fn host_and_port(&self) -> String {
        let port = if self.is_https() { 443 } else { 80 };
        format!("{}:{}", self.authority.host(), self.authority.port_u16().unwrap_or(port))
    }
}

impl FromStr for OriginUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || unexpected(ORIGIN, text);
        let (scheme, authority) = match (text.strip_prefix("http://"), text.strip_prefix("https://")) {
            (Some(authority), _) => (Scheme::HTTP, authority),
            (_, Some(authority)) => (Scheme::HTTPS, authority),
            (None, None) => return Err(wrong()),
        };
        let authority = authority.strip_suffix('/').unwrap_or(authority);
        let authority: Authority = authority.parse().map_err(|_| wrong())?;
        if authority.as_str().contains('@') || authority.host().is_empty() {
            return Err(wrong());
        }
        Ok(Self { scheme, authority })
    }
}

impl fmt::Display for OriginUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme, self.authority)
    }
}

text_value!(OriginUrl, ORIGIN);

/// The hosts that a site answers for: one by name, or all below a domain.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum HostPattern {
    /// This host, in small letters and without a port.
    Exact(String),
    /// All hosts below this domain, and not the domain itself.
    Below(String),
}

const HOST: &str = "a host such as www.example.com, or *.example.com for all below a domain";

impl HostPattern {
    /// What there is for a host in small letters: by its name, or by the longest domain that it is below.
    pub(crate) fn find<T>(host: &str, has: impl Fn(&Self) -> Option<T>) -> Option<T> {
        if let Some(exact) = has(&Self::Exact(host.to_owned())) {
            return Some(exact);
        }
        let mut rest = host;
        while let Some((_, domain)) = rest.split_once('.') {
            if let Some(below) = has(&Self::Below(domain.to_owned())) {
                return Some(below);
            }
            rest = domain;
        }
        None
    }
}

impl FromStr for HostPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (domain, below) = text.strip_prefix("*.").map_or((text, false), |domain| (domain, true));
        let is_host = !domain.contains(['*', '@', ','])
            && domain.parse::<Authority>().is_ok_and(|host| host.host() == domain);
        match (is_host, domain.to_ascii_lowercase()) {
            (false, _) => Err(unexpected(HOST, text)),
            (true, domain) if below => Ok(Self::Below(domain)),
            (true, domain) => Ok(Self::Exact(domain)),
        }
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(host) => f.write_str(host),
            Self::Below(domain) => write!(f, "*.{domain}"),
        }
    }
}

text_value!(HostPattern, HOST);

/// The path of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlPath(http::uri::PathAndQuery);

const PATH: &str = "a path such as /health";

impl UrlPath {
    /// The path, with its query if it has one.
    pub fn path(&self) -> &http::uri::PathAndQuery {
        &self.0
    }
}

impl FromStr for UrlPath {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || unexpected(PATH, text);
        if !text.starts_with('/') {
            return Err(wrong());
        }
        text.parse().map(Self).map_err(|_| wrong())
    }
}

impl fmt::Display for UrlPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

text_value!(UrlPath, PATH);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_a_server() {
        for (text, server) in [
            ("http://127.0.0.1:8080", "127.0.0.1:8080"),
            ("http://[::1]:8080/", "[::1]:8080"),
            ("http://example.com", "example.com:80"),
            ("https://example.com", "example.com:443"),
        ] {
            assert_eq!(text.parse::<OriginUrl>().unwrap().host_and_port(), server);
        }
        for text in ["127.0.0.1:8080", "ftp://a", "http://", "https://a/b", "http://a@b", "http://a b", ""] {
            assert!(text.parse::<OriginUrl>().is_err(), "{text}");
        }
    }

    #[test]
    fn hosts_are_names_or_all_below_a_domain() {
        assert_eq!("WWW.Example.com".parse(), Ok(HostPattern::Exact("www.example.com".into())));
        assert_eq!("*.example.com".parse(), Ok(HostPattern::Below("example.com".into())));
        for text in ["", "*", "*.", "a:80", "a/b", "a.*", "x@a"] {
            assert!(text.parse::<HostPattern>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_longest_domain_is_found() {
        let patterns: Vec<HostPattern> =
            ["a.b.c", "*.b.c", "*.c"].iter().map(|text| text.parse().unwrap()).collect();
        let at = |host| HostPattern::find(host, |pattern| patterns.iter().position(|other| other == pattern));
        let places = ["a.b.c", "x.b.c", "y.x.b.c", "b.c", "c"].map(at);
        assert_eq!(places, [Some(0), Some(1), Some(1), Some(2), None]);
    }

    #[test]
    fn a_path_begins_with_a_slash() {
        assert_eq!("/a?b".parse::<UrlPath>().unwrap().to_string(), "/a?b");
        assert!("a".parse::<UrlPath>().is_err() && "/a b".parse::<UrlPath>().is_err());
    }
}
