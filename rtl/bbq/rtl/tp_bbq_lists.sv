// SPDX-License-Identifier: Apache-2.0 OR MIT
/// The elements: a list for each bucket, and one of those that are free, through one memory of
/// links; and their data.
///
/// A list is a FIFO. Every operation takes an element from the head of one and puts it at the tail
/// of another: an enqueue from the free list to a bucket's, a dequeue the other way. An element's
/// link is to the element `Lanes` behind it. Heads of consecutive dequeues are then known in time
/// although a link takes `Lanes` cycles to be read: the first `Lanes` elements are in the record,
/// and each that leaves asks for the one that will be `Lanes`-th. Such a head is "on its way", and
/// is filled in wherever the record has got to in the meantime. The last `Lanes` elements are in
/// the record, too, since the one that joins is written into the link of the `Lanes`-th last.
///
/// Elements that were never used come from a counter; so the free list needs no initialisation. Nor
/// do records: those of empty buckets mean nothing.
///
/// Stages: A, R, P (the record is read), X (all lists change), then the data come out of their
/// memory. Latency: 6 cycles to the response, 5 with the records in a LUT RAM. `data_i` is used in
/// X, 3 (2) cycles after stage A. With `MemoryStages` there is a register on the way to the data,
/// and with the records in block RAM one on the way to them and one behind them, and they are
/// written a cycle later: 9 (6) cycles, and X 5 (2) cycles after the operation comes in.
///
/// Memories: records, `Buckets` × 2 × `Lanes` pointers; links, `Elements` pointers; data.
///
/// Source: Atre 2025 §4.2.2. Departures: single links; FIFO always, where the source gives it up
/// for dequeues in a row (operation colouring, §4.3.2); elements are taken and given back in one
/// stage, so that the free list is never behind.
module tp_bbq_lists
  import tp_bbq_pkg::*;
#(
  /// Elements, N: at least 1.
  parameter int unsigned Elements = 1023,
  /// Bits of an element's data.
  parameter int unsigned DataBits = 16,
  /// Bits of a bucket's number.
  parameter int unsigned BucketBits = 9,
  /// 1 or 2: cycles in which a link is read. With 2 the memory's output register is used.
  parameter int unsigned Lanes = 2,
  /// How the records are kept: `Lut` or `Block`.
  parameter style_e Style = Block,
  /// 1: registers around block RAM. 0: not.
  parameter int unsigned MemoryStages = 0
) (
  input  logic                  clk_i,
  /// Synchronous, active low.
  input  logic                  rst_ni,
  /// Stage A: whether there is an operation that is to be done.
  input  logic                  valid_i,
  /// Whether it is an enqueue.
  input  logic                  enqueue_i,
  /// Of an enqueue, whether the bucket was empty, or had one element, before.
  input  logic                  empty_i,
  input  logic                  single_i,
  input  logic [BucketBits-1:0] bucket_i,
  /// Stage X: the data of an enqueue.
  input  logic [DataBits-1:0]   data_i,
  /// Of a dequeue that was done, where from and its data; 0 otherwise.
  output logic [BucketBits-1:0] bucket_o,
  output logic [DataBits-1:0]   data_o
);
  // Refused when it is elaborated.
  if (Elements < 1 || Elements > 32'd1 << 24) begin : g_refuse_elements
    $error("tp_bbq_lists: Elements is from 1 to 2^24");
  end
  if (DataBits < 1 || BucketBits < 1) begin : g_refuse_bits
    $error("tp_bbq_lists: DataBits and BucketBits are at least 1");
  end
  if (Lanes < 1 || Lanes > 2) begin : g_refuse_lanes
    $error("tp_bbq_lists: Lanes is 1 or 2");
  end
  if (MemoryStages > 1) begin : g_refuse_stages
    $error("tp_bbq_lists: MemoryStages is 0 or 1");
  end
  if (Style == Registers) begin : g_refuse_style
    $error("tp_bbq_lists: Style is Lut or Block");
  end

  localparam int unsigned PointerBits = bits_for(Elements);
  localparam int unsigned CountBits   = unsigned'($clog2(Elements + 1));
  // The lane behind the first one, if there is one.
  localparam int unsigned Second      = (Lanes == 2) ? 1 : 0;
  localparam int unsigned RecordBits  = 2 * Lanes * PointerBits;
  localparam int unsigned Bits        = Lanes * Lanes + RecordBits;
  localparam int unsigned WriteDelay  = Lanes + ((Style == Block) ? MemoryStages : 0);
  localparam int unsigned ReadCycles  = 2 + MemoryStages;
  localparam int unsigned History     = history(Style, WriteDelay, ReadCycles);

  typedef struct packed {
    // Whether a head is on its way: bit j, that it comes from the memory j cycles from now.
    logic [Lanes-1:0][Lanes-1:0]       coming;
    // The first elements.
    logic [Lanes-1:0][PointerBits-1:0] head;
    // The last elements, the very last in [0].
    logic [Lanes-1:0][PointerBits-1:0] tail;
  } record_t;

  typedef struct packed {
    logic                  valid;
    logic                  enqueue;
    logic                  empty;
    logic                  single;
    logic [BucketBits-1:0] bucket;
  } op_t;

  op_t in, a, p_q, x_q;
  assign in = '{
    valid: valid_i, enqueue: enqueue_i, empty: empty_i, single: single_i, bucket: bucket_i
  };

  if (Style == Block && MemoryStages == 1) begin : g_entry
    op_t a_q;
    always_ff @(posedge clk_i) begin
      a_q <= in;
      if (!rst_ni) a_q.valid <= 1'b0;
    end
    assign a = a_q;
  end else begin : g_no_entry
    assign a = in;
  end

  if (Style == Block) begin : g_block
    op_t r_q, s;
    if (MemoryStages == 1) begin : g_late
      op_t s_q;
      always_ff @(posedge clk_i) begin
        s_q <= r_q;
        if (!rst_ni) s_q.valid <= 1'b0;
      end
      assign s = s_q;
    end else begin : g_soon
      assign s = r_q;
    end
    always_ff @(posedge clk_i) begin
      r_q <= a;
      p_q <= s;
      if (!rst_ni) {r_q.valid, p_q.valid} <= '0;
    end
  end else begin : g_lut
    always_ff @(posedge clk_i) begin
      p_q <= a;
      if (!rst_ni) p_q.valid <= 1'b0;
    end
  end

  // The link that comes from the memory in this cycle.
  logic [PointerBits-1:0] link;

  // A record with what comes in this cycle filled in, as of the next cycle.
  function automatic record_t filled(record_t record, logic [PointerBits-1:0] value);
    filled = record;
    for (int unsigned i = 0; i < Lanes; i++) begin
      if (record.coming[i][0]) filled.head[i] = value;
      filled.coming[i] = record.coming[i] >> 1;
    end
  endfunction

  // A record, filled, after its first element has left.
  function automatic record_t left(record_t record);
    left = record;
    for (int unsigned i = 0; i + 1 < Lanes; i++) begin
      left.head[i] = record.head[i+1];
      left.coming[i] = record.coming[i+1];
    end
    left.coming[Lanes-1] = Lanes'(1) << (Lanes - 1);
  endfunction

  // A record, filled, after `pointer` has joined. `length` says whether it had 0 or 1 elements.
  function automatic record_t joined(record_t record, logic [1:0] length,
                                     logic [PointerBits-1:0] pointer);
    joined = record;
    for (int unsigned i = 0; i < Lanes; i++) begin
      if (length[i]) begin
        joined.head[i] = pointer;
        joined.coming[i] = '0;
      end
      joined.tail[i] = (i == 0) ? pointer : record.tail[(i == 0) ? 0 : i-1];
    end
  endfunction

  // The first head after an operation, out of those before it, which are not filled: `pointer` if
  // it joins an empty list; the second one if the first one leaves. In the two LUTs a bit that four
  // words take, as in `tp_bbq_fetch`, with what comes late in the second one. Around it ABC takes
  // fewer LUTs, but more of them in a row. Only without `MemoryStages`, with which the clock counts
  // for more.
  function automatic logic [PointerBits-1:0] first_head(
    logic [Lanes-1:0][PointerBits-1:0] heads, logic is_coming, logic joins, logic leaves,
    logic [PointerBits-1:0] pointer, logic [PointerBits-1:0] value
  );
    logic                   late;
    logic [PointerBits-1:0] choice;
    late = joins | is_coming;
    choice = late ? {PointerBits{joins}} : leaves ? heads[Second] : heads[0];
    first_head = late ? (choice & pointer) | (~choice & value) : choice;
  endfunction

  record_t               p_record, x_record_q, x_record, x_next;
  record_t [History-1:0] words;
  record_t [History-1:1] after_q;
  logic [History-1:0]    p_sames;
  logic                  unused_sames;
  assign unused_sames = &{1'b0, p_sames};

  tp_bbq_fetch #(
    .Words(32'd1 << BucketBits), .Bits(Bits), .MemoryBits(RecordBits), .Style(Style),
    .WriteDelay(WriteDelay),
    .ReadCycles(ReadCycles), .Early(MemoryStages == 1)
  ) i_fetch (
    .clk_i, .rst_ni,
    .valid_i(a.valid), .address_i(a.bucket), .same_i('0), .history_i(words), .same_o(p_sames),
    .word_o(p_record)
  );

  assign words[0] = x_next;
  for (genvar i = 1; i < int'(History); i++) begin : g_after
    assign words[i] = filled(after_q[i], link);
    always_ff @(posedge clk_i) after_q[i] <= words[i-1];
  end

  always_ff @(posedge clk_i) begin
    x_q <= p_q;
    if (!rst_ni) x_q.valid <= 1'b0;
    x_record_q <= p_record;
  end

  // Stage X.
  record_t                free_q, free, free_next;
  logic [CountBits-1:0]   free_count_q, never_used_q;
  logic [1:0]             free_length_q;
  logic                   all_used_q;
  logic                   enqueue, dequeue, from_list, on_its_way;
  logic [PointerBits-1:0] pointer, stored, picked;
  logic                   link_we;
  logic [PointerBits-1:0] link_waddr;

  assign x_record = filled(x_record_q, link);
  assign free = filled(free_q, link);
  assign enqueue = x_q.valid & x_q.enqueue;
  assign dequeue = x_q.valid & ~x_q.enqueue;
  assign from_list = enqueue & all_used_q;
  // What comes from the memory comes last.
  assign on_its_way = x_q.enqueue ? all_used_q & free_q.coming[0][0] : x_record_q.coming[0][0];
  assign stored = !x_q.enqueue ? x_record_q.head[0] :
                  all_used_q   ? free_q.head[0] : PointerBits'(never_used_q);
  // With `MemoryStages` the choice is made a stage earlier: block RAMs are far from each other.
  assign pointer = (MemoryStages == 1) ? picked : on_its_way ? link : stored;

  if (MemoryStages == 1) begin : g_pick
    // This tells a stage earlier, from what will be in the registers of X, what `on_its_way` says.
    // Two LUTs a bit then choose, as in `tp_bbq_fetch`. Behind a reset X has no operation.
    logic [3:0][PointerBits-1:0] sources;
    logic [PointerBits-1:0]      unlisted;
    logic [1:0]                  by_q;
    logic                        odd_q, unused_choice;
    logic                        x_all_used, x_coming;
    assign x_all_used = all_used_q |
                        (enqueue & never_used_q == CountBits'(Elements - 1));
    assign x_coming =
      p_q.enqueue ? x_all_used & free_next.coming[0][0] : p_record.coming[0][0];
    assign unused_choice = &{1'b0, on_its_way, stored};

    always_ff @(posedge clk_i) begin
      by_q[0] <= p_q.enqueue & ~x_coming;
      by_q[1] <= ~p_q.enqueue | x_coming;
      odd_q <= (p_q.enqueue & x_all_used) | x_coming;
    end
    assign sources = {link, x_record_q.head[0], free_q.head[0], PointerBits'(never_used_q)};
    assign unlisted = !by_q[0] ? {PointerBits{odd_q}} : odd_q ? sources[1] : sources[0];
    assign picked =
      !by_q[1] ? unlisted : (unlisted & sources[3]) | (~unlisted & sources[2]);
  end else begin : g_no_pick
    assign picked = '0;
  end

  // `first_head` takes fewer LUTs, but more of them in a row: it is left out where registers around
  // block RAM are wanted for the clock.
  always_comb begin
    x_next = x_q.enqueue ? joined(x_record, {x_q.single, x_q.empty}, pointer) : left(x_record);
    if (MemoryStages == 0) begin
      x_next.head[0] = first_head(
        x_record_q.head, x_record_q.coming[x_q.enqueue ? 0 : Second][0],
        x_q.enqueue & x_q.empty, ~x_q.enqueue, pointer, link
      );
    end
    free_next = dequeue   ? joined(free, free_length_q, pointer) :
                from_list ? left(free) : free;
    if (MemoryStages == 0) begin
      free_next.head[0] = first_head(
        free_q.head, free_q.coming[from_list ? Second : 0][0],
        dequeue & free_length_q[0], from_list, pointer, link
      );
    end
  end

  // The lists' lengths: of a bucket from the tree, of the free list here.
  assign link_we = enqueue ? ~x_q.empty & (Lanes == 1 | ~x_q.single)
                           : dequeue & ~free_length_q[0] & (Lanes == 1 | ~free_length_q[1]);
  assign link_waddr = x_q.enqueue ? x_record.tail[Lanes-1] : free.tail[Lanes-1];

  logic [CountBits-1:0] free_count;
  logic [1:0]           free_length;
  assign free_count = free_count_q + CountBits'({{CountBits{from_list}}, from_list | dequeue});

  // Of what is there before, not after: a comparison less behind the addition.
  always_comb begin
    free_length = free_length_q;
    if (dequeue) free_length = {free_length_q[0], 1'b0};
    if (from_list) begin
      free_length = {free_count_q[0] == 1'b0 &&
                     free_count_q >> 1 == CountBits'(1), free_length_q[1]};
    end
  end

  always_ff @(posedge clk_i) begin
    free_q <= free_next;
    free_count_q <= free_count;
    free_length_q <= free_length;
    if (enqueue && !all_used_q) begin
      never_used_q <= never_used_q + 1'b1;
      all_used_q <= never_used_q == CountBits'(Elements - 1);
    end
    if (!rst_ni) begin
      // No port shows it. With it the median clock of W = 8, D = 5 with `MemoryStages` was higher
      // when this was tried.
      if (MemoryStages == 1) free_q.coming <= '0;
      free_count_q <= '0;
      free_length_q <= 2'b01;
      never_used_q <= '0;
      all_used_q <= 1'b0;
    end
  end

  tp_sdp_ram #(.Words(Elements), .Bits(PointerBits), .OutputRegister(Lanes == 2)) i_links (
    .clk_i, .we_i(link_we), .waddr_i(link_waddr), .wdata_i(pointer), .raddr_i(pointer),
    .rdata_o(link)
  );

  // Data, and the response. What goes to the memory, in X or the stage behind it.
  logic                   data_we, data_read;
  logic [PointerBits-1:0] data_address;
  logic [DataBits-1:0]    data;
  logic [BucketBits-1:0]  data_bucket;

  if (MemoryStages == 0) begin : g_direct
    assign {data_we, data_read, data_address, data, data_bucket} =
      {enqueue, dequeue, pointer, data_i, x_q.bucket};
  end else begin : g_registered
    logic                   we_q, read_q;
    logic [PointerBits-1:0] address_q;
    logic [DataBits-1:0]    in_q;
    logic [BucketBits-1:0]  from_q;
    always_ff @(posedge clk_i) begin
      {we_q, read_q} <= rst_ni ? {enqueue, dequeue} : '0;
      address_q <= pointer;
      in_q <= data_i;
      from_q <= x_q.bucket;
    end
    assign {data_we, data_read, data_address, data, data_bucket} =
      {we_q, read_q, address_q, in_q, from_q};
  end

  logic [DataBits-1:0]   read, data_q;
  logic                  y_valid_q, z_valid_q;
  logic [BucketBits-1:0] y_bucket_q, z_bucket_q, bucket_q;

  tp_sdp_ram #(.Words(Elements), .Bits(DataBits), .OutputRegister(1'b1)) i_data (
    .clk_i, .we_i(data_we), .waddr_i(data_address), .wdata_i(data), .raddr_i(data_address),
    .rdata_o(read)
  );

  always_ff @(posedge clk_i) begin
    y_valid_q <= rst_ni & data_read;
    z_valid_q <= rst_ni & y_valid_q;
    y_bucket_q <= data_bucket;
    z_bucket_q <= y_bucket_q;
    bucket_q <= z_valid_q ? z_bucket_q : '0;
    data_q <= z_valid_q ? read : '0;
  end

  assign bucket_o = bucket_q;
  assign data_o = data_q;
endmodule
