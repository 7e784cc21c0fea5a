// SPDX-License-Identifier: Apache-2.0 OR MIT
/// What tp_bbq is from outside, without its insides: in its place in the proof of tp_bbq_exact.
///
/// It has the number of elements of each priority, answers a request in the cycle in which it is made, and keeps the answer until its
/// time. Data are left out, as are partitions; tp_bbq_formal.sv says that the circuit answers like this, with them.
module tp_bbq
  import tp_bbq_pkg::*;
#(
  parameter int unsigned Width = 8,
  parameter int unsigned Levels = 3,
  parameter int unsigned Elements = 1023,
  parameter int unsigned DataBits = 16,
  parameter int unsigned Lanes = 2,
  parameter int unsigned LutWords = 16,
  localparam int unsigned PriorityBits = Levels * unsigned'($clog2(Width)),
  localparam int unsigned CountBits = unsigned'($clog2(Elements + 1)),
  localparam int unsigned Latency = latency(Width, Levels, 1, LutWords, 0)
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic                      valid_i,
  output logic                      ready_o,
  input  logic [1:0]                op_i,
  input  logic                      partition_i,
  input  logic [PriorityBits-1:0]   priority_i,
  input  logic [DataBits-1:0]       data_i,
  output logic                      valid_o,
  output logic [1:0]                status_o,
  output logic [1:0]                op_o,
  output logic                      partition_o,
  output logic [PriorityBits-1:0]   priority_o,
  output logic [DataBits-1:0]       data_o,
  output logic [0:0][CountBits-1:0] occupancy_o
);
  typedef struct packed {
    logic                    valid;
    logic [1:0]              op;
    logic [1:0]              status;
    logic [PriorityBits-1:0] prio;
  } answer_t;

  logic [2**PriorityBits-1:0][CountBits-1:0] count_q;
  logic [CountBits-1:0]                      total;
  answer_t [Latency-1:0]                     wait_q;
  answer_t                                   answer;

  always_comb begin
    total = '0;
    for (int unsigned i = 0; i < 2 ** PriorityBits; i++) total = total + count_q[i];
    answer = '{valid: valid_i && rst_ni, op: op_i, status: Ok, prio: '0};
    if (op_i == Enqueue) begin
      if (total == CountBits'(Elements)) answer.status = Full;
    end else begin
      answer.status = Empty;
      for (int unsigned i = 0; i < 2 ** PriorityBits; i++) begin
        if (count_q[i] != '0 && (answer.status == Empty || op_i != DequeueMin)) begin
          answer.status = Ok;
          answer.prio = PriorityBits'(i);
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    wait_q <= {wait_q[Latency-2:0], answer};
    if (answer.valid && answer.status == Ok) begin
      if (op_i == Enqueue) count_q[priority_i] <= count_q[priority_i] + 1'b1;
      else count_q[answer.prio] <= count_q[answer.prio] - 1'b1;
    end
    if (!rst_ni) begin
      count_q <= '0;
      for (int unsigned i = 0; i < Latency; i++) wait_q[i].valid <= 1'b0;
    end
  end

  assign ready_o = rst_ni;
  assign valid_o = wait_q[Latency-1].valid;
  assign status_o = wait_q[Latency-1].status;
  assign op_o = wait_q[Latency-1].op;
  assign priority_o = wait_q[Latency-1].prio;
  assign partition_o = 1'b0;
  assign data_o = '0;
  assign occupancy_o = total;
endmodule
