"""Arguments as arrays of 64-bit numbers."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ._errors import ParameterError
from ._native import key_of, nanos_of

Numbers: TypeAlias = npt.NDArray[Any] | Sequence[int] | pa.Array | pa.ChunkedArray
"""Whole numbers: an array of NumPy, a column of Arrow, pandas or polars, or a list."""

Array: TypeAlias = npt.NDArray[np.uint64]


def numbers(name: str, values: Any) -> Array:
    """Whole numbers from 0 to 2⁶⁴ - 1 in one piece of memory; without a copy if they are so already."""
    array = _array(name, values)
    if array.dtype == np.uint64:
        return np.ascontiguousarray(array)
    if array.size == 0:
        return np.empty(0, np.uint64)
    if array.dtype.kind == "O":
        if all(isinstance(value, (int, np.integer)) and 0 <= value < 2**64 for value in array):
            return np.array([int(value) for value in array], np.uint64)
        raise ParameterError(f"{name}: expected whole numbers from 0 to 2**64 - 1")
    if array.dtype.kind not in "iu":
        raise ParameterError(f"{name}: expected whole numbers, got {array.dtype}")
    if array.dtype.kind == "i" and array.min() < 0:
        raise ParameterError(f"{name}: expected 0 or more, got {array.min()}")
    return np.ascontiguousarray(array, np.uint64)


def keys_of(name: str, values: Any) -> Array:
    """Keys: whole numbers, or texts, which stand for their hashes as they do in logs."""
    array = _array(name, values)
    if array.dtype.kind in "US" or (array.dtype.kind == "O" and any(isinstance(value, str) for value in array)):
        if not all(isinstance(value, (str, np.str_)) for value in array):
            raise ParameterError(f"{name}: expected texts, or whole numbers")
        return np.fromiter((key_of(str(value)) for value in array), np.uint64, len(array))
    return numbers(name, array)


def times_of(name: str, values: Any) -> Array:
    """Times in nanoseconds: whole numbers, or NumPy's times."""
    array = _array(name, values)
    if array.dtype.kind in "mM":
        if np.isnat(array).any():
            raise ParameterError(f"{name}: expected a time for each, got NaT")
        exact = array.astype("datetime64[ns]" if array.dtype.kind == "M" else "timedelta64[ns]")
        if (exact.astype(array.dtype) != array).any():
            raise ParameterError(f"{name}: expected times from 1970 to 2262")
        array = exact.astype(np.int64)
    return numbers(name, array)


def time_of(name: str, value: Any) -> int:
    """A time in nanoseconds: a whole number, a text such as "100ms", or a timedelta."""
    if isinstance(value, str):
        return nanos_of(name, value)
    if isinstance(value, np.timedelta64):
        value = int(times_of(name, np.array([value]))[0])
    elif isinstance(value, datetime.timedelta):
        # Those of pandas have nanoseconds, too.
        microseconds = (value.days * 86_400 + value.seconds) * 1_000_000 + value.microseconds
        value = microseconds * 1000 + getattr(value, "nanoseconds", 0)
    return whole(name, value)


def whole(name: str, value: Any) -> int:
    """A whole number from 0 to 2⁶⁴ - 1."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and 0 <= value < 2**64:
        return int(value)
    raise ParameterError(f"{name}: expected a whole number from 0 to 2**64 - 1, got {value!r}")


def _array(name: str, values: Any) -> npt.NDArray[Any]:
    if type(values).__module__.split(".")[0] == "pandas":
        # Times with a zone are instants, too.
        values = pa.array(values)
    if np.ma.is_masked(values):
        raise ParameterError(f"{name}: expected a value for each, got a masked one")
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        if values.null_count:
            raise ParameterError(f"{name}: expected a value for each, got null")
        values = values.to_numpy(zero_copy_only=False) if isinstance(values, pa.Array) else values.to_numpy()
    try:
        array = np.asarray(values)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"{name}: {error}") from None
    if array.dtype.kind == "f" and isinstance(values, (list, tuple)) and all(isinstance(value, int) for value in values):
        # NumPy has no common type for numbers of 2⁶³ and more and others.
        array = np.asarray(values, object)
    if array.ndim != 1:
        raise ParameterError(f"{name}: expected an array of one dimension, got {array.ndim}")
    return array
