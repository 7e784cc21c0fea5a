//! `trueplane fair allocate`

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use trueplane_fair::allocate::{Delta, Demands, Options, allocate};
use trueplane_fair::allocation::Mechanism;
use trueplane_trace::without_code;
use trueplane_units::Choices;

use crate::failure::Failure;
use crate::flags::value;
use crate::output::OutputArgs;

/// Far more than a hundred thousand users' worth of text.
const MAX_FILE_BYTES: u64 = 256 << 20;

/// Tell who gets what of a cluster, by rules that forget and by rules that remember.
///
/// Tasks count as divisible. mmf and smmf are max-min fairness of one resource, and divide every resource by itself if there are
/// several; drf and sdrf are dominant resource fairness; smmf and sdrf take commitments into account.
#[derive(clap::Args)]
#[command(next_help_heading = "Allocation", after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A JSON document with resources and users, as examples/demands.json; - is standard input
    #[arg(value_name = "DEMANDS")]
    demands: PathBuf,

    /// The rules: mmf, smmf, drf, sdrf or all; the others are compared with the first
    #[arg(long, value_name = "POLICIES", default_value = "drf,sdrf", value_parser = value::<Choices<Mechanism>>)]
    policy: Choices<Mechanism>,

    /// δ, what is left of a commitment after a stage: 0.9, or 1-1e-6; a document with stages needs it
    #[arg(long, value_name = "DELTA")]
    delta: Option<Delta>,

    #[command(flatten)]
    output: OutputArgs,
}

const EXAMPLES: &str = "\
Examples:
  trueplane fair allocate examples/demands.json
  trueplane fair allocate examples/demands.json --policy mmf,drf,sdrf --delta 0.5 --report report";

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.output.check()?;
        let (name, text) = read(&self.demands)?;
        let demands = Demands::read(&name, &text)?;
        let found = allocate(&demands, &Options { mechanisms: self.policy.0, delta: self.delta })?;
        self.output.emit(&found.report())
    }
}

/// The file's name and text.
fn read(path: &Path) -> Result<(String, String), Failure> {
    let stdin = path == Path::new("-");
    let name = if stdin { "<stdin>".to_owned() } else { path.display().to_string() };
    let wrong = |what: &str| Failure::input(format!("{name}: {what}"));
    let mut bytes = Vec::new();
    let read = match stdin {
        true => io::stdin().lock().take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes),
        false => File::open(path).and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)),
    };
    read.map_err(|error| wrong(&without_code(&error)))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(wrong("expected a demands document, found more than 256 MiB"));
    }
    let text = String::from_utf8(bytes).map_err(|_| wrong("expected text in UTF-8"))?;
    Ok((name, text))
}
