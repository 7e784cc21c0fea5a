//! What counts of a web server's log, and what of a request is its key: the flags `--methods`, `--statuses`, `--web-key`.

use std::fmt;
use std::str::FromStr;

use trueplane_units::{choices, text_value};

/// Fault of one of these flags.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}, got \"{found}\"")]
pub struct ParseRulesError {
    expected: &'static str,
    found: String,
}

text_value!(Methods, "methods such as GET,HEAD, or all");
text_value!(Statuses, "statuses such as 2xx,304, or cacheable, or all");

/// Everything that is said of how to read a web server's log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct WebRules {
    /// Requests by other methods are left out.
    pub(super) methods: Methods,
    /// Requests that were answered with another status are left out.
    pub(super) statuses: Statuses,
    /// Parts of a request that make its key.
    pub(super) key: WebKey,
}

/// Methods of HTTP, in upper case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Methods {
    /// Whatever there is.
    All,
    /// The methods of this list.
    These(Vec<String>),
}

impl Default for Methods {
    /// The two that a cache answers (RFC 9110 §9.2.3, without POST, which nearly no cache stores).
    fn default() -> Self {
        Methods::These(vec!["GET".to_owned(), "HEAD".to_owned()])
    }
}

impl Methods {
    /// Whether `method` is one of them.
    pub(super) fn have(&self, method: &[u8]) -> bool {
        match self {
            Methods::All => true,
            Methods::These(methods) => {
                methods.iter().any(|known| method.eq_ignore_ascii_case(known.as_bytes()))
            }
        }
    }
}

impl fmt::Display for Methods {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Methods::All => f.pad("all"),
            Methods::These(methods) => f.pad(&methods.join(",")),
        }
    }
}

impl FromStr for Methods {
    type Err = ParseRulesError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.trim().eq_ignore_ascii_case("all") {
            return Ok(Methods::All);
        }
        let is_method = |name: &str| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-')
        };
        let methods = text.split(',').map(|name| {
            let name = name.trim();
            let refuse = || ParseRulesError {
                expected: "methods such as GET,HEAD, or all",
                found: name.chars().flat_map(char::escape_debug).collect(),
            };
            if is_method(name) { Ok(name.to_ascii_uppercase()) } else { Err(refuse()) }
        });
        methods.collect::<Result<_, _>>().map(Methods::These)
    }
}

/// Statuses of HTTP: a bit for each from 0 to 999.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statuses([u64; 16]);

/// There is no status above this one.
pub(super) const LARGEST_STATUS: u16 = 999;

/// The statuses of answers that a cache may store unless it is told otherwise (RFC 9110 §15.1), and 304: whoever gets it
/// asked for the object, too.
const CACHEABLE: [u16; 13] = [200, 203, 204, 206, 300, 301, 304, 308, 404, 405, 410, 414, 501];

impl Default for Statuses {
    /// Those that a cache may store unless it is told otherwise, and 304.
    fn default() -> Self {
        let mut statuses = Statuses([0; 16]);
        CACHEABLE.into_iter().for_each(|status| statuses.insert(status));
        statuses
    }
}

impl Statuses {
    fn insert(&mut self, status: u16) {
        self.0[usize::from(status) / 64] |= 1 << (status % 64);
    }

    /// Whether `status` is one of them.
    pub(super) fn have(&self, status: u16) -> bool {
        self.0.get(usize::from(status) / 64).is_some_and(|word| word >> (status % 64) & 1 == 1)
    }
}

/// Every status by its number; `all` for all of them.
impl fmt::Display for Statuses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let statuses: Vec<String> = (0..=LARGEST_STATUS)
            .filter(|&status| self.have(status))
            .map(|status| status.to_string())
            .collect();
        f.pad(&if statuses.len() > usize::from(LARGEST_STATUS) {
            "all".to_owned()
        } else {
            statuses.join(",")
        })
    }
}

impl FromStr for Statuses {
    type Err = ParseRulesError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut statuses = Statuses([0; 16]);
        for part in text.split(',').map(str::trim) {
            match part.as_bytes() {
                b"all" => (0..=LARGEST_STATUS).for_each(|status| statuses.insert(status)),
                b"cacheable" => CACHEABLE.into_iter().for_each(|status| statuses.insert(status)),
                [class @ b'1'..=b'9', b'x' | b'X', b'x' | b'X'] => {
                    let first = u16::from(class - b'0') * 100;
                    (first..first + 100).for_each(|status| statuses.insert(status));
                }
                [a @ b'1'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9'] => {
                    let digit = |byte: &u8| u16::from(byte - b'0');
                    statuses.insert(digit(a) * 100 + digit(b) * 10 + digit(c));
                }
                _ => {
                    return Err(ParseRulesError {
                        expected: "statuses such as 2xx,304, or cacheable, or all",
                        found: part.chars().flat_map(char::escape_debug).collect(),
                    });
                }
            }
        }
        Ok(statuses)
    }
}

choices! {
    /// The part of a web request that is its key.
    pub enum WebKey {
        /// The request target as it was sent, with its query string.
        Uri = "uri",
        /// The request target without its query string.
        Path = "path",
        /// The host and the request target, where the log has hosts.
        HostUri = "host+uri",
        /// The host and the request target without its query string.
        HostPath = "host+path",
    }
}

#[expect(clippy::derivable_impls, reason = "rows of choices! take no attributes")]
impl Default for WebKey {
    fn default() -> Self {
        WebKey::Uri
    }
}

impl WebKey {
    /// Whether the host is part of it.
    pub(super) fn has_host(self) -> bool {
        matches!(self, WebKey::HostUri | WebKey::HostPath)
    }

    /// Whether the query string is.
    pub(super) fn has_query(self) -> bool {
        matches!(self, WebKey::Uri | WebKey::HostUri)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_read() {
        let methods: Methods = "get, M-SEARCH".parse().unwrap();
        assert!(methods.have(b"GET") && methods.have(b"m-search") && !methods.have(b"HEAD"));
        assert!("ALL".parse::<Methods>().unwrap().have(b"\x16\x03"));
        assert!(Methods::default().have(b"HEAD") && !Methods::default().have(b"POST"));
        let problem = |text: &str| text.parse::<Methods>().unwrap_err().to_string();
        assert_eq!(problem("GET,"), "expected methods such as GET,HEAD, or all, got \"\"");
        assert_eq!(problem("G\nT"), "expected methods such as GET,HEAD, or all, got \"G\\nT\"");
    }

    #[test]
    fn statuses_are_read() {
        let statuses: Statuses = "2xx, 304".parse().unwrap();
        for (status, counts) in
            [(200, true), (299, true), (300, false), (304, true), (99, false), (1024, false)]
        {
            assert_eq!(statuses.have(status), counts, "{status}");
        }
        assert!("all".parse::<Statuses>().unwrap().have(0));
        assert_eq!("cacheable".parse(), Ok(Statuses::default()));
        let usual = Statuses::default();
        assert!(usual.have(206) && usual.have(404) && !usual.have(302) && !usual.have(500));
        for bad in ["", "2x", "20", "2000", "0xx", "ok"] {
            let expected = "expected statuses such as 2xx,304, or cacheable, or all";
            assert_eq!(
                bad.parse::<Statuses>().unwrap_err().to_string(),
                format!("{expected}, got \"{bad}\"")
            );
        }
    }
}
