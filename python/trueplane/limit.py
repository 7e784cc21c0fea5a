"""Limits for very many tenants: the studies of `trueplane limit`."""

from ._limiters import Decision, Limiter, RequestLimiter, Verdict
from ._studies import of as _of

globals().update(_of("limit"))
