//! `trueplane cache stats`, `top`, `purge` and `ban`: what asks a running cache.

use std::path::PathBuf;

use trueplane_proxy::admin::client::{self, Named};
use trueplane_proxy::admin::report::{Counts, Report as Told, TopReport};
use trueplane_study::Page;
use trueplane_study::report::Report;
use trueplane_study::study::{Words, page_report};
use trueplane_units::{Bytes, LongTime, Nanos, Percent, parameters};

use super::named::{Glob, Prefix, Tag, Url};
use crate::failure::Failure;
use crate::flags::Flags;
use crate::output::{OutputArgs, print};

const BELIEF: &str = "Mean latency is the share of misses times the mean time of a fetch.";

parameters! {
    /// The cache that is asked.
    #[derive(Clone, Debug)]
    struct Running {
        /// Socket of the cache: the file that you gave to `trueplane cache serve --socket`.
        socket: PathBuf => { value: "FILE", required: true },
    }
}

/// Show how well a running cache works: the three numbers of each site.
///
/// For each site, the command shows how the cache served its requests since it started, and their mean wait. The wait is given as predicted by
/// the hit rate (classical), as predicted by a model with delayed hits (refined), and as measured. The page of `trueplane cache serve --admin`
/// shows the same for the last hour in a browser.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  trueplane cache stats --socket /run/trueplane-cache/admin.sock
  trueplane cache stats --socket /run/trueplane-cache/admin.sock --json")]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    flags: Flags<StatsOptions>,

    #[command(flatten)]
    output: OutputArgs,
}

parameters! {
    /// Parameters of `cache stats`.
    #[derive(Clone, Debug)]
    struct StatsOptions {}
    including {
        /// The cache.
        running: Running,
    }
}

/// List the URLs of a running cache with the most waiting and with the most requests.
///
/// The numbers cover the last 30 to 60 minutes. They are approximate: hits are sampled, and URLs with few requests may be missing.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  trueplane cache top --socket /run/trueplane-cache/admin.sock")]
pub(crate) struct TopArgs {
    #[command(flatten)]
    flags: Flags<TopOptions>,

    #[command(flatten)]
    output: OutputArgs,
}

parameters! {
    /// Parameters of `cache top`.
    #[derive(Clone, Debug)]
    struct TopOptions {}
    including {
        /// The cache.
        running: Running,
    }
}

/// Remove answers from a running cache, by URL, by the beginning of URLs, or by tag.
///
/// Give one of URL, --prefix and --tag. All variants of a URL are removed. The purge also covers answers that are on their way from the origin:
/// a request after the purge does not get them. Tags are the words of the field Surrogate-Key in the origin's answers. Clients do not get that
/// field.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  trueplane cache purge --socket /run/trueplane-cache/admin.sock http://www.example.com/logo.png
  trueplane cache purge --socket /run/trueplane-cache/admin.sock --prefix http://www.example.com/images/
  trueplane cache purge --socket /run/trueplane-cache/admin.sock --tag product-17 --soft")]
pub(crate) struct PurgeArgs {
    #[command(flatten)]
    flags: Flags<PurgeOptions>,
}

parameters! {
    /// Parameters of `cache purge`.
    #[derive(Clone, Debug)]
    struct PurgeOptions {
        /// URL whose answers to remove.
        url: Option<Url> => { value: "URL", positional: true, conflicts: "prefix tag" },
        /// Beginning of the URLs whose answers to remove, with a complete host.
        prefix: Option<Prefix> => { value: "URL", conflicts: "tag" },
        /// Tag of the answers to remove, a word of their field Surrogate-Key.
        tag: Option<Tag> => { value: "TAG" },
        /// Mark the answers as stale instead of removing them. The cache validates them at the next request. It serves them meanwhile if
        /// stale-while-revalidate or stale-if-error allows it.
        soft: bool => {},
    }
    including {
        /// The cache.
        running: Running,
    }
}

/// Remove answers from a running cache whose URLs match a pattern.
///
/// The pattern must match the whole URL. Each * matches any characters, or none. As with `trueplane cache purge`, this includes answers that are
/// on their way from the origin.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  trueplane cache ban --socket /run/trueplane-cache/admin.sock 'http://www.example.com/*.css'
  trueplane cache ban --socket /run/trueplane-cache/admin.sock '*/images/*' --soft")]
pub(crate) struct BanArgs {
    #[command(flatten)]
    flags: Flags<BanOptions>,
}

parameters! {
    /// Parameters of `cache ban`.
    #[derive(Clone, Debug)]
    struct BanOptions {
        /// Pattern for whole URLs, such as `http://www.example.com/*.css`.
        pattern: Option<Glob> => { value: "PATTERN", positional: true, required: true },
        /// Mark the answers as stale instead of removing them. See `trueplane cache purge --soft`.
        soft: bool => {},
    }
    including {
        /// The cache.
        running: Running,
    }
}

/// Waits for the answer of a cache.
fn wait<T>(asked: impl Future<Output = Result<T, String>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::other(error.to_string()))?;
    runtime.block_on(asked).map_err(Failure::input)
}

impl StatsArgs {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.output.check()?;
        let told = wait(client::stats(&self.flags.0.running.socket))?;
        self.output.emit(&stats(&told))
    }
}

impl TopArgs {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.output.check()?;
        let told = wait(client::top(&self.flags.0.running.socket))?;
        self.output.emit(&top(&told))
    }
}

impl PurgeArgs {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let PurgeOptions { url, prefix, tag, soft, running } = self.flags.0;
        let named = match (url, prefix, tag) {
            (Some(Url(url)), None, None) => Named::Url(url),
            (None, Some(Prefix(prefix)), None) => Named::Prefix(prefix),
            (None, None, Some(Tag(tag))) => Named::Tag(tag),
            _ => return Err(Failure::input("expected one of URL, --prefix URL and --tag TAG")),
        };
        purge(&running, named, soft)
    }
}

impl BanArgs {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let BanOptions { pattern, soft, running } = self.flags.0;
        let Glob(pattern) = pattern.ok_or_else(|| Failure::input("expected a PATTERN, got none"))?;
        purge(&running, Named::Pattern(pattern), soft)
    }
}

fn purge(running: &Running, named: Named, is_soft: bool) -> Result<(), Failure> {
    let count = wait(client::purge(&running.socket, named, is_soft))?;
    let answers = if count == 1 { "answer" } else { "answers" };
    let done = if is_soft { "made stale" } else { "purged" };
    print(&format!("{count} stored {answers} {done}.\n"))
}

/// A time that is not there without requests.
fn time(nanos: Option<u64>) -> Option<Nanos> {
    nanos.map(Nanos)
}

fn share(count: u64, of: &Counts) -> Option<Percent> {
    (of.requests() > 0).then(|| Percent(count as f64 / of.requests() as f64))
}

/// A report of the numbers of a cache.
fn stats(told: &Told) -> Report {
    let mut page = Page::default();
    let (all, stored) = (&told.all, &told.stored);
    page.fact("serving for", "uptime_ns", LongTime(told.uptime_s as f64 * 1e9));
    page.fact("connections", "connections", told.connections);
    page.fact("policy", "policy", stored.policy.clone());
    page.fact("stored answers", "entries", stored.entries);
    page.fact("used", "used_bytes", Bytes(stored.used_bytes));
    page.fact("limit", "limit_bytes", Bytes(stored.limit_bytes));
    page.fact("evictions", "evictions", stored.evictions);
    if let Some(disk) = &told.disk {
        page.fact("disk", "disk_state", if disk.is_in_use { "in use" } else { "fails" });
        page.fact("answers on disk", "disk_entries", disk.entries);
        page.fact("used on disk", "disk_used_bytes", Bytes(disk.used_bytes));
        page.fact("limit on disk", "disk_limit_bytes", Bytes(disk.limit_bytes));
        page.fact("read from disk", "disk_hits", disk.hits);
        page.fact("written to disk", "disk_written", disk.written);
    }
    page.fact("by a simulation of all policies", "advice", told.advice.clone());
    let sites = told.sites.iter().map(|site| (site.site.as_str(), &site.counts));
    let is_one = told.sites.len() < 2;
    page.table("sites", "Sites", sites.chain((!is_one).then_some(("all", all))))
        .col("site", "site", |(site, _)| *site)
        .col("requests", "requests", |(_, counts)| counts.requests())
        .col("hits", "hit_ratio", |(_, counts)| share(counts.hits, counts))
        .col("delayed", "delayed_hit_ratio", |(_, counts)| share(counts.delayed_hits, counts))
        .col("misses", "miss_ratio", |(_, counts)| share(counts.misses, counts))
        .col("classical", "classical_ns", |(_, counts)| time(counts.classical_ns))
        .col("refined", "refined_ns", |(_, counts)| time(counts.refined_ns))
        .col("measured", "measured_ns", |(_, counts)| time(counts.measured_ns))
        .col("p99", "wait_p99_ns", |(_, counts)| time(counts.wait_p99_ns))
        .col("passed", "passed", |(_, counts)| counts.passed)
        .col("sent", "sent_bytes", |(_, counts)| Bytes(counts.sent_bytes))
        .col("origin asked", "origin_requests", |(_, counts)| counts.origin_requests)
        .col("failed", "origin_failures", |(_, counts)| counts.origin_failures);
    let servers = told.sites.iter().flat_map(|site| site.servers.iter().map(move |server| (site, server)));
    page.table("servers", "Servers behind", servers)
        .col("site", "site", |(site, _)| site.site.clone())
        .col("server", "server", |(_, server)| server.server.clone())
        .col("state", "state", |(_, server)| if server.is_up { "up" } else { "down" });
    let mut verdict = vec![headline(all)];
    let down = told.sites.iter().flat_map(|site| &site.servers).filter(|server| !server.is_up);
    verdict.extend(down.map(|server| format!("{} does not answer.", server.server)).take(3));
    let words = Words {
        name: "cache.stats",
        title: "How the cache does".to_owned(),
        belief: BELIEF,
        verdict,
        advice: String::new(),
    };
    page_report(words, &[], page)
}

/// The three numbers in a sentence.
fn headline(all: &Counts) -> String {
    match (all.classical_ns, all.refined_ns, all.measured_ns) {
        (Some(classical), Some(refined), Some(measured)) => format!(
            "Requests wait {} on average; {} by the hit rate, {} by a model that knows delayed hits.",
            Nanos(measured),
            Nanos(classical),
            Nanos(refined)
        ),
        _ => "No request has come yet.".to_owned(),
    }
}

/// A report of the URLs that matter most.
fn top(told: &TopReport) -> Report {
    let mut page = Page::default();
    page.table("waits", "URLs that make requests wait most", &told.waits)
        .col("waits together", "wait_ns", |row| Nanos(row.wait_ns))
        .col("URL", "url", |row| row.url.clone());
    page.table("requests", "URLs that are asked for most", &told.requests)
        .col("requests, about", "requests", |row| row.requests)
        .col("URL", "url", |row| row.url.clone());
    let verdict = match told.waits.first() {
        Some(first) => format!("Requests for {} wait most: {} together.", first.url, Nanos(first.wait_ns)),
        None => "No request has waited yet.".to_owned(),
    };
    let words = Words {
        name: "cache.top",
        title: "The URLs that matter most".to_owned(),
        belief: BELIEF,
        verdict: vec![verdict],
        advice: String::new(),
    };
    page_report(words, &[], page)
}
