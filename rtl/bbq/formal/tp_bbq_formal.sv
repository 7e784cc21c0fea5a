// SPDX-License-Identifier: Apache-2.0 OR MIT
/// tp_bbq against a reference model, for any requests and any resets: each response, its cycle, and the occupancies.
///
/// The model is a list of all elements in the order in which they came. It answers a request in the cycle in which it is made; its
/// answers then wait for the circuit's. The first cycle is one of reset, as in any circuit; nothing else is assumed. Operation 3 is
/// DequeueMax, but comes back as 3.
module tp_bbq_formal
  import tp_bbq_pkg::*;
#(
  parameter int unsigned Width = 2,
  parameter int unsigned Levels = 2,
  parameter int unsigned Elements = 3,
  parameter int unsigned DataBits = 1,
  parameter int unsigned Partitions = 1,
  parameter int unsigned Lanes = 2,
  parameter int unsigned LutWords = 16,
  parameter int unsigned MemoryStages = 0,
  localparam int unsigned BucketBits = Levels * unsigned'($clog2(Width)),
  localparam int unsigned PartitionBits = bits_for(Partitions),
  localparam int unsigned PriorityBits = bits_for((32'd1 << BucketBits) / Partitions),
  localparam int unsigned CountBits = unsigned'($clog2(Elements + 1)),
  localparam int unsigned Latency = latency(Width, Levels, Partitions, LutWords, MemoryStages),
  localparam int unsigned OccupancyDelay = (Partitions == 1) ? 2 : 3
) (
  input logic                     clk_i,
  input logic                     rst_ni,
  input logic                     valid_i,
  input logic [1:0]               op_i,
  input logic [PartitionBits-1:0] partition_i,
  input logic [PriorityBits-1:0]  priority_i,
  input logic [DataBits-1:0]      data_i
);
  typedef struct packed {
    logic                     used;
    logic [PartitionBits-1:0] partition;
    logic [PriorityBits-1:0]  prio;
    logic [DataBits-1:0]      data;
  } element_t;

  typedef struct packed {
    logic                     valid;
    logic [1:0]               op;
    logic [PartitionBits-1:0] partition;
    logic [1:0]               status;
    logic [PriorityBits-1:0]  prio;
    logic [DataBits-1:0]      data;
    // What was asked; for the invariants.
    logic [PriorityBits-1:0]  asked_prio;
    logic [DataBits-1:0]      asked_data;
  } answer_t;

  logic                                 ready_o, valid_o;
  logic [1:0]                           status_o, op_o;
  logic [PartitionBits-1:0]             partition_o;
  logic [PriorityBits-1:0]              priority_o;
  logic [DataBits-1:0]                  data_o;
  logic [Partitions-1:0][CountBits-1:0] occupancy_o;

  tp_bbq #(
    .Width(Width), .Levels(Levels), .Elements(Elements), .DataBits(DataBits), .Partitions(Partitions), .Lanes(Lanes),
    .LutWords(LutWords), .MemoryStages(MemoryStages)
  ) i_dut (
    .clk_i, .rst_ni, .valid_i, .ready_o, .op_i, .partition_i, .priority_i, .data_i,
    .valid_o, .status_o, .op_o, .partition_o, .priority_o, .data_o, .occupancy_o
  );

  // The oldest element is in [0]; those that are used are together.
  element_t [Elements-1:0] list_q, list_d;
  answer_t                 answer;

  always_comb begin
    logic        found;
    int unsigned best;
    element_t    one;

    list_d = list_q;
    answer = '{valid: valid_i & rst_ni, op: op_i, partition: partition_i, status: Ok, prio: '0, data: '0,
               asked_prio: priority_i, asked_data: data_i};
    found = 1'b0;
    best = 0;
    one = '{used: 1'b1, partition: partition_i, prio: priority_i, data: data_i};
    if (op_i == Enqueue) begin
      for (int unsigned i = 0; i < Elements; i++) begin
        if (!found && !list_q[i].used) begin
          found = 1'b1;
          if (valid_i) list_d[i] = one;
        end
      end
      if (!found) answer.status = Full;
    end else begin
      for (int unsigned i = 0; i < Elements; i++) begin
        one = list_q[i];
        if (one.used && one.partition == partition_i &&
            (!found || (op_i == DequeueMin ? one.prio < answer.prio : one.prio > answer.prio))) begin
          found = 1'b1;
          best = i;
          answer.prio = one.prio;
          answer.data = one.data;
        end
      end
      if (!found) answer.status = Empty;
      else if (valid_i) begin
        for (int unsigned i = 0; i < Elements; i++) begin
          if (i >= best) list_d[i] = (i + 1 < Elements) ? list_q[(i+1)%Elements] : '0;
        end
      end
    end
  end

  answer_t [Latency-1:0] wait_q;
  logic [OccupancyDelay-1:0][Partitions-1:0][CountBits-1:0] count_q;
  logic [Partitions-1:0][CountBits-1:0]                     count_d;

  always_comb begin
    count_d = '0;
    for (int unsigned i = 0; i < Elements; i++) begin
      if (list_d[i].used) count_d[list_d[i].partition] = count_d[list_d[i].partition] + 1'b1;
    end
  end

  logic started_q;
  initial started_q = 1'b0;

  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    list_q <= list_d;
    wait_q <= {wait_q[Latency-2:0], answer};
    count_q <= {count_q[OccupancyDelay-2:0], count_d};
    if (!rst_ni) begin
      list_q <= '0;
      for (int unsigned i = 0; i < Latency; i++) wait_q[i].valid <= 1'b0;
      count_q <= '0;
    end
  end

  answer_t due;
  assign due = wait_q[Latency-1];

  always_comb begin
    // Of one value there is still a wire.
    assume (Partitions > 1 || partition_i == '0);
    assume ((32'd1 << BucketBits) / Partitions > 1 || priority_i == '0);
    assume (started_q || !rst_ni);
    if (started_q) begin
      assert (ready_o == rst_ni);
      assert (valid_o == due.valid);
      if (due.valid) begin
        assert (status_o == due.status);
        assert (op_o == due.op);
        assert (partition_o == due.partition);
        assert (priority_o == due.prio);
        assert (data_o == due.data);
      end
      assert (occupancy_o == count_q[OccupancyDelay-1]);
    end
  end

  // What the statements must leave room for.
  for (genvar s = 0; s <= 2; s++) begin : g_cover
    always_comb begin
      cover (started_q && rst_ni && valid_o && status_o == 2'(s) && list_q[Elements-1].used);
      cover (started_q && rst_ni && valid_o && status_o == 2'(s) && !list_q[0].used);
    end
  end

`ifdef INVARIANTS
  `include "invariants.svh"
`endif
endmodule
