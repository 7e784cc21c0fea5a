//! `trueplane pqueue rtl`

use std::path::{Path, PathBuf};
use std::{fs, io};

use trueplane_pqueue::bbq::{Circuit, LUT_WORDS, Shape};
use trueplane_pqueue::rtl::bundle::{File, bundle};
use trueplane_pqueue::rtl::{Options, Switch, rtl};
use trueplane_trace::without_code;
use trueplane_units::{BitsPerSec, Bytes};

use crate::failure::Failure;
use crate::output::{OutputArgs, print};
use crate::values::count;

/// Write a hardware priority queue: SystemVerilog, a wrapper with your parameters, a test bench with the model's answers.
///
/// The queue is BBQ: W^D integer priorities, an operation in every clock cycle whatever the mix, elements of one priority first in, first
/// out. Partitions are queues of their own that share all elements; each has W^D / q of the priorities. The report tells latency and
/// memory, and how many of them a switch needs at the clock that you expect.
#[derive(clap::Args)]
#[command(
    next_help_heading = "The circuit",
    after_help = "\
Examples:
  trueplane pqueue rtl --out bbq
  trueplane pqueue rtl --width 8 --levels 5 --elements 131071 --partitions 32 --out bbq
  trueplane pqueue rtl --width 32 --levels 3 --elements 16383 --lanes 1 --clock 150MHz --json"
)]
pub(crate) struct Args {
    /// Children of a node, W: a power of two from 2 to 64
    #[arg(long, value_name = "W", default_value_t = 8)]
    width: u32,

    /// Levels of the tree, D; W^D priorities, 2^24 at most
    #[arg(long, value_name = "D", default_value_t = 3)]
    levels: u32,

    /// Elements that all partitions hold together, N; 2^k - 1 saves a bit of every count
    #[arg(long, value_name = "N", default_value = "1023", value_parser = count)]
    elements: u64,

    /// Queues of their own, q: a power of two up to W^D
    #[arg(long, value_name = "Q", default_value_t = 1)]
    partitions: u32,

    /// Bits of an element's data, 1 to 64
    #[arg(long, value_name = "N", default_value_t = 32)]
    data_bits: u32,

    /// Cycles in which a link is read: 2, through the memory's output register, or 1, which is slower and halves the largest table
    #[arg(long, value_name = "N", default_value_t = 2)]
    lanes: u32,

    /// Words of the largest table that is kept in LUT RAM
    #[arg(long, value_name = "N", default_value_t = LUT_WORDS)]
    lut_words: u32,

    /// Where to write it: a folder that is not there, or empty; without, nothing is written
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Operations of the test bench
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    operations: u32,

    /// What the test bench's operations are drawn from
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// The clock that you expect
    #[arg(long, value_name = "FREQUENCY", default_value = "200MHz", value_parser = frequency, help_heading = "The switch")]
    clock: u64,

    /// Ports of the switch
    #[arg(long, value_name = "K", default_value_t = 32, value_parser = clap::value_parser!(u64).range(1..=65_536), help_heading = "The switch")]
    ports: u64,

    /// Of each port
    #[arg(long, value_name = "RATE", default_value = "10Gbps", help_heading = "The switch")]
    port_rate: BitsPerSec,

    /// The smallest frame, with its checksum and without preamble and gap
    #[arg(long, value_name = "SIZE", default_value = "64B", help_heading = "The switch")]
    frame: Bytes,

    #[command(flatten)]
    output: OutputArgs,
}

/// A frequency such as `200MHz`, in Hz.
fn frequency(text: &str) -> Result<u64, String> {
    let number = text.strip_suffix("Hz").map(str::trim_end);
    // What is thousands of a count are kilohertz.
    let number =
        number.map(|number| number.strip_suffix('k').map_or(number.to_owned(), |rest| format!("{rest}K")));
    let parsed = number.and_then(|number| count(&number).ok()).filter(|&hertz| hertz > 0);
    parsed.ok_or_else(|| format!("expected a frequency such as 200MHz or 1.5GHz, got \"{text}\""))
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.output.check()?;
        let shape = Shape {
            width: self.width,
            levels: self.levels,
            // What is too large is refused with its own number below 2^32, and as the largest above.
            capacity: u32::try_from(self.elements).unwrap_or(u32::MAX),
            partitions: self.partitions,
            data_bits: self.data_bits,
        };
        let circuit = Circuit::new(shape, self.lanes, self.lut_words)
            .map_err(|error| Failure::input(error.to_string()))?;
        let switch = Switch { ports: self.ports, port_rate_bps: self.port_rate, frame: self.frame };
        let numbers = rtl(&Options { circuit: circuit.clone(), clock_hz: self.clock, switch });
        let Some(folder) = &self.out else { return self.output.emit(&numbers.report()) };
        let files = bundle(&circuit, &numbers, self.operations, self.seed)?;
        write(folder, &files).map_err(|error| {
            Failure::input(format!("--out {}: {}", folder.display(), without_code(&error)))
        })?;
        self.output.emit(&numbers.report())?;
        if self.output.is_json() { Ok(()) } else { print(&format!("\nWritten: {}\n", folder.display())) }
    }
}

/// Writes the files beside where they will be, and puts the folder there once it is whole.
fn write(folder: &Path, files: &[File]) -> io::Result<()> {
    if fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            "expected a folder that is not there, or empty: there are files in it",
        ));
    }
    let parent = match folder.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    // The error of what comes next names the temporary folder.
    let whole = tempfile::tempdir_in(parent).map_err(|error| io::Error::from(error.kind()))?;
    let place = whole.path().join("bundle");
    for file in files {
        let path = place.join(file.path);
        fs::create_dir_all(path.parent().unwrap_or(&place))?;
        fs::write(path, &file.text)?;
    }
    fs::rename(place, folder)
}

#[cfg(test)]
mod tests {
    use super::frequency;

    #[test]
    fn frequencies_have_their_unit() {
        assert_eq!(frequency("200MHz"), Ok(200_000_000));
        assert_eq!(frequency("1.5 GHz"), Ok(1_500_000_000));
        assert_eq!(frequency("250kHz"), Ok(250_000));
        for bad in ["200", "200M", "0Hz", "fastHz", "-1MHz"] {
            assert!(frequency(bad).is_err(), "{bad}");
        }
    }
}
