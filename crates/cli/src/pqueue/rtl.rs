//! `trueplane pqueue rtl`

use std::path::{Path, PathBuf};
use std::{fs, io};

use trueplane_pqueue::bbq::{Memories, Shape};
use trueplane_pqueue::rtl::bundle::{File, bundle};
use trueplane_pqueue::rtl::design::{Design, Extras, Queue};
use trueplane_pqueue::rtl::shapes::propose;
use trueplane_pqueue::rtl::{Options, Switch, rtl};
use trueplane_study::prose::command_line;
use trueplane_trace::without_code;
use trueplane_units::{BitsPerSec, Bytes, Datum, Value, Within, parameters, unexpected};

use crate::failure::Failure;
use crate::flags::Flags;
use crate::output::{OutputArgs, print};

/// Write a hardware priority queue: SystemVerilog, a wrapper with your parameters, and a test bench.
///
/// The queue is BBQ, or one that is built on it. It has W^D integer priorities, and does one operation in every clock cycle, for any mix of
/// operations. Elements of the same priority are first in, first out. Partitions are separate queues that share all elements. Each of the q
/// partitions has W^D / q priorities. The test bench has a model of its own. The report shows latency, memory, and the clock and area that
/// synthesis for an FPGA has reached. With parameters that were not run, it has an estimate, and says so.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  trueplane pqueue rtl --out bbq
  trueplane pqueue rtl --width 8 --levels 5 --elements 131071 --partitions 32 --out bbq
  trueplane pqueue rtl --priorities 32768 --elements 16383
  trueplane pqueue rtl --queue window --priority-bits 48 --out timers
  trueplane pqueue rtl --queue hier --partitions 8 --upper-width 8 --upper-levels 2 --json")]
pub(crate) struct Args {
    #[command(flatten)]
    flags: Flags<Parameters>,

    #[command(flatten)]
    output: OutputArgs,
}

const CIRCUIT: &str = "The circuit";
const SWITCH: &str = "The switch";

parameters! {
    /// Parameters of `pqueue rtl`.
    #[derive(Clone, Debug)]
    struct Parameters {
        /// Kind of queue.
        queue: Queue => { value: "WHICH", default: "bbq", heading: CIRCUIT },
        /// Number of priorities of each partition. It chooses width and levels, and shows the other trees with as many.
        priorities: Option<u64> => { value: "N", heading: CIRCUIT },
        /// Number of children of each node, W: a power of two from 2 to 64.
        width: Option<u32> => { value: "W", default_words: "8", conflicts: "priorities", heading: CIRCUIT },
        /// Number of levels of the tree, D. W^D is the number of priorities, at most 2^24.
        levels: Option<u32> => { value: "D", default_words: "3", conflicts: "priorities", heading: CIRCUIT },
        /// Number of elements that all partitions hold together, N. A number of the form 2^k - 1 saves a bit in each counter.
        elements: u64 => { value: "N", default: "1023", heading: CIRCUIT },
        /// Number of partitions, q: a power of two up to W^D, and at most 4096. For the queue hier, that of tenants.
        partitions: u32 => { value: "Q", default: "1", heading: CIRCUIT },
        /// Bits of data in each element, from 1 to 64.
        data_bits: u32 => { value: "N", default: "16", heading: CIRCUIT },
        /// Bits of a priority that grows without end, up to 64: for the queue window.
        priority_bits: u32 => { value: "N", default: "32", heading: CIRCUIT },
        /// Width of the tree of tenants: for the queue hier.
        upper_width: u32 => { value: "W", default: "8", heading: CIRCUIT },
        /// Number of levels of the tree of tenants: for the queue hier.
        upper_levels: u32 => { value: "D", default: "2", heading: CIRCUIT },
        /// Number of cycles to read a link: 2 or 1. With 2, it is read through the output register of the memory. 1 is slower, and halves the
        /// largest table.
        lanes: u32 => { value: "N", default: "2", heading: CIRCUIT },
        /// Size of the largest table that is kept in LUT RAM, in words.
        lut_words: u32 => { value: "N", default: "16", heading: CIRCUIT },
        /// Registers on the way to block RAMs and behind them, for tables of many of them: a faster clock, and more cycles of latency. Only for
        /// the queue bbq.
        memory_stages: bool => { heading: CIRCUIT },
        /// Folder for the files, which must be empty or not exist yet. Without it, nothing is written.
        out: PathBuf => { value: "DIR", heading: CIRCUIT },
        /// Number of operations of the test bench.
        operations: Within<u32, 1, 10_000_000> => { value: "N", default: "40000", heading: CIRCUIT },
        /// Seed of the operations of the test bench.
        seed: u64 => { value: "SEED", default: "1", heading: CIRCUIT },
        /// Clock frequency that you wish. If synthesis has not reached it, rates are those at the clock that it has reached. By an estimate there
        /// are none.
        clock: Option<Frequency> =>
            { value: "FREQUENCY", default_words: "the clock that synthesis has reached", heading: SWITCH },
        /// Number of ports of the switch.
        ports: Within<u64, 1, 65_536> => { value: "K", default: "32", heading: SWITCH },
        /// Rate of each port.
        port_rate: BitsPerSec => { value: "RATE", default: "10Gbps", heading: SWITCH },
        /// Size of the smallest frame, with its checksum, and without preamble and gap.
        frame: Bytes => { value: "SIZE", default: "64B", heading: SWITCH },
    }
}

/// Builds the test bench and runs it, in the folder that is written.
const TEST: &str = "make test";

/// A frequency above zero, in Hz: `200MHz`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Frequency(u64);

const FREQUENCY: &str = "a frequency such as 200MHz or 1.5GHz";

impl Value for Frequency {
    const UNIT: &'static str = "hz";
    const SHAPE: trueplane_units::Shape = trueplane_units::Shape::NUMBER;

    fn expected() -> String {
        FREQUENCY.to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let number = text.strip_suffix("Hz").map(str::trim_end);
        // What is thousands of a count are kilohertz.
        let number = number
            .map(|number| number.strip_suffix('k').map_or(number.to_owned(), |rest| format!("{rest}K")));
        let parsed = number.and_then(|number| u64::parse(&number).ok()).filter(|&hertz| hertz > 0);
        parsed.map(Self).ok_or_else(|| unexpected(FREQUENCY, text))
    }

    fn show(&self) -> String {
        format!("{}Hz", self.0)
    }

    fn datum(&self) -> Datum {
        Datum::Integer(self.0)
    }
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.output.check()?;
        let Flags(asked) = &self.flags;
        let shape = Shape {
            width: asked.width.unwrap_or(8),
            levels: asked.levels.unwrap_or(3),
            // What is too large is refused with its own number below 2^32, and as the largest above.
            capacity: u32::try_from(asked.elements).unwrap_or(u32::MAX),
            partitions: asked.partitions,
            data_bits: asked.data_bits,
        };
        let extras = Extras {
            priority_bits: asked.priority_bits,
            upper_width: asked.upper_width,
            upper_levels: asked.upper_levels,
        };
        let queue = asked.queue;
        let memories =
            Memories { lanes: asked.lanes, lut_words: asked.lut_words, stages: asked.memory_stages };
        let designed = match asked.priorities {
            Some(priorities) => propose(priorities, queue, shape, memories, extras),
            None => Design::new(queue, shape, memories, extras).map(|design| (design, Vec::new())),
        };
        let (design, shapes) = designed.map_err(|error| Failure::input(error.to_string()))?;
        let switch = Switch { ports: *asked.ports, port_rate_bps: asked.port_rate, frame: asked.frame };
        let clock_hz = asked.clock.map(|clock| clock.0);
        let numbers = rtl(&Options { design: design.clone(), clock_hz, switch, shapes });
        let folder = &asked.out;
        if folder.as_os_str().is_empty() {
            return self.output.emit(&numbers.report());
        }
        let files = bundle(&design, &numbers, *asked.operations, asked.seed)?;
        write(folder, &files).map_err(|error| {
            Failure::input(format!("--out {}: {}", folder.display(), without_code(&error)))
        })?;
        self.output.emit(&numbers.report())?;
        if self.output.is_json() {
            return Ok(());
        }
        let folder = folder.display().to_string();
        let place = command_line(&["cd", &folder]);
        print(&format!("\nWritten: {folder}\nTest it: {place} && {TEST}\n"))
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
    use trueplane_pqueue::bbq::LUT_WORDS;

    use super::*;

    #[test]
    fn frequencies_have_their_unit() {
        assert_eq!(Parameters::default().lut_words, LUT_WORDS);
        let frequency = |text: &str| Frequency::parse(text).map(|frequency| frequency.0);
        assert_eq!(frequency("200MHz"), Ok(200_000_000));
        assert_eq!(frequency("1.5 GHz"), Ok(1_500_000_000));
        assert_eq!(frequency("250kHz"), Ok(250_000));
        for bad in ["200", "200M", "0Hz", "fastHz", "-1MHz"] {
            assert!(frequency(bad).is_err(), "{bad}");
        }
    }
}
