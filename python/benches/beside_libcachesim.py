"""Our policies beside those of libCacheSim, on the same traces in one run: hit rates, and requests a second.

    python benches/beside_libcachesim.py [TRACE...] [--capacity 0.01 0.1]

libCacheSim knows no delayed hits: hit rates are compared without them, and its speed is compared with ours with them. Both replay from
memory and from a file that is in the page cache: libCacheSim reads its own binary format, we take columns of NumPy.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import libcachesim
import numpy as np

from trueplane import cache

PAIRS: list[tuple[Any, Any]] = [
    (cache.Lru, libcachesim.LRU),
    (cache.Lfu, libcachesim.LFU),
    (cache.Arc, libcachesim.ARC),
    (cache.Lhd, libcachesim.LHD),
    (cache.Sieve, libcachesim.Sieve),
    (cache.S3Fifo, libcachesim.S3FIFO),
    (cache.WTinyLfu, libcachesim.WTinyLFU),
    (cache.Random, libcachesim.Random),
]
ROUNDS = 3
RECORD = np.dtype([("time", "<u4"), ("key", "<u8"), ("size", "<u4"), ("next", "<i8")])


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    example = Path(__file__).parents[2] / "examples" / "cdn-200k.csv.zst"
    arguments.add_argument("traces", nargs="*", default=[example], help="request logs (default: the example's)")
    arguments.add_argument("--capacity", nargs="*", type=float, default=[0.01, 0.1], help="shares of the trace's objects")
    given = arguments.parse_args()
    print("trace                    share policy     hits: ours  theirs  difference   M/s: ours  theirs  ratio")
    for trace in given.traces:
        table = cache.requests(trace)
        keys, times = table["key"].to_numpy(), table["time_ns"].to_numpy()
        objects = len(np.unique(keys))
        with tempfile.TemporaryDirectory() as folder:
            path = written(folder, keys)
            for share in given.capacity:
                capacity = max(1, round(objects * share))
                for ours, theirs in PAIRS:
                    line = beside(ours, theirs, capacity, keys, times, path)
                    print(f"{Path(trace).name[:24]:24} {share:5g} {ours.__name__:10} {line}", flush=True)


def written(folder: str, keys: np.ndarray) -> str:
    """The trace as libCacheSim's oracleGeneral, a second for each request and every size 1."""
    records = np.zeros(len(keys), RECORD)
    records["time"], records["key"], records["size"], records["next"] = np.arange(len(keys)), keys, 1, -1
    path = os.path.join(folder, "trace.oracleGeneral.bin")
    records.tofile(path)
    return path


def beside(ours: Any, theirs: Any, capacity: int, keys: np.ndarray, times: np.ndarray, path: str) -> str:
    """One line of the table: the best of some rounds, in turns."""
    plain = np.arange(len(keys), dtype=np.uint64)
    hits = ours(capacity, latency="0ns").access_many(keys, plain).hits / len(keys)
    speeds: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        made = ours(capacity, latency="10ms")
        speeds[0].append(timed(lambda: made.access_many(keys, times), len(keys))[0])  # noqa: B023
        reader = libcachesim.TraceReader(path, libcachesim.TraceType.ORACLE_GENERAL_TRACE)
        other = theirs(cache_size=capacity)
        speed, (misses, _) = timed(lambda: other.process_trace(reader), len(keys))  # noqa: B023
        speeds[1].append(speed)
    mine, its = max(speeds[0]), max(speeds[1])
    difference = 100 * (hits - (1 - misses))
    return f"{hits:10.4f} {1 - misses:7.4f} {difference:+8.2f} pts {mine:11.2f} {its:7.2f} {mine / its:6.2f}"


def timed(work: Callable[[], Any], requests: int) -> tuple[float, Any]:
    """Millions of requests a second, and what comes of the work."""
    start = time.perf_counter()
    result = work()
    return requests / (time.perf_counter() - start) / 1e6, result


if __name__ == "__main__":
    main()
