//! The files that follow from the parameters: the wrapper, the numbers of the test bench, and how to build.

use std::fmt::Write as _;

use super::ports::{parameters, ports, upper_priority_bits};
use super::sources;
use crate::bbq::{Circuit, Shape};
use crate::rtl::design::{Design, Queue, bits_for};

/// The licence of every file that is a circuit.
pub(super) const LICENCE: &str = "// SPDX-License-Identifier: Apache-2.0 OR MIT\n";

/// Path of the wrapper.
pub(super) fn wrapper_path(queue: Queue) -> &'static str {
    match queue {
        Queue::Bbq => "rtl/bbq.sv",
        Queue::Exact => "rtl/bbq_exact.sv",
        Queue::Window => "rtl/bbq_window.sv",
        Queue::Hier => "rtl/bbq_hier.sv",
        Queue::Pifo => "rtl/pifo.sv",
    }
}

/// The module at the top: the queue with its parameters set.
pub(super) fn wrapper(design: &Design) -> String {
    let (module, parameters) = parameters(design);
    let ports = ports(design);
    let mut text =
        format!("{LICENCE}/// `{module}` with its parameters set.\nmodule {} (\n", design.queue().top());
    for (number, port) in ports.iter().enumerate() {
        let direction = if port.is_output() { "output" } else { "input " };
        let comma = if number + 1 < ports.len() { "," } else { "" };
        let _ = writeln!(text, "  /// {}\n  {direction} {} {}{comma}", port.about, port.shape(), port.name);
    }
    text += ");\n";
    let mut names: Vec<String> = ports.iter().map(|port| format!(".{}", port.name)).collect();
    if design.queue() == Queue::Pifo {
        let Shape { data_bits, .. } = design.circuit().layout().shape();
        let _ = writeln!(text, "  // A push into the full queue waits: nothing ever spills.");
        let _ = writeln!(text, "  logic unused_valid;");
        let _ = writeln!(text, "  logic [{}:0] unused_priority;", design.priority_bits() - 1);
        let _ = writeln!(text, "  logic [{}:0] unused_data;\n", data_bits - 1);
        for name in ["valid", "priority", "data"] {
            names.push(format!(".spill_{name}_o(unused_{name})"));
        }
    }
    let settings: Vec<String> =
        parameters.iter().map(|(name, value)| format!("    .{name}({value})")).collect();
    let connections: Vec<String> = names.iter().map(|name| format!("    {name}")).collect();
    let _ = write!(
        text,
        "  {module} #(\n{}\n  ) i_queue (\n{}\n  );\nendmodule\n",
        settings.join(",\n"),
        connections.join(",\n")
    );
    text
}

/// The parameters of the test bench.
pub(super) fn shape(design: &Design, operations: u32, seed: u64) -> String {
    let queue = design.queue();
    let layout = design.circuit().layout();
    let Shape { capacity, partitions, data_bits, .. } = layout.shape();
    let mut values: Vec<(&str, u32)> = vec![
        ("Operations", operations),
        ("Elements", capacity),
        ("PriorityBits", design.priority_bits()),
        ("DataBits", data_bits),
        ("CountBits", layout.count_bits()),
        ("Latency", design.latency()),
    ];
    match queue {
        Queue::Bbq => values.extend([
            ("Span", layout.span()),
            ("Partitions", partitions),
            ("PartitionBits", bits_for(partitions)),
        ]),
        Queue::Window => values.push(("Half", layout.buckets() / 2)),
        Queue::Hier => values.extend([
            ("Span", layout.span()),
            ("Tenants", partitions),
            ("TenantBits", bits_for(partitions)),
            ("UpperLatency", design.upper().map_or(0, Circuit::latency)),
            ("UpperPriorityBits", upper_priority_bits(design)),
            ("UpperSpan", design.upper().map_or(1, |upper| upper.layout().span())),
        ]),
        Queue::Exact | Queue::Pifo => values.extend([
            ("Span", layout.span()),
            // A push and a pop in two cycles; and then equals leave in any order.
            ("TwoCycles", u32::from(queue == Queue::Exact)),
            ("AnyOfEquals", u32::from(queue == Queue::Exact)),
        ]),
    }
    let mut text = format!("{LICENCE}// The parameters of the queue and of its test.\n");
    if matches!(queue, Queue::Exact | Queue::Pifo) {
        let _ = writeln!(text, "`define TOP {}", queue.top());
    }
    for (name, value) in values {
        let _ = writeln!(text, "localparam integer {name} = {value};");
    }
    // A generator of this kind never leaves zero.
    let seed = (seed ^ (seed >> 32)) as u32 ^ 0x9e37_79b9;
    let _ = writeln!(text, "localparam [31:0] Seed = 32'h{:x};", if seed == 0 { 1 } else { seed });
    text
}

/// The files for tools, in the order in which they read them.
pub(super) fn file_list(queue: Queue) -> Vec<&'static str> {
    sources::of(queue).into_iter().map(|(path, _)| path).chain([wrapper_path(queue)]).collect()
}

/// What Yosys does for a Verilog file.
pub(super) fn script(queue: Queue) -> String {
    let (top, files) = (queue.top(), file_list(queue).join(" "));
    format!(
        "\
# Reads the SystemVerilog by slang, and writes a module in Verilog-2001.
read_slang --threads 1 --ignore-assertions -D SYNTHESIS --top {top} {files}
hierarchy -check -top {top}
proc
flatten
opt -full
memory_collect
opt_clean
check -assert
setattr -unset src -unset hdlname *
setattr -mod -unset src -unset hdlname *
write_verilog build/verilog/body.v
"
    )
}

/// How to test, and to get the Verilog file.
pub(super) fn makefile(queue: Queue) -> String {
    let top = queue.top();
    format!(
        "\
# SPDX-License-Identifier: Apache-2.0 OR MIT
# make test           the SystemVerilog in Verilator
# make verilog        verilog/{top}.v, by Yosys with slang
# make test-verilog   that file in Icarus Verilog
# make read-verilog   that file in Yosys, without slang
VERILATOR ?= verilator
YOSYS ?= yosys -m slang
IVERILOG ?= iverilog
VVP ?= vvp

.PHONY: test verilog test-verilog read-verilog clean

# Shows what was printed, and fails without a line that begins with PASS.
verdict = sed '/$$finish/d' $(1); grep -q '^PASS' $(1)

test:
	mkdir -p build/systemverilog
	$(VERILATOR) --binary --Mdir build/systemverilog --top-module tb -Itb -f filelist.f tb/tb.sv \\
	  > build/systemverilog/build.log
	build/systemverilog/Vtb > build/systemverilog/test.log
	@$(call verdict,build/systemverilog/test.log)

verilog: verilog/{top}.v

verilog/{top}.v: $(shell cat filelist.f) verilog.ys
	mkdir -p build/verilog verilog
	$(YOSYS) -q -s verilog.ys
	{{ echo '// SPDX-License-Identifier: Apache-2.0 OR MIT'; cat build/verilog/body.v; }} > $@

test-verilog: verilog/{top}.v
	mkdir -p build/verilog
	$(IVERILOG) -g2005 -s tb -I tb -o build/verilog/tb.vvp $< tb/tb.sv
	$(VVP) -n build/verilog/tb.vvp > build/verilog/test.log
	@$(call verdict,build/verilog/test.log)

read-verilog: verilog/{top}.v
	$(YOSYS) -q -p 'read_verilog $<; hierarchy -check -top {top}; proc; check -assert'

clean:
	rm -rf build verilog
"
    )
}
