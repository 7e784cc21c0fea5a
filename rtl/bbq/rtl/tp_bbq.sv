// SPDX-License-Identifier: Apache-2.0 OR MIT
/// BBQ: integer priority queues in one tree and one memory, one operation in every cycle, in any
/// order.
///
/// Responses are those of a queue that does one operation after the other; elements of one priority
/// leave in the order in which they came; an operation that cannot be done says so and changes
/// nothing. A reset takes one cycle, whenever it comes: no memory is initialised.
///
/// How it works, stage by stage. Four parts are in a row, and each does an operation in one stage
/// and with all of its effect, before it does the next one. None has to guess what another one will
/// find out, nothing is ever taken back.
///
/// 1. `tp_bbq_front` decides. It has the number of elements of each partition and of all. Whatever
///    passes can be done.
///    Hazard: two operations on one partition in a row; the count after the first goes straight
///    into the second's register.
/// 2. `tp_bbq_level`, one for each level: from a node to a child. A node's word has the counts of
///    all its children, so that which child it is and whether its last element leaves are found at
///    the same time, from the same word.
///    Hazard: the node is read 3 cycles before it is used (1 if it is in LUT RAM), and written when
///    it is used. `tp_bbq_fetch` has the words of the 3 (1) operations ahead, and takes the newest
///    of the same node, instead of what the memory says. The root is in registers.
/// 3. `tp_bbq_lists`: from a bucket to an element. The record of a bucket's list comes out of
///    another `tp_bbq_fetch`.
///    Hazard: the element behind the head is needed in the next cycle, if another dequeue of the
///    bucket follows, and a link takes longer than that to read. Links go to the element two
///    behind, and the record has the first two and the last two.
///    Hazard: an enqueue right behind a dequeue from a full queue needs the element that it frees.
///    Both move an element from one list to another in the same stage; the free list is one of
///    them.
/// 4. The data memory, read in the same stage, and the response.
///
/// What a request brings travels alongside in `tp_delay`.
///
/// Partitions have the top bits of a bucket's number. Where the partition decides a level's digit,
/// a dequeue goes where it says; where it decides some bits of one, the others' children are
/// masked. See `tp_bbq_pkg::first_level` for the levels that are left out.
///
/// Latency: `Latency` cycles from a request to its response; 16 at the default parameters. 1 (2
/// with partitions) for the front, 2 for the root, 3 for a level in LUT RAM, 4 in block RAM, and 6
/// (5) for the lists. With `MemoryStages`: 5 in block RAM, 9 (6) for the lists.
///
/// Source: Atre 2025 §4.2 to §4.4. Departures: see the parts.
module tp_bbq
  import tp_bbq_pkg::*;
#(
  /// Children of a node, W: a power of two from 2 to 64.
  parameter int unsigned Width = 8,
  /// Levels of the tree, D: at least 1, with W^D at most 2^24.
  parameter int unsigned Levels = 3,
  /// Elements that all partitions hold together, N: from 1 to 2^24. With 2^k − 1 no count has a bit
  /// only for N.
  parameter int unsigned Elements = 1023,
  /// Bits of the data of an element: from 1 to 64.
  parameter int unsigned DataBits = 16,
  /// Logical queues: a power of two from 1 to W^D, and at most 4096, as each has a count in
  /// registers and on a port.
  parameter int unsigned Partitions = 1,
  /// 2: links are read through the memory's output register. 1: not; slower, and half the memory
  /// for buckets.
  parameter int unsigned Lanes = 2,
  /// Levels, and the table of buckets, of up to so many words are kept in LUT RAM.
  parameter int unsigned LutWords = 16,
  /// 1: registers on the way to and behind block RAMs, for tables of many of them; so many more
  /// cycles of latency: 3, and 1 for each level in block RAM. 0: not.
  parameter int unsigned MemoryStages = 0,
  localparam int unsigned BucketBits = Levels * unsigned'($clog2(Width)),
  localparam int unsigned PartitionBits = bits_for(Partitions),
  /// Bits of a priority, in a partition; W^D / q of them, its span, are all values.
  localparam int unsigned PriorityBits = bits_for((32'd1 << BucketBits) / Partitions),
  /// Bits of a number of elements.
  localparam int unsigned CountBits = unsigned'($clog2(Elements + 1)),
  /// Cycles from a request to its response.
  localparam int unsigned Latency = latency(Width, Levels, Partitions, LutWords, MemoryStages)
) (
  input  logic                                 clk_i,
  /// Synchronous, active low; one cycle is enough.
  input  logic                                 rst_ni,
  /// A request, if `ready_o`.
  input  logic                                 valid_i,
  /// Always, but in a reset.
  output logic                                 ready_o,
  /// See `tp_bbq_pkg::op_e`.
  input  logic [1:0]                           op_i,
  input  logic [PartitionBits-1:0]             partition_i,
  /// Of an enqueue.
  input  logic [PriorityBits-1:0]              priority_i,
  /// Of an enqueue.
  input  logic [DataBits-1:0]                  data_i,
  /// A response; they come in the order of the requests.
  output logic                                 valid_o,
  /// See `tp_bbq_pkg::status_e`.
  output logic [1:0]                           status_o,
  /// The operation and the partition of the request.
  output logic [1:0]                           op_o,
  output logic [PartitionBits-1:0]             partition_o,
  /// Of a dequeue that was done; 0 otherwise.
  output logic [PriorityBits-1:0]              priority_o,
  /// Of a dequeue that was done; 0 otherwise.
  output logic [DataBits-1:0]                  data_o,
  /// Elements of each partition. A request counts 2 cycles after it, 3 with several partitions:
  /// before its response.
  output logic [Partitions-1:0][CountBits-1:0] occupancy_o
);
  // Refused when it is elaborated.
  if (Width < 2 || Width > 64 || 32'd1 << $clog2(Width) != Width) begin : g_refuse_width
    $error("tp_bbq: Width is a power of two from 2 to 64");
  end
  if (Levels < 1 || Levels * unsigned'($clog2(Width)) > 24) begin : g_refuse_levels
    $error("tp_bbq: Levels is at least 1, and Width^Levels at most 2^24");
  end
  if (Elements < 1 || Elements > 32'd1 << 24) begin : g_refuse_elements
    $error("tp_bbq: Elements is from 1 to 2^24");
  end
  if (DataBits < 1 || DataBits > 64) begin : g_refuse_data
    $error("tp_bbq: DataBits is from 1 to 64");
  end
  if (Partitions < 1 || 32'd1 << $clog2(Partitions) != Partitions ||
      Partitions > 32'd1 << BucketBits ||
      Partitions > 4096) begin : g_refuse_partitions
    $error("tp_bbq: Partitions is a power of two from 1 to Width^Levels, and at most 4096");
  end
  if (Lanes < 1 || Lanes > 2) begin : g_refuse_lanes
    $error("tp_bbq: Lanes is 1 or 2");
  end
  if (MemoryStages > 1) begin : g_refuse_stages
    $error("tp_bbq: MemoryStages is 0 or 1");
  end

  localparam int unsigned DigitBits   = unsigned'($clog2(Width));
  localparam int unsigned KnownBits   = unsigned'($clog2(Partitions));
  localparam int unsigned First       = first_level(Width, Partitions);
  localparam style_e      BucketStyle = style(32'd1 << BucketBits, LutWords);
  // From the front to stage X of the lists, and from there to the response.
  localparam int unsigned FrontCycles = (Partitions == 1) ? 1 : 2;
  localparam int unsigned DataCycles  = Latency - FrontCycles - 3 - MemoryStages;

  typedef struct packed {
    logic                  valid;
    logic                  enqueue;
    logic                  max;
    logic                  empty;
    logic                  single;
    logic [BucketBits-1:0] bucket;
  } step_t;

  assign ready_o = rst_ni;

  // The front.
  logic                     d_valid;
  logic [1:0]               d_op, d_status;
  logic [PartitionBits-1:0] d_partition;
  logic [PriorityBits-1:0]  d_priority;
  logic [DataBits-1:0]      d_data;
  logic                     d_empty, d_single;

  tp_bbq_front #(
    .Elements(Elements), .Partitions(Partitions), .PayloadBits(PriorityBits + DataBits)
  ) i_front (
    .clk_i, .rst_ni,
    .valid_i, .op_i, .partition_i, .payload_i({priority_i, data_i}),
    .valid_o(d_valid), .op_o(d_op), .partition_o(d_partition), .payload_o({d_priority, d_data}),
    .status_o(d_status), .empty_o(d_empty), .single_o(d_single), .occupancy_o
  );

  // The tree. A step is what comes to a level; that behind the last level comes to the lists.
  step_t [Levels+1:First] step;

  assign step[First].valid = d_valid && d_status == Ok;
  assign step[First].enqueue = d_op == Enqueue;
  assign step[First].max = d_op[1];
  assign step[First].empty = d_empty;
  assign step[First].single = d_single;

  if (KnownBits == 0) begin : g_one
    logic unused_partition;
    assign unused_partition = d_partition[0];
    assign step[First].bucket = d_priority;
  end else if (KnownBits == BucketBits) begin : g_all
    logic unused_priority;
    assign unused_priority = d_priority[0];
    assign step[First].bucket = d_partition;
  end else begin : g_some
    assign step[First].bucket = {d_partition, d_priority};
  end

  for (genvar level = int'(First); level <= int'(Levels); level++) begin : g_level
    localparam int unsigned Above = (level - 1) * DigitBits;
    localparam int unsigned Known =
        (KnownBits <= Above) ? 0
        : (KnownBits >= Above + DigitBits) ? DigitBits : KnownBits - Above;
    logic unused_single;
    assign unused_single = step[level].single;

    tp_bbq_level #(
      .Width(Width), .CountBits(CountBits), .BucketBits(BucketBits),
      .DigitLow((Levels - level) * DigitBits),
      .KnownBits(Known), .Style(style(32'd1 << Above, LutWords)), .MemoryStages(MemoryStages)
    ) i_level (
      .clk_i, .rst_ni,
      .valid_i(step[level].valid), .enqueue_i(step[level].enqueue), .max_i(step[level].max),
      .empty_i(step[level].empty), .bucket_i(step[level].bucket),
      .valid_o(step[level+1].valid), .enqueue_o(step[level+1].enqueue), .max_o(step[level+1].max),
      .empty_o(step[level+1].empty), .single_o(step[level+1].single),
      .bucket_o(step[level+1].bucket)
    );
  end

  // The lists.
  logic                  unused_step;
  logic [DataBits-1:0]   x_data;
  logic [BucketBits-1:0] bucket;
  // The lists do not ask for the end, and the partition's digits are known.
  assign unused_step = &{1'b0, step[Levels+1].max, bucket};

  tp_bbq_lists #(
    .Elements(Elements), .DataBits(DataBits), .BucketBits(BucketBits), .Lanes(Lanes),
    .Style(BucketStyle),
    .MemoryStages(MemoryStages)
  ) i_lists (
    .clk_i, .rst_ni,
    .valid_i(step[Levels+1].valid), .enqueue_i(step[Levels+1].enqueue),
    .empty_i(step[Levels+1].empty),
    .single_i(step[Levels+1].single), .bucket_i(step[Levels+1].bucket),
    .data_i(x_data), .bucket_o(bucket), .data_o
  );

  if (KnownBits == BucketBits) begin : g_no_priority
    assign priority_o = 1'b0;
  end else begin : g_priority
    assign priority_o = bucket[PriorityBits-1:0];
  end

  // Alongside.
  logic [Latency-FrontCycles-1:0] valid_q;

  always_ff @(posedge clk_i) begin
    valid_q <= rst_ni ? {valid_q[Latency-FrontCycles-2:0], d_valid} : '0;
  end
  assign valid_o = valid_q[Latency-FrontCycles-1];

  // Data and requests share the places of one delay up to stage X, which takes fewer LUTs. With
  // `MemoryStages`, where the clock counts for more, they have their own: the median clocks with a
  // shared one were lower (README.md). A single partition has no number.
  localparam int unsigned RequestBits = 4 + KnownBits;
  logic [RequestBits-1:0] request;

  if (MemoryStages == 0) begin : g_shared
    logic [RequestBits-1:0] x_request;
    tp_delay #(.Bits(RequestBits + DataBits), .Cycles(DataCycles)) i_data (
      .clk_i, .rst_ni,
      .data_i({RequestBits'({d_partition, d_status, d_op}), d_data}), .data_o({x_request, x_data})
    );
    tp_delay #(.Bits(RequestBits), .Cycles(Latency - FrontCycles - DataCycles)) i_request (
      .clk_i, .rst_ni, .data_i(x_request), .data_o(request)
    );
  end else begin : g_own
    tp_delay #(.Bits(DataBits), .Cycles(DataCycles)) i_data (
      .clk_i, .rst_ni, .data_i(d_data), .data_o(x_data)
    );
    tp_delay #(.Bits(RequestBits), .Cycles(Latency - FrontCycles)) i_request (
      .clk_i, .rst_ni, .data_i(RequestBits'({d_partition, d_status, d_op})), .data_o(request)
    );
  end
  assign {status_o, op_o} = request[3:0];
  assign partition_o = PartitionBits'(request >> 4);
endmodule
