// SPDX-License-Identifier: Apache-2.0 OR MIT
/// A level of a BMW-Tree: the nodes that are M^(Level-1) in number, of M slots each.
///
/// An operation is at one node of a level at a time. A push takes one cycle: it looks at the node,
/// leaves the smaller one of two elements there and hands the other one down. A pop takes two: in
/// the first the smallest element of the node goes up, and the node below that slot is asked for
/// its own smallest; in the second that one is written into the slot.
///
/// A slot has the number of elements in it and below it. A node to which the slot above it says
/// that nothing is in it is taken as empty, whatever the memory holds: only the root is reset, and
/// a reset takes one cycle.
///
/// Source and departures: see `tp_bmw_tree`.
module tp_bmw_level #(
  /// Slots of a node, M: a power of two, at least 2.
  parameter int unsigned Ways         = 4,
  /// The level: 1 is the root. At most 16, and M^Level at most 2^20.
  parameter int unsigned Level        = 2,
  /// Bits of a priority: at least 1. The smallest number leaves first.
  parameter int unsigned PriorityBits = 9,
  /// Bits of the data: at least 1.
  parameter int unsigned DataBits     = 16,
  /// Bits of the number of elements below a slot, that of its own included: at least 1.
  parameter int unsigned CountBits    = 8,
  /// Bits of a slot's number; not to be set.
  localparam int unsigned WayBits     = unsigned'($clog2(Ways)),
  /// Nodes of the level; not to be set.
  localparam int unsigned Nodes       = 32'd1 << (WayBits * (Level - 1)),
  /// Bits of a node's number; not to be set.
  localparam int unsigned NodeBits    = Nodes > 1 ? unsigned'($clog2(Nodes)) : 1,
  /// Bits of a child's number in its level; not to be set.
  localparam int unsigned ChildBits   = WayBits * Level
) (
  /// Clock.
  input  logic                    clk_i,
  /// Reset, active low, synchronous.
  input  logic                    rst_ni,
  /// Add an element; never in the cycle after a pop, nor together with one.
  input  logic                    push_i,
  /// Take the smallest element out; as `push_i`.
  input  logic                    pop_i,
  /// The node that it is done to.
  input  logic [    NodeBits-1:0] node_i,
  /// There is nothing in the node yet. Never set with `pop_i`.
  input  logic                    fresh_i,
  /// The element to add.
  input  logic [PriorityBits-1:0] priority_i,
  /// Its data.
  input  logic [    DataBits-1:0] data_i,
  /// The smallest element of the node, while `pop_i`.
  output logic [PriorityBits-1:0] priority_o,
  /// Its data.
  output logic [    DataBits-1:0] data_o,
  /// The next level has to add an element, one cycle later than here.
  output logic                    push_o,
  /// The next level has to take one out.
  output logic                    pop_o,
  /// The node of the next level.
  output logic [   ChildBits-1:0] child_o,
  /// There is nothing in that node yet.
  output logic                    fresh_o,
  /// The element for the next level.
  output logic [PriorityBits-1:0] priority_down_o,
  /// Its data.
  output logic [    DataBits-1:0] data_down_o,
  /// The smallest element of the next level's node, while `pop_o`.
  input  logic [PriorityBits-1:0] priority_up_i,
  /// Its data.
  input  logic [    DataBits-1:0] data_up_i
);
  // Refused when it is elaborated.
  if (Ways < 2 || 32'd1 << $clog2(Ways) != Ways) begin : g_refuse_ways
    $error("tp_bmw_level: Ways is a power of two, at least 2");
  end
  if (Level < 1 || Level * $clog2(Ways) > 20) begin : g_refuse_level
    $error("tp_bmw_level: Level is at least 1, and Ways^Level at most 2^20");
  end
  if (PriorityBits < 1 || DataBits < 1 || CountBits < 1) begin : g_refuse_bits
    $error("tp_bmw_level: PriorityBits, DataBits and CountBits are at least 1");
  end

  typedef struct packed {
    logic [CountBits-1:0]    count;
    logic [PriorityBits-1:0] prio;
    logic [DataBits-1:0]     data;
  } slot_t;

  slot_t [   Ways-1:0] slot;
  slot_t [   Ways-1:0] next;
  slot_t               popped_q;
  logic  [   Ways-1:0] write;
  logic                refill_q;
  logic  [WayBits-1:0] way_q;
  logic [NodeBits-1:0] node_q;
  logic                down;

  // For a push the slot with the fewest elements in it and below; for a pop the smallest element of
  // those that are there.
  logic [Ways-1:0][CountBits-1:0]  counts;
  logic [Ways-1:0][PriorityBits:0] ranks;
  logic [WayBits-1:0]              least;
  logic [WayBits-1:0]              smallest;

  tp_bmw_least #(
    .Ways(Ways), .KeyBits(CountBits)
  ) i_least (
    .key_i(counts), .way_o(least)
  );

  tp_bmw_least #(
    .Ways(Ways), .KeyBits(PriorityBits + 1)
  ) i_smallest (
    .key_i(ranks), .way_o(smallest)
  );

  always_comb begin
    for (int unsigned i = 0; i < Ways; i++) begin
      counts[i] = slot[i].count;
      ranks[i]  = {slot[i].count == '0, slot[i].prio};
    end
  end

  assign priority_o = slot[smallest].prio;
  assign data_o     = slot[smallest].data;

  // What an operation does to a slot.
  logic  stays;
  slot_t chosen;

  assign chosen = slot[least];
  assign stays  = priority_i < chosen.prio;
  // The first slots fill first: an empty one has the least below it.
  assign down   = push_i && chosen.count != '0;

  always_comb begin
    next  = slot;
    write = '0;
    if (refill_q) begin
      write[way_q]     = 1'b1;
      next[way_q]      = popped_q;
      next[way_q].prio = priority_up_i;
      next[way_q].data = data_up_i;
    end else if (push_i) begin
      write[least]      = 1'b1;
      next[least].count = chosen.count + 1'b1;
      if (!down || stays) begin
        next[least].prio = priority_i;
        next[least].data = data_i;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    refill_q <= pop_i && rst_ni;
    way_q    <= smallest;
    node_q   <= node_i;
    popped_q <= slot[smallest];
    popped_q.count <= slot[smallest].count - 1'b1;
  end

  // To the next level, through registers: it is at an operation one cycle later than this one.
  logic                    push_q;
  logic                    pop_q;
  logic                    fresh_q;
  logic [   ChildBits-1:0] child_q;
  logic [   ChildBits-1:0] child;
  logic [PriorityBits-1:0] priority_q;
  logic [    DataBits-1:0] data_q;
  logic [     WayBits-1:0] way;

  assign way = pop_i ? smallest : least;

  always_ff @(posedge clk_i) begin
    push_q     <= down && rst_ni;
    // The last element of a slot has nothing below it.
    pop_q      <= pop_i && slot[smallest].count != CountBits'(1) && rst_ni;
    fresh_q    <= push_i && chosen.count == CountBits'(1);
    child_q    <= child;
    priority_q <= stays ? chosen.prio : priority_i;
    data_q     <= stays ? chosen.data : data_i;
  end

  assign push_o          = push_q;
  assign pop_o           = pop_q;
  assign fresh_o         = fresh_q;
  assign child_o         = child_q;
  assign priority_down_o = priority_q;
  assign data_down_o     = data_q;

  if (Level == 1) begin : g_root
    slot_t [Ways-1:0] slot_q;
    logic             unused_node;

    assign unused_node = &{1'b0, node_i, node_q, fresh_i};
    assign slot        = slot_q;
    assign child       = way;

    always_ff @(posedge clk_i) begin
      for (int unsigned i = 0; i < Ways; i++) begin
        if (write[i]) slot_q[i] <= next[i];
        if (!rst_ni) slot_q[i].count <= '0;
      end
    end
  end else begin : g_nodes
    assign child = {node_i, way};

    // One memory for each slot's number, so that a slot can be written without the others of its
    // node. In the first cycle of a node the others are written, too: as empty.
    for (genvar i = 0; i < Ways; i++) begin : g_way
      slot_t read, written;

      assign slot[i] = fresh_i ? '0 : read;
      assign written = write[i] ? next[i] : '0;

      tp_lut_ram #(
        .Words(Nodes), .Bits($bits(slot_t))
      ) i_slots (
        .clk_i,
        .we_i(write[i] || (push_i && fresh_i)),
        .waddr_i(refill_q ? node_q : node_i),
        .wdata_i(written),
        .raddr_i(node_i),
        .rdata_o(read)
      );
    end
  end
endmodule
