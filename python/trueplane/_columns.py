"""Columns of numbers as the requests of a study, without a copy."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa

from ._arrays import Array
from ._native import RequestTable

# Names that columns are known by wherever they stand, and in text as here. Other frames go through text, which knows more of them.
ROLES = {"time": "time|timestamp|ts", "key": "key|id|obj_id", "size": "size|bytes|obj_size", "fetch": "fetch|fetch_time"}
NANOSECONDS = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1000, "ns": 1}

# Parameters that say how text is read.
READING = frozenset(
    ["format", "columns", "time_unit", "fetch_unit", "delimiter", "header", "key", "methods", "statuses", "web_key"]
)


def request_table(table: pa.Table) -> RequestTable | None:
    """The table by the columns that it has; None if they are not plain numbers of known names, and need to be read."""
    found: dict[str, tuple[int, int | None]] = {}
    for place, field in enumerate(table.schema):
        role, unit = _role(field)
        if role is None or role in found or (role == "fetch" and unit is None):
            return None
        found[role] = (place, unit)
    if "key" not in found or table.num_rows == 0:
        return None
    time_unit, fetch_unit = (found.get(role, (0, None))[1] for role in ("time", "fetch"))
    units = {"time": time_unit or NANOSECONDS["s"], "fetch": fetch_unit or 1}
    pieces = []
    for batch in table.to_batches():
        columns = []
        for role in ROLES:
            cells = numbers(batch.column(found[role][0])) if role in found else None
            if role in found and (cells is None or _most(cells) * units.get(role, 1) >= 2**64):
                return None
            columns.append(cells)
        pieces.append(tuple(columns))
    return RequestTable(pieces, units["time"], units["fetch"], time_unit is None)


def _role(field: pa.Field) -> tuple[str | None, int | None]:
    """The role of a column, and the nanoseconds of its unit if it has one."""
    for role, names in ROLES.items():
        named = re.fullmatch(f"(?:{names})(?:_(s|ms|us|ns))?", field.name)
        if named is None:
            continue
        is_time = pa.types.is_timestamp(field.type) or pa.types.is_duration(field.type)
        if role in ("key", "size"):
            return (None, None) if is_time or named[1] else (role, None)
        unit = field.type.unit if is_time else named[1]
        return role, NANOSECONDS[unit] if unit else None
    return None, None


def numbers(cells: pa.Array) -> Array | None:
    """The cells as 64 bits without a sign: those of 64 bits where they lie. None if there are others."""
    kind = cells.type
    if cells.null_count > 0:
        return None
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        cells = cells.view(pa.int64())
    elif not pa.types.is_integer(kind):
        return None
    found = cells.to_numpy(zero_copy_only=True)
    if len(found) > 0 and found.min() < 0:
        return None
    return found.view(np.uint64) if found.dtype.itemsize == 8 else found.astype(np.uint64)


def _most(cells: Array) -> int:
    return int(cells.max()) if len(cells) > 0 else 0
