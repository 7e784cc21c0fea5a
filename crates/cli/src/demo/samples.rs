//! The sample files that the stories read: those of `examples/`, carried in the command.

use std::fs;
use std::path::Path;

use trueplane_cache::generate::{Generate, WriteError, save_csv};
use trueplane_study::Error;
use trueplane_trace::without_code;
use trueplane_units::Parameters as _;

use crate::failure::Failure;
use crate::watch::Watch;

/// Names and contents of the small files.
const SMALL: [(&str, &[u8]); 6] = [
    ("attack.rules", include_bytes!("../../samples/attack.rules")),
    ("demands.json", include_bytes!("../../samples/demands.json")),
    ("tenants.pcap", include_bytes!("../../samples/tenants.pcap")),
    ("classes.toml", include_bytes!("../../samples/classes.toml")),
    ("jobs.csv", include_bytes!("../../samples/jobs.csv")),
    ("packets.csv", include_bytes!("../../samples/packets.csv")),
];

/// The request log. It is generated anew, which takes milliseconds; its bytes would take a megabyte of the command.
const LOG: &str = "cdn-200k.csv.zst";

/// What makes the request log: the options of `trueplane cache generate` that made the file in `examples/`.
const LOG_OPTIONS: [(&str, &str); 4] =
    [("profile", "cdn"), ("irt", "10us"), ("requests", "200K"), ("seed", "7")];

/// Refuses a folder in which a file has the name of a sample and is none.
fn refuse_others(folder: &Path) -> Result<(), Failure> {
    for (name, bytes) in SMALL {
        let path = folder.join(name);
        if fs::read(&path).is_ok_and(|there| there != bytes) {
            let path = path.display();
            return Err(Failure::input(format!(
                "{path}: a file of yours has this name; choose another folder"
            )));
        }
    }
    Ok(())
}

/// Writes all samples into a folder, which is there. Files that are there stay as they are: a small one that is no sample is refused, and a
/// request log of this name is kept.
pub(super) fn write(folder: &Path, watch: &Watch) -> Result<(), Failure> {
    refuse_others(folder)?;
    for (name, bytes) in SMALL {
        let path = folder.join(name);
        fs::write(&path, bytes)
            .map_err(|error| Failure::other(format!("{}: {}", path.display(), without_code(&error))))?;
    }
    if folder.join(LOG).exists() {
        return Ok(());
    }
    let log = Generate::given(&LOG_OPTIONS).map_err(Failure::other)?;
    match save_csv(log.generator()?, &folder.join(LOG), watch.interrupted_flag()) {
        Ok(_) => Ok(()),
        Err(WriteError::Interrupted) => Err(Error::Interrupted.into()),
        Err(error) => Err(Failure::other(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use trueplane_trace::{Clock, Trace, TraceOptions};

    use super::*;

    #[test]
    fn files_of_the_user_are_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("jobs.csv");
        fs::write(&own, "mine").unwrap();
        let refused = refuse_others(folder.path()).unwrap_err().to_string();
        assert!(refused.contains("jobs.csv: a file of yours has this name"), "{refused}");
        let [_, _, _, _, (_, jobs), _] = SMALL;
        fs::write(&own, jobs).unwrap();
        refuse_others(folder.path()).unwrap();
    }

    #[test]
    fn the_generated_log_is_the_one_in_examples() {
        let folder = tempfile::tempdir().unwrap();
        let generator = Generate::given(&LOG_OPTIONS).unwrap().generator().unwrap();
        save_csv(generator, &folder.path().join(LOG), &false.into()).unwrap();
        let requests = |path: &Path| -> Vec<_> {
            let trace = Trace::open(path, &TraceOptions::default()).unwrap();
            let (mut reader, mut all) = (trace.reader(Clock::Timestamps).unwrap(), Vec::new());
            let mut chunk = Vec::new();
            while reader.next_chunk(&mut chunk).unwrap() {
                all.extend_from_slice(&chunk);
            }
            all
        };
        let examples = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples"));
        let (generated, bundled) = (requests(&folder.path().join(LOG)), requests(&examples.join(LOG)));
        assert_eq!(generated.len(), 200_000);
        assert!(generated == bundled, "LOG_OPTIONS are not those that made examples/{LOG}");
    }
}
