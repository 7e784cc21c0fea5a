//! Values of parameters.

use std::fmt;
use std::str::FromStr;

use http::uri::Authority;
use trueplane_units::{text_value, unexpected};

/// A server to ask, as a URL without a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OriginUrl(Authority);

const ORIGIN: &str = "a URL without a path such as http://127.0.0.1:8080";

impl OriginUrl {
    /// The server's name or address, and its port.
    pub fn authority(&self) -> &Authority {
        &self.0
    }

    /// The server's name or address, and a port in any case.
    pub fn host_and_port(&self) -> String {
        format!("{}:{}", self.0.host(), self.0.port_u16().unwrap_or(80))
    }
}

impl FromStr for OriginUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || unexpected(ORIGIN, text);
        if text.starts_with("https://") {
            return Err(format!("{}; origins that speak TLS are not supported yet", wrong()));
        }
        let authority = text.strip_prefix("http://").ok_or_else(wrong)?;
        let authority = authority.strip_suffix('/').unwrap_or(authority);
        let authority: Authority = authority.parse().map_err(|_| wrong())?;
        if authority.as_str().contains('@') || authority.host().is_empty() {
            return Err(wrong());
        }
        Ok(Self(authority))
    }
}

impl fmt::Display for OriginUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}", self.0)
    }
}

text_value!(OriginUrl, ORIGIN);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_a_server() {
        for (text, server) in [
            ("http://127.0.0.1:8080", "127.0.0.1:8080"),
            ("http://[::1]:8080/", "[::1]:8080"),
            ("http://example.com", "example.com:80"),
        ] {
            assert_eq!(text.parse::<OriginUrl>().unwrap().host_and_port(), server);
        }
        for text in ["127.0.0.1:8080", "https://a", "http://", "http://a/b", "http://a@b", "http://a b", ""] {
            assert!(text.parse::<OriginUrl>().is_err(), "{text}");
        }
    }
}
