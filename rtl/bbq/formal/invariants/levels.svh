// SPDX-License-Identifier: Apache-2.0 OR MIT
  // The levels of the tree, stages E and C: the operation there, and the bitmap.
  for (genvar level = int'(First); level <= int'(Levels); level++) begin : g_levels
    localparam style_e      Kind    = kind_of(level);
    localparam int unsigned SlotE   = slot_e(level);
    localparam int unsigned SlotC   = SlotE + 1;
    localparam int unsigned Low     = DigitBits * (Levels - level);
    localparam int unsigned NodeLow = Low + DigitBits;

    // Of the operations in E and C: node and child.
    number_t e_node, c_node, c_child;
    assign e_node = number_t'(steps[SlotE].bucket >> NodeLow);
    assign c_node = number_t'(steps[SlotC].bucket >> NodeLow);
    assign c_child = number_t'(steps[SlotC].bucket >> Low);

    // Where the partition decides some bits of the digit, the children whose digits begin with them.
    localparam int unsigned Above     = DigitBits * (level - 1);
    localparam int unsigned KnownBits = unsigned'($clog2(Partitions));
    if (KnownBits > Above && KnownBits < Above + DigitBits) begin : g_mask
      localparam int unsigned Own = Width >> (KnownBits - Above);
      always_comb begin
        for (int unsigned i = 0; i < Width; i++) begin
          if (started_q && steps[SlotE].done) begin
            assert (i_dut.g_level[level].i_level.g_mask.e_mask_q[i] ==
                    (number_t'(i) / Own == number_t'(steps[SlotE].bucket >> Low) % Width / Own));
          end
        end
      end
    end

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
          end else begin
            assert (number_t'(i_dut.g_level[level].i_level.c_q.bucket >> NodeLow) == c_node);
          end
        end else if (Kind == Registers) begin
          assert (i_dut.g_level[level].i_level.c_child_q == '0 || !state[SlotC][0].used);
        end
        for (int unsigned i = 0; i < Width; i++) begin
          if (steps[SlotE].done || Kind == Registers) begin
            assert (i_dut.g_level[level].i_level.e_bitmap_q[i] == (below(state[SlotE], Low, e_node * Width + i) != 0) ||
                    (Kind == Registers && !steps[SlotE].done));
          end
          if (Kind == Registers) begin
            assert (i_dut.g_level[level].i_level.e_bitmap_q[i] == (below(state[SlotE], Low, i) != 0));
          end
        end
      end
    end
  end
