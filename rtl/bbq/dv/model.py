"""What tp_bbq has to answer: one operation after the other, in the plainest way."""

from collections import deque
from dataclasses import dataclass
from enum import IntEnum


class Op(IntEnum):
    ENQUEUE = 0
    DEQUEUE_MIN = 1
    DEQUEUE_MAX = 2
    # What the ports have room for; it does what DEQUEUE_MAX does.
    DEQUEUE_MAX_TOO = 3


class Status(IntEnum):
    OK = 0
    FULL = 1
    EMPTY = 2


@dataclass(frozen=True)
class Request:
    op: Op
    partition: int = 0
    priority: int = 0
    data: int = 0


@dataclass(frozen=True)
class Response:
    status: Status
    priority: int = 0
    data: int = 0


class Model:
    """Queues of `elements` elements together."""

    def __init__(self, elements: int, partitions: int) -> None:
        self.elements = elements
        self.buckets: list[dict[int, deque[int]]] = [{} for _ in range(partitions)]

    def occupancy(self, partition: int) -> int:
        return sum(map(len, self.buckets[partition].values()))

    def issue(self, request: Request) -> Response:
        buckets = self.buckets[request.partition]
        if request.op == Op.ENQUEUE:
            if sum(map(self.occupancy, range(len(self.buckets)))) == self.elements:
                return Response(Status.FULL)
            buckets.setdefault(request.priority, deque()).append(request.data)
            return Response(Status.OK)
        if not buckets:
            return Response(Status.EMPTY)
        priority = min(buckets) if request.op == Op.DEQUEUE_MIN else max(buckets)
        data = buckets[priority].popleft()
        if not buckets[priority]:
            del buckets[priority]
        return Response(Status.OK, priority, data)
