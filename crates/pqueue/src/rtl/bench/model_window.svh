// SPDX-License-Identifier: Apache-2.0 OR MIT
// A sorted list of the priorities with which elements wait, and the number of the window's first
// half. A half has Half priorities; elements of one priority are in the order in which they came.

localparam integer ResponseBits   = 2 + PriorityBits + DataBits;
localparam integer OccupancyBits  = CountBits;
localparam integer OccupancyDelay = 2;
localparam [8*40-1:0] Fields = "{status, priority, data}";

reg  [              1:0] op = 0;
reg  [ PriorityBits-1:0] prio = 0;
reg  [     DataBits-1:0] data = 0;
wire                     ready, valid_out;
wire [              1:0] status_out;
wire [ PriorityBits-1:0] priority_out;
wire [     DataBits-1:0] data_out;
wire [OccupancyBits-1:0] occupancy;
wire [ ResponseBits-1:0] response = {status_out, priority_out, data_out};

bbq_window i_dut (
  .clk_i(clk), .rst_ni(rst_n), .valid_i(valid), .ready_o(ready), .op_i(op),
  .priority_i(prio), .data_i(data),
  .valid_o(valid_out), .status_o(status_out), .priority_o(priority_out), .data_o(data_out),
  .occupancy_o(occupancy)
);

integer count = 0, at, i;
// Numbers have two bits more than a priority, so that nothing wraps.
reg [PriorityBits+1:0] key [0:Most];
reg [PriorityBits+1:0] first = 0, number, waits;
reg [DataBits-1:0] carried [0:Most];

task forget;
  begin
    count = 0;
    first = 0;
  end
endtask

// Most are in the window or near it; some are anywhere, and some at the top of the range.
task ask;
  reg [95:0] wide;
  reg [PriorityBits+1:0] near;
  begin
    op <= draw(16) < (fills ? 11 : 5) ? 0 : 1 + draw(3);
    wide[95:64] = draw(32'hffff_ffff);
    wide[63:32] = draw(32'hffff_ffff);
    wide[31:0]  = draw(32'hffff_ffff);
    data <= wide[DataBits-1:0];
    near = first * Half;
    case (draw(16))
      0: near = near - draw(4 * Half);
      1: near = near + draw(8 * Half);
      2: near = wide[95-:PriorityBits];
      3: near = -1 - draw(4 * Half);
      4, 5, 6, 7: near = near + draw(2);
      default: near = near + draw(2 * Half);
    endcase
    prio <= near[PriorityBits-1:0];
  end
endtask

task answer(output reg [ResponseBits-1:0] said);
  begin
    done   = 1'b0;
    up     = op == 0;
    which  = 0;
    said   = {op == 0 ? 2'd1 : 2'd2, {PriorityBits{1'b0}}, {DataBits{1'b0}}};
    number = prio / Half;
    waits  = prio;
    if (op == 0 && number > first + 1 && count != 0 &&
        !(number == first + 2 && key[0] / Half != first)) begin
      // Beyond what the window can reach, whether it is full or not.
      said = {2'd3, {PriorityBits{1'b0}}, {DataBits{1'b0}}};
    end else if (op == 0 && count < Elements) begin
      if (number != first && number != first + 1) begin
        if (count == 0) first = number;
        else if (number < first) waits = first * Half;
        else first = first + 1;
      end
      done = 1'b1;
      at   = count;
      while (at > 0 && key[at-1] > waits) begin
        key[at]     = key[at-1];
        carried[at] = carried[at-1];
        at = at - 1;
      end
      key[at]     = waits;
      carried[at] = data;
      count = count + 1;
      said  = {2'd0, {PriorityBits{1'b0}}, {DataBits{1'b0}}};
    end else if (op != 0 && count > 0) begin
      at = op == 1 ? 0 : count - 1;
      while (at > 0 && key[at-1] == key[at]) at = at - 1;
      // The window moves when its second half is served.
      if (op == 1) first = key[0] / Half;
      done = 1'b1;
      said = {2'd0, key[at][PriorityBits-1:0], carried[at]};
      count = count - 1;
      for (i = at; i < count; i = i + 1) begin
        key[i]     = key[i+1];
        carried[i] = carried[i+1];
      end
    end
  end
endtask
