"""Points of a sweep: dictionaries of parameters.

Each function takes the axes by the names of parameters, and returns a list of points:

    >>> grid(latency=["1ms", "10ms"], capacity=["1%", "5%"])[1]
    {'latency': '1ms', 'capacity': '5%'}

Points are plain dictionaries, so that you can filter them, join lists of them with `+`, and write your own.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from ._errors import ParameterError

__all__ = ["Between", "grid", "latin_hypercube", "random", "zipped"]

Point = dict[str, Any]


@dataclass(frozen=True)
class Between:
    """All values from `low` to `high`: `Between(1, 100, unit="ms", log=True)`.

    With `log`, values are spread evenly by their logarithms; both ends are then above zero. With `whole`, they are whole numbers, both ends included.
    The unit stands behind each value.
    """

    low: float
    high: float
    unit: str = ""
    log: bool = False
    whole: bool = False

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low <= self.high):
            raise ParameterError(f"expected a range from a lower to a higher number, got {self.low} to {self.high}")
        if not math.isfinite(self.high - self.low) or (self.log and self.low > 0 and not math.isfinite(self.high / self.low)):
            raise ParameterError(f"expected a range that a number can span, got {self.low} to {self.high}")
        if self.whole and max(abs(self.low), abs(self.high)) > 2**53:
            raise ParameterError(f"whole: expected numbers up to 2**53, got {self.low} to {self.high}")
        if self.log and self.low <= 0:
            raise ParameterError(f"log: expected a range above zero, got {self.low} to {self.high}")
        if self.whole and not (float(self.low).is_integer() and float(self.high).is_integer()):
            raise ParameterError(f"whole: expected whole numbers, got {self.low} to {self.high}")

    def at(self, share: float) -> Any:
        """The value at a share of the way from `low` to `high`: 0 is the first, 1 would be behind the last."""
        if self.whole:
            # Every whole number has a stretch of the same length, or of the same share in logarithms.
            low, high = self.low - (0.5 if self.log else 0.0), self.high + (0.5 if self.log else 1.0)
            value = low * (high / low) ** share if self.log else low + (high - low) * share
            number: float = int(min(self.high, max(self.low, math.floor(value + (0.5 if self.log else 0.0)))))
        elif self.log:
            number = self.low * (self.high / self.low) ** share
        else:
            number = self.low + (self.high - self.low) * share
        return self.written(number)

    def written(self, number: float) -> Any:
        """A number of the range with its unit, in six digits if it is not whole."""
        text = str(int(number)) if self.whole else f"{number:.6g}"
        if not self.low <= float(text) <= self.high:
            text = repr(float(number))
        text = format(Decimal(text), "f")
        return f"{text}{self.unit}" if self.unit else (int(number) if self.whole else float(text))


Axis = Between | Sequence[Any]


def grid(**axes: Iterable[Any]) -> list[Point]:
    """Every combination of the values, the last axis fastest."""
    values = {name: _values(name, axis) for name, axis in axes.items()}
    return [dict(zip(values, combination, strict=True)) for combination in itertools.product(*values.values())]


def zipped(**axes: Iterable[Any]) -> list[Point]:
    """The first value of every axis, then the second of every axis, and so on. All axes have as many values."""
    values = {name: _values(name, axis) for name, axis in axes.items()}
    lengths = {name: len(list_) for name, list_ in values.items()}
    if len(set(lengths.values())) > 1:
        raise ParameterError(f"expected axes of the same length, got {_described(lengths)}")
    return [dict(zip(values, each, strict=True)) for each in zip(*values.values(), strict=True)]


def random(count: int, *, seed: int = 1, **axes: Axis) -> list[Point]:
    """`count` points, each drawn by itself: evenly from a range, and each value of a list as often as any other."""
    draws = np.random.default_rng(_seeded(seed)).random((_counted(count), len(axes)))
    return _points(draws, axes)


def latin_hypercube(count: int, *, seed: int = 1, **axes: Axis) -> list[Point]:
    """`count` points that cover every axis evenly: if it is cut into `count` equal pieces, there is a point in each."""
    generator = np.random.default_rng(_seeded(seed))
    shape = (_counted(count), len(axes))
    pieces = np.stack([generator.permutation(count) for _ in axes], axis=1) if axes else np.zeros(shape)
    return _points((pieces + generator.random(shape)) / count, axes)


def _points(shares: np.ndarray[Any, Any], axes: Mapping[str, Axis]) -> list[Point]:
    chosen = {name: axis if isinstance(axis, Between) else _values(name, axis) for name, axis in axes.items()}
    return [{name: _at(axis, float(share)) for (name, axis), share in zip(chosen.items(), row, strict=True)} for row in shares]


def _at(axis: Axis, share: float) -> Any:
    return axis.at(share) if isinstance(axis, Between) else axis[min(int(share * len(axis)), len(axis) - 1)]


def _values(name: str, axis: Iterable[Any]) -> list[Any]:
    if isinstance(axis, (str, bytes)) or not isinstance(axis, Iterable):
        raise ParameterError(f"{name}: expected a list of values, got {axis!r}")
    values = list(axis)
    if not values:
        raise ParameterError(f"{name}: expected at least one value")
    return values


def _counted(count: int) -> int:
    if count < 1:
        raise ParameterError(f"expected at least one point, got {count}")
    return count


def _seeded(seed: Any) -> int:
    if not isinstance(seed, int):
        raise ParameterError(
            "seed: expected the number from which draws begin; to vary the parameter of this name, add it to each point"
        )
    return seed


def _described(lengths: Mapping[str, int]) -> str:
    return ", ".join(f"{length} of {name}" for name, length in lengths.items())
