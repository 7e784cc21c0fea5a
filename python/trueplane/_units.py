"""Numbers that may have a unit."""

from __future__ import annotations

import numpy as np

from ._arrays import whole
from ._inputs import scalar
from ._types import Number, Time


def with_unit(name: str, value: Number | Time, unit: str) -> str:
    """A value as text with its unit. A number is in the smallest one."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return f"{whole(name, value)}{unit}" if isinstance(value, (int, np.integer)) else scalar(name, value)
