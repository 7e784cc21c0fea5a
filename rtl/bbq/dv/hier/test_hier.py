"""tp_bbq_hier against a model: a queue of tenants over a queue for each of them."""

import random
import sys
from pathlib import Path
from typing import Any

import cocotb

from bench import Answers, DEQUEUE_MAX, DEQUEUE_MAX_TOO, DEQUEUE_MIN, ENQUEUE, PARAMETERS, clock, phases, priorities, reset

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from model import Model, Op, Request, Status  # noqa: E402
from shapes import Shape  # noqa: E402

CAPACITY, TENANTS = PARAMETERS["Elements"], PARAMETERS["Tenants"]
LUT_WORDS = PARAMETERS.get("LutWords", 16)
UPPER = Shape(PARAMETERS["UpperWidth"], PARAMETERS["UpperLevels"], CAPACITY, lut_words=LUT_WORDS)
LOWER = Shape(PARAMETERS["Width"], PARAMETERS["Levels"], CAPACITY, partitions=TENANTS, lut_words=LUT_WORDS)
LATENCY = UPPER.latency + LOWER.latency
SEED = 1

Answer = tuple[int, int, int, int, int]  # Status, tenant, tenant's priority, priority, data.


class Scheduler:
    """Both levels, one operation after the other."""

    def __init__(self) -> None:
        self.upper = Model(CAPACITY, 1)
        self.lower = Model(CAPACITY, TENANTS)

    def issue(self, op: int, tenant: int, tenant_priority: int, priority: int, data: int) -> Answer:
        turn = self.upper.issue(Request(Op(op), 0, tenant_priority, tenant))
        if turn.status != Status.OK:
            return turn.status, 0, 0, 0, 0
        if op == ENQUEUE:
            self.lower.issue(Request(Op.ENQUEUE, tenant, priority, data))
            return turn.status, 0, 0, 0, 0
        element = self.lower.issue(Request(Op(op), turn.data))
        assert element.status == Status.OK
        return turn.status, turn.data, turn.priority, element.priority, element.data


class Bench:
    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.scheduler = Scheduler()
        self.answers = Answers(dut, LATENCY, ["status_o", "tenant_o", "tenant_priority_o", "priority_o", "data_o"])

    async def reset(self, cycles: int) -> None:
        await reset(self.dut, cycles, checked=True)
        self.scheduler = Scheduler()
        self.answers.due.clear()

    async def step(self, op: int | None, tenant: int = 0, tenant_priority: int = 0, priority: int = 0, data: int = 0) -> None:
        dut = self.dut
        dut.op_i.value, dut.tenant_i.value, dut.data_i.value = op or 0, tenant, data
        dut.tenant_priority_i.value, dut.priority_i.value = tenant_priority, priority
        await self.answers.step(None if op is None else self.scheduler.issue(op, tenant, tenant_priority, priority, data))

    async def rest(self) -> None:
        """Until all is answered; then the occupancies are those of the model."""
        for _ in range(LATENCY + 1):
            await self.step(None)
        bits = CAPACITY.bit_length()
        seen = int(self.dut.occupancy_o.value)
        for tenant in range(TENANTS):
            assert seen >> tenant * bits & ((1 << bits) - 1) == self.scheduler.lower.occupancy(tenant)


@cocotb.test()
async def any_mix(dut: Any) -> None:
    source = random.Random(SEED)
    bench = Bench(dut)
    clock(dut)
    dut.valid_i.value = 0
    await bench.reset(1)
    turns = priorities(source, UPPER.levels * UPPER.digit_bits)
    ranks = priorities(source, LOWER.span.bit_length() - 1)
    seen = {status: 0 for status in Status}
    for number, (enqueues, requests) in enumerate(phases(source, 8_000, CAPACITY)):
        if source.random() >= requests:
            await bench.step(None)
        else:
            op = ENQUEUE if source.random() < enqueues else source.choice([DEQUEUE_MIN, DEQUEUE_MIN, DEQUEUE_MAX, DEQUEUE_MAX_TOO])
            tenant = source.choice([0, source.randrange(TENANTS)])
            await bench.step(op, tenant, next(turns), next(ranks), number % (1 << PARAMETERS["DataBits"]))
            seen[Status(bench.answers.due[-1][1][0])] += 1
        if source.random() < 0.005:
            await bench.reset(source.randint(1, 3))
    await bench.rest()
    assert all(seen.values()), seen


@cocotb.test()
async def tenants_in_turn(dut: Any) -> None:
    """Strict priority of one tenant over the others, and turns by virtual time: the figure's two policies."""
    bench = Bench(dut)
    clock(dut)
    dut.valid_i.value = 0
    await bench.reset(1)
    top = UPPER.buckets - 1
    for strict in (True, False):
        for number in range(CAPACITY):
            tenant = number % TENANTS
            turn = tenant if strict else number // TENANTS
            await bench.step(ENQUEUE, tenant, min(turn, top), number % LOWER.span, number % 256)
        for _ in range(CAPACITY + 1):
            await bench.step(DEQUEUE_MIN)
        await bench.rest()
