// SPDX-License-Identifier: Apache-2.0 OR MIT
  // What is true of tp_bbq_exact in every cycle; part of tp_bbq_exact_formal, with stand_in/tp_bbq.sv in the place of the BBQ.
  //
  // An element that is not in the PIFO is in the BBQ, or under way from it to the PIFO. Each of them has enough others that are not
  // larger and in the PIFO, or are going to be there before it can be missed: so many that the pops of the time until then do not use
  // them up.
  localparam int unsigned PriorityCount = 32'd1 << PriorityBits;
  localparam int unsigned Latency       = latency(Width, Levels, 1, 16, 0);
  localparam int unsigned UnderWay      = (Latency + 2) / 2;
  // From the BBQ's port to the PIFO's. A pop that has not asked yet is in none of them.
  localparam int unsigned Places        = Latency + 1;

  typedef logic [7:0] number_t;

  // Dequeues under way, newest first: whether there is one, whether it brings an element, and of which priority.
  logic [Places-1:0]                   asked, brings;
  logic [Places-1:0][PriorityBits-1:0] prio;
  // The operation at the BBQ's port.
  logic                                enqueues, dequeues;
  // The numbers of elements of each priority: in the BBQ, or about to be; under way; in the PIFO.
  number_t [PriorityCount-1:0]         back, way, front;
  number_t                             fronts, sum;

  assign enqueues = i_dut.ask_q && i_dut.ask_op_q == Enqueue;
  assign dequeues = i_dut.ask_q && i_dut.ask_op_q == DequeueMin;

  always_comb begin
    for (int unsigned j = 0; j < Latency; j++) begin
      asked[j] = i_dut.i_back.wait_q[j].valid && i_dut.i_back.wait_q[j].op == DequeueMin;
      brings[j] = asked[j] && i_dut.i_back.wait_q[j].status == Ok;
      prio[j] = i_dut.i_back.wait_q[j].prio;
    end
    asked[Latency] = i_dut.comes_q;
    brings[Latency] = i_dut.comes_q;
    prio[Latency] = i_dut.comes_priority_q;

    fronts = '0;
    for (int unsigned i = 0; i < FrontElements; i++) fronts = fronts + number_t'(i_dut.i_front.slot_q[i].valid);
    for (int unsigned e = 0; e < PriorityCount; e++) begin
      back[e] = number_t'(i_dut.i_back.count_q[e]) + number_t'(enqueues && i_dut.ask_priority_q == PriorityBits'(e));
      way[e] = '0;
      for (int unsigned j = 0; j < Places; j++) way[e] = way[e] + number_t'(brings[j] && prio[j] == PriorityBits'(e));
      front[e] = '0;
      for (int unsigned i = 0; i < FrontElements; i++) begin
        front[e] = front[e] + number_t'(i_dut.i_front.slot_q[i].valid && i_dut.i_front.slot_q[i].prio == PriorityBits'(e));
      end
    end
  end

  // The last two again, from what comes and goes: with them it is easier to see that no element is lost.
  number_t [PriorityCount-1:0] way_q, front_q;

  always_ff @(posedge clk_i) begin
    for (int unsigned e = 0; e < PriorityCount; e++) begin
      way_q[e] <= way_q[e] + number_t'(dequeues && i_dut.i_back.answer.status == Ok && i_dut.i_back.answer.prio == PriorityBits'(e))
                  - number_t'(i_dut.second_q && i_dut.comes_q && i_dut.comes_priority_q == PriorityBits'(e));
      front_q[e] <= front_q[e] + number_t'(i_dut.i_front.push && i_dut.i_front.pushed.prio == PriorityBits'(e))
                    - number_t'(i_dut.i_front.pop && i_dut.pop_priority_o == PriorityBits'(e))
                    - number_t'(i_dut.spills && i_dut.spill_priority == PriorityBits'(e));
    end
    if (!rst_ni) {way_q, front_q} <= '0;
  end

  always_comb begin
    sum = '0;
    for (int unsigned e = 0; e < PriorityCount; e++) sum = sum + (front_q[e] + way_q[e] + back[e]);
  end

  // Elements that are at most `limit`: in the PIFO, and on their way to it from place `from` on.
  function automatic number_t at_most(logic [PriorityBits-1:0] limit, int unsigned from);
    at_most = '0;
    for (int unsigned i = 0; i < FrontElements; i++) begin
      if (i_dut.i_front.slot_q[i].valid && i_dut.i_front.slot_q[i].prio <= limit) at_most = at_most + 1'b1;
    end
    for (int unsigned j = from; j < Places; j++) if (brings[j] && prio[j] <= limit) at_most = at_most + 1'b1;
  endfunction

  // Dequeues behind the one in a place.
  function automatic number_t behind(int unsigned place);
    behind = number_t'(dequeues);
    for (int unsigned j = 0; j < place; j++) behind = behind + number_t'(asked[j]);
  endfunction

  always_comb begin
    if (started_q) begin
      // The PIFO is sorted, without holes.
      for (int unsigned i = 0; i + 1 < FrontElements; i++) begin
        assert (!i_dut.i_front.slot_q[(i+1)%FrontElements].valid ||
                (i_dut.i_front.slot_q[i].valid && i_dut.i_front.slot_q[i].prio <= i_dut.i_front.slot_q[(i+1)%FrontElements].prio));
      end
      assert (number_t'(i_dut.i_front.count_q) == fronts);
      // Dequeues are asked for in first cycles, and so are in every second place.
      assert (!i_dut.ask_q || i_dut.ask_op_q != 2'd2);
      assert (!dequeues || i_dut.second_q);
      for (int unsigned j = 0; j < Latency; j++) assert (!asked[j] || i_dut.second_q == (j % 2 == 1));
      assert (Latency % 2 == 0 || !i_dut.comes_q || i_dut.second_q);
      for (int unsigned j = 0; j < Latency; j++) begin
        assert (!i_dut.i_back.wait_q[j].valid || i_dut.i_back.wait_q[j].status == Ok ||
                (i_dut.i_back.wait_q[j].op == DequeueMin && i_dut.i_back.wait_q[j].status == Empty));
      end
      // No element is lost, none is there twice.
      assert (number_t'(i_dut.count_q) <= Elements);
      for (int unsigned e = 0; e < PriorityCount; e++) begin
        assert (way_q[e] == way[e]);
        assert (front_q[e] == front[e]);
        assert (number_t'(i_dut.g_theorem.waiting_q[e]) == front_q[e] + way_q[e] + back[e]);
      end
      assert (sum == number_t'(i_dut.count_q));
      // A dequeue at the port brings the smallest in the BBQ, which counts for all that are there.
      for (int unsigned e = 0; e < PriorityCount; e++) begin
        assert (back[e] == 0 || at_most(PriorityBits'(e), 0) + number_t'(dequeues) >= FrontElements);
      end
      // Behind one that is under way, each pop has taken an element.
      for (int unsigned j = 0; j < Places; j++) begin
        assert (!brings[j] || at_most(prio[j], j) + behind(j) >= FrontElements);
      end
    end
  end
