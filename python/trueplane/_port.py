"""A port that sends packets by ranks of your own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ._arrays import Numbers, numbers, times_of, whole
from ._errors import ParameterError
from ._native import serve_port
from ._sp_pifo import MOST
from ._types import Number
from ._units import with_unit

_DROPPED = 2**64 - 1


def serve(
    times: Numbers,
    sizes: Numbers | int,
    *,
    rank: Numbers | Callable[[int, int, int], int] | Any,
    rate: Number,
    flows: Numbers | int = 0,
    scheduler: str = "sp-pifo",
    queues: int = 8,
    depth: int = 10,
    push_down: str = "cost",
    window: int = 1000,
) -> pa.Table:
    """Sends packets through a port whose scheduler goes by your ranks, and returns what becomes of each.

    The table has a row for each packet: `rank`, `sent_ns` (when it begins to be sent; null if it is dropped) and `inversion` (how much its rank is
    above the smallest rank that still waits then; 0 if it is in order).

    times:
        When packets come: nanoseconds as whole numbers, or NumPy's times. They do not go back.
    sizes:
        The length of each packet in bytes, or one for all.
    rank:
        The rank of each packet, the smallest first: an array; or a function that is called as a packet comes, with its flow, its size and the
        time, and returns a whole number. An object with such a method `rank` can also have `departs(rank)`, which is told the rank of every
        packet that begins to be sent, as virtual clocks need it.
    rate:
        The rate of the line: "10Gbps", or bits per second.
    flows:
        The flow of each packet, a whole number, or one for all. Only your function sees it.
    scheduler:
        fifo, sp-pifo, aifo, packs or pifo.
    queues, depth:
        The number of queues, and the packets that each of them holds. Schedulers with one queue have the room of all.
    push_down:
        How far the bounds of SP-PIFO fall after an inversion: cost, queue-bound, rank, one or queue-bound-text.
    window:
        The number of packets over which AIFO and PACKS take their quantiles.
    """
    arrivals = times_of("times", times)
    for name, value in [("queues", queues), ("depth", depth), ("window", window)]:
        if not 1 <= whole(name, value) <= MOST:
            raise ParameterError(f"{name}: expected 1 to {MOST}, got {value}")
    if queues * depth > MOST:
        raise ParameterError(f"depth: expected room for {MOST} packets in all at most, got {queues} × {depth}")
    is_array = isinstance(rank, (Sequence, pa.Array, pa.ChunkedArray)) or hasattr(rank, "__array__")
    function = rank if is_array or callable(rank) else getattr(rank, "rank", None)
    ranks, starts, inversions = serve_port(
        arrivals,
        _each("sizes", sizes),
        _each("flows", flows),
        numbers("rank", rank) if is_array or not callable(function) else function,
        with_unit("rate", rate, "bps"),
        scheduler,
        push_down,
        (int(queues), int(depth), int(window)),
        None if is_array else getattr(rank, "departs", None),
    )
    sent = pa.array(starts, mask=starts == np.uint64(_DROPPED))
    return pa.table({"rank": ranks, "sent_ns": sent, "inversion": pa.array(inversions, mask=starts == np.uint64(_DROPPED))})


def _each(name: str, values: Numbers | int) -> Any:
    return numbers(name, [whole(name, values)] if isinstance(values, (int, np.integer)) else values)
