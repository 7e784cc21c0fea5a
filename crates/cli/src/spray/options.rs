//! The flags that say what a function is to do.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::Args;
use trueplane_core::spray::nf::{Backend, FunctionOptions, PortRange, Rules, parse_v4_prefix};
use trueplane_core::spray::steering::BUCKETS;
use trueplane_sim::error::without_code;

/// What a function is to do; files can be read again while it runs.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "The function")]
pub(crate) struct FunctionArgs {
    /// firewall: its rules, one a line, the first that fits decides [default: all may begin]
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,

    /// balancer: its backends, one `ADDRESS[:PORT] [WEIGHT]` a line [default: 10.0.0.11 to 10.0.0.14]
    #[arg(long, value_name = "FILE")]
    backends: Option<PathBuf>,

    /// balancer: where clients connect to [default: 198.51.100.1:80]
    #[arg(long, value_name = "ADDRESS:PORT")]
    service: Option<SocketAddr>,

    /// nat: public addresses [default: 203.0.113.1]
    #[arg(long, value_name = "PREFIX", value_delimiter = ',')]
    public: Vec<String>,

    /// nat: public ports [default: 1024-65535]
    #[arg(long, value_name = "FIRST-LAST")]
    ports: Option<PortRange>,

    /// nat: who is translated [default: the private addresses of RFC 1918]
    #[arg(long, value_name = "PREFIX", value_delimiter = ',')]
    inside: Vec<String>,
}

impl FunctionArgs {
    /// Reads them, and the files; the error is one line.
    pub(crate) fn read(&self) -> Result<FunctionOptions, String> {
        let mut options = FunctionOptions::default();
        let prefixes = |flag: &str, texts: &[String]| {
            let read = |text: &String| parse_v4_prefix(text).map_err(|error| format!("--{flag}: {error}"));
            texts.iter().map(read).collect::<Result<Vec<_>, _>>()
        };
        if !self.public.is_empty() {
            options.nat.public = prefixes("public", &self.public)?;
        }
        if !self.inside.is_empty() {
            options.nat.inside = prefixes("inside", &self.inside)?;
        }
        options.nat.ports = self.ports.unwrap_or(options.nat.ports);
        options.balancer.service = self.service.unwrap_or(options.balancer.service);
        if let Some(file) = &self.rules {
            let rules = Rules::parse(&file.display().to_string(), &text(file)?);
            options.rules = rules.map_err(|error| error.to_string())?;
        }
        if let Some(file) = &self.backends {
            let port = options.balancer.service.port();
            let backends = Backend::parse_file(&file.display().to_string(), &text(file)?, port);
            options.balancer.backends = backends.map_err(|error| error.to_string())?;
        }
        Ok(options)
    }
}

fn text(file: &Path) -> Result<String, String> {
    fs::read_to_string(file).map_err(|error| format!("{}: {}", file.display(), without_code(&error)))
}

/// Processors such as `0,1` or `0-3`.
pub(crate) fn processors(text: &str) -> Result<Processors, String> {
    let refuse = || format!("expected processors such as 0,1 or 0-3, got \"{text}\"");
    let mut found = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.trim().parse::<usize>().ok().filter(|&number| number < 4096);
        let (Some(first), Some(last)) = (number(first), number(last)) else { return Err(refuse()) };
        for processor in first..=last {
            if found.contains(&processor) {
                return Err(format!("expected each processor once, got {processor} twice in \"{text}\""));
            }
            found.push(processor);
        }
    }
    match found.len() {
        1..=BUCKETS => Ok(Processors(found)),
        count => Err(format!("expected 1 to {BUCKETS} processors, got {count}")),
    }
}

/// Numbers of processors, each once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Processors(pub(crate) Vec<usize>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_lists_and_ranges() {
        assert_eq!(processors("0,1"), Ok(Processors(vec![0, 1])));
        assert_eq!(processors("3,0-2"), Ok(Processors(vec![3, 0, 1, 2])));
        for bad in ["", "a", "1-0", "0,0", "0-200", "-1", "0,"] {
            assert!(processors(bad).is_err(), "{bad}");
        }
    }
}
