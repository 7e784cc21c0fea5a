"""tp_pieo against a list: the first element, by priority and then by arrival, whose time has come."""

import bisect
import random
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge

from bench import EMPTY, FULL, OK, PARAMETERS, clock, phases, priorities, reset

CAPACITY = PARAMETERS["SublistElements"] ** 2
LAST = (1 << PARAMETERS["TimeBits"]) - 1
SEED = 1

Element = tuple[int, int, int]  # Priority, time, data.


class Bench:
    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.elements: list[Element] = []

    async def start(self) -> None:
        clock(self.dut)
        self.dut.valid_i.value = 0
        await reset(self.dut)

    def expected(self, element: Element | None, now: int) -> tuple[int, int, int]:
        """Does an enqueue, or a dequeue at a time if there is no element; returns the response."""
        if element is not None:
            if len(self.elements) == CAPACITY:
                return FULL, 0, 0
            self.elements.insert(bisect.bisect_right(self.elements, element[0], key=lambda other: other[0]), element)
            return OK, 0, 0
        for place, (priority, since, data) in enumerate(self.elements):
            if since <= now:
                del self.elements[place]
                return OK, priority, data
        return EMPTY, 0, 0

    async def operate(self, element: Element | None, now: int = 0) -> None:
        dut = self.dut
        assert dut.ready_o.value
        dut.valid_i.value = 1
        dut.op_i.value = element is None
        dut.priority_i.value, dut.time_i.value, dut.data_i.value = element or (0, now, 0)
        expected = self.expected(element, now)
        for cycle in range(4):
            await FallingEdge(dut.clk_i)
            # It takes nothing but in the first of the four cycles.
            assert dut.valid_o.value == (cycle == 3) and dut.ready_o.value == (cycle == 3)
            dut.valid_i.value = cycle in (0, 1)
        assert (int(dut.status_o.value), int(dut.priority_o.value), int(dut.data_o.value)) == expected
        assert int(dut.occupancy_o.value) == len(self.elements)


@cocotb.test()
async def any_mix(dut: Any) -> None:
    """Times that have come, that come soon, and that come late; a clock that also stands and jumps back."""
    source = random.Random(SEED)
    bench = Bench(dut)
    await bench.start()
    ranks = priorities(source, PARAMETERS["PriorityBits"])
    now = most = passed_over = 0
    for enqueues, requests in phases(source, 5_000, CAPACITY):
        if source.random() >= requests:
            await FallingEdge(dut.clk_i)
            assert not dut.valid_o.value
            continue
        now = source.choice([now, now, min(LAST, now + source.randint(0, 3)), source.randint(0, LAST)])
        element = None
        if source.random() < enqueues:
            since = source.choice([0, now, min(LAST, now + source.randint(0, 5)), source.randint(0, LAST)])
            element = (next(ranks), since, source.getrandbits(PARAMETERS["DataBits"]))
        elif bench.elements and bench.elements[0][1] > now:
            passed_over += 1
        await bench.operate(element, now)
        most = max(most, len(bench.elements))
        if source.random() < 0.0005:
            await reset(dut)
            bench.elements.clear()
    assert most == CAPACITY and passed_over > 100


@cocotb.test()
async def neighbours(dut: Any) -> None:
    """Fills in every order, and takes out at both ends and in the middle: sublists overflow, are refilled, and empty."""
    source = random.Random(SEED + 1)
    bench = Bench(dut)
    await bench.start()
    top = (1 << PARAMETERS["PriorityBits"]) - 1
    orders = (lambda i: min(i, top), lambda i: max(0, top - i), lambda _: 1, lambda i: source.randint(0, top))
    for order in orders:
        for leaving in ("first", "last", "any"):
            for i in range(CAPACITY + 1):
                # The time says which one leaves: all but one are not eligible yet.
                await bench.operate((order(i), 0 if leaving == "first" else LAST, i % 256))
            while bench.elements:
                if leaving == "first":
                    await bench.operate(None, source.randint(0, LAST - 1))
                    continue
                await bench.operate(None, LAST - 1)
                await bench.operate(None, LAST)
                if leaving == "last" and bench.elements and len(bench.elements) > 1:
                    await bench.operate((top, 0, 255))
                    await bench.operate(None, 0)
        assert not bench.elements
