"""SP-PIFO, the scheduler."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ._arrays import Numbers, numbers, whole
from ._errors import ParameterError
from ._native import SpPifo as _Native

MOST = 1 << 20
"""The largest number of queues, and of packets in all of them."""


class SpPifo:
    """SP-PIFO: FIFOs in strict priority that come close to the order of ranks (Gran Alcoz et al., NSDI 2020, §4.1).

    A packet goes to the last queue whose bound its rank reaches, and the bound becomes its rank. A packet below all bounds goes to the first
    queue, and pulls all bounds down. The first queue that is not empty is served.

        scheduler = trueplane.sched.SpPifo(queues=2, depth=10)
        scheduler.push(4)  # 1: the second queue, whose bound is 4 now
        scheduler.push(1)  # 0: the first queue
        scheduler.pop()  # (1, 1): the rank and the label of the packet that is sent next
    """

    def __init__(self, queues: int = 8, *, depth: int = 10, push_down: str = "cost") -> None:
        """Empty queues.

        queues:
            The number of queues.
        depth:
            The number of packets that each queue holds. A packet whose queue is full is dropped.
        push_down:
            How far the bounds fall after an inversion: cost, queue-bound, rank, one or queue-bound-text (§4.2.2).
        """
        for name, value in [("queues", queues), ("depth", depth)]:
            if not 1 <= whole(name, value) <= MOST:
                raise ParameterError(f"{name}: expected 1 to {MOST}, got {value}")
        if queues * depth > MOST:
            raise ParameterError(f"depth: expected room for {MOST} packets in all at most, got {queues} × {depth}")
        self._native = _Native(int(queues), int(depth), push_down)
        self._next = 0

    def __repr__(self) -> str:
        return f"SpPifo({len(self)} packets in {len(self.lengths)} queues)"

    def __len__(self) -> int:
        """The number of packets that wait."""
        return len(self._native)

    @property
    def bounds(self) -> list[int]:
        """The smallest rank that each queue takes now."""
        return self._native.bounds()

    @property
    def lengths(self) -> list[int]:
        """The number of packets in each queue."""
        return self._native.lengths()

    def push(self, rank: int, label: int | None = None) -> int | None:
        """Offers a packet. Returns the queue that it is in, 0 first; None if that is full and the packet is dropped.

        rank:
            The place of the packet in the order of service, the smallest first.
        label:
            What `pop` returns of the packet. Default: the number of the packet, from 0.
        """
        given = self._next if label is None else whole("label", label)
        queue = self._native.push(whole("rank", rank), given)
        self._next += 1
        return queue

    def push_many(self, ranks: Numbers, labels: Numbers | None = None) -> npt.NDArray[np.int64]:
        """Offers packets in their order. Returns the queue of each, -1 if it is dropped."""
        array = numbers("ranks", ranks)
        given = np.arange(self._next, self._next + len(array), dtype=np.uint64) if labels is None else numbers("labels", labels)
        queues = self._native.push_many(array, given)
        self._next += len(array)
        return queues

    def pop(self) -> tuple[int, int] | None:
        """Takes out the packet that is sent next: its rank and its label. None if no packet waits."""
        return self._native.pop()

    def pop_many(self, count: int) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
        """Takes out up to `count` packets: their ranks and their labels."""
        return self._native.pop_many(whole("count", count))
