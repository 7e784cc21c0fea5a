// SPDX-License-Identifier: Apache-2.0 OR MIT
  // The levels in registers and in LUT RAM, stages C and D: the waterlevel, the bits for three, the counts.
  for (genvar level = int'(First); level <= int'(Levels); level++) begin : g_counts
    localparam style_e      Kind    = kind_of(level);
    localparam int unsigned SlotC   = slot_e(level) + 1;
    localparam int unsigned SlotW   = SlotC + 1;
    localparam int unsigned Low     = DigitBits * (Levels - level);
    localparam int unsigned NodeLow = Low + DigitBits;

    if (Kind != Block) begin : g_one_for_each
      // The columns of the counts, as the level has them.
      localparam int unsigned Words   = 32'd1 << (DigitBits * level);
      localparam int unsigned Columns = (Words <= 16) ? 1 : (Words / 16 < Width) ? Words / 16 : Width;
      localparam int unsigned Own     = Width / Columns;

      // Of the operations in C and D: node and child.
      number_t c_node, d_node, d_child;
      assign c_node = number_t'(steps[SlotC].bucket >> NodeLow);
      assign d_node = number_t'(steps[SlotW].bucket >> NodeLow);
      assign d_child = number_t'(steps[SlotW].bucket >> Low);

      always_comb begin
        if (started_q) begin
          assert (i_dut.g_level[level].i_level.g_counts.d_valid_q == steps[SlotW].done);
          if (steps[SlotW].done) begin
            assert (i_dut.g_level[level].i_level.g_counts.d_enqueue_q == steps[SlotW].enqueue);
            assert (number_t'(i_dut.g_level[level].i_level.g_counts.d_address_q) == d_node * Own + d_child % Own);
            assert (i_dut.g_level[level].i_level.g_counts.d_child_q == Width'(1) << d_child % Width);
            assert (number_t'(i_dut.g_level[level].i_level.g_counts.d_word_q.count) == below(state[SlotW], Low, d_child));
            assert (i_dut.g_level[level].i_level.g_counts.d_word_q.above_one == (below(state[SlotW], Low, d_child) > 1));
            assert (i_dut.g_level[level].i_level.g_counts.d_word_q.above_three == (below(state[SlotW], Low, d_child) > 3));
            assert (i_dut.g_level[level].i_level.g_counts.d_is_three_q == (below(state[SlotC], Low, d_child) > 2));
          end else if (Kind == Registers) begin
            // What a reset has cut off does nothing to a queue without elements.
            assert (i_dut.g_level[level].i_level.g_counts.d_child_q == '0 || !state[SlotW][0].used);
          end
          for (int unsigned i = 0; i < Width; i++) begin
            if (steps[SlotC].done || Kind == Registers) begin
              assert (i_dut.g_level[level].i_level.c_several_q[i] ==
                      (below(state[SlotC], Low, (Kind == Registers ? 0 : c_node * Width) + i) > 1) ||
                      below(state[SlotC], Low, (Kind == Registers ? 0 : c_node * Width) + i) == 0);
            end
            if (steps[SlotW].done || Kind == Registers) begin
              assert (i_dut.g_level[level].i_level.g_counts.d_three_q[i] ==
                      (below(state[SlotW], Low, (Kind == Registers ? 0 : d_node * Width) + i) > 2) ||
                      below(state[SlotW], Low, (Kind == Registers ? 0 : d_node * Width) + i) == 0);
            end
          end
        end
      end

      // A count is written at the end of D. That of an empty child can be anything.
      for (genvar n = 0; n < int'(Words); n++) begin : g_word
        logic [CountBits+1:0] word;
        number_t              count;
        assign word = i_dut.g_level[level].i_level.g_counts.g_column[n%Width/Own].i_counts.contents[n/Width*Own+n%Own];
        assign count = below(state[SlotW], Low, n);
        always_comb begin
          if (started_q && count != 0) begin
            assert (number_t'(word[CountBits-1:0]) == count);
            assert (word[CountBits+:2] == {count > 3, count > 1});
          end
        end
      end
    end
  end
