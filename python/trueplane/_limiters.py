"""Limiters of bytes and of requests."""

from __future__ import annotations

import enum
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ._arrays import Numbers, numbers, time_of, times_of, whole
from ._errors import ParameterError
from ._native import Limiter as _Limiter
from ._native import RequestLimiter as _RequestLimiter
from ._types import Number, Time
from ._units import with_unit


class Verdict(enum.IntEnum):
    """What a limiter says of a packet."""

    PASS = 0
    """It is within the limit."""
    MARK = 1
    """It is let through, and its sender should slow down (ECN)."""
    DROP = 2
    """It is beyond the limit."""


class Limiter:
    """A limit on bytes: a rate in the long run, and a burst at once.

    The default policy is Nimble's leaky bucket: 16 bytes of integers, the same verdicts as the programs that `trueplane limit attach` puts into
    the kernel (Shinde 2020, §3.1.3). A packet is itself drained by the idle time before it, as there.

    Time is in nanoseconds from any fixed moment, and does not go back.

        limiter = trueplane.limit.Limiter("8Mbps", burst="3000B")
        limiter.offer(1500, now=0)  # Verdict.PASS
    """

    def __init__(self, rate: Number, *, burst: Number, mark: Number | None = None, policy: str = "nimble") -> None:
        """An empty bucket.

        rate:
            Bits per second: "10Mbps", or a number.
        burst:
            Bytes that the bucket holds: "15kB", or a number.
        mark:
            Packets are marked while the bucket has more bytes than this. Default: no packet is marked.
        policy:
            One of nimble, token-bucket, gcra. The last two never mark.
        """
        above = None if mark is None else with_unit("mark", mark, "B")
        self._text = f"Limiter({rate!r}, burst={burst!r}, policy={policy!r})"
        self._native = _Limiter(policy, with_unit("rate", rate, "bps"), with_unit("burst", burst, "B"), above)

    def offer(self, size: int, now: int | Time) -> Verdict:
        """The verdict on a packet of `size` bytes that comes at `now`. The limiter takes note of it."""
        return Verdict(self._native.offer(whole("size", size), time_of("now", now)))

    def offer_many(self, sizes: Numbers | int, times: Numbers) -> npt.NDArray[np.uint8]:
        """The `Verdict` on each packet, as a number: the same as `offer` for each. Sizes are in bytes, one for each packet or one for all."""
        many = [whole("sizes", sizes)] if isinstance(sizes, (int, np.integer)) else sizes
        return self._native.offer_many(numbers("sizes", many), times_of("times", times))

    def retry_after(self, size: int, now: int | Time) -> int | None:
        """The shortest wait in nanoseconds after which a packet passes that comes at `now`: 0 if it passes now.

        None if no wait is long enough. The limiter takes no note.
        """
        return self._native.retry_after(whole("size", size), time_of("now", now))

    def __repr__(self) -> str:
        return self._text

    @property
    def occupancy(self) -> int | None:
        """The bytes in the bucket as of the last packet. None for policies other than nimble."""
        return self._native.occupancy()


class Decision(NamedTuple):
    """Whether a request passes. It is true if it does: `if limiter.check("alice"): …`."""

    passes: bool
    retry_after_ns: int | None
    """The wait in nanoseconds until it would pass. None if no wait helps: it asks for more than the burst, or there is no room for its key."""

    def __bool__(self) -> bool:
        return self.passes


class RequestLimiter:
    """A limit on requests for every key: so many a period in the long run, and a burst at once. Exact to the nanosecond.

    Keys 17 and "17" are one. A key that is idle takes no memory for long, and is forgotten without changing any verdict. Use it in an API, a crawler or a mail gateway:

        limiter = trueplane.limit.RequestLimiter(100, "60s", burst=20)
        decision = limiter.check("alice")
        if not decision:
            ...  # answer 429, with Retry-After
    """

    def __init__(self, requests: int, period: Time | int = "1s", *, burst: int | None = None, keys: int = 1_000_000) -> None:
        """A limiter that has met no key.

        requests:
            Requests of one key that pass in every period, in the long run.
        period:
            The length of the period: "60s", or a number of nanoseconds.
        burst:
            Requests of one key that may come at once. Default: `requests`.
        keys:
            The number of keys that it remembers at most. While all of them are in use, the requests of new keys do not pass.
        """
        burst = requests if burst is None else burst
        for name, value in [("requests", requests), ("burst", burst)]:
            if not 1 <= whole(name, value) < 2**32:
                raise ParameterError(f"{name}: expected 1 to 2**32 - 1, got {value}")
        self._text = f"RequestLimiter({requests}, {period!r}, burst={burst})"
        self._native = _RequestLimiter(int(requests), time_of("period", period), int(burst), min(whole("keys", keys), 2**62))

    def check(self, key: str | int, *, requests: int = 1, now: int | Time | None = None) -> Decision:
        """Whether `requests` of this key pass, together or not at all. They are counted if they do.

        now:
            The time in nanoseconds. Default: `time.monotonic_ns()`. Use one clock for all calls.
        """
        passes, wait = self._native.check(_key(key), _requests(requests), _now(now))
        return Decision(passes, wait)

    def check_many(self, keys: Sequence[str | int], times: Numbers) -> npt.NDArray[np.bool_]:
        """Whether each of many requests passes: the same as `check` for each."""
        return self._native.check_many([_key(key) for key in keys], times_of("times", times))

    def remaining(self, key: str | int, *, now: int | Time | None = None) -> int:
        """The number of requests of this key that would pass together."""
        return self._native.remaining(_key(key), _now(now))

    def __repr__(self) -> str:
        return self._text

    def __len__(self) -> int:
        """The number of keys that it remembers."""
        return len(self._native)


def _key(key: str | int) -> str:
    return key if isinstance(key, str) else str(whole("key", key))


def _requests(requests: int) -> int:
    if not 1 <= whole("requests", requests) < 2**32:
        raise ParameterError(f"requests: expected 1 to 2**32 - 1, got {requests}")
    return int(requests)


def _now(now: int | Time | None) -> int:
    return time.monotonic_ns() if now is None else time_of("now", now)
