"""Types of parameters."""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeAlias


class Arrow(Protocol):
    """Whatever offers its rows by Arrow's PyCapsule interface: tables of pyarrow, frames of polars and pandas."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows."""
        ...


Source: TypeAlias = str | os.PathLike[str] | Arrow | Mapping[str, Any] | Sequence[Mapping[str, Any]] | Iterator[Mapping[str, Any]]
"""A path; or rows: a data frame, an Arrow table, a dictionary of columns, dictionaries of cells."""

Text: TypeAlias = str | int | float | os.PathLike[str] | datetime.timedelta
"""A value as the command takes it."""

Number: TypeAlias = str | int | float
"""A number, or a text with its unit, such as "5%", "10Gbps" or "256MiB"."""

Time: TypeAlias = str | datetime.timedelta
"""A time, such as "100ms"."""
