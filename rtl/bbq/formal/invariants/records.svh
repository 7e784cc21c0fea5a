// SPDX-License-Identifier: Apache-2.0 OR MIT
  // The buckets' lists: the record of the operation in each stage, those in memory, and the links.
  localparam int unsigned SlotP       = SlotX - 1;
  localparam int unsigned ListHistory = history(ListStyle, Lanes, 2);

  typedef logic [Lanes-1:0][Lanes-1:0] coming_t;
  typedef logic [Lanes-1:0][PointerBits-1:0] pointers_t;

  // The link that comes in this cycle, and in the next one.
  pointer_t link_now, link_next;
  assign link_now = i_dut.i_lists.link;
  assign link_next = i_dut.i_lists.i_links.g_bank[0].read_q;

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
      assign record = i_dut.i_lists.i_fetch.g_block.i_ram.g_bank[0].contents[b];
    end
    always_comb begin
      if (started_q) begin
        assert (fits(state[SlotX+Lanes], bucket_t'(b), '0, record[Lanes*PointerBits+:Lanes*PointerBits], record[0+:Lanes*PointerBits],
                     link_now, link_next));
        for (int unsigned i = 0; i + Lanes < Elements; i++) begin
          automatic logic [PointerBits:0] one = nth(state_q, bucket_t'(b), i);
          automatic logic [PointerBits:0] other = nth(state_q, bucket_t'(b), i + Lanes);
          if (other[PointerBits]) assert (i_dut.i_lists.i_links.g_bank[0].contents[one[PointerBits-1:0]] == other[PointerBits-1:0]);
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
                         i_dut.i_lists.i_fetch.g_block.i_ram.g_bank[0].read_q[Lanes*PointerBits+:Lanes*PointerBits],
                         i_dut.i_lists.i_fetch.g_block.i_ram.g_bank[0].read_q[0+:Lanes*PointerBits], link_now, link_next));
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
