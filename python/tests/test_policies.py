"""Caches that Python drives: policies of trueplane, written in Python, and compiled."""

import collections
import ctypes
import datetime
import gc
import shutil
import subprocess
import weakref

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import trueplane
from trueplane import ParameterError, cache

NATIVE = [cache.Lru, cache.Lfu, cache.Arc, cache.Lhd, cache.Sieve, cache.S3Fifo, cache.WTinyLfu, cache.Random]


@pytest.fixture(scope="module")
def requests(log):
    return cache.requests(log)


def test_a_miss_starts_a_fetch_and_later_requests_wait_for_the_rest_of_it():
    # The example of the guide: a fetch takes 100 ms.
    lru = cache.Lru(2, latency="100ms")
    ms = 1_000_000
    assert lru.access("a", 0) == (cache.Outcome.MISS, 100 * ms)
    assert lru.access("a", 30 * ms) == (cache.Outcome.DELAYED_HIT, 70 * ms)
    assert lru.access("a", 120 * ms) == (cache.Outcome.HIT, 0)
    assert lru.access("b", 130 * ms, latency="5ms") == (cache.Outcome.MISS, 5 * ms)
    assert lru.access("b", datetime.timedelta(milliseconds=135)) == (cache.Outcome.HIT, 0)


@pytest.mark.parametrize("policy", NATIVE)
@pytest.mark.parametrize("mad", [False, True])
def test_every_policy_does_what_the_study_finds(policy, mad, log, requests):
    if mad and policy not in (cache.Lru, cache.Lfu, cache.Arc, cache.Lhd):
        pytest.skip("MAD has no such base")
    made = policy(400, latency="5ms")
    made = cache.Mad(made) if mad else made
    served = made.replay(requests)
    name = policy._name + ("-mad" if mad else "")
    found = cache.compare(log, latency="5ms", capacity=400, policies=name, progress=False).table("policies").to_pylist()[0]
    assert served.mean_latency_ns == pytest.approx(found["latency_mean_ns"], rel=1e-9)
    counts = (found["hits"], found["delayed_hits"], found["misses"])
    assert (served.hits, served.delayed_hits, served.misses) == counts and sum(counts) == served.requests
    assert repr(served).startswith("Served(200000 requests: ")


@pytest.mark.parametrize(
    ("make", "options"),
    [
        (lambda: cache.Lhd(400, latency="5ms", eviction="exact"), {"policies": "lhd", "eviction": "exact"}),
        (lambda: cache.WTinyLfu(400, latency="5ms", window="fixed"), {"policies": "w-tinylfu", "tinylfu_window": "fixed"}),
        (lambda: cache.Mad(cache.Arc(400, latency="5ms"), memory="all"), {"policies": "arc-mad", "mad_memory": "all"}),
    ],
)
def test_policies_have_the_options_of_the_study(make, options, log, requests):
    found = cache.compare(log, latency="5ms", capacity=400, progress=False, **options).table("policies").to_pylist()[0]
    assert make().replay(requests).mean_latency_ns == pytest.approx(found["latency_mean_ns"], rel=1e-9)


@pytest.mark.parametrize("policy", NATIVE)
def test_every_policy_does_what_the_study_finds_with_bytes(policy, log, requests):
    sizes = requests.to_pandas().groupby("key")["size"].last()
    capacity = 256 << 20
    made = policy(f"{capacity}B", latency="5ms", objects=min(len(sizes), capacity // int(sizes.sum() // len(sizes))))
    given = {"latency": "5ms", "capacity": f"{capacity}B", "policies": policy._name, "progress": False}
    found = cache.compare(log, **given).table("policies").to_pylist()[0]
    served = made.replay(requests)
    assert (served.hits, served.delayed_hits, served.misses) == (found["hits"], found["delayed_hits"], found["misses"])


class Lru(cache.Policy):
    def __init__(self, capacity, latency="5ms"):
        super().__init__(capacity, latency=latency)
        self.order = collections.OrderedDict()

    def on_hit(self, key, size, now):
        self.order.move_to_end(key)

    def on_fetched(self, key, size, now):
        self.order[key] = None

    def victim(self, now):
        return self.order.popitem(last=False)[0]


@pytest.mark.parametrize("capacity", [400, "64MiB"])
def test_a_policy_in_python_evicts_as_the_same_one_of_trueplane(capacity, requests):
    mine = Lru(capacity).replay(requests)
    ours = cache.Lru(capacity, latency="5ms").replay(requests)
    assert (mine.outcomes == ours.outcomes).all() and (mine.waits_ns == ours.waits_ns).all()
    assert mine.delayed_hits > 0 and mine.hits > 0


def test_a_policy_in_python_is_told_everything_once():
    class Heard(Lru):
        def __init__(self):
            super().__init__(1, latency=10)
            self.told = []

        def on_hit(self, key, size, now):
            self.told.append(("hit", key, size, now))

        def on_delayed_hit(self, key, size, now):
            self.told.append(("delayed hit", key, size, now))

        def on_miss(self, key, size, now):
            self.told.append(("miss", key, size, now))

        def on_fetched(self, key, size, now):
            super().on_fetched(key, size, now)
            self.told.append(("fetched", key, size, now))

        def victim(self, now):
            self.told.append(("victim", now))
            return super().victim(now)

    heard = Heard()
    for key, now in [(1, 0), (1, 4), (1, 12), (2, 20), (2, 35)]:
        heard.access(key, now)
    assert heard.told == [
        ("miss", 1, 1, 0),
        ("delayed hit", 1, 1, 4),
        ("fetched", 1, 1, 10),
        ("hit", 1, 1, 12),
        ("miss", 2, 1, 20),
        ("fetched", 2, 1, 30),
        ("victim", 30),
        ("hit", 2, 1, 35),
    ]


def test_a_policy_that_raises_or_chooses_wrongly_ends_with_one_exception():
    class Raises(Lru):
        def on_hit(self, key, size, now):
            raise KeyError("mine")

    broken = Raises(2)
    broken.access(1, 0)
    with pytest.raises(KeyError, match="mine"):
        broken.access(1, 10**9)

    class Chooses(Lru):
        def __init__(self, answer):
            super().__init__(1)
            self.answer = answer

        def victim(self, now):
            return self.answer

    for answer, said in [(17, "17"), ("a", "'a'"), (None, "None"), (-1, "-1"), (2**64, str(2**64))]:
        with pytest.raises(ParameterError) as raised:
            Chooses(answer).access_many([1, 2, 3], [0, 10**9, 2 * 10**9])
        assert str(raised.value) == f"policy: expected the key of an object in the cache from victim(), got {said}"
    with pytest.raises(NotImplementedError, match="victim"):
        cache.Policy(1).access_many([1, 2, 3], [0, 10**9, 2 * 10**9])

    class Forgets(cache.Policy):
        def __init__(self):
            pass

    with pytest.raises(ParameterError, match="super"):
        Forgets().access(1, 0)

    class Again(Lru):
        def on_miss(self, key, size, now):
            self.access(key, now)

    with pytest.raises(RuntimeError, match="borrowed"):
        Again(1).access(1, 0)


def test_an_exception_ends_the_cache_and_is_not_kept():
    class Once(Lru):
        def on_miss(self, key, size, now):
            raise KeyError("mine")

    policy = Once(2)
    with pytest.raises(KeyError, match="mine"):
        policy.access(1, 0)
    for _ in range(2):
        with pytest.raises(
            ParameterError, match="^the cache has failed, as its policy raised an exception before: make a new one$"
        ):
            policy.access(1, 0)
    gone = weakref.ref(policy)
    del policy
    gc.collect()
    assert gone() is None


def test_a_policy_in_python_is_freed_with_its_cache():
    policy = Lru(10)
    policy.access(1, 0)
    gone = weakref.ref(policy)
    del policy
    gc.collect()
    assert gone() is None


# The least recently used, as a list through the slots: [head, tail, then (before, after) of each slot].
LRU_IN_C = """
#include <stdint.h>
typedef struct { uint64_t head, tail; uint64_t links[1 << 17][2]; } Lru;
enum { NONE = 1 << 20 };
static void out(Lru *l, uint64_t s) {
    uint64_t before = l->links[s][0], after = l->links[s][1];
    if (before == NONE) l->head = after; else l->links[before][1] = after;
    if (after == NONE) l->tail = before; else l->links[after][0] = before;
}
static void in(Lru *l, uint64_t s) {
    l->links[s][0] = NONE; l->links[s][1] = l->head;
    if (l->head == NONE) l->tail = s; else l->links[l->head][0] = s;
    l->head = s;
}
void start(void *state) { Lru *l = state; l->head = l->tail = NONE; }
void on_hit(void *state, uint64_t slot, uint64_t key, uint64_t size, uint64_t now) { out(state, slot); in(state, slot); }
void on_fetched(void *state, uint64_t slot, uint64_t key, uint64_t size, uint64_t now) { in(state, slot); }
uint64_t victim(void *state, uint64_t now) { Lru *l = state; uint64_t s = l->tail; out(l, s); return s; }
"""
SLOTS = 1 << 17


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """LRU as functions of C."""
    compiler = shutil.which("cc") or pytest.skip("there is no C compiler")
    folder = tmp_path_factory.mktemp("compiled")
    (folder / "lru.c").write_text(LRU_IN_C)
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", folder / "lru.so", folder / "lru.c"], check=True)
    library = ctypes.CDLL(str(folder / "lru.so"))

    def make(capacity, **changed):
        state = np.zeros(2 + 2 * SLOTS, np.uint64)
        library.start(ctypes.c_void_p(state.ctypes.data))
        events = {"on_hit": library.on_hit, "on_fetched": library.on_fetched, "victim": library.victim}
        return cache.Compiled(capacity, **{**events, "slots": SLOTS, "state": state, "latency": "5ms", **changed})

    return make


def test_a_pointer_of_ctypes_is_the_memory_that_it_points_to(compiled, requests):
    state = np.zeros(2 + 2 * SLOTS, np.uint64)
    state[:2] = 1 << 20
    for given in (
        state.ctypes.data_as(ctypes.c_void_p),
        state.ctypes.data_as(ctypes.POINTER(ctypes.c_uint64)),
        np.int64(state.ctypes.data),
    ):
        assert compiled(400, state=given)._state == state.ctypes.data


@pytest.mark.parametrize("capacity", [400, "64MiB"])
def test_a_compiled_policy_evicts_as_the_same_one_of_trueplane(capacity, compiled, requests):
    mine = compiled(capacity).replay(requests)
    ours = cache.Lru(capacity, latency="5ms").replay(requests)
    assert (mine.outcomes == ours.outcomes).all() and (mine.waits_ns == ours.waits_ns).all()


def test_a_compiled_policy_that_chooses_wrongly_or_runs_out_of_slots_ends_with_one_exception(compiled):
    victim = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p, ctypes.c_uint64)(lambda state, now: 2**63)
    many = (np.arange(5000), np.arange(5000) * 10**9)
    with pytest.raises(ParameterError, match=f"^victim: expected the slot of an object in the cache, got {2**63}$"):
        compiled(10, victim=victim).access_many(*many)
    with pytest.raises(ParameterError, match="^slots: expected more than 10: "):
        compiled(10, slots=10).access_many(*many)
    assert compiled(10, slots=11).access_many(*many).misses == 5000
    for name, wrong in [("victim", None), ("victim", 0), ("victim", "x"), ("on_hit", object()), ("slots", 0), ("state", "x")]:
        with pytest.raises(ParameterError, match=f"^{name}: expected "):
            compiled(10, **{name: wrong})


TIMES = [0, 5, 2_000_000_000]


@pytest.mark.parametrize(
    ("keys", "times"),
    [
        ([1, 1, 2], TIMES),
        (np.array([1, 1, 2], np.int32), np.array(TIMES, "timedelta64[ns]")),
        (np.array([1, 9, 1, 9, 2], np.uint64)[::2], np.array([t for t in TIMES for _ in range(2)])[::2]),
        (["1", "1", "2"], np.array(TIMES, "datetime64[ns]")),
        (pd.Series([1, 1, 2]), pd.to_timedelta(TIMES)),
        (pl.Series([1, 1, 2]), pl.Series(TIMES)),
        (pd.Series([1, 1, 2]), pd.Series(pd.to_datetime(TIMES, utc=True))),
        (pa.array([1, 1, 2]), pa.chunked_array([[0, 5], [2_000_000_000]])),
        ([2**64 - 1, 2**64 - 1, 2], TIMES),
        (["photo.jpg", "photo.jpg", "b"], TIMES),
    ],
)
def test_arrays_of_every_kind_are_taken(keys, times):
    served = cache.Lru(10).access_many(keys, times)
    assert served.outcomes.tolist() == [2, 1, 2]
    assert served.waits_ns.tolist() == [100_000_000, 99_999_995, 100_000_000]
    one_by_one = cache.Lru(10)
    assert [one_by_one.access(k, t).wait_ns for k, t in zip([1, 1, 2], TIMES, strict=True)] == served.waits_ns.tolist()


@pytest.mark.parametrize(
    ("keys", "times", "more", "said"),
    [
        ([1, 2], [0], {}, "times: expected 2 values, one for each, got 1"),
        ([1, 2], [5, 4], {}, "times: expected 5 ns or later for request 1, got 4 ns"),
        ([1.5], [0], {}, "keys: expected whole numbers, got float64"),
        ([1], [float("nan")], {}, "times: expected whole numbers, got float64"),
        ([-1], [0], {}, "keys: expected 0 or more, got -1"),
        ([2**64], [0], {}, "keys: expected whole numbers from 0 to 2**64 - 1"),
        ([[1]], [0], {}, "keys: expected an array of one dimension, got 2"),
        (7, [0], {}, "keys: expected an array of one dimension, got 0"),
        ([1, "a"], [0, 1], {"sizes": [True, False]}, "sizes: expected whole numbers, got bool"),
        ([None], [0], {}, "keys: expected whole numbers from 0 to 2**64 - 1"),
        ([1], np.array(["NaT"], "datetime64[ns]"), {}, "times: expected a time for each, got NaT"),
        ([1], pa.array([None], pa.int64()), {}, "times: expected a value for each, got null"),
        (np.ma.array([1, 2], mask=[False, True]), [0, 1], {}, "keys: expected a value for each, got a masked one"),
        ([1], np.array(["2700-01-01"], "datetime64[s]"), {}, "times: expected times from 1970 to 2262"),
        ([1], [0], {"latencies": datetime.timedelta(days=220_000)}, "latencies: expected a whole number from 0 to 2**64 - 1"),
        ([1, 2], [0, 1], {"sizes": [1, 2, 3]}, "sizes: expected 2 values, one for each, got 3"),
        ([1, 2], [0, 1], {"sizes": -5}, "sizes: expected a whole number from 0 to 2**64 - 1, got -5"),
        ([1, 2], [0, 1], {"latencies": [1, -2]}, "latencies: expected 0 or more, got -2"),
        ([1, 2], [0, 1], {"latencies": "soon"}, "latencies: expected "),
    ],
)
def test_wrong_arguments_raise_one_sentence_and_serve_nothing(keys, times, more, said):
    lru = cache.Lru(10)
    with pytest.raises(ParameterError) as raised:
        lru.access_many(keys, times, **more)
    assert str(raised.value).startswith(said)
    assert lru.access_many([], []).requests == 0
    assert lru.access(1, 0).outcome == cache.Outcome.MISS


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: cache.Lru(0), "capacity: expected a capacity above zero"),
        (lambda: cache.Lru("5%"), "capacity: expected a number of objects or bytes"),
        (lambda: cache.Lru(-1), "capacity: expected a capacity above zero"),
        (lambda: cache.Lru(10, latency="10steps"), "latency: expected a number of nanoseconds, a time such as 100ms, "),
        (lambda: cache.Lru(10, latency=-1), "latency: expected a whole number from 0 to 2**64 - 1, got -1"),
        (lambda: cache.Lru(10, seed=-1), "seed: expected a whole number"),
        (lambda: cache.Lhd(10, eviction="best"), "eviction: expected one of sampled, exact"),
        (lambda: cache.WTinyLfu(10, window="wide"), "window: expected "),
        (lambda: cache.Mad(cache.Lru(10), memory="some"), "memory: expected "),
        (lambda: cache.Mad(cache.Sieve(10)), "base: expected an Lru, Lfu, Arc or Lhd, got Sieve"),
        (lambda: cache.Lru(10).access(-1, 0), "key: expected a whole number"),
        (lambda: cache.Lru(10).access(1.0, 0), "key: expected a whole number"),
        (lambda: cache.Lru(10).access(1, True), "now: expected a whole number"),
        (lambda: cache.Lru(10).access(1, 0, size=2**64), "size: expected a whole number"),
        (lambda: cache.Lru(10).access(1, 0, latency="x"), "latency: expected "),
        (lambda: cache.Lru(10, latency="trace").access(1, 0), "latencies: expected a time for each request"),
        (lambda: cache.Lru(10, latency="trace").replay({"time_ns": [0], "key": [1]}), "latency: the trace has no fetch times"),
    ],
)
def test_wrong_caches_raise_one_sentence(make, said):
    with pytest.raises(ParameterError) as raised:
        make()
    assert str(raised.value).startswith(said)
    assert "\n" not in str(raised.value)


def test_fetch_times_come_from_the_trace_or_are_drawn_by_the_seed():
    rows = {"time_ns": [0, 1000, 2000], "key": [1, 2, 1], "fetch_ns": [1500, 10, 700]}
    served = cache.Lru(10, latency="trace").replay(rows)
    assert served.waits_ns.tolist() == [1500, 10, 0]
    draws = [cache.Lru(10, latency="lognormal:1ms,0.5", seed=seed).access(1, 0).wait_ns for seed in (1, 1, 2)]
    assert draws[0] == draws[1] != draws[2]


def test_requests_are_a_table_that_the_studies_take_again(log, requests, tmp_path):
    assert requests.schema.names == ["time_ns", "key", "size"]
    table = cache.compare(requests, latency="5ms", capacity=400, policies="lru", progress=False).table("policies")
    assert table.equals(cache.compare(log, latency="5ms", capacity=400, policies="lru", progress=False).table("policies"))
    with pytest.raises(trueplane.TraceError, match="nowhere.csv"):
        cache.requests("nowhere.csv")
    damaged = tmp_path / "damaged.csv"
    damaged.write_text("time_ns,key\n0,1\nx,2\n")
    with pytest.raises(trueplane.TraceError, match="damaged.csv:3: "):
        cache.Lru(10).replay(damaged)


def test_generated_requests_are_those_of_the_command(command):
    made = cache.generate(profile="zipf", requests=1000, seed=7, progress=False)
    printed = command("cache generate --profile zipf --requests 1000 --seed 7").stdout.splitlines()
    assert printed[0] == ",".join(made.schema.names)
    assert printed[1:] == [",".join(str(row[name]) for name in made.schema.names) for row in made.to_pylist()]
    with pytest.raises(ParameterError, match="objects"):
        cache.generate(profile="zipf", objects=0)
