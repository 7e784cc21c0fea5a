// SPDX-License-Identifier: Apache-2.0 OR MIT
  // The nodes of levels in memories: the operation in stage P, who has the same node as whom, the words of the memories.
  for (genvar level = int'(First); level <= int'(Levels); level++) begin : g_nodes
    localparam style_e      Kind        = kind_of(level);
    localparam int unsigned SlotE       = slot_e(level);
    localparam int unsigned SlotC       = SlotE + 1;
    localparam int unsigned SlotW       = SlotC + 1;
    localparam int unsigned Low         = DigitBits * (Levels - level);
    localparam int unsigned NodeLow     = Low + DigitBits;
    localparam int unsigned BitsHistory = history(Kind, Kind == Lut ? 2 : 1, 2);

    // Of the operations in E and C: the node.
    number_t e_node, c_node;
    assign e_node = number_t'(steps[SlotE].bucket >> NodeLow);
    assign c_node = number_t'(steps[SlotC].bucket >> NodeLow);

    if (Kind != Registers) begin : g_tables
      localparam int unsigned Words = 32'd1 << (DigitBits * (level - 1));
      // In C the waterlevel is written to block RAM, in D all to LUT RAM.
      localparam int unsigned SlotWritten = (Kind == Lut) ? SlotW : SlotC;

      // What both kinds have, whatever it is called there.
      logic                   p_valid, p_enqueue, p_max, p_empty;
      bucket_t                p_bucket;
      logic [Width-1:0]       c_bitmap, e_several;
      logic [BitsHistory-1:0] same;
      logic [BitsHistory:0]   valid;
      number_t                address [BitsHistory+1];
      logic                   e_same, e_filled;
      if (Kind == Lut) begin : g_lut
        assign {p_valid, p_enqueue, p_max, p_empty, p_bucket} = i_dut.g_level[level].i_level.g_counts.g_lut.p_q;
        assign c_bitmap = i_dut.g_level[level].i_level.g_counts.g_lut.c_bitmap_q;
        assign e_several = i_dut.g_level[level].i_level.g_counts.g_lut.e_several_q;
        assign e_same = i_dut.g_level[level].i_level.g_counts.g_lut.e_sames_q[0];
        assign e_filled = i_dut.g_level[level].i_level.g_counts.g_lut.e_sames_q != '0;
        assign same = i_dut.g_level[level].i_level.g_counts.g_lut.i_bits.same_q;
        assign valid = i_dut.g_level[level].i_level.g_counts.g_lut.i_bits.valid_q;
        for (genvar i = 0; i <= int'(BitsHistory); i++) begin : g_address
          assign address[i] = number_t'(i_dut.g_level[level].i_level.g_counts.g_lut.i_bits.address_q[i]);
        end
      end else begin : g_block
        assign {p_valid, p_enqueue, p_max, p_empty, p_bucket} = i_dut.g_level[level].i_level.g_tables.p_q;
        assign c_bitmap = i_dut.g_level[level].i_level.g_tables.c_bitmap_q;
        assign e_several = i_dut.g_level[level].i_level.g_tables.e_several_q;
        assign e_same = i_dut.g_level[level].i_level.g_tables.e_same;
        assign e_filled = e_same;
        assign same = i_dut.g_level[level].i_level.g_tables.i_bits.same_q;
        // One less than in LUT RAM, for the same history.
        assign valid = {steps[SlotE-1+BitsHistory].done, i_dut.g_level[level].i_level.g_tables.i_bits.valid_q};
        for (genvar i = 0; i < int'(BitsHistory); i++) begin : g_address
          assign address[i] = number_t'(i_dut.g_level[level].i_level.g_tables.i_bits.address_q[i]);
        end
        assign address[BitsHistory] = number_t'(steps[SlotE-1+BitsHistory].bucket >> NodeLow);
      end

      always_comb begin
        if (started_q) begin
          assert (p_valid == steps[SlotE-1].done);
          if (steps[SlotE-1].done) begin
            assert (p_enqueue == steps[SlotE-1].enqueue);
            assert (p_max == wait_q[SlotE-1].op[1]);
            assert (number_t'(p_bucket >> NodeLow) == number_t'(steps[SlotE-1].bucket >> NodeLow));
            if (steps[SlotE-1].enqueue) begin
              assert (p_bucket == steps[SlotE-1].bucket);
              assert (p_empty == (below(state[SlotE-1], NodeLow, number_t'(steps[SlotE-1].bucket >> NodeLow)) == 0));
            end
          end
          // What the operation in C will leave, and the waterlevel that was fetched.
          for (int unsigned i = 0; i < Width; i++) begin
            if (steps[SlotC].done) assert (c_bitmap[i] == (below(state[SlotC-1], Low, c_node * Width + i) != 0));
            if (steps[SlotE].done && !e_filled && below(state[SlotE], Low, e_node * Width + i) != 0) begin
              assert (e_several[i] == (below(state[SlotE], Low, e_node * Width + i) > 1));
            end
          end
          assert (e_same == (steps[SlotC].done && c_node == e_node) || !steps[SlotE].done);
        end
      end

      // The chains of addresses, and who is the same as whom.
      for (genvar i = 0; i <= int'(BitsHistory); i++) begin : g_chain
        always_comb begin
          if (started_q) begin
            assert (valid[i] == steps[SlotE-1+i].done);
            assert (!steps[SlotE-1+i].done || address[i] == number_t'(steps[SlotE-1+i].bucket >> NodeLow));
            if (i > 0 && steps[SlotE-1].done) begin
              assert (same[(i+BitsHistory-1)%BitsHistory] ==
                      (steps[SlotE-1+i].done && number_t'(steps[SlotE-1+i].bucket >> NodeLow) == number_t'(steps[SlotE-1].bucket >> NodeLow)));
            end
          end
        end
      end

      // Words of a node against a state, if the node is not empty. In LUT RAM the bits above the bitmap mean nothing of an empty child.
      for (genvar n = 0; n < int'(Words); n++) begin : g_node
        logic [Width-1:0] some, several, three;
        for (genvar i = 0; i < int'(Width); i++) begin : g_child
          assign some[i] = below(state[SlotWritten], Low, n * Width + i) != 0;
          assign several[i] = below(state[SlotWritten], Low, n * Width + i) > 1;
          assign three[i] = below(state[SlotWritten], Low, n * Width + i) > 2;
        end
        if (Kind == Lut) begin : g_lut
          always_comb begin
            if (started_q && some != '0) begin
              assert (i_dut.g_level[level].i_level.g_counts.g_lut.i_bits.g_lut.i_ram.contents[n][Width-1:0] == some);
              assert ((i_dut.g_level[level].i_level.g_counts.g_lut.i_bits.g_lut.i_ram.contents[n][3*Width-1:Width] & {2{some}}) ==
                      {three, several});
            end
          end
        end else begin : g_block
          always_comb begin
            if (started_q && some != '0) begin
              assert (i_dut.g_level[level].i_level.g_tables.i_bits.g_block.i_ram.g_bank[0].contents[n] == {several, some});
            end
          end
        end
      end

      // What is fetched too early in LUT RAM, and filled in when it is known.
      if (Kind == Lut) begin : g_three
        number_t d_node;
        assign d_node = number_t'(steps[SlotW].bucket >> NodeLow);
        always_comb begin
          if (started_q) begin
            if (steps[SlotE].done) begin
              assert (i_dut.g_level[level].i_level.g_counts.g_lut.e_sames_q[1] == (steps[SlotW].done && d_node == e_node));
            end
            if (steps[SlotC].done) begin
              assert (i_dut.g_level[level].i_level.g_counts.g_lut.c_same_q == (steps[SlotW].done && d_node == c_node));
            end
            for (int unsigned i = 0; i < Width; i++) begin
              if (steps[SlotE].done && i_dut.g_level[level].i_level.g_counts.g_lut.e_sames_q == '0 &&
                  below(state[SlotE], Low, e_node * Width + i) != 0) begin
                assert (i_dut.g_level[level].i_level.g_counts.g_lut.e_three_q[i] == (below(state[SlotE], Low, e_node * Width + i) > 2));
              end
              // As it is before the operation in D.
              if (steps[SlotC].done && below(state[SlotW], Low, c_node * Width + i) != 0) begin
                assert (i_dut.g_level[level].i_level.g_counts.g_lut.c_three_q[i] == (below(state[SlotW], Low, c_node * Width + i) > 2));
              end
              if (steps[SlotW].done) begin
                assert (i_dut.g_level[level].i_level.g_counts.g_lut.d_bitmap_q[i] == (below(state[SlotC], Low, d_node * Width + i) != 0));
                assert (i_dut.g_level[level].i_level.g_counts.g_lut.d_several_q[i] == (below(state[SlotC], Low, d_node * Width + i) > 1) ||
                        below(state[SlotC], Low, d_node * Width + i) == 0);
              end
            end
          end
        end
      end
    end
  end
