// SPDX-License-Identifier: Apache-2.0 OR MIT
/// The times of a sublist, in order: one leaves that is equal to a given one, and one comes in its
/// place. No registers.
module tp_pieo_times #(
  /// Places: at least 2.
  parameter int unsigned Places   = 8,
  /// Bits of a time: at least 1.
  parameter int unsigned TimeBits = 16,
  /// Bits of a number of times; not to be set.
  localparam int unsigned NumBits = unsigned'($clog2(Places)) + 1
) (
  /// The times.
  input  logic [ Places-1:0][TimeBits-1:0] times_i,
  /// How many of them are there.
  input  logic [NumBits-1:0]               count_i,
  /// Take one out.
  input  logic                             out_i,
  /// A time that is there.
  input  logic [TimeBits-1:0]              out_time_i,
  /// Put one in. Not if all places are taken, unless one leaves.
  input  logic                             in_i,
  /// It.
  input  logic [TimeBits-1:0]              in_time_i,
  /// The times afterwards.
  output logic [ Places-1:0][TimeBits-1:0] times_o
);
  // Refused when it is elaborated.
  if (Places < 2 || 32'd1 << $clog2(Places) != Places) begin : g_refuse_places
    $error("tp_pieo_times: Places is a power of two, at least 2");
  end
  if (TimeBits < 1) begin : g_refuse_bits
    $error("tp_pieo_times: TimeBits is at least 1");
  end

  localparam int unsigned AtBits = NumBits - 1;

  logic [ AtBits-1:0] out_at;
  logic [NumBits-1:0] in_at;

  always_comb begin
    out_at = '0;
    in_at  = '0;
    // Behind those that are not later; one of these may be the one that leaves.
    for (int unsigned i = 0; i < Places; i++) begin
      if (NumBits'(i) < count_i && times_i[i] <= in_time_i) in_at = NumBits'(i + 1);
    end
    if (out_i && out_time_i <= in_time_i) in_at = in_at - 1'b1;
    for (int unsigned i = Places; i > 0; i--) begin
      if (times_i[i-1] == out_time_i) out_at = AtBits'(i - 1);
    end
  end

  logic unused_top;
  assign unused_top = in_at[AtBits];

  tp_pieo_list #(
    .Places(Places), .Bits(TimeBits)
  ) i_list (
    .list_i(times_i), .out_i, .out_at_i(out_at), .in_i, .in_at_i(in_at[AtBits-1:0]),
    .entry_i(in_time_i), .list_o(times_o)
  );
endmodule
