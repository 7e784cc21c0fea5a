// SPDX-License-Identifier: Apache-2.0 OR MIT
/// A two-level scheduler: tenants over flows. One queue says whose turn it is, another one, a
/// partition for each tenant, which flow's.
///
/// An enqueue brings an element with two priorities: that of its tenant among the tenants, and its
/// own among the tenant's. It puts the tenant's number into the upper queue and the element into
/// the tenant's partition of the lower one. A dequeue takes a tenant from the upper queue, and then
/// that tenant's element of the smallest priority. The upper queue has as many numbers of a tenant
/// as the lower one has elements of it.
///
/// How it works. The lower queue sees each operation when the upper one has answered it: so both
/// see all operations in the same order, and the result is that of one operation after the other.
/// As the upper queue is full or empty exactly if the lower one is, it decides for both, which is
/// asserted.
///
/// Operations per cycle: 1, without stalls. Latency: `Latency`, the sum of the two queues'.
/// Memories: those of the two queues, and what travels alongside the upper one.
///
/// Source: Atre 2025 §4.7.2, figure 4.19; the upper queue with one number for each element as in
/// Sivaraman et al., SIGCOMM 2016, §3. There is one for each tenant in the figure; but then a
/// tenant is away from its queue for the latency of both.
module tp_bbq_hier
  import tp_bbq_pkg::*;
#(
  /// Tenants: a power of two from 2 to the lower queue's W^D, and at most 4096.
  parameter int unsigned Tenants = 8,
  /// As of `tp_bbq`, for the upper queue.
  parameter int unsigned UpperWidth = 8,
  /// As of `tp_bbq`, for the upper queue.
  parameter int unsigned UpperLevels = 2,
  /// As of `tp_bbq`, for the lower queue, of all tenants.
  parameter int unsigned Width = 8,
  /// As of `tp_bbq`, for the lower queue.
  parameter int unsigned Levels = 3,
  /// Elements of all tenants together, N.
  parameter int unsigned Elements = 1023,
  /// As of `tp_bbq`.
  parameter int unsigned DataBits = 16,
  /// As of `tp_bbq`, of both queues.
  parameter int unsigned Lanes = 2,
  /// As of `tp_bbq`, of both queues.
  parameter int unsigned LutWords = 16,
  /// Bits of a tenant's number.
  localparam int unsigned TenantBits = bits_for(Tenants),
  /// Bits of a priority among tenants.
  localparam int unsigned UpperPriorityBits = UpperLevels * unsigned'($clog2(UpperWidth)),
  /// Bits of a priority among the elements of a tenant.
  localparam int unsigned PriorityBits =
      bits_for((32'd1 << (Levels * unsigned'($clog2(Width)))) / Tenants),
  /// Bits of a number of elements.
  localparam int unsigned CountBits = unsigned'($clog2(Elements + 1)),
  /// Cycles from a request to its response.
  localparam int unsigned Latency =
      latency(UpperWidth, UpperLevels, 1, LutWords, 0) +
      latency(Width, Levels, Tenants, LutWords, 0)
) (
  /// Clock.
  input  logic                              clk_i,
  /// Synchronous, active low; one cycle is enough.
  input  logic                              rst_ni,
  /// A request, if `ready_o`.
  input  logic                              valid_i,
  /// Always, but in a reset.
  output logic                              ready_o,
  /// See `tp_bbq_pkg::op_e`; a dequeue of the maximum is one of the tenant that is served last, and
  /// of its last element.
  input  logic [                 1:0]       op_i,
  /// Of an enqueue.
  input  logic [      TenantBits-1:0]       tenant_i,
  /// Of an enqueue: the tenant's priority.
  input  logic [UpperPriorityBits-1:0]      tenant_priority_i,
  /// Of an enqueue: the priority among the tenant's elements.
  input  logic [    PriorityBits-1:0]       priority_i,
  /// Of an enqueue.
  input  logic [        DataBits-1:0]       data_i,
  /// A response; they come in the order of the requests.
  output logic                              valid_o,
  /// See `tp_bbq_pkg::status_e`.
  output logic [                 1:0]       status_o,
  /// Of a dequeue that was done; 0 otherwise.
  output logic [      TenantBits-1:0]       tenant_o,
  /// Of a dequeue that was done; 0 otherwise.
  output logic [UpperPriorityBits-1:0]      tenant_priority_o,
  /// Of a dequeue that was done; 0 otherwise.
  output logic [    PriorityBits-1:0]       priority_o,
  /// Of a dequeue that was done; 0 otherwise.
  output logic [        DataBits-1:0]       data_o,
  /// Elements of each tenant, in the lower queue.
  output logic [Tenants-1:0][CountBits-1:0] occupancy_o
);
  // Refused when it is elaborated.
  if (UpperWidth < 2 || UpperWidth > 64 ||
      32'd1 << $clog2(UpperWidth) != UpperWidth) begin : g_refuse_upper_width
    $error("tp_bbq_hier: UpperWidth is a power of two from 2 to 64");
  end
  if (UpperLevels < 1 ||
      UpperLevels * unsigned'($clog2(UpperWidth)) > 24) begin : g_refuse_upper_levels
    $error("tp_bbq_hier: UpperLevels is at least 1, and UpperWidth^UpperLevels at most 2^24");
  end
  if (Width < 2 || Width > 64 || 32'd1 << $clog2(Width) != Width) begin : g_refuse_width
    $error("tp_bbq_hier: Width is a power of two from 2 to 64");
  end
  if (Levels < 1 || Levels * unsigned'($clog2(Width)) > 24) begin : g_refuse_levels
    $error("tp_bbq_hier: Levels is at least 1, and Width^Levels at most 2^24");
  end
  if (Elements < 1 || Elements > 32'd1 << 24) begin : g_refuse_elements
    $error("tp_bbq_hier: Elements is from 1 to 2^24");
  end
  if (DataBits < 1 || DataBits > 64) begin : g_refuse_data
    $error("tp_bbq_hier: DataBits is from 1 to 64");
  end
  if (Lanes < 1 || Lanes > 2) begin : g_refuse_lanes
    $error("tp_bbq_hier: Lanes is 1 or 2");
  end
  if (Tenants < 2 || 32'd1 << $clog2(Tenants) != Tenants ||
      $clog2(Tenants) > Levels * $clog2(Width) ||
      Tenants > 4096) begin : g_refuse_tenants
    $error("tp_bbq_hier: Tenants is a power of two from 2 to Width^Levels, and at most 4096");
  end

  localparam int unsigned UpperCycles = latency(UpperWidth, UpperLevels, 1, LutWords, 0);
  localparam int unsigned LowerCycles = Latency - UpperCycles;

  assign ready_o = rst_ni;

  // The upper queue, and alongside it what the lower one needs of an enqueue.
  logic                         u_valid;
  logic                         u_ready;
  logic                         u_partition;
  logic [                  1:0] u_status;
  logic [                  1:0] u_op;
  logic [UpperPriorityBits-1:0] u_priority;
  logic [       TenantBits-1:0] u_tenant;
  logic [        CountBits-1:0] u_count;
  logic [       TenantBits-1:0] new_tenant;
  logic [     PriorityBits-1:0] new_priority;
  logic [         DataBits-1:0] new_data;

  tp_bbq #(
    .Width(UpperWidth), .Levels(UpperLevels), .Elements(Elements), .DataBits(TenantBits),
    .Lanes(Lanes), .LutWords(LutWords)
  ) i_upper (
    .clk_i, .rst_ni,
    .valid_i, .ready_o(u_ready), .op_i, .partition_i('0), .priority_i(tenant_priority_i),
    .data_i(tenant_i),
    .valid_o(u_valid), .status_o(u_status), .op_o(u_op), .partition_o(u_partition),
    .priority_o(u_priority), .data_o(u_tenant),
    .occupancy_o(u_count)
  );

  tp_delay #(
    .Bits(TenantBits + PriorityBits + DataBits), .Cycles(UpperCycles)
  ) i_new (
    .clk_i, .rst_ni, .data_i({tenant_i, priority_i, data_i}),
    .data_o({new_tenant, new_priority, new_data})
  );

  // The lower queue, and alongside it the upper one's answer.
  logic                   l_valid;
  logic                   l_ready;
  logic [            1:0] l_status;
  logic [            1:0] l_op;
  logic [ TenantBits-1:0] l_tenant;
  logic [LowerCycles-1:0] valid_q;
  logic                   dequeued;

  tp_bbq #(
    .Width(Width), .Levels(Levels), .Elements(Elements), .DataBits(DataBits),
    .Partitions(Tenants), .Lanes(Lanes), .LutWords(LutWords)
  ) i_lower (
    .clk_i, .rst_ni,
    .valid_i(u_valid && u_status == Ok), .ready_o(l_ready), .op_i(u_op),
    .partition_i(u_op == Enqueue ? new_tenant : u_tenant), .priority_i(new_priority),
    .data_i(new_data),
    .valid_o(l_valid), .status_o(l_status), .op_o(l_op), .partition_o(l_tenant), .priority_o,
    .data_o, .occupancy_o
  );

  tp_delay #(
    .Bits(UpperPriorityBits + 2), .Cycles(LowerCycles)
  ) i_answer (
    .clk_i, .rst_ni, .data_i({u_priority, u_status}), .data_o({tenant_priority_o, status_o})
  );

  always_ff @(posedge clk_i) valid_q <= rst_ni ? {valid_q[LowerCycles-2:0], u_valid} : '0;

  assign valid_o  = valid_q[LowerCycles-1];
  assign dequeued = l_valid && l_op != Enqueue;
  assign tenant_o = dequeued ? l_tenant : '0;

  logic unused_queues;
  assign unused_queues = &{1'b0, u_ready, u_partition, u_count, l_ready, l_status};

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    // The upper queue has decided for both.
    if (rst_ni) assert (!l_valid || (l_status == Ok && valid_o));
  end
`endif
endmodule
