//! `trueplane cache bound`: the study, and the files of what proves it.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use trueplane_cache::bound::run::{bound, open};
use trueplane_cache::bound::{Bound, Found, certificate, export};
use trueplane_cache::source::Source;
use trueplane_study::compress::compressed;
use trueplane_study::study::report;

use crate::failure::Failure;
use crate::study::Run;
use crate::written::Written;

// What it does is said by the study.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    study: Run<Bound>,

    /// Write both bounds with their proof to this file, for trueplane cache check.
    ///
    /// The file is compressed if its name ends in .gz, .zst or .xz.
    #[arg(long, value_name = "FILE", help_heading = "Output", hide_short_help = true)]
    certificate: Option<PathBuf>,

    /// Write what happens to each request under the schedule that was found, as CSV.
    ///
    /// The file is compressed if its name ends in .gz, .zst or .xz.
    #[arg(long, value_name = "FILE", help_heading = "Output", hide_short_help = true)]
    schedule: Option<PathBuf>,
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let Self { study, certificate, schedule } = self;
        let (mut written, mut interrupted) = (Ok(()), false);
        study.run_by(|options, watch| {
            let trace = open(options)?;
            // A wrong path is to be known before the search.
            let certificate = File::begin("--certificate", certificate.as_deref())?;
            let schedule = File::begin("--schedule", schedule.as_deref())?;
            apart(&options.source, [certificate.as_ref(), schedule.as_ref()])?;
            let found = bound(&trace, options, watch)?;
            interrupted = found.interrupted;
            // One that cannot be written must not cost the others, which took minutes.
            let Found { scenario, problem, solution, .. } = &found;
            let certified = certificate.map_or(Ok(()), |file| {
                file.write(|out| certificate::write(trace.name(), problem, scenario, solution, out))
            });
            let scheduled = schedule.map_or(Ok(()), |file| {
                file.write(|out| export::write_schedule(problem, scenario, solution, out))
            });
            written = certified.and(scheduled);
            Ok(report::<Bound>(options, &found))
        })?;
        written?;
        if interrupted { Err(Failure::interrupted()) } else { Ok(()) }
    }
}

/// Refuses files that would replace each other or the trace.
fn apart(source: &Source, files: [Option<&File<'_>>; 2]) -> Result<(), Failure> {
    let places = files.map(|file| file.and_then(|file| Some((file.written.name(), file.written.place()?))));
    if let [Some((one, place)), Some((other, same))] = &places
        && place == same
    {
        return Err(Failure::input(format!("{one} and {other}: expected two files, got the same one")));
    }
    let trace = if source.is_stdin() { None } else { fs::canonicalize(&source.trace).ok() };
    match places.iter().flatten().find(|(_, place)| trace.as_ref() == Some(place)) {
        Some((name, _)) => Err(Failure::input(format!("{name}: it is the trace, which it would replace"))),
        None => Ok(()),
    }
}

/// A file that is written after the search, compressed if its name says so.
struct File<'a> {
    path: &'a Path,
    written: Written,
}

impl<'a> File<'a> {
    /// Begins the file at `path`, if there is to be one.
    fn begin(flag: &str, path: Option<&'a Path>) -> Result<Option<Self>, Failure> {
        path.map(|path| Ok(Self { path, written: Written::begin(flag, path)? })).transpose()
    }

    /// Writes all of it and puts it where it belongs.
    fn write(mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
        let outcome = compressed(self.path, &mut self.written, write);
        outcome.map_err(|error| self.written.broken(&error))?;
        self.written.finish()
    }
}
