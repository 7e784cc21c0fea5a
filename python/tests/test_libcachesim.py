"""Beside libCacheSim: the same hit rates where both have a policy, and its readers as traces."""

import numpy as np
import pytest

from trueplane import cache

libcachesim = pytest.importorskip("libcachesim")

RECORD = np.dtype([("time", "<u4"), ("key", "<u8"), ("size", "<u4"), ("next", "<i8")])


@pytest.fixture(scope="module")
def requests(log):
    return cache.requests(log)


@pytest.fixture(scope="module")
def path(requests, tmp_path_factory):
    """The example's log in libCacheSim's own format; every size is 1."""
    records = np.zeros(requests.num_rows, RECORD)
    records["time"], records["key"] = np.arange(len(records)), requests["key"].to_numpy()
    records["size"], records["next"] = 1, -1
    made = tmp_path_factory.mktemp("libcachesim") / "log.oracleGeneral.bin"
    records.tofile(made)
    return str(made)


def reader(path):
    return libcachesim.TraceReader(path, libcachesim.TraceType.ORACLE_GENERAL_TRACE)


@pytest.mark.parametrize("capacity", [300, 3000])
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(cache.Lru, "LRU"), (cache.Lfu, "LFU"), (cache.Arc, "ARC"), (cache.Sieve, "Sieve"), (cache.S3Fifo, "S3FIFO")],
)
def test_hit_rates_are_those_of_libcachesim_without_delayed_hits(ours, theirs, capacity, requests, path):
    times = np.arange(requests.num_rows)
    mine = ours(capacity, latency="0ns").access_many(requests["key"], times).hits / requests.num_rows
    misses, _ = getattr(libcachesim, theirs)(cache_size=capacity).process_trace(reader(path))
    assert mine == pytest.approx(1 - misses, abs=0.002)


def test_a_reader_of_libcachesim_is_a_trace(path, requests):
    opened = reader(path)
    table = cache.requests(opened)
    assert table["key"].to_pylist() == requests["key"].to_pylist()
    assert table["time_ns"].to_pylist()[:3] == [0, 10**9, 2 * 10**9]
    assert cache.Lru(300).replay(opened).requests == requests.num_rows
