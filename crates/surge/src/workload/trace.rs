//! Packets of a file, each with what serving it takes: `trace:jobs.csv`.

use std::path::Path;
use std::sync::Arc;

use trueplane_study::{Error, Observer};
use trueplane_units::Bytes;

use crate::application::{Application, Given};
use crate::jobs::{Job, Jobs};
use crate::traffic::Offered;
use crate::workload::source::{Drawn, Source};

type Packet = Offered<<Given as Application>::Packet>;

/// Bytes that a packet takes while the file is read and the attacker looks at it.
const EACH: u64 = (2 * size_of::<Packet>() + 8 + size_of::<Job>()) as u64;

/// The packets of a file of jobs.
#[derive(Clone, Debug)]
pub struct Recorded(Jobs);

impl Recorded {
    /// Reads the file, `-` being standard input, within `memory`.
    ///
    /// # Errors
    /// As [`Jobs::read`].
    pub fn read(path: &Path, memory: Bytes, observer: &dyn Observer) -> Result<Self, Error> {
        Jobs::read(path, memory.0 / EACH, observer).map(Self)
    }

    /// The jobs.
    pub fn jobs(&self) -> &Jobs {
        &self.0
    }
}

impl From<Jobs> for Recorded {
    fn from(jobs: Jobs) -> Self {
        Self(jobs)
    }
}

impl Source for Recorded {
    type Application = Given;

    fn application(&self) -> Given {
        Given
    }

    fn draw(&self, _seed: u64) -> Drawn<<Given as Application>::Packet> {
        Drawn { packets: Arc::clone(self.0.packets()), times: self.0.times().map(Arc::clone) }
    }

    fn bytes(&self) -> u64 {
        self.0.packets().len() as u64 * EACH
    }
}
