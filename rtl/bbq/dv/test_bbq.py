"""tp_bbq against the vectors of the software model, and against a model in Python. Run by cocotb_runs.py."""

import json
import os
import random
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

from model import Model, Op, Request, Response, Status
from shapes import Shape

VECTORS = Path(__file__).resolve().parents[3] / "vectors" / "pqueue" / "bbq.json"
SHAPE = Shape(**json.loads(os.environ["SHAPE"]))
OPS = int(os.environ["OPS"])
OP_NAMES = {"enqueue": Op.ENQUEUE, "min": Op.DEQUEUE_MIN, "max": Op.DEQUEUE_MAX}


class Bench:
    """The circuit, and what it still has to answer. All is done at falling edges, where inputs and outputs are stable."""

    def __init__(self, dut: Any, seed: int) -> None:
        self.dut = dut
        self.random = random.Random(seed)
        self.cycle = 0
        self.responses: deque[tuple[int, Request, Response]] = deque()
        self.changes: deque[tuple[int, int, int]] = deque()
        self.occupancy = [0] * SHAPE.partitions

    async def start(self) -> None:
        cocotb.start_soon(Clock(self.dut.clk_i, 10, "ns").start())
        await FallingEdge(self.dut.clk_i)
        await self.reset(1)

    async def reset(self, cycles: int) -> None:
        """Also while requests come, which are not taken."""
        self.dut.rst_ni.value = 0
        for _ in range(cycles):
            self.request(None)
            self.dut.valid_i.value = self.random.getrandbits(1)
            await FallingEdge(self.dut.clk_i)
            assert self.dut.ready_o.value == 0
            self.cycle += 1
        self.dut.rst_ni.value = 1
        self.responses.clear()
        self.changes.clear()
        self.occupancy = [0] * SHAPE.partitions

    def request(self, request: Request | None) -> None:
        """Puts a request on the ports; what is not asked for has any value."""
        dut, bits = self.dut, self.random.getrandbits
        used = request or Request(Op(self.random.randrange(3)), self.random.randrange(SHAPE.partitions))
        enqueue = request is not None and request.op == Op.ENQUEUE
        dut.valid_i.value = request is not None
        dut.op_i.value = used.op
        dut.partition_i.value = used.partition
        dut.priority_i.value = used.priority if enqueue else self.random.randrange(SHAPE.span)
        dut.data_i.value = used.data if enqueue else bits(SHAPE.data_bits)

    async def step(self, request: Request | None, response: Response | None = None, occupancy: int = 0) -> None:
        """A cycle with a request, and what is expected of it; or without one."""
        self.request(request)
        if request is not None:
            assert response is not None
            self.responses.append((self.cycle + SHAPE.latency, request, response))
            self.changes.append((self.cycle + SHAPE.occupancy_delay, request.partition, occupancy))
        await FallingEdge(self.dut.clk_i)
        self.cycle += 1
        self.check()

    def check(self) -> None:
        dut = self.dut
        assert dut.ready_o.value == 1
        due = bool(self.responses) and self.responses[0][0] == self.cycle
        assert bool(dut.valid_o.value) == due, f"cycle {self.cycle}: valid_o is not {due}"
        if due:
            _, request, expected = self.responses.popleft()
            found = Response(Status(int(dut.status_o.value)), int(dut.priority_o.value), int(dut.data_o.value))
            assert found == expected, f"cycle {self.cycle}: {request}: expected {expected}, got {found}"
            assert (int(dut.op_o.value), int(dut.partition_o.value)) == (request.op, request.partition)
        while self.changes and self.changes[0][0] == self.cycle:
            _, partition, occupancy = self.changes.popleft()
            self.occupancy[partition] = occupancy
        counts, bits = int(dut.occupancy_o.value), SHAPE.count_bits
        found_counts = [counts >> (partition * bits) & ((1 << bits) - 1) for partition in range(SHAPE.partitions)]
        assert found_counts == self.occupancy, f"cycle {self.cycle}: occupancies {found_counts}, expected {self.occupancy}"

    async def finish(self) -> None:
        for _ in range(SHAPE.latency + 1):
            await self.step(None)
        assert not self.responses


def cases() -> Iterable[dict[str, Any]]:
    """The vectors of these parameters."""
    for case in json.loads(VECTORS.read_text())["cases"]:
        key = (case["width"], case["levels"], case["capacity"], case["partitions"], case["data_bits"])
        if key == (SHAPE.width, SHAPE.levels, SHAPE.elements, SHAPE.partitions, SHAPE.data_bits):
            yield case


async def play(bench: Bench, case: dict[str, Any], gap: float) -> None:
    for name, partition, priority, data, status, priority_out, data_out, occupancy in case["operations"]:
        while bench.random.random() < gap:
            await bench.step(None)
        request = Request(OP_NAMES[name], partition, priority, data)
        await bench.step(request, Response(Status[status.upper()], priority_out, data_out), occupancy)


@cocotb.test()
async def vectors(dut: Any) -> None:
    """Every case of the software model's vectors: an operation in every cycle; with gaps; and a part of it, cut off by a reset."""
    bench = Bench(dut, 1)
    await bench.start()
    played = 0
    for case in cases():
        for gap in (0.0, 0.4):
            await bench.reset(1)
            await play(bench, case, gap)
            await bench.finish()
            await bench.reset(bench.random.randrange(1, 4))
            # The next reset comes while these are under way.
            await play(bench, {**case, "operations": case["operations"][: bench.random.randrange(40)]}, 0.0)
        played += 1
        dut._log.info("%s: as expected", case["name"])
    assert played > 0


@cocotb.test()
async def against_model(dut: Any) -> None:
    """Random operations, with resets of any length at any time."""
    bench = Bench(dut, 2)
    rng = bench.random
    await bench.start()
    done = 0
    while done < OPS:
        model = Model(SHAPE.elements, SHAPE.partitions)
        enqueues, gap = rng.random(), rng.choice([0.0, 0.0, 0.5])
        few = [rng.randrange(SHAPE.span) for _ in range(rng.randrange(1, 4))]
        partitions = [rng.randrange(SHAPE.partitions) for _ in range(rng.randrange(1, 4))]
        for _ in range(rng.randrange(1, 300)):
            if rng.random() < gap:
                await bench.step(None)
            if rng.random() < 0.02:
                enqueues = rng.random()
            op = Op.ENQUEUE if rng.random() < enqueues else rng.choice([Op.DEQUEUE_MIN, Op.DEQUEUE_MAX])
            enqueue = op == Op.ENQUEUE
            priority = rng.choice(few) if rng.random() < 0.5 else rng.randrange(SHAPE.span)
            partition = rng.choice(partitions)
            request = Request(op, partition, priority if enqueue else 0, rng.getrandbits(SHAPE.data_bits) if enqueue else 0)
            response = model.issue(request)
            await bench.step(request, response, model.occupancy(partition))
            done += 1
        if rng.random() < 0.3:
            await bench.finish()
        await bench.reset(rng.choice([1, 1, 2, 3, rng.randrange(1, 50)]))
