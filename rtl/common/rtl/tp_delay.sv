// SPDX-License-Identifier: Apache-2.0 OR MIT
/// Delays a word by a fixed number of cycles. Nothing is reset: what comes out in the first
/// `Cycles` cycles is unknown.
///
/// Latency: `Cycles`. Up to three are registers; of more, all but the last are a ring in a LUT RAM,
/// which has a sixteenth of their flip-flops.
module tp_delay #(
  /// Bits of the word, at least 1.
  parameter int unsigned Bits = 8,
  /// Cycles from `data_i` to `data_o`, at least 0.
  parameter int unsigned Cycles = 4
) (
  input  logic            clk_i,
  /// Synchronous, active low; only the place in the ring is reset.
  input  logic            rst_ni,
  input  logic [Bits-1:0] data_i,
  output logic [Bits-1:0] data_o
);
  // Refused when it is elaborated.
  if (Bits < 1) begin : g_refuse_bits
    $error("tp_delay: Bits is at least 1");
  end

  if (Cycles == 0) begin : g_wire
    logic unused_clock;
    assign unused_clock = &{1'b0, clk_i, rst_ni};
    assign data_o = data_i;
  end else if (Cycles <= 3) begin : g_registers
    logic [Cycles-1:0][Bits-1:0] data_q;
    logic unused_reset;
    assign unused_reset = rst_ni;
    always_ff @(posedge clk_i) begin
      data_q[0] <= data_i;
      for (int unsigned i = 1; i < Cycles; i++) data_q[i] <= data_q[i-1];
    end
    assign data_o = data_q[Cycles-1];
  end else begin : g_ring
    localparam int unsigned Places    = Cycles - 1;
    localparam int unsigned PlaceBits = $clog2(Places);
    logic [PlaceBits-1:0] place_q;
    logic [Bits-1:0]      oldest, data_q;

    always_ff @(posedge clk_i) begin
      if (!rst_ni || place_q == PlaceBits'(Places - 1)) place_q <= '0;
      else place_q <= place_q + 1'b1;
    end

    // Read before it is overwritten: `Places` cycles old.
    tp_lut_ram #(.Words(Places), .Bits(Bits)) i_ring (
      .clk_i, .we_i(1'b1), .waddr_i(place_q), .wdata_i(data_i), .raddr_i(place_q), .rdata_o(oldest)
    );

    always_ff @(posedge clk_i) data_q <= oldest;
    assign data_o = data_q;
  end
endmodule
