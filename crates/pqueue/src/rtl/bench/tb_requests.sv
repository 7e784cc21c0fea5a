// SPDX-License-Identifier: Apache-2.0 OR MIT
/// Draws requests, gaps and resets, and compares every output with a model in every cycle.
///
/// The model is in model.svh: a sorted list, which does one operation after the other. The last
/// line that is printed begins with PASS or FAIL. Verilator and Icarus Verilog run it.
module tb;
  /* verilator lint_off WIDTH */  // The model counts in integers of 32 bits.
  `include "shape.svh"
  // The list of the model never has more elements.
  localparam integer Most = Elements < Operations ? Elements : Operations;
  // Cycles between resets: so many at least where the queue is to become full and empty.
  localparam integer Long = 4 * Elements < Operations / 8 ? 4 * Elements : Operations / 8 + 1;

  reg clk = 1'b0;
  reg rst_n = 1'b0;
  reg valid = 1'b0;

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

  // What the model says of a request: its response; and which count changes, up or down.
  reg     done;
  reg     up;
  integer which;

  `include "model.svh"

  reg [ResponseBits-1:0] said;
  // The responses under way, and whether there is one; and the changes of counts.
  reg [ResponseBits-1:0] expected [0:Latency-1];
  reg [     Latency-1:0] expects = 0;
  reg [OccupancyBits-1:0] counts = 0;
  reg [OccupancyDelay-1:0] changes = 0;
  reg [OccupancyDelay-1:0] goes_up = 0;
  integer changed [0:OccupancyDelay-1];

  reg     known = 1'b0;  // The circuit has had a reset.
  reg     fills = 1'b1;  // More enqueues than dequeues.
  integer chance = 15;   // Of a request, in sixteenths.
  integer cycle = 0, operations = 0, wrong = 0, left = Latency + OccupancyDelay + 2;
  integer until_reset = 2 * Latency, reset_left = 1, since_reset = 1000;
  integer resets = 0, under_way = 0, soon = 0, full = 0, empty = 0, gaps = 0;
  integer slot, place;

  always #1 clk = ~clk;

  task differs;
    begin
      wrong = wrong + 1;
      $write("wrong: cycle %0d, operation %0d: ", cycle, operations);
    end
  endtask

  // The outputs of this cycle.
  task check;
    begin
      if (ready !== rst_n) begin
        differs;
        $display("ready_o is %b, expected %b", ready, rst_n);
      end
      if (known && valid_out !== expects[slot]) begin
        differs;
        $display("valid_o is %b, expected %b", valid_out, expects[slot]);
      end
      if (known && expects[slot] && response !== expected[slot]) begin
        differs;
        $display("%s is %h, expected %h", Fields, response, expected[slot]);
      end
      if (changes[place]) begin
        counts[changed[place]*CountBits+:CountBits] =
            counts[changed[place]*CountBits+:CountBits] + (goes_up[place] ? 1 : -1);
      end
      if (known && occupancy !== counts) begin
        differs;
        // Without the counts: Verilator prints no more than 8192 bits.
        $display("occupancy_o has other counts than the model");
      end
    end
  endtask

  // The request or the reset of this cycle, in the model.
  task step;
    begin
      expects[slot]  = 1'b0;
      changes[place] = 1'b0;
      if (!rst_n) begin
        if (expects != 0) under_way = under_way + 1;
        expects = 0;
        changes = 0;
        counts  = 0;
        known   = 1'b1;
        fills   = 1'b1;
        forget;
      end else if (valid) begin
        answer(said);
        operations     = operations + 1;
        expects[slot]  = 1'b1;
        expected[slot] = said;
        changes[place] = done;
        goes_up[place] = up;
        changed[place] = which;
        if (said[ResponseBits-1-:2] == 2'd1) full = full + 1;
        if (said[ResponseBits-1-:2] == 2'd2) empty = empty + 1;
        if (count == Elements && draw(8) == 0) fills = 1'b0;
        if (count == 0 && draw(8) == 0) fills = 1'b1;
      end else begin
        gaps = gaps + 1;
      end
    end
  endtask

  // The inputs of the next cycle.
  task drive;
    begin
      ask;
      if (operations >= Operations) begin
        valid <= 1'b0;
        rst_n <= 1'b1;
      end else begin
        if (cycle % 256 == 0) chance = 1 + 7 * draw(3);
        valid <= draw(16) < chance;
        if (reset_left != 0) begin
          reset_left  = reset_left - 1;
          since_reset = 0;
          rst_n <= 1'b0;
        end else begin
          rst_n <= 1'b1;
          since_reset = since_reset + 1;
          until_reset = until_reset - 1;
          if (until_reset <= 0) begin
            resets     = resets + 1;
            if (since_reset <= Latency + 1) soon = soon + 1;
            reset_left = draw(3);
            rst_n <= 1'b0;
            case (draw(4))
              0: until_reset = 1 + draw(Latency);
              1: until_reset = 16 + draw(256);
              default: until_reset = Long + draw(Long);
            endcase
            since_reset = 0;
          end
        end
      end
    end
  endtask

  always @(posedge clk) begin
    slot  = cycle % Latency;
    place = cycle % OccupancyDelay;
    check;
    step;
    drive;
    cycle = cycle + 1;
    if (operations >= Operations) left = left - 1;
    if (wrong > 9 || left == 0 || cycle > 64 * Operations + 10000) begin
      if (wrong == 0 && left == 0) begin
        $write("PASS: %0d operations in %0d cycles; ", operations, cycle);
        $write("%0d gaps, %0d full, %0d empty; %0d resets, ", gaps, full, empty, resets);
        $display("%0d with requests under way, %0d soon after another", under_way, soon);
      end else begin
        $display("FAIL: %0d of %0d operations, %0d differences", operations, Operations, wrong);
      end
      $finish(0);
    end
  end
endmodule
