// SPDX-License-Identifier: Apache-2.0 OR MIT
/// A PIFO: push in, first out. A sorted array in which every element has a comparator of its own.
///
/// The element of the smallest priority is always in slot 0, and elements of one priority are in
/// the order in which they came. A push compares its priority with that of all slots at once; those
/// behind its place move up by one. A pop moves all down by one. Both can happen in the same cycle:
/// the pop then takes the element that was at the front before the push.
///
/// Operations per cycle: a push and a pop. Latency: the element at the front can be seen on the
/// ports, and a pushed one is in its place in the next cycle. Memories: none, everything is
/// flip-flops.
///
/// Source: Sivaraman et al., Programmable Packet Scheduling at Line Rate, SIGCOMM 2016; Atre 2025
/// §4.4.1, §4.6. Departures: one array, where the source has flows in front of it (of which only
/// the first elements are sorted), so that a queue holds any elements; no logical partitions.
module tp_pifo #(
  /// Elements that it holds, N: at least 2.
  parameter int unsigned Elements     = 16,
  /// Bits of a priority: at least 1. The smallest number leaves first.
  parameter int unsigned PriorityBits = 9,
  /// Bits of the data that come with an element: at least 1.
  parameter int unsigned DataBits     = 16,
  /// What happens to a push into a full queue: 0, it waits; 1, it is done, and the last of all
  /// elements, which may be the new one, leaves in the same cycle.
  parameter bit          Spills       = 1'b0,
  /// Bits of a number of elements; not to be set.
  localparam int unsigned CountBits   = $clog2(Elements + 1)
) (
  /// Clock.
  input  logic                    clk_i,
  /// Reset, active low, synchronous. It empties the queue.
  input  logic                    rst_ni,
  /// There is an element to add.
  input  logic                    push_valid_i,
  /// It is added at the end of this cycle if `push_valid_i`. Low while the queue is full, also if
  /// there is a pop at the same time; with `Spills` always high.
  output logic                    push_ready_o,
  /// Its priority.
  input  logic [PriorityBits-1:0] push_priority_i,
  /// Its data.
  input  logic [    DataBits-1:0] push_data_i,
  /// There is an element at the front.
  output logic                    pop_valid_o,
  /// The element at the front leaves at the end of this cycle if `pop_valid_o`.
  input  logic                    pop_ready_i,
  /// The priority of the element at the front; 0 if there is none.
  output logic [PriorityBits-1:0] pop_priority_o,
  /// Its data; 0 if there is none.
  output logic [    DataBits-1:0] pop_data_o,
  /// The last element leaves for a pushed one; never without `Spills`.
  output logic                    spill_valid_o,
  /// Its priority; 0 if there is none.
  output logic [PriorityBits-1:0] spill_priority_o,
  /// Its data; 0 if there is none.
  output logic [    DataBits-1:0] spill_data_o,
  /// How many elements there are.
  output logic [   CountBits-1:0] occupancy_o
);
  // Refused when it is elaborated.
  if (Elements < 2) begin : g_refuse_elements
    $error("tp_pifo: Elements is at least 2");
  end
  if (PriorityBits < 1 || DataBits < 1) begin : g_refuse_bits
    $error("tp_pifo: PriorityBits and DataBits are at least 1");
  end

  typedef struct packed {
    logic                    valid;
    logic [PriorityBits-1:0] prio;
    logic [DataBits-1:0]     data;
  } slot_t;

  // Slots 0 .. Elements - 1. The one behind the last is always empty, and makes the last like the
  // others.
  slot_t [Elements-1:0]  slot_q;
  slot_t [  Elements:0]  slot;
  logic  [CountBits-1:0] count_q;

  // Whether a slot is behind the place of the pushed element: it is empty or its priority is
  // larger. Never set before a slot for which it is clear, as the slots are sorted.
  logic  [   Elements:0] behind;
  slot_t                 pushed;
  logic                  push;
  logic                  pop;

  assign push_ready_o   = Spills || count_q != CountBits'(Elements);
  assign pop_valid_o    = slot_q[0].valid;
  assign pop_priority_o = slot_q[0].valid ? slot_q[0].prio : '0;
  assign pop_data_o     = slot_q[0].valid ? slot_q[0].data : '0;
  assign occupancy_o    = count_q;

  assign push           = push_valid_i && push_ready_o;
  assign pop            = pop_valid_o && pop_ready_i;
  assign pushed         = '{valid: 1'b1, prio: push_priority_i, data: push_data_i};

  always_comb begin
    for (int unsigned i = 0; i < Elements; i++) begin
      slot[i]   = slot_q[i];
      behind[i] = !slot_q[i].valid || push_priority_i < slot_q[i].prio;
    end
    slot[Elements]   = '0;
    behind[Elements] = 1'b1;
  end

  for (genvar i = 0; i < Elements; i++) begin : g_slot
    localparam int unsigned Before = i == 0 ? 0 : i - 1;

    // Where the next content comes from: from the slot behind it, from the one before it, or from
    // the ports. Spelt out so that the fourth case, no change, becomes the enable of the flip-flops
    // and not another input of every multiplexer.
    logic from_behind, from_before, changes;

    always_comb begin
      if (pop) begin
        from_behind = !push || !behind[i+1];
        from_before = 1'b0;
        changes     = from_behind || i == 0 || !behind[i];
      end else begin
        from_behind = 1'b0;
        from_before = i != 0 && behind[Before];
        changes     = push && behind[i];
      end
    end

    always_ff @(posedge clk_i) begin
      if (changes) slot_q[i] <= from_behind ? slot[i+1] : from_before ? slot[Before] : pushed;
      if (!rst_ni) slot_q[i].valid <= 1'b0;
    end
  end

  logic  spills;
  slot_t last;
  logic  unused_last;

  assign spills           = Spills && push && !pop && slot_q[Elements-1].valid;
  assign unused_last      = last.valid;
  assign last             = behind[Elements-1] ? slot_q[Elements-1] : pushed;
  assign spill_valid_o    = spills;
  assign spill_priority_o = spills ? last.prio : '0;
  assign spill_data_o     = spills ? last.data : '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) count_q <= '0;
    else count_q <= count_q + CountBits'(push && !spills) - CountBits'(pop);
  end
endmodule
