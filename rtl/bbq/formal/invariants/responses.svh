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

  // What travels alongside, in a ring up to stage X, and in registers behind it.
  localparam int unsigned DataPlaces  = SlotX - SlotD - 1;
  localparam int unsigned RequestBits = 4 + unsigned'($clog2(Partitions));

  function automatic logic [RequestBits-1:0] request_of(int unsigned slot);
    return RequestBits'({wait_q[slot].partition, wait_q[slot].status, wait_q[slot].op});
  endfunction

  for (genvar j = 0; j < int'(DataPlaces); j++) begin : g_data_ring
    localparam int unsigned Slot = SlotD + DataPlaces - j;
    logic [RequestBits+DataBits-1:0] word;
    assign word = i_dut.g_shared.i_data.g_ring.i_ring.contents[wrapped(number_t'(i_dut.g_shared.i_data.g_ring.place_q) + number_t'(j), DataPlaces)];
    always_comb begin
      if (started_q) begin
        assert (number_t'(i_dut.g_shared.i_data.g_ring.place_q) < DataPlaces);
        if (steps[Slot].done && steps[Slot].enqueue) assert (word[DataBits-1:0] == steps[Slot].data);
        if (wait_q[Slot].valid) assert (word[RequestBits+DataBits-1:DataBits] == request_of(Slot));
      end
    end
  end

  always_comb begin
    if (started_q) begin
      if (wait_q[SlotX].valid) assert (i_dut.g_shared.x_request == request_of(SlotX));
      for (int unsigned i = 0; i < Latency - 1 - SlotX; i++) begin
        if (wait_q[SlotX+1+i].valid) assert (i_dut.g_shared.i_request.g_registers.data_q[i] == request_of(SlotX + 1 + i));
      end
    end
  end
