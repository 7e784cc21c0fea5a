//! Requests to the administration: who may ask, and for what.

use std::net::IpAddr;
use std::path::Path;

use http::uri::Authority;
use http::{HeaderMap, header};
use serde::{Deserialize, Serialize};

use crate::config::ConfigError;
use crate::pattern::Pattern;
use crate::reason::reason;

/// Bytes of a token, at least.
const LEAST_TOKEN: usize = 16;

/// A purge, as JSON says it: one of the four, and whether it is soft.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct PurgeRequest {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) prefix: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tag: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) pattern: Option<String>,
    pub(super) soft: bool,
}

/// The result of a purge.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Purged {
    /// Answers that were stored.
    pub(super) purged: u64,
}

impl PurgeRequest {
    /// The pattern of a request, and whether the purge is soft.
    pub(super) fn read(body: &[u8]) -> Result<(Pattern, bool), String> {
        let asked: Self =
            serde_json::from_slice(body).map_err(|error| format!("expected a purge as JSON: {error}"))?;
        let Self { url, prefix, tag, pattern, soft } = asked;
        let pattern = match (url, prefix, tag, pattern) {
            (Some(url), None, None, None) => Pattern::url(&url)?,
            (None, Some(prefix), None, None) => Pattern::prefix(&prefix)?,
            (None, None, Some(tag), None) => Pattern::tag(&tag)?,
            (None, None, None, Some(pattern)) => Pattern::glob(&pattern)?,
            _ => return Err("expected one of url, prefix, tag and pattern".to_owned()),
        };
        Ok((pattern, soft))
    }
}

/// Whether a request names this machine as its host, and nothing that leads here from elsewhere.
pub(super) fn is_local(headers: &HeaderMap) -> bool {
    let mut hosts = headers.get_all(header::HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
    let Ok(authority) = Authority::try_from(host.as_bytes()) else { return false };
    if authority.as_str().contains('@') {
        return false;
    }
    let host = authority.host();
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    host.eq_ignore_ascii_case("localhost") || bare.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

/// Whether two secrets are the same, in a time that does not tell where they differ.
pub(super) fn is_same(one: &[u8], other: &[u8]) -> bool {
    let differing = one.iter().zip(other).fold(0, |all, (one, other)| all | (one ^ other));
    one.len() == other.len() && std::hint::black_box(differing) == 0
}

/// The token in a file.
pub(super) fn token(path: &Path) -> Result<String, ConfigError> {
    let unreadable = |reason| ConfigError::Unreadable { path: path.to_owned(), reason };
    let text = std::fs::read_to_string(path).map_err(|error| unreadable(reason(&error)))?;
    let token = text.trim();
    let is_token = token.len() >= LEAST_TOKEN && token.bytes().all(|byte| byte.is_ascii_graphic());
    if is_token {
        Ok(token.to_owned())
    } else {
        Err(unreadable(format!("expected a token of {LEAST_TOKEN} or more letters, digits and signs")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_by_hand() {
        let local = |host: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().unwrap());
            is_local(&headers)
        };
        assert!(local("localhost") && local("LOCALHOST:1") && local("127.0.0.1:80") && local("[::1]:80"));
        assert!(!local("example.com") && !local("10.0.0.1") && !local("localhost.example.com"));
        assert!(!local("u@localhost") && !local("") && !local("127.0.0.1.example.com"));
        assert!(!is_local(&HeaderMap::new()));
    }

    #[test]
    fn purges_by_hand() {
        let read = |text: &str| PurgeRequest::read(text.as_bytes());
        assert_eq!(read(r#"{"tag":"a","soft":true}"#), Ok((Pattern::tag("a").unwrap(), true)));
        assert_eq!(read(r#"{"pattern":"*"}"#), Ok((Pattern::glob("*").unwrap(), false)));
        for wrong in ["", "[]", "{}", r#"{"url":"x"}"#, r#"{"tag":"a","url":"http://a/"}"#, r#"{"hard":1}"#] {
            let error = read(wrong).unwrap_err();
            assert!(error.starts_with("expected") && !error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn secrets_by_hand() {
        assert!(is_same(b"abc", b"abc") && !is_same(b"abc", b"abd") && !is_same(b"", b"a"));
    }
}
