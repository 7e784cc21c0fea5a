// SPDX-License-Identifier: Apache-2.0 OR MIT
/// What a block RAM of an ECP5 (DP16KD) does, as far as netlists of rtl/ use it. For simulation of netlists; see netlist.py, which refuses
/// other parameters. Words, addresses and byte enables are those to which Yosys maps memories (its lattice/brams_map_16kd.v). An output
/// register takes one more rising edge with OCE, as outreg.py has it.
///
/// Either port reads and writes words of 1 to 18 bits. With words of 36 bits one port writes (A, with the upper half at the data inputs
/// of B), or one reads (B, with the lower half at the outputs of A). Words of 9 bits and more have the bits of parity; the others
/// do not. Contents begin with anything. A word that is read while the other port writes any of it comes inverted: undefined.
/// Resets of the outputs are not modelled; netlist.py refuses netlists that use one.
module DP16KD #(
  parameter int DATA_WIDTH_A = 18,
  parameter int DATA_WIDTH_B = 18,
  parameter     REGMODE_A    = "NOREG",
  parameter     REGMODE_B    = "NOREG",
  parameter     WRITEMODE_A  = "NORMAL",
  parameter     WRITEMODE_B  = "NORMAL"
) (
  input  DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5, DIA4, DIA3, DIA2, DIA1, DIA0,
  input  DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6, DIB5, DIB4, DIB3, DIB2, DIB1, DIB0,
  input  ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0,
  input  ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0,
  input  CLKA, CEA, OCEA, WEA, RSTA, CSA2, CSA1, CSA0,
  input  CLKB, CEB, OCEB, WEB, RSTB, CSB2, CSB1, CSB0,
  output DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5, DOA4, DOA3, DOA2, DOA1, DOA0,
  output DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5, DOB4, DOB3, DOB2, DOB1, DOB0
);
  logic [17:0] dia, dib;
  logic [13:0] ada, adb;
  assign dia = {DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5, DIA4, DIA3, DIA2, DIA1, DIA0};
  assign dib = {DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6, DIB5, DIB4, DIB3, DIB2, DIB1, DIB0};
  assign ada = {ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0};
  assign adb = {ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0};

  // Bytes of nine bits, of which the highest is that of parity.
  logic [8:0] memory [2048];

  // The first byte of a word; and how many bytes it is in.
  function automatic int first(int width, logic [13:0] address);
    case (width)
      36: return int'(address[13:5]) * 4;
      18: return int'(address[13:4]) * 2;
      default: return int'(address[13:3]);
    endcase
  endfunction

  function automatic int bytes(int width);
    return width < 9 ? 1 : width / 9;
  endfunction

  // The lowest bit of a word in its byte, for words smaller than a byte.
  function automatic int low(int width, logic [13:0] address);
    return width < 9 ? int'(address[2:0]) / width * width : 0;
  endfunction

  // The bits of a byte that a write changes: words of 18 and 36 bits have enables for bytes in the lowest bits of the address.
  function automatic logic [8:0] written(int width, logic [13:0] address, int number);
    case (width)
      36, 18: return {9{address[number]}};
      9: return '1;
      default: return 9'((1 << width) - 1) << low(width, address);
    endcase
  endfunction

  // Whether a write changes any byte of a word of 18 or 36 bits; smaller ones have no enables.
  function automatic logic any(int width, logic [13:0] address);
    return width == 36 ? |address[3:0] : width == 18 ? |address[1:0] : 1'b1;
  endfunction

  logic write_a, write_b;
  assign write_a = CEA && WEA && any(DATA_WIDTH_A, ada);
  assign write_b = CEB && WEB && any(DATA_WIDTH_B, adb);

  logic [35:0] word_a, word_b, next_a, next_b;
  assign word_a = DATA_WIDTH_A < 9 ? 36'(dia) << low(DATA_WIDTH_A, ada) : {dib, dia};
  assign word_b = DATA_WIDTH_B < 9 ? 36'(dib) << low(DATA_WIDTH_B, adb) : 36'(dib);

  // A word as a port reads it.
  function automatic logic [35:0] stored(int width, logic [13:0] address);
    logic [35:0] word;
    word = '0;
    for (int i = 0; i < bytes(width); i++) word[9*i+:9] = memory[11'(first(width, address) + i)];
    return width < 9 ? (word >> low(width, address)) & 36'((1 << width) - 1) : word;
  endfunction

  // Whether a write of one port touches a word of the other.
  function automatic logic collides(int width, logic [13:0] address, int other_width, logic [13:0] other);
    int from, to;
    from = first(width, address);
    to = first(other_width, other);
    if (from >= to + bytes(other_width) || to >= from + bytes(width)) return 1'b0;
    return width >= 9 || other_width >= 9 || (low(width, address) < low(other_width, other) + other_width &&
                                              low(other_width, other) < low(width, address) + width);
  endfunction

  // What an access brings to the outputs, before their registers.
  logic [35:0] read_a_q, read_b_q;

  always_comb begin
    next_a = stored(DATA_WIDTH_A, ada);
    next_b = stored(DATA_WIDTH_B, adb);
    if (write_b && collides(DATA_WIDTH_A, ada, DATA_WIDTH_B, adb)) next_a = ~next_a;
    if (write_a && collides(DATA_WIDTH_B, adb, DATA_WIDTH_A, ada)) next_b = ~next_b;
    // The port's own write: its old outputs, what it writes, or what was there.
    if (write_a && WRITEMODE_A == "NORMAL") next_a = read_a_q;
    if (write_b && WRITEMODE_B == "NORMAL") next_b = read_b_q;
    if (write_a && WRITEMODE_A == "WRITETHROUGH") next_a = {dib, dia};
    if (write_b && WRITEMODE_B == "WRITETHROUGH") next_b = 36'(dib);
  end

  // The output registers. A read of 36 bits has the lower half of port B's word in the register of port A.
  logic [35:0] out_a_q, out_b_q, out_a, out_b, before_a;

  assign before_a = DATA_WIDTH_B == 36 ? read_b_q : read_a_q;
  assign out_a = REGMODE_A == "OUTREG" ? out_a_q : before_a;
  assign out_b = REGMODE_B == "OUTREG" ? out_b_q : read_b_q;

  always @(posedge CLKA) begin
    if (CEA) read_a_q <= next_a;
    if (OCEA) out_a_q <= before_a;
  end

  always @(posedge CLKB) begin
    if (CEB) read_b_q <= next_b;
    if (OCEB) out_b_q <= read_b_q;
  end

  for (genvar i = 0; i < (DATA_WIDTH_A < 9 ? 1 : DATA_WIDTH_A / 9); i++) begin : g_write_a
    logic [10:0] place;
    logic [ 8:0] bits;
    assign place = 11'(first(DATA_WIDTH_A, ada) + i);
    assign bits = written(DATA_WIDTH_A, ada, i);
    always @(posedge CLKA) if (write_a) memory[place] <= (memory[place] & ~bits) | (word_a[9*i+:9] & bits);
  end

  for (genvar i = 0; i < (DATA_WIDTH_B < 9 ? 1 : DATA_WIDTH_B / 9); i++) begin : g_write_b
    logic [10:0] place;
    logic [ 8:0] bits;
    assign place = 11'(first(DATA_WIDTH_B, adb) + i);
    assign bits = written(DATA_WIDTH_B, adb, i);
    always @(posedge CLKB) if (write_b) memory[place] <= (memory[place] & ~bits) | (word_b[9*i+:9] & bits);
  end

  assign {DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5, DOA4, DOA3, DOA2, DOA1, DOA0} =
    out_a[17:0];
  assign {DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5, DOB4, DOB3, DOB2, DOB1, DOB0} =
    DATA_WIDTH_B == 36 ? out_b[35:18] : out_b[17:0];
endmodule
