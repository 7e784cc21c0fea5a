"""Replay network logs and see where the usual model is wrong, and by how much.

    >>> import trueplane
    >>> report = trueplane.cache.compare("requests.csv", latency="100ms")
    >>> report.table("policies").to_pandas()

The studies of the command `trueplane` are functions with the same parameters: `trueplane.cache.compare`, `trueplane.fair.simulate`, and so on.
Instead of the path of a log, give a data frame, an Arrow table or a dictionary of columns.
"""

import importlib
from typing import TYPE_CHECKING, Any

from ._errors import Error, InternalError, ParameterError, TraceError, UnfinishedError
from ._native import VERSION as __version__

if TYPE_CHECKING:
    from . import cache, fair, limit, offload, points, pqueue, sched, spray, surge
    from ._report import Plot, Report
    from ._search import Search, search
    from ._sweep import Sweep, sweep

__all__ = [
    "Error",
    "InternalError",
    "ParameterError",
    "Plot",
    "Report",
    "Search",
    "Sweep",
    "TraceError",
    "UnfinishedError",
    "__version__",
    "cache",
    "fair",
    "limit",
    "offload",
    "points",
    "pqueue",
    "sched",
    "search",
    "spray",
    "surge",
    "sweep",
]

# NumPy and Arrow take a quarter of a second to import. What needs them is imported when you first name it.
_HOMES = {
    "Plot": "_report",
    "Report": "_report",
    "Search": "_search",
    "Sweep": "_sweep",
    "search": "_search",
    "sweep": "_sweep",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    if name in __all__:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
