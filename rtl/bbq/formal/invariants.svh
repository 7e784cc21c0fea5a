// What is true of the registers and memories of tp_bbq in every cycle: enough that each of these statements follows from all of them
// in the cycle before. Part of tp_bbq_formal, whose model and waiting answers they refer to.
//
// wait_q[s] is the operation that came s + 1 cycles ago: s is its slot, and each stage of the circuit is a slot. The state of the
// queue before the oldest operation is kept in a register; that before any younger one is this one with the operations between
// them done. So there is one place from which all stages are told what they have to hold.

  localparam int unsigned BucketCount = 32'd1 << BucketBits;
  localparam int unsigned PointerBits = bits_for(Elements);
  localparam int unsigned DigitBits   = unsigned'($clog2(Width));
  localparam int unsigned First       = first_level(Width, Partitions);
  localparam int unsigned SlotD       = (Partitions == 1) ? 0 : 1;
  localparam style_e      ListStyle   = style(BucketCount, LutWords);
  localparam int unsigned SlotLists   = tree_latency(Width, Levels, Partitions, LutWords) - 1;
  localparam int unsigned SlotX       = SlotLists + cycles(ListStyle) - 1;
  localparam int unsigned Older       = Lanes + 4;

  // Numbers of elements, nodes and places; small, for the solver.
  typedef logic [7:0] number_t;
  typedef logic [BucketBits-1:0] bucket_t;
  typedef logic [PointerBits-1:0] pointer_t;

  typedef struct packed {
    logic                used;
    bucket_t             bucket;
    logic [DataBits-1:0] data;
    pointer_t            pointer;
  } entry_t;

  typedef entry_t [Elements-1:0] state_t;

  typedef struct packed {
    logic                done;
    logic                enqueue;
    bucket_t             bucket;
    logic [DataBits-1:0] data;
  } step_t;

  function automatic bucket_t bucket_of(logic [PartitionBits-1:0] partition, logic [PriorityBits-1:0] prio);
    return bucket_t'((number_t'(partition) * number_t'(BucketCount / Partitions)) + number_t'(prio));
  endfunction

  function automatic int unsigned slot_of(int unsigned level);
    int unsigned slot = SlotD;
    for (int unsigned i = First; i < level; i++) slot += cycles(style(32'd1 << (DigitBits * (i - 1)), LutWords));
    return slot;
  endfunction

  // The operation of a slot, if it is done; also of the first slots behind the last one of the circuit.
  localparam int unsigned Slots = SlotX + Older;

  step_t steps [Slots];
  for (genvar s = 0; s < int'(Slots); s++) begin : g_steps
    if (s < int'(Latency)) begin : g_waiting
      logic enqueue;
      assign enqueue = wait_q[s].op == Enqueue;
      assign steps[s].done = wait_q[s].valid && wait_q[s].status == Ok;
      assign steps[s].enqueue = enqueue;
      assign steps[s].bucket = bucket_of(wait_q[s].partition, enqueue ? wait_q[s].asked_prio : wait_q[s].prio);
      assign steps[s].data = enqueue ? wait_q[s].asked_data : wait_q[s].data;
    end else begin : g_gone
      step_t gone_q;
      always_ff @(posedge clk_i) begin
        gone_q <= steps[s-1];
        if (!rst_ni) gone_q.done <= 1'b0;
      end
      assign steps[s] = gone_q;
    end
  end

  // The state after an operation. A dequeue takes the oldest of its bucket.
  function automatic state_t after(state_t state, step_t one, pointer_t pointer);
    logic found;
    found = 1'b0;
    after = state;
    if (one.done && one.enqueue) begin
      for (int unsigned i = 0; i < Elements; i++) begin
        if (!found && !state[i].used) begin
          found = 1'b1;
          after[i] = '{used: 1'b1, bucket: one.bucket, data: one.data, pointer: pointer};
        end
      end
    end else if (one.done) begin
      for (int unsigned i = 0; i < Elements; i++) begin
        if (state[i].used && state[i].bucket == one.bucket) found = 1'b1;
        if (found) after[i] = (i + 1 < Elements) ? state[(i+1)%Elements] : '0;
      end
    end
  endfunction

  // How many elements have a bucket that begins with `head`, of all but the lowest `low` bits.
  function automatic number_t below(state_t state, int unsigned low, number_t head);
    below = 0;
    for (int unsigned i = 0; i < Elements; i++) begin
      if (state[i].used && number_t'(state[i].bucket >> low) == head) below = below + 1'b1;
    end
  endfunction

  // A number from 0 to 2 `modulus` − 1 without the modulus.
  function automatic number_t wrapped(number_t value, int unsigned modulus);
    return (value >= number_t'(modulus)) ? value - number_t'(modulus) : value;
  endfunction

  // The pointer to the n-th element of a bucket, and whether there is one.
  function automatic logic [PointerBits:0] nth(state_t state, bucket_t bucket, number_t n);
    number_t seen;
    seen = 0;
    nth = '0;
    for (int unsigned i = 0; i < Elements; i++) begin
      if (state[i].used && state[i].bucket == bucket) begin
        if (seen == n) nth = {1'b1, state[i].pointer};
        seen = seen + 1'b1;
      end
    end
  endfunction

  // The state before the operation in the last slot; the pointers that operations behind X took or gave back; and from these the state
  // before the operation in each slot. That of an enqueue ahead of X has no pointer yet.
  state_t   last_q;
  pointer_t pointers [Slots];
  state_t   state    [Slots];
  state_t   state_q;

  always_ff @(posedge clk_i) begin
    last_q <= state[Slots-2];
    if (!rst_ni) last_q <= '0;
  end

  for (genvar s = 0; s < int'(Slots); s++) begin : g_state
    if (s <= int'(SlotX)) begin : g_ahead
      assign pointers[s] = '0;
    end else begin : g_behind
      pointer_t pointer_q;
      always_ff @(posedge clk_i) pointer_q <= (s == SlotX + 1) ? i_dut.i_lists.pointer : pointers[s-1];
      assign pointers[s] = pointer_q;
    end

    if (s == Slots - 1) begin : g_last
      assign state[s] = last_q;
    end else begin : g_replayed
      assign state[s] = after(state[s+1], steps[s+1], pointers[s+1]);
    end
  end

  assign state_q = state[SlotX];

  // The states move along with the operations: what a slot's is, was that of the slot ahead of it. This follows from the above, but
  // in steps, from the last slot on, which is easier for the solver than to see it for all at once.
  for (genvar s = int'(Slots) - 1; s > 0; s--) begin : g_moves
    state_t was_q;
    always_ff @(posedge clk_i) begin
      was_q <= (s == int'(SlotX)) ? after(state[SlotX], steps[SlotX], i_dut.i_lists.pointer) : state[s-1];
      if (!rst_ni) was_q <= '0;
    end
    always_comb begin
      if (started_q) begin
        for (int unsigned i = 0; i < Elements; i++) begin
          // In one statement: a slot needs all of the one behind it.
          assert ({was_q[i].used, was_q[i].bucket, was_q[i].data} == {state[s][i].used, state[s][i].bucket, state[s][i].data} &&
                  (s < int'(SlotX) || was_q[i].pointer == state[s][i].pointer));
        end
      end
    end
  end

  // The free list.
  pointer_t [Elements-1:0] fl_q;
  number_t                 fl_count_q;

  always_ff @(posedge clk_i) begin
    if (steps[SlotX].done && !steps[SlotX].enqueue) begin
      for (int unsigned i = 0; i < Elements; i++) begin
        if (number_t'(i) == fl_count_q) fl_q[i] <= i_dut.i_lists.pointer;
      end
      fl_count_q <= fl_count_q + 1'b1;
    end else if (steps[SlotX].done && i_dut.i_lists.all_used_q) begin
      for (int unsigned i = 0; i < Elements; i++) fl_q[i] <= fl_q[(i+1)%Elements];
      fl_count_q <= fl_count_q - 1'b1;
    end
    if (!rst_ni) fl_count_q <= '0;
  end

  // The model, and the answers that wait.
  state_t now;
  assign now = after(state[0], steps[0], '0);

  always_comb begin
    if (started_q) begin
      for (int unsigned i = 0; i < Elements; i++) begin
        assert (now[i].used == list_q[i].used);
        if (list_q[i].used) begin
          assert (now[i].bucket == bucket_of(list_q[i].partition, list_q[i].prio));
          assert (now[i].data == list_q[i].data);
        end
        // Ports of one value.
        assert (!list_q[i].used || ((Partitions > 1 || list_q[i].partition == '0) && (BucketCount > Partitions || list_q[i].prio == '0)));
        assert (i == 0 || !last_q[i].used || last_q[(i+Elements-1)%Elements].used);
        assert (i == 0 || !list_q[i].used || list_q[(i+Elements-1)%Elements].used);
      end
      for (int unsigned i = 0; i < OccupancyDelay; i++) begin
        for (int unsigned p = 0; p < Partitions; p++) begin
          assert (number_t'(count_q[i][p]) == below(i == 0 ? now : state[i-1], BucketBits - unsigned'($clog2(Partitions)), p));
        end
      end
    end
  end

  for (genvar s = 0; s < int'(Latency); s++) begin : g_answers
    always_comb begin
      if (started_q && wait_q[s].valid) begin
        automatic number_t mine = below(state[s], BucketBits - unsigned'($clog2(Partitions)), number_t'(wait_q[s].partition));
        automatic logic oldest = 1'b1;
        assert (wait_q[s].op != 2'd3);
        assert (Partitions > 1 || wait_q[s].partition == '0);
        assert (BucketCount > Partitions || wait_q[s].asked_prio == '0);
        if (wait_q[s].op == Enqueue) begin
          assert (wait_q[s].status == (state[s][Elements-1].used ? Full : Ok));
          assert (wait_q[s].prio == '0 && wait_q[s].data == '0);
        end else begin
          assert (wait_q[s].status == (mine == 0 ? Empty : Ok));
          if (mine == 0) assert (wait_q[s].prio == '0 && wait_q[s].data == '0);
          else begin
            assert (below(state[s], 0, number_t'(steps[s].bucket)) != 0);
            for (int unsigned i = 0; i < Elements; i++) begin
              if (state[s][i].used && state[s][i].bucket == steps[s].bucket && oldest) begin
                oldest = 1'b0;
                assert (state[s][i].data == wait_q[s].data);
              end
              if (state[s][i].used && (BucketBits == $clog2(Partitions) ||
                  (number_t'(state[s][i].bucket) / (BucketCount / Partitions)) == number_t'(wait_q[s].partition))) begin
                assert (wait_q[s].op == DequeueMin ? state[s][i].bucket >= steps[s].bucket : state[s][i].bucket <= steps[s].bucket);
              end
            end
          end
        end
      end
    end
  end

  // The front.
  always_comb begin
    if (started_q) begin
      assert (i_dut.i_front.i_valid_q == wait_q[0].valid);
      if (wait_q[0].valid) begin
        assert (i_dut.i_front.i_op_q == wait_q[0].op);
        assert (i_dut.i_front.i_partition_q == wait_q[0].partition);
        assert (i_dut.i_front.i_payload_q == {wait_q[0].asked_prio, wait_q[0].asked_data});
      end
      assert (i_dut.i_front.full_q == state[SlotD][Elements-1].used);
    end
  end

  if (Partitions == 1) begin : g_front_one
    always_comb begin
      if (started_q) begin
        assert (number_t'(i_dut.i_front.g_one.count_q) == below(state[0], BucketBits, 0));
        assert (i_dut.i_front.g_one.some_q == state[0][0].used);
      end
    end
  end else begin : g_front_several
    always_comb begin
      if (started_q) begin
        assert (i_dut.i_front.g_several.d_valid_q == wait_q[1].valid);
        if (wait_q[1].valid) begin
          assert (i_dut.i_front.g_several.d_op_q == wait_q[1].op);
          assert (i_dut.i_front.g_several.d_partition_q == wait_q[1].partition);
          assert (i_dut.i_front.g_several.d_payload_q == {wait_q[1].asked_prio, wait_q[1].asked_data});
        end
        assert (i_dut.i_front.g_several.d_is_q == Partitions'(1) << i_dut.i_front.g_several.d_partition_q || !wait_q[1].valid);
        assert (number_t'(i_dut.i_front.g_several.total_q) == below(state[1], BucketBits, 0));
        assert (number_t'(i_dut.i_front.g_several.d_count_q) ==
                below(state[1], BucketBits - unsigned'($clog2(Partitions)), number_t'(i_dut.i_front.g_several.d_partition_q)));
        assert (i_dut.i_front.g_several.d_some_q == (i_dut.i_front.g_several.d_count_q != '0));
        for (int unsigned p = 0; p < Partitions; p++) begin
          assert (number_t'(i_dut.i_front.g_several.count_q[p]) == below(state[1], BucketBits - unsigned'($clog2(Partitions)), p));
          assert (i_dut.i_front.g_several.some_q[p] == (i_dut.i_front.g_several.count_q[p] != '0));
        end
      end
    end
  end

  // The tree.
  for (genvar level = int'(First); level <= int'(Levels); level++) begin : g_tree
    localparam style_e      Kind    = style(32'd1 << (DigitBits * (level - 1)), LutWords);
    localparam int unsigned SlotA   = slot_of(level);
    localparam int unsigned SlotC   = SlotA + cycles(Kind);
    localparam int unsigned SlotE   = SlotC - 1;
    localparam int unsigned Low     = DigitBits * (Levels - level);
    localparam int unsigned NodeLow = Low + DigitBits;

    // Of the operations in E and C: node and child.
    number_t e_node, c_node, c_child;
    assign e_node = number_t'(steps[SlotE].bucket >> NodeLow);
    assign c_node = number_t'(steps[SlotC].bucket >> NodeLow);
    assign c_child = number_t'(steps[SlotC].bucket >> Low);

    always_comb begin
      if (started_q) begin
        assert (i_dut.g_level[level].i_level.e_q.valid == steps[SlotE].done);
        assert (i_dut.g_level[level].i_level.c_q.valid == steps[SlotC].done);
        if (steps[SlotE].done) begin
          assert (i_dut.g_level[level].i_level.e_q.enqueue == steps[SlotE].enqueue);
          assert (i_dut.g_level[level].i_level.e_q.max == wait_q[SlotE].op[1]);
          if (steps[SlotE].enqueue) begin
            assert (i_dut.g_level[level].i_level.e_q.bucket == steps[SlotE].bucket);
            assert (i_dut.g_level[level].i_level.e_digit_q == Width'(1) << (number_t'(steps[SlotE].bucket >> Low)) % Width);
            if (Kind != Registers) assert (i_dut.g_level[level].i_level.e_q.empty == (below(state[SlotE], NodeLow, e_node) == 0));
          end else begin
            assert (number_t'(i_dut.g_level[level].i_level.e_q.bucket >> NodeLow) == e_node);
          end
        end
        if (steps[SlotC].done) begin
          assert (i_dut.g_level[level].i_level.c_q.enqueue == steps[SlotC].enqueue);
          assert (i_dut.g_level[level].i_level.c_q.max == wait_q[SlotC].op[1]);
          assert (i_dut.g_level[level].i_level.c_child_q == Width'(1) << c_child % Width);
          if (steps[SlotC].enqueue) begin
            assert (i_dut.g_level[level].i_level.c_q.bucket == steps[SlotC].bucket);
            assert (i_dut.g_level[level].i_level.c_q.empty == (below(state[SlotC], Low, c_child) == 0));
            assert (i_dut.g_level[level].i_level.c_q.empty ||
                    i_dut.g_level[level].i_level.c_several_q[c_child%Width] == (below(state[SlotC], Low, c_child) > 1));
          end else begin
            assert (number_t'(i_dut.g_level[level].i_level.c_q.bucket >> NodeLow) == c_node);
          end
        end else if (Kind == Registers) begin
          assert (i_dut.g_level[level].i_level.c_child_q == '0);
        end
        for (int unsigned i = 0; i < Width; i++) begin
          if (steps[SlotE].done || Kind == Registers) begin
            assert (i_dut.g_level[level].i_level.e_bitmap_q[i] == (below(state[SlotE], Low, e_node * Width + i) != 0) ||
                    (Kind == Registers && !steps[SlotE].done));
          end
          if (steps[SlotC].done) begin
            assert (number_t'(i_dut.g_level[level].i_level.c_counts_q[i]) == below(state[SlotC], Low, c_node * Width + i));
          end
          if (Kind == Registers) begin
            assert (i_dut.g_level[level].i_level.e_bitmap_q[i] == (below(state[SlotE], Low, i) != 0));
            assert (number_t'(i_dut.g_level[level].i_level.c_counts_q[i]) == below(state[SlotC], Low, i));
          end
        end
      end
    end

    if (Kind != Registers) begin : g_tables
      localparam int unsigned Words = 32'd1 << (DigitBits * (level - 1));

      always_comb begin
        if (started_q) begin
          assert (i_dut.g_level[level].i_level.g_tables.p_q.valid == steps[SlotE-1].done);
          if (steps[SlotE-1].done) begin
            assert (i_dut.g_level[level].i_level.g_tables.p_q.enqueue == steps[SlotE-1].enqueue);
            assert (i_dut.g_level[level].i_level.g_tables.p_q.max == wait_q[SlotE-1].op[1]);
            assert (number_t'(i_dut.g_level[level].i_level.g_tables.p_q.bucket >> NodeLow) == number_t'(steps[SlotE-1].bucket >> NodeLow));
            if (steps[SlotE-1].enqueue) begin
              assert (i_dut.g_level[level].i_level.g_tables.p_q.bucket == steps[SlotE-1].bucket);
              assert (i_dut.g_level[level].i_level.g_tables.p_q.empty ==
                      (below(state[SlotE-1], NodeLow, number_t'(steps[SlotE-1].bucket >> NodeLow)) == 0));
            end
          end
          // What the operation in C will leave, and the waterlevel that was fetched.
          for (int unsigned i = 0; i < Width; i++) begin
            if (steps[SlotC].done) begin
              assert (i_dut.g_level[level].i_level.g_tables.c_bitmap_q[i] == (below(state[SlotC-1], Low, c_node * Width + i) != 0));
            end
            if (steps[SlotE].done && below(state[SlotE], NodeLow, e_node) != 0 && !i_dut.g_level[level].i_level.g_tables.e_same) begin
              assert (i_dut.g_level[level].i_level.g_tables.e_several_q[i] == (below(state[SlotE], Low, e_node * Width + i) > 1));
            end
          end
          assert (i_dut.g_level[level].i_level.g_tables.e_same == (steps[SlotC].done && c_node == e_node) || !steps[SlotE].done);
        end
      end

      // The chains of addresses, and who is the same as whom.
      for (genvar i = 0; i < int'(history(Kind, 1)) + 1; i++) begin : g_chain
        always_comb begin
          if (started_q) begin
            if (i < int'(history(Kind, 1)) + (Kind == Lut ? 1 : 0)) begin
              assert (i_dut.g_level[level].i_level.g_tables.i_bits.valid_q[i] == steps[SlotE-1+i].done);
              assert (!steps[SlotE-1+i].done ||
                      number_t'(i_dut.g_level[level].i_level.g_tables.i_bits.address_q[i]) == number_t'(steps[SlotE-1+i].bucket >> NodeLow));
            end
            if (i > 0 && steps[SlotE-1].done) begin
              assert (i_dut.g_level[level].i_level.g_tables.i_bits.same_q[(i+64-1)%64] ==
                      (steps[SlotE-1+i].done && number_t'(steps[SlotE-1+i].bucket >> NodeLow) == number_t'(steps[SlotE-1].bucket >> NodeLow)));
            end
            if (i > 0 && i <= int'(history(Kind, 0)) && steps[SlotE].done) begin
              assert (i_dut.g_level[level].i_level.g_tables.i_counts.same_q[(i+64-1)%64] ==
                      (steps[SlotE+i].done && number_t'(steps[SlotE+i].bucket >> NodeLow) == e_node));
            end
            if (i < int'(history(Kind, 0)) + (Kind == Lut ? 1 : 0)) begin
              assert (i_dut.g_level[level].i_level.g_tables.i_counts.valid_q[i] == steps[SlotE+i].done);
              assert (!steps[SlotE+i].done ||
                      number_t'(i_dut.g_level[level].i_level.g_tables.i_counts.address_q[i]) == number_t'(steps[SlotE+i].bucket >> NodeLow));
            end
          end
        end
      end

      // Words of a node against a state: exactly, or if the node is not empty.
      for (genvar n = 0; n < int'(Words); n++) begin : g_node
        logic [Width-1:0]                some, several;
        logic [Width-1:0][CountBits-1:0] counts;
        logic [2*Width-1:0]              bits_memory;
        logic [Width*CountBits-1:0]      counts_memory;
        for (genvar i = 0; i < int'(Width); i++) begin : g_child
          assign some[i] = below(state[SlotC], Low, n * Width + i) != 0;
          assign several[i] = below(state[SlotC], Low, n * Width + i) > 1;
          assign counts[i] = CountBits'(below(state[SlotC], Low, n * Width + i));
        end
        if (Kind == Lut) begin : g_lut
          assign bits_memory = i_dut.g_level[level].i_level.g_tables.i_bits.g_lut.i_ram.contents[n];
          assign counts_memory = i_dut.g_level[level].i_level.g_tables.i_counts.g_lut.i_ram.contents[n];
        end else begin : g_block
          assign bits_memory = i_dut.g_level[level].i_level.g_tables.i_bits.g_block.i_ram.contents[n];
          assign counts_memory = i_dut.g_level[level].i_level.g_tables.i_counts.g_block.i_ram.contents[n];
        end
        always_comb begin
          if (started_q && some != '0) begin
            assert (bits_memory == {several, some});
            assert (counts_memory == counts);
          end
        end
      end

      if (Kind == Block) begin : g_block
        localparam int unsigned SlotP = SlotE - 1;
        localparam int unsigned SlotR = SlotE - 2;

        // Whether an operation between two slots has the same node as that of a slot.
        function automatic logic others(int unsigned slot, int unsigned last);
          others = 1'b0;
          for (int unsigned i = 0; i < Slots; i++) begin
            if (i > slot && i <= last && steps[i].done && steps[i].bucket >> NodeLow == steps[slot].bucket >> NodeLow) others = 1'b1;
          end
        endfunction

        always_comb begin
          if (started_q) begin
            assert (i_dut.g_level[level].i_level.g_tables.g_block.r_q.valid == steps[SlotR].done);
            assert (i_dut.g_level[level].i_level.g_tables.i_bits.g_block.r_valid_q == steps[SlotR].done);
            assert (i_dut.g_level[level].i_level.g_tables.i_counts.g_block.r_valid_q == steps[SlotP].done);
            if (steps[SlotR].done) begin
              assert (i_dut.g_level[level].i_level.g_tables.g_block.r_q.enqueue == steps[SlotR].enqueue);
              assert (i_dut.g_level[level].i_level.g_tables.g_block.r_q.max == wait_q[SlotR].op[1]);
              assert (number_t'(i_dut.g_level[level].i_level.g_tables.g_block.r_q.bucket >> NodeLow) == number_t'(steps[SlotR].bucket >> NodeLow));
              assert (number_t'(i_dut.g_level[level].i_level.g_tables.i_bits.g_block.r_address_q) == number_t'(steps[SlotR].bucket >> NodeLow));
              if (steps[SlotR].enqueue) begin
                assert (i_dut.g_level[level].i_level.g_tables.g_block.r_q.bucket == steps[SlotR].bucket);
                assert (i_dut.g_level[level].i_level.g_tables.g_block.r_q.empty ==
                        (below(state[SlotR], NodeLow, number_t'(steps[SlotR].bucket >> NodeLow)) == 0));
              end
            end
            if (steps[SlotP].done) begin
              assert (number_t'(i_dut.g_level[level].i_level.g_tables.i_counts.g_block.r_address_q) == number_t'(steps[SlotP].bucket >> NodeLow));
            end
          end
        end

        for (genvar i = 0; i < int'(Width); i++) begin : g_words
          number_t r_count, p_count, e_count, c1_count, c2_count;
          assign r_count = below(state[SlotR], Low, (number_t'(steps[SlotR].bucket >> NodeLow)) * Width + i);
          assign p_count = below(state[SlotP], Low, (number_t'(steps[SlotP].bucket >> NodeLow)) * Width + i);
          assign e_count = below(state[SlotE], Low, e_node * Width + i);
          // As they are after the operation.
          assign c1_count = below(state[SlotC], Low, (number_t'(steps[SlotC+1].bucket >> NodeLow)) * Width + i);
          assign c2_count = below(state[SlotC+1], Low, (number_t'(steps[SlotC+2].bucket >> NodeLow)) * Width + i);

          always_comb begin
            if (started_q) begin
              if (steps[SlotR].done && !others(SlotR, SlotR + 4) && below(state[SlotR], NodeLow, number_t'(steps[SlotR].bucket >> NodeLow)) != 0) begin
                assert (i_dut.g_level[level].i_level.g_tables.i_bits.g_block.i_ram.read_q[i] == (r_count != 0));
                assert (i_dut.g_level[level].i_level.g_tables.i_bits.g_block.i_ram.read_q[Width+i] == (r_count > 1));
              end
              if (steps[SlotP].done && below(state[SlotP], NodeLow, number_t'(steps[SlotP].bucket >> NodeLow)) != 0) begin
                if (!others(SlotP, SlotP + 4)) begin
                  assert (i_dut.g_level[level].i_level.g_tables.i_bits.g_block.i_ram.rdata_o[i] == (p_count != 0));
                  assert (i_dut.g_level[level].i_level.g_tables.i_bits.g_block.i_ram.rdata_o[Width+i] == (p_count > 1));
                end
                if (!others(SlotP, SlotP + 3)) begin
                  assert (number_t'(i_dut.g_level[level].i_level.g_tables.i_counts.g_block.i_ram.read_q[i*CountBits+:CountBits]) == p_count);
                end
              end
              if (steps[SlotE].done && below(state[SlotE], NodeLow, e_node) != 0 && !others(SlotE, SlotE + 3)) begin
                assert (number_t'(i_dut.g_level[level].i_level.g_tables.i_counts.g_block.i_ram.rdata_o[i*CountBits+:CountBits]) == e_count);
              end
              if (steps[SlotC+1].done) begin
                assert (number_t'(i_dut.g_level[level].i_level.g_tables.g_block.counts_q[1][i]) == c1_count);
                assert (i_dut.g_level[level].i_level.g_tables.g_block.bits_q[2].bitmap[i] == (c1_count != 0));
                assert (i_dut.g_level[level].i_level.g_tables.g_block.bits_q[2].several[i] == (c1_count > 1));
              end
              if (steps[SlotC+2].done) begin
                assert (number_t'(i_dut.g_level[level].i_level.g_tables.g_block.counts_q[2][i]) == c2_count);
                assert (i_dut.g_level[level].i_level.g_tables.g_block.bits_q[3].bitmap[i] == (c2_count != 0));
                assert (i_dut.g_level[level].i_level.g_tables.g_block.bits_q[3].several[i] == (c2_count > 1));
              end
            end
          end
        end
      end
    end
  end

  // The lists.
  localparam int unsigned SlotP       = SlotX - 1;
  localparam int unsigned ListHistory = history(ListStyle, Lanes);

  typedef logic [Lanes-1:0][Lanes-1:0] coming_t;
  typedef logic [Lanes-1:0][PointerBits-1:0] pointers_t;

  // The link that comes in this cycle, and in the next one.
  pointer_t link_now, link_next;
  assign link_now = i_dut.i_lists.link;
  assign link_next = i_dut.i_lists.i_links.read_q;

  // Whether a record is that of a bucket in a state; heads that are on their way are what will come.
  function automatic logic fits(
    state_t state, bucket_t bucket, coming_t coming, pointers_t head, pointers_t tail, pointer_t link_now, pointer_t link_next
  );
    number_t length;
    logic [PointerBits:0] one;
    pointer_t first;
    fits = 1'b1;
    length = below(state, 0, number_t'(bucket));
    for (int unsigned i = 0; i < Lanes; i++) begin
      first = coming[i][0] ? link_now : (coming[i] != '0) ? link_next : head[i];
      one = nth(state, bucket, i);
      if (i < length && first != one[PointerBits-1:0]) fits = 1'b0;
      one = nth(state, bucket, length - 1 - i);
      if (i < length && tail[i] != one[PointerBits-1:0]) fits = 1'b0;
      // Never two at once, and a first head never comes later than now.
      if (coming[i] != '0 && (coming[i] & (coming[i] - 1'b1)) != '0) fits = 1'b0;
    end
    if (Lanes > 1 && coming[0][Lanes-1]) fits = 1'b0;
  endfunction

  always_comb begin
    if (started_q) begin
      assert (i_dut.i_lists.p_q.valid == steps[SlotP].done);
      if (steps[SlotP].done) begin
        assert (i_dut.i_lists.p_q.enqueue == steps[SlotP].enqueue);
        assert (i_dut.i_lists.p_q.bucket == steps[SlotP].bucket);
        if (steps[SlotP].enqueue) begin
          assert (i_dut.i_lists.p_q.empty == (below(state[SlotP], 0, number_t'(steps[SlotP].bucket)) == 0));
          assert (i_dut.i_lists.p_q.single == (below(state[SlotP], 0, number_t'(steps[SlotP].bucket)) == 1));
        end
      end
      assert (i_dut.i_lists.x_q.valid == steps[SlotX].done);
      if (steps[SlotX].done) begin
        assert (i_dut.i_lists.x_q.enqueue == steps[SlotX].enqueue);
        assert (i_dut.i_lists.x_q.bucket == steps[SlotX].bucket);
        if (steps[SlotX].enqueue) begin
          assert (i_dut.i_lists.x_q.empty == (below(state[SlotX], 0, number_t'(steps[SlotX].bucket)) == 0));
          assert (i_dut.i_lists.x_q.single == (below(state[SlotX], 0, number_t'(steps[SlotX].bucket)) == 1));
          assert (i_dut.x_data == steps[SlotX].data);
        end
        if (!steps[SlotX].enqueue || below(state[SlotX], 0, number_t'(steps[SlotX].bucket)) != 0) begin
          assert (fits(state[SlotX], steps[SlotX].bucket, i_dut.i_lists.x_record_q.coming, i_dut.i_lists.x_record_q.head,
                       i_dut.i_lists.x_record_q.tail, link_now, link_next));
        end
      end
    end
  end

  for (genvar i = 1; i < int'(ListHistory); i++) begin : g_after
    always_comb begin
      if (started_q && steps[SlotX+i].done) begin
        assert (fits(state[SlotX+i-1], steps[SlotX+i].bucket, i_dut.i_lists.after_q[i].coming, i_dut.i_lists.after_q[i].head,
                     i_dut.i_lists.after_q[i].tail, link_now, link_next));
        for (int unsigned j = 0; j < Lanes; j++) assert (i_dut.i_lists.after_q[i].coming[j] >> (i < int'(Lanes) ? Lanes : Lanes + 1 - i) == '0 || i < int'(Lanes));
        if (i > int'(Lanes)) assert (i_dut.i_lists.after_q[i].coming == '0);
        if (i == int'(Lanes) && Lanes == 2) assert (i_dut.i_lists.after_q[i].coming[Lanes-1][Lanes-1] == 1'b0 || Lanes == 1);
      end
    end
  end

  for (genvar i = 0; i <= int'(ListHistory); i++) begin : g_list_chain
    always_comb begin
      if (started_q) begin
        if (i < int'(ListHistory) + (ListStyle == Lut ? 1 : 0)) begin
          assert (i_dut.i_lists.i_fetch.valid_q[i] == steps[SlotP+i].done);
          assert (!steps[SlotP+i].done || i_dut.i_lists.i_fetch.address_q[i] == steps[SlotP+i].bucket);
        end
        if (i > 0 && steps[SlotP].done) begin
          assert (i_dut.i_lists.i_fetch.same_q[(i+64-1)%64] ==
                  (steps[SlotP+i].done && steps[SlotP+i].bucket == steps[SlotP].bucket));
        end
      end
    end
  end

  for (genvar b = 0; b < int'(BucketCount); b++) begin : g_bucket
    logic [2*Lanes*PointerBits-1:0] record;
    if (ListStyle == Lut) begin : g_lut
      assign record = i_dut.i_lists.i_fetch.g_lut.i_ram.contents[b];
    end else begin : g_block
      assign record = i_dut.i_lists.i_fetch.g_block.i_ram.contents[b];
    end
    always_comb begin
      if (started_q) begin
        assert (fits(state[SlotX+Lanes], bucket_t'(b), '0, record[Lanes*PointerBits+:Lanes*PointerBits], record[0+:Lanes*PointerBits],
                     link_now, link_next));
        for (int unsigned i = 0; i + Lanes < Elements; i++) begin
          automatic logic [PointerBits:0] one = nth(state_q, bucket_t'(b), i);
          automatic logic [PointerBits:0] other = nth(state_q, bucket_t'(b), i + Lanes);
          if (other[PointerBits]) assert (i_dut.i_lists.i_links.contents[one[PointerBits-1:0]] == other[PointerBits-1:0]);
        end
      end
    end
  end

  if (ListStyle == Block) begin : g_list_block
    localparam int unsigned SlotR = SlotX - 2;
    logic p_others, r_others;
    always_comb begin
      p_others = 1'b0;
      r_others = 1'b0;
      for (int unsigned i = 1; i <= ListHistory; i++) begin
        if (steps[SlotP+i].done && steps[SlotP+i].bucket == steps[SlotP].bucket) p_others = 1'b1;
        if (steps[SlotR+i].done && steps[SlotR+i].bucket == steps[SlotR].bucket) r_others = 1'b1;
      end
      if (started_q) begin
        assert (i_dut.i_lists.g_block.r_q.valid == steps[SlotR].done);
        assert (i_dut.i_lists.i_fetch.g_block.r_valid_q == steps[SlotR].done);
        if (steps[SlotR].done) begin
          assert (i_dut.i_lists.g_block.r_q.enqueue == steps[SlotR].enqueue);
          assert (i_dut.i_lists.g_block.r_q.bucket == steps[SlotR].bucket);
          assert (i_dut.i_lists.i_fetch.g_block.r_address_q == steps[SlotR].bucket);
          if (steps[SlotR].enqueue) begin
            assert (i_dut.i_lists.g_block.r_q.empty == (below(state[SlotR], 0, number_t'(steps[SlotR].bucket)) == 0));
            assert (i_dut.i_lists.g_block.r_q.single == (below(state[SlotR], 0, number_t'(steps[SlotR].bucket)) == 1));
          end
          if (!r_others) begin
            assert (fits(state[SlotX+Lanes], steps[SlotR].bucket, '0,
                         i_dut.i_lists.i_fetch.g_block.i_ram.read_q[Lanes*PointerBits+:Lanes*PointerBits],
                         i_dut.i_lists.i_fetch.g_block.i_ram.read_q[0+:Lanes*PointerBits], link_now, link_next));
          end
        end
        if (steps[SlotP].done && !p_others) begin
          assert (fits(state[SlotX+Lanes], steps[SlotP].bucket, '0,
                       i_dut.i_lists.i_fetch.g_block.i_ram.rdata_o[Lanes*PointerBits+:Lanes*PointerBits],
                       i_dut.i_lists.i_fetch.g_block.i_ram.rdata_o[0+:Lanes*PointerBits], link_now, link_next));
        end
      end
    end
  end

  // The free list; every element is in one list, or was never used.
  always_comb begin
    if (started_q) begin
      assert (number_t'(i_dut.i_lists.never_used_q) <= Elements);
      assert (i_dut.i_lists.all_used_q == (number_t'(i_dut.i_lists.never_used_q) == Elements));
      assert (fl_count_q <= number_t'(Elements));
      assert (number_t'(i_dut.i_lists.free_count_q) == fl_count_q);
      assert (i_dut.i_lists.free_length_q == {fl_count_q == 1, fl_count_q == 0});
      for (int unsigned p = 0; p < Elements; p++) begin
        automatic number_t places = '0;
        for (int unsigned i = 0; i < Elements; i++) begin
          if (state_q[i].used && number_t'(state_q[i].pointer) == p) places = places + 1'b1;
          if (number_t'(i) < fl_count_q && number_t'(fl_q[i]) == p) places = places + 1'b1;
        end
        assert (places == (p < number_t'(i_dut.i_lists.never_used_q) ? 1 : 0));
      end
      for (int unsigned i = 0; i < Elements; i++) begin
        assert (!state_q[i].used || number_t'(state_q[i].pointer) < Elements);
        assert (number_t'(i) >= fl_count_q || number_t'(fl_q[i]) < Elements);
        if (number_t'(i + Lanes) < fl_count_q) assert (i_dut.i_lists.i_links.contents[fl_q[i]] == fl_q[(i+Lanes)%Elements]);
        if (i < Lanes) begin
          if (number_t'(i) < fl_count_q) begin
            assert ((i_dut.i_lists.free_q.coming[i%Lanes][0] ? link_now :
                     i_dut.i_lists.free_q.coming[i%Lanes] != '0 ? link_next : i_dut.i_lists.free_q.head[i%Lanes]) == fl_q[i]);
            assert (i_dut.i_lists.free_q.tail[i%Lanes] == fl_q[wrapped(fl_count_q + number_t'(Elements - 1 - i), Elements)]);
          end
          assert ((i_dut.i_lists.free_q.coming[i%Lanes] & (i_dut.i_lists.free_q.coming[i%Lanes] - 1'b1)) == '0);
        end
        if (state_q[i].used) assert (i_dut.i_lists.i_data.contents[state_q[i].pointer] == state_q[i].data);
      end
      if (Lanes == 2) assert (i_dut.i_lists.free_q.coming[0][Lanes-1] == 1'b0 || Lanes == 1);
    end
  end

  // The data on their way out.
  always_comb begin
    if (started_q) begin
      assert (i_dut.i_lists.y_valid_q == (steps[SlotX+1].done && !steps[SlotX+1].enqueue));
      assert (i_dut.i_lists.z_valid_q == (steps[SlotX+2].done && !steps[SlotX+2].enqueue));
      if (steps[SlotX+1].done && !steps[SlotX+1].enqueue) begin
        assert (i_dut.i_lists.y_bucket_q == steps[SlotX+1].bucket);
        assert (i_dut.i_lists.i_data.read_q == steps[SlotX+1].data);
      end
      if (steps[SlotX+2].done && !steps[SlotX+2].enqueue) begin
        assert (i_dut.i_lists.z_bucket_q == steps[SlotX+2].bucket);
        assert (i_dut.i_lists.i_data.rdata_o == steps[SlotX+2].data);
      end
      for (int unsigned s = SlotD + 1; s < Latency; s++) assert (i_dut.valid_q[s-SlotD-1] == wait_q[s].valid);
    end
  end

  // What travels alongside, in rings.
  localparam int unsigned DataPlaces    = SlotX - SlotD - 1;
  localparam int unsigned RequestPlaces = Latency - 2 - SlotD;

  for (genvar j = 0; j < int'(DataPlaces); j++) begin : g_data_ring
    localparam int unsigned Slot = SlotD + DataPlaces - j;
    always_comb begin
      if (started_q) begin
        assert (number_t'(i_dut.i_data.g_ring.place_q) < DataPlaces);
        if (steps[Slot].done && steps[Slot].enqueue) begin
          assert (i_dut.i_data.g_ring.i_ring.contents[wrapped(number_t'(i_dut.i_data.g_ring.place_q) + number_t'(j), DataPlaces)] == steps[Slot].data);
        end
      end
    end
  end

  for (genvar j = 0; j < int'(RequestPlaces); j++) begin : g_request_ring
    localparam int unsigned Slot = SlotD + RequestPlaces - j;
    always_comb begin
      if (started_q) begin
        assert (number_t'(i_dut.i_request.g_ring.place_q) < RequestPlaces);
        if (wait_q[Slot].valid) begin
          assert (i_dut.i_request.g_ring.i_ring.contents[wrapped(number_t'(i_dut.i_request.g_ring.place_q) + number_t'(j), RequestPlaces)] ==
                  {wait_q[Slot].status, wait_q[Slot].op, wait_q[Slot].partition});
        end
      end
    end
  end
