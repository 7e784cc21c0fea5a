"""Replay network logs and see where the usual model is wrong, and by how much.

    >>> import trueplane
    >>> report = trueplane.cache.compare("requests.csv", latency="100ms")
    >>> report.table("policies").to_pandas()

The studies of the command `trueplane` are functions with the same parameters: `trueplane.cache.compare`, `trueplane.fair.simulate`, and so on.
Instead of the path of a log, give a data frame, an Arrow table or a dictionary of columns.
"""

from . import cache, fair, limit, offload, points, pqueue, sched, spray, surge
from ._errors import Error, InternalError, ParameterError, TraceError, UnfinishedError
from ._native import VERSION as __version__
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
