"""Simulated caches that you drive yourself, under a policy of trueplane or one of your own."""

from __future__ import annotations

import ctypes
import datetime
import enum
import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ._arrays import Numbers, keys_of, numbers, time_of, times_of, whole
from ._errors import ParameterError
from ._inputs import scalar
from ._native import SimulatedCache, key_of
from ._studies import requests
from ._types import Number, Source, Time
from ._units import with_unit


class Outcome(enum.IntEnum):
    """What a request meets."""

    HIT = 0
    """The object is in the cache."""
    DELAYED_HIT = 1
    """The object is being fetched: the request waits for the rest of the fetch."""
    MISS = 2
    """The object is not there: the request starts a fetch."""


class Access(NamedTuple):
    """What one request meets, and how long it waits."""

    outcome: Outcome
    wait_ns: int


class Served(NamedTuple):
    """What many requests meet, and how long they wait."""

    outcomes: npt.NDArray[np.uint8]
    """The `Outcome` of each request, as a number."""
    waits_ns: npt.NDArray[np.uint64]
    """The latency of each request in nanoseconds. A hit takes none."""

    @property
    def requests(self) -> int:
        """The number of requests."""
        return len(self.outcomes)

    @property
    def hits(self) -> int:
        """The number of hits."""
        return self._count(Outcome.HIT)

    @property
    def delayed_hits(self) -> int:
        """The number of delayed hits."""
        return self._count(Outcome.DELAYED_HIT)

    @property
    def misses(self) -> int:
        """The number of misses."""
        return self._count(Outcome.MISS)

    @property
    def mean_latency_ns(self) -> float:
        """The mean latency of a request in nanoseconds."""
        return float(self.waits_ns.mean()) if len(self.waits_ns) else 0.0

    def _count(self, outcome: Outcome) -> int:
        return int(np.count_nonzero(self.outcomes == outcome))

    def __repr__(self) -> str:
        return (
            f"Served({self.requests} requests: {self.hits} hits, {self.delayed_hits} delayed hits, {self.misses} misses,"
            f" mean latency {self.mean_latency_ns / 1e6:.3f} ms)"
        )


class Cache:
    """A simulated cache with delayed hits. Its subclasses are the policies.

    A request for an object that is not in the cache starts a fetch, which takes `latency`. Requests that come meanwhile wait for it.

    Time is in nanoseconds from any fixed moment, and does not go back. Keys are numbers below 2⁶⁴ or texts. A cache is for one thread at a time.
    """

    _native: SimulatedCache

    def access(self, key: int | str, now: int | Time, *, size: int = 1, latency: int | Time | None = None) -> Access:
        """Serves a request.

        key:
            The object that is requested.
        now:
            When the request comes, in nanoseconds.
        size:
            The size of the object in bytes. It counts if the capacity is in bytes.
        latency:
            The time that the fetch takes if the request is a miss. Default: the cache's.
        """
        outcome, wait = self._native.access(
            key_of(key) if isinstance(key, str) else whole("key", key),
            time_of("now", now),
            whole("size", size),
            None if latency is None else time_of("latency", latency),
        )
        return Access(Outcome(outcome), wait)

    def access_many(
        self,
        keys: Numbers | Sequence[str],
        times: Numbers,
        *,
        sizes: Numbers | int = 1,
        latencies: Numbers | int | Time | None = None,
    ) -> Served:
        """Serves requests in the order of time: the same as `access` for each, many times faster.

        If an argument is wrong, nothing is served.

        keys:
            The objects that are requested: an array of whole numbers, or texts.
        times:
            When the requests come: nanoseconds as whole numbers, or NumPy's times. They do not go back.
        sizes:
            The size of each object in bytes, or one size for all.
        latencies:
            The time that each fetch would take, or one time for all. Default: the cache's latency.
        """
        fetches = None
        if latencies is not None:
            is_one = isinstance(latencies, (int, str, datetime.timedelta, np.timedelta64))
            fetches = np.array([time_of("latencies", latencies)], np.uint64) if is_one else times_of("latencies", latencies)
        many = [whole("sizes", sizes)] if isinstance(sizes, (int, np.integer)) else sizes
        return Served(*self._native.access_many(keys_of("keys", keys), times_of("times", times), numbers("sizes", many), fetches))

    def replay(self, trace: Source, **reading: Any) -> Served:
        """Serves the requests of a log or of a table.

        trace:
            A log of any format, or rows, as `cache.requests` takes them. The fetch times of the log count if the cache's latency is
            "trace".
        reading:
            Options for reading the log, as of `cache.requests`.
        """
        table: Any = trace if not reading and _is_ready(trace) else requests(trace, **reading)
        sizes = table["size"] if "size" in table.column_names else 1
        fetches = None
        if self._is_from_trace:
            if "fetch_ns" not in table.column_names:
                raise ParameterError("latency: the trace has no fetch times")
            fetches = table["fetch_ns"]
        return self.access_many(table["key"], table["time_ns"], sizes=sizes, latencies=fetches)

    _is_from_trace = False
    _text = "Cache()"

    def _start(
        self,
        policy: object,
        capacity: Number,
        latency: Time | int,
        seed: int,
        objects: int | None = None,
        tuning: dict[str, str] | None = None,
    ) -> None:
        text = with_unit("latency", latency, "ns")
        expected = None if objects is None else whole("objects", objects)
        self._is_from_trace = text == "trace"
        self._text = f"{type(self).__name__}({capacity!r}, latency={latency!r})"
        self._native = SimulatedCache(
            policy, scalar("capacity", capacity), text, whole("seed", seed), expected, list((tuning or {}).items())
        )

    def __repr__(self) -> str:
        return self._text

    def __getattr__(self, name: str) -> Any:
        if name == "_native":
            kind = type(self).__name__
            raise ParameterError(f"{kind}: call super().__init__(capacity) in the __init__ of {kind}")
        raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")


def _is_ready(trace: object) -> bool:
    """Whether it is a table as `requests` returns it."""
    return (
        isinstance(trace, pa.Table)
        and {"time_ns", "key"} <= set(trace.column_names) <= {"time_ns", "key", "size", "fetch_ns"}
        and all(pa.types.is_integer(column.type) and column.null_count == 0 for column in trace.columns)
    )


class _Named(Cache):
    """A cache under a policy of trueplane."""

    _name = ""

    def __init__(self, capacity: Number, *, latency: Time | int = "100ms", seed: int = 1, objects: int | None = None) -> None:
        """An empty cache.

        capacity:
            A number of objects (5000), or bytes ("256MiB").
        latency:
            The time of a fetch: "100ms", a number of nanoseconds, "lognormal:100ms,0.3" or "trace".
        seed:
            Seed for the random draws of policies and of log-normal latencies.
        objects:
            About how many objects a cache of bytes holds, for LHD and W-TinyLFU, which learn at that pace: the capacity over the mean size.
            Default: one for each 16 KiB.
        """
        self._make(capacity, latency, seed, objects)

    def _make(self, capacity: Number, latency: Time | int, seed: int, objects: int | None, **tuning: str) -> None:
        self._parts = (capacity, latency, seed, objects)
        self._tuning = tuning
        self._start(self._name, capacity, latency, seed, objects, tuning)


class Lru(_Named):
    """Evicts the object that was requested least recently."""

    _name = "lru"


class Lfu(_Named):
    """Evicts the object with the fewest requests since it was stored."""

    _name = "lfu"


class Arc(_Named):
    """Balances a recent and a frequent list by their ghost entries (Megiddo and Modha, FAST 2003)."""

    _name = "arc"


class Lhd(_Named):
    """Evicts the object with the fewest expected hits per space and time (Beckmann et al., NSDI 2018)."""

    _name = "lhd"

    def __init__(
        self,
        capacity: Number,
        *,
        latency: Time | int = "100ms",
        seed: int = 1,
        objects: int | None = None,
        eviction: str = "sampled",
    ) -> None:
        """An empty cache; `capacity`, `latency`, `seed` and `objects` are those of the other policies.

        eviction:
            The way in which the victim is found: "sampled", the least of 64, or "exact", the least of all.
        """
        self._make(capacity, latency, seed, objects, eviction=eviction)


class Sieve(_Named):
    """Evicts the first object that was not requested since the hand last passed it (Zhang et al., NSDI 2024)."""

    _name = "sieve"


class S3Fifo(_Named):
    """Evicts new objects quickly unless they are requested again (Yang et al., SOSP 2023)."""

    _name = "s3-fifo"


class WTinyLfu(_Named):
    """Keeps the more frequently requested of a new object and its victim (Einziger et al., ToS 2017)."""

    _name = "w-tinylfu"

    def __init__(
        self,
        capacity: Number,
        *,
        latency: Time | int = "100ms",
        seed: int = 1,
        objects: int | None = None,
        window: str = "adaptive",
    ) -> None:
        """An empty cache; `capacity`, `latency`, `seed` and `objects` are those of the other policies.

        window:
            The size of the window: "adaptive", or "fixed".
        """
        self._make(capacity, latency, seed, objects, window=window)


class Random(_Named):
    """Evicts a random object."""

    _name = "random"


class Mad(Cache):
    """Weighs the objects of a policy by their aggregate delay: the waiting that a miss starts, of all requests that wait for it.

    Of the objects that the policy would evict next, the one goes whose miss costs least (Atre et al., MAD).
    """

    def __init__(self, base: Lru | Lfu | Arc | Lhd, *, memory: str = "cached") -> None:
        """An empty cache with the capacity, the latency and the seed of `base`, which stays as it is.

        memory:
            The objects for which counters are kept: "cached", those in the cache or being fetched, or "all" ever seen.
        """
        if not isinstance(base, (Lru, Lfu, Arc, Lhd)):
            raise ParameterError(f"base: expected an Lru, Lfu, Arc or Lhd, got {type(base).__name__}")
        self._start(f"{base._name}-mad", *base._parts, {**base._tuning, "memory": memory})
        self._text = f"Mad({base!r})"


class Policy(Cache):
    """A policy of your own: a subclass that says who is evicted.

    An exception of yours ends the call, and the cache with it: it cannot know what your policy was told, so later calls raise a `ParameterError`.

    Override `victim`, and what you want to be told. All are told the key, the size in bytes and the time in nanoseconds. Keys are numbers: `key_of`
    is the number that a text stands for.

        class Fifo(trueplane.cache.Policy):
            def __init__(self, capacity):
                super().__init__(capacity)
                self.queue = collections.deque()

            def on_fetched(self, key, size, now):
                self.queue.append(key)

            def victim(self, now):
                return self.queue.popleft()
    """

    def __init__(self, capacity: Number, *, latency: Time | int = "100ms", seed: int = 1) -> None:
        """An empty cache; the parameters are those of the other policies."""
        self._start(self, capacity, latency, seed)

    def on_hit(self, key: int, size: int, now: int) -> None:
        """The object is in the cache."""

    def on_delayed_hit(self, key: int, size: int, now: int) -> None:
        """The object is being fetched: the request waits."""

    def on_miss(self, key: int, size: int, now: int) -> None:
        """The object is not there: its fetch begins."""

    def on_fetched(self, key: int, size: int, now: int) -> None:
        """The object has been fetched and is in the cache. An object that is larger than the cache never is."""

    def victim(self, now: int) -> int:
        """The key of the object in the cache that goes. You are asked until the others fit; forget it here, you are not told again."""
        raise NotImplementedError(f"{type(self).__name__} needs a method victim(self, now) that returns a key")


class Compiled(Cache):
    """A policy of your own that is compiled: functions of C, from Numba, cffi, ctypes or Cython.

    An event is `void event(void *state, uint64_t slot, uint64_t key, uint64_t size, uint64_t now)`. A slot is the place of an object that
    is in the cache or being fetched: a small number, given to another object when this one has left. Keep what you know of objects in
    arrays, by slots. `uint64_t victim(void *state, uint64_t now)` returns the slot of the object in the cache that goes.

    The functions are called as they are: one that writes where it should not ends the interpreter. They run without the interpreter's
    lock.
    """

    def __init__(
        self,
        capacity: Number,
        *,
        victim: object,
        slots: int,
        on_hit: object = None,
        on_delayed_hit: object = None,
        on_miss: object = None,
        on_fetched: object = None,
        state: object = None,
        latency: Time | int = "100ms",
        seed: int = 1,
    ) -> None:
        """An empty cache.

        victim, on_hit, on_delayed_hit, on_miss, on_fetched:
            The functions: what has an `address` (`numba.cfunc`), a function of ctypes, a pointer of cffi, or an address.
        slots:
            The number of slots that your arrays have room for: at least the most objects that are in the cache or being fetched at one
            time. If there are more, the call fails, and no function sees a larger slot.
        state:
            What the functions get as their first argument: the memory of a NumPy array, a pointer, or an address.
        """
        events = {"on_hit": on_hit, "on_delayed_hit": on_delayed_hit, "on_miss": on_miss, "on_fetched": on_fetched}
        self._addresses = {name: _address(name, function) for name, function in {**events, "victim": victim}.items()}
        if not self._addresses["victim"]:
            raise ParameterError("victim: expected a function")
        if isinstance(slots, bool) or not isinstance(slots, (int, np.integer)) or not 0 < slots < 2**32:
            raise ParameterError(f"slots: expected a whole number from 1 to 2**32 - 1, got {slots!r}")
        self._slots = int(slots)
        self._state = _memory(state)
        self._keep = (events, victim, state)
        self._start(self, capacity, latency, seed)


# The class of all functions of ctypes, which has no public name.
_OF_CTYPES: Any = ctypes.CFUNCTYPE(None).__mro__[1]
_POINTER: Any = ctypes.POINTER(ctypes.c_uint64).__mro__[1]


def _address(name: str, function: Any) -> int | None:
    """The address of a function of C."""
    if function is None:
        return None
    address = getattr(function, "address", function)
    if isinstance(function, _OF_CTYPES):
        address = ctypes.cast(function, ctypes.c_void_p).value or 0
    elif type(function).__module__ == "_cffi_backend":
        address = _of_cffi(function)
    if isinstance(address, bool) or not isinstance(address, int) or not 0 < address < 2**64:
        kinds = "a numba.cfunc, a function of ctypes, a pointer of cffi or an address"
        raise ParameterError(f"{name}: expected {kinds}, got {type(function).__name__}")
    return address


def _memory(state: object) -> int:
    """The address of the memory that functions of C get."""
    if state is None:
        return 0
    if isinstance(state, np.ndarray):
        if not (state.flags.c_contiguous and state.flags.writeable) or state.dtype.hasobject:
            raise ParameterError("state: expected an array of numbers in one piece that can be written to")
        return int(state.ctypes.data)
    if isinstance(state, (ctypes.c_void_p, _POINTER)):
        return ctypes.cast(state, ctypes.c_void_p).value or 0
    if isinstance(state, (ctypes.Structure, ctypes.Union, ctypes.Array, ctypes._SimpleCData)):
        return ctypes.addressof(state)
    if type(state).__module__ == "_cffi_backend":
        return _of_cffi(state)
    if isinstance(state, bool) or not isinstance(state, (int, np.integer)) or not 0 <= state < 2**64:
        raise ParameterError(f"state: expected a NumPy array, a pointer or an address, got {type(state).__name__}")
    return int(state)


def _of_cffi(pointer: object) -> int:
    return int(_cffi().cast("uintptr_t", pointer))


@functools.cache
def _cffi() -> Any:
    import cffi

    return cffi.FFI()
