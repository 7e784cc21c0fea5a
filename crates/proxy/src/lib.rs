#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! From the bottom up:
//!
//! 1. [`rules`]: what HTTP lets caches do, as pure functions.
//! 2. [`settings`] and [`config`]: the parameters, and files of them. `values`: their types.
//! 3. `head`: a stored response. `store`: all of them, by name. [`pattern`], `marks` and `purge`: which of them go when somebody says so.
//! 4. [`disk`]: responses that the memory has no room for. `on_disk`: the look at them before the origin is asked.
//! 5. `origin`: the servers behind a site. `tls`: certificates.
//! 6. `site`: a site, with its servers and the store. `target`: the URL of a request. `asked`: a request.
//! 7. `fetch` and `download`: a response on its way, for all who wait for it. `own`: one for a single client. `tail`: the rest of one that is too large to keep.
//! 8. `answer` and `body`: what a client gets. `upgrade`: connections that become WebSockets. `proxy`: the answer to a request.
//! 9. `tally`, `top` and `counted`: how long requests wait. `log`: the access log.
//! 10. [`server`]: connections of clients. `reason`: errors in one line. `client` and `busy`: whether one is idle. [`admin`]: connections of the operator.
#![forbid(unsafe_code)]

pub mod admin;
mod answer;
mod asked;
mod body;
mod busy;
mod client;
mod clock;
pub mod config;
mod counted;
pub mod disk;
mod download;
mod fetch;
mod head;
mod log;
mod marks;
mod on_disk;
mod origin;
mod own;
pub mod pattern;
mod proxy;
mod purge;
mod reason;
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
pub use disk::DiskStats;
pub use pattern::Pattern;
pub use server::Proxy;
pub use settings::Settings;
pub use values::{HostPattern, OriginUrl, UrlPath};
