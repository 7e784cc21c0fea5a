// SPDX-License-Identifier: Apache-2.0 OR MIT
/// Draws pushes, pops and resets, and compares every output with a model in every cycle.
///
/// The model is a sorted list; elements of one priority are in the order in which they came. The
/// last line that is printed begins with PASS or FAIL. Verilator and Icarus Verilog run it.
module tb;
  /* verilator lint_off WIDTH */  // The model counts in integers of 32 bits.
  `include "shape.svh"
  // The list never has more elements.
  localparam integer Most = Elements < Operations ? Elements : Operations;
  // Cycles between resets: so many at least where the queue is to become full and empty.
  localparam integer Long = 8 * Elements < Operations / 8 ? 8 * Elements : Operations / 8 + 1;

  reg                     clk = 1'b0;
  reg                     rst_n = 1'b0;
  reg                     push_valid = 1'b0;
  reg                     pop_ready = 1'b0;
  reg  [PriorityBits-1:0] prio = 0;
  reg  [    DataBits-1:0] data = 0;
  wire                    push_ready, pop_valid;
  wire [PriorityBits-1:0] priority_out;
  wire [    DataBits-1:0] data_out;
  wire [   CountBits-1:0] occupancy;

  `TOP i_dut (
    .clk_i(clk), .rst_ni(rst_n), .push_valid_i(push_valid), .push_ready_o(push_ready),
    .push_priority_i(prio), .push_data_i(data), .pop_valid_o(pop_valid),
    .pop_ready_i(pop_ready), .pop_priority_o(priority_out), .pop_data_o(data_out),
    .occupancy_o(occupancy)
  );

  // The generator is a xorshift: the same requests in every simulator.
  reg [31:0] state = Seed;
  function [31:0] draw(input [31:0] bound);
    begin
      state = state ^ (state << 13);
      state = state ^ (state >> 17);
      state = state ^ (state << 5);
      draw  = state % bound;
    end
  endfunction

  integer count = 0, at, i;
  reg [31:0] key [0:Most];
  reg [DataBits-1:0] carried [0:Most];

  reg     known = 1'b0;   // The circuit has had a reset.
  reg     second = 1'b0;  // The second cycle of a step, in which nothing comes or leaves.
  reg     fills = 1'b1;   // More pushes than pops.
  reg     can_push, can_pop, pops, pushes;
  reg     ending = 1'b0;
  integer chance = 15;    // Of a push or a pop, in sixteenths.
  integer cycle = 0, operations = 0, wrong = 0, left = 4;
  integer until_reset = 32, reset_left = 1, since_reset = 1000;
  integer resets = 0, occupied = 0, soon = 0, full = 0, empty = 0, gaps = 0;
  reg [63:0] wide;

  always #1 clk = ~clk;

  task differs;
    begin
      wrong = wrong + 1;
      $write("wrong: cycle %0d, operation %0d: ", cycle, operations);
    end
  endtask

  // The outputs of this cycle; `at` is where the element on the ports is in the list.
  task check;
    begin
      can_push = count != Elements && !(TwoCycles && (second || !rst_n));
      can_pop  = count != 0 && !(TwoCycles && (second || !rst_n));
      if (push_ready !== can_push) begin
        differs;
        $display("push_ready_o is %b, expected %b", push_ready, can_push);
      end
      if (pop_valid !== can_pop) begin
        differs;
        $display("pop_valid_o is %b, expected %b", pop_valid, can_pop);
      end
      if (occupancy !== count[CountBits-1:0]) begin
        differs;
        $display("occupancy_o is %0d, expected %0d", occupancy, count);
      end
      at = 0;
      if (can_pop) begin
        // Where the order among equals is open, any of them may be there.
        while (AnyOfEquals && at + 1 < count && key[at+1] == key[0] &&
               data_out !== carried[at]) at = at + 1;
        if ({priority_out, data_out} !== {key[0][PriorityBits-1:0], carried[at]}) begin
          differs;
          $display("{priority, data} is %h, expected %h", {priority_out, data_out},
                   {key[0][PriorityBits-1:0], carried[0]});
        end
      end else if (count == 0 && {priority_out, data_out} !== 0) begin
        differs;
        $display("{priority, data} is %h without an element, expected 0", {priority_out, data_out});
      end
    end
  endtask

  // The push, the pop or the reset of this cycle, in the model.
  task step;
    begin
      pops   = pop_ready && can_pop;
      pushes = push_valid && can_push;
      if (!rst_n) begin
        if (count != 0) occupied = occupied + 1;
        count  = 0;
        second = 1'b0;
        known  = 1'b1;
        fills  = 1'b1;
      end else begin
        if (push_valid && count == Elements) full = full + 1;
        if (pop_ready && count == 0) empty = empty + 1;
        if (!push_valid && !pop_ready) gaps = gaps + 1;
        second = !second;
        operations = operations + pops + pushes;
        if (pops) begin
          count = count - 1;
          for (i = at; i < count; i = i + 1) begin
            key[i]     = key[i+1];
            carried[i] = carried[i+1];
          end
        end
        if (pushes) begin
          at = count;
          while (at > 0 && key[at-1] > prio) begin
            key[at]     = key[at-1];
            carried[at] = carried[at-1];
            at = at - 1;
          end
          key[at]     = prio;
          carried[at] = data;
          count = count + 1;
        end
        if (count == Elements && draw(8) == 0) fills = 1'b0;
        if (count == 0 && draw(8) == 0) fills = 1'b1;
      end
    end
  endtask

  // The inputs of the next cycle.
  task drive;
    begin
      if (cycle % 256 == 0) chance = 1 + 7 * draw(3);
      push_valid <= !ending && draw(16) < (fills ? chance : chance / 4 + 1);
      pop_ready  <= !ending && draw(16) < (fills ? chance / 4 + 1 : chance);
      prio <= draw(2) == 0 ? draw(Span) : draw(Span < 4 ? Span : 4);
      wide[63:32] = draw(32'hffff_ffff);
      wide[31:0]  = draw(32'hffff_ffff);
      data  <= wide[DataBits-1:0];
      rst_n <= 1'b1;
      if (reset_left != 0) begin
        reset_left  = reset_left - 1;
        since_reset = 0;
        rst_n <= 1'b0;
      end else if (!ending) begin
        since_reset = since_reset + 1;
        until_reset = until_reset - 1;
        if (until_reset <= 0) begin
          resets     = resets + 1;
          if (since_reset <= 16) soon = soon + 1;
          reset_left = draw(3);
          rst_n <= 1'b0;
          case (draw(4))
            0: until_reset = 1 + draw(16);
            1: until_reset = 16 + draw(256);
            default: until_reset = Long + draw(Long);
          endcase
          since_reset = 0;
        end
      end
    end
  endtask

  always @(posedge clk) begin
    if (known) check;
    else begin
      can_push = 1'b0;
      can_pop  = 1'b0;
    end
    step;
    ending = operations >= Operations;
    drive;
    cycle = cycle + 1;
    if (ending) left = left - 1;
    if (wrong > 9 || left == 0 || cycle > 64 * Operations + 10000) begin
      if (wrong == 0 && left == 0) begin
        $write("PASS: %0d operations in %0d cycles; ", operations, cycle);
        $write("%0d gaps, %0d full, %0d empty; %0d resets, ", gaps, full, empty, resets);
        $display("%0d with elements, %0d soon after another", occupied, soon);
      end else begin
        $display("FAIL: %0d of %0d operations, %0d differences", operations, Operations, wrong);
      end
      $finish(0);
    end
  end
endmodule
