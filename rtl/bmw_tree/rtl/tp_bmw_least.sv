// SPDX-License-Identifier: Apache-2.0 OR MIT
/// Where the smallest of several keys is; of equals the first. Every key is compared with every
/// other one at once, no registers.
module tp_bmw_least #(
  /// Keys: a power of two, at least 2.
  parameter int unsigned Ways     = 4,
  /// Bits of a key: at least 1.
  parameter int unsigned KeyBits  = 8,
  /// Bits of a number of a key; not to be set.
  localparam int unsigned WayBits = unsigned'($clog2(Ways))
) (
  /// The keys.
  input  logic [   Ways-1:0][KeyBits-1:0] key_i,
  /// The number of the smallest.
  output logic [WayBits-1:0]              way_o
);
  // Refused when it is elaborated.
  if (Ways < 2 || 32'd1 << $clog2(Ways) != Ways) begin : g_refuse_ways
    $error("tp_bmw_least: Ways is a power of two, at least 2");
  end
  if (KeyBits < 1) begin : g_refuse_bits
    $error("tp_bmw_least: KeyBits is at least 1");
  end

  logic [Ways-1:0] least;

  for (genvar i = 0; i < Ways; i++) begin : g_key
    logic [Ways-1:0] beats;
    for (genvar j = 0; j < Ways; j++) begin : g_other
      if (j < i) begin : g_before
        assign beats[j] = key_i[i] < key_i[j];
      end else if (j == i) begin : g_self
        assign beats[j] = 1'b1;
      end else begin : g_behind
        assign beats[j] = key_i[i] <= key_i[j];
      end
    end
    assign least[i] = &beats;
  end

  // One bit is set: an or of the numbers is as good as a priority encoder.
  always_comb begin
    way_o = '0;
    for (int unsigned i = 0; i < Ways; i++) begin
      if (least[i]) way_o |= WayBits'(i);
    end
  end
endmodule
