// SPDX-License-Identifier: Apache-2.0 OR MIT
/// tp_bbq_exact with the statements that it makes of itself, for any pushes, pops and resets.
///
/// The first cycle is one of reset, as in any circuit; nothing else is assumed.
module tp_bbq_exact_formal
  import tp_bbq_pkg::*;
#(
  parameter int unsigned Width = 2,
  parameter int unsigned Levels = 1,
  parameter int unsigned Elements = 8,
  parameter int unsigned DataBits = 1,
  /// Elements that the PIFO has too few.
  parameter int unsigned Short = 0,
  localparam int unsigned PriorityBits = Levels * unsigned'($clog2(Width)),
  localparam int unsigned CountBits = unsigned'($clog2(Elements + 1)),
  localparam int unsigned FrontElements = (latency(Width, Levels, 1, 16, 0) + 2) / 2 + 1 - Short
) (
  input logic                    clk_i,
  input logic                    rst_ni,
  input logic                    push_valid_i,
  input logic [PriorityBits-1:0] push_priority_i,
  input logic [DataBits-1:0]     push_data_i,
  input logic                    pop_ready_i
);
  logic                    push_ready_o, pop_valid_o;
  logic [PriorityBits-1:0] pop_priority_o;
  logic [DataBits-1:0]     pop_data_o;
  logic [CountBits-1:0]    occupancy_o;

  tp_bbq_exact #(
    .Width(Width), .Levels(Levels), .Elements(Elements), .DataBits(DataBits), .FrontElements(FrontElements)
  ) i_dut (
    .clk_i, .rst_ni, .push_valid_i, .push_ready_o, .push_priority_i, .push_data_i,
    .pop_valid_o, .pop_ready_i, .pop_priority_o, .pop_data_o, .occupancy_o
  );

  logic started_q;
  initial started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  always_comb assume (started_q || !rst_ni);

`ifdef INVARIANTS
  // What the statements must leave room for.
  always_comb begin
    cover (started_q && rst_ni && pop_valid_o && pop_ready_i && occupancy_o == CountBits'(Elements));
    cover (started_q && rst_ni && i_dut.comes_q && i_dut.spills);
  end

  `include "invariants/exact.svh"
`endif
endmodule
