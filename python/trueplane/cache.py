"""Caching with delayed hits: the studies of `trueplane cache`, and caches that you drive yourself."""

from ._native import key_of
from ._policies import (
    Access,
    Arc,
    Cache,
    Compiled,
    Lfu,
    Lhd,
    Lru,
    Mad,
    Outcome,
    Policy,
    Random,
    S3Fifo,
    Served,
    Sieve,
    WTinyLfu,
)
from ._studies import generate, requests
from ._studies import of as _of

globals().update(_of("cache"))
