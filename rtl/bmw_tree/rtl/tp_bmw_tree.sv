// SPDX-License-Identifier: Apache-2.0 OR MIT
/// A BMW-Tree: a balanced multi-way sorting tree, as a priority queue of one operation every one or
/// two cycles.
///
/// Every node has M slots with an element each, and below each slot there is another node. No
/// element below a slot is smaller than the slot's. A push goes to the slot that has the fewest
/// elements below it, so that the tree fills evenly; of the two elements that meet there the
/// smaller one stays, and the other one goes down. A pop takes the smallest of the root, which is
/// replaced from below.
///
/// Operations per cycle: a push takes 1 cycle and a pop 2, in which no other operation can begin:
/// 2/3 for pairs of them. Latency: the response comes in the next cycle. Memories: the root is
/// registers, levels below it are LUT RAM with an asynchronous read, one for each slot of a node.
///
/// Elements of one priority leave in any order, as in the source: a push that goes down past an
/// equal one may be put where it is found first.
///
/// Source: Yao et al., BMW Tree: Large-scale, High-throughput and Modular PIFO Implementation using
/// Balanced Multi-Way Sorting Tree, SIGCOMM 2023, its variant of registers for the timing; Atre
/// 2025 §4.4.1, §4.6.2. Departures: the nodes of a level share one unit, as only one of them is at
/// work at a time, and a reset does not clear the memories (see `tp_bmw_level`).
module tp_bmw_tree #(
  /// Slots of a node, M: a power of two, at least 2.
  parameter int unsigned Ways         = 4,
  /// Levels of the tree: at least 1, with M^Levels at most 2^20.
  parameter int unsigned Levels       = 3,
  /// Bits of a priority: at least 1. The smallest number leaves first.
  parameter int unsigned PriorityBits = 9,
  /// Bits of the data that come with an element: at least 1.
  parameter int unsigned DataBits     = 16,
  /// Elements that it holds: M + M² + … + M^Levels; not to be set.
  localparam int unsigned Elements    =
      ((32'd1 << (unsigned'($clog2(Ways)) * (Levels + 1))) - Ways) / (Ways - 1),
  /// Bits of a number of elements; not to be set.
  localparam int unsigned CountBits   = $clog2(Elements + 1)
) (
  /// Clock.
  input  logic                    clk_i,
  /// Reset, active low, synchronous; one cycle is enough. It empties the queue.
  input  logic                    rst_ni,
  /// There is a request.
  input  logic                    valid_i,
  /// It is taken at the end of this cycle if `valid_i`. Low in a reset, and in the cycle after a
  /// dequeue was taken.
  output logic                    ready_o,
  /// 0 is an enqueue, 1 a dequeue of the smallest priority.
  input  logic                    op_i,
  /// The priority to enqueue with.
  input  logic [PriorityBits-1:0] priority_i,
  /// The data to enqueue.
  input  logic [    DataBits-1:0] data_i,
  /// There is a response, in the cycle after its request was taken.
  output logic                    valid_o,
  /// 0 if it was done, 1 if it was not as the queue is full, 2 if it was not as it is empty.
  output logic [             1:0] status_o,
  /// The priority that was dequeued; otherwise 0.
  output logic [PriorityBits-1:0] priority_o,
  /// Its data; otherwise 0.
  output logic [    DataBits-1:0] data_o,
  /// How many elements there are.
  output logic [   CountBits-1:0] occupancy_o
);
  // Refused when it is elaborated.
  if (Ways < 2 || 32'd1 << $clog2(Ways) != Ways) begin : g_refuse_ways
    $error("tp_bmw_tree: Ways is a power of two, at least 2");
  end
  if (Levels < 1 || Levels * $clog2(Ways) > 20) begin : g_refuse_levels
    $error("tp_bmw_tree: Levels is at least 1, and Ways^Levels at most 2^20");
  end
  if (PriorityBits < 1 || DataBits < 1) begin : g_refuse_bits
    $error("tp_bmw_tree: PriorityBits and DataBits are at least 1");
  end

  localparam int unsigned WayBits = unsigned'($clog2(Ways));

  logic                 pause_q;
  logic [CountBits-1:0] count_q;
  logic                 request;
  logic                 full;
  logic                 empty;
  logic                 push;
  logic                 pop;

  assign ready_o     = rst_ni && !pause_q;
  assign occupancy_o = count_q;
  assign request     = valid_i && ready_o;
  assign full        = count_q == CountBits'(Elements);
  assign empty       = count_q == '0;
  assign push        = request && !op_i && !full;
  assign pop         = request && op_i && !empty;

  // Down from one level to the next, and up. Index l is between levels l and l + 1; index 0 is
  // above the root.
  logic [Levels:0]                    push_down;
  logic [Levels:0]                    pop_down;
  logic [Levels:0]                    fresh_down;
  logic [Levels:0][ PriorityBits-1:0] priority_down;
  logic [Levels:0][     DataBits-1:0] data_down;
  logic [Levels:0][ PriorityBits-1:0] priority_up;
  logic [Levels:0][     DataBits-1:0] data_up;
  logic [Levels:0][WayBits*Levels:0]  node;

  assign push_down[0]        = push;
  assign pop_down[0]         = pop;
  assign fresh_down[0]       = 1'b0;
  assign priority_down[0]    = priority_i;
  assign data_down[0]        = data_i;
  assign node[0]             = '0;
  // Nothing is below the last level, and nothing goes there.
  assign priority_up[Levels] = '0;
  assign data_up[Levels]     = '0;

  for (genvar l = 0; l < Levels; l++) begin : g_level
    localparam int unsigned NodeBits  = l > 0 ? WayBits * l : 1;
    localparam int unsigned ChildBits = WayBits * (l + 1);
    // Elements at most in a slot and below it.
    localparam int unsigned Below     = ((32'd1 << (WayBits * (Levels - l))) - 1) / (Ways - 1);
    logic [ChildBits-1:0] child;

    tp_bmw_level #(
      .Ways(Ways), .Level(l + 1), .PriorityBits(PriorityBits), .DataBits(DataBits),
      .CountBits($clog2(Below + 1))
    ) i_level (
      .clk_i, .rst_ni,
      .push_i(push_down[l]), .pop_i(pop_down[l]), .node_i(node[l][NodeBits-1:0]),
      .fresh_i(fresh_down[l]),
      .priority_i(priority_down[l]), .data_i(data_down[l]), .priority_o(priority_up[l]),
      .data_o(data_up[l]),
      .push_o(push_down[l+1]), .pop_o(pop_down[l+1]), .child_o(child), .fresh_o(fresh_down[l+1]),
      .priority_down_o(priority_down[l+1]), .data_down_o(data_down[l+1]),
      .priority_up_i(priority_up[l+1]), .data_up_i(data_up[l+1])
    );
    assign node[l+1] = {{(WayBits * Levels + 1 - ChildBits) {1'b0}}, child};
  end

  logic unused_down;
  assign unused_down = &{1'b0, push_down, pop_down, fresh_down, node, priority_down, data_down};

  always_ff @(posedge clk_i) begin
    valid_o    <= request;
    status_o   <= request && !op_i && full ? 2'd1 : request && op_i && empty ? 2'd2 : 2'd0;
    priority_o <= pop ? priority_up[0] : '0;
    data_o     <= pop ? data_up[0] : '0;
    pause_q    <= pop;
    count_q    <= count_q + CountBits'(push) - CountBits'(pop);
    if (!rst_ni) begin
      valid_o <= 1'b0;
      count_q <= '0;
      pause_q <= 1'b0;
    end
  end
endmodule
