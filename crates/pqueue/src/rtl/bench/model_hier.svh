// SPDX-License-Identifier: Apache-2.0 OR MIT
// Two sorted lists: the turns of tenants by their priorities, and the elements by tenant and
// priority. Those of one priority are in the order in which they came.

localparam integer ResponseBits   = 2 + TenantBits + UpperPriorityBits + PriorityBits + DataBits;
localparam integer OccupancyBits  = Tenants * CountBits;
localparam integer OccupancyDelay = UpperLatency + 3;
localparam [8*48-1:0] Fields = "{status, tenant, tenant_priority, priority, data}";

reg  [                  1:0] op = 0;
reg  [       TenantBits-1:0] tenant = 0;
reg  [UpperPriorityBits-1:0] turn = 0;
reg  [     PriorityBits-1:0] prio = 0;
reg  [         DataBits-1:0] data = 0;
wire                         ready, valid_out;
wire [                  1:0] status_out;
wire [       TenantBits-1:0] tenant_out;
wire [UpperPriorityBits-1:0] turn_out;
wire [     PriorityBits-1:0] priority_out;
wire [         DataBits-1:0] data_out;
wire [    OccupancyBits-1:0] occupancy;
wire [     ResponseBits-1:0] response = {status_out, tenant_out, turn_out, priority_out, data_out};

bbq_hier i_dut (
  .clk_i(clk), .rst_ni(rst_n), .valid_i(valid), .ready_o(ready), .op_i(op),
  .tenant_i(tenant), .tenant_priority_i(turn), .priority_i(prio), .data_i(data),
  .valid_o(valid_out), .status_o(status_out), .tenant_o(tenant_out),
  .tenant_priority_o(turn_out), .priority_o(priority_out), .data_o(data_out),
  .occupancy_o(occupancy)
);

integer count = 0, at, i;
reg [31:0] turn_of [0:Most];
reg [31:0] turn_key [0:Most];
reg [31:0] of [0:Most];
reg [31:0] key [0:Most];
reg [DataBits-1:0] carried [0:Most];
reg [31:0] its_turn, its_tenant;

task forget;
  count = 0;
endtask

task ask;
  reg [63:0] wide;
  begin
    op <= draw(16) < (fills ? 11 : 5) ? 0 : 1 + draw(3);
    tenant <= draw(2) == 0 ? draw(Tenants) : draw(2);
    turn <= draw(2) == 0 ? draw(UpperSpan) : draw(UpperSpan < 4 ? UpperSpan : 4);
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
    which = tenant;
    said  = {op == 0 ? 2'd1 : 2'd2, {ResponseBits - 2{1'b0}}};
    if (op == 0 && count < Elements) begin
      done = 1'b1;
      at   = count;
      while (at > 0 && turn_key[at-1] > turn) begin
        turn_key[at] = turn_key[at-1];
        turn_of[at]  = turn_of[at-1];
        at = at - 1;
      end
      turn_key[at] = turn;
      turn_of[at]  = tenant;
      at = count;
      while (at > 0 && (of[at-1] > tenant || (of[at-1] == tenant && key[at-1] > prio))) begin
        of[at]      = of[at-1];
        key[at]     = key[at-1];
        carried[at] = carried[at-1];
        at = at - 1;
      end
      of[at]      = tenant;
      key[at]     = prio;
      carried[at] = data;
      count = count + 1;
      said  = {ResponseBits{1'b0}};
    end else if (op != 0 && count > 0) begin
      at = op == 1 ? 0 : count - 1;
      while (at > 0 && turn_key[at-1] == turn_key[at]) at = at - 1;
      its_turn   = turn_key[at];
      its_tenant = turn_of[at];
      count = count - 1;
      for (i = at; i < count; i = i + 1) begin
        turn_key[i] = turn_key[i+1];
        turn_of[i]  = turn_of[i+1];
      end
      // The first of the tenant; or its last, and then the first of that priority.
      at = -1;
      for (i = 0; i <= count; i = i + 1) begin
        if (of[i] == its_tenant && (at < 0 || (op != 1 && key[i] != key[at]))) at = i;
      end
      done  = 1'b1;
      which = its_tenant;
      said  = {
        2'd0, its_tenant[TenantBits-1:0], its_turn[UpperPriorityBits-1:0],
        key[at][PriorityBits-1:0], carried[at]
      };
      for (i = at; i < count; i = i + 1) begin
        of[i]      = of[i+1];
        key[i]     = key[i+1];
        carried[i] = carried[i+1];
      end
    end
  end
endtask
