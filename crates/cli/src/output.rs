//! Where a report goes: the terminal, one JSON document, a folder with a page.

use std::io::{self, ErrorKind, IsTerminal as _, Write as _};
use std::path::PathBuf;

use clap::Args;
use trueplane_study::render::{Look, text, write_report};
use trueplane_study::report::Report;
use trueplane_trace::without_code;

use crate::failure::Failure;

#[derive(Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Print one JSON document and nothing else
    #[arg(long)]
    json: bool,

    /// Write a self-contained page, DIR/index.html, with its tables and plots as CSV beside it
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
}

impl OutputArgs {
    /// Refuses early what would fail after all the work: makes the folder and sees whether it can be written to.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let Some(folder) = &self.report else { return Ok(()) };
        let refuse = |error: io::Error| {
            Failure::input(format!("--report {}: {}", folder.display(), without_code(&error)))
        };
        std::fs::create_dir_all(folder).map_err(refuse)?;
        // The error of what comes second names the temporary file.
        tempfile::tempfile_in(folder).map_err(|error| refuse(error.kind().into()))?;
        Ok(())
    }

    /// Whether JSON was asked for.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Sends the report where it was asked for.
    pub(crate) fn emit(&self, report: &Report) -> Result<(), Failure> {
        self.show(report)?;
        let Some(folder) = &self.report else { return Ok(()) };
        let page = write_report(report, folder).map_err(|error| Failure::other(error.to_string()))?;
        if self.json { Ok(()) } else { print(&format!("\nReport: {}\n", page.display())) }
    }

    fn show(&self, report: &Report) -> Result<(), Failure> {
        if self.json {
            return print(&format!("{:#}\n", report.document));
        }
        let terminal = io::stdout().is_terminal();
        let look = Look {
            width: terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| width.0.into()),
            color: terminal && std::env::var_os("NO_COLOR").is_none(),
        };
        print(&text(report, look))
    }
}

/// Writes to stdout; a reader that went away has seen enough.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::other(format!("stdout: {error}")))
        }
        _ => Ok(()),
    }
}
