"""Values of Python as the text that parameters are read from, and data frames as files."""

from __future__ import annotations

import datetime
import os
import re
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.csv

from ._columns import request_table
from ._errors import ParameterError

# The name of a frame in reports and errors.
FRAME = "frame"


class Inputs(ExitStack):
    """The values of one call as text. Frames become paths: of columns in memory if they can, and else of temporary CSV files, which vanish
    at the end."""

    def __init__(self) -> None:
        super().__init__()
        self.frames: list[str] = []
        """The paths of frames."""
        self.has_times = False
        """Whether a frame has times with a unit of their own."""
        # By their identity, and they are kept so that it stays theirs.
        self._written: dict[int, tuple[Any, str]] = {}

    def text(self, name: str, value: Any, word: str = "", *, in_memory: bool = False) -> str:
        """The value of the parameter `name` as people write it on the command line: with `word` before the path of rows.

        With `in_memory`, it is a request log that this process reads.
        """
        if id(value) in self._written:
            return word + self._written[id(value)][1]
        try:
            table = rows(name, value)
            if table is not None:
                path = (in_memory and self._columns(table)) or self._file(name, table)
                self._written[id(value)] = (value, path)
                return word + path
        except (pa.ArrowException, ValueError) as error:
            if isinstance(error, ParameterError):
                raise
            raise ParameterError(f"{name}: {str(error).splitlines()[0]}") from error
        if isinstance(value, Mapping):
            return ",".join(f"{key}={scalar(name, item)}" for key, item in value.items())
        if isinstance(value, (list, tuple, set, frozenset, np.ndarray)):
            return ",".join(scalar(name, item) for item in value)
        return scalar(name, value)

    def _columns(self, table: pa.Table) -> str | None:
        """The path of the columns where they are."""
        held = request_table(table)
        if held is None:
            return None
        # The path is good as long as this lives.
        self.callback(lambda: held)
        self.frames.append(held.path)
        return held.path

    def _file(self, name: str, table: pa.Table) -> str:
        """A CSV file with these rows."""
        if table.num_rows == 0:
            raise ParameterError(f"{name}: the frame has no rows")
        columns: dict[str, pa.ChunkedArray] = {}
        for field, column in zip(table.schema, table.columns, strict=True):
            # The index of a pandas frame, if it went through Arrow.
            if re.fullmatch(r"__index_level_\d+__", field.name):
                continue
            column, is_time = _plain(name, field, column)
            self.has_times |= is_time
            title = re.sub(r"_(s|ms|us|ns)$", "", field.name) + "_ns" if is_time else field.name
            if title in columns:
                raise ParameterError(f"{name}: two columns have the name {title}")
            columns[title] = column
        folder = self.enter_context(tempfile.TemporaryDirectory(prefix="trueplane-"))
        path = str(Path(folder, f"{FRAME}.csv"))
        pa.csv.write_csv(pa.table(columns), path, pa.csv.WriteOptions(quoting_style="needed"))
        self.frames.append(path)
        return path


def _plain(name: str, field: pa.Field, column: pa.ChunkedArray) -> tuple[pa.ChunkedArray, bool]:
    """The column as numbers or texts, and whether it has times, which are then in nanoseconds."""
    if pa.types.is_dictionary(column.type):
        # Those of polars are a type of text that cannot be taken from.
        is_text = not (pa.types.is_integer(column.type.value_type) or pa.types.is_floating(column.type.value_type))
        kind = pa.string() if is_text else column.type.value_type
        column = pa.chunked_array([chunk.dictionary.cast(kind).take(chunk.indices) for chunk in column.chunks], kind)
    kind = column.type
    if pa.types.is_timestamp(kind):
        return column.cast(pa.timestamp("ns", kind.tz)).cast(pa.int64()), True
    if pa.types.is_duration(kind):
        return column.cast(pa.duration("ns")).cast(pa.int64()), True
    if pa.types.is_nested(kind):
        raise ParameterError(f"{name}: the column {field.name} has {kind} in its cells; leave it out")
    if pa.types.is_floating(kind):
        # Whole numbers of any size are written without an exponent.
        values = column.drop_null()
        is_whole = pa.compute.all(pa.compute.equal(pa.compute.floor(values), values)).as_py()
        if is_whole and pa.compute.all(pa.compute.less(pa.compute.abs(values), 2.0**63)).as_py():
            return column.cast(pa.int64(), safe=False), False
        return column, False
    if not (pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_string(kind)):
        column = column.cast(pa.string())
    return column, False


def scalar(name: str, value: Any) -> str:
    """One value as people write it on the command line."""
    if isinstance(value, str):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, datetime.timedelta):
        # Those of pandas have nanoseconds, too.
        microseconds = (value.days * 86_400 + value.seconds) * 1_000_000 + value.microseconds
        return f"{microseconds * 1000 + getattr(value, 'nanoseconds', 0)}ns"
    if isinstance(value, np.timedelta64):
        return f"{value.astype('timedelta64[ns]').astype(np.int64)}ns"
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) > 1:
        value = int(value)
    if isinstance(value, (int, float)):
        return repr(value)
    kinds = "a text, a number, a timedelta, a list of them, or rows such as a data frame"
    raise TypeError(f"{name}: expected {kinds}, got {type(value).__name__}")


def rows(name: str, value: Any) -> pa.Table | None:
    """The rows of a value that has rows, as an Arrow table; None if it has none."""
    if type(value).__module__.split(".")[0] == "pandas" and hasattr(value, "columns"):
        wrong = [column for column in value.columns if not isinstance(column, str)]
        if wrong:
            raise ParameterError(f"{name}: expected names of columns, got {', '.join(map(repr, wrong[:3]))}")
        return pa.Table.from_pandas(value, preserve_index=False)
    if type(value).__module__.split(".")[0] == "libcachesim" and hasattr(value, "read_one_req"):
        return _of_libcachesim(value)
    if hasattr(value, "__arrow_c_stream__"):
        return pa.table(value)
    if isinstance(value, Mapping):
        if any(isinstance(cells, str) or not isinstance(cells, Iterable) for cells in value.values()):
            return None
        return pa.table({column: _cells(name, column, cells) for column, cells in value.items()})
    if isinstance(value, np.ndarray) and value.dtype.names:
        return pa.table({column: pa.array(value[column]) for column in value.dtype.names})
    if isinstance(value, (str, bytes, os.PathLike, set, frozenset, np.ndarray)) or not isinstance(value, Iterable):
        return None
    is_list = isinstance(value, (list, tuple))
    if is_list and not any(isinstance(row, Mapping) for row in value):
        return None
    found = list(value)
    if not all(isinstance(row, Mapping) for row in found):
        raise TypeError(f"{name}: expected rows as dictionaries, such as {{'time_ns': 0, 'key': 17}}")
    # The columns of the first row alone would lose what others have.
    names = list(dict.fromkeys(column for row in found for column in row))
    return pa.table({column: _cells(name, column, [row.get(column) for row in found]) for column in names})


def _cells(name: str, column: str, cells: Iterable[Any]) -> pa.Array:
    """A column of Python's values."""
    try:
        return pa.array(cells)
    except OverflowError:
        # Whole numbers of 2⁶³ and more, such as keys.
        try:
            return pa.array(cells, pa.uint64())
        except OverflowError:
            raise ParameterError(f"{name}: {column} has a number that does not fit 64 bits") from None


def _of_libcachesim(reader: Any) -> pa.Table:
    """The requests of a reader of libCacheSim, whose times are in seconds. The reader is then at its start."""
    reader.reset()
    kinds = np.dtype([("time_s", np.int64), ("key", np.uint64), ("size", np.int64)])
    found = np.fromiter(((one.clock_time, one.obj_id, one.obj_size) for one in reader), kinds)
    reader.reset()
    return pa.table({name: pa.array(found[name]) for name in ("time_s", "key", "size")})
