// SPDX-License-Identifier: Apache-2.0 OR MIT
  // The nodes of levels in block RAM: what is read and not there yet, and what waits to be written.
  for (genvar level = int'(First); level <= int'(Levels); level++) begin : g_nodes_block
    localparam style_e      Kind    = kind_of(level);
    localparam int unsigned SlotE   = slot_e(level);
    localparam int unsigned SlotC   = SlotE + 1;
    localparam int unsigned Low     = DigitBits * (Levels - level);
    localparam int unsigned NodeLow = Low + DigitBits;

    // Of the operations in E and C: the node, and the child.
    number_t e_node, c_node, c_child;
    assign c_node = number_t'(steps[SlotC].bucket >> NodeLow);
    assign c_child = number_t'(steps[SlotC].bucket >> Low);
    assign e_node = number_t'(steps[SlotE].bucket >> NodeLow);

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
          assert (i_dut.g_level[level].i_level.g_tables.r_q.valid == steps[SlotR].done);
          assert (i_dut.g_level[level].i_level.g_tables.i_bits.g_block.r_valid_q == steps[SlotR].done);
          assert (i_dut.g_level[level].i_level.g_tables.i_counts.g_block.r_valid_q == steps[SlotP].done);
          if (steps[SlotR].done) begin
            assert (i_dut.g_level[level].i_level.g_tables.r_q.enqueue == steps[SlotR].enqueue);
            assert (i_dut.g_level[level].i_level.g_tables.r_q.max == wait_q[SlotR].op[1]);
            assert (number_t'(i_dut.g_level[level].i_level.g_tables.r_q.bucket >> NodeLow) == number_t'(steps[SlotR].bucket >> NodeLow));
            assert (number_t'(i_dut.g_level[level].i_level.g_tables.i_bits.g_block.r_address_q) == number_t'(steps[SlotR].bucket >> NodeLow));
            if (steps[SlotR].enqueue) begin
              assert (i_dut.g_level[level].i_level.g_tables.r_q.bucket == steps[SlotR].bucket);
              assert (i_dut.g_level[level].i_level.g_tables.r_q.empty ==
                      (below(state[SlotR], NodeLow, number_t'(steps[SlotR].bucket >> NodeLow)) == 0));
            end
          end
          // The counts' words and addresses: those of the bits, a stage later.
          for (int unsigned i = 0; i < 4; i++) begin
            if (i > 0 && steps[SlotE].done) begin
              assert (i_dut.g_level[level].i_level.g_tables.i_counts.same_q[(i+2)%3] ==
                      (steps[SlotE+i].done && number_t'(steps[SlotE+i].bucket >> NodeLow) == e_node));
            end
            if (i < 3) begin
              assert (i_dut.g_level[level].i_level.g_tables.i_counts.valid_q[i%3] == steps[SlotE+i].done);
              assert (!steps[SlotE+i].done ||
                      number_t'(i_dut.g_level[level].i_level.g_tables.i_counts.address_q[i%3]) == number_t'(steps[SlotE+i].bucket >> NodeLow));
            end
          end
          if (steps[SlotC].done) begin
            assert (i_dut.g_level[level].i_level.g_tables.c_down_q == (steps[SlotC].enqueue ? '0 : Width'(1) << c_child % Width));
          end
          if (steps[SlotC].done && steps[SlotC].enqueue) begin
            assert (i_dut.g_level[level].i_level.c_q.empty || i_dut.g_level[level].i_level.c_several_q[c_child%Width] ==
                    (below(state[SlotC], Low, c_child) > 1));
          end
          if (steps[SlotP].done) begin
            assert (number_t'(i_dut.g_level[level].i_level.g_tables.i_counts.g_block.r_address_q) == number_t'(steps[SlotP].bucket >> NodeLow));
          end
        end
      end

      // The counts in memory, of nodes that are not empty: those before the operation in C, at whose end they are written.
      for (genvar n = 0; n < int'(32'd1 << (DigitBits * (level - 1))); n++) begin : g_memory
        for (genvar i = 0; i < int'(Width); i++) begin : g_child
          always_comb begin
            if (started_q && below(state[SlotC], NodeLow, n) != 0) begin
              assert (number_t'(i_dut.g_level[level].i_level.g_tables.i_counts.g_block.i_ram.g_bank[0].contents[n][i*CountBits+:CountBits]) ==
                      below(state[SlotC], Low, n * Width + i));
            end
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
            if (steps[SlotC].done) begin
              assert (number_t'(i_dut.g_level[level].i_level.g_tables.c_counts_q[i]) == below(state[SlotC], Low, c_node * Width + i));
            end
            if (steps[SlotR].done && !others(SlotR, SlotR + 4) && below(state[SlotR], NodeLow, number_t'(steps[SlotR].bucket >> NodeLow)) != 0) begin
              assert (i_dut.g_level[level].i_level.g_tables.i_bits.g_block.i_ram.g_bank[0].read_q[i] == (r_count != 0));
              assert (i_dut.g_level[level].i_level.g_tables.i_bits.g_block.i_ram.g_bank[0].read_q[Width+i] == (r_count > 1));
            end
            if (steps[SlotP].done && below(state[SlotP], NodeLow, number_t'(steps[SlotP].bucket >> NodeLow)) != 0) begin
              if (!others(SlotP, SlotP + 4)) begin
                assert (i_dut.g_level[level].i_level.g_tables.i_bits.g_block.i_ram.rdata_o[i] == (p_count != 0));
                assert (i_dut.g_level[level].i_level.g_tables.i_bits.g_block.i_ram.rdata_o[Width+i] == (p_count > 1));
              end
              if (!others(SlotP, SlotP + 3)) begin
                assert (number_t'(i_dut.g_level[level].i_level.g_tables.i_counts.g_block.i_ram.g_bank[0].read_q[i*CountBits+:CountBits]) == p_count);
              end
            end
            if (steps[SlotE].done && below(state[SlotE], NodeLow, e_node) != 0 && !others(SlotE, SlotE + 3)) begin
              assert (number_t'(i_dut.g_level[level].i_level.g_tables.i_counts.g_block.i_ram.rdata_o[i*CountBits+:CountBits]) == e_count);
            end
            if (steps[SlotC+1].done) begin
              assert (number_t'(i_dut.g_level[level].i_level.g_tables.counts_q[1][i]) == c1_count);
              assert (i_dut.g_level[level].i_level.g_tables.bits_q[2].bitmap[i] == (c1_count != 0));
              assert (i_dut.g_level[level].i_level.g_tables.bits_q[2].several[i] == (c1_count > 1));
            end
            if (steps[SlotC+2].done) begin
              assert (number_t'(i_dut.g_level[level].i_level.g_tables.counts_q[2][i]) == c2_count);
              assert (i_dut.g_level[level].i_level.g_tables.bits_q[3].bitmap[i] == (c2_count != 0));
              assert (i_dut.g_level[level].i_level.g_tables.bits_q[3].several[i] == (c2_count > 1));
            end
          end
        end
      end
    end
  end
