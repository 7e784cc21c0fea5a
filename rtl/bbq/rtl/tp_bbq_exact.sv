// SPDX-License-Identifier: Apache-2.0 OR MIT
/// A queue without latency: a `tp_bbq` behind a small PIFO that has the smallest elements at hand.
///
/// The element of the smallest priority of all that are in the queue can be seen on the ports, at
/// any time at which there is one, and can be taken in every second cycle, together with a push or
/// without one. An element that has left can be back, with a new priority, when the next one
/// leaves: there is no error from elements that are under way.
///
/// How it works. A step is two cycles. In the first, pushes and pops are done to the PIFO; a push
/// into the full PIFO makes its last element spill into the BBQ, and a pop asks the BBQ for its
/// smallest element. In the second cycle the element that a pop some steps ago has asked for comes
/// to the PIFO, from which another one may spill. The two things that a first cycle asks of the BBQ
/// exclude each other, as a push with a pop never spills: it is at most one operation in each
/// cycle.
///
/// Why the PIFO always has the smallest element (Theorem 4). Let p be the largest number of pops
/// whose elements are still under way. An element that spills has k smaller or equal ones in the
/// PIFO, all of it. From then on each pop takes one of these, and asks the BBQ for an element that
/// is smaller or equal as well: so at most p of them are missing until those come, and k − p are in
/// the PIFO. With k = p + 1 that is one.
///
/// Operations per cycle: a push and a pop in two cycles. Latency: none for the pop; a pushed
/// element can leave in the next step. Memories: those of the BBQ. The PIFO is flip-flops.
///
/// Elements of one priority leave in any order: one that has spilled may be passed by a later one
/// that has not.
///
/// Source: Atre 2025 §4.5.1. Departures: MIN is served first here; a push and a pop into the full
/// PIFO exchange an element without the BBQ. The pushes of the source, of a new element and of one
/// that comes, are in different cycles.
module tp_bbq_exact
  import tp_bbq_pkg::*;
#(
  /// As of `tp_bbq`.
  parameter int unsigned Width = 8,
  /// As of `tp_bbq`.
  parameter int unsigned Levels = 3,
  /// Elements that PIFO and BBQ hold together, and that the BBQ could hold alone, N.
  parameter int unsigned Elements = 1023,
  /// As of `tp_bbq`.
  parameter int unsigned DataBits = 16,
  /// As of `tp_bbq`.
  parameter int unsigned Lanes = 2,
  /// As of `tp_bbq`.
  parameter int unsigned LutWords = 16,
  /// Pops at most whose elements from the BBQ are still under way when another one is due, p.
  /// Between the steps of a pop and of its element's first chance to leave are the BBQ's latency, a
  /// register before it and one behind, and the PIFO.
  localparam int unsigned UnderWay = (latency(Width, Levels, 1, LutWords, 0) + 2) / 2,
  /// Elements that the PIFO holds, k: more than `UnderWay`. With fewer the order is wrong.
  parameter int unsigned FrontElements = UnderWay + 1,
  /// Bits of a priority.
  localparam int unsigned PriorityBits = Levels * unsigned'($clog2(Width)),
  /// Bits of a number of elements.
  localparam int unsigned CountBits = unsigned'($clog2(Elements + 1))
) (
  /// Clock.
  input  logic                    clk_i,
  /// Synchronous, active low; one cycle is enough.
  input  logic                    rst_ni,
  /// There is an element to add.
  input  logic                    push_valid_i,
  /// It is added at the end of this cycle if `push_valid_i`: in every second cycle, unless N
  /// elements are there.
  output logic                    push_ready_o,
  /// Its priority.
  input  logic [PriorityBits-1:0] push_priority_i,
  /// Its data.
  input  logic [    DataBits-1:0] push_data_i,
  /// There is an element, and it can be taken: in every second cycle, the same as `push_ready_o`,
  /// unless there is none at all.
  output logic                    pop_valid_o,
  /// It leaves at the end of this cycle if `pop_valid_o`.
  input  logic                    pop_ready_i,
  /// The smallest priority of all elements; 0 if there is none.
  output logic [PriorityBits-1:0] pop_priority_o,
  /// The element's data; 0 if there is none.
  output logic [    DataBits-1:0] pop_data_o,
  /// How many elements there are.
  output logic [   CountBits-1:0] occupancy_o
);
  // Refused when it is elaborated.
  if (Width < 2 || Width > 64 || 32'd1 << $clog2(Width) != Width) begin : g_refuse_width
    $error("tp_bbq_exact: Width is a power of two from 2 to 64");
  end
  if (Levels < 1 || Levels * unsigned'($clog2(Width)) > 24) begin : g_refuse_levels
    $error("tp_bbq_exact: Levels is at least 1, and Width^Levels at most 2^24");
  end
  if (Elements < 1 || Elements > 32'd1 << 24) begin : g_refuse_elements
    $error("tp_bbq_exact: Elements is from 1 to 2^24");
  end
  if (DataBits < 1 || DataBits > 64) begin : g_refuse_data
    $error("tp_bbq_exact: DataBits is from 1 to 64");
  end
  if (Lanes < 1 || Lanes > 2) begin : g_refuse_lanes
    $error("tp_bbq_exact: Lanes is 1 or 2");
  end
  if (FrontElements < 2) begin : g_refuse_front
    $error("tp_bbq_exact: FrontElements is at least 2");
  end

  localparam int unsigned FrontBits = unsigned'($clog2(FrontElements + 1));

  logic                    second_q;
  logic [   CountBits-1:0] count_q;
  logic                    push;
  logic                    pop;
  logic                    front_valid;
  logic                    front_ready;

  assign push_ready_o = rst_ni && !second_q && count_q != CountBits'(Elements);
  assign pop_valid_o  = rst_ni && !second_q && front_valid;
  assign push         = push_valid_i && push_ready_o;
  assign pop          = pop_valid_o && pop_ready_i;
  assign occupancy_o  = count_q;

  always_ff @(posedge clk_i) begin
    second_q <= rst_ni && !second_q;
    count_q  <= rst_ni ? count_q + CountBits'(push) - CountBits'(pop) : '0;
  end

  // The element that comes from the BBQ; it waits for the second cycle of a step.
  logic                    comes_q;
  logic [PriorityBits-1:0] comes_priority_q;
  logic [    DataBits-1:0] comes_data_q;

  // The PIFO: what is pushed in the first cycle, what comes in the second.
  logic                    spills;
  logic [PriorityBits-1:0] spill_priority;
  logic [    DataBits-1:0] spill_data;
  logic [   FrontBits-1:0] front_count;

  tp_pifo #(
    .Elements(FrontElements), .PriorityBits(PriorityBits), .DataBits(DataBits), .Spills(1'b1)
  ) i_front (
    .clk_i, .rst_ni,
    .push_valid_i(push || (second_q && comes_q)), .push_ready_o(front_ready),
    .push_priority_i(second_q ? comes_priority_q : push_priority_i),
    .push_data_i(second_q ? comes_data_q : push_data_i),
    .pop_valid_o(front_valid), .pop_ready_i(pop), .pop_priority_o, .pop_data_o,
    .spill_valid_o(spills), .spill_priority_o(spill_priority), .spill_data_o(spill_data),
    .occupancy_o(front_count)
  );

  // What is asked of the BBQ, through a register.
  logic                    ask_q;
  logic [             1:0] ask_op_q;
  logic [PriorityBits-1:0] ask_priority_q;
  logic [    DataBits-1:0] ask_data_q;

  always_ff @(posedge clk_i) begin
    ask_q          <= rst_ni && (spills || pop);
    ask_op_q       <= spills ? Enqueue : DequeueMin;
    ask_priority_q <= spill_priority;
    ask_data_q     <= spill_data;
  end

  logic                    answer;
  logic [             1:0] answer_op;
  logic [             1:0] answer_status;
  logic [PriorityBits-1:0] answer_priority;
  logic [    DataBits-1:0] answer_data;
  logic                    back_ready;
  logic                    back_partition;
  logic [   CountBits-1:0] back_count;

  tp_bbq #(
    .Width(Width), .Levels(Levels), .Elements(Elements), .DataBits(DataBits), .Lanes(Lanes),
    .LutWords(LutWords)
  ) i_back (
    .clk_i, .rst_ni,
    .valid_i(ask_q), .ready_o(back_ready), .op_i(ask_op_q), .partition_i('0),
    .priority_i(ask_priority_q), .data_i(ask_data_q),
    .valid_o(answer), .status_o(answer_status), .op_o(answer_op), .partition_o(back_partition),
    .priority_o(answer_priority), .data_o(answer_data), .occupancy_o(back_count)
  );

  // Answers to dequeues come in cycles of one kind, as they are asked in first cycles. The register
  // is emptied in second ones.
  always_ff @(posedge clk_i) begin
    if (answer && answer_op == DequeueMin && answer_status == Ok) begin
      comes_q          <= 1'b1;
      comes_priority_q <= answer_priority;
      comes_data_q     <= answer_data;
    end else if (second_q) begin
      comes_q <= 1'b0;
    end
    if (!rst_ni) comes_q <= 1'b0;
  end

  logic unused_ports;
  assign unused_ports = &{1'b0, back_ready, back_partition, back_count, front_count, front_ready};

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      // Nothing is lost: the BBQ has room for what spills.
      assert (!(answer && answer_status == Full));
      // Lemma 4: with less than k - p in the PIFO there is nothing elsewhere. So there is an
      // element on the ports if there is any.
      assert (second_q || 32'(front_count) + UnderWay >= FrontElements ||
              32'(front_count) == 32'(count_q));
      // What has come waits at most until the next second cycle: its register is free again when
      // the next one comes.
      assert (!(answer && answer_op == DequeueMin && answer_status == Ok && comes_q && !second_q));
    end
  end

  // Theorem 4, as what it is for: what leaves is the smallest of all that are in the queue, PIFO,
  // BBQ or under way.
  if (PriorityBits <= 10) begin : g_theorem
    logic [2**PriorityBits-1:0][CountBits-1:0] waiting_q;
    logic                                      smaller;

    always_comb begin
      smaller = 1'b0;
      for (int unsigned i = 0; i < 2 ** PriorityBits; i++) begin
        if (PriorityBits'(i) < pop_priority_o && waiting_q[i] != '0) smaller = 1'b1;
      end
    end

    always_ff @(posedge clk_i) begin
      for (int unsigned i = 0; i < 2 ** PriorityBits; i++) begin
        waiting_q[i] <= waiting_q[i] + CountBits'(push && push_priority_i == PriorityBits'(i))
                                     - CountBits'(pop && pop_priority_o == PriorityBits'(i));
        if (!rst_ni) waiting_q[i] <= '0;
      end
      if (rst_ni) begin
        assert (!pop_valid_o || !smaller);
        assert (second_q || pop_valid_o == (count_q != '0));
      end
    end
  end
`endif
endmodule
