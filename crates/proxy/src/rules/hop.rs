//! Header fields that end at each server on the way, and those that each one adds. (RFC 9110 §7.6)

use std::net::IpAddr;

use http::{HeaderMap, HeaderName, HeaderValue, Version, header};

use super::fields::elements;

/// Fields that belong to one connection, whether or not `Connection` names them.
const OF_CONNECTION: [HeaderName; 9] = [
    header::CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    header::PROXY_AUTHENTICATE,
    HeaderName::from_static("proxy-authentication-info"),
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// Fields by which clients could make an origin answer for another URL than the one that the answer is stored under.
const MISLEADING: [HeaderName; 5] = [
    HeaderName::from_static("x-host"),
    HeaderName::from_static("x-original-host"),
    HeaderName::from_static("x-original-url"),
    HeaderName::from_static("x-rewrite-url"),
    HeaderName::from_static("x-wap-profile"),
];
/// The same, which proxies in front of this cache may set.
const OF_PROXIES: [HeaderName; 9] = [
    header::FORWARDED,
    X_FORWARDED_FOR,
    X_FORWARDED_HOST,
    HeaderName::from_static("x-forwarded-port"),
    HeaderName::from_static("x-forwarded-prefix"),
    X_FORWARDED_PROTO,
    HeaderName::from_static("x-forwarded-scheme"),
    HeaderName::from_static("x-forwarded-server"),
    HeaderName::from_static("x-forwarded-ssl"),
];
/// Fields by which a GET could mean another method.
const OTHER_METHODS: [HeaderName; 3] = [
    HeaderName::from_static("x-http-method"),
    HeaderName::from_static("x-http-method-override"),
    HeaderName::from_static("x-method-override"),
];

/// Who has forwarded a request already, to find loops. (RFC 8586)
const CDN_LOOP: HeaderName = HeaderName::from_static("cdn-loop");
const SURROGATE_CAPABILITY: HeaderName = HeaderName::from_static("surrogate-capability");
const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
pub(crate) const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const X_FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");

/// Takes out what ends here: fields of the connection, and those that `Connection` names. A length beside `Transfer-Encoding` is wrong.
/// (RFC 9112 §6.3)
pub fn end(headers: &mut HeaderMap) {
    if headers.contains_key(header::TRANSFER_ENCODING) {
        headers.remove(header::CONTENT_LENGTH);
    }
    let named: Vec<HeaderName> = elements(headers, &header::CONNECTION)
        .filter_map(|name| HeaderName::from_bytes(name).ok())
        // Whoever names such a field would have it vanish on its way to the origin.
        .filter(|name| {
            !matches!(*name, header::HOST | header::CONTENT_LENGTH | header::CACHE_CONTROL | header::VARY)
        })
        .collect();
    for name in OF_CONNECTION.into_iter().chain(named) {
        headers.remove(name);
    }
}

/// Takes out of a GET what would make it mean another method.
pub fn only_get(headers: &mut HeaderMap) {
    OTHER_METHODS.iter().for_each(|name| drop(headers.remove(name)));
}

/// Names by which a cache is known.
#[derive(Clone, Debug)]
pub struct Identity {
    /// What others see, such as `trueplane`.
    pub name: String,
    /// What is different for every process, to find loops.
    pub unique: String,
    /// Whether all clients are proxies, which say truly whom they ask for.
    pub trusts_forwarded: bool,
}

impl Identity {
    /// Whether a request has been here before.
    pub fn has_seen(&self, request: &HeaderMap) -> bool {
        elements(request, &CDN_LOOP).any(|who| {
            let name = who.split(|&byte| byte == b';').next().unwrap_or_default();
            name.trim_ascii().eq_ignore_ascii_case(self.unique.as_bytes())
        })
    }

    /// Takes out what is not for the origin: fields of the connection, and those that would mislead it.
    pub fn arrive(&self, headers: &mut HeaderMap) {
        end(headers);
        // Fields behind the body are left out.
        headers.remove(header::TRAILER);
        MISLEADING.iter().for_each(|name| drop(headers.remove(name)));
        if !self.trusts_forwarded {
            OF_PROXIES.iter().for_each(|name| drop(headers.remove(name)));
        }
    }

    /// Makes the fields of a request that has [arrived](Self::arrive) those of a request to the origin.
    pub fn forward(&self, headers: &mut HeaderMap, version: Version, client: IpAddr, scheme: &'static str) {
        // The body says how long it is.
        headers.remove(header::CONTENT_LENGTH);
        headers.remove(header::EXPECT);
        self.sign(headers, version);
        append(headers, CDN_LOOP, &self.unique);
        append(headers, SURROGATE_CAPABILITY, &format!("{}=\"Surrogate/1.0\"", self.name));
        append(headers, X_FORWARDED_FOR, &client.to_string());
        headers.entry(X_FORWARDED_PROTO).or_insert(HeaderValue::from_static(scheme));
        if let Some(host) = headers.get(header::HOST).cloned() {
            headers.entry(X_FORWARDED_HOST).or_insert(host);
        }
    }

    /// Adds to `Via` that a message came this way. (RFC 9110 §7.6.3)
    pub fn sign(&self, headers: &mut HeaderMap, version: Version) {
        let version = match version {
            Version::HTTP_09 | Version::HTTP_10 => "1.0",
            Version::HTTP_2 => "2.0",
            Version::HTTP_3 => "3.0",
            _ => "1.1",
        };
        append(headers, header::VIA, &format!("{version} {}", self.name));
    }
}

/// Adds an element to a list, in a line of its own.
fn append(headers: &mut HeaderMap, name: HeaderName, text: &str) {
    // Names that are no value of a field are not added: nobody has such.
    if let Ok(value) = HeaderValue::from_str(text) {
        headers.append(name, value);
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::super::fields::map;
    use super::*;

    #[test]
    fn what_belongs_to_a_connection_ends_with_it() {
        let mut headers = map(&[
            ("connection", "a, Host, close"),
            ("a", "1"),
            ("host", "x"),
            ("te", "trailers"),
            ("b", "2"),
        ]);
        end(&mut headers);
        assert_eq!(headers, map(&[("host", "x"), ("b", "2")]));
    }

    #[test]
    fn requests_that_come_back_are_known() {
        let identity = Identity { name: "here".into(), unique: "here-1".into(), trusts_forwarded: false };
        let mut headers = map(&[("host", "a"), ("x-forwarded-host", "evil"), ("via", "1.0 there")]);
        assert!(!identity.has_seen(&headers));
        identity.arrive(&mut headers);
        identity.forward(&mut headers, Version::HTTP_11, Ipv4Addr::LOCALHOST.into(), "http");
        assert!(identity.has_seen(&headers));
        assert_eq!(headers["x-forwarded-host"], "a");
        assert_eq!(headers.get_all("via").iter().collect::<Vec<_>>(), ["1.0 there", "1.1 here"]);
        assert!(!Identity { unique: "here-2".into(), ..identity }.has_seen(&headers));
    }
}
