//! `trueplane formats`: the files that are read, and the commands that read them.

mod described;
mod inputs;

use std::fmt::Write as _;

use trueplane_units::{Choice, parameter};

use crate::failure::Failure;
use crate::output::print;
use crate::terminal::folded;
use described::{Described, job_log, request_log};
use inputs::{Input, inputs};

/// List the formats of logs, captures and other files, and how each is recognised.
///
/// Logs and captures can be compressed with gzip, zstd or xz. The name - stands for standard input.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  trueplane formats")]
pub(crate) struct Args {}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        print(&folded(&text()))
    }
}

fn text() -> String {
    let inputs = inputs();
    let logs = section("Request logs and captures", &inputs, request_log);
    let jobs = section("Logs of jobs", &inputs, job_log);
    let mut text = format!("{logs}\n{jobs}\nFiles that commands name\n");
    for Input { command, flag, about, .. } in &inputs {
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "\n  trueplane {command} {flag}\n      {about}");
    }
    text + "\nLogs and captures may be compressed by gzip, zstd or xz; - is standard input.\n"
}

/// All formats of one kind, and the commands that read them.
fn section<F: Choice>(title: &str, inputs: &[Input], describe: fn(F) -> Described) -> String {
    let reads = |input: &&Input| input.formats.iter().copied().eq(F::ALL.iter().map(|format| format.name()));
    let commands: Vec<&str> = inputs.iter().filter(reads).map(|input| input.command.as_str()).collect();
    let mut text =
        format!("{title}\nread by {}; --format says which if it is not recognised\n", commands.join(", "));
    for &format in F::ALL {
        let about = parameter::paragraphs(format.about()).into_iter().next().unwrap_or_default();
        let Described { known_by, holds, example } = describe(format);
        let _ = writeln!(
            text,
            "\n  {}: {about}\n      recognised by {known_by}\n      holds {holds}",
            format.name()
        );
        for line in example.lines() {
            let _ = writeln!(text, "      | {}", line.replace('\t', "  "));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use trueplane_fair::workload::LogFormat;
    use trueplane_trace::Format;

    use super::*;

    #[test]
    fn every_format_is_shown_with_the_commands_that_read_it() {
        let text = text();
        for format in Format::ALL {
            assert!(text.contains(&format!("\n  {format}: ")), "{format} is missing:\n{text}");
        }
        for format in LogFormat::ALL {
            assert!(text.contains(&format!("\n  {format}: ")), "{format} is missing:\n{text}");
        }
        assert!(text.contains("read by cache analyze, cache bound, cache check, cache compare"), "{text}");
        assert!(text.contains("read by fair recommend, fair simulate, fair sweep;"), "{text}");
    }

    #[test]
    fn files_that_commands_name_are_shown() {
        let text = text();
        for file in [
            "limit replay --classes",
            "fair allocate DEMANDS",
            "surge compare --rules",
            "spray compare --rules",
            "surge guard JOBS",
        ] {
            assert!(text.contains(&format!("  trueplane {file}\n")), "{file} is missing:\n{text}");
        }
    }
}
