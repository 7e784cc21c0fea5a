"""tp_bbq_window against a model of the rolling window, after the words of crates/pqueue/src/window.rs."""

import random
import sys
from pathlib import Path
from typing import Any

import cocotb

from bench import Answers, DEQUEUE_MAX, DEQUEUE_MAX_TOO, DEQUEUE_MIN, EMPTY, ENQUEUE, FULL, OK, PARAMETERS, clock, phases, reset

CAPACITY = PARAMETERS["Elements"]
HALF = PARAMETERS["Width"] ** PARAMETERS["Levels"] // 2
LARGEST = (1 << PARAMETERS["PriorityBits"]) - 1
LAST = str(PARAMETERS.get("BeyondLast", 0)).endswith("1")
OUTSIDE = 3
SEED = 1

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from shapes import Shape  # noqa: E402

LATENCY = 2 + Shape(
    PARAMETERS["Width"], PARAMETERS["Levels"], CAPACITY, partitions=2, lut_words=PARAMETERS.get("LutWords", 16)
).latency  # fmt: skip

Answer = tuple[int, int, int]  # Status, priority, data.


class Window:
    """A list of waiting elements with the priorities that they wait with, in order; and where the window begins."""

    def __init__(self) -> None:
        self.first = 0
        self.elements: list[tuple[int, int]] = []

    def halves(self) -> tuple[bool, bool]:
        """Whether there is something in the first half, and in the second."""
        found = {priority // HALF - self.first for priority, _ in self.elements}
        assert found <= {0, 1}
        return 0 in found, 1 in found

    def enqueue(self, priority: int, data: int) -> Answer:
        in_first, in_second = self.halves()
        half, first = priority // HALF, self.first
        if half - first not in (0, 1):
            if not in_first and not in_second:
                first = half
            elif not in_first and half > first:
                first += 1
        if half < first:
            priority = first * HALF
        elif half > first + 1:
            if not LAST:
                return OUTSIDE, 0, 0
            priority = (first + 2) * HALF - 1
        if len(self.elements) == CAPACITY:
            return FULL, 0, 0
        self.first = first
        place = sum(other <= priority for other, _ in self.elements)
        self.elements.insert(place, (priority, data))
        return OK, 0, 0

    def dequeue(self, largest: bool) -> Answer:
        if not self.elements:
            return EMPTY, 0, 0
        place = 0
        if largest:
            end = self.elements[-1][0]
            place = next(i for i, (priority, _) in enumerate(self.elements) if priority == end)
        elif not self.halves()[0]:
            self.first += 1
        return OK, *self.elements.pop(place)


class Bench:
    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.window = Window()
        self.answers = Answers(dut, LATENCY, ["status_o", "priority_o", "data_o"])

    async def reset(self, cycles: int) -> None:
        await reset(self.dut, cycles, checked=True)
        self.window = Window()
        self.answers.due.clear()

    async def step(self, op: int | None, priority: int = 0, data: int = 0) -> None:
        dut = self.dut
        dut.op_i.value, dut.priority_i.value, dut.data_i.value = op or 0, priority, data
        if op is None:
            await self.answers.step(None)
        else:
            await self.answers.step(self.window.enqueue(priority, data) if op == ENQUEUE else self.window.dequeue(op != DEQUEUE_MIN))


@cocotb.test()
async def any_mix(dut: Any) -> None:
    """Priorities that move along, that come too early and too late, at the borders of the halves; in every cycle."""
    source = random.Random(SEED)
    bench = Bench(dut)
    clock(dut)
    dut.valid_i.value = 0
    await bench.reset(1)
    seen = {status: 0 for status in (OK, FULL, EMPTY, OUTSIDE)}
    base = 0
    for number, (enqueues, requests) in enumerate(phases(source, 8_000, CAPACITY)):
        if source.random() >= requests:
            await bench.step(None)
            continue
        op = ENQUEUE if source.random() < enqueues else source.choice([DEQUEUE_MIN, DEQUEUE_MIN, DEQUEUE_MAX, DEQUEUE_MAX_TOO])
        first = bench.window.first * HALF
        base = source.choice([base, base, first, first + HALF, first + 2 * HALF])
        priority = base + source.choice([0, 0, 1, -1, source.randint(0, HALF), source.randint(-2 * HALF, 2 * HALF)])
        if source.random() < 0.01:
            priority = source.randint(0, LARGEST)
        priority = max(0, min(priority, LARGEST))
        await bench.step(op, priority, number % (1 << PARAMETERS["DataBits"]))
        if bench.answers.due:
            seen[bench.answers.due[-1][1][0]] += 1
        if source.random() < 0.01:
            await bench.reset(source.randint(1, 3))
            base = 0
    for _ in range(LATENCY):
        await bench.step(None)
    assert seen[OK] and seen[FULL] and seen[EMPTY] and bool(seen[OUTSIDE]) != LAST, seen


@cocotb.test()
async def exact_for_ever(dut: Any) -> None:
    """Priorities from the one served last to H above it: nothing is served out of order, over many windows."""
    source = random.Random(SEED + 1)
    bench = Bench(dut)
    clock(dut)
    dut.valid_i.value = 0
    await bench.reset(1)
    served, asked = 0, []
    for number in range(6_000):
        if served > LARGEST - 4 * HALF:
            break
        enqueue = source.random() < 0.5 and len(asked) < CAPACITY
        if enqueue:
            priority = served + source.randint(0, HALF)
            asked.append(priority)
            await bench.step(ENQUEUE, priority, number % 256)
            assert bench.answers.due[-1][1][0] == OK
        elif asked:
            await bench.step(DEQUEUE_MIN)
            served = bench.answers.due[-1][1][1]
            assert served == min(asked), "the model itself is not exact"
            asked.remove(served)
        else:
            await bench.step(None)
    assert served > 3 * HALF
    for _ in range(LATENCY):
        await bench.step(None)


@cocotb.test()
async def through_the_top(dut: Any) -> None:
    """A clock that runs through the whole range some times, as one of nanoseconds does every 4.3 s with 32 bits. Priorities do not wrap:
    those from behind the top are late, until the queue is empty and the window goes where they are."""
    source = random.Random(SEED + 2)
    bench = Bench(dut)
    clock(dut)
    dut.valid_i.value = 0
    await bench.reset(1)
    now, late_at_top = 0, 0
    last_half = LARGEST // HALF
    for number, (enqueues, requests) in enumerate(phases(source, 10_000, min(CAPACITY, 40))):
        # In big steps far from the top, in small ones around it.
        is_near = min(now, LARGEST - now) < 2 * HALF
        now = (now + (source.randint(0, 1 + HALF // 32) if is_near else source.randint(0, max(1, LARGEST // 60)))) % (LARGEST + 1)
        if not is_near and LARGEST - now < LARGEST // 60:
            now = max(0, LARGEST - 2 * HALF + 1)
        if source.random() >= requests:
            await bench.step(None)
            continue
        op = ENQUEUE if source.random() < enqueues else source.choice([DEQUEUE_MIN, DEQUEUE_MIN, DEQUEUE_MAX])
        priority = (now + source.choice([0, 1, source.randint(0, HALF), source.randint(-2 * HALF, 2 * HALF)])) % (LARGEST + 1)
        is_at_top = bench.window.first == last_half and bool(bench.window.elements)
        if is_at_top and source.random() < 0.3:
            priority = source.randint(0, HALF - 1)
        late_at_top += op == ENQUEUE and is_at_top and priority < HALF
        await bench.step(op, priority, number % (1 << PARAMETERS["DataBits"]))
    for _ in range(LATENCY):
        await bench.step(None)
    assert late_at_top > 10, late_at_top
