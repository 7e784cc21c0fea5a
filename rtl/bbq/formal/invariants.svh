// SPDX-License-Identifier: Apache-2.0 OR MIT
// What is true of the registers and memories of tp_bbq in every cycle: enough that each of these statements follows from all of them
// in the cycle before. Part of tp_bbq_formal, whose model and waiting answers they refer to.
//
// wait_q[s] is the operation that came s + 1 cycles ago: s is its slot, and each stage of the circuit is a slot. The state of the
// queue before the oldest operation is kept in a register; that before any younger one is this one with the operations between
// them done. So there is one place from which all stages are told what they have to hold.
//
// They are those of a circuit with MemoryStages = 0.
//
// induct.py proves the statements in the order in which they are included here: later ones follow from earlier ones.

`include "invariants/states.svh"
`include "invariants/answers.svh"
`include "invariants/front.svh"
`include "invariants/levels.svh"
`include "invariants/counts.svh"
`include "invariants/nodes.svh"
`include "invariants/nodes_block.svh"
`include "invariants/records.svh"
`include "invariants/free.svh"
`include "invariants/responses.svh"
