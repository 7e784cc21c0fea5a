// SPDX-License-Identifier: Apache-2.0 OR MIT
/// Small memory with an asynchronous read: for what would waste a block RAM. LUT RAM on an FPGA,
/// latches or flip-flops elsewhere.
///
/// Latency: none from address to data; a word can be read from the cycle after that in which it was
/// written. Contents after power-up are unknown, and nothing resets them.
module tp_lut_ram #(
  /// Words, at least 1; 16 or 32 are a good fit.
  parameter int unsigned Words = 16,
  /// Bits of a word, at least 1.
  parameter int unsigned Bits = 8,
  /// Bits of an address.
  localparam int unsigned AddressBits = (Words > 1) ? $clog2(Words) : 1
) (
  input  logic                   clk_i,
  /// Write `wdata_i` to `waddr_i` at the end of this cycle.
  input  logic                   we_i,
  input  logic [AddressBits-1:0] waddr_i,
  input  logic [Bits-1:0]        wdata_i,
  /// The word that is read.
  input  logic [AddressBits-1:0] raddr_i,
  /// It, in the same cycle.
  output logic [Bits-1:0]        rdata_o
);
  // Refused when it is elaborated.
  if (Words < 1) begin : g_refuse_words
    $error("tp_lut_ram: Words is at least 1");
  end
  if (Bits < 1) begin : g_refuse_bits
    $error("tp_lut_ram: Bits is at least 1");
  end

  (* ram_style = "distributed" *) logic [Bits-1:0] memory [Words];

  always_ff @(posedge clk_i) begin
    if (we_i) memory[waddr_i] <= wdata_i;
  end

  assign rdata_o = memory[raddr_i];

`ifdef FORMAL
  // For proofs, which have to say what is in the memory.
  logic [Words-1:0][Bits-1:0] contents;
  for (genvar i = 0; i < int'(Words); i++) begin : g_contents
    assign contents[i] = memory[i];
  end
`endif
endmodule
