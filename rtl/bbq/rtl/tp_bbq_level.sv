// SPDX-License-Identifier: Apache-2.0 OR MIT
/// A level of the tree: goes from a node to a child, and counts the operation there.
///
/// A node has for each child the number of elements below it, and bits: whether that is above 0
/// (the bitmap), above 1 (the waterlevel), and above 2. An operation changes the bitmap in stage E,
/// and the waterlevel in the next one, C; in both, the one behind it can start from what it leaves.
/// In E a dequeue looks for its child with find-first-set, and the waterlevel says whether the
/// child's last element leaves. If the operation ahead, in C, is on the same node, its waterlevel
/// comes straight from there while the child is looked for. It needs no count for that: after an
/// enqueue a child has several elements if it had one, after a dequeue if it had three.
///
/// Counts are kept in two ways:
/// - In registers and LUT RAM there is a word for each child. It is read in C, where the child is
///   known, and written in D, one cycle later, as is the bit for three: so there is one adder, and
///   a count is forwarded only from the operation right ahead. The word also says whether the count
///   is above 1 and above 3, from which the bit for three after an operation follows.
/// - A block RAM takes too long to read for that. There a word has all counts of a node, which are
///   read with the bits and changed in C. The waterlevel is made out of these, and there is no bit
///   for three.
///
/// Latency: 2 cycles for the root, 3 for a level in LUT RAM, 4 in block RAM, 5 with `MemoryStages`.
///
/// Memories: bits and counts of all nodes. Of a node that was empty before an operation, and of a
/// child that was, what they hold is ignored: nothing needs to be initialised.
///
/// Source: Atre 2025 §4.2.1, §4.2.2 (StOC), §4.3.3 (waterlevel), §4.4.2 (masks). Departures: the
/// bit for three; in block RAM all counts of a node are fetched; nothing is speculated; counts of
/// empty nodes mean nothing.
module tp_bbq_level
  import tp_bbq_pkg::*;
#(
  /// Children of a node: a power of two from 2 to 64.
  parameter int unsigned Width = 8,
  /// Bits of a count, at least 1.
  parameter int unsigned CountBits = 10,
  /// Bits of a bucket's number: the way from the root to it, one digit for each level.
  parameter int unsigned BucketBits = 9,
  /// The lowest bit of this level's digit in a bucket's number.
  parameter int unsigned DigitLow = 0,
  /// Bits of this level's digit, from its top, that the partition decides.
  parameter int unsigned KnownBits = 0,
  /// How the nodes are kept. `Registers` only for the root.
  parameter style_e Style = Block,
  /// 1: a register on the way to block RAM, which is written a cycle later. 0: not.
  parameter int unsigned MemoryStages = 0
) (
  input  logic                  clk_i,
  /// Synchronous, active low.
  input  logic                  rst_ni,
  /// Whether there is an operation that is to be done. A dequeue is only if there is something
  /// below its node.
  input  logic                  valid_i,
  /// Whether it is an enqueue.
  input  logic                  enqueue_i,
  /// Of a dequeue, whether it is one of the largest priority.
  input  logic                  max_i,
  /// Of an enqueue, whether the node was empty before.
  input  logic                  empty_i,
  /// The bucket as far as it is known: the digits above this one; this one and those below of an
  /// enqueue.
  input  logic [BucketBits-1:0] bucket_i,
  output logic                  valid_o,
  output logic                  enqueue_o,
  output logic                  max_o,
  /// Of an enqueue, whether the child was empty before.
  output logic                  empty_o,
  /// Of an enqueue, whether the child had one element before.
  output logic                  single_o,
  /// The bucket, now with this level's digit.
  output logic [BucketBits-1:0] bucket_o
);
  // Refused when it is elaborated.
  if (Width < 2 || Width > 64 || 32'd1 << $clog2(Width) != Width) begin : g_refuse_width
    $error("tp_bbq_level: Width is a power of two from 2 to 64");
  end
  if (CountBits < 1) begin : g_refuse_count
    $error("tp_bbq_level: CountBits is at least 1");
  end
  if (DigitLow + unsigned'($clog2(Width)) > BucketBits) begin : g_refuse_digit
    $error("tp_bbq_level: BucketBits has room for the digit at DigitLow");
  end
  if (KnownBits > unsigned'($clog2(Width))) begin : g_refuse_known
    $error("tp_bbq_level: KnownBits are at most those of a digit");
  end
  if (MemoryStages > 1) begin : g_refuse_stages
    $error("tp_bbq_level: MemoryStages is 0 or 1");
  end

  localparam int unsigned DigitBits = unsigned'($clog2(Width));
  localparam int unsigned NodeLow   = DigitLow + DigitBits;

  typedef logic [Width-1:0] bitmap_t;

  typedef struct packed {
    logic                  valid;
    logic                  enqueue;
    logic                  max;
    logic                  empty;
    logic [BucketBits-1:0] bucket;
  } op_t;

  op_t     in, p, e_q, c_q;
  bitmap_t e_bitmap_q, e_bitmap_next;
  // Of the operations in E and in C, the child, as one of Width bits.
  bitmap_t e_child, c_child_q;
  // Of the operation in E, the child if it is a dequeue.
  bitmap_t found;
  // The waterlevel bits before the operations in E and C, and after the one in C.
  bitmap_t e_several, c_several_q, c_several_next;
  // The child of the operation in C.
  logic [DigitBits-1:0] digit, wide_digit;

  assign in = '{valid: valid_i, enqueue: enqueue_i, max: max_i, empty: empty_i, bucket: bucket_i};

  // To the bits and the counts.
  if (Style == Block) begin : g_tables
    localparam int unsigned Words         = 32'd1 << (BucketBits - NodeLow);
    localparam int unsigned BitsHistory   = history(Style, 1 + MemoryStages, 2);
    localparam int unsigned CountsHistory = history(Style, MemoryStages, 2);

    typedef logic [Width-1:0][CountBits-1:0] counts_t;

    // The bits, as they are kept together. In E the bitmap is changed; in C the waterlevel is
    // there, too.
    typedef struct packed {
      bitmap_t several;
      bitmap_t bitmap;
    } bits_t;

    op_t                       a, r_q, p_q;
    // Which of the operations ahead are on the same node as that in P, and as that in E; whether it
    // is the one right ahead.
    logic  [BitsHistory-1:0]   p_sames;
    logic  [CountsHistory-1:0] e_sames;
    logic                      e_same;
    bits_t                     p_bits;
    bits_t [BitsHistory-1:0]   bits;
    bits_t [BitsHistory-1:2]   bits_q;
    counts_t                       e_counts, c_counts_q, c_counts_next;
    counts_t [CountsHistory-1:0] counts;
    counts_t [CountsHistory-1:1] counts_q;
    // Of the operation in C, the child if it is a dequeue.
    bitmap_t                   c_bitmap_q, e_several_q, c_down_q;

    assign bits = {
      bits_q, bits_t'({c_several_next, c_bitmap_q}), bits_t'({bitmap_t'('0), e_bitmap_next})
    };
    assign counts = {counts_q, c_counts_next};

    if (MemoryStages == 0) begin : g_direct
      assign a = in;
    end else begin : g_entry
      op_t a_q;
      always_ff @(posedge clk_i) begin
        a_q <= in;
        if (!rst_ni) a_q.valid <= 1'b0;
      end
      assign a = a_q;
    end

    always_ff @(posedge clk_i) begin
      r_q <= a;
      p_q <= r_q;
      if (!rst_ni) {r_q.valid, p_q.valid} <= '0;
      bits_q <= bits[BitsHistory-2:1];
      counts_q <= counts[CountsHistory-2:0];
      c_bitmap_q <= e_bitmap_next;
    end

    tp_bbq_fetch #(
      .Words(Words), .Bits(2 * Width), .Style(Style), .WriteDelay(1 + MemoryStages),
      .Early(MemoryStages == 1), .LateBits((MemoryStages == 1) ? 0 : Width)
    ) i_bits (
      .clk_i, .rst_ni,
      .valid_i(a.valid), .address_i(a.bucket[BucketBits-1:NodeLow]),
      .same_i('0), .history_i(bits), .same_o(p_sames), .word_o(p_bits)
    );

    // The same operations a cycle later, when they are in the stages behind.
    tp_bbq_fetch #(
      .Words(Words), .Bits(Width * CountBits), .Style(Style), .WriteDelay(MemoryStages),
      .SameGiven(1'b1)
    ) i_counts (
      .clk_i, .rst_ni,
      .valid_i(r_q.valid), .address_i(r_q.bucket[BucketBits-1:NodeLow]),
      .same_i(p_sames[CountsHistory-1:0]), .history_i(counts), .same_o(e_sames), .word_o(e_counts)
    );

    logic unused_sames;
    assign unused_sames = &{1'b0, p_sames, e_sames, digit};

    assign p = p_q;
    assign e_same = e_sames[0];
    assign e_several = e_same ? c_several_next : e_several_q;

    always_ff @(posedge clk_i) begin
      e_bitmap_q <= p_bits.bitmap;
      e_several_q <= p_bits.several;
      c_several_q <= e_several;
      c_child_q <= e_child;
      c_down_q <= e_q.enqueue ? '0 : found;
      c_counts_q <= e_counts;
      if (p.enqueue && p.empty) e_bitmap_q <= '0;
      if (e_q.enqueue && e_q.empty) c_counts_q <= '0;
    end

    // Stage C: the counts after the operation; and whether they are above 1, without waiting for
    // them.
    for (genvar i = 0; i < int'(Width); i++) begin : g_count
      logic [CountBits+1:0] count;
      // Plus 1, or minus 1, which is all ones.
      logic [CountBits-1:0] change;
      logic                 up;
      assign count = {2'b00, c_counts_q[i]};
      assign up = c_child_q[i] & ~c_down_q[i];
      assign c_several_next[i] =
        |(count >> 2) | (count[1] & (count[0] | ~c_down_q[i])) | (count[0] & up);
      always_comb begin
        change = {CountBits{c_down_q[i]}};
        change[0] = c_child_q[i];
      end
      assign c_counts_next[i] = c_counts_q[i] + change;
    end
  end else begin : g_counts
    // A word for each child, in columns of so many words that a LUT RAM is not deeper than its LUTs
    // if that can be: a word's address has the node and the lower bits of the digit, the upper ones
    // are the column's.
    localparam int unsigned CountWords = 32'd1 << (BucketBits - DigitLow);
    localparam int unsigned Columns =
      (CountWords <= 16) ? 1 : (CountWords / 16 < Width) ? CountWords / 16 : Width;
    localparam int unsigned Own        = Width / Columns;
    localparam int unsigned WordBits   = bits_for(CountWords / Columns);

    // A count, and whether it is above 1 and above 3: so that nothing has to wait for the count.
    typedef struct packed {
      logic                 above_three;
      logic                 above_one;
      logic [CountBits-1:0] count;
    } word_t;

    // Of the operations in C and D: whether a child has three elements before it, and after it.
    // That and the waterlevel of an empty child mean nothing, and are not reset: an enqueue into it
    // says both anew.
    bitmap_t              c_three, d_three_q, d_three_next, d_child_q;
    logic                 d_valid_q, d_enqueue_q, d_is_three_q;
    logic  [WordBits-1:0] c_address, d_address_q;
    word_t                c_read, c_word, d_word_q, d_word_next;
    logic                 c_read_three;
    word_t [Columns-1:0]  read;
    // Whether the operation in D is on the same node as that in C, and on the same child; whether
    // the child in C is empty.
    logic                 c_same, c_forward, c_new;

    assign c_address = WordBits'((32'(c_q.bucket) >> NodeLow) * Own + 32'(digit) % Own);
    assign c_new = c_q.enqueue & c_q.empty;
    assign c_forward = c_same & |(c_child_q & d_child_q) & ~c_new;

    // Whether an operation leaves three elements, out of the word before it.
    function automatic logic three_after(logic above_three, logic above_one, logic joins);
      return joins ? above_one : above_three;
    endfunction

    // Behind the operation that is in D, its word comes from there. Whether that is so comes last;
    // the column's choice needs no number.
    always_comb begin
      c_read = '0;
      c_read_three = 1'b0;
      for (int unsigned i = 0; i < Columns; i++) begin
        if (|c_child_q[i*Own+:Own] && !c_new) begin
          c_read |= read[i];
          c_read_three |= three_after(read[i].above_three, read[i].above_one, c_q.enqueue);
        end
      end
    end
    assign c_word = c_forward ? d_word_next : c_read;

    // The word after the operation in D. Of a count of at most 3 its two lower bits are all.
    logic [CountBits+1:0] d_count;
    assign d_count = {2'b00, d_word_q.count};
    assign d_word_next.count = d_word_q.count + (d_enqueue_q ? CountBits'(1) : '1);
    assign d_word_next.above_one =
      d_enqueue_q ? d_word_q.above_one | d_count[0] : d_word_q.above_three | (&d_count[1:0]);
    assign d_word_next.above_three = d_enqueue_q ?
      d_word_q.above_three | (&d_count[1:0]) :
      d_word_q.above_three & (|d_count[1:0] | |(d_count >> 3));

    always_ff @(posedge clk_i) begin
      d_valid_q <= rst_ni & c_q.valid;
      d_enqueue_q <= c_q.enqueue;
      d_address_q <= c_address;
      d_word_q <= c_word;
      // As it is after the operation. Chosen apart from the word, in which the operation would come
      // last.
      d_is_three_q <= c_forward ?
        three_after(d_word_next.above_three, d_word_next.above_one, c_q.enqueue) : c_read_three;
    end

    for (genvar i = 0; i < int'(Columns); i++) begin : g_column
      tp_lut_ram #(.Words(CountWords / Columns), .Bits(CountBits + 2)) i_counts (
        .clk_i, .we_i(d_valid_q & |d_child_q[i*Own+:Own]), .waddr_i(d_address_q),
        .wdata_i(d_word_next),
        .raddr_i(c_address), .rdata_o(read[i])
      );
    end

    for (genvar i = 0; i < int'(Width); i++) begin : g_next
      assign c_several_next[i] = !c_child_q[i] ? c_several_q[i] :
                                 c_q.enqueue   ? ~c_q.empty : c_three[i];
      assign d_three_next[i] = d_child_q[i] ? d_is_three_q : d_three_q[i];
    end

    always_ff @(posedge clk_i) begin
      c_several_q <= e_several;
      d_three_q <= c_three;
      // Without an operation nothing must move in registers, whose words are those of any next one.
      c_child_q <= (Style == Registers && !e_q.valid) ? '0 : e_child;
      d_child_q <= c_child_q;
    end

    if (Style == Registers) begin : g_registers
      assign p = in;
      assign c_same = 1'b1;
      assign e_several = c_several_next;
      assign c_three = d_three_next;

      always_ff @(posedge clk_i) begin
        if (e_q.valid) e_bitmap_q <= e_bitmap_next;
        if (!rst_ni) e_bitmap_q <= '0;
      end
    end else begin : g_lut
      localparam int unsigned Words   = 32'd1 << (BucketBits - NodeLow);
      localparam int unsigned History = history(Style, 2, 2);

      // The bits, as they are kept together. In E the bitmap is changed, in C the waterlevel, in D
      // the bit for three. What comes too late for the fetch is filled in in the stage in which it
      // is used.
      typedef struct packed {
        bitmap_t three;
        bitmap_t several;
        bitmap_t bitmap;
      } bits_t;

      op_t                  p_q;
      // Which of the operations ahead are on the same node as that in P; whether those right ahead,
      // or before that, are as that in E; whether the one right ahead is as that in C.
      logic  [History-1:0]  p_sames;
      logic  [1:0]          e_sames_q;
      logic                 c_same_q;
      bits_t                p_bits;
      bits_t [History-1:0]  bits;
      bitmap_t              e_several_q, e_three_q, e_three, c_three_q, c_bitmap_q;
      bitmap_t              d_bitmap_q, d_several_q;

      assign bits[0] = '{three: '0, several: '0, bitmap: e_bitmap_next};
      assign bits[1] = '{three: '0, several: '0, bitmap: c_bitmap_q};
      assign bits[2] = '{three: d_three_next, several: d_several_q, bitmap: d_bitmap_q};

      tp_bbq_fetch #(
        .Words(Words), .Bits(3 * Width), .Style(Style), .WriteDelay(2),
        .LateBits(2 * Width), .LateWords(2)
      ) i_bits (
        .clk_i, .rst_ni,
        .valid_i(valid_i), .address_i(bucket_i[BucketBits-1:NodeLow]),
        .same_i('0), .history_i(bits), .same_o(p_sames), .word_o(p_bits)
      );

      logic unused_sames;
      assign unused_sames = &{1'b0, p_sames};

      assign p = p_q;
      assign c_same = c_same_q;
      // What was not known when the bits were fetched.
      assign e_several = e_sames_q[0] ? c_several_next : e_sames_q[1] ? d_several_q : e_several_q;
      // As it is before the operation right ahead, of which only its child is still to be filled
      // in.
      assign e_three = e_sames_q[0] ? c_three : e_sames_q[1] ? d_three_next : e_three_q;
      for (genvar i = 0; i < int'(Width); i++) begin : g_three
        assign c_three[i] = (c_same_q && d_child_q[i]) ? d_is_three_q : c_three_q[i];
      end

      always_ff @(posedge clk_i) begin
        p_q <= in;
        if (!rst_ni) p_q.valid <= 1'b0;
        e_sames_q <= p_sames[1:0];
        e_bitmap_q <= p_bits.bitmap;
        e_several_q <= p_bits.several;
        e_three_q <= p_bits.three;
        if (p.enqueue && p.empty) e_bitmap_q <= '0;
        c_same_q <= e_sames_q[0];
        c_three_q <= e_three;
        c_bitmap_q <= e_bitmap_next;
        d_bitmap_q <= c_bitmap_q;
        d_several_q <= c_several_next;
      end
    end
  end

  // Stage P: the digit is decoded.
  logic [DigitBits-1:0] p_digit;
  bitmap_t              e_digit_q, e_mask;
  assign p_digit = p.bucket[DigitLow+:DigitBits];

  always_ff @(posedge clk_i) begin
    e_q <= p;
    if (!rst_ni) e_q.valid <= 1'b0;
    e_digit_q <= Width'(1) << p_digit;
  end

  if (KnownBits > 0 && KnownBits < DigitBits) begin : g_mask
    // The children of the partition: those whose digits begin as its does.
    localparam int unsigned Own = Width >> KnownBits;
    bitmap_t e_mask_q;
    always_ff @(posedge clk_i) begin
      for (int unsigned i = 0; i < Width; i++) begin
        e_mask_q[i] <= p_digit[DigitBits-1-:KnownBits] == KnownBits'(i / Own);
      end
    end
    assign e_mask = e_mask_q;
  end else begin : g_all
    assign e_mask = '1;
  end

  // Stage E: the child, and the bitmap after the operation.
  if (KnownBits == DigitBits) begin : g_known
    logic unused_mask;
    assign unused_mask = &{1'b0, e_mask, e_q.max};
    assign found = e_digit_q;
  end else begin : g_find
    tp_find_first #(.Width(Width)) i_find (
      .word_i(e_bitmap_q & e_mask), .from_top_i(e_q.max), .first_o(found)
    );
  end
  assign e_child = e_q.enqueue ? e_digit_q : found;

  // What is found comes last.
  bitmap_t e_last;
  assign e_last = e_q.enqueue ? '0 : ~e_several;
  assign e_bitmap_next = (e_bitmap_q | (e_q.enqueue ? e_digit_q : '0)) & ~(found & e_last);

  always_ff @(posedge clk_i) begin
    c_q <= e_q;
    // Looked up with the enqueue's own digit: early.
    c_q.empty <= ~|(e_digit_q & e_bitmap_q);
    if (!rst_ni) c_q.valid <= 1'b0;
  end

  // The digit is encoded on its way out: here if there are up to 16 children, or else at the end.
  always_comb begin
    digit = wide_digit;
    if (Width <= 16) for (int i = 0; i < Width; i++) digit |= c_child_q[i] ? DigitBits'(i) : '0;
    bucket_o = c_q.bucket;
    bucket_o[DigitLow+:DigitBits] = digit;
  end

  assign valid_o = c_q.valid;
  assign enqueue_o = c_q.enqueue;
  assign max_o = c_q.max;
  assign empty_o = c_q.empty;
  assign single_o = ~c_q.empty & ~|(c_child_q & c_several_q);

  if (Width <= 16) begin : g_narrow
    assign wide_digit = '0;
  end else begin : g_wide
    // Each bit as one OR: a chain as above becomes LUTs one behind the other in synthesis.
    bitmap_t              child;
    logic [DigitBits-1:0] number;
    for (genvar low = 0; low < int'(DigitBits); low++) begin : g_bit
      bitmap_t with_bit;
      for (genvar i = 0; i < int'(Width); i++) begin : g_child
        assign with_bit[i] = ((i >> low) % 2 == 1) & child[i];
      end
      assign number[low] = |with_bit;
    end
    // In the root the digit addresses a count, which is read in C, so it is encoded in E.
    if (Style == Registers) begin : g_early
      logic [DigitBits-1:0] digit_q;
      assign child = found;
      always_ff @(posedge clk_i) begin
        digit_q <= e_q.enqueue ? e_q.bucket[DigitLow+:DigitBits] : number;
      end
      assign wide_digit = digit_q;
    end else begin : g_late
      assign child = c_child_q;
      assign wide_digit = number;
    end
  end
endmodule
