"""The hierarchical find-first-set queue."""

from __future__ import annotations

import queue
from collections.abc import Sequence
from typing import Any, Generic, TypeVar, cast

import numpy as np
import numpy.typing as npt

from ._arrays import Numbers, numbers, whole
from ._errors import ParameterError
from ._native import Queue as _Native

Item = TypeVar("Item")

MOST = 1 << 24
"""The largest span, and the largest capacity, of a queue."""


class Queue(Generic[Item]):
    """A priority queue for whole numbers below a span, served from both ends in O(1).

    The smallest priority comes first; items of one priority come in the order in which they were added. Every operation takes at most four
    steps of "find the first bit that is set", whatever is in the queue (Atre 2025, §3.5.4 and §4.2). Memory: 12 bytes for every priority of
    the span and 36 bytes for every item of the capacity, all of it from the start.

        queue = trueplane.pqueue.Queue(span=1000, capacity=64)
        queue.insert(7, "later")
        queue.insert(3, "first")
        queue.extract_min()  # (3, 'first')
    """

    def __init__(self, span: int, capacity: int, *, when_full: str = "refuse") -> None:
        """An empty queue.

        span:
            Priorities are 0 to span - 1. At most 2**24.
        capacity:
            The number of items that it holds, at most 2**24.
        when_full:
            "refuse" raises `queue.Full`. "drop-worst" drops the oldest item of the largest priority. "drop-if-worst" does so for a newcomer
            with a smaller priority, and else drops the newcomer: nobody displaces others by sending more of what is worse.
        """
        for name, value in [("span", span), ("capacity", capacity)]:
            if not 1 <= whole(name, value) <= MOST:
                raise ParameterError(f"{name}: expected 1 to {MOST}, got {value}")
        self._native = _Native(int(span), int(capacity), when_full)
        self.span = int(span)
        self.capacity = int(capacity)

    def __len__(self) -> int:
        return len(self._native)

    def __repr__(self) -> str:
        return f"Queue({len(self)} of {self.capacity} items, priorities below {self.span})"

    def insert(self, priority: int, item: Item) -> tuple[int, Item] | None:
        """Adds an item. Returns what was dropped for it, with its priority: another item, or the item itself.

        Raises `queue.Full` if the queue is full and refuses.
        """
        try:
            return cast("tuple[int, Item] | None", self._native.insert(whole("priority", priority), item))
        except OverflowError as error:
            raise queue.Full(str(error)) from None

    def insert_many(self, priorities: Numbers, items: Sequence[Item]) -> list[tuple[int, Item]]:
        """Adds items in their order, or none if one cannot be added. Returns what was dropped for them, with the priorities.

        Raises `queue.Full` if the queue refuses and has no room for all.
        """
        try:
            return cast("list[tuple[int, Item]]", self._native.insert_many(numbers("priorities", priorities), list(items)))
        except OverflowError as error:
            raise queue.Full(str(error)) from None

    def peek_min(self) -> tuple[int, Item]:
        """The smallest priority, and its oldest item. Raises IndexError if the queue is empty, as do the next three."""
        return cast("tuple[int, Item]", self._native.peek(False))

    def peek_max(self) -> tuple[int, Item]:
        """The largest priority, and its oldest item."""
        return cast("tuple[int, Item]", self._native.peek(True))

    def extract_min(self) -> tuple[int, Item]:
        """Takes out the oldest item of the smallest priority; returns the priority and the item."""
        return cast("tuple[int, Item]", self._native.extract(False))

    def extract_max(self) -> tuple[int, Item]:
        """Takes out the oldest item of the largest priority; returns the priority and the item."""
        return cast("tuple[int, Item]", self._native.extract(True))

    def extract_min_many(self, count: int) -> tuple[npt.NDArray[np.uint64], list[Item]]:
        """Takes out up to `count` items from the smallest priority on: the priorities and the items."""
        return cast(Any, self._native.extract_many(whole("count", count), False))

    def extract_max_many(self, count: int) -> tuple[npt.NDArray[np.uint64], list[Item]]:
        """Takes out up to `count` items from the largest priority on: the priorities and the items."""
        return cast(Any, self._native.extract_many(whole("count", count), True))
