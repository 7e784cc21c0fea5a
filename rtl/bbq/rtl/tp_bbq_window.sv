// SPDX-License-Identifier: Apache-2.0 OR MIT
/// Priorities that grow without end: a window of two halves, each a partition of a `tp_bbq`, that
/// moves along as it is served.
///
/// The window begins at a multiple of H, and has 2 H priorities. When its first half is empty and
/// something is to be served, the second half becomes the first, and the partition behind it
/// becomes the new second half. It does not move as soon as the first half is empty, and so does
/// not pass what was served last: as long as every priority is at least the one that was served
/// last, and at most H above it, the order is exact, for ever. What is outside:
///
/// - behind the window, an element waits with the window's first priority, behind what is there;
/// - beyond it, the window first moves on if its first half is empty, as far as what is in it lets
///   it; if that is not enough, the element is refused, or waits with the window's last priority
///   (`BeyondLast`);
/// - in an empty queue the window is wherever the next priority is.
///
/// The priority that comes with an element is the one that it waited with. Priorities do not wrap.
///
/// How it works. Which partition an operation is for depends on how many elements the two have
/// after the operations before it. That is known here, in one stage, before any of them is done:
/// from counts of its own, with a bit for "none" each. The BBQ then agrees on the status of each
/// operation, which is asserted.
///
/// Operations per cycle: 1, without stalls. Latency: `Latency` cycles from a request to its
/// response, 2 more than the BBQ's. Memories: those of the BBQ, and what travels alongside it.
///
/// Source: Atre 2025 §4.5.2, after the circular queue of Eiffel, NSDI 2019, §3.1; §4.5.2 says that
/// it was not built. Departures: when the window moves, as above; there it does as soon as the
/// first half is empty, and an element that is due before the half would have ended comes behind
/// the window.
module tp_bbq_window
  import tp_bbq_pkg::*;
#(
  /// As of `tp_bbq`; H is W^D / 2.
  parameter int unsigned Width = 8,
  /// As of `tp_bbq`.
  parameter int unsigned Levels = 3,
  /// As of `tp_bbq`.
  parameter int unsigned Elements = 1023,
  /// As of `tp_bbq`.
  parameter int unsigned DataBits = 16,
  /// Bits of a priority that grows: more than those of H, by at least 2.
  parameter int unsigned PriorityBits = 32,
  /// Whether what is beyond the window waits with the window's last priority, and is not refused.
  parameter bit BeyondLast = 1'b0,
  /// As of `tp_bbq`.
  parameter int unsigned Lanes = 2,
  /// As of `tp_bbq`.
  parameter int unsigned LutWords = 16,
  /// Bits of a number of elements.
  localparam int unsigned CountBits = unsigned'($clog2(Elements + 1)),
  /// Cycles from a request to its response.
  localparam int unsigned Latency = latency(Width, Levels, 2, LutWords, 0) + 2
) (
  /// Clock.
  input  logic                    clk_i,
  /// Synchronous, active low; one cycle is enough. The window is then at 0.
  input  logic                    rst_ni,
  /// A request, if `ready_o`.
  input  logic                    valid_i,
  /// Always, but in a reset.
  output logic                    ready_o,
  /// See `tp_bbq_pkg::op_e`.
  input  logic [             1:0] op_i,
  /// Of an enqueue.
  input  logic [PriorityBits-1:0] priority_i,
  /// Of an enqueue.
  input  logic [    DataBits-1:0] data_i,
  /// A response; they come in the order of the requests.
  output logic                    valid_o,
  /// See `tp_bbq_pkg::status_e`; and 3: an enqueue that is beyond the window, and was not done.
  output logic [             1:0] status_o,
  /// Of a dequeue that was done; 0 otherwise.
  output logic [PriorityBits-1:0] priority_o,
  /// Of a dequeue that was done; 0 otherwise.
  output logic [    DataBits-1:0] data_o,
  /// How many elements there are, after the requests of more than 2 cycles ago.
  output logic [   CountBits-1:0] occupancy_o
);
  // Refused when it is elaborated.
  if (Width < 2 || Width > 64 || 32'd1 << $clog2(Width) != Width) begin : g_refuse_width
    $error("tp_bbq_window: Width is a power of two from 2 to 64");
  end
  if (Levels < 1 || Levels * unsigned'($clog2(Width)) > 24) begin : g_refuse_levels
    $error("tp_bbq_window: Levels is at least 1, and Width^Levels at most 2^24");
  end
  if (Elements < 1 || Elements > 32'd1 << 24) begin : g_refuse_elements
    $error("tp_bbq_window: Elements is from 1 to 2^24");
  end
  if (DataBits < 1 || DataBits > 64) begin : g_refuse_data
    $error("tp_bbq_window: DataBits is from 1 to 64");
  end
  if (Lanes < 1 || Lanes > 2) begin : g_refuse_lanes
    $error("tp_bbq_window: Lanes is 1 or 2");
  end
  if (PriorityBits < Levels * unsigned'($clog2(Width)) + 1) begin : g_refuse_priority
    $error("tp_bbq_window: PriorityBits are more than those of a half, by at least 2");
  end

  localparam int unsigned PlaceBits  = Levels * unsigned'($clog2(Width)) - 1;
  // A half of a single priority has no place in it, but a port of a bit.
  localparam int unsigned PortBits   = PlaceBits > 0 ? PlaceBits : 1;
  localparam int unsigned NumberBits = PriorityBits - PlaceBits;
  localparam logic [1:0]  Outside    = 2'd3;

  assign ready_o = rst_ni;

  // Stage I: the request.
  logic                  i_valid_q;
  logic [           1:0] i_op_q;
  logic [NumberBits-1:0] i_number_q;
  logic [  PortBits-1:0] i_place_q;
  logic [  DataBits-1:0] i_data_q;

  always_ff @(posedge clk_i) begin
    i_valid_q  <= rst_ni && valid_i;
    i_op_q     <= op_i;
    i_number_q <= priority_i[PriorityBits-1:PlaceBits];
    i_data_q   <= data_i;
  end

  if (PlaceBits > 0) begin : g_place
    always_ff @(posedge clk_i) i_place_q <= priority_i[PlaceBits-1:0];
  end else begin : g_no_place
    assign i_place_q = '0;
  end

  // Stage D: the decision. The state: the number of the first half, how many elements the two
  // halves have; those of the partition of even numbers are in [0].
  logic [NumberBits-1:0]     first_q;
  logic [NumberBits-1:0]     first;
  logic [1:0][CountBits-1:0] count_q;
  logic [CountBits-1:0]      total_q;
  logic [1:0]                some_q;
  logic                      full_q;

  logic                      enqueue;
  logic                      some_first;
  logic                      some_second;
  // Where the request's half is, before the window moves and after. With a bit more than a number
  // has: behind the last half of the range there is none, and its number must not be that of the
  // first one.
  logic [  NumberBits:0]     second_number;
  logic [  NumberBits:0]     beyond_number;
  logic                      is_first;
  logic                      is_second;
  logic                      is_behind;
  logic                      is_next;
  logic                      into_first;
  logic                      outside;
  logic                      clamp;
  logic                      ok;
  logic [1:0]                status;
  logic                      half;
  logic                      partition_bit;
  logic [  PortBits-1:0]     place;

  assign enqueue       = i_op_q == Enqueue;
  assign some_first    = some_q[first_q[0]];
  assign some_second   = some_q[!first_q[0]];
  assign second_number = {1'b0, first_q} + 1'b1;
  assign beyond_number = {1'b0, first_q} + (NumberBits + 1)'(2);
  assign is_first      = i_number_q == first_q;
  assign is_second     = {1'b0, i_number_q} == second_number;
  assign is_next       = {1'b0, i_number_q} == beyond_number;
  assign is_behind     = i_number_q < first_q;

  // The window's first half after the operation, if that can be done; and the half of the request
  // in it: 0 or 1.
  always_comb begin
    first      = first_q;
    half       = 1'b0;
    outside    = 1'b0;
    clamp      = 1'b0;
    into_first = 1'b0;
    if (enqueue) begin
      if (is_first || is_second) begin
        half = is_second;
      end else if (!some_first && !some_second) begin
        first = i_number_q;
      end else if (is_behind) begin
        // It waits with the window's first priority.
        into_first = 1'b1;
      end else if (!some_first && is_next) begin
        first = second_number[NumberBits-1:0];
        half  = 1'b1;
      end else begin
        // Beyond, even when the window has moved on as far as it can.
        first   = some_first ? first_q : second_number[NumberBits-1:0];
        half    = 1'b1;
        outside = !BeyondLast;
        clamp   = BeyondLast;
      end
    end else if (i_op_q == DequeueMin) begin
      // The window moves when its second half is served.
      if (!some_first) first = second_number[NumberBits-1:0];
    end else begin
      half = some_second;
    end
  end

  assign ok            = enqueue ? !full_q && !outside : some_first || some_second;
  assign status        = ok ? Ok : !enqueue ? Empty : outside ? Outside : Full;
  assign partition_bit = first[0] ^ half;
  assign place         = into_first ? '0 : clamp ? '1 : i_place_q;

  logic done;
  assign done = i_valid_q && ok;

  always_ff @(posedge clk_i) begin
    if (done) begin
      first_q <= first;
      for (int unsigned i = 0; i < 2; i++) begin
        if (partition_bit == 1'(i)) begin
          count_q[i] <= enqueue ? count_q[i] + 1'b1 : count_q[i] - 1'b1;
          some_q[i]  <= enqueue || count_q[i] != CountBits'(1);
        end
      end
      total_q <= enqueue ? total_q + 1'b1 : total_q - 1'b1;
      full_q  <= enqueue && total_q == CountBits'(Elements - 1);
    end
    if (!rst_ni) begin
      first_q <= '0;
      count_q <= '0;
      total_q <= '0;
      some_q  <= '0;
      full_q  <= 1'b0;
    end
  end

  assign occupancy_o = total_q;

  // To the BBQ; and alongside, what the response needs of the window.
  logic                  d_valid_q;
  logic                  d_done_q;
  logic [           1:0] d_op_q;
  logic [           1:0] d_status_q;
  logic                  d_partition_q;
  logic [  PortBits-1:0] d_place_q;
  logic [  DataBits-1:0] d_data_q;
  logic [NumberBits-1:0] d_number_q;

  always_ff @(posedge clk_i) begin
    d_valid_q     <= rst_ni && i_valid_q;
    d_done_q      <= rst_ni && done;
    d_op_q        <= i_op_q;
    d_status_q    <= status;
    d_partition_q <= partition_bit;
    d_place_q     <= place;
    d_data_q      <= i_data_q;
    d_number_q    <= first + NumberBits'(half);
  end

  localparam int unsigned Behind = Latency - 2;

  logic [    Behind-1:0] valid_q;
  logic [           1:0] r_status;
  logic                  r_dequeued;
  logic [NumberBits-1:0] r_number;

  always_ff @(posedge clk_i) valid_q <= rst_ni ? {valid_q[Behind-2:0], d_valid_q} : '0;

  tp_delay #(
    .Bits(NumberBits + 3), .Cycles(Behind)
  ) i_alongside (
    .clk_i, .rst_ni,
    .data_i({d_number_q, d_status_q, d_done_q && d_op_q != Enqueue}),
    .data_o({r_number, r_status, r_dequeued})
  );

  logic                      b_valid;
  logic                      b_ready;
  logic                      b_partition;
  logic [           1:0]     b_status;
  logic [           1:0]     b_op;
  logic [  PortBits-1:0]     b_place;
  logic [  DataBits-1:0]     b_data;
  logic [1:0][CountBits-1:0] b_count;

  tp_bbq #(
    .Width(Width), .Levels(Levels), .Elements(Elements), .DataBits(DataBits), .Partitions(2),
    .Lanes(Lanes), .LutWords(LutWords)
  ) i_bbq (
    .clk_i, .rst_ni,
    .valid_i(d_done_q), .ready_o(b_ready), .op_i(d_op_q), .partition_i(d_partition_q),
    .priority_i(d_place_q), .data_i(d_data_q),
    .valid_o(b_valid), .status_o(b_status), .op_o(b_op), .partition_o(b_partition),
    .priority_o(b_place), .data_o(b_data),
    .occupancy_o(b_count)
  );

  assign valid_o  = valid_q[Behind-1];
  assign status_o = r_status;
  assign data_o   = r_dequeued ? b_data : '0;

  if (PlaceBits > 0) begin : g_priority
    assign priority_o = r_dequeued ? {r_number, b_place} : '0;
  end else begin : g_no_priority
    assign priority_o = r_dequeued ? r_number : '0;
  end

  logic unused_bbq;
  assign unused_bbq = &{1'b0, b_ready, b_partition, b_status, b_op, b_count, b_valid, b_place};

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      // Whatever is asked of the BBQ can be done, and is.
      assert (!b_valid || b_status == Ok);
      assert (!b_valid || valid_o);
    end
  end
`endif
endmodule
