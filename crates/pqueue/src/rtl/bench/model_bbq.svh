// SPDX-License-Identifier: Apache-2.0 OR MIT
// A sorted list for each partition, in one list of all: by partition and priority, and elements of
// one priority in the order in which they came.

localparam integer ResponseBits   = 4 + PartitionBits + PriorityBits + DataBits;
localparam integer OccupancyBits  = Partitions * CountBits;
localparam integer OccupancyDelay = Partitions == 1 ? 2 : 3;
localparam [8*40-1:0] Fields = "{status, op, partition, priority, data}";

reg  [              1:0] op = 0;
reg  [PartitionBits-1:0] partition = 0;
reg  [ PriorityBits-1:0] prio = 0;
reg  [     DataBits-1:0] data = 0;
wire                     ready, valid_out;
wire [              1:0] status_out, op_out;
wire [PartitionBits-1:0] partition_out;
wire [ PriorityBits-1:0] priority_out;
wire [     DataBits-1:0] data_out;
wire [OccupancyBits-1:0] occupancy;
wire [ ResponseBits-1:0] response = {status_out, op_out, partition_out, priority_out, data_out};

bbq i_dut (
  .clk_i(clk), .rst_ni(rst_n), .valid_i(valid), .ready_o(ready), .op_i(op),
  .partition_i(partition), .priority_i(prio), .data_i(data),
  .valid_o(valid_out), .status_o(status_out), .op_o(op_out), .partition_o(partition_out),
  .priority_o(priority_out), .data_o(data_out), .occupancy_o(occupancy)
);

integer count = 0, at, i;
reg [31:0] of [0:Most];
reg [31:0] key [0:Most];
reg [DataBits-1:0] carried [0:Most];

task forget;
  count = 0;
endtask

// Half of the priorities are from a few, so that buckets have several elements.
task ask;
  reg [63:0] wide;
  begin
    op <= draw(16) < (fills ? 11 : 5) ? 0 : 1 + draw(3);
    partition <= draw(2) == 0 ? draw(Partitions) : draw(Partitions < 2 ? Partitions : 2);
    prio <= draw(2) == 0 ? draw(Span) : draw(Span < 4 ? Span : 4);
    wide[63:32] = draw(32'hffff_ffff);
    wide[31:0]  = draw(32'hffff_ffff);
    data <= wide[DataBits-1:0];
  end
endtask

task answer(output reg [ResponseBits-1:0] said);
  begin
    done  = 1'b0;
    up    = op == 0;
    which = partition;
    said  = {op == 0 ? 2'd1 : 2'd2, op, partition, {PriorityBits{1'b0}}, {DataBits{1'b0}}};
    if (op == 0 && count < Elements) begin
      done = 1'b1;
      at   = count;
      while (at > 0 && (of[at-1] > partition || (of[at-1] == partition && key[at-1] > prio))) begin
        of[at]      = of[at-1];
        key[at]     = key[at-1];
        carried[at] = carried[at-1];
        at = at - 1;
      end
      of[at]      = partition;
      key[at]     = prio;
      carried[at] = data;
      count = count + 1;
      said  = {2'd0, op, partition, {PriorityBits{1'b0}}, {DataBits{1'b0}}};
    end else if (op != 0) begin
      // The first of the partition; or its last, and then the first of that priority.
      at = -1;
      for (i = 0; i < count; i = i + 1) begin
        if (of[i] == partition &&
            (at < 0 || (op != 1 && key[i] != key[at]))) at = i;
      end
      if (at >= 0) begin
        done = 1'b1;
        said = {2'd0, op, partition, key[at][PriorityBits-1:0], carried[at]};
        count = count - 1;
        for (i = at; i < count; i = i + 1) begin
          of[i]      = of[i+1];
          key[i]     = key[i+1];
          carried[i] = carried[i+1];
        end
      end
    end
  end
endtask
