//! What a request is for: an authority, a path, and the name that follows from them.

use http::request::Parts;
use http::uri::{Authority, PathAndQuery};
use http::{HeaderValue, Method, header};
use url::Url;

use crate::rules::hop::X_FORWARDED_PROTO;

/// Schemes by which clients come.
pub(crate) const HTTP: &str = "http";
pub(crate) const HTTPS: &str = "https";

/// The server and the path that a request is for.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) authority: Authority,
    /// `http` or `https`, as the client speaks.
    pub(crate) scheme: &'static str,
    pub(crate) path: PathAndQuery,
    /// The URL, as the first part of the names of its answers.
    pub(crate) url: Vec<u8>,
}

impl Target {
    /// The target of a request that came by this scheme, of which the URL counts before `Host`. (RFC 9112 §3.2.2) If a proxy is trusted, it says by which
    /// scheme it was asked.
    ///
    /// # Errors
    ///
    /// It names no authority, or several. (RFC 9112 §3.2)
    pub(crate) fn of(
        request: &Parts,
        scheme: &'static str,
        trusts_forwarded: bool,
    ) -> Result<Self, &'static str> {
        let mut hosts = request.headers.get_all(header::HOST).iter();
        let host = hosts.next();
        if hosts.next().is_some() {
            return Err("expected one Host, got several");
        }
        let authority = match (request.uri.authority(), host) {
            (Some(authority), _) => authority.clone(),
            (None, Some(host)) => Authority::try_from(host.as_bytes()).map_err(|_| "Host names no server")?,
            (None, None) => return Err("expected a Host, got none"),
        };
        if authority.as_str().contains('@') {
            return Err("Host names a user");
        }
        let path = match request.uri.path_and_query() {
            Some(path) if request.method != Method::CONNECT => path.clone(),
            _ => return Err("expected a path"),
        };
        let said = request.headers.get(X_FORWARDED_PROTO).filter(|_| trusts_forwarded);
        let scheme = match said {
            Some(said) if said == HTTPS => HTTPS,
            Some(_) => HTTP,
            None => scheme,
        };
        let authority = normal(&authority, scheme);
        let url = url(scheme, &authority, &path);
        Ok(Self { authority, scheme, path, url })
    }

    /// The URL that a field of the answer names, if it is at the same server: only there may the answer say that something has changed.
    /// (RFC 9111 §4.4)
    pub(crate) fn named_by(&self, field: &HeaderValue) -> Option<Vec<u8>> {
        let own = Url::parse(std::str::from_utf8(&self.url).ok()?).ok()?;
        let named = own.join(field.to_str().ok()?).ok()?;
        // What ends TLS in front of the cache answers for both schemes.
        let is_same = own.host() == named.host() && own.port() == named.port();
        let query = named.query().map(|query| format!("?{query}")).unwrap_or_default();
        is_same.then(|| format!("{}://{}{}{query}", own.scheme(), self.authority, named.path()).into_bytes())
    }
}

/// A URL as the first part of the names of its answers, from an authority as people write it.
pub(crate) fn url_of(scheme: &str, authority: &Authority, path: &PathAndQuery) -> Vec<u8> {
    url(scheme, &normal(authority, scheme), path)
}

fn url(scheme: &str, authority: &Authority, path: &PathAndQuery) -> Vec<u8> {
    format!("{scheme}://{authority}{path}").into_bytes()
}

/// An authority in small letters, without the port that everybody knows for the scheme.
fn normal(authority: &Authority, scheme: &str) -> Authority {
    let text = authority.as_str().to_ascii_lowercase();
    let port = if scheme == HTTPS { ":443" } else { ":80" };
    let text = text.strip_suffix(port).or(text.strip_suffix(':')).unwrap_or(&text);
    text.parse().unwrap_or_else(|_| authority.clone())
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn of(uri: &str, hosts: &[&str]) -> Result<Target, &'static str> {
        let mut request = Request::builder().uri(uri);
        for host in hosts {
            request = request.header("host", *host);
        }
        Target::of(&request.body(()).unwrap().into_parts().0, HTTP, false)
    }

    fn url(uri: &str, host: &str) -> String {
        String::from_utf8(of(uri, &[host]).unwrap().url).unwrap()
    }

    #[test]
    fn one_url_has_one_name() {
        assert_eq!(url("/a?b", "Example.com"), "http://example.com/a?b");
        assert_eq!(url("/a?b", "example.com:80"), "http://example.com/a?b");
        assert_eq!(url("http://example.com:81/a", "other"), "http://example.com:81/a");
        assert_ne!(url("/a", "example.com"), url("/A", "example.com"));
    }

    #[test]
    fn each_scheme_has_its_urls_and_its_port() {
        let url = |host: &str, scheme, said: Option<&str>| {
            let mut request = Request::builder().uri("/").header("host", host);
            if let Some(said) = said {
                request = request.header(X_FORWARDED_PROTO, said);
            }
            let trusted = said.is_some();
            let parts = request.body(()).unwrap().into_parts().0;
            String::from_utf8(Target::of(&parts, scheme, trusted).unwrap().url).unwrap()
        };
        assert_eq!(url("a:443", HTTPS, None), "https://a/");
        assert_eq!(url("a:80", HTTPS, None), "https://a:80/");
        assert_eq!(url("a:443", HTTP, Some("https")), "https://a/");
        assert_eq!(url("a", HTTPS, Some("http")), "http://a/");
    }

    #[test]
    fn a_request_names_one_server() {
        assert!(of("/", &[]).is_err() && of("/", &["a", "a"]).is_err());
        assert!(of("/", &["a@b"]).is_err() && of("/", &["a/b"]).is_err() && of("/", &["a b"]).is_err());
    }

    #[test]
    fn answers_speak_of_urls_at_their_own_server() {
        let target = of("/a/b?c", &["example.com:81"]).unwrap();
        let named = |text: &'static str| {
            target.named_by(&HeaderValue::from_static(text)).map(|url| String::from_utf8(url).unwrap())
        };
        assert_eq!(named("/x?y").unwrap(), "http://example.com:81/x?y");
        assert_eq!(named("x").unwrap(), "http://example.com:81/a/x");
        assert_eq!(named("http://EXAMPLE.com:81/z").unwrap(), "http://example.com:81/z");
        assert_eq!(named("http://example.com/z"), None);
        assert_eq!(named("http://other.com:81/z"), None);
    }
}
