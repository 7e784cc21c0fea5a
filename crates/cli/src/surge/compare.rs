//! `trueplane surge compare`: the study, and the file of what is served when.

use std::path::PathBuf;

use trueplane_study::study::report;
use trueplane_surge::compare::{Compare, run::run};

use super::departures::Departures;
use crate::failure::Failure;
use crate::study::Run;

// What it does is said by the study.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    study: Run<Compare>,

    /// Write the order of service to this file, as CSV.
    ///
    /// Each row has the index of the packet in its source, its class (I for users, A for the attack), and the start and the end of its service.
    /// Only for one policy, one rate of users, one attack rate and one seed.
    #[arg(long, value_name = "FILE", help_heading = "Output", hide_short_help = true)]
    departures: Option<PathBuf>,
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let Some(path) = self.departures else { return self.study.run() };
        self.study.run_by(|options, watch| {
            options.check_single()?;
            let mut departures = Departures::create(&path)?;
            let found = run(options, watch, Some(&mut |departure| departures.add(departure)))?;
            departures.finish()?;
            Ok(report::<Compare>(options, &found))
        })
    }
}
