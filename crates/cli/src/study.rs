//! The one verb behind all studies: flags out of the study's parameters, a progress bar, and the report to where it was asked for.

use clap::{ArgMatches, Command};
use trueplane_study::report::Report;
use trueplane_study::{Study, study};
use trueplane_units::parameter;

use crate::failure::Failure;
use crate::flags::Flags;
use crate::output::OutputArgs;
use crate::threads;
use crate::watch::Watch;

/// Options of a study on the command line.
pub(crate) struct Run<S: Study> {
    options: S::Options,
    threads: Option<u16>,
    output: OutputArgs,
}

impl<S: Study> clap::Args for Run<S> {
    fn augment_args(command: Command) -> Command {
        let paragraphs = parameter::paragraphs(S::ABOUT);
        let short = paragraphs.first().map_or("", |first| first.trim_end_matches('.')).to_owned();
        let examples: String = S::EXAMPLES.lines().map(|line| format!("\n  {}", line.trim())).collect();
        let command = Flags::<S::Options>::augment_args(command.next_help_heading("Parameters"));
        let command = OutputArgs::augment_args(threads::with_flag(command, S::THREADS));
        // Last: what those say of themselves would take its place.
        command.about(short).long_about(paragraphs.join("\n\n")).after_help(format!("Examples:{examples}"))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<S: Study> clap::FromArgMatches for Run<S> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self {
            options: Flags::from_arg_matches(matches)?.0,
            threads: threads::given(matches, S::THREADS),
            output: OutputArgs::from_arg_matches(matches)?,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<S: Study> Run<S> {
    /// Runs the study and shows its report.
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.run_by(|options, watch| Ok(study::run::<S>(options, watch)?))
    }

    /// Runs the study and returns its report, which is not shown.
    pub(crate) fn find(&self, watch: &Watch) -> Result<Report, Failure> {
        Ok(study::run::<S>(&self.options, watch)?)
    }

    /// Runs the study in a way of its own, as it writes something beside its report.
    pub(crate) fn run_by(
        self,
        run: impl FnOnce(&S::Options, &Watch) -> Result<Report, Failure> + Send,
    ) -> Result<(), Failure> {
        self.output.check()?;
        let pool = threads::pool(self.threads)?;
        let watch = Watch::start(self.output.is_quiet())?;
        let report = pool.install(|| run(&self.options, &watch));
        watch.finish();
        self.output.emit(&report?)
    }
}
