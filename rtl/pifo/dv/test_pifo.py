"""tp_pifo against a sorted list: a push and a pop in any cycle."""

import bisect
import random
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge

from bench import PARAMETERS, clock, phases, priorities, reset

CAPACITY = PARAMETERS["Elements"]
SEED = 1


async def cycle(dut: Any, model: list[tuple[int, int]], push: tuple[int, int] | None, pop: bool) -> None:
    """Checks the outputs against the model, puts a push and a pop on the inputs, and does them to the model, too."""
    dut.push_valid_i.value = push is not None
    if push is not None:
        dut.push_priority_i.value, dut.push_data_i.value = push
    dut.pop_ready_i.value = pop
    front = model[0] if model else (0, 0)
    seen = (dut.pop_valid_o.value, (int(dut.pop_priority_o.value), int(dut.pop_data_o.value)), int(dut.occupancy_o.value))
    assert seen == (bool(model), front, len(model))
    full = len(model) == CAPACITY
    assert dut.push_ready_o.value == (not full)
    if pop and model:
        model.pop(0)
    if push is not None and not full:
        model.insert(bisect.bisect_right(model, push[0], key=lambda element: element[0]), push)
    await FallingEdge(dut.clk_i)


@cocotb.test()
async def any_mix(dut: Any) -> None:
    """Pushes, pops, both and neither; resets in the middle."""
    source = random.Random(SEED)
    clock(dut)
    await reset(dut)
    model: list[tuple[int, int]] = []
    ranks = priorities(source, PARAMETERS["PriorityBits"])
    most = 0
    for enqueues, requests in phases(source, 8_000, CAPACITY):
        push = (next(ranks), source.getrandbits(PARAMETERS["DataBits"])) if source.random() < enqueues * requests else None
        await cycle(dut, model, push, source.random() < (1 - enqueues) * requests or source.random() < 0.3)
        most = max(most, len(model))
        if source.random() < 0.0005:
            dut.push_valid_i.value = source.randint(0, 1)
            await reset(dut, source.randint(1, 3))
            model.clear()
    assert most == CAPACITY


@cocotb.test()
async def push_and_pop_at_once(dut: Any) -> None:
    """In every cycle, with any number of elements: the order is that of the pop before the push."""
    source = random.Random(SEED + 1)
    clock(dut)
    for level in range(CAPACITY + 1):
        await reset(dut)
        model: list[tuple[int, int]] = []
        ranks = priorities(source, PARAMETERS["PriorityBits"])
        for step in range(level):
            await cycle(dut, model, (next(ranks), step % 256), False)
        for step in range(40):
            await cycle(dut, model, (next(ranks), step % 256), True)
        while model:
            await cycle(dut, model, None, True)
        await cycle(dut, model, None, True)
