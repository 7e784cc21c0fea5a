"""Caching with delayed hits: the studies of `trueplane cache`."""

from ._studies import of as _of

globals().update(_of("cache"))
