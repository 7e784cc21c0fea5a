//! `trueplane demo`: five questions, answered on samples that the command carries.

mod samples;
mod stories;

use std::path::PathBuf;

use trueplane_study::render::{Look, answer};
use trueplane_study::report::Report;
use trueplane_trace::without_code;

use crate::failure::Failure;
use crate::output::print;
use crate::watch::Watch;
use crate::{terminal, threads};
use stories::{SAMPLES, STORIES, Story};

/// Answer five questions with bundled sample data, in seconds.
///
/// Each answer comes with the command that asks the same of your own data. The command writes only to a temporary folder, which it removes at
/// the end.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  trueplane demo\n  trueplane demo --files examples")]
pub(crate) struct Args {
    /// Write only the sample files, into this folder, for the examples in help texts
    #[arg(long, value_name = "DIR")]
    files: Option<PathBuf>,
}

/// Commands that a newcomer types next.
const NEXT: &str = "\
What to do next
  trueplane formats              which logs and captures are read
  trueplane doctor               what this machine can do
  trueplane explain WORD         what a word means
  trueplane COMMAND --help       all flags; --open shows any result as a page with pictures
";

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let watch = Watch::start(false)?;
        match self.files {
            Some(folder) => {
                let place = folder.display();
                std::fs::create_dir_all(&folder)
                    .map_err(|error| Failure::input(format!("--files {place}: {}", without_code(&error))))?;
                samples::write(&folder, &watch)?;
                print(&format!("The sample files are in {place}.\n"))
            }
            None => tell(&watch),
        }
    }
}

/// Tells all stories, each as soon as its study is done.
fn tell(watch: &Watch) -> Result<(), Failure> {
    let pool = threads::pool(None)?;
    let folder = tempfile::Builder::new().prefix("trueplane-").tempdir();
    let folder = folder.map_err(|error| Failure::other(format!("temporary folder: {}", error.kind())))?;
    let inside = format!("{}/", folder.path().display());
    samples::write(folder.path(), watch)?;
    let is_terminal = terminal::is_stdout();
    let look = Look { width: terminal::width(), color: terminal::colors(is_terminal), details: false };
    for (number, story) in (1..).zip(&STORIES) {
        let report = pool.install(|| story.run(&inside, watch));
        watch.finish();
        // The folder goes away: names of files in it would lead nowhere.
        print(&told(number, story, &report?, look).replace(&inside, SAMPLES))?;
    }
    print(NEXT)
}

/// A story as people read it, with an empty line at its end.
fn told(number: usize, story: &Story, report: &Report, look: Look) -> String {
    let (bold, plain) = if look.color { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
    let Story { question, command, own, .. } = story;
    let all = STORIES.len();
    let answer = answer(report, look);
    format!(
        "{bold}{number}/{all} {question}{plain}\n{answer}  This is   $ {command}\n  Yours is  $ {own}\n\n"
    )
}

/// All command lines that the stories show.
#[cfg(test)]
pub(crate) fn lines() -> impl Iterator<Item = &'static str> {
    STORIES.iter().flat_map(|story| [story.command, story.own])
}
