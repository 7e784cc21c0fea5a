// SPDX-License-Identifier: Apache-2.0 OR MIT
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
