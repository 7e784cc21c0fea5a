//! Addresses to listen at.

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

use crate::{text_value, unexpected};

/// An address with a port, such as `127.0.0.1:9478`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address(pub SocketAddr);

const ADDRESS: &str = "an address with a port such as 127.0.0.1:9478 or [::]:9478";

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self).map_err(|_| unexpected(ADDRESS, text))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

text_value!(Address, ADDRESS);
