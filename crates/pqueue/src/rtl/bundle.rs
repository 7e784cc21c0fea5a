//! The files to build a circuit from: sources, a wrapper with the parameters, a test bench with the model's answers, and how to run it.

use std::fmt::Write as _;

use rand_xoshiro::Xoshiro256StarStar;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use trueplane_study::Error;

use crate::bbq::{Bbq, Circuit, Layout, Operation, Response, Status};
use crate::rtl::Rtl;

/// A file of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Path within the bundle: `rtl/tp_bbq.sv`.
    pub path: &'static str,
    /// Text of the file.
    pub text: String,
}

/// The sources in the order in which tools read them, with where they are in a bundle. `circuits` links to them, so that the
/// published crate has them.
const SOURCES: [(&str, &str); 10] = [
    ("rtl/tp_sdp_ram.sv", include_str!("../../circuits/tp_sdp_ram.sv")),
    ("rtl/tp_lut_ram.sv", include_str!("../../circuits/tp_lut_ram.sv")),
    ("rtl/tp_delay.sv", include_str!("../../circuits/tp_delay.sv")),
    ("rtl/tp_bbq_pkg.sv", include_str!("../../circuits/tp_bbq_pkg.sv")),
    ("rtl/tp_find_first.sv", include_str!("../../circuits/tp_find_first.sv")),
    ("rtl/tp_bbq_front.sv", include_str!("../../circuits/tp_bbq_front.sv")),
    ("rtl/tp_bbq_fetch.sv", include_str!("../../circuits/tp_bbq_fetch.sv")),
    ("rtl/tp_bbq_level.sv", include_str!("../../circuits/tp_bbq_level.sv")),
    ("rtl/tp_bbq_lists.sv", include_str!("../../circuits/tp_bbq_lists.sv")),
    ("rtl/tp_bbq.sv", include_str!("../../circuits/tp_bbq.sv")),
];

const WRAPPER: &str = "rtl/bbq.sv";
const TEST_BENCH: &str = "tb/tb_bbq.sv";
const REQUESTS: &str = "tb/requests.hex";
const RESPONSES: &str = "tb/responses.hex";

/// The files for a circuit, with so many operations in its test bench, drawn from `seed`.
///
/// O(`operations` × D).
///
/// # Errors
///
/// There are no operations.
pub fn bundle(circuit: &Circuit, numbers: &Rtl, operations: u32, seed: u64) -> Result<Vec<File>, Error> {
    if operations == 0 {
        return Err(Error::Parameters("expected one operation at least for the test bench".to_owned()));
    }
    let ports = Ports::of(circuit.layout());
    let [requests, responses] = vectors(circuit.layout(), &ports, operations, seed)?;
    let mut files: Vec<File> =
        SOURCES.iter().map(|&(path, text)| File { path, text: text.to_owned() }).collect();
    files.push(File { path: WRAPPER, text: wrapper(circuit, &ports) });
    files.push(File { path: TEST_BENCH, text: test_bench(circuit, &ports, operations) });
    files.push(File { path: REQUESTS, text: requests });
    files.push(File { path: RESPONSES, text: responses });
    let list = SOURCES.iter().map(|(path, _)| *path).chain([WRAPPER]);
    let list = list.fold(String::new(), |list, path| list + path + "\n");
    files.push(File { path: "filelist.f", text: list });
    files.push(File { path: "README.md", text: readme(circuit, numbers, operations) });
    Ok(files)
}

/// Bits of the ports.
struct Ports {
    partition: u32,
    priority: u32,
    data: u32,
    count: u32,
}

impl Ports {
    fn of(layout: &Layout) -> Self {
        let bits = |values: u32| values.next_power_of_two().ilog2().max(1);
        let shape = layout.shape();
        Self {
            partition: bits(shape.partitions),
            priority: bits(layout.span()),
            data: shape.data_bits,
            count: layout.count_bits(),
        }
    }

    fn request(&self) -> u32 {
        2 + self.partition + self.priority + self.data
    }

    fn response(&self) -> u32 {
        2 + self.priority + self.data
    }
}

/// Requests and what the model answers, a hexadecimal number a line: operation or status, then the other fields.
fn vectors(layout: &Layout, ports: &Ports, operations: u32, seed: u64) -> Result<[String; 2], Error> {
    let shape = layout.shape();
    let internal = |error: &dyn std::fmt::Display| Error::Internal(error.to_string());
    let mut bbq = Bbq::new(shape).map_err(|error| internal(&error))?;
    let mut random = Xoshiro256StarStar::seed_from_u64(seed);
    let mut below = |bound: u32| (random.next_u64() % u64::from(bound)) as u32;
    let (mut requests, mut responses) = (String::new(), String::new());
    for number in 0..operations {
        let partition = below(shape.partitions);
        // By turns it fills and drains; a few priorities in a row are used more often than others, so that buckets have several elements.
        let enqueues = if (number / 1024) % 2 == 0 { 11 } else { 5 };
        let priority = if below(4) == 0 { below(layout.span()) } else { below(layout.span().min(4)) };
        let data = (u64::from(below(u32::MAX)) << 32 | u64::from(below(u32::MAX))) >> (64 - shape.data_bits);
        let (code, operation) = match below(16) {
            draw if draw < enqueues => (0, Operation::Enqueue { priority, data }),
            draw if draw % 2 == 0 => (1, Operation::DequeueMin),
            _ => (2, Operation::DequeueMax),
        };
        let Response { status, priority: first, data: out } =
            bbq.issue(partition, operation).map_err(|error| internal(&error))?;
        let (priority, data) = if code == 0 { (priority, data) } else { (0, 0) };
        let mut request = Word::default();
        request.push(code, 2).push(partition.into(), ports.partition);
        request.push(priority.into(), ports.priority).push(data, ports.data);
        let status = match status {
            Status::Ok => 0,
            Status::Full => 1,
            Status::Empty => 2,
        };
        let mut response = Word::default();
        response.push(status, 2).push(first.into(), ports.priority).push(out, ports.data);
        // Writing to a string does not fail.
        let _ = (writeln!(requests, "{:x}", request.0), writeln!(responses, "{:x}", response.0));
    }
    Ok([requests, responses])
}

/// Fields one behind the other, the first on top.
#[derive(Default)]
struct Word(u128);

impl Word {
    fn push(&mut self, value: u64, bits: u32) -> &mut Self {
        self.0 = self.0 << bits | u128::from(value);
        self
    }
}

/// The ports' ranges, `[9:0]`.
fn range(bits: u32) -> String {
    format!("[{}:0]", bits - 1)
}

fn wrapper(circuit: &Circuit, ports: &Ports) -> String {
    let shape = circuit.layout().shape();
    format!(
        "\
/// `tp_bbq` with these parameters; a response comes {latency} cycles after its request.
module bbq (
  input  logic clk_i,
  /// Synchronous, active low; one cycle is enough.
  input  logic rst_ni,
  input  logic valid_i,
  output logic ready_o,
  /// 0 ENQUEUE, 1 DEQUEUE-MIN, 2 DEQUEUE-MAX.
  input  logic [1:0] op_i,
  input  logic {partition} partition_i,
  input  logic {priority} priority_i,
  input  logic {data} data_i,
  output logic valid_o,
  /// 0 done, 1 full, 2 empty.
  output logic [1:0] status_o,
  output logic [1:0] op_o,
  output logic {partition} partition_o,
  output logic {priority} priority_o,
  output logic {data} data_o,
  /// Elements of each partition.
  output logic [{last_partition}:0]{count} occupancy_o
);
  tp_bbq #(
    .Width({width}), .Levels({levels}), .Elements({capacity}), .DataBits({data_bits}), .Partitions({partitions}),
    .Lanes({lanes}), .LutWords({lut_words})
  ) i_bbq (.*);
endmodule
",
        latency = circuit.latency(),
        partition = range(ports.partition),
        priority = range(ports.priority),
        data = range(ports.data),
        count = range(ports.count),
        last_partition = shape.partitions - 1,
        width = shape.width,
        levels = shape.levels,
        capacity = shape.capacity,
        data_bits = shape.data_bits,
        partitions = shape.partitions,
        lanes = circuit.lanes(),
        lut_words = circuit.lut_words(),
    )
}

fn test_bench(circuit: &Circuit, ports: &Ports, operations: u32) -> String {
    format!(
        "\
/// Issues the requests of a file, one in every cycle, and holds the responses to those of another.
module tb_bbq;
  localparam int Operations = {operations};
  localparam int Latency = {latency};

  logic {request} requests [Operations];
  logic {response} responses [Operations];
  logic clk = 1'b0, rst_n = 1'b0, valid = 1'b0, ready, valid_out;
  logic [1:0] op, status, op_out;
  logic {partition} partition_in, partition_out;
  logic {priority} priority_in, priority_out;
  logic {data} data_in, data_out;
  logic [{last_partition}:0]{count} occupancy;
  int sent = 0, received = 0, wrong = 0, cycle = 0, began = 0;

  bbq i_bbq (
    .clk_i(clk), .rst_ni(rst_n), .valid_i(valid), .ready_o(ready), .op_i(op), .partition_i(partition_in),
    .priority_i(priority_in), .data_i(data_in), .valid_o(valid_out), .status_o(status), .op_o(op_out),
    .partition_o(partition_out), .priority_o(priority_out), .data_o(data_out), .occupancy_o(occupancy)
  );

  always #1 clk = ~clk;

  initial begin
    $readmemh(\"tb/requests.hex\", requests);
    $readmemh(\"tb/responses.hex\", responses);
  end

  always_ff @(posedge clk) begin
    cycle <= cycle + 1;
    rst_n <= cycle >= 3;
    valid <= 1'b0;
    if (ready && cycle > 4 && sent < Operations) begin
      valid <= 1'b1;
      {{op, partition_in, priority_in, data_in}} <= requests[sent];
      sent <= sent + 1;
      if (sent == 0) began <= cycle + 1;
    end
    if (valid_out) begin
      received <= received + 1;
      if (received == 0 && cycle - began != Latency) begin
        $display(\"wrong: the first response came after %0d cycles, expected %0d\", cycle - began, Latency);
        wrong <= wrong + 1;
      end else if ({{status, priority_out, data_out}} != responses[received]) begin
        $display(\"wrong: response %0d is %h, expected %h\", received, {{status, priority_out, data_out}}, responses[received]);
        wrong <= wrong + 1;
      end
    end
    if (received == Operations || wrong > 9 || cycle > Operations + Latency + 99) begin
      if (wrong == 0 && received == Operations) $display(\"ok: %0d operations in %0d cycles\", received, cycle - began);
      else $fatal(1, \"%0d of %0d responses, %0d of them wrong\", received, Operations, wrong);
      $finish;
    end
  end
endmodule
",
        latency = circuit.latency(),
        request = range(ports.request()),
        response = range(ports.response()),
        partition = range(ports.partition),
        priority = range(ports.priority),
        data = range(ports.data),
        count = range(ports.count),
        last_partition = circuit.layout().shape().partitions - 1,
    )
}

fn readme(circuit: &Circuit, numbers: &Rtl, operations: u32) -> String {
    let shape = circuit.layout().shape();
    let mut text = format!(
        "# BBQ: W = {}, D = {}, N = {}, {} partitions, {} bits of data\n\n",
        shape.width, shape.levels, shape.capacity, shape.partitions, shape.data_bits
    );
    for sentence in &numbers.verdict {
        text += &format!("{sentence}\n");
    }
    text += "
The top is `bbq` in `rtl/bbq.sv`. It takes a request in every cycle in which `valid_i` and `ready_o` are high (`ready_o` is low in a
reset only), and answers in their order. Elements of one priority leave in the order in which they came. What cannot be done says so
and changes nothing. A reset takes one cycle, whenever it comes. `rtl/tp_sdp_ram.sv` is the one place for a vendor's memory.

| table | words | bits of a word | bits | kept in |
|---|---|---|---|---|
";
    for memory in &numbers.memories {
        let crate::rtl::Memory { name, words, word_bits, bits, kept } = memory;
        text += &format!("| {name} | {words} | {word_bits} | {bits} | {kept} |\n");
    }
    text += &format!(
        "
The test bench issues {operations} operations, one in every cycle, and holds the responses to those of trueplane's model:

    verilator --binary --top-module tb_bbq -f filelist.f {TEST_BENCH}
    obj_dir/Vtb_bbq
"
    );
    text
}

#[cfg(test)]
mod tests {
    use trueplane_units::{BitsPerSec, Bytes};

    use super::*;
    use crate::bbq::{LUT_WORDS, Shape};
    use crate::rtl::{Options, Switch, rtl};

    fn files(shape: Shape, seed: u64) -> Vec<File> {
        let circuit = Circuit::new(shape, 2, LUT_WORDS).unwrap();
        let switch = Switch { ports: 4, port_rate_bps: BitsPerSec(1_000_000_000), frame: Bytes(64) };
        let numbers = rtl(&Options { circuit: circuit.clone(), clock_hz: 100_000_000, switch });
        bundle(&circuit, &numbers, 3000, seed).unwrap()
    }

    const SHAPE: Shape = Shape { width: 4, levels: 2, capacity: 15, partitions: 4, data_bits: 8 };

    #[test]
    fn every_file_is_listed_once_and_vectors_meet_full_and_empty() {
        let found = files(SHAPE, 1);
        let mut paths: Vec<&str> = found.iter().map(|file| file.path).collect();
        paths.sort_unstable();
        paths.dedup();
        assert_eq!(paths.len(), found.len());
        let text = |path: &str| found.iter().find(|file| file.path == path).unwrap().text.as_str();
        assert!(text("filelist.f").lines().all(|listed| paths.contains(&listed)));
        let statuses: Vec<u64> =
            text(RESPONSES).lines().map(|line| u64::from_str_radix(line, 16).unwrap() >> (2 + 8)).collect();
        assert_eq!(statuses.len(), 3000);
        for status in 0..3 {
            assert!(statuses.iter().filter(|&&found| found == status).count() > 30, "{status}");
        }
        assert!(files(SHAPE, 2) != found && files(SHAPE, 1) == found);
    }
}
