// SPDX-License-Identifier: Apache-2.0 OR MIT
  // The response: the data on their way out.
  always_comb begin
    if (started_q) begin
      assert (i_dut.i_lists.y_valid_q == (steps[SlotX+1].done && !steps[SlotX+1].enqueue));
      assert (i_dut.i_lists.z_valid_q == (steps[SlotX+2].done && !steps[SlotX+2].enqueue));
      if (steps[SlotX+1].done && !steps[SlotX+1].enqueue) begin
        assert (i_dut.i_lists.y_bucket_q == steps[SlotX+1].bucket);
        assert (i_dut.i_lists.i_data.g_bank[0].read_q == steps[SlotX+1].data);
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
