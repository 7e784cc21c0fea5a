// SPDX-License-Identifier: Apache-2.0 OR MIT
/// Operations, statuses, and what follows from the parameters of `tp_bbq`.
package tp_bbq_pkg;
  /// What is asked of a partition. 3 does what DequeueMax does, and comes back as 3 with the
  /// response.
  typedef enum logic [1:0] {
    /// Adds an element behind those of its priority.
    Enqueue = 2'd0,
    /// Takes out the oldest element of the smallest priority.
    DequeueMin = 2'd1,
    /// Takes out the oldest element of the largest priority.
    DequeueMax = 2'd2
  } op_e;

  /// Whether an operation was done; if not, nothing has changed.
  typedef enum logic [1:0] {
    /// It was.
    Ok = 2'd0,
    /// An enqueue, and all elements are in use.
    Full = 2'd1,
    /// A dequeue, and there is nothing in the partition.
    Empty = 2'd2
  } status_e;

  /// How the words of a table are kept.
  typedef enum logic [1:0] {
    /// The only word, in registers.
    Registers = 2'd0,
    /// A LUT RAM with an asynchronous read.
    Lut = 2'd1,
    /// A block RAM with its output register.
    Block = 2'd2
  } style_e;

  /// Bits that number `values` values, but at least 1.
  function automatic int unsigned bits_for(int unsigned values);
    return (values > 1) ? unsigned'($clog2(values)) : 1;
  endfunction

  /// The first level of the tree that is built; 1 is the root, `levels` + 1 says that there is
  /// none.
  ///
  /// Levels that only the number of the partition steers through are left out, if the partitions
  /// divide the tree between two levels. If they do it within the nodes of a level, those are
  /// shared, and the levels above say whether a shared node is empty.
  function automatic int unsigned first_level(int unsigned width, int unsigned partitions);
    int unsigned digit_bits = unsigned'($clog2(width));
    int unsigned partition_bits = unsigned'($clog2(partitions));
    return (partition_bits % digit_bits == 0) ? partition_bits / digit_bits + 1 : 1;
  endfunction

  /// Where a table of `words` words is kept.
  function automatic style_e style(int unsigned words, int unsigned lut_words);
    return (words == 1) ? Registers : (words <= lut_words) ? Lut : Block;
  endfunction

  /// Operations ahead whose words may not be in a table's memory yet when it is read in
  /// `read_cycles`; see `tp_bbq_fetch`.
  function automatic int unsigned history(
    style_e kind, int unsigned write_delay, int unsigned read_cycles
  );
    return write_delay + ((kind == Block) ? read_cycles + 1 : 1);
  endfunction

  /// Cycles that a level takes.
  function automatic int unsigned cycles(style_e kind, int unsigned memory_stages);
    case (kind)
      Registers: return 2;
      Lut: return 3;
      default: return 4 + memory_stages;
    endcase
  endfunction

  /// Cycles that the table of buckets takes.
  function automatic int unsigned list_cycles(style_e kind, int unsigned memory_stages);
    return (kind == Lut) ? 3 : 4 + 2 * memory_stages;
  endfunction

  /// Cycles from a request to the last level's end.
  function automatic int unsigned tree_latency(
    int unsigned width, int unsigned levels, int unsigned partitions, int unsigned lut_words,
    int unsigned memory_stages
  );
    int unsigned sum = (partitions == 1) ? 1 : 2;
    for (int unsigned level = first_level(width, partitions); level <= levels; level++) begin
      sum += cycles(
        style(32'd1 << (unsigned'($clog2(width)) * (level - 1)), lut_words), memory_stages
      );
    end
    return sum;
  endfunction

  /// Cycles from a request to its response.
  function automatic int unsigned latency(
    int unsigned width, int unsigned levels, int unsigned partitions, int unsigned lut_words,
    int unsigned memory_stages
  );
    int unsigned buckets = 32'd1 << (unsigned'($clog2(width)) * levels);
    return tree_latency(width, levels, partitions, lut_words, memory_stages) +
           list_cycles(style(buckets, lut_words), memory_stages) + 2 +
           memory_stages;
  endfunction
endpackage
