// SPDX-License-Identifier: Apache-2.0 OR MIT
  // The free list; every element is in one list, or was never used.
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
        if (number_t'(i + Lanes) < fl_count_q) assert (i_dut.i_lists.i_links.g_bank[0].contents[fl_q[i]] == fl_q[(i+Lanes)%Elements]);
        if (i < Lanes) begin
          if (number_t'(i) < fl_count_q) begin
            assert ((i_dut.i_lists.free_q.coming[i%Lanes][0] ? link_now :
                     i_dut.i_lists.free_q.coming[i%Lanes] != '0 ? link_next : i_dut.i_lists.free_q.head[i%Lanes]) == fl_q[i]);
            assert (i_dut.i_lists.free_q.tail[i%Lanes] == fl_q[wrapped(fl_count_q + number_t'(Elements - 1 - i), Elements)]);
            // Never two at once, and a first head never comes later than now.
            assert ((i_dut.i_lists.free_q.coming[i%Lanes] & (i_dut.i_lists.free_q.coming[i%Lanes] - 1'b1)) == '0);
          end
        end
        if (state_q[i].used) assert (i_dut.i_lists.i_data.g_bank[0].contents[state_q[i].pointer] == state_q[i].data);
      end
      if (Lanes == 2 && fl_count_q != 0) assert (i_dut.i_lists.free_q.coming[0][Lanes-1] == 1'b0);
    end
  end
