"""tp_bbq_exact against a bag of all elements: whatever leaves is one of the smallest, and one is there whenever there is any.

The assertions in tp_bbq_exact say the same of the circuit's own state, and stop the simulation."""

import random
from collections import Counter
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge, Timer

from bench import PARAMETERS, clock, phases, priorities, reset

CAPACITY = PARAMETERS["Elements"]
BITS = PARAMETERS["Levels"] * (PARAMETERS["Width"].bit_length() - 1)
SEED = 1

Element = tuple[int, int]  # Priority, data.


class Bench:
    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.elements: Counter[Element] = Counter()
        self.first = True

    async def start(self) -> None:
        clock(self.dut)
        self.dut.push_valid_i.value = 0
        self.dut.pop_ready_i.value = 0
        await self.reset(1)

    async def reset(self, cycles: int) -> None:
        await reset(self.dut, cycles)
        self.elements.clear()

    async def step(self, push: Element | None, pop: bool) -> Element | None:
        """Two cycles: in the first what is asked, in the second nothing is taken. Returns what left."""
        dut = self.dut
        size = self.elements.total()
        assert dut.push_ready_o.value == (size < CAPACITY)
        assert dut.pop_valid_o.value == (size > 0), f"{size} elements, and none at hand"
        assert int(dut.occupancy_o.value) == size
        dut.push_valid_i.value = push is not None
        if push is not None:
            dut.push_priority_i.value, dut.push_data_i.value = push
        dut.pop_ready_i.value = pop
        element = None
        if size > 0:
            front = (int(dut.pop_priority_o.value), int(dut.pop_data_o.value))
            assert front[0] == min(priority for priority, _ in self.elements)
            assert self.elements[front] > 0, f"{front} is not in the queue"
            if pop:
                element = front
                self.elements[front] -= 1
                self.elements = +self.elements
        if push is not None and size < CAPACITY:
            self.elements[push] += 1
        await FallingEdge(dut.clk_i)
        assert not dut.push_ready_o.value and not dut.pop_valid_o.value
        await FallingEdge(dut.clk_i)
        await Timer(1, "step")
        return element


@cocotb.test()
async def any_mix(dut: Any) -> None:
    """Pushes, pops, both and neither in any step; resets in the middle."""
    source = random.Random(SEED)
    bench = Bench(dut)
    await bench.start()
    ranks = priorities(source, BITS)
    most = 0
    for enqueues, requests in phases(source, 8_000, CAPACITY):
        push = (next(ranks), source.getrandbits(PARAMETERS["DataBits"])) if source.random() < enqueues * requests else None
        await bench.step(push, source.random() < (1 - enqueues) * requests or source.random() < 0.3)
        most = max(most, bench.elements.total())
        if source.random() < 0.0005:
            await bench.reset(source.randint(1, 4))
    assert most == CAPACITY


@cocotb.test()
async def full_rate(dut: Any) -> None:
    """A push and a pop in every step, for queues of any size: what left comes back at once, first, last, or anywhere."""
    source = random.Random(SEED + 1)
    bench = Bench(dut)
    await bench.start()
    top = (1 << BITS) - 1
    for size in sorted({1, 2, CAPACITY // 2, CAPACITY - 1}):
        for returns in (lambda _: 0, lambda _: top, lambda old: old, lambda old: min(top, old + 1), lambda _: source.randint(0, top)):
            await bench.reset(1)
            for number in range(size):
                await bench.step((source.randint(0, top), number), False)
            left: Element | None = None
            for number in range(100 + 2 * size):
                back = None if left is None else (returns(left[0]), number)
                left = await bench.step(back, True)
            while bench.elements:
                await bench.step(None, True)


@cocotb.test()
async def worst_cases(dut: Any) -> None:
    """Fills in falling order, so that the BBQ has the smallest ones that it can, and drains without a pause; again and again."""
    source = random.Random(SEED + 2)
    bench = Bench(dut)
    await bench.start()
    top = (1 << BITS) - 1
    for turn in range(30):
        for number in range(CAPACITY):
            await bench.step((max(0, top - number * (turn % 3)), number), False)
        for number in range(CAPACITY):
            # Small ones come while the PIFO is being filled from behind.
            push = (source.choice([0, top]), number) if source.random() < turn / 60 else None
            await bench.step(push, True)
        while bench.elements:
            await bench.step(None, source.random() < 0.9)
