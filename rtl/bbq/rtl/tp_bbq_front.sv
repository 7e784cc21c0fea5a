// SPDX-License-Identifier: Apache-2.0 OR MIT
/// The front of the queue: takes requests, and decides whether they can be done, from the number of
/// elements in use and that of the partition's. What follows then only does what can be done.
///
/// Latency: 1 cycle, or 2 with several partitions. Its outputs come out of logic, not of registers,
/// but for what a request brings.
///
/// Source: Atre 2025 §4.4. Departure: operations that cannot be done are found out here, and not
/// undefined.
module tp_bbq_front
  import tp_bbq_pkg::*;
#(
  /// Elements, N: at least 1.
  parameter int unsigned Elements = 1023,
  /// Partitions: a power of two.
  parameter int unsigned Partitions = 1,
  /// Bits of what a request brings, and which is not looked at here.
  parameter int unsigned PayloadBits = 8,
  localparam int unsigned PartitionBits = bits_for(Partitions),
  localparam int unsigned CountBits = unsigned'($clog2(Elements + 1))
) (
  input  logic                                 clk_i,
  /// Synchronous, active low.
  input  logic                                 rst_ni,
  input  logic                                 valid_i,
  /// See `op_e`.
  input  logic [1:0]                           op_i,
  input  logic [PartitionBits-1:0]             partition_i,
  input  logic [PayloadBits-1:0]               payload_i,
  /// Whether there is a request, done or not.
  output logic                                 valid_o,
  output logic [1:0]                           op_o,
  output logic [PartitionBits-1:0]             partition_o,
  output logic [PayloadBits-1:0]               payload_o,
  /// Whether and why not it is done; if there is one.
  output logic [1:0]                           status_o,
  /// Whether the partition was empty, or had one element, before it.
  output logic                                 empty_o,
  output logic                                 single_o,
  /// The partitions' elements after the requests before this one.
  output logic [Partitions-1:0][CountBits-1:0] occupancy_o
);
  // Refused when it is elaborated.
  if (Elements < 1) begin : g_refuse_elements
    $error("tp_bbq_front: Elements is at least 1");
  end
  if (Partitions < 1 || 32'd1 << $clog2(Partitions) != Partitions) begin : g_refuse_partitions
    $error("tp_bbq_front: Partitions is a power of two");
  end
  if (PayloadBits < 1) begin : g_refuse_payload
    $error("tp_bbq_front: PayloadBits is at least 1");
  end

  logic                     i_valid_q;
  logic [1:0]               i_op_q;
  logic [PartitionBits-1:0] i_partition_q;
  logic [PayloadBits-1:0]   i_payload_q;

  always_ff @(posedge clk_i) begin
    i_valid_q <= rst_ni & valid_i;
    i_op_q <= op_i;
    i_partition_q <= partition_i;
    i_payload_q <= payload_i;
  end

  // Stage D: the decision.
  logic                 d_enqueue, d_ok, d_some, d_several, full_q;
  logic [CountBits-1:0] d_count, d_moved, d_next;
  logic                 d_next_some;

  assign d_enqueue = op_o == Enqueue;
  assign d_several = |(d_count >> 1);
  assign status_o = d_enqueue ? (full_q ? Full : Ok) : (d_some ? Ok : Empty);
  assign d_ok = valid_o & (d_enqueue ? ~full_q : d_some);
  assign d_moved = d_count + (d_enqueue ? CountBits'(1) : '1);
  assign d_next = d_ok ? d_moved : d_count;
  assign d_next_some = d_ok ? d_enqueue | d_several : d_some;
  assign empty_o = ~d_some;
  assign single_o = d_some & ~d_several;

  logic [CountBits-1:0] total;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) full_q <= 1'b0;
    else if (d_ok) full_q <= d_enqueue && total == CountBits'(Elements - 1);
  end

  if (Partitions == 1) begin : g_one
    logic                 some_q;
    logic [CountBits-1:0] count_q;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) {some_q, count_q} <= '0;
      else {some_q, count_q} <= {d_next_some, d_next};
    end
    assign d_some = some_q;
    assign d_count = count_q;
    assign total = count_q;
    assign occupancy_o[0] = count_q;
    assign valid_o = i_valid_q;
    assign op_o = i_op_q;
    assign partition_o = i_partition_q;
    assign payload_o = i_payload_q;
  end else begin : g_several
    logic [Partitions-1:0]                some_q;
    logic [Partitions-1:0][CountBits-1:0] count_q;
    logic [CountBits-1:0]                 total_q;

    logic                     d_valid_q, d_some_q;
    logic [1:0]               d_op_q;
    logic [PartitionBits-1:0] d_partition_q;
    logic [PayloadBits-1:0]   d_payload_q;
    logic [CountBits-1:0]     d_count_q;
    logic [Partitions-1:0]    d_is_q;
    logic                     same;

    assign same = d_partition_q == i_partition_q;

    always_ff @(posedge clk_i) begin
      d_valid_q <= rst_ni & i_valid_q;
      d_op_q <= i_op_q;
      d_partition_q <= i_partition_q;
      d_payload_q <= i_payload_q;
      d_is_q <= Partitions'(1) << i_partition_q;
      // The operation ahead is still in D; those before it are in the registers.
      d_count_q <= same ? d_next : count_q[i_partition_q];
      d_some_q <= same ? d_next_some : some_q[i_partition_q];
      if (!rst_ni) begin
        d_count_q <= '0;
        d_some_q <= 1'b0;
      end
    end

    always_ff @(posedge clk_i) begin
      for (int unsigned i = 0; i < Partitions; i++) begin
        if (d_ok && d_is_q[i]) {some_q[i], count_q[i]} <= {d_next_some, d_moved};
        // One by one: Verilator refuses a word of zeros of more than 8192 bits.
        if (!rst_ni) {some_q[i], count_q[i]} <= '0;
      end
      if (d_ok) total_q <= total_q + (d_enqueue ? CountBits'(1) : '1);
      if (!rst_ni) total_q <= '0;
    end

    assign d_some = d_some_q;
    assign d_count = d_count_q;
    assign total = total_q;
    assign occupancy_o = count_q;
    assign valid_o = d_valid_q;
    assign op_o = d_op_q;
    assign partition_o = d_partition_q;
    assign payload_o = d_payload_q;
  end
endmodule
