//! The flags that say what a function is to do.

#[cfg(feature = "live")]
use std::io::Read as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::{fs, io};

use clap::Args;
use trueplane_spray::nf::{Backend, FunctionOptions, PortRange, Rules, parse_v4_prefix};
use trueplane_trace::without_code;

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
        self.options(|file| fs::read_to_string(file).map_err(|error| refused(file, &error)))
    }

    /// The same while packets come, when nothing may be waited for: from regular files only.
    #[cfg(feature = "live")]
    pub(crate) fn read_again(&self) -> Result<FunctionOptions, String> {
        self.options(regular)
    }

    fn options(&self, text: impl Fn(&Path) -> Result<String, String>) -> Result<FunctionOptions, String> {
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

fn refused(file: &Path, error: &io::Error) -> String {
    format!("{}: {}", file.display(), without_code(error))
}

/// What is in a regular file; whatever else there is may have one wait for ever, even to open it.
#[cfg(feature = "live")]
fn regular(file: &Path) -> Result<String, String> {
    use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};

    let mut opened = fs::OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(file)
        .map_err(|error| refused(file, &error))?;
    let kind = opened.metadata().map_err(|error| refused(file, &error))?.file_type();
    let found = match kind {
        _ if kind.is_file() => {
            let mut text = String::new();
            return match opened.read_to_string(&mut text) {
                Ok(_) => Ok(text),
                Err(error) => Err(refused(file, &error)),
            };
        }
        _ if kind.is_fifo() => "a pipe",
        _ if kind.is_dir() => "a folder",
        _ => "a device",
    };
    Err(format!("{}: expected a regular file, found {found}", file.display()))
}
