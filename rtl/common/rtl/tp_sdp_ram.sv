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
  /// Words of a bank: a power of two. With the output register a larger memory is made of several
  /// banks, each with a register of its own inside, and a multiplexer behind these; up to 512
  /// banks. 16384 are those of an ECP5's block RAM with one bit in a word.
  parameter int unsigned BankWords = 16384,
  /// Whether `we_i` and `waddr_i` come a cycle before their `wdata_i`, in whose cycle the word is
  /// written. Then each bank has a register that says whether it is; its wire goes to all block
  /// RAMs of the bank. No reset takes back a write that has been announced.
  parameter bit EarlyWrite = 1'b0,
  /// Bits of an address.
  localparam int unsigned AddressBits = (Words > 1) ? $clog2(Words) : 1
) (
  input  logic                   clk_i,
  /// Write `wdata_i` to `waddr_i` at the end of this cycle, or of the next one if `EarlyWrite`.
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
  if (BankWords < 2 || 32'd1 << $clog2(BankWords) != BankWords) begin : g_refuse_bank
    $error("tp_sdp_ram: BankWords is a power of two from 2");
  end

  // More banks than Verilator's loops have turns are left to the tool.
  localparam bit Divided = OutputRegister && Words > BankWords && Words / BankWords <= 512;
  localparam int unsigned Banks    = Divided ? (Words + BankWords - 1) / BankWords : 1;
  localparam int unsigned OwnWords = (Banks > 1) ? BankWords : Words;
  localparam int unsigned OwnBits  = (OwnWords > 1) ? unsigned'($clog2(OwnWords)) : 1;

  logic [Banks-1:0]           chosen, we;
  logic [OwnBits-1:0]         write_address;
  logic [Banks-1:0][Bits-1:0] read;

  if (EarlyWrite) begin : g_early
    logic [Banks-1:0]   we_q;
    logic [OwnBits-1:0] waddr_q;
    always_ff @(posedge clk_i) begin
      we_q <= chosen;
      waddr_q <= waddr_i[OwnBits-1:0];
    end
    assign we = we_q;
    assign write_address = waddr_q;
  end else begin : g_prompt
    assign we = chosen;
    assign write_address = waddr_i[OwnBits-1:0];
  end

  if (Banks == 1) begin : g_one
    assign chosen = we_i;
    assign rdata_o = read[0];
  end else begin : g_several
    localparam int unsigned HighBits = AddressBits - unsigned'($clog2(BankWords));
    // The bank of what is read, until it comes.
    logic [1:0][HighBits-1:0] bank_q;
    always_ff @(posedge clk_i) bank_q <= {bank_q[0], raddr_i[AddressBits-1-:HighBits]};
    assign chosen = Banks'(we_i) << waddr_i[AddressBits-1-:HighBits];
    assign rdata_o = read[bank_q[1]];
  end

  for (genvar bank = 0; bank < int'(Banks); bank++) begin : g_bank
    (* ram_style = "block", no_rw_check *) logic [Bits-1:0] memory [OwnWords];
    logic [OwnBits-1:0] waddr, raddr;
    logic [Bits-1:0]    read_q;
    assign waddr = write_address;
    assign raddr = raddr_i[OwnBits-1:0];

    always_ff @(posedge clk_i) begin
      if (we[bank]) memory[waddr] <= wdata_i;
    end

    always_ff @(posedge clk_i) begin
`ifdef SYNTHESIS
      read_q <= memory[raddr];
`else
      read_q <= (we[bank] && waddr == raddr) ? ~memory[raddr] : memory[raddr];
`endif
    end

    if (OutputRegister) begin : g_register
      logic [Bits-1:0] out_q;
      always_ff @(posedge clk_i) out_q <= read_q;
      assign read[bank] = out_q;
    end else begin : g_direct
      assign read[bank] = read_q;
    end

`ifdef FORMAL
    // For proofs, which have to say what is in the memory.
    logic [OwnWords-1:0][Bits-1:0] contents;
    for (genvar i = 0; i < int'(OwnWords); i++) begin : g_contents
      assign contents[i] = memory[i];
    end
`endif
  end
endmodule
