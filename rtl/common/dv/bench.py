"""What the cocotb tests share: parameters, clock and reset, and mixes of operations."""

import json
import os
import random
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, Timer

PARAMETERS: dict[str, int] = json.loads(os.environ["PARAMETERS"])

# Operation 3 does what DEQUEUE_MAX does.
ENQUEUE, DEQUEUE_MIN, DEQUEUE_MAX, DEQUEUE_MAX_TOO = 0, 1, 2, 3
OK, FULL, EMPTY = 0, 1, 2


def clock(dut: Any) -> None:
    """Starts the clock. Inputs change, and outputs are looked at, at its falling edges: nothing depends on the order in a step."""
    cocotb.start_soon(Clock(dut.clk_i, 2, "ns").start())


async def reset(dut: Any, cycles: int = 1, *, checked: bool = False) -> None:
    """Holds the reset for some cycles, and ends just behind a falling edge, when outputs that depend on it have changed."""
    dut.rst_ni.value = 0
    for _ in range(cycles):
        await FallingEdge(dut.clk_i)
        # What was under way is forgotten, and nothing is counted.
        assert not checked or (dut.valid_o.value == 0 and int(dut.occupancy_o.value) == 0)
    dut.rst_ni.value = 1
    await Timer(1, "step")


class Answers:
    """What a circuit without stalls still has to answer: each request a number of cycles after it, in their order."""

    def __init__(self, dut: Any, latency: int, ports: list[str]) -> None:
        self.dut, self.latency = dut, latency
        self.ports = [getattr(dut, port) for port in ports]
        self.cycle = 0
        self.due: deque[tuple[int, tuple[int, ...]]] = deque()

    async def step(self, answer: tuple[int, ...] | None) -> None:
        """A cycle with a request that has this answer, or without one. The request is on the ports but for `valid_i`."""
        dut = self.dut
        assert dut.ready_o.value
        dut.valid_i.value = answer is not None
        if answer is not None:
            self.due.append((self.cycle + self.latency, answer))
        await FallingEdge(dut.clk_i)
        self.cycle += 1
        is_due = bool(self.due) and self.due[0][0] == self.cycle
        assert dut.valid_o.value == is_due
        if is_due:
            assert tuple(int(port.value) for port in self.ports) == self.due.popleft()[1]


def share(chance: float) -> Callable[[random.Random], bool]:
    return lambda source: source.random() < chance


def phases(source: random.Random, steps: int, capacity: int) -> Iterator[tuple[float, float]]:
    """For each of some steps: how likely an enqueue is, and how likely a request at all. Fills, drains, hovers at both ends."""
    while steps > 0:
        enqueues = source.choice([0.0, 0.05, 0.4, 0.5, 0.6, 0.95, 1.0])
        requests = source.choice([1.0, 1.0, 1.0, 0.5, 0.1])
        length = min(steps, source.randint(1, 2 * capacity + 8))
        steps -= length
        for _ in range(length):
            yield enqueues, requests


def priorities(source: random.Random, bits: int) -> Iterator[int]:
    """Endless, in turns: any, few different ones, all the same, up, down, and the ends of the range."""
    top = (1 << bits) - 1
    while True:
        kind, length, base = source.randrange(6), source.randint(1, 60), source.randint(0, top)
        for step in range(length):
            yield [
                source.randint(0, top), min(top, base + source.randint(0, 2)), base,
                min(top, base + step), max(0, base - step), source.choice([0, top]),
            ][kind]  # fmt: skip
