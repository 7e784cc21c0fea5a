// SPDX-License-Identifier: Apache-2.0 OR MIT
/// A PIEO: push in, extract out. A sorted list from which the first element leaves that is
/// eligible: whose time has come.
///
/// The list is cut into sublists of at most L elements in a memory, one word each. Their order, and
/// of each the number of elements, the smallest priority and the earliest time, are in an array of
/// registers that is compared with all at once. The numbers say that no two neighbours are both
/// less than full, so that 2 L sublists are enough for L² elements, whatever comes and goes.
///
/// Operations per cycle: 1/4. An operation is taken in the first of its four cycles, and no other
/// one during these:
///
/// 1. find the sublist: for an enqueue the last one that begins with no larger priority, for a
///    dequeue the first one in which something is eligible;
/// 2. read it, and choose a neighbour: one that takes what overflows, or one that makes up for what
///    leaves a full sublist;
/// 3. read the neighbour, and find the place in the sublist;
/// 4. write the sublist, and the array; the neighbour is written in the first cycle of the next
///    operation.
///
/// Latency: 4 cycles from the request to the response. Memories: 2 L words of L elements and their
/// L times in order. Elements of one priority leave in the order in which they came, if they are
/// eligible.
///
/// Source: Shrivastav, Fast, Scalable, and Programmable Packet Scheduler in Hardware, SIGCOMM 2019;
/// Atre 2025 §4.4.1, §4.6.2. Departures: one memory with one read and one write port, used twice by
/// an operation, where the source has one with two ports for each; an element cannot be taken out
/// by its name; the predicate is that of the source's examples, time ≥ the element's time.
module tp_pieo #(
  /// Elements of a sublist, L: a power of two, at least 2. The queue holds L².
  parameter int unsigned SublistElements = 8,
  /// Bits of a priority: at least 1. The smallest number leaves first.
  parameter int unsigned PriorityBits    = 9,
  /// Bits of a time: at least 1. Times do not wrap.
  parameter int unsigned TimeBits        = 16,
  /// Bits of the data that come with an element: at least 1.
  parameter int unsigned DataBits        = 16,
  /// Elements that it holds; not to be set.
  localparam int unsigned Elements       = SublistElements * SublistElements,
  /// Bits of a number of elements; not to be set.
  localparam int unsigned CountBits      = unsigned'($clog2(Elements + 1))
) (
  /// Clock.
  input  logic                    clk_i,
  /// Reset, active low, synchronous; one cycle is enough. It empties the queue.
  input  logic                    rst_ni,
  /// There is a request.
  input  logic                    valid_i,
  /// It is taken at the end of this cycle if `valid_i`: one in four cycles.
  output logic                    ready_o,
  /// 0 is an enqueue, 1 a dequeue.
  input  logic                    op_i,
  /// The priority to enqueue with.
  input  logic [PriorityBits-1:0] priority_i,
  /// For an enqueue, when the element becomes eligible; for a dequeue, what time it is.
  input  logic [    TimeBits-1:0] time_i,
  /// The data to enqueue.
  input  logic [    DataBits-1:0] data_i,
  /// There is a response.
  output logic                    valid_o,
  /// 0 if it was done, 1 if it was not as the queue is full, 2 if it was not as nothing is
  /// eligible.
  output logic [             1:0] status_o,
  /// The priority that was dequeued; otherwise 0.
  output logic [PriorityBits-1:0] priority_o,
  /// Its data; otherwise 0.
  output logic [    DataBits-1:0] data_o,
  /// How many elements there are, eligible or not.
  output logic [   CountBits-1:0] occupancy_o
);
  // Refused when it is elaborated.
  if (SublistElements < 2 ||
      32'd1 << $clog2(SublistElements) != SublistElements) begin : g_refuse_list
    $error("tp_pieo: SublistElements is a power of two, at least 2");
  end
  if (PriorityBits < 1 || TimeBits < 1 || DataBits < 1) begin : g_refuse_bits
    $error("tp_pieo: PriorityBits, TimeBits and DataBits are at least 1");
  end

  localparam int unsigned L        = SublistElements;
  localparam int unsigned Sublists = 2 * L;
  localparam int unsigned AtBits   = unsigned'($clog2(L));
  localparam int unsigned NumBits  = AtBits + 1;
  localparam int unsigned IdBits   = AtBits + 1;

  typedef struct packed {
    logic [PriorityBits-1:0] prio;
    logic [TimeBits-1:0]     from;
    logic [DataBits-1:0]     data;
  } element_t;

  typedef struct packed {
    element_t [L-1:0]           elements;
    // Of the elements, in order.
    logic [L-1:0][TimeBits-1:0] times;
  } word_t;

  typedef struct packed {
    // Where it is in memory.
    logic [IdBits-1:0]       id;
    logic [NumBits-1:0]      num;
    logic [PriorityBits-1:0] prio;
    logic [TimeBits-1:0]     from;
  } sublist_t;

  // The array: those with elements first, in the order of the list. `used_q` of them.
  sublist_t [Sublists-1:0] array_q;
  logic     [    IdBits:0] used_q;
  logic     [CountBits-1:0] count_q;

  logic     [         1:0] step_q;
  logic                    done_q;
  logic                    dequeue_q;
  logic     [         1:0] status_q;
  element_t                new_q;

  // ---- Cycle 1: find the sublist.
  logic     [Sublists-1:0] candidate;
  logic     [  IdBits-1:0] found;
  logic     [  IdBits-1:0] at_q;
  logic                    take;

  assign ready_o     = rst_ni && step_q == 2'd0;
  assign take        = valid_i && ready_o;
  assign occupancy_o = count_q;

  always_comb begin
    found = '0;
    for (int unsigned i = 0; i < Sublists; i++) begin
      candidate[i] = array_q[i].num != '0 &&
                     (op_i ? array_q[i].from <= time_i : array_q[i].prio <= priority_i);
    end
    if (op_i) begin
      for (int unsigned i = Sublists; i > 0; i--) if (candidate[i-1]) found = IdBits'(i - 1);
    end else begin
      for (int unsigned i = 0; i < Sublists; i++) if (candidate[i]) found = IdBits'(i);
    end
  end

  always_ff @(posedge clk_i) begin
    if (take) begin
      dequeue_q <= op_i;
      new_q     <= '{prio: priority_i, from: time_i, data: data_i};
      at_q      <= found;
      done_q    <= op_i ? candidate != '0 : count_q != CountBits'(Elements);
      status_q  <= op_i ? (candidate != '0 ? 2'd0 : 2'd2)
                        : (count_q != CountBits'(Elements) ? 2'd0 : 2'd1);
    end
  end

  // ---- Cycle 2: read the sublist, and choose a neighbour.
  logic [  IdBits-1:0] here_id;
  logic [  IdBits-1:0] lower_at;
  logic [  IdBits-1:0] upper_at;
  logic [ NumBits-1:0] here_num;
  logic [ NumBits-1:0] lower_num;
  logic [ NumBits-1:0] upper_num;
  logic                is_full;
  logic                has_before;
  logic                has_behind;
  logic [  IdBits-1:0] here_id_q;
  logic [ NumBits-1:0] here_num_q;
  logic [  IdBits-1:0] other_id_q;
  logic [ NumBits-1:0] other_num_q;
  logic [  IdBits-1:0] other_at_q;
  // What happens besides: the last of a full sublist goes to the one behind it, which is there or
  // new; or an element comes from the one before or behind.
  logic                spill_q;
  logic                fresh_q;
  logic                from_before_q;
  logic                from_behind_q;

  assign lower_at   = at_q - 1'b1;
  assign upper_at   = at_q + 1'b1;
  assign here_id    = array_q[at_q].id;
  assign here_num   = array_q[at_q].num;
  assign lower_num  = array_q[lower_at].num;
  assign upper_num  = array_q[upper_at].num;
  assign is_full    = here_num == NumBits'(L);
  assign has_before = at_q != '0 && lower_num != NumBits'(L);
  assign has_behind = at_q != '1 && upper_num != '0 && upper_num != NumBits'(L);

  always_ff @(posedge clk_i) begin
    if (step_q == 2'd1) begin
      here_id_q     <= here_id;
      here_num_q    <= here_num;
      spill_q       <= is_full && !dequeue_q;
      fresh_q       <= is_full && !dequeue_q && !has_behind;
      from_before_q <= is_full && dequeue_q && has_before;
      from_behind_q <= is_full && dequeue_q && !has_before && has_behind;
      if (is_full && dequeue_q && has_before) begin
        {other_id_q, other_num_q} <= {array_q[lower_at].id, lower_num};
        other_at_q                <= lower_at;
      end else begin
        // If there is none behind it, an empty one, which is to come right there.
        {other_id_q, other_num_q} <= has_behind ? {array_q[upper_at].id, upper_num}
                                                : {array_q[used_q[IdBits-1:0]].id, NumBits'(0)};
        other_at_q                <= upper_at;
      end
    end
  end

  word_t               read;
  word_t               written;
  logic                write;
  logic [  IdBits-1:0] write_id;

  tp_sdp_ram #(
    .Words(Sublists), .Bits($bits(word_t)), .OutputRegister(1'b0)
  ) i_sublists (
    .clk_i,
    .we_i(write), .waddr_i(write_id), .wdata_i(written),
    .raddr_i(step_q == 2'd1 ? here_id : other_id_q), .rdata_o(read)
  );

  // ---- Cycle 3: read the neighbour, and find the place.
  logic     [     L-1:0] in_list;
  logic     [     L-1:0] smaller;
  logic     [     L-1:0] eligible;
  logic     [NumBits-1:0] place;
  word_t                 here_word_q;
  logic     [NumBits-1:0] place_q;
  element_t              leaves_q;

  always_comb begin
    place = '0;
    for (int unsigned i = 0; i < L; i++) begin
      in_list[i]  = NumBits'(i) < here_num_q;
      smaller[i]  = in_list[i] && read.elements[i].prio <= new_q.prio;
      eligible[i] = in_list[i] && read.elements[i].from <= new_q.from;
    end
    if (dequeue_q) begin
      for (int unsigned i = L; i > 0; i--) if (eligible[i-1]) place = NumBits'(i - 1);
    end else begin
      for (int unsigned i = 0; i < L; i++) if (smaller[i]) place = NumBits'(i + 1);
    end
  end

  always_ff @(posedge clk_i) begin
    if (step_q == 2'd2) begin
      here_word_q <= read;
      place_q     <= place;
      // Of an enqueue into a full sublist, what is moved to the next one: its last element, or the
      // new one if that comes behind it.
      leaves_q    <= dequeue_q            ? read.elements[place[AtBits-1:0]] :
                     place == NumBits'(L) ? new_q : read.elements[L-1];
    end
  end

  // ---- Cycle 4: write.
  element_t            enters;
  logic                leaves;
  logic                into_here;
  word_t               here_word;
  word_t               other_word;
  word_t               other_word_q;
  logic [ IdBits-1:0]  write_id_q;
  logic                write_other_q;
  logic                refill;

  assign refill    = from_before_q || from_behind_q;
  // What comes into the sublist, and whether what leaves it was in it.
  assign enters    = !dequeue_q    ? new_q :
                     from_before_q ? read.elements[AtBits'(other_num_q - 1'b1)] : read.elements[0];
  assign into_here = dequeue_q ? refill : place_q != NumBits'(L);
  assign leaves    = dequeue_q || (spill_q && into_here);

  // The sublist's elements: an overflowing one is lost at the end, without being taken out.
  tp_pieo_list #(
    .Places(L), .Bits($bits(element_t))
  ) i_here (
    .list_i(here_word_q.elements),
    .out_i(dequeue_q), .out_at_i(place_q[AtBits-1:0]),
    .in_i(into_here),
    .in_at_i(!dequeue_q ? place_q[AtBits-1:0] : from_before_q ? '0 : AtBits'(L - 1)),
    .entry_i(enters), .list_o(here_word.elements)
  );

  tp_pieo_times #(
    .Places(L), .TimeBits(TimeBits)
  ) i_here_times (
    .times_i(here_word_q.times), .count_i(here_num_q),
    .out_i(leaves), .out_time_i(leaves_q.from), .in_i(into_here), .in_time_i(enters.from),
    .times_o(here_word.times)
  );

  // The neighbour's: gets what has left, at its front; or gives, from its front, or from its end,
  // where the number is enough.
  tp_pieo_list #(
    .Places(L), .Bits($bits(element_t))
  ) i_other (
    .list_i(read.elements),
    .out_i(from_behind_q), .out_at_i('0), .in_i(spill_q), .in_at_i('0), .entry_i(leaves_q),
    .list_o(other_word.elements)
  );

  tp_pieo_times #(
    .Places(L), .TimeBits(TimeBits)
  ) i_other_times (
    .times_i(read.times), .count_i(other_num_q),
    .out_i(refill), .out_time_i(enters.from), .in_i(spill_q), .in_time_i(leaves_q.from),
    .times_o(other_word.times)
  );

  always_ff @(posedge clk_i) begin
    if (step_q == 2'd3) begin
      other_word_q <= other_word;
      write_id_q   <= other_id_q;
    end
    write_other_q <= step_q == 2'd3 && done_q && (spill_q || refill) && rst_ni;
  end

  assign write    = (step_q == 2'd3 && done_q) || write_other_q;
  assign write_id = step_q == 2'd3 ? here_id_q : write_id_q;
  assign written  = step_q == 2'd3 ? here_word : other_word_q;

  // The array.
  sublist_t                here_next;
  sublist_t                other_next;
  sublist_t [Sublists-1:0] base;
  sublist_t [Sublists-1:0] array;
  logic                    emptied;
  logic     [  IdBits-1:0] emptied_at;

  assign here_next = '{
    id: here_id_q,
    num: here_num_q + NumBits'(into_here) - NumBits'(leaves),
    prio: here_word.elements[0].prio,
    from: here_word.times[0]
  };
  assign other_next = '{
    id: other_id_q,
    num: other_num_q + NumBits'(spill_q) - NumBits'(refill),
    prio: other_word.elements[0].prio,
    from: other_word.times[0]
  };
  assign emptied    = here_next.num == '0 || (refill && other_next.num == '0);
  assign emptied_at = here_next.num == '0 ? at_q : other_at_q;

  always_comb begin
    for (int unsigned i = 0; i < Sublists; i++) begin
      base[i] = array_q[i];
      if (IdBits'(i) == at_q) base[i] = here_next;
      if (IdBits'(i) == other_at_q && ((spill_q && !fresh_q) || refill)) base[i] = other_next;
    end
    for (int unsigned i = 0; i < Sublists; i++) begin
      array[i] = base[i];
      if (fresh_q) begin
        if (IdBits'(i) == other_at_q) array[i] = other_next;
        else if (IdBits'(i) > other_at_q && (IdBits + 1)'(i) <= used_q) begin
          array[i] = base[(i>0)?i-1 : 0];
        end
      end else if (emptied) begin
        if ((IdBits + 1)'(i + 1) == used_q) array[i] = base[emptied_at];
        else if (IdBits'(i) >= emptied_at && (IdBits + 1)'(i + 1) < used_q) begin
          array[i] = base[(i+1<Sublists)?i+1 : i];
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (step_q == 2'd3 && done_q) begin
      array_q <= array;
      // The first element of all takes a sublist that is empty already.
      used_q  <= used_q + (IdBits + 1)'(fresh_q || (!dequeue_q && here_num_q == '0))
                        - (IdBits + 1)'(emptied);
      count_q <= dequeue_q ? count_q - 1'b1 : count_q + 1'b1;
    end
    step_q     <= (step_q == 2'd0 && !take) ? 2'd0 : step_q + 1'b1;
    valid_o    <= step_q == 2'd3;
    status_o   <= step_q == 2'd3 ? status_q : '0;
    priority_o <= step_q == 2'd3 && done_q && dequeue_q ? leaves_q.prio : '0;
    data_o     <= step_q == 2'd3 && done_q && dequeue_q ? leaves_q.data : '0;
    if (!rst_ni) begin
      for (int unsigned i = 0; i < Sublists; i++) begin
        array_q[i].id  <= IdBits'(i);
        array_q[i].num <= '0;
      end
      used_q  <= '0;
      count_q <= '0;
      step_q  <= '0;
      valid_o <= 1'b0;
    end
  end
endmodule
