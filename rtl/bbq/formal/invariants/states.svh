// SPDX-License-Identifier: Apache-2.0 OR MIT
  // What all statements refer to: the operation of each slot, and the state of the queue before it.

  localparam int unsigned BucketCount = 32'd1 << BucketBits;
  localparam int unsigned PointerBits = bits_for(Elements);
  localparam int unsigned DigitBits   = unsigned'($clog2(Width));
  localparam int unsigned First       = first_level(Width, Partitions);
  localparam int unsigned SlotD       = (Partitions == 1) ? 0 : 1;
  localparam style_e      ListStyle   = style(BucketCount, LutWords);
  localparam int unsigned SlotLists   = tree_latency(Width, Levels, Partitions, LutWords, MemoryStages) - 1;
  localparam int unsigned SlotX       = SlotLists + list_cycles(ListStyle, MemoryStages) - 1;
  localparam int unsigned Older       = Lanes + 4;

  // Numbers of elements, nodes and places; small, for the solver.
  typedef logic [7:0] number_t;
  typedef logic [BucketBits-1:0] bucket_t;
  typedef logic [PointerBits-1:0] pointer_t;

  typedef struct packed {
    logic                used;
    bucket_t             bucket;
    logic [DataBits-1:0] data;
    pointer_t            pointer;
  } entry_t;

  typedef entry_t [Elements-1:0] state_t;

  typedef struct packed {
    logic                done;
    logic                enqueue;
    bucket_t             bucket;
    logic [DataBits-1:0] data;
  } step_t;

  function automatic bucket_t bucket_of(logic [PartitionBits-1:0] partition, logic [PriorityBits-1:0] prio);
    return bucket_t'((number_t'(partition) * number_t'(BucketCount / Partitions)) + number_t'(prio));
  endfunction

  function automatic style_e kind_of(int unsigned level);
    return style(32'd1 << (DigitBits * (level - 1)), LutWords);
  endfunction

  // The slot of a level's stage E; that of C is the next one.
  function automatic int unsigned slot_e(int unsigned level);
    int unsigned slot = SlotD;
    for (int unsigned i = First; i <= level; i++) slot += cycles(kind_of(i), MemoryStages);
    return slot - 1;
  endfunction

  // The operation of a slot, if it is done; also of the first slots behind the last one of the circuit.
  localparam int unsigned Slots = SlotX + Older;

  step_t steps [Slots];
  for (genvar s = 0; s < int'(Slots); s++) begin : g_steps
    if (s < int'(Latency)) begin : g_waiting
      logic enqueue;
      assign enqueue = wait_q[s].op == Enqueue;
      assign steps[s].done = wait_q[s].valid && wait_q[s].status == Ok;
      assign steps[s].enqueue = enqueue;
      assign steps[s].bucket = bucket_of(wait_q[s].partition, enqueue ? wait_q[s].asked_prio : wait_q[s].prio);
      assign steps[s].data = enqueue ? wait_q[s].asked_data : wait_q[s].data;
    end else begin : g_gone
      step_t gone_q;
      always_ff @(posedge clk_i) begin
        gone_q <= steps[s-1];
        if (!rst_ni) gone_q.done <= 1'b0;
      end
      assign steps[s] = gone_q;
    end
  end

  // The state after an operation. A dequeue takes the oldest of its bucket.
  function automatic state_t after(state_t state, step_t one, pointer_t pointer);
    logic found;
    found = 1'b0;
    after = state;
    if (one.done && one.enqueue) begin
      for (int unsigned i = 0; i < Elements; i++) begin
        if (!found && !state[i].used) begin
          found = 1'b1;
          after[i] = '{used: 1'b1, bucket: one.bucket, data: one.data, pointer: pointer};
        end
      end
    end else if (one.done) begin
      for (int unsigned i = 0; i < Elements; i++) begin
        if (state[i].used && state[i].bucket == one.bucket) found = 1'b1;
        if (found) after[i] = (i + 1 < Elements) ? state[(i+1)%Elements] : '0;
      end
    end
  endfunction

  // How many elements have a bucket that begins with `head`, of all but the lowest `low` bits.
  function automatic number_t below(state_t state, int unsigned low, number_t head);
    below = 0;
    for (int unsigned i = 0; i < Elements; i++) begin
      if (state[i].used && number_t'(state[i].bucket >> low) == head) below = below + 1'b1;
    end
  endfunction

  // A number from 0 to 2 `modulus` − 1 without the modulus.
  function automatic number_t wrapped(number_t value, int unsigned modulus);
    return (value >= number_t'(modulus)) ? value - number_t'(modulus) : value;
  endfunction

  // The pointer to the n-th element of a bucket, and whether there is one.
  function automatic logic [PointerBits:0] nth(state_t state, bucket_t bucket, number_t n);
    number_t seen;
    seen = 0;
    nth = '0;
    for (int unsigned i = 0; i < Elements; i++) begin
      if (state[i].used && state[i].bucket == bucket) begin
        if (seen == n) nth = {1'b1, state[i].pointer};
        seen = seen + 1'b1;
      end
    end
  endfunction

  // The state before the operation in the last slot; the pointers that operations behind X took or gave back; and from these the state
  // before the operation in each slot. That of an enqueue ahead of X has no pointer yet.
  state_t   last_q;
  pointer_t pointers [Slots];
  state_t   state    [Slots];
  state_t   state_q;

  always_ff @(posedge clk_i) begin
    last_q <= state[Slots-2];
    if (!rst_ni) last_q <= '0;
  end

  for (genvar s = 0; s < int'(Slots); s++) begin : g_state
    if (s <= int'(SlotX)) begin : g_ahead
      assign pointers[s] = '0;
    end else begin : g_behind
      pointer_t pointer_q;
      always_ff @(posedge clk_i) pointer_q <= (s == SlotX + 1) ? i_dut.i_lists.pointer : pointers[s-1];
      assign pointers[s] = pointer_q;
    end

    if (s == Slots - 1) begin : g_last
      assign state[s] = last_q;
    end else begin : g_replayed
      assign state[s] = after(state[s+1], steps[s+1], pointers[s+1]);
    end
  end

  assign state_q = state[SlotX];

  // The states move along with the operations: what a slot's is, was that of the slot ahead of it. This follows from the above, but
  // in steps, from the last slot on, which is easier for the solver than to see it for all at once.
  for (genvar s = int'(Slots) - 1; s > 0; s--) begin : g_moves
    state_t was_q;
    always_ff @(posedge clk_i) begin
      was_q <= (s == int'(SlotX)) ? after(state[SlotX], steps[SlotX], i_dut.i_lists.pointer) : state[s-1];
      if (!rst_ni) was_q <= '0;
    end
    for (genvar i = 0; i < int'(Elements); i++) begin : g_element
      always_comb begin
        // In one statement: a slot needs all of the one behind it. By its name induct.py asks for that of the last slot first.
        if (started_q) moves: assert (
          {was_q[i].used, was_q[i].bucket, was_q[i].data} == {state[s][i].used, state[s][i].bucket, state[s][i].data} &&
          (s < int'(SlotX) || was_q[i].pointer == state[s][i].pointer));
      end
    end
  end
