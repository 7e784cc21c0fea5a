// SPDX-License-Identifier: Apache-2.0 OR MIT
/// Simple dual-port memory: one write port, one read port, one clock. The place where a vendor's
/// macro goes in.
///
/// Latency: 1 cycle from address to data, 2 with the output register. The contents after power-up
/// are unknown, and nothing resets them. A word that is read in the cycle in which it is written is
/// undefined, as in most memories with two ports; simulation and proof get it with all bits
/// inverted, so that whoever depends on it is found out.
module tp_sdp_ram #(
  /// Words, at least 1.
  parameter int unsigned Words = 512,
  /// Bits of a word, at least 1.
  parameter int unsigned Bits = 36,
  /// Whether a second register follows the read; most block RAMs have one inside, and are slow
  /// without it.
  parameter bit OutputRegister = 1'b1,
  /// Bits of an address.
  localparam int unsigned AddressBits = (Words > 1) ? $clog2(Words) : 1
) (
  input  logic                   clk_i,
  /// Write `wdata_i` to `waddr_i` at the end of this cycle.
  input  logic                   we_i,
  input  logic [AddressBits-1:0] waddr_i,
  input  logic [Bits-1:0]        wdata_i,
  /// The word that is read at the end of this cycle.
  input  logic [AddressBits-1:0] raddr_i,
  /// It, 1 or 2 cycles later.
  output logic [Bits-1:0]        rdata_o
);
  // Refused when it is elaborated.
  if (Words < 1) begin : g_refuse_words
    $error("tp_sdp_ram: Words is at least 1");
  end
  if (Bits < 1) begin : g_refuse_bits
    $error("tp_sdp_ram: Bits is at least 1");
  end

  (* ram_style = "block", no_rw_check *) logic [Bits-1:0] memory [Words];
  logic [Bits-1:0] read_q;

  always_ff @(posedge clk_i) begin
    if (we_i) memory[waddr_i] <= wdata_i;
  end

  always_ff @(posedge clk_i) begin
`ifdef SYNTHESIS
    read_q <= memory[raddr_i];
`else
    read_q <= (we_i && waddr_i == raddr_i) ? ~memory[raddr_i] : memory[raddr_i];
`endif
  end

  if (OutputRegister) begin : g_register
    logic [Bits-1:0] out_q;
    always_ff @(posedge clk_i) out_q <= read_q;
    assign rdata_o = out_q;
  end else begin : g_direct
    assign rdata_o = read_q;
  end

`ifdef FORMAL
  // For proofs, which have to say what is in the memory.
  logic [Words-1:0][Bits-1:0] contents;
  for (genvar i = 0; i < int'(Words); i++) begin : g_contents
    assign contents[i] = memory[i];
  end
`endif
endmodule
