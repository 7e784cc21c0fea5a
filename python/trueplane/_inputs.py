"""Values of Python as the text that parameters are read from, and data frames as files."""

from __future__ import annotations

import datetime
import os
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from ._errors import ParameterError


def text(name: str, value: Any, files: ExitStack) -> str:
    """The value of the parameter `name` as people write it on the command line.

    A frame becomes a temporary CSV file, which `files` removes.
    """
    table = _table(name, value)
    if table is not None:
        return _file(table, files)
    if isinstance(value, (list, tuple, set, frozenset, np.ndarray)):
        return ",".join(_scalar(name, item) for item in value)
    return _scalar(name, value)


def _scalar(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, datetime.timedelta):
        return f"{(value // datetime.timedelta(microseconds=1)) * 1000}ns"
    if isinstance(value, np.timedelta64):
        return f"{value.astype('timedelta64[ns]').astype(np.int64)}ns"
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    raise TypeError(f"{name}: expected a text, a number, a timedelta or a list of them, got {type(value).__name__}")


def _table(name: str, value: Any) -> pa.Table | None:
    """The rows of a value that has rows; None if it has none."""
    if hasattr(value, "__arrow_c_stream__"):
        return pa.table(value)
    if type(value).__module__.split(".")[0] == "pandas" and hasattr(value, "columns"):
        return pa.Table.from_pandas(value, preserve_index=False)
    if isinstance(value, Mapping):
        return pa.table({column: pa.array(cells) for column, cells in value.items()})
    if isinstance(value, np.ndarray) and value.dtype.names:
        return pa.table({column: pa.array(value[column]) for column in value.dtype.names})
    is_plain = isinstance(value, (str, bytes, os.PathLike, list, tuple, set, frozenset, np.ndarray))
    if is_plain or not isinstance(value, Iterable):
        rows = value if isinstance(value, (list, tuple)) and value and isinstance(value[0], Mapping) else None
        return None if rows is None else pa.Table.from_pylist(list(rows))
    rows = list(value)
    if not rows or not all(isinstance(row, Mapping) for row in rows):
        raise TypeError(f"{name}: an iterator has to give rows as dictionaries, such as {{'time_ns': 0, 'key': 17}}")
    return pa.Table.from_pylist(rows)


def _file(table: pa.Table, files: ExitStack) -> str:
    """A CSV file with these rows."""
    if table.num_rows == 0:
        raise ParameterError("the frame has no rows")
    columns, names = [], []
    for field, column in zip(table.schema, table.columns, strict=True):
        is_time, is_span = pa.types.is_timestamp(field.type), pa.types.is_duration(field.type)
        if is_time or is_span:
            column = column.cast(pa.timestamp("ns", field.type.tz) if is_time else pa.duration("ns")).cast(pa.int64())
        elif pa.types.is_dictionary(field.type):
            column = column.cast(field.type.value_type)
        columns.append(column)
        names.append(f"{field.name}_ns" if (is_time or is_span) and not field.name.endswith("_ns") else field.name)
    folder = files.enter_context(tempfile.TemporaryDirectory(prefix="trueplane-"))
    path = Path(folder, "frame.csv")
    options = pa.csv.WriteOptions(quoting_style="needed")
    pa.csv.write_csv(pa.table(columns, names=names), str(path), options)
    return str(path)
