"""Three operations in three cycles, for timing.py to draw. Their answers are checked as those of every test are."""

from typing import Any

import cocotb

from model import Model, Op, Request
from test_bbq import SHAPE, Bench

# An element that has been there for long, and then one in every cycle.
BEFORE = Request(Op.ENQUEUE, 0, 75, 1075)
REQUESTS = [Request(Op.ENQUEUE, 0, 74, 1074), Request(Op.DEQUEUE_MIN, 0), Request(Op.DEQUEUE_MIN, 0)]


@cocotb.test()
async def three_in_a_row(dut: Any) -> None:
    bench, model = Bench(dut, 1), Model(SHAPE.elements, SHAPE.partitions)

    async def issue(request: Request) -> None:
        response = model.issue(request)
        await bench.step(request, response, model.occupancy(request.partition))

    await bench.start()
    await issue(BEFORE)
    await bench.finish()
    for request in REQUESTS:
        await issue(request)
    await bench.finish()
