//! Where a report goes: the terminal, one JSON document, a table as CSV, a file, a folder with a page, a browser.

use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use trueplane_study::numbers;
use trueplane_study::render::{self, Look, answer, left_out, text, write_report};
use trueplane_study::report::{Report, Table};
use trueplane_trace::without_code;

use crate::failure::Failure;
use crate::origin::origin;
use crate::terminal;
use crate::written::Written;

#[derive(Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Print everything: all tables, facts, findings and settings
    #[arg(long)]
    details: bool,

    /// Print only the answer, without a progress bar
    #[arg(long, short, conflicts_with = "details", hide_short_help = true)]
    quiet: bool,

    /// Print one JSON document and nothing else
    #[arg(long)]
    json: bool,

    /// Print one table as CSV and nothing else; without TABLE, the summary table
    #[arg(
        long,
        value_name = "TABLE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        conflicts_with_all = ["details", "json"],
        hide_short_help = true
    )]
    csv: Option<String>,

    /// Write the printed output to this file instead of standard output
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    output: Option<PathBuf>,

    /// Write a page with tables and charts, DIR/index.html, and its data as CSV
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    report: Option<PathBuf>,

    /// Open the page of --report, or a temporary page, in a browser
    #[arg(long)]
    open: bool,
}

impl OutputArgs {
    /// Refuses early what would fail after all the work: makes the folder and sees whether it can be written to.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if let Some(file) = &self.output {
            Written::begin("--output", file)?;
        }
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

    /// Whether there is to be no progress bar.
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Sends the report where it was asked for.
    pub(crate) fn emit(&self, report: &Report) -> Result<(), Failure> {
        let shown = self.shown(report)?;
        match &self.output {
            None => print(&shown)?,
            Some(path) => {
                let mut file = Written::begin("--output", path)?;
                file.write_all(shown.as_bytes()).map_err(|error| file.broken(&error))?;
                file.finish()?;
            }
        }
        let Some(page) = self.write_page(report)? else { return Ok(()) };
        if !self.is_for_programs() {
            print(&format!("\nReport: {}\n", page.display()))?;
        }
        if self.open { open(&page) } else { Ok(()) }
    }

    /// Whether a program reads what is printed.
    fn is_for_programs(&self) -> bool {
        self.json || self.csv.is_some()
    }

    /// The text to print.
    fn shown(&self, report: &Report) -> Result<String, Failure> {
        if self.json {
            return Ok(format!("{:#}\n", report.document));
        }
        if let Some(id) = &self.csv {
            let csv = render::csv(chosen(report, id)?).map_err(|error| Failure::other(error.to_string()))?;
            return Ok(String::from_utf8_lossy(&csv).into_owned());
        }
        let to_terminal = self.output.is_none() && terminal::is_stdout();
        let look = Look {
            width: if to_terminal { terminal::width() } else { None },
            color: terminal::colors(to_terminal),
            details: self.details,
        };
        if self.quiet {
            return Ok(answer(report, look));
        }
        let mut shown = text(report, look);
        if !self.details {
            shown += &hint(report, to_terminal);
        }
        Ok(shown)
    }

    /// Writes the page, if it was asked for, and returns where it is.
    fn write_page(&self, report: &Report) -> Result<Option<PathBuf>, Failure> {
        let other = |error: io::Error| Failure::other(error.to_string());
        let folder = match &self.report {
            Some(folder) => folder.clone(),
            None if self.open => {
                tempfile::Builder::new().prefix("trueplane-").tempdir().map_err(other)?.keep()
            }
            None => return Ok(None),
        };
        let report = Report { origin: origin(), ..report.clone() };
        write_report(&report, &folder).map(Some).map_err(other)
    }
}

/// The table of this name; without one, the first after the three numbers.
fn chosen<'r>(report: &'r Report, id: &str) -> Result<&'r Table, Failure> {
    let found = match id {
        "" => report.tables.iter().find(|table| table.id != numbers::TABLE).or(report.tables.first()),
        id => report.tables.iter().find(|table| table.id == id),
    };
    found.ok_or_else(|| {
        let ids: Vec<&str> = report.tables.iter().map(|table| table.id.as_str()).collect();
        Failure::input(format!("--csv: expected one of the tables {}, got \"{id}\"", ids.join(", ")))
    })
}

/// Says which flags show the rest.
fn hint(report: &Report, to_terminal: bool) -> String {
    let tables = match left_out(report) {
        0 => None,
        1 => Some("1 more table: --details.".to_owned()),
        more => Some(format!("{more} more tables: --details.")),
    };
    let others =
        to_terminal.then(|| "Pictures: --open, or --report DIR. For programs: --json, --csv.".to_owned());
    let hints: Vec<String> = tables.into_iter().chain(others).collect();
    if hints.is_empty() { String::new() } else { format!("\n{}\n", hints.join(" ")) }
}

/// Opens a page in a browser.
fn open(page: &Path) -> Result<(), Failure> {
    opener::open_browser(page).map_err(|error| {
        Failure::other(format!("--open: cannot start a browser ({error}); the page is {}", page.display()))
    })
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
