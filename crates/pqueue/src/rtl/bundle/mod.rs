//! The files to build a circuit from: sources, a wrapper with the parameters, a test bench with a model, and how to run them.

mod generated;
mod ports;
mod readme;
mod sources;

use trueplane_study::Error;

use super::design::Design;
use super::found::Rtl;

/// A file of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Path within the bundle: `rtl/tp_bbq.sv`.
    pub path: &'static str,
    /// Text of the file.
    pub text: String,
}

/// The files for a design, with so many operations in its test bench, drawn from `seed`.
///
/// # Errors
///
/// There are no operations.
pub fn bundle(design: &Design, numbers: &Rtl, operations: u32, seed: u64) -> Result<Vec<File>, Error> {
    if operations == 0 {
        return Err(Error::Parameters("expected one operation at least for the test bench".to_owned()));
    }
    let queue = design.queue();
    let fixed = [sources::of(queue), sources::bench(queue)].concat();
    let mut files: Vec<File> =
        fixed.into_iter().map(|(path, text)| File { path, text: text.to_owned() }).collect();
    let list = generated::file_list(queue).iter().fold(String::new(), |list, path| list + path + "\n");
    files.extend([
        File { path: generated::wrapper_path(queue), text: generated::wrapper(design) },
        File { path: "tb/shape.svh", text: generated::shape(design, operations, seed) },
        File { path: "filelist.f", text: list },
        File { path: "verilog.ys", text: generated::script(queue) },
        File { path: "Makefile", text: generated::makefile(queue) },
        File { path: "README.md", text: readme::readme(design, numbers, operations) },
        File { path: "LICENSE-APACHE", text: include_str!("../../../LICENSE-APACHE").to_owned() },
        File { path: "LICENSE-MIT", text: include_str!("../../../LICENSE-MIT").to_owned() },
    ]);
    Ok(files)
}

#[cfg(test)]
mod tests {
    use trueplane_units::{BitsPerSec, Bytes};

    use super::*;
    use crate::bbq::{Memories, Shape};
    use crate::rtl::design::{Extras, Queue};
    use crate::rtl::{Options, Switch, rtl};

    fn files(queue: Queue, partitions: u32, seed: u64) -> Vec<File> {
        let shape = Shape { width: 4, levels: 2, capacity: 15, partitions, data_bits: 8 };
        let extras = Extras { priority_bits: 32, upper_width: 4, upper_levels: 1 };
        let design = Design::new(queue, shape, Memories::default(), extras).unwrap();
        let switch = Switch { ports: 4, port_rate_bps: BitsPerSec(1_000_000_000), frame: Bytes(64) };
        let options = Options { design: design.clone(), clock_hz: None, switch, shapes: Vec::new() };
        let numbers = rtl(&options);
        bundle(&design, &numbers, 3000, seed).unwrap()
    }

    #[test]
    fn every_file_is_there_once_with_its_licence() {
        for &queue in Queue::ALL {
            let found = files(queue, if queue == Queue::Hier { 4 } else { 1 }, 1);
            let mut paths: Vec<&str> = found.iter().map(|file| file.path).collect();
            paths.sort_unstable();
            paths.dedup();
            assert_eq!(paths.len(), found.len());
            let text = |path: &str| found.iter().find(|file| file.path == path).unwrap().text.as_str();
            assert!(text("filelist.f").lines().all(|listed| paths.contains(&listed)));
            for file in found.iter().filter(|file| file.path.contains(".sv")) {
                let first = file.text.lines().next().unwrap();
                assert_eq!(first, "// SPDX-License-Identifier: Apache-2.0 OR MIT", "{}", file.path);
                assert!(!file.text.contains("(.*)"), "{}", file.path);
            }
            for file in found.iter().filter(|file| file.path.starts_with("rtl/")) {
                let longest = file.text.lines().map(|line| line.chars().count()).max();
                assert!(longest.unwrap() <= 100, "{}: {longest:?}", file.path);
            }
        }
    }

    #[test]
    fn a_seed_is_a_run() {
        assert_eq!(files(Queue::Bbq, 4, 1), files(Queue::Bbq, 4, 1));
        assert_ne!(files(Queue::Bbq, 4, 1), files(Queue::Bbq, 4, 2));
    }
}
