  // The nodes of levels in memories: the operation in stage P, who has the same node as whom, the words of the memories.
  for (genvar level = int'(First); level <= int'(Levels); level++) begin : g_nodes
    localparam style_e      Kind    = kind_of(level);
    localparam int unsigned SlotE   = slot_e(level);
    localparam int unsigned SlotC   = SlotE + 1;
    localparam int unsigned Low     = DigitBits * (Levels - level);
    localparam int unsigned NodeLow = Low + DigitBits;

    // Of the operations in E and C: the node.
    number_t e_node, c_node;
    assign e_node = number_t'(steps[SlotE].bucket >> NodeLow);
    assign c_node = number_t'(steps[SlotC].bucket >> NodeLow);

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
    end
  end
