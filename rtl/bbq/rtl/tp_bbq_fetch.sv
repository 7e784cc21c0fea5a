// SPDX-License-Identifier: Apache-2.0 OR MIT
/// A table whose words are read, changed and written back by a pipeline that starts an operation in
/// every cycle: its memory, and the forwarding that makes every operation see the effect of those
/// before it.
///
/// Stages: A (the address comes in), R (only of a block RAM), S (only of one that is read in three
/// cycles), P (the word goes out, to be registered), E (the word is changed). The user hands back
/// the words of the last operations as they are after them: `history_i[0]` of the operation in E,
/// `[1]` of the one a cycle before it, and so on. That with the number `WriteDelay` is written to
/// the memory in this cycle. Who is the same as whom is found out a stage before P, or two stages
/// before it if that is asked for; and a stage before P whose word is taken.
module tp_bbq_fetch
  import tp_bbq_pkg::*;
#(
  /// Words of the table, at least 2.
  parameter int unsigned Words = 64,
  /// Bits of a word.
  parameter int unsigned Bits = 16,
  /// Lower bits of a word that are kept in the memory; those above are 0 when they are read.
  parameter int unsigned MemoryBits = Bits,
  /// `Lut` or `Block`.
  parameter style_e Style = Block,
  /// Cycles from E to the write.
  parameter int unsigned WriteDelay = 0,
  /// Of block RAM, cycles from A to P: 2, or 3 with a register behind the memory's own.
  parameter int unsigned ReadCycles = 2,
  /// Of block RAM, whether addresses are compared two stages before P, and whether write enables of
  /// several banks come a cycle before the word.
  parameter bit Early = 1'b0,
  /// Whether `same_i` says who is the same as whom. If not, it is found out here.
  parameter bit SameGiven = 1'b0,
  /// Upper bits of a word that the last `LateWords` operations do not have in time. Behind one of
  /// these on the same word they mean nothing here, and the user fills them in.
  parameter int unsigned LateBits = 0,
  /// From 1 to `History`.
  parameter int unsigned LateWords = 1,
  localparam int unsigned AddressBits = bits_for(Words),
  /// Operations ahead whose words may not be in the memory yet when it is read.
  localparam int unsigned History = history(Style, WriteDelay, ReadCycles)
) (
  input  logic                         clk_i,
  /// Synchronous, active low: forgets the operations under way.
  input  logic                         rst_ni,
  /// Stage A: whether there is an operation that uses a word, and which.
  input  logic                         valid_i,
  input  logic [AddressBits-1:0]       address_i,
  /// If `SameGiven`, a stage before P: which of the operations ahead have the same word, as
  /// `same_o` a cycle later.
  input  logic [History-1:0]           same_i,
  /// Stages E and later, newest first.
  input  logic [History-1:0][Bits-1:0] history_i,
  /// Stage P: which of the operations in E and after it have the same word.
  output logic [History-1:0]           same_o,
  /// Stage P: the word as the operations ahead leave it. That of the one in E, and what is read,
  /// may come late.
  output logic [Bits-1:0]              word_o
);
  // Refused when it is elaborated.
  if (Words < 2) begin : g_refuse_words
    $error("tp_bbq_fetch: Words is at least 2");
  end
  if (MemoryBits < 1 || MemoryBits > Bits) begin : g_refuse_bits
    $error("tp_bbq_fetch: MemoryBits is from 1 to Bits");
  end
  if (Style == Registers) begin : g_refuse_style
    $error("tp_bbq_fetch: Style is Lut or Block");
  end
  if (ReadCycles < 2 || ReadCycles > 3) begin : g_refuse_read
    $error("tp_bbq_fetch: ReadCycles is 2 or 3");
  end
  if (LateBits >= Bits || LateWords < 1 || LateWords > History) begin : g_refuse_late
    $error("tp_bbq_fetch: LateBits is less than Bits, and LateWords from 1 to History");
  end

  // Operations of the stages P, E, and those after it, as far as they are compared with or written.
  localparam int unsigned Chain = WriteDelay + ((Style == Block) ? ReadCycles + 1 : 2);

  logic [Chain-1:0]                  valid_q;
  logic [Chain-1:0][AddressBits-1:0] address_q;
  // Of the stage before P, and of the one before that.
  logic                              valid;
  logic [AddressBits-1:0]            address, early;
  logic [History-1:0]                same_d, same_q;
  logic [MemoryBits-1:0]             read;

  always_ff @(posedge clk_i) begin
    valid_q <= rst_ni ? {valid_q[Chain-2:0], valid} : '0;
    address_q <= {address_q[Chain-2:0], address};
    same_q <= same_d;
  end
  assign same_o = same_q;

  if (SameGiven) begin : g_given
    logic unused_early;
    assign unused_early = &{1'b0, early};
    assign same_d = same_i;
  end else if (Style == Block && Early) begin : g_early
    // All are a stage further on when this is used.
    logic [History-1:0] before_q;
    logic               unused_same;
    assign unused_same = &{1'b0, same_i};
    always_ff @(posedge clk_i) begin
      before_q[0] <= valid && address == early;
      for (int unsigned i = 1; i < History; i++) begin
        before_q[i] <= valid_q[i-1] && address_q[i-1] == early;
      end
    end
    assign same_d = before_q;
  end else begin : g_compare
    logic unused_given;
    assign unused_given = &{1'b0, same_i, early};
    for (genvar i = 0; i < int'(History); i++) begin : g_same
      assign same_d[i] = valid_q[i] && address_q[i] == address;
    end
  end

  if (Style == Block) begin : g_block
    logic                   r_valid_q;
    logic [AddressBits-1:0] r_address_q;
    always_ff @(posedge clk_i) begin
      r_valid_q <= rst_ni & valid_i;
      r_address_q <= address_i;
    end

    // What the memory gives, two cycles after A.
    logic [MemoryBits-1:0]  ram;
    if (ReadCycles == 3) begin : g_late
      logic                   s_valid_q;
      logic [AddressBits-1:0] s_address_q;
      logic [MemoryBits-1:0]  ram_q;
      always_ff @(posedge clk_i) begin
        s_valid_q <= rst_ni & r_valid_q;
        s_address_q <= r_address_q;
        ram_q <= ram;
      end
      assign valid = s_valid_q;
      assign address = s_address_q;
      assign early = r_address_q;
      assign read = ram_q;
    end else begin : g_soon
      assign valid = r_valid_q;
      assign address = r_address_q;
      assign early = address_i;
      assign read = ram;
    end

    // A write that is due behind a reset is not made: its enable is not let through.
    localparam int unsigned BankWords  = 16384;
    localparam bit          EarlyWrite = Early && Words > BankWords;
    localparam int unsigned Writes     = WriteDelay + (EarlyWrite ? 0 : 1);

    tp_sdp_ram #(
      .Words(Words), .Bits(MemoryBits), .OutputRegister(1'b1), .BankWords(BankWords),
      .EarlyWrite(EarlyWrite)
    ) i_ram (
      .clk_i,
      .we_i(valid_q[Writes] && (rst_ni || !EarlyWrite)),
      .waddr_i(address_q[Writes]),
      .wdata_i(history_i[WriteDelay][MemoryBits-1:0]),
      .raddr_i(address_i),
      .rdata_o(ram)
    );
  end else begin : g_lut
    assign valid = valid_i;
    assign address = address_i;
    assign early = address_i;

    tp_lut_ram #(.Words(Words), .Bits(MemoryBits)) i_ram (
      .clk_i,
      .we_i(valid_q[WriteDelay+1]),
      .waddr_i(address_q[WriteDelay+1]),
      .wdata_i(history_i[WriteDelay][MemoryBits-1:0]),
      .raddr_i(address_q[0]),
      .rdata_o(read)
    );
  end

  // Which word it is. They are in slots, two for each LUT of four inputs; the last ones have what
  // comes late. A LUT behind the first one lets through what comes from there, or, if its bit of
  // `by` is set, takes that for the choice between its own two. So the first one can also say 0 or
  // 1: if its bit is not set, it says `odd`. Half as many LUTs as for a chain of multiplexers.
  //
  // The late bits have a choice of their own, among fewer words.
  for (genvar part = 0; part < ((LateBits > 0) ? 2 : 1); part++) begin : g_part
    localparam int unsigned Skipped = (part == 0) ? 0 : LateWords;
    localparam int unsigned Low     = (part == 0) ? 0 : Bits - LateBits;
    // At least 1, also of what is refused.
    localparam int unsigned OwnBits =
        (part == 1) ? LateBits : (Bits > LateBits) ? Bits - LateBits : 1;
    localparam int unsigned Luts    = (History - Skipped + 2) / 2;
    localparam int unsigned Slots   = 2 * Luts;
    // The slot of what is read; before it that of the newest word but `history_i[0]`.
    localparam int unsigned ReadSlot = (part == 0) ? Slots - 2 : Slots - 1;
    localparam int unsigned Newest   = (part == 0) ? 1 : LateWords;

    typedef struct packed {
      logic [Luts-1:0] by;
      logic            odd;
    } choice_t;

    // Of the newest of the operations that have the same word; otherwise what is read.
    function automatic choice_t chosen(logic [History-1:0] same);
      int unsigned slot;
      slot = ReadSlot;
      for (int i = int'(History) - 1; i > 0; i--) begin
        if (same[i] && i >= int'(Newest)) slot = ReadSlot - 1 - (unsigned'(i) - Newest);
      end
      if (same[0] && part == 0) slot = Slots - 1;
      chosen.odd = slot[0];
      for (int unsigned i = 0; i < Luts; i++) chosen.by[i] = slot / 2 == i;
    endfunction

    choice_t                       choice_q;
    logic [Slots-1:0][OwnBits-1:0] slots;
    logic [OwnBits-1:0]            word;

    always_ff @(posedge clk_i) choice_q <= chosen(same_d);

    always_comb begin
      slots = '0;
      slots[ReadSlot] = OwnBits'(Bits'(read) >> Low);
      if (part == 0) slots[Slots-1] = history_i[0][Low+:OwnBits];
      for (int unsigned i = Newest; i < History; i++) begin
        slots[ReadSlot-1-(i-Newest)] = history_i[i][Low+:OwnBits];
      end
    end

    always_comb begin
      word = !choice_q.by[0] ? {OwnBits{choice_q.odd}} : choice_q.odd ? slots[1] : slots[0];
      for (int unsigned i = 1; i < Luts; i++) begin
        if (choice_q.by[i]) word = (word & slots[2*i+1]) | (~word & slots[2*i]);
      end
    end
    assign word_o[Low+:OwnBits] = word;

`ifdef FORMAL
    // Two registers that say the same; for proofs, which know of one.
    logic started_q = 1'b0;
    always_ff @(posedge clk_i) started_q <= 1'b1;
    always_comb begin
      if (started_q) assert (choice_q == chosen(same_q));
    end
`endif
  end
endmodule
