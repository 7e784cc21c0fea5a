// SPDX-License-Identifier: Apache-2.0 OR MIT
/// A sorted list of a few entries in which one may be taken out and one put in, at once. No
/// registers.
///
/// Entries 0 to `count_i` - 1 are there, those behind them mean anything. First the one at
/// `out_at_i` leaves, and those behind it move down; then the new one is put at `in_at_i`, counted
/// after that, and those from there on move up. What moves up beyond the last place is lost.
module tp_pieo_list #(
  /// Places: at least 2.
  parameter int unsigned Places   = 8,
  /// Bits of an entry: at least 1.
  parameter int unsigned Bits     = 8,
  /// Bits of a place's number; not to be set.
  localparam int unsigned AtBits  = unsigned'($clog2(Places))
) (
  /// The list.
  input  logic [Places-1:0][Bits-1:0] list_i,
  /// Take one out.
  input  logic                        out_i,
  /// Which.
  input  logic [  AtBits-1:0]         out_at_i,
  /// Put one in.
  input  logic                        in_i,
  /// Where: it is there afterwards.
  input  logic [  AtBits-1:0]         in_at_i,
  /// It.
  input  logic [    Bits-1:0]         entry_i,
  /// The list afterwards.
  output logic [Places-1:0][Bits-1:0] list_o
);
  // Refused when it is elaborated.
  if (Places < 2 || 32'd1 << $clog2(Places) != Places) begin : g_refuse_places
    $error("tp_pieo_list: Places is a power of two, at least 2");
  end
  if (Bits < 1) begin : g_refuse_bits
    $error("tp_pieo_list: Bits is at least 1");
  end

  logic [Places-1:0][Bits-1:0] left;

  always_comb begin
    for (int unsigned i = 0; i < Places; i++) begin
      left[i] = list_i[i];
      if (i + 1 < Places && out_i && AtBits'(i) >= out_at_i) left[i] = list_i[(i+1<Places)?i+1 : i];
    end
    for (int unsigned i = 0; i < Places; i++) begin
      list_o[i] = left[i];
      if (in_i && AtBits'(i) == in_at_i) list_o[i] = entry_i;
      else if (in_i && i > 0 && AtBits'(i) > in_at_i) list_o[i] = left[(i>0)?i-1 : 0];
    end
  end
endmodule
