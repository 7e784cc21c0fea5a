// SPDX-License-Identifier: Apache-2.0 OR MIT
/// The first set bit of a word from either end, as a word with only that bit set; 0 if none is set.
///
/// Combinational. In two steps, to keep it flat: within groups of about √Width bits, and between
/// the groups.
module tp_find_first #(
  /// Bits of the word: a power of two from 2 to 64.
  parameter int unsigned Width = 8
) (
  input  logic [Width-1:0] word_i,
  /// 0: from bit 0; 1: from the highest bit.
  input  logic             from_top_i,
  output logic [Width-1:0] first_o
);
  // Refused when it is elaborated.
  if (Width < 2 || Width > 64 || 32'd1 << $clog2(Width) != Width) begin : g_refuse_width
    $error("tp_find_first: Width is a power of two from 2 to 64");
  end

  localparam int unsigned Group  = (Width <= 4) ? 2 : (Width <= 32) ? 4 : 8;
  localparam int unsigned Groups = Width / Group;

  logic [Groups-1:0] any, group_first;

  for (genvar g = 0; g < int'(Groups); g++) begin : g_group
    logic [Group-1:0] bits, bits_first;
    assign bits = word_i[g*Group+:Group];
    assign any[g] = |bits;

    for (genvar i = 0; i < int'(Group); i++) begin : g_bit
      logic [Group-1:0] below, above;
      assign below = Group'((64'd1 << i) - 64'd1);
      assign above = ~below & ~(Group'(1) << i);
      assign bits_first[i] = bits[i] & ~|(bits & (from_top_i ? above : below));
    end

    logic [Groups-1:0] groups_below, groups_above;
    assign groups_below = Groups'((64'd1 << g) - 64'd1);
    assign groups_above = ~groups_below & ~(Groups'(1) << g);
    assign group_first[g] = ~|(any & (from_top_i ? groups_above : groups_below));

    assign first_o[g*Group+:Group] = group_first[g] ? bits_first : '0;
  end
endmodule
