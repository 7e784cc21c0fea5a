"""tp_bmw_tree against a bag of elements: it has to give one of the smallest priority, whichever."""

import random
from collections import Counter
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge

from bench import EMPTY, FULL, OK, PARAMETERS, clock, phases, priorities, reset

WAYS, LEVELS = PARAMETERS["Ways"], PARAMETERS["Levels"]
CAPACITY = sum(WAYS**level for level in range(1, LEVELS + 1))
SEED = 1


class Model:
    """What is in the queue."""

    def __init__(self) -> None:
        self.elements: Counter[tuple[int, int]] = Counter()

    def __len__(self) -> int:
        return self.elements.total()

    def check(self, request: tuple[int, int] | None, response: tuple[int, int, int]) -> None:
        """Does an enqueue, or a dequeue if there is no element; and checks its response."""
        status, *element = response
        if request is not None:
            assert response == ((FULL if len(self) == CAPACITY else OK), 0, 0)
            if status == OK:
                self.elements[request] += 1
        elif not len(self):
            assert response == (EMPTY, 0, 0)
        else:
            assert status == OK
            found = (element[0], element[1])
            assert found[0] == min(priority for priority, _ in self.elements), (found, min(self.elements))
            assert self.elements[found] > 0, f"{found} is not in the queue"
            self.elements[found] -= 1
            self.elements = +self.elements


async def operate(dut: Any, model: Model, request: tuple[int, int] | None) -> None:
    """A request; waits until it is taken, and for its response. The next one can follow at once."""
    dut.valid_i.value = 1
    dut.op_i.value = request is None
    if request is not None:
        dut.priority_i.value, dut.data_i.value = request
    cycles = 1
    while not dut.ready_o.value:
        assert cycles == 1, "a dequeue takes more than two cycles"
        cycles += 1
        await FallingEdge(dut.clk_i)
        assert not dut.valid_o.value
    await FallingEdge(dut.clk_i)
    dut.valid_i.value = 0
    assert dut.valid_o.value
    model.check(request, (int(dut.status_o.value), int(dut.priority_o.value), int(dut.data_o.value)))
    assert int(dut.occupancy_o.value) == len(model)


@cocotb.test()
async def any_mix(dut: Any) -> None:
    source = random.Random(SEED)
    clock(dut)
    dut.valid_i.value = 0
    await reset(dut)
    model, most = Model(), 0
    ranks = priorities(source, PARAMETERS["PriorityBits"])
    for enqueues, requests in phases(source, 6_000, CAPACITY):
        while source.random() >= requests:
            await FallingEdge(dut.clk_i)
            assert not dut.valid_o.value
        enqueue = source.random() < enqueues
        await operate(dut, model, (next(ranks), source.getrandbits(PARAMETERS["DataBits"])) if enqueue else None)
        most = max(most, len(model))
        if source.random() < 0.0005:
            await reset(dut)
            model = Model()
    assert most == CAPACITY


@cocotb.test()
async def fill_and_drain(dut: Any) -> None:
    """To the last element, in orders that send everything down, nothing down, and through equals."""
    clock(dut)
    dut.valid_i.value = 0
    await reset(dut)
    model, top = Model(), (1 << PARAMETERS["PriorityBits"]) - 1
    for order in (lambda i: min(i, top), lambda i: max(top - i, 0), lambda _: 0, lambda i: i % (top + 1)):
        for i in range(CAPACITY + 1):
            await operate(dut, model, (order(i), i % 256))
        for _ in range(CAPACITY + 1):
            await operate(dut, model, None)
        assert not len(model)
