#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! From the bottom up: [`rules`] are what HTTP lets caches do; `head` is a stored response, `body` what is sent of it, `busy` what keeps its connection, and `tail` the rest of what is too large to keep; `target` is what a request is
//! for; `store` is what is stored; `origin` is the server behind; `log` is the access log; `site` is all of these together; `fetch` brings a response, of which `own` is for one request alone, `asked` is a request, `answer`
//! an answer; `proxy` finds the answer to a request, and [`server`] takes requests.
#![forbid(unsafe_code)]

pub mod admin;
mod answer;
mod asked;
mod body;
mod busy;
mod clock;
pub mod config;
mod counted;
mod download;
mod fetch;
mod head;
mod log;
mod marks;
mod origin;
mod own;
pub mod pattern;
mod proxy;
mod purge;
pub mod rules;
pub mod server;
pub mod settings;
mod site;
mod store;
mod tail;
mod tally;
mod target;
mod tls;
mod top;
mod upgrade;
mod values;

pub use admin::Admin;
pub use config::{Config, ConfigError};
pub use pattern::Pattern;
pub use server::Proxy;
pub use settings::Settings;
pub use values::{HostPattern, OriginUrl, UrlPath};
